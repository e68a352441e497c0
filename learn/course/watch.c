/* SPDX-License-Identifier: MIT */
/*
 * learn watch: check the exercise whose file is saved, until Ctrl-C.
 *
 * What counts is what the files look like (time, size): looked at once a second, for file events do not come through every
 * file system (shared folders of virtual machines and containers), and at once when an event comes. Editors save by writing
 * or by renaming; a moment is waited for them to be done.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "learn/course/commands.h"

enum { LOOK_S = 1, SETTLE_MS = 60 };

/* What an exercise's files look like, in a number: any change shows. */
static uint64_t look_at(const learn_exercise *e)
{
    uint64_t hash = 0;
    for (const char *const *file = e->check->files; *file; file++) {
        char path[LEARN_PATH];
        struct stat s;
        if (stat(learn_path(path, "exercises", e, *file), &s) != 0) continue;
        const int64_t look[] = {s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size, (int64_t)s.st_ino};
        hash = learn_hash(hash, look, sizeof look);
    }
    return hash;
}

/* ---- Ctrl-C, and the end of a check: only while waiting, so that none comes between a look at `stopped` and a wait ---- */

static volatile sig_atomic_t stopped;
static sigset_t while_waiting;

static void note(int number)
{
    if (number != SIGCHLD) stopped = number;
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGCHLD};
    struct sigaction action = {.sa_handler = note};
    sigset_t all;
    sigemptyset(&all);
    for (int i = 0; i < 3; i++) sigaddset(&all, numbers[i]);
    sigprocmask(SIG_BLOCK, &all, &while_waiting);
    for (int i = 0; i < 3; i++) {
        sigdelset(&while_waiting, numbers[i]);
        sigaction(numbers[i], &action, NULL);
    }
}

/* ---- Waiting ---- */

/* -1: there are no events here, and looking has to do. */
static int open_events(void)
{
    int events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    for (const learn_exercise *e = learn_course(NULL); events >= 0 && e->check; e++) {
        OWNED char *folder = learn_format("exercises/%s", e->name);
        inotify_add_watch(events, folder, IN_CLOSE_WRITE | IN_MOVED_TO);
    }
    return events;
}

/* Until something may have changed: an event, or a second. */
static void wait_for_change(int events)
{
    struct pollfd polled = {.fd = events, .events = POLLIN};
    char part[4096];
    if (ppoll(&polled, 1, &(struct timespec){.tv_sec = LOOK_S}, &while_waiting) > 0) {
        poll(NULL, 0, SETTLE_MS);
        while (read(events, part, sizeof part) > 0) continue;
    }
}

/* ---- Checking, in a process of its own, which Ctrl-C ends ---- */

_Noreturn static void check(const learn_exercise *e)
{
    char *folder = learn_format("exercises/%s", e->name);
    const char *more = getenv("V");
    learn_options options = {.even_if_stub = e->check->broken_stub};
    learn_result result;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &while_waiting, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    learn_check(e, folder, &options, &result);
    learn_state_note(e, &result);
    learn_explain(stdout, e, &result, more && *more);
    if (result.state == LEARN_PASSED) learn_board(false);
    fflush(stdout);
    _exit(0);
}

static void check_apart(const learn_exercise *e)
{
    char when[16];
    time_t now = time(NULL);
    struct tm day;
    strftime(when, sizeof when, "%H:%M:%S", localtime_r(&now, &day));
    printf("\n---- %s  %s\n", when, e->name);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) check(e);
    while (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0) {
        if (stopped) kill(pid, SIGKILL);
        sigsuspend(&while_waiting);
    }
}

static void watch(int events, const learn_exercise *only)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    OWNED uint64_t *seen = learn_memory(count * sizeof *seen);
    for (size_t i = 0; i < count; i++) seen[i] = look_at(&all[i]);
    /* after the first look, so that whatever is saved from then on is noticed */
    printf("save a file in exercises/%s and it is checked; Ctrl-C ends this%s\n", only ? only->name : "",
           events < 0 ? " (no file events: looking once a second)" : "");
    fflush(stdout);
    while (!stopped) {
        wait_for_change(events);
        for (size_t i = 0; i < count && !stopped; i++) {
            uint64_t now = look_at(&all[i]);
            if (now == seen[i]) continue;
            seen[i] = now;
            if (!only || only == &all[i]) check_apart(&all[i]);
        }
    }
}

int learn_command_watch(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Check the exercise whose file is saved, again and again, until Ctrl-C.",
                                      .may_lack = true,
                                      .flag = "poll",
                                      .flag_key = LEARN_NO_LETTER,
                                      .flag_what = "do without file events"};
    learn_call call = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    catch_signals();
    int events = call.flag ? -1 : open_events();
    watch(events, call.e);
    if (events >= 0) close(events);
    putchar('\n');
    return 0;
}
