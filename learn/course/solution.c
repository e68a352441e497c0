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
    char *folder = learn_format("%s/course/solution", learn_build()),
         *path = learn_format("%s/%s-%s", folder, e->name, file);
    char *text = learn_read_file(solution, NULL);
    learn_text kept = {0};
    for (const char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (!line[length - 1]) length--;
        if (strncmp(line + strspn(line, " \t"), "// stub:", 8) != 0) learn_add_bytes(&kept, line, length);
        line += length;
    }
    bool good = learn_make_folder(folder) && learn_write_file(path, learn_string(&kept), kept.used);
    learn_text_free(&kept);
    free(text);
    free(folder);
    if (good) return path;
    free(path);
    return learn_copy(solution);
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

/* A row of diff -y: what does not fit goes on below, a little further in. */
static void print_row(const char *left, int left_length, const char *right, int right_length, char mark, int half)
{
    const enum learn_colour colour = mark == ' ' ? LEARN_PLAIN : LEARN_YELLOW;
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

/* diff -y -t -W W puts the right-hand column at (W + 4) / 2, three blanks and the mark before it. */
static void print_rows(const char *text, int wide, int half)
{
    int offset = (wide + 4) / 2;
    while (*text) {
        int length = (int)strcspn(text, "\n");
        int left = length < offset - 3 ? length : offset - 3, right = length > offset ? length - offset : 0;
        char mark = ' ';
        for (int i = offset - 4 > 0 ? offset - 4 : 0; i < offset && i < length; i++)
            if (strchr("|<>\\/", text[i])) mark = text[i];
        if (mark != ' ' && left > offset - 4) left = offset - 4;
        while (left > 0 && text[left - 1] == ' ') left--;
        print_row(text, left, text + length - right, right, mark, half);
        text += length + (text[length] == '\n');
    }
}

static int longest_line(const char *path)
{
    char *text = learn_read_file(path, NULL);
    size_t longest = 0;
    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") > longest) longest = strcspn(line, "\n");
    free(text);
    return (int)longest;
}

/* Wide enough that diff cuts nothing; what is then too wide is broken here. */
static bool print_side_by_side(const char *own, const char *other, const char *solution, int width)
{
    char across[16];
    int longest = longest_line(own) > longest_line(other) ? longest_line(own) : longest_line(other);
    int wide = 2 * (longest + 8), half = (width - 3) / 2;
    snprintf(across, sizeof across, "%d", wide);
    const char *const words[] = {"diff", "-y", "-t", "-W", across, own, other, NULL};
    learn_command_line line = {.argv = words, .seconds = 20};
    learn_spawned done;
    fflush(stdout);
    learn_spawn(&line, &done);
    bool good = done.status <= 1;
    if (good)
        printf("%s%-*s   %s%s\n", learn_colour(stdout, LEARN_BOLD), half, own, solution,
               learn_colour(stdout, LEARN_PLAIN));
    if (good) print_rows(learn_string(&done.out), wide, half);
    learn_spawned_free(&done);
    return good;
}

static void print_diff(const learn_exercise *e, const char *file, int width)
{
    char own[LEARN_PATH], solution[LEARN_PATH];
    learn_path(own, "exercises", e, file);
    char *other = without_marks(e, file, learn_path(solution, "solutions", e, file));
    if (width < NARROW || !print_side_by_side(own, other, solution, width)) {
        /* no room, or no diff */
        char *mine = learn_read_file(own, NULL), *theirs = learn_read_file(other, NULL);
        printf("---- %s\n%s\n---- %s\n%s", own, mine ? mine : "", solution, theirs ? theirs : "");
        free(mine);
        free(theirs);
    }
    free(other);
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
    for (const char *const *file = e->check->files; *file; file++) print_diff(e, *file, columns());
    char path[LEARN_PATH];
    char *page = learn_read_file(learn_path(path, "solutions", e, "README.md"), NULL);
    if (page) printf("\n%s", page);
    free(page);
    return 0;
}
