/* SPDX-License-Identifier: MIT */
/* sound: what the files behind check-course share. Each function of the next two files adds a line to `wrong` for
 * everything it finds. */
#ifndef PAIRWISE_LEARN_SOUND_H
#define PAIRWISE_LEARN_SOUND_H

#include "learn/learn.h"

/* ---- course_files.c: what can be seen without running anything ---- */

/* Files and folders that belong to no exercise; a name that is not its file's. */
void learn_sound_tree(learn_text *wrong);

/* Of one exercise: pages, hints; stubs are cut from the solution, and not started; given files are the same. */
void learn_sound_files(const learn_exercise *e, learn_text *wrong);

/* The mutants of an exercise in order of name: paths, NULL at the end. Free each, and the list. */
char **learn_mutants(const learn_exercise *e);

/* ---- course_runs.c: what has to be run. `work` is a folder to build in. ---- */

/* The stub compiles without a warning, and does not pass; the solution passes. */
void learn_sound_files_run(const learn_exercise *e, bool solution, const char *work, learn_text *wrong);

/* The mutant says what is wrong with it, fails, and the explanation holds each text that it expects. `told` becomes the
 * explanation. */
void learn_sound_mutant(const learn_exercise *e, const char *path, const char *work, learn_text *wrong,
                        learn_text *told);

/* ---- jobs.c ---- */

/* Call run(arg, i) for each i below count in a process of its own, which ends with what it returns; at_once of them (0: as
 * many as there are cores). ended is called here for each with the status of wait; -1: no process could be made. */
void learn_run_jobs(size_t count, int at_once, int (*run)(void *arg, size_t i),
                    void (*ended)(void *arg, size_t i, int status), void *arg);

#endif
