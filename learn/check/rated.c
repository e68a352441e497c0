/* SPDX-License-Identifier: MIT */
/*
 * Two kernels on this machine's device, the learner's and the solution's, in turn. Each is in a process of its own
 * (bench/rate.c), of which nothing is believed that can be seen from here:
 *
 *      data       are made for each run anew, while both stand still (SIGSTOP)
 *      results    lie in memory that is shared with learn, and are all compared, before the process goes on
 *      time       runs from where it may go on until it says that it is done
 *
 * A process that stands still takes no time of the other's. Where the device is no processor, kernels cannot reach the process that
 * runs them, and it is that which measures: copying would hide the kernel's time.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "learn/check/rate.h"
#include "learn/check/rated.h"

enum { SIZES = 3, LEAST_ROUNDS = 9, MOST_ROUNDS = 63, TRIES = 10, SHARED = 64 << 20, OURS = 0, THEIRS = 1 };

static const double far_too_slow = 0.05; /* a ratio that need not be measured better than by one run */
static const double long_run = 0.1;      /* seconds; a shorter one may have waited for another program */
static const double most_seconds = 0.3;  /* of runs, for one measurement */

/* The last size is the one that is timed. */
typedef struct {
    const char *code;
    double tolerance;  /* of the largest */
    float begin, step; /* data lie round begin */
    struct {
        size_t n[WORK_SIZES], group[2];
    } sizes[SIZES];
} kernel;

static const kernel kernels[] = {
    {"K1", 1e-6, 0, 1, {{{1000}, {256, 1}}, {{1}, {256, 1}}, {{1 << 22}, {256, 1}}}},
    {"K2", 1e-5, 1, 1, {{{1000, 3}, {256, 1}}, {{5, 2}, {256, 1}}, {{1 << 22, 64}, {256, 1}}}},
    {"K3", 1e-4, 0, 1, {{{37, 51, 19}, {16, 4}}, {{1, 5, 3}, {16, 4}}, {{240, 240, 240}, {16, 4}}}},
    {"K4", 1e-4, 0, 1, {{{3, 6, 7, 9}, {16, 4}}, {{1, 1, 1, 1}, {16, 4}}, {{16, 32, 48, 48}, {16, 4}}}},
    {"K5", 2e-3, 1000, 1, {{{3, 100}, {64, 1}}, {{2, 7}, {64, 1}}, {{1024, 1024}, {64, 1}}}},
};

typedef struct {
    pid_t pid;
    int fd;
    char *shared;
    bool is_cpu;
    double seconds; /* of its last run */
} runner;

typedef struct {
    const kernel *k;
    const learn_options *options;
    runner runners[2];
    size_t size;
    work w;
    uint64_t state;
    double until;
    bool theirs_ran;
    rated *found;
} rating;

static bool end_as(rating *r, enum rated_as as, const char *words)
{
    r->found->as = as;
    learn_replace(&r->found->words, learn_copy(words));
    return false;
}

/* ---- The two processes ---- */

/* Its memory cannot be made shorter under our hands. */
static bool open_runner(runner *run, const learn_options *o)
{
    OWNED char *program = learn_format("%s/bench/rate", learn_build());
    int ends[2] = {-1, -1}, memory = memfd_create("kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const struct timeval patience = {.tv_sec = (time_t)learn_tool_seconds};
    void *shared = MAP_FAILED;
    if (memory >= 0 && ftruncate(memory, SHARED) == 0 &&
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (shared != MAP_FAILED && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        const char *const words[] = {program, NULL};
        const int given[] = {ends[1], memory};
        const learn_command_line line = {.argv = words,
                                         .given = given,
                                         .given_count = 2,
                                         .options = o,
                                         .step = LEARN_RATE,
                                         .variable = o->confine ? "PAIRWISE_CACHE=/tmp/opencl" : NULL};
        run->shared = shared;
        run->fd = ends[0];
        run->pid = learn_start(&line);
        setsockopt(run->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(run->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    }
    if (ends[1] >= 0) close(ends[1]);
    if (memory >= 0) close(memory);
    return run->pid > 0;
}

static void close_runners(rating *r)
{
    learn_stop_all();
    for (int i = 0; i < 2; i++) {
        if (r->runners[i].fd >= 0) close(r->runners[i].fd);
        if (r->runners[i].shared) munmap(r->runners[i].shared, SHARED);
    }
}

/* Ours may fail as long as theirs has not run. From then on it is theirs that has taken its memory, or its time. */
static bool failed(rating *r, int who, enum rate_what what, const char *words, bool late)
{
    if (late && (r->theirs_ran || (who == THEIRS && what))) return end_as(r, RATED_LATE, "");
    if (who == OURS && r->theirs_ran) return end_as(r, RATED_DEAD, "");
    if (who == OURS || !what) return end_as(r, RATED_NONE, *words ? words : "the OpenCL device does not work");
    return end_as(r, !*words ? RATED_DEAD : what == RATE_BUILD ? RATED_BUILD : RATED_WRONG, words);
}

/* Wait for an answer; what: to which order. */
static bool answered(rating *r, int who, enum rate_what what, double *number)
{
    static char words[RATE_WORDS + 1];
    runner *run = &r->runners[who];
    rate_answer a = {.failed = true};
    struct pollfd polled = {.fd = run->fd, .events = POLLIN};
    double left = r->until - learn_now();
    bool late = left <= 0 || poll(&polled, 1, (int)(left * 1000) + 1) == 0;
    bool whole = !late && recv(run->fd, &a, sizeof a, MSG_WAITALL) == (ssize_t)sizeof a;
    double now = learn_now();
    kill(-run->pid, SIGSTOP);
    words[0] = '\0';
    if (whole && a.failed && a.bytes && a.bytes <= RATE_WORDS)
        words[recv(run->fd, words, a.bytes, MSG_WAITALL) == (ssize_t)a.bytes ? a.bytes : 0] = '\0';
    if (!whole || a.failed) return failed(r, who, what, words, late);
    if (!what) run->is_cpu = a.is_cpu;
    run->seconds = run->is_cpu ? now - run->seconds : a.number;
    if (number) *number = a.number;
    return true;
}

static bool ask(rating *r, int who, enum rate_what what, const char *source, double *number)
{
    runner *run = &r->runners[who];
    size_t bytes = source ? strlen(source) : 0;
    rate_order o = {.what = what, .bytes = (uint32_t)bytes};
    memcpy(o.code, r->k->code, strlen(r->k->code) + 1);
    for (int i = 0; i < WORK_SIZES; i++) o.n[i] = r->k->sizes[r->size].n[i];
    for (int i = 0; i < 2; i++) o.group[i] = r->k->sizes[r->size].group[i];
    if (who == THEIRS && what == RATE_RUN) r->theirs_ran = true;
    run->seconds = learn_now();
    kill(-run->pid, SIGCONT);
    if (send(run->fd, &o, sizeof o, MSG_NOSIGNAL) != (ssize_t)sizeof o ||
        (bytes && send(run->fd, source, bytes, MSG_NOSIGNAL) != (ssize_t)bytes))
        return failed(r, who, what, "", false);
    return answered(r, who, what, number);
}

/* ---- Data, and what has become of them ---- */

static void choose_size(rating *r, size_t size)
{
    r->size = size;
    r->w = rate_describe(r->k->code)(r->k->sizes[size].n, r->k->sizes[size].group);
}

static float *data_of(const rating *r, int who, int argument)
{
    return (float *)(void *)(r->runners[who].shared + rate_place(&r->w, argument));
}

/* The same for both, and no result yet. */
static void fill(rating *r)
{
    for (int i = 0; i < WORK_ARGUMENTS; i++) {
        const work_argument *a = &r->w.arguments[i];
        if (!rate_is_memory(a)) continue;
        float *ours = data_of(r, OURS, i);
        for (size_t k = 0; k < a->count; k++) {
            r->state ^= r->state << 13, r->state ^= r->state >> 7, r->state ^= r->state << 17;
            ours[k] = a->kind == WORK_OUT ? NAN : r->k->begin + r->k->step * ((float)(r->state >> 40) / (1 << 23) - 1);
        }
        memcpy(data_of(r, THEIRS, i), ours, a->count * sizeof *ours);
    }
}

/* Is what lies in an output what should be there? */
static bool compare(rating *r, int who, const double *want)
{
    int output = work_output(&r->w);
    const float *out = data_of(r, who, output);
    size_t count = r->w.arguments[output].count, first = 0;
    double total = 0, most = 0, worst = 0;
    for (size_t i = 0; r->w.by_parts && i < count; i++) total += out[i];
    if (r->w.by_parts) count = 1;
    for (size_t i = 0; i < count; i++) {
        double off = fabs((r->w.by_parts ? total : out[i]) - want[i]);
        most = fmax(most, fabs(want[i]));
        if (isnan(off)) off = INFINITY;
        if (off > worst) worst = off, first = i;
    }
    if (worst <= r->k->tolerance * fmax(most, 1)) return true;
    OWNED char *text = r->w.by_parts ? learn_format("the sum is %g, and should be %g", total, want[0])
                                     : learn_format("%s[%zu] is %g, and should be %g", r->w.arguments[output].name,
                                                    first, (double)out[first], want[first]);
    return end_as(r, who == OURS ? RATED_NONE : RATED_WRONG, who == OURS ? "the OpenCL device does not work" : text);
}

/* One size, against the oracle. */
static bool is_right(rating *r, int who, size_t size)
{
    choose_size(r, size);
    const float *data[WORK_ARGUMENTS];
    OWNED double *want = learn_memory((r->w.arguments[work_output(&r->w)].count + 1) * sizeof *want);
    if (!ask(r, who, RATE_BEGIN, NULL, NULL)) return false;
    fill(r);
    /* Neither may write to the other's copy, nor to the one that the oracle reads, while it stands still. */
    for (int i = 0; i < WORK_ARGUMENTS; i++) data[i] = data_of(r, who, i);
    r->w.oracle(&r->w, r->k->sizes[size].n, data, want);
    return ask(r, who, RATE_RUN, NULL, NULL) && compare(r, who, want);
}

/* Both once, of new data: theirs must have what ours has. The oracle would take too long. */
static bool run_both(rating *r, bool ours_first)
{
    int output = work_output(&r->w);
    size_t count = r->w.arguments[output].count;
    OWNED double *want = learn_memory((count + 1) * sizeof *want);
    fill(r);
    if (!ask(r, ours_first ? OURS : THEIRS, RATE_RUN, NULL, NULL) ||
        !ask(r, ours_first ? THEIRS : OURS, RATE_RUN, NULL, NULL))
        return false;
    const float *ours = data_of(r, OURS, output);
    for (size_t i = 0; i < count; i++) want[r->w.by_parts ? 0 : i] += ours[i];
    return compare(r, THEIRS, want);
}

/* ---- Measuring ---- */

/* Seconds of each, of several runs in turn: the shortest, for on a busy machine the others tell of other programs. */
static bool measure_once(rating *r, double least[2])
{
    double spent = 0;
    for (int rounds = 0; rounds < MOST_ROUNDS && (rounds < LEAST_ROUNDS || spent < most_seconds); rounds++) {
        if (!run_both(r, rounds % 2)) return false;
        for (int who = OURS; who <= THEIRS; who++) {
            least[who] = fmin(least[who], r->runners[who].seconds);
            spent += r->runners[who].seconds;
        }
    }
    return true;
}

static bool measure(rating *r)
{
    double least[2] = {INFINITY, INFINITY}, ratio = 0;
    choose_size(r, SIZES - 1);
    if (!ask(r, OURS, RATE_BEGIN, NULL, NULL) || !ask(r, THEIRS, RATE_BEGIN, NULL, NULL)) return false;
    for (int i = 0; i < 2; i++) /* the first run may have been compiled for the size of its groups */
        if ((i == 0 || r->runners[THEIRS].seconds < 2) && !run_both(r, true)) return false;
    for (int who = OURS; who <= THEIRS; who++) least[who] = r->runners[who].seconds;
    bool slow = least[OURS] / least[THEIRS] < far_too_slow && least[THEIRS] > long_run;
    for (int i = 0; i < TRIES && !slow && ratio < RATE_ENOUGH;
         i++) { /* it may have been something else that was slow */
        if (!measure_once(r, least)) return false;
        ratio = least[OURS] / least[THEIRS];
    }
    r->found->ratio = least[OURS] / least[THEIRS];
    r->found->speed = (r->w.bytes + r->w.operations) / least[THEIRS];
    r->found->unit = r->w.bytes > 0 ? "GB/s" : "GFLOP/s";
    return ask(r, OURS, RATE_PEAK, NULL, &r->found->peak);
}

/* ---- All ---- */

/* Before the learner's source is sent, both processes have given up what could be taken from them. */
static void rate(rating *r, const char *ours, const char *theirs)
{
    if (!answered(r, OURS, RATE_NOTHING, NULL) || !answered(r, THEIRS, RATE_NOTHING, NULL)) return;
    if (!ask(r, OURS, RATE_BUILD, ours, NULL) || !is_right(r, OURS, 0)) return;
    if (!ask(r, THEIRS, RATE_BUILD, theirs, NULL)) return;
    for (size_t i = 0; i + 1 < SIZES; i++)
        if (!is_right(r, THEIRS, i)) return;
    if (!measure(r)) return;
    r->found->peak = fmax(r->found->peak, r->found->speed) * 1e-9;
    r->found->speed *= 1e-9;
}

void learn_rate_beside(const learn_exercise *e, const char *source, const learn_options *o, rated *found)
{
    char path[LEARN_PATH];
    rating r = {
        .options = o, .until = learn_now() + learn_tool_seconds, .found = found, .runners = {{.fd = -1}, {.fd = -1}}};
    OWNED char *theirs = learn_read_file(source, NULL);
    OWNED char *ours = learn_read_file(learn_path(path, "solutions", e, e->check->files[0]), NULL);
    *found = (rated){.as = RATED, .words = learn_copy("")};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].code, e->code) == 0) r.k = &kernels[i];
    if (getrandom(&r.state, sizeof r.state, 0) != sizeof r.state || !r.state) r.state = 1;
    if (!r.k || !theirs || !ours)
        end_as(&r, RATED_NONE, "there is no solution beside which it could be measured");
    else if (strlen(theirs) > RATE_SOURCE || !open_runner(&r.runners[OURS], o) || !open_runner(&r.runners[THEIRS], o))
        end_as(&r, RATED_NONE, "no process could be started that runs it");
    else
        rate(&r, ours, theirs);
    close_runners(&r);
}
