/* SPDX-License-Identifier: MIT */
/*
 * Submissions to grades. A check runs in a process of its own, which tells the grade through a pipe: the part of it that is
 * known there, as JSON.
 */
#include "learn/grade/grading.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/explain/autopsy.h"
#include "learn/inside.h"

/* However many worlds there are, one exercise of one submission takes no longer. */
enum { MOST_SECONDS = 300 };

/* Of what is said of one exercise of one submission no more is kept. */
enum { MOST_DETAILS = 64 << 10 };

enum { MOST_JOBS = LEARN_MOST_JOBS };

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
                     learn_json_text(ran, MOST_DETAILS), "reason", learn_json_text(reason, MOST_DETAILS), "details",
                     learn_json_text(details, MOST_DETAILS), "seconds", seconds, "share", share);
}

/* ---- In the process that checks ---- */

/* What this process may take for itself, whatever it is made to read; the sanitizer reserves more. What it starts gets limits of
 * its own (confine.c). */
static void bound_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    const rlim_t most = (rlim_t)3 << 30;
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_max < most) return;
    space.rlim_cur = most;
    setrlimit(RLIMIT_AS, &space);
#endif
}

_Noreturn static void check(const learn_class *class, learn_sandbox *box, const learn_submission *s,
                            const learn_exercise *e, int fd)
{
    static const char *const verdicts[] = {"not started", "right", "wrong"}, *const reasons[] = {"not started", ""};
    char *own = learn_sandbox_own(box, e->name), *apart = learn_sandbox_own(box, "from");
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bound_memory();
    if (!learn_sandbox_work(box, e->name) || !learn_submission_write(s, e, own)) _exit(1);
    learn_options o = {.seed = class->secret,
                       .rate = true,
                       .no_device = box->means.jail
                                        ? NULL
                                        : "kernels run on the device only where what they write is bounded, "
                                          "in a file system of their own",
                       .world_seconds = box->limits.world_seconds,
                       .work = box->work,
                       .apart = apart,
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

/* A check under way, or one that has ended: its grade is there then. */
typedef struct {
    const learn_submission *s;
    const learn_exercise *e;
    learn_sandbox *box;
    pid_t pid; /* 0: none */
    int fd, left_behind;
    double until;
    learn_text said;
    json_t *found;
} job;

/* What need not be run, or cannot. */
static json_t *without_a_check(const job *j)
{
    const char *missing = j->s->trouble.used ? j->s->trouble.text : "not handed in";
    return learn_handed_in(j->s, j->e) ? NULL : grade_of("not handed in", "", "", missing, missing, 0, 0);
}

static void end_box(job *j)
{
    j->left_behind = learn_sandbox_end(j->box);
    free(j->box);
    j->box = NULL;
}

static void begin_job(const learn_class *class, learn_sandbox *box, job *j)
{
    int ends[2];
    j->found = without_a_check(j);
    if (j->found) return;
    bool room = learn_sandbox_begin(box);
    j->box = learn_memory(sizeof *j->box);
    *j->box = *box;
    fflush(NULL);
    j->pid = room && pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (j->pid == 0) {
        close(ends[0]);
        check(class, j->box, j->s, j->e, ends[1]);
    }
    if (j->pid < 0) {
        j->pid = 0;
        j->found = could_not(room ? "It could not be graded: no process could be made for it."
                                  : "It could not be graded: there is no room for it.");
        end_box(j);
        return;
    }
    close(ends[1]);
    j->fd = ends[0];
    j->until = learn_now() + MOST_SECONDS;
}

/* It has said all that it says, or takes too long, or nobody wants to know any more. */
static void end_job(job *j)
{
    json_t *grade = json_loadb(learn_string(&j->said), j->said.used, 0, NULL);
    close(j->fd);
    kill(j->pid, SIGKILL);
    waitpid(j->pid, NULL, 0);
    j->pid = 0;
    if (!grade) grade = could_not("It could not be graded: the check itself ended early or took too long.");
    /* Which limit was reached comes first: the check saw only what followed from it. */
    const char *limit = learn_limit_reached(j->box);
    if (limit && learn_field_is(grade, "verdict", "wrong")) {
        json_object_set_new(grade, "reason", json_sprintf("%s %s", limit, learn_field(grade, "reason")));
        json_object_set_new(grade, "details", json_sprintf("%s\n\n%s", limit, learn_field(grade, "details")));
    }
    end_box(j);
    learn_text_free(&j->said);
    j->found = grade;
}

/* Wait a moment for those that are under way. */
static void look_after_jobs(job *jobs, size_t count)
{
    struct pollfd polled[MOST_JOBS];
    job *under_way[MOST_JOBS] = {NULL};
    nfds_t running = 0;
    for (size_t i = 0; i < count && running < MOST_JOBS; i++) {
        if (!jobs[i].pid) continue;
        polled[running] = (struct pollfd){.fd = jobs[i].fd, .events = POLLIN};
        under_way[running++] = &jobs[i];
    }
    int ready = poll(polled, running, 100);
    for (nfds_t i = 0; i < running; i++) {
        char part[65536];
        job *j = under_way[i];
        ssize_t got = ready > 0 && polled[i].revents ? read(j->fd, part, sizeof part) : -1;
        if (got > 0) learn_add_bytes(&j->said, part, (size_t)got);
        if (got == 0 || learn_now() > j->until) end_job(j);
    }
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
    const char *reason = learn_field(g, "reason");
    if (wrong || (strcmp(verdict, "not handed in") == 0 && strcmp(reason, verdict) != 0))
        learn_print_plain(reason, 0, INT_MAX);
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

/* Everything that is to be graded, the exercises of each submission behind one another. Free it. */
static job *all_jobs(const learn_class *class, size_t *count)
{
    job *jobs = NULL;
    *count = 0;
    for (size_t i = 0; i < class->count; i++)
        for (const learn_exercise *e = learn_course(NULL); e->check; e++) {
            if (!is_graded(class, e)) continue;
            jobs = learn_grow(jobs, *count, sizeof *jobs);
            jobs[(*count)++] = (job){.s = &class->submissions[i], .e = e, .fd = -1};
        }
    return jobs;
}

/* Add the grade to the list, and print it. False if it could not be graded. */
static bool take_grade(const learn_class *class, const job *j, json_t *list)
{
    const learn_exercise *e = j->e;
    json_t *grade = json_pack("{so ss ss so ss so so}", "submission", learn_json_text(j->s->name, SIZE_MAX), "exercise",
                              e->name, "code", e->code, "number", e->number < 0 ? json_null() : json_integer(e->number),
                              "call", e->check->call, "points", points_of(class, j->found), "most",
                              number_of(class->points));
    json_object_update(grade, j->found);
    json_decref(j->found);
    json_array_append_new(list, grade);
    print_grade(grade);
    if (j->left_behind) {
        learn_print_plain(j->s->name, 16, INT_MAX);
        printf(" left %d processes behind, which were killed\n", j->left_behind);
    }
    return !learn_field_is(grade, "kind", "checker");
}

/* So many at once as are wanted; what has ended is printed in its turn. */
static bool run_jobs(const learn_class *class, learn_sandbox *box, json_t *list)
{
    size_t count, begun = 0, taken = 0;
    OWNED job *jobs = all_jobs(class, &count);
    bool good = true;
    while (taken < count && !interrupted) {
        int running = 0;
        for (size_t i = taken; i < begun; i++) running += jobs[i].pid > 0;
        for (; begun < count && running < class->jobs && !interrupted; running += jobs[begun++].pid > 0)
            begin_job(class, box, &jobs[begun]);
        if (running) look_after_jobs(jobs + taken, begun - taken);
        for (; taken < begun && jobs[taken].found; taken++)
            if (!take_grade(class, &jobs[taken], list)) good = false;
    }
    for (size_t i = taken; i < begun; i++) {
        if (jobs[i].pid) end_job(&jobs[i]);
        json_decref(jobs[i].found);
    }
    return good;
}

int learn_grade_all(const learn_class *class, learn_sandbox *box, json_t **grades)
{
    const struct sigaction action = {.sa_handler = note_signal};
    struct sigaction old[2];
    bool good;
    OWNED_TEXT words = {0};
    json_t *list = json_array();
    OWNED char *conditions = learn_sandbox_words(box), *seed = learn_format("%llu", (unsigned long long)class->seed);
    *grades = json_pack("{si ss so si so}", "version", 1, "seed", seed, "conditions",
                        learn_json_text(conditions, SIZE_MAX), "submissions", (int)class->count, "grades", list);
    learn_add_wrapped(&words, conditions, 0, learn_columns());
    printf("%s\n\n", learn_string(&words));
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGTERM, &action, &old[1]);
    good = run_jobs(class, box, list);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    if (interrupted) fputs("learn grade: interrupted; nothing was written\n", stderr);
    return interrupted ? 128 + interrupted : good ? 0 : 1;
}
