/* SPDX-License-Identifier: MIT */
/*
 * sandbox: the code of others, as far away from everything as this machine allows. Each submission gets
 *
 *      a user of its own          if we are root
 *      processes of its own       a namespace whose end takes everything in it along
 *      no network
 *      a file system of its own   with the C compiler's files, its own files and what it is compiled with: neither tests nor
 *                                 solutions nor other submissions; by mounts in a namespace, else by Landlock
 *      limits                     on processor time, processes, sizes of files; on memory by a control group, else by
 *                                 looking
 *
 * learn_sandbox_open finds out, by trying, which of these there are, and what it says is what is done.
 *
 *      sandbox.c     what there is; places for checks; who is left
 *      folders.c     what those places are made of, and how they are removed
 *      system.c      what of the system can be read
 *      confine.c     in a process that is going to be compiler or launcher: into the sandbox
 *      jail.c        the file system
 *      landlock.c    the same without mounts
 *      cgroup.c      control groups
 */
#ifndef PAIRWISE_LEARN_SANDBOX_H
#define PAIRWISE_LEARN_SANDBOX_H

#include "learn/learn.h"

typedef struct {
    bool own_user, own_processes, no_network, jail, landlock, group;
    bool filter;         /* of system calls: exercises/check/check_forbid.c */
    bool user_namespace; /* how an ordinary user gets the others */
} learn_means;

/* No file may be larger; the launcher's board, which ranks share, is one. */
#define LEARN_FILE_BYTES (UINT64_C(64) << 20)

typedef struct {
    uint64_t memory; /* bytes, all processes of a submission together */
    int processes;
    double world_seconds;
} learn_limits;

typedef struct {
    learn_means means;
    learn_limits limits;
    char top[LEARN_PATH];      /* the checkout */
    char scratch[LEARN_PATH];  /* a folder of ours, with one for each check */
    char place[LEARN_PATH];    /* of the check: folders.c says what is in it */
    char work[LEARN_PATH];     /* in it: what compiler and linker may write to */
    char **system;             /* what of the system a submission may read, NULL at the end */
    int lock;                  /* on scratch: this grader lives */
    uid_t uid;                 /* of the submission */
    int number;                /* of the check, from 0 */
    int already;               /* threads that this user ran before */
    char group[2][LEARN_PATH]; /* control groups, "" if there is none: for memory and for processes */
    uint64_t refused, killed;  /* what the groups had counted when they were asked last */
    uint64_t *watched;         /* shared: how often the process that watches memory had to end it, without a group */
} learn_sandbox;

/* ---- sandbox.c ---- */

/* Find out what can be done and make the scratch folder. class: where submissions lie, which none may read. False: not even
 * that; said on stderr. */
bool learn_sandbox_open(learn_sandbox *box, const learn_limits *limits, const char *class);
void learn_sandbox_close(learn_sandbox *box);

/* What is done, and what not and why, in sentences. Free it. */
char *learn_sandbox_words(const learn_sandbox *box);

/* A place for the next check of a submission, with a user of its own. A copy of box serves that check, beside others; it is
 * to be ended in any case. False with errno if it cannot be made. */
bool learn_sandbox_begin(learn_sandbox *box);
char *learn_sandbox_own(const learn_sandbox *box,
                        const char *name);                     /* a folder for its files, still to be made; free it */
bool learn_sandbox_work(learn_sandbox *box, const char *name); /* makes box->work */

/* Kill what is left of it, and remove its place. Returns how many processes had been left. */
int learn_sandbox_end(learn_sandbox *box);

/* Kill all processes of a user, if it is one of those that submissions get. How many there were. */
int learn_kill_user(uid_t uid);

/* ---- folders.c ---- */

/* The grader's: its user may enter and read. The submission's: nobody else reads or follows what lies there. */
enum learn_owner { LEARN_GRADER, LEARN_SUBMISSION };

/* A new folder, empty. False with errno, also if there is something of that name. */
bool learn_make_for(const learn_sandbox *box, const char *path, enum learn_owner owner);

/* A folder and all below it, links not followed, however deep it is. */
void learn_remove_tree(const char *path);

/* box->scratch, below parent, from which what killed graders have left is removed. False with errno. */
bool learn_make_scratch(learn_sandbox *box, const char *parent);

/* ---- system.c ---- */

/* What every step may read of the system: box->system. None of it holds the class, the checkout or the scratch folder. */
char **learn_system_without(const learn_sandbox *box, const char *class);

/* ---- confine.c: for learn_options ---- */

int learn_sandbox_confine(void *box, enum learn_step step);
bool learn_sandbox_watch(void *box, pid_t child); /* false: it has taken too much memory */

/* Enter the namespaces there are: in a child. False with errno. */
bool learn_enter_namespaces(const learn_means *means);

/* Become the submission's user, without rights of any kind. False with errno. */
bool learn_drop_rights(const learn_sandbox *box);

/* ---- jail.c: in a mount namespace of our own ---- */

/* Does a step write to the work folder? Compiler and linker do; what a submission has written itself never runs there. */
bool learn_step_writes(enum learn_step step);

/* What of the checkout a step needs: files and folders, relative to the top. Free it. NULL behind the last. */
char *learn_step_need(enum learn_step step, size_t number);

extern const char *const learn_devices[];

bool learn_jail(const learn_sandbox *box, enum learn_step step);

/* ---- landlock.c ---- */

bool learn_landlock_there(void);
bool learn_landlock(const learn_sandbox *box, enum learn_step step);

/* ---- cgroup.c ---- */

bool learn_group_make(learn_sandbox *box);       /* for the next submission */
bool learn_group_join(const learn_sandbox *box); /* this process, and what it starts */
void learn_group_remove(learn_sandbox *box);

/* Which limit the submission ran into since this was asked last, in a sentence; NULL if none, or none that is known. */
const char *learn_limit_reached(learn_sandbox *box);

#endif
