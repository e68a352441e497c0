/* SPDX-License-Identifier: MIT */
/* Running the programs that the demos show. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo/demo.h"

enum { MOST_WORDS = 24, WORD = 3300 };

void demo_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

const char *demo_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 3) bytes /= 1024, unit++;
    snprintf(text, 32, bytes == (double)(long)bytes ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return text;
}

const char *demo_time(double ns, char text[32])
{
    if (ns >= 1e6)
        snprintf(text, 32, "%.2f ms", ns / 1e6);
    else
        snprintf(text, 32, "%.0f us", ns / 1e3);
    return text;
}

static void trace_name(const demo *d, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/%s.json", d->folder, d->name);
}

static _Noreturn void fail(const char *what)
{
    screen_close();
    fprintf(stderr, "demo: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* {build}/x and {trace} as they are. False if there is no room. */
static bool fill_word(const demo *d, const char *word, char *text, size_t bytes)
{
    if (strcmp(word, "{trace}") == 0) {
        trace_name(d, text, bytes);
        return true;
    }
    bool is_ours = strncmp(word, "{build}", 7) == 0;
    int length = snprintf(text, bytes, "%s%s", is_ours ? d->build : "", is_ours ? word + 7 : word);
    return length >= 0 && (size_t)length < bytes;
}

static _Noreturn void be_program(const demo *d, const char *const words[], int out)
{
    static char room[MOST_WORDS][WORD];
    char *list[MOST_WORDS + 1] = {NULL};
    errno = ENAMETOOLONG;
    for (int i = 0; i < MOST_WORDS && words[i]; i++)
        if (fill_word(d, words[i], room[i], sizeof room[i])) list[i] = room[i];
    int nothing = open("/dev/null", O_RDONLY); /* keys are for the demo */
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (list[0]) execv(list[0], list);
    dprintf(out, "demo: cannot start %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static char *read_all(int fd)
{
    size_t used = 0, room = 4096;
    char *text = malloc(room);
    for (ssize_t got; text; used += (size_t)got) {
        if (used + 1024 > room) {
            char *grown = realloc(text, room *= 2);
            if (!grown) break;
            text = grown;
        }
        got = read(fd, text + used, room - used - 1);
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            break;
    }
    if (!text) fail("no memory");
    text[used] = 0;
    return text;
}

int demo_run(const demo *d, const char *const words[], char **output)
{
    int ends[2], status;
    fflush(stdout);
    if (pipe(ends) != 0) fail("a pipe");
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        close(ends[0]);
        be_program(d, words, ends[1]);
    }
    close(ends[1]);
    char *text = read_all(ends[0]);
    close(ends[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (output)
        *output = text;
    else
        free(text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool demo_record(const demo *d, const char *const words[], int expected, replay_trace *trace, char **output)
{
    char path[WORD], why[WORD + 300], *text = NULL;
    if (mkdir(d->folder, 0777) != 0 && errno != EEXIST) fail(d->folder);
    trace_name(d, path, sizeof path);
    int status = demo_run(d, words, &text);
    bool fine = status == expected && replay_read(path, trace, why, sizeof why);
    if (!fine) {
        screen_close();
        fputs(text, stderr);
        if (status != expected)
            fprintf(stderr, "demo: the run ended with status %d\n", status);
        else
            fprintf(stderr, "demo: %s\n", why);
    }
    if (fine && output)
        *output = text;
    else
        free(text);
    return fine;
}

void demo_page(const demo *d, const char *title)
{
    char page[WORD], *output = NULL;
    snprintf(page, sizeof page, "%s/%s.html", d->folder, d->name);
    const char *const words[] = {"{build}/replay", "{trace}", "-o", page, "-t", title, NULL};
    if (demo_run(d, words, &output) == 0)
        demo_say("look closer, in a browser: %s", page);
    else
        fputs(output, stderr);
    free(output);
}
