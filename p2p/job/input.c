/* SPDX-License-Identifier: MIT */
/* Standard input, when it is a terminal: what is typed goes to rank 0, through a pipe. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "p2p/job/launch.h"

int p2p__input_fd(const p2p_job *job)
{
    return job->stdin_pipe >= 0 && job->stdin_from == job->stdin_to ? STDIN_FILENO : -1;
}

static void close_input(p2p_job *job)
{
    close(job->stdin_pipe);
    job->stdin_pipe = -1;
}

void p2p__input_read(p2p_job *job)
{
    ssize_t got = read(STDIN_FILENO, job->stdin_text, sizeof job->stdin_text);
    if (got <= 0) {
        close_input(job);
        return;
    }
    job->stdin_from = 0;
    job->stdin_to = (size_t)got;
}

void p2p__input_write(p2p_job *job)
{
    ssize_t written = write(job->stdin_pipe, job->stdin_text + job->stdin_from, job->stdin_to - job->stdin_from);
    if (written > 0) job->stdin_from += (size_t)written;
    if (written < 0 && errno != EAGAIN) close_input(job);
}

void p2p__take_terminal_back(const p2p_job *job)
{
    if (job->plan->debug_rank < 0 || !isatty(STDIN_FILENO)) return;
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, &old);
    tcsetpgrp(STDIN_FILENO, getpgrp());
    sigprocmask(SIG_SETMASK, &old, NULL);
}
