/* SPDX-License-Identifier: MIT */
/*
 * submission: the files that a learner hands in, as a folder or as an archive, and nothing else of it.
 *
 * Only plain files count whose names say what they are for: ...NN_name/FILE.c or .h, or, without such a folder, the file name
 * of an exercise (broadcast.c). Links, devices and what is too large are left out. An archive is read, not unpacked: no name in
 * it is ever a path of this machine. How much is read is bounded, whatever was handed in: files, their bytes, entries of folders
 * and archives that are looked at, time.
 *
 * Names as Moodle gives them, "Ada Lovelace_4711_assignsubmission_file_/...": the learner's is what comes before the number.
 */
#ifndef PAIRWISE_LEARN_SUBMISSION_H
#define PAIRWISE_LEARN_SUBMISSION_H

#include "learn/learn.h"

enum { LEARN_HANDED_BYTES = 1 << 20 }; /* no file may have more */
enum { LEARN_ALL_BYTES = 8 << 20 };    /* nor all files of a submission together */

typedef struct {
    const learn_exercise *e;
    char name[64]; /* "broadcast.c" */
    char *text;
    size_t bytes;
} learn_handed_file;

typedef struct {
    char *name; /* of the folder, or of the archive without its ending: who handed it in */
    learn_handed_file *files;
    size_t count;
    learn_text trouble; /* what is wrong with it as a whole; empty if nothing is */
    size_t bytes;       /* of all files */
    int left_out, looked_at, archives;
} learn_submission;

/* Does it look like a submission? A folder with files of exercises in it, or an archive (.tar, .tar.gz, .tgz, .zip). */
bool learn_is_submission(const char *path);

/* Read it. Never fails: what is wrong is in trouble. Free it with learn_submission_free. linked: path itself may be a link. */
void learn_submission_read(learn_submission *s, const char *path, bool linked);

/* A file of a class that Moodle has put beside those of others, "Ada_4711_assignsubmission_file_broadcast.c": where the file's
 * own name begins; NULL: it is none. */
const char *learn_moodle_file(const char *name);
void learn_submission_add(learn_submission *s, int folder, const char *name);
char *learn_learners_name(const char *name); /* free it */
void learn_submission_free(learn_submission *s);

/* Are there files of this exercise in it? */
bool learn_handed_in(const learn_submission *s, const learn_exercise *e);

/* Write the files of one exercise to a folder, which is made. False with errno. */
bool learn_submission_write(const learn_submission *s, const learn_exercise *e, const char *folder);

/* ---- archive.c ---- */

typedef void learn_each_file(void *arg, const char *path, const char *bytes, size_t count);

/* Call each for every .c and .h file of an archive that is open; of one that is too large, with a byte more than LEARN_HANDED_BYTES. What
 * is wrong with the archive is added to trouble. */
void learn_archive_read(int fd, learn_text *trouble, learn_each_file *each, void *arg);

#endif
