/* SPDX-License-Identifier: MIT */
/* sound: what the files behind check-course share. Where something is wrong, a line is added to `wrong`. */
#ifndef PAIRWISE_LEARN_SOUND_H
#define PAIRWISE_LEARN_SOUND_H

#include "learn/learn.h"

/* ---- course_files.c: what can be seen without running anything ---- */

/* Files and folders that belong to no exercise; a name that is not its file's. */
void learn_sound_tree(learn_text *wrong);

/* Of one exercise: pages, hints; stubs are cut from the solution, and not started; given files are the same. */
void learn_sound_files(const learn_exercise *e, learn_text *wrong);

/* ---- jobs.c ---- */

/* Call run(arg, i) for each i below count in a process of its own, which ends with what it returns; at_once of them (0: as
 * many as there are cores). ended is called here for each with the status of wait; -1: no process could be made. */
void learn_run_jobs(size_t count, int at_once, int (*run)(void *arg, size_t i),
                    void (*ended)(void *arg, size_t i, int status), void *arg);

#endif
