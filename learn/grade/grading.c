/* SPDX-License-Identifier: MIT */
/* Submissions to grades. A check runs in a process of its own and tells its result through a pipe. */
#include "learn/grade/grading.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* However many worlds there are, one exercise of one submission takes no longer. */
enum { MOST_SECONDS = 300 };

/* ---- Interruption: what has begun is cleaned up ---- */

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    interrupted = number;
}

static void catch_signals(struct sigaction old[2])
{
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGTERM, &action, &old[1]);
}

static void release_signals(const struct sigaction old[2])
{
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
}

/* ---- In the process that checks ---- */

static char *explanation(const learn_exercise *e, const learn_result *result)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return learn_copy("");
    learn_explain(out, e, result, false);
    fclose(out);
    return text;
}

/* One line: what was wrong. */
static char *reason_of(const learn_result *r)
{
    static const char *const words[] = {"not started", "right", ""};
    char *line = learn_format("%.*s", 300, r->state == LEARN_FAILED ? r->broke : words[r->state]);
    for (char *at = line; *at; at++)
        if (*at == '\n') *at = ' ';
    return line;
}

/* state, seconds, kind, what ran, reason, details, each with a NUL behind it. */
static void tell(int fd, const learn_exercise *e, const learn_result *r)
{
    char *details = explanation(e, r), *reason = reason_of(r);
    learn_text t = {0};
    learn_add(&t, "%d %.3f", (int)r->state, r->seconds);
    learn_add_bytes(&t, "", 1);
    const char *const parts[] = {r->key, r->ran, reason, details};
    for (size_t i = 0; i < 4; i++) learn_add_bytes(&t, parts[i], strlen(parts[i]) + 1);
    for (size_t at = 0; at < t.used;) {
        ssize_t wrote = write(fd, t.text + at, t.used - at);
        if (wrote <= 0) break;
        at += (size_t)wrote;
    }
    learn_text_free(&t);
    free(reason);
    free(details);
}

_Noreturn static void check(const learn_class *class, learn_sandbox *box, const learn_submission *s,
                            const learn_exercise *e, int fd)
{
    char *own = learn_format("%s/own/%s", box->place, e->name), *work = learn_sandbox_work(box, e->name);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!work || !learn_submission_write(s, e, own)) _exit(1);
    learn_options o = {.seed = class->seed,
                       .world_seconds = box->limits.world_seconds,
                       .work = work,
                       .confine = learn_sandbox_confine,
                       .watch = learn_sandbox_watch,
                       .confine_arg = box};
    learn_result result;
    learn_check(e, own, &o, &result);
    tell(fd, e, &result);
    _exit(0);
}

/* ---- In the process that grades ---- */

/* All that comes until the end, or until there is no more time, or Ctrl-C. */
static void read_all(int fd, learn_text *t)
{
    char part[65536];
    for (int left = MOST_SECONDS * 10; left > 0 && !interrupted;) {
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        int ready = poll(&polled, 1, 100);
        ssize_t got = ready > 0 ? read(fd, part, sizeof part) : -1;
        if (ready > 0 && got == 0) return;
        if (got > 0) learn_add_bytes(t, part, (size_t)got);
        if (ready == 0) left--;
    }
}

static bool read_result(learn_grade *g, const learn_text *t)
{
    const char *parts[5], *at = t->text, *end = t->text + t->used;
    int state;
    for (size_t i = 0; i < 5; i++) {
        if (!at || at >= end || !memchr(at, '\0', (size_t)(end - at))) return false;
        parts[i] = at;
        at += strlen(at) + 1;
    }
    if (sscanf(parts[0], "%d %lf", &state, &g->seconds) != 2) return false;
    g->verdict = state == LEARN_PASSED ? LEARN_RIGHT : state == LEARN_FAILED ? LEARN_WRONG : LEARN_UNTOUCHED;
    g->kind = learn_copy(parts[1]);
    g->ran = learn_copy(parts[2]);
    g->reason = learn_copy(g->verdict == LEARN_RIGHT ? "" : parts[3]);
    g->details = learn_copy(parts[4]);
    return true;
}

static void could_not(learn_grade *g, const char *why)
{
    g->verdict = LEARN_WRONG;
    g->kind = learn_copy("checker");
    g->ran = learn_copy("");
    g->reason = learn_copy(why);
    g->details = learn_copy(why);
}

static void check_apart(const learn_class *class, learn_sandbox *box, const learn_submission *s, learn_grade *g)
{
    int ends[2];
    learn_text t = {0};
    fflush(NULL);
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid == 0) {
        close(ends[0]);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        check(class, box, s, g->e, ends[1]);
    }
    if (pid < 0) {
        could_not(g, "It could not be graded: no process could be made for it.");
        return;
    }
    close(ends[1]);
    read_all(ends[0], &t);
    close(ends[0]);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (!read_result(g, &t)) could_not(g, "It could not be graded: the check itself ended early or took too long.");
    learn_text_free(&t);
}

/* Which limit was reached comes first: the check saw only what followed from it. */
static void add_limit(learn_sandbox *box, learn_grade *g)
{
    const char *limit = learn_limit_reached(box);
    if (!limit || g->verdict != LEARN_WRONG) return;
    char *reason = learn_format("%s %s", limit, g->reason), *details = learn_format("%s\n\n%s", limit, g->details);
    free((void *)(uintptr_t)g->reason);
    free((void *)(uintptr_t)g->details);
    g->reason = reason;
    g->details = details;
}

static void not_handed_in(learn_grade *g, const learn_submission *s)
{
    g->verdict = LEARN_MISSING;
    g->kind = learn_copy("");
    g->ran = learn_copy("");
    g->reason = learn_copy(s->trouble.used ? s->trouble.text : "not handed in");
    g->details = learn_copy(g->reason);
}

/* What a submission has written, on our terminal: the first line of it, and no control characters. */
static void print_plain(const char *text, int width)
{
    int count = 0;
    for (; *text && *text != '\n'; text++, count++) putchar(iscntrl((unsigned char)*text) ? '?' : *text);
    for (; count < width; count++) putchar(' ');
}

static void print_grade(const learn_grade *g)
{
    static const enum learn_colour colours[] = {LEARN_GREEN, LEARN_RED, LEARN_YELLOW, LEARN_YELLOW};
    print_plain(g->submission, 16);
    printf(" %-24s %s%-14s%s ", g->e->name, learn_colour(stdout, colours[g->verdict]), learn_verdict_word(g->verdict),
           learn_colour(stdout, LEARN_PLAIN));
    if (g->verdict == LEARN_WRONG) print_plain(g->reason, 0);
    putchar('\n');
    fflush(stdout);
}

/* All exercises of one submission. False if one could not be graded. */
static bool grade_submission(const learn_class *class, learn_sandbox *box, const learn_submission *s, double points,
                             learn_grades *grades)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    learn_grade *list = (learn_grade *)(uintptr_t)grades->grades;
    bool room = learn_sandbox_begin(box), good = room;
    for (size_t i = 0; i < count && !interrupted; i++) {
        if (!class->graded[i]) continue;
        learn_grade *g = &list[grades->count++];
        *g = (learn_grade){.submission = s->name, .e = &all[i], .most = points};
        if (!learn_handed_in(s, &all[i]))
            not_handed_in(g, s);
        else if (room)
            check_apart(class, box, s, g), add_limit(box, g);
        else
            could_not(g, "It could not be graded: there is no room for it.");
        g->points = g->verdict == LEARN_RIGHT ? points : 0;
        if (!interrupted) print_grade(g);
        if (strcmp(g->kind, "checker") == 0) good = false;
    }
    int left = learn_sandbox_end(box);
    if (left) printf("%-16s left %d processes behind, which were killed\n", s->name, left);
    return good;
}

int learn_grade_all(const learn_class *class, learn_sandbox *box, double points, learn_grades *grades)
{
    size_t count;
    struct sigaction old[2];
    bool good = true;
    learn_course(&count);
    *grades = (learn_grades){.grades = learn_memory((class->count * count + 1) * sizeof *grades->grades),
                             .submissions = class->count,
                             .seed = class->seed,
                             .conditions = learn_sandbox_words(box)};
    learn_text words = {0};
    learn_add_wrapped(&words, grades->conditions, 0, 110);
    printf("%s\n\n", learn_string(&words));
    learn_text_free(&words);
    catch_signals(old);
    for (size_t i = 0; i < class->count && !interrupted; i++)
        if (!grade_submission(class, box, &class->submissions[i], points, grades)) good = false;
    release_signals(old);
    if (interrupted) fputs("learn grade: interrupted; nothing was written\n", stderr);
    return interrupted ? 128 + interrupted : good ? 0 : 1;
}

void learn_grades_free(learn_grades *grades)
{
    for (size_t i = 0; i < grades->count; i++) {
        const learn_grade *g = &grades->grades[i];
        const char *const texts[] = {g->kind, g->ran, g->reason, g->details};
        for (size_t j = 0; j < 4; j++) free((void *)(uintptr_t)texts[j]);
    }
    free((void *)(uintptr_t)grades->grades);
    free((void *)(uintptr_t)grades->conditions);
    *grades = (learn_grades){.count = 0};
}
