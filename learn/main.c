/* SPDX-License-Identifier: MIT */
/* learn: the way through the course. The Makefile's targets call it; each subcommand is a function in a file of its own. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "learn/course/commands.h"
#include "p2p/shared/cli.h"

/* The subcommands, in the order of --help. */
static const struct {
    const char *name, *what;
    learn_command *run;
} commands[] = {
    {"test", "check one exercise and explain", learn_command_test},
    {"hint", "the next hint for an exercise", learn_command_hint},
    {"see", "the case that fails as a page, beside the solution's", learn_command_see},
    {"debug", "the case that fails, alone, with one rank in gdb", learn_command_debug},
    {"list", "the board: what is done, begun, not started", learn_command_list},
    {"watch", "check the exercise whose file is saved, until Ctrl-C", learn_command_watch},
    {"reset", "put an exercise's stub back, and keep what was there", learn_command_reset},
    {"solution", "your files and the solution, side by side", learn_command_solution},
    {"update", "after a pull: new stubs for what is not begun", learn_command_update},
    {"handin", "pack what has been begun, to hand it in", learn_command_handin},
    {"grade", "grade a folder of submissions", learn_command_grade},
    {"own", "check everything that has been begun; the board", learn_command_own},
    {"solutions", "check all solutions", learn_command_solutions},
    {"stamp", "for scripts: what has not changed since it was well?", learn_command_stamp},
    {"cut", "print the stub of a solution", learn_command_cut},
    {"check-course", "is the course itself sound? stubs, solutions, mutants", learn_command_check_course},
};

enum { COUNT = sizeof commands / sizeof *commands };

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0 ||
                strcmp(name, "help") == 0;
    signal(SIGCHLD, SIG_DFL); /* inherited as ignored, no process could be waited for */
    if (strcmp(name, "--version") == 0) return puts(p2p__cli_version()) < 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(commands[i].name, name) != 0) continue;
        argv[1] = learn_format("learn %s", name);
        return learn_go_home() ? commands[i].run(argc - 1, argv + 1) : 1;
    }
    if (!help && *name) fprintf(stderr, "learn: there is no command \"%s\"\n", name);
    FILE *out = help ? stdout : stderr;
    fputs("Usage: learn COMMAND [OPTION...]\nWork through the exercises. learn COMMAND --help says more of each.\n\n",
          out);
    for (size_t i = 0; i < COUNT; i++) fprintf(out, "  %-14s %s\n", commands[i].name, commands[i].what);
    return help ? 0 : 2;
}
