/* SPDX-License-Identifier: MIT */
/*
 * commands: what the files behind the learner's commands share. Each file is one command, and each idea below one file.
 *
 *      state.c         what is remembered of the learner, in .learn/
 *      stamp.c         what has not changed since it passed is not run again
 *      board.c         the exercises, done and to be done
 *      call.c          the arguments of a command: an exercise, and a switch
 */
#ifndef PAIRWISE_LEARN_COMMANDS_H
#define PAIRWISE_LEARN_COMMANDS_H

#include "learn/learn.h"

/* ---- state.c: .learn/ in the top folder, which git ignores. Small texts by exercise and name: "failure", "hints", ... What
 * cannot be written is not remembered, which is said once. ---- */

#define LEARN_STATE ".learn"

/* The text of that name, or NULL; free it. */
char *learn_state_get(const learn_exercise *e, const char *name);
void learn_state_put(const learn_exercise *e, const char *name, const char *text); /* NULL: forget it */

/* A number for what the exercise's files in a folder hold; 0 if one is missing. */
uint64_t learn_files_hash(const learn_exercise *e, const char *folder);

/* The stubs of an exercise, if none are remembered yet: what the learner began with, to compare with after an update. */
void learn_state_begin(const learn_exercise *e);

/* After each check of the learner's own files: what failed, or what passed. */
void learn_state_note(const learn_exercise *e, const learn_result *result);

/* see.c: the first case with so many ranks that is not strict, or else the first of the last world. */
learn_place learn_case_with(const learn_exercise *e, int ranks);

enum learn_progress { LEARN_TO_DO, LEARN_IN_PROGRESS, LEARN_DONE };

/* Not started; the files are those that passed last; or neither. Nothing is run. */
enum learn_progress learn_progress(const learn_exercise *e);

/* The key of the last failure, if there has been no pass since; else "". key has LEARN_KEY bytes. */
const char *learn_last_failure(const learn_exercise *e, char *key);

/* ---- stamp.c: stamps lie in BUILD/course/stamps ---- */

/* Was that thing, with inputs of that number, well when it was stamped? Always false when ALL=1 is set. A note it was
 * stamped with is added to `note`, unless that is NULL. */
bool learn_stamp_fresh(const char *name, uint64_t inputs, learn_text *note);
void learn_stamp_keep(const char *name, uint64_t inputs, const char *note);

/* A number for everything but the learner's files that a check depends on: this program, the launcher, the library. */
uint64_t learn_tools_hash(void);

/* ---- board.c ---- */

/* Prints all exercises, or one line: what to do next. */
void learn_board(bool whole);

/* ---- call.c ---- */

struct argp_option;
struct argp_state;

enum { LEARN_NO_LETTER = 256 };

typedef struct {
    const char *what;      /* for --help */
    bool takes_none;       /* no exercise */
    bool may_lack;         /* may be called without an exercise */
    bool takes_all;        /* "all" is one as well */
    const char *flag;      /* a switch it has, "force"; NULL: none */
    int flag_key;          /* its letter, or LEARN_NO_LETTER */
    const char *flag_what; /* for --help */
    /* More than a switch: options, and what takes one of them into call.own. */
    const struct argp_option *options;
    int (*option)(void *own, int key, char *arg, struct argp_state *state);
} learn_usage;

typedef struct {
    const learn_exercise *e; /* NULL: none was named, or all were */
    bool flag;
    void *own;
} learn_call;

/* Parse the arguments. False: called wrongly, which has been said; the status is 2. */
bool learn_called(int argc, char **argv, const learn_usage *usage, learn_call *call);

/* learn_find, which says on stderr what it has not found. */
const learn_exercise *learn_find_or_say(const char *command, const char *text);

/* The number that an option has; wrongly called without one, with which the program ends. */
uint64_t learn_whole(const struct argp_state *state, const char *option, const char *arg);

/* A path as the caller of the program meant it, before it went home. Free it. */
char *learn_from_where(const char *path);

/* ---- course_files.c: what can be seen without running anything: a line is added to `wrong` for what is wrong ---- */

/* Files and folders that belong to no exercise; a name that is not its file's. */
void learn_sound_tree(learn_text *wrong);

/* Of one exercise: pages, hints; stubs are cut from the solution, and not started; given files are the same. */
void learn_sound_files(const learn_exercise *e, learn_text *wrong);

/* ---- jobs.c ---- */

/* Each i below count is a job: run is called in a process of its own, writes what it has to say, and returns 0 or 1, the
 * exit status; ended is called here with the status of wait (-1: no process could be made) and with what was said. at_once
 * of them run at a time (0: as many as there are cores). */
typedef int learn_job(void *arg, size_t i, FILE *said);
typedef void learn_job_ended(void *arg, size_t i, int status, const char *said);
void learn_run_jobs(size_t count, int at_once, learn_job *run, learn_job_ended *ended, void *arg);

/* ---- The commands. Each parses its own arguments (argv[0] is "learn NAME") and returns the exit status: 0 well, 1 something
 * is wrong, 2 called wrongly. ---- */

typedef int learn_command(int argc, char **argv);
learn_command learn_command_test, learn_command_list, learn_command_hint, learn_command_see, learn_command_debug;
learn_command learn_command_reset, learn_command_solution, learn_command_watch, learn_command_update;
learn_command learn_command_own, learn_command_solutions, learn_command_stamp, learn_command_handin;
learn_command learn_command_grade, learn_command_cut, learn_command_check_course;

#endif
