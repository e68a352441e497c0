/* SPDX-License-Identifier: MIT */
/* learn test EX: check one exercise and explain; with --runs, many times, for the sweep that looks for races. */
#include <argp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "learn/course/commands.h"

enum { MOST_WORKERS = 64 };
enum {
    KEY_SOLUTION = 256,
    KEY_RUNS,
    KEY_DELAYS,
    KEY_SEED,
    KEY_IN,
    KEY_INSTEAD,
    KEY_LIMIT,
    KEY_WORK,
    KEY_TRACE,
    KEY_RANKS
};

static const struct argp_option options[] = {
    {"solution", KEY_SOLUTION, NULL, 0, "check the solution, not the learner's files", 0},
    {"in", KEY_IN, "FOLDER", 0, "check the files in FOLDER", 0},
    {"instead", KEY_INSTEAD, "FILE", 0, "FILE stands in for the exercise's first file (a mutant)", 0},
    {"runs", KEY_RUNS, "N", 0, "check N times, and stop at the first failure", 0},
    {"delays", KEY_DELAYS, NULL, 0, "ranks are late at random", 0},
    {"seed", KEY_SEED, "N", 0, "other data", 0},
    {"limit", KEY_LIMIT, "S", 0, "seconds that one world may take (10)", 0},
    {"work", KEY_WORK, "FOLDER", 0, "build in FOLDER, so that several can be checked at once", 0},
    {"trace", KEY_TRACE, "FILE", 0, "write what the ranks of the last world did to FILE (for build/replay)", 0},
    {"ranks", KEY_RANKS, "N", 0, "one case alone: the first with N ranks, or of the last world if none has so many", 0},
    {"verbose", 'v', NULL, 0, "everything there is to say", 0},
    {0},
};

typedef struct {
    const char *folder, *instead;
    bool solution, verbose;
    int runs, ranks;
    learn_options check;
} arguments;

static int option(void *own, int key, char *arg, struct argp_state *state)
{
    arguments *a = own;
    switch (key) {
    case KEY_SOLUTION: a->solution = true; break;
    case KEY_IN: a->folder = arg; break;
    case KEY_INSTEAD: a->instead = arg; break;
    case KEY_RUNS: a->runs = (int)learn_whole(state, "runs", arg); break;
    case KEY_DELAYS: a->check.delays = true; break;
    case KEY_SEED: a->check.seed = learn_whole(state, "seed", arg); break;
    case KEY_LIMIT: a->check.world_seconds = (double)learn_whole(state, "limit", arg); break;
    case KEY_WORK: a->check.work = arg; break;
    case KEY_TRACE: a->check.trace = arg; break;
    case KEY_RANKS: a->ranks = (int)learn_whole(state, "ranks", arg); break;
    case 'v': a->verbose = true; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* One of many runs; the first compiles. */
static bool check_once(const learn_exercise *e, const arguments *a, const char *folder, int number)
{
    learn_options o = a->check;
    OWNED_RESULT result;
    bool own = !a->folder && !a->solution && !a->instead && !a->ranks;
    o.keep_program = number > 0;
    o.rate = number == 0;
    o.progress = number == 0 && isatty(STDERR_FILENO);
    o.delay_seed = (uint64_t)number + 1;
    bool passed = learn_check(e, folder, &o, &result);
    if (own && number == 0) learn_state_note(e, &result);
    if (!passed || a->runs == 1) learn_explain(stdout, e, &result, a->verbose);
    if (!passed && a->runs > 1) printf("  in run %d of %d\n", number + 1, a->runs);
    fflush(stdout);
    if (passed && own && a->runs == 1) learn_board(false);
    return passed || (a->runs == 1 && result.state == LEARN_NOT_STARTED);
}

/* As many at once as there are cores; the first that fails ends them all. */
static bool check_often(const learn_exercise *e, const arguments *a, const char *folder)
{
    int workers = (int)sysconf(_SC_NPROCESSORS_ONLN), status;
    if (workers < 1) workers = 1;
    if (workers > MOST_WORKERS) workers = MOST_WORKERS;
    pid_t pids[MOST_WORKERS];
    bool passed = true;
    for (int i = 0; i < workers; i++) {
        pids[i] = fork();
        if (pids[i] != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int k = 1 + i; k < a->runs && passed; k += workers) passed = check_once(e, a, folder, k);
        _exit(passed ? 0 : 1);
    }
    while (wait(&status) > 0) {
        if (status == 0) continue;
        for (int i = 0; passed && i < workers; i++)
            if (pids[i] > 0) kill(pids[i], SIGTERM);
        passed = false;
    }
    return passed;
}

int learn_command_test(int argc, char **argv)
{
    static const learn_usage usage = {
        .what = "Check one exercise: its number, name or a part of it.", .options = options, .option = option};
    arguments a = {.runs = 1};
    learn_call call = {.own = &a};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    const learn_exercise *e = call.e;
    OWNED char *folder = a.folder ? learn_from_where(a.folder)
                                  : learn_format("%s/%s", a.solution || a.instead ? "solutions" : "exercises", e->name);
    OWNED char *instead = a.instead ? learn_from_where(a.instead) : NULL;
    OWNED char *work = a.check.work ? learn_from_where(a.check.work) : NULL;
    a.check.instead = instead;
    a.check.work = work;
    a.check.even_if_stub = a.solution || e->check->broken_stub;
    learn_place place = learn_case_with(e, a.ranks);
    if (a.ranks) a.check.only = &place;
    time_t began = time(NULL);
    bool passed = check_once(e, &a, folder, 0) && (a.runs <= 1 || check_often(e, &a, folder));
    if (passed && a.runs > 1) printf("%s: passed %d times, %ld s\n", e->name, a.runs, (long)(time(NULL) - began));
    return passed ? 0 : 1;
}
