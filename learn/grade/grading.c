/* SPDX-License-Identifier: MIT */
/*
 * Submissions to grades. A check runs in a process of its own, which tells the grade through a pipe: the part of it that is
 * known there, as JSON.
 */
#include "learn/grade/grading.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/explain/autopsy.h"

/* However many worlds there are, one exercise of one submission takes no longer. */
enum { MOST_SECONDS = 300 };

/* Ctrl-C: what has begun is cleaned up. */
static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    interrupted = number;
}

static json_t *grade_of(const char *verdict, const char *kind, const char *ran, const char *reason, const char *details,
                        double seconds, double share)
{
    return json_pack("{ss so so so so sf sf}", "verdict", verdict, "kind", learn_json_text(kind, SIZE_MAX), "ran",
                     learn_json_text(ran, SIZE_MAX), "reason", learn_json_text(reason, SIZE_MAX), "details",
                     learn_json_text(details, SIZE_MAX), "seconds", seconds, "share", share);
}

/* ---- In the process that checks ---- */

_Noreturn static void check(const learn_class *class, learn_sandbox *box, const learn_submission *s,
                            const learn_exercise *e, int fd)
{
    static const char *const verdicts[] = {"not started", "right", "wrong"}, *const reasons[] = {"not started", ""};
    char *own = learn_format("%s/own/%s", box->place, e->name), *work = learn_sandbox_work(box, e->name);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!work || !learn_submission_write(s, e, own)) _exit(1);
    learn_options o = {.seed = class->seed,
                       .rate = true,
                       .world_seconds = box->limits.world_seconds,
                       .work = work,
                       .confine = learn_sandbox_confine,
                       .watch = learn_sandbox_watch,
                       .confine_arg = box};
    learn_result r;
    learn_check(e, own, &o, &r);
    char *reason = learn_format("%.300s", r.state == LEARN_FAILED ? r.broke : reasons[r.state]);
    for (char *at = reason; *at; at++)
        if (*at == '\n') *at = ' ';
    json_t *grade = grade_of(verdicts[r.state], r.key, r.ran, reason, learn_explanation(e, &r), r.seconds, r.share);
    _exit(json_dumpfd(grade, fd, 0) == 0 ? 0 : 1);
}

/* ---- In the process that grades ---- */

static json_t *could_not(const char *why)
{
    return grade_of("wrong", "checker", "", why, why, 0, 0);
}

/* All that comes until the end, or until there is no more time, or Ctrl-C. */
static json_t *read_grade(int fd)
{
    OWNED_TEXT t = {0};
    char part[65536];
    for (int left = MOST_SECONDS * 10; left > 0 && !interrupted;) {
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        int ready = poll(&polled, 1, 100);
        ssize_t got = ready > 0 ? read(fd, part, sizeof part) : -1;
        if (ready > 0 && got == 0) break;
        if (got > 0) learn_add_bytes(&t, part, (size_t)got);
        if (ready == 0) left--;
    }
    json_t *grade = json_loadb(learn_string(&t), t.used, 0, NULL);
    return grade ? grade : could_not("It could not be graded: the check itself ended early or took too long.");
}

static json_t *check_apart(const learn_class *class, learn_sandbox *box, const learn_submission *s,
                           const learn_exercise *e)
{
    int ends[2];
    fflush(NULL);
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid < 0) return could_not("It could not be graded: no process could be made for it.");
    if (pid == 0) {
        close(ends[0]);
        check(class, box, s, e, ends[1]);
    }
    close(ends[1]);
    json_t *grade = read_grade(ends[0]);
    close(ends[0]);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    /* Which limit was reached comes first: the check saw only what followed from it. */
    const char *limit = learn_limit_reached(box);
    if (!limit || !learn_field_is(grade, "verdict", "wrong")) return grade;
    json_object_set_new(grade, "reason", json_sprintf("%s %s", limit, learn_field(grade, "reason")));
    json_object_set_new(grade, "details", json_sprintf("%s\n\n%s", limit, learn_field(grade, "details")));
    return grade;
}

static void print_grade(const json_t *g)
{
    const char *verdict = learn_field(g, "verdict");
    double share = json_number_value(json_object_get(g, "share"));
    bool right = strcmp(verdict, "right") == 0, wrong = strcmp(verdict, "wrong") == 0;
    learn_print_plain(learn_field(g, "submission"), 16, INT_MAX);
    printf(" %-24s %s%-14s%s ", learn_field(g, "exercise"),
           learn_colour(stdout, right   ? LEARN_GREEN
                                : wrong ? LEARN_RED
                                        : LEARN_YELLOW),
           verdict, learn_colour(stdout, LEARN_PLAIN));
    if (wrong) learn_print_plain(learn_field(g, "reason"), 0, INT_MAX);
    if (right && share < 1) printf("%.0f%% of the points, by its speed", 100 * share);
    putchar('\n');
    fflush(stdout);
}

static json_t *number_of(double value)
{
    return value == floor(value) ? json_integer((json_int_t)value) : json_real(value);
}

/* Of one that is right: all, or a kernel's share by its speed, to a hundredth; of one that is only slow, its share. */
static json_t *points_of(const learn_class *class, const json_t *found)
{
    double share = json_number_value(json_object_get(found, "share"));
    if (!(share > 0)) return json_integer(0);
    return number_of(share < 1 ? round(class->points * share * 100) / 100 : class->points);
}

/* Those that were named; else all that are in any submission. */
static bool is_graded(const learn_class *class, const learn_exercise *e)
{
    if (class->graded) return class->graded[e - learn_course(NULL)];
    for (size_t i = 0; i < class->count; i++)
        if (learn_handed_in(&class->submissions[i], e)) return true;
    return false;
}

/* All exercises of one submission. False if one could not be graded. */
static bool grade_submission(const learn_class *class, learn_sandbox *box, const learn_submission *s, json_t *list)
{
    bool room = learn_sandbox_begin(box), good = room;
    for (const learn_exercise *e = learn_course(NULL); e->check && !interrupted; e++) {
        if (!is_graded(class, e)) continue;
        const char *missing = s->trouble.used ? s->trouble.text : "not handed in";
        json_t *found = !learn_handed_in(s, e) ? grade_of("not handed in", "", "", missing, missing, 0, 0)
                        : room                 ? check_apart(class, box, s, e)
                                               : could_not("It could not be graded: there is no room for it.");
        json_t *grade = json_pack("{so ss ss so ss so so}", "submission", learn_json_text(s->name, SIZE_MAX),
                                  "exercise", e->name, "code", e->code, "number",
                                  e->number < 0 ? json_null() : json_integer(e->number), "call", e->check->call,
                                  "points", points_of(class, found), "most", number_of(class->points));
        json_object_update(grade, found);
        json_decref(found);
        json_array_append_new(list, grade);
        if (!interrupted) print_grade(grade);
        if (learn_field_is(grade, "kind", "checker")) good = false;
    }
    int left = learn_sandbox_end(box);
    if (left) printf("%-16s left %d processes behind, which were killed\n", s->name, left);
    return good;
}

int learn_grade_all(const learn_class *class, learn_sandbox *box, json_t **grades)
{
    const struct sigaction action = {.sa_handler = note_signal};
    struct sigaction old[2];
    bool good = true;
    OWNED_TEXT words = {0};
    json_t *list = json_array();
    OWNED char *conditions = learn_sandbox_words(box), *seed = learn_format("%llu", (unsigned long long)class->seed);
    *grades = json_pack("{si ss so si so}", "version", 1, "seed", seed, "conditions",
                        learn_json_text(conditions, SIZE_MAX), "submissions", (int)class->count, "grades", list);
    learn_add_wrapped(&words, conditions, 0, 110);
    printf("%s\n\n", learn_string(&words));
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGTERM, &action, &old[1]);
    for (size_t i = 0; i < class->count && !interrupted; i++)
        if (!grade_submission(class, box, &class->submissions[i], list)) good = false;
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    if (interrupted) fputs("learn grade: interrupted; nothing was written\n", stderr);
    return interrupted ? 128 + interrupted : good ? 0 : 1;
}
