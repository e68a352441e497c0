/* SPDX-License-Identifier: MIT */
/* learn solution: the learner's files and the solution side by side, once the exercise passes or if that is insisted on. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "learn/commands.h"
#include "learn/inside.h"

enum { NARROW = 100, WIDEST = 240 };

/* Columns of the terminal; without one as many as two lines of source need. */
static int columns(void)
{
    struct winsize size;
    const char *set = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    int value = set ? atoi(set) : 0;
    return value > 0 ? value : WIDEST;
}

/* Two columns where they fit, one below the other where they do not. */
static void print_diff(const char *own, const char *solution, int width)
{
    char across[16], *left = learn_format("--label=%s", own), *right = learn_format("--label=%s", solution);
    snprintf(across, sizeof across, "%d", width > WIDEST ? WIDEST : width);
    const char *const side_by_side[] = {"diff", "-y", "-t", "-W", across, own, solution, NULL};
    const char *const unified[] = {"diff", "-U", "1000", left, right, own, solution, NULL};
    learn_command_line line = {.argv = width >= NARROW ? side_by_side : unified, .fd = -1, .seconds = 20};
    learn_spawned done;
    fflush(stdout);
    learn_spawn(&line, &done);
    char *text = done.status > 1 ? learn_read_file(solution, NULL) : NULL; /* there is no diff */
    if (width >= NARROW && !text) printf("%-*s%s\n", width > WIDEST ? WIDEST / 2 + 2 : width / 2 + 2, own, solution);
    fputs(text ? text : done.status == 0 ? "they are the same\n" : learn_string(&done.out), stdout);
    learn_spawned_free(&done);
    free(text);
    free(left);
    free(right);
}

static bool passes(const learn_exercise *e)
{
    if (learn_progress(e) == LEARN_DONE) return true;
    if (learn_progress(e) == LEARN_TO_DO) return false;
    char *folder = learn_format("exercises/%s", e->name);
    learn_options options = {.quiet_compiler = true};
    learn_result result;
    bool passed = learn_check(e, folder, &options, &result);
    learn_state_note(e, &result);
    learn_result_free(&result);
    free(folder);
    return passed;
}

static void print_page(const learn_exercise *e)
{
    char path[LEARN_PATH];
    char *page = learn_read_file(learn_path(path, "solutions", e, "README.md"), NULL);
    if (page) printf("\n%s", page);
    free(page);
}

int learn_command_solution(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Show your files and the solution side by side, once yours pass.",
                                      .flag = "force",
                                      .flag_what = "show it even if they do not"};
    learn_call call;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    const learn_exercise *e = call.e;
    if (!call.flag && !passes(e)) {
        printf("%s does not pass yet, and the solution is worth more afterwards.\n"
               "next  make test EX=%02d   (a hint: make hint EX=%02d; the solution all the same: make solution EX=%02d "
               "FORCE=1)\n",
               e->name, e->number, e->number, e->number);
        return 1;
    }
    for (const char *const *file = e->check->files; *file; file++) {
        char own[LEARN_PATH], solution[LEARN_PATH];
        print_diff(learn_path(own, "exercises", e, *file), learn_path(solution, "solutions", e, *file), columns());
    }
    print_page(e);
    return 0;
}
