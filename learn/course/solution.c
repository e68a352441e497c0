/* SPDX-License-Identifier: MIT */
/* learn solution: the learner's files and the solution side by side, once the exercise passes or if that is insisted on. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "learn/course/commands.h"
#include "learn/inside.h"

enum { NARROW = 76, WIDEST = 200 };

/* Columns of the terminal; without one as many as two lines of source need. */
static int columns(void)
{
    struct winsize size;
    const char *set = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    int value = set ? atoi(set) : 0;
    return value > 0 ? value : WIDEST;
}

/* The solution as one would hand it in: without what its stub is cut by. Its path; free it. */
static char *without_marks(const learn_exercise *e, const char *file, const char *solution)
{
    char *path = learn_format("%s/course/solution/%s-%s", learn_build(), e->name, file);
    OWNED char *text = learn_read_file(solution, NULL);
    OWNED_TEXT kept = {0};
    for (const char *line = text ? text : "", *next; *line; line = next) {
        next = learn_next_line(line);
        if (!learn_has_prefix(line + strspn(line, " \t"), "// stub:"))
            learn_add_bytes(&kept, line, (size_t)(next - line));
    }
    if (!learn_put_file(path, learn_string(&kept), kept.used)) learn_replace(&path, learn_copy(solution));
    return path;
}

/* ---- Two columns ---- */

/* Bytes of a text that fit into a column: up to a blank, if there is one far enough on. */
static int fitting(const char *text, int length, int width)
{
    if (length <= width) return length;
    for (int at = width; at > width / 2; at--)
        if (text[at] == ' ') return at;
    return width;
}

/* Two lines side by side: what does not fit goes on below, a little further in. */
static void print_row(const char *left, const char *right, char mark, int half)
{
    const enum learn_colour colour = mark == ' ' ? LEARN_PLAIN : LEARN_YELLOW;
    int left_length = (int)strcspn(left, "\n"), right_length = (int)strcspn(right, "\n");
    int more = 4 + (int)strspn(left_length ? left : right, " "), indent = 0;
    if (more > half / 2) more = half / 2;
    fputs(learn_colour(stdout, colour), stdout);
    do {
        int l = fitting(left, left_length, half - indent), r = fitting(right, right_length, half - indent);
        printf("%*s%-*.*s %c %*s%.*s\n", l ? indent : 0, "", l ? half - indent : half, l, left, mark, r ? indent : 0,
               "", r, right);
        left += l, left_length -= l, right += r, right_length -= r;
        while (left_length && *left == ' ') left++, left_length--;
        while (right_length && *right == ' ') right++, right_length--;
        indent = more;
    } while (left_length > 0 || right_length > 0);
    fputs(learn_colour(stdout, LEARN_PLAIN), stdout);
}

/* What diff says of each line: ' ' both have it; where they differ, '<' lines of the one, then '>' lines of the other. */
static void print_rows(const char *at, int half)
{
    while (*at) {
        const char *left = at, *middle = at, *right;
        while (*middle == '<') middle = learn_next_line(middle);
        for (right = middle; left < middle || *right == '>';) {
            char mark = left == middle ? '>' : *right == '>' ? '|' : '<';
            print_row(mark == '>' ? "" : left + 1, mark == '<' ? "" : right + 1, mark, half);
            if (mark != '>') left = learn_next_line(left);
            if (mark != '<') right = learn_next_line(right);
        }
        bool both = *right && *right != '<';
        if (both) print_row(right + 1, right + 1, ' ', half);
        at = both ? learn_next_line(right) : right;
    }
}

static bool print_side_by_side(const char *own, const char *other, const char *solution, int width)
{
    const char *const words[] = {
        "diff", "-at", "--unchanged-line-format= %l\n", "--old-line-format=<%l\n", "--new-line-format=>%l\n", own,
        other,  NULL};
    learn_command_line line = {.argv = words, .seconds = 20};
    int half = (width - 3) / 2;
    OWNED_SPAWNED done;
    fflush(stdout);
    learn_spawn(&line, &done);
    if (done.status > 1) return false;
    printf("%s%-*s   %s%s\n", learn_colour(stdout, LEARN_BOLD), half, own, solution, learn_colour(stdout, LEARN_PLAIN));
    print_rows(learn_string(&done.out), half);
    return true;
}

static void print_diff(const learn_exercise *e, const char *file, int width)
{
    char own[LEARN_PATH], solution[LEARN_PATH];
    learn_path(own, "exercises", e, file);
    OWNED char *other = without_marks(e, file, learn_path(solution, "solutions", e, file));
    if (width >= NARROW && print_side_by_side(own, other, solution, width)) return;
    /* no room, or no diff */
    OWNED char *mine = learn_read_file(own, NULL), *theirs = learn_read_file(other, NULL);
    printf("---- %s\n%s\n---- %s\n%s", own, mine ? mine : "", solution, theirs ? theirs : "");
}

static bool passes(const learn_exercise *e)
{
    if (learn_progress(e) == LEARN_DONE) return true;
    if (learn_progress(e) == LEARN_TO_DO) return false;
    OWNED char *folder = learn_format("exercises/%s", e->name);
    learn_options options = {.quiet_compiler = true};
    OWNED_RESULT result;
    bool passed = learn_check(e, folder, &options, &result);
    learn_state_note(e, &result);
    return passed;
}

int learn_command_solution(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Show your files and the solution side by side, once yours pass.",
                                      .flag = "force",
                                      .flag_key = LEARN_NO_LETTER,
                                      .flag_what = "show it even if they do not"};
    learn_call call = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    const learn_exercise *e = call.e;
    if (!call.flag && !passes(e)) {
        printf("%s does not pass yet, and the solution is worth more afterwards.\n"
               "next  make test EX=%s   (a hint: make hint EX=%s; the solution all the same: make solution EX=%s "
               "FORCE=1)\n",
               e->name, e->code, e->code, e->code);
        return 1;
    }
    for (const char *const *file = e->check->files; *file; file++) print_diff(e, *file, columns());
    char path[LEARN_PATH];
    OWNED char *page = learn_read_file(learn_path(path, "solutions", e, "README.md"), NULL);
    if (page) printf("\n%s", page);
    return 0;
}
