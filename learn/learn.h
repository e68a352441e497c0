/* SPDX-License-Identifier: MIT */
/*
 * learn: what the files of the checker of exercises share. It runs a learner's code in processes of its own, under
 * build/launch, and judges what they reported; exercises/check/check.h says how a test is written.
 *
 *      main.c          the table of subcommands
 *      text.c          strings that grow, lines that are wrapped, files in memory
 *
 *      explain/        what became of a run, put into words
 *        autopsy.c     a world that ended early: crash, error, time limit (sanitizer.c, deadlock.c); what the launcher
 *                      says of it is data (report.c), what a sanitizer prints is read in sanitizer.c alone
 *        values.c      numbers that are wrong, as a table, and what can be seen in them (looks.c)
 *        explain.c     what a failure looks like to a person
 *
 *      check/          one exercise, compiled, run and judged
 *        check.c       learn_check: all of it
 *        compile.c     the learner's files to a program (tools.c); what the compiler has against them (complaints.c),
 *                      and what we have (allowed.c, uncounted.c; elf.c: the names in an object)
 *        together.c    many mutants as one program
 *        orders.c      a case in every order that its messages may come in
 *        run.c         that program as the ranks of one world, and what they reported (symbols.c: lines for addresses)
 *        spawn.c       a command, its output caught and bounded, its time limited, nothing left behind
 *        relay.c       what they sent each other, counted on its way; does it fit what they say?
 *        keys.c        what a rank's data follow from
 *        opencl.c      kernels as a C compiler reads them; rate.c: on a real device, beside the solution's (rated.c)
 *        judge.c       the side of check.h that decides whether it is right
 *
 *      course/         the learner's commands: list, hint, reset, see, ... (commands.h)
 *        course.c      the exercises in order; finding one by number or name; where things lie
 *        cut.c         stubs, cut from the solutions; is a file still its stub?
 *        check_course.c  is the course itself sound? (course_files.c, jobs.c)
 *
 *      grade/          a class: submissions, each in a sandbox, and their grades
 *
 * A room may use those above it in this list; inside.h is what explain and check know of a run.
 */
#ifndef PAIRWISE_LEARN_H
#define PAIRWISE_LEARN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "exercises/check/check.h"

enum { LEARN_PATH = 4096, LEARN_KEY = 32 }; /* PATH_MAX of Linux */

/* ---- text.c: a text that grows. All zero is an empty one; text is NULL or ends with a NUL. Memory never runs out: the
 * program ends with a message. ---- */

typedef struct {
    char *text;
    size_t used, room;
} learn_text;

/* t may be NULL: the caller does not want to know. */
void learn_add(learn_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void learn_add_bytes(learn_text *t, const void *bytes, size_t count);
void learn_text_free(learn_text *t);
const char *learn_string(const learn_text *t); /* "" rather than NULL */

/* A variable whose memory is freed where its scope ends, whichever way it is left: a pointer (it may be NULL), a text. */
void learn_free_owned(void *pointer_to_it);
#define OWNED __attribute__((cleanup(learn_free_owned)))
#define OWNED_TEXT __attribute__((cleanup(learn_text_free))) learn_text

bool learn_has_prefix(const char *text, const char *prefix);
const char *learn_next_line(const char *text);               /* or its end */
bool learn_has_ending(const char *text, const char *ending); /* and more before it */
bool learn_is_source(const char *name);                      /* a .c, .h or .cl file that is not hidden */

/* Add words up to column `width`; lines after the first begin behind `indent` blanks (before the first, the caller has put
 * as much). Line ends are blanks, a blank line begins a paragraph, lines that begin with four blanks stay as they are. */
void learn_add_wrapped(learn_text *t, const char *words, size_t indent, size_t width);

/* How wide text for people is: as the terminal, from 40 to 100 columns; 80 where there is none (COLUMNS, if that is set). */
size_t learn_columns(void);

void *learn_memory(size_t bytes);                         /* zeroed; free it */
void *learn_grow(void *items, size_t count, size_t each); /* room for one more than count of them; free it */
char *learn_copy(const char *text);
char *learn_format(const char *format, ...) __attribute__((format(printf, 1, 2))); /* free it */
void learn_replace(char **text, char *with);                                       /* frees the old one */

/* The whole of a file with a NUL behind it, or NULL (errno says why); free it. A whole file written by way of a temporary
 * name: false with errno. */
char *learn_read_file(const char *path, size_t *bytes);

/* The same, of what others may have put there: a plain file with one name, no link, and no more than `most` bytes. */
char *learn_read_plain_file(const char *path, size_t most, size_t *bytes);

bool learn_write_file(const char *path, const void *bytes, size_t count);
bool learn_put_file(const char *path, const void *bytes, size_t count); /* and its folder; path has a '/' */
bool learn_make_folder(const char *path);                               /* and those above it */

/* A number for what a file holds (0: it cannot be read), or for bytes; `so_far` chains several (begin with 0). */
uint64_t learn_hash(uint64_t so_far, const void *bytes, size_t count);
uint64_t learn_hash_file(uint64_t so_far, const char *path);

/* ---- course.c ---- */

/* An exercise; the first two characters of its name are what it is called by: 08, K1. */
typedef struct {
    const check_exercise *check; /* name, idea, files, ... and the test */
    const char *name;            /* "08_broadcast" */
    char code[3];                /* "08", "K1" */
    int number;                  /* 8; -1 where the code is not a number */
} learn_exercise;

/* All of them in order; behind the last is one whose check is NULL. count may be NULL. */
const learn_exercise *learn_course(size_t *count);

/* The one with exactly this name, of so many bytes; NULL if there is none. */
const learn_exercise *learn_named(const char *name, size_t length);

/* Is this one of the files that are to be written in it? */
bool learn_is_file_of(const learn_exercise *e, const char *name);

/* By number ("8", "08", "K1"), name ("08_broadcast", "broadcast") or a part of it. NULL if there is none or more than one: why
 * (NULL: not wanted) then holds a sentence that says so and names those it could be. */
const learn_exercise *learn_find(const char *text, learn_text *why);

/* The program works in the top folder of the checkout: learn_go_home changes there (false, with a message printed, if
 * there is none). learn_build is the folder it was built in ("build"), learn_where the one it was called from. */
bool learn_go_home(void);
const char *learn_build(void);
const char *learn_where(void);

/* exercises/08_broadcast/broadcast.c and its like; each writes to `path` (LEARN_PATH bytes) and returns it. */
const char *learn_path(char *path, const char *tree, const learn_exercise *e, const char *file);

/* ---- cut.c ---- */

/* The stub of a text with marks: "// TODO" to "// END TODO" is replaced by the text of its "// stub:" lines, both marks
 * stay. NULL if the marks are wrong: why says in which line and what. Free it. */
char *learn_cut(const char *solution, learn_text *why);

/* The stub of one of an exercise's files: cut from solutions/NN_name/FILE. NULL with why as above (NULL: not wanted). Free it. */
char *learn_stub(const learn_exercise *e, const char *file, learn_text *why);

/* Put it where the learner works. False with why. */
bool learn_put_stub(const learn_exercise *e, const char *file, const char *stub, learn_text *why);

/* Are the marked places of this text those of the stub, white space apart? */
bool learn_same_places(const char *text, const char *stub);

/* Are all of an exercise's files in that folder as their stubs are? A file that is missing is not. */
bool learn_not_started(const learn_exercise *e, const char *folder);

/* ---- Checking ---- */

enum learn_state { LEARN_NOT_STARTED, LEARN_PASSED, LEARN_FAILED };

/* A case of an exercise's plan. */
typedef struct {
    size_t world;
    int number; /* in its world */
} learn_place;

/* Of a result that is right but slow: what there is to say of the first case that was, and the most times as long as the
 * best possible of all; words are NULL where none was. */
typedef struct {
    char key[LEARN_KEY];
    char *words, *ran;
    learn_place place;
    double times;
} learn_slowness;

/* What came of it. Texts are never NULL; free them with learn_result_free. */
typedef struct {
    enum learn_state state;
    char key[LEARN_KEY]; /* the kind of failure: a word of check.h's caller, or compile, link, todo, deadlock, crash,
                          * overrun, timeout, error, leak, returned, checker; "" when passed.
                          * What is behind a dot is a kind of it: "error.length" */
    char *ran;      /* what ran: "my_broadcast on 4 ranks, count 5, i32, root 2, buffered (...)"; "" if nothing did */
    char *order;    /* what came first, where only some orders of messages are wrong; else "" */
    char *shown;    /* lines to be printed as they are: what ranks had, has and should have; what the compiler said */
    char *broke;    /* sentences, in one line: what is wrong, by how much, what that means */
    char *advice;   /* what to try, if the hints have no words for this key; may be "" */
    char *more;     /* all there is to say, for V=1: reports in full, output */
    char *warnings; /* of the compiler, whatever came of it */
    char *rated;    /* of a kernel: how fast it is, or why that is not known; "" otherwise */
    double share;   /* of the points: of one that passed, or is only slow */
    learn_slowness slow;
    int line;          /* of the learner's file where it went wrong; 0 if not known */
    char file[64];     /* and which file: "broadcast.c" */
    int worlds, cases; /* how much was right */
    learn_place place; /* where it failed */
    double seconds;
} learn_result;

/* LEARN_RATE: what runs a kernel on this machine's OpenCL device. */
enum learn_step { LEARN_COMPILE, LEARN_LINK, LEARN_RUN, LEARN_RATE };

/* How to check. All zero is the default. */
typedef struct {
    uint64_t seed;           /* data follow from it; 0: the data everyone gets */
    bool even_if_stub;       /* run it even if it is not started */
    bool delays;             /* ranks are late at random, before every Pairwise call of the learner */
    uint64_t delay_seed;     /* how */
    double world_seconds;    /* time limit of one world; 0: 10 */
    const char *trace;       /* a file for a trace of the last world that ran; NULL: none */
    const learn_place *only; /* this case alone; NULL: all */
    bool whole_names;        /* lines are named by their path in the checkout, not by the file's name alone */
    bool rate;               /* kernels that pass are run on this machine's device, and measured */
    bool progress;           /* a line on the terminal says how far it is, and is gone in the end */
    bool quiet_compiler;     /* warnings are not passed on */
    const char *instead;     /* a file that stands in for the exercise's first one: a mutant */
    const char *work;        /* folder for what is built; NULL: BUILD/course/work/NAME */
    const char
        *apart; /* with confine: a folder that only learn writes to, for what it makes of the files; NULL: work */
    bool keep_program;  /* do not compile, the program of the last check in `work` is used again */
    const char *mutant; /* that program is of learn_put_together: the number of the one that is to run */
    /* Called in each process that is going to be the compiler, the linker (and its kin) or the launcher, before it starts: to lower
     * its rights and limits, for grading. It may fork, if what stays in front passes the exit status on; the death of learn
     * must end it (PR_SET_PDEATHSIG, which a change of user takes away). Anything but 0 and it ends. */
    int (*confine)(void *arg, enum learn_step step);
    const char *no_device;                 /* why kernels may not run on this machine's device; NULL: they may */
    bool (*watch)(void *arg, pid_t child); /* called again and again while it runs: false ends it; may be NULL */
    void *confine_arg;
} learn_options;

/* Check the files of an exercise in `folder`: compile them, run every world until one fails. Returns true if it passed;
 * result is set in any case, and needs learn_result_free. Not for threads: fork for several at once. It kills every child
 * of this process that it finds when a command of its own has ended. */
bool learn_check(const learn_exercise *e, const char *folder, const learn_options *options, learn_result *result);

/* Make one program of many mutants of an exercise, in the folder `work`; in[i] becomes true if mutants[i], a path, is in it
 * and can be checked there (keep_program), as what it is alone. False: there is no program. As little for threads. */
bool learn_put_together(const learn_exercise *e, const char *work, size_t count, char *const mutants[], bool in[]);

void learn_result_free(learn_result *result);
#define OWNED_RESULT __attribute__((cleanup(learn_result_free))) learn_result

/* ---- explain.c ---- */

/* Print it: headline, what ran, what was seen, what broke, what to try (the [when KEY] text of the hints), what is next.
 * With more, everything. Colours if the stream is a terminal. */
void learn_explain(FILE *out, const learn_exercise *e, const learn_result *result, bool more);
char *learn_explanation(const learn_exercise *e, const learn_result *result); /* as a text; free it */

/* The text of a section of tests/exercises/NN_name.hints, "1", "2", "3" or "when deadlock", without its heading: NULL if
 * there is none. Free it. */
char *learn_hint(const learn_exercise *e, const char *section);

/* Its hint for a kind of failure: of "error.length", if that has none, the one for "error". NULL if there is none; free it. */
char *learn_hint_for(const learn_exercise *e, const char *key);

enum learn_colour { LEARN_PLAIN, LEARN_BOLD, LEARN_RED, LEARN_GREEN, LEARN_YELLOW, LEARN_DIM };

/* The sequence that begins a colour, or "" if the stream is no terminal (or NO_COLOR is set). */
const char *learn_colour(FILE *out, enum learn_colour colour);

#endif
