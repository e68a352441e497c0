/* SPDX-License-Identifier: MIT */
/*
 * ping_pong: how long a message takes. Rank 0 sends, rank 1 sends it back; half of the round trip is one message.
 *
 *      build/bench/ping_pong --world raw,socket,shm
 *
 * `raw` is a bare loop of blocking read and write on one socketpair between two processes: the time of the operating
 * system alone, to compare with. The worlds alternate, size by size and round by round, so that the other load of the
 * machine slows all of them equally; so compare worlds by ratios.
 *
 * Each row also gives the ratio to the best that the machine can do (bench/util/limits.h).
 *
 * Every round starts two fresh processes, warms up, then measures each exchange. In the warm-up rank 1 sends back what it has
 * received, and rank 0 checks every byte. In what is measured each rank sends from one buffer and receives into another, as the
 * benches of MPI libraries do: both stay in the caches. With --cold rank 1 sends back what it has received there, too.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/util/limits.h"
#include "bench/util/options.h"
#include "bench/util/ranks.h"
#include "bench/util/sizes.h"
#include "bench/util/stats.h"
#include "p2p/p2p.h"

enum { ROUNDS = 5, MOST_WORLDS = 4, MOST_ITERS = 20000, TAG = 1 };

/* All rounds together take about this long, unless --iters says otherwise. */
static const double total_us = 8e6;

static const char *const known_worlds[] = {"raw", "socket", "shm"};

/* ---- One round: two processes, one size, one world ---- */

typedef struct {
    size_t bytes, iters, warmup;
    bool cold;
    size_t wrong; /* bytes that came back changed */
    double us[];  /* one a measured exchange */
} round_trip;

/* How a process reaches the other one. */
typedef struct channel {
    int rank, fd;   /* fd: raw only */
    p2p_comm *comm; /* all other worlds */
    void (*send)(struct channel *to, const void *buf, size_t bytes);
    void (*recv)(struct channel *from, void *buf, size_t bytes);
} channel;

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void fill(unsigned char *buf, size_t bytes, size_t key)
{
    for (size_t i = 0; i < bytes; i++) buf[i] = (unsigned char)(i * 7 + (i >> 8) * 3 + key * 13);
}

static size_t count_wrong(const unsigned char *got, const unsigned char *sent, size_t bytes)
{
    size_t wrong = 0;

    for (size_t i = 0; i < bytes; i++) wrong += got[i] != sent[i];
    return wrong;
}

/* Rank 0: every exchange of the warm-up has another content, so that an old message is noticed. */
static void ping(channel *c, round_trip *r, unsigned char *sent, unsigned char *got)
{
    for (size_t i = 0; i < r->warmup; i++) {
        fill(sent, r->bytes, i);
        c->send(c, sent, r->bytes);
        c->recv(c, got, r->bytes);
        r->wrong += count_wrong(got, sent, r->bytes);
    }
    fill(sent, r->bytes, r->warmup);
    for (size_t i = 0; i < r->iters; i++) {
        double start = now_us();
        c->send(c, sent, r->bytes);
        c->recv(c, got, r->bytes);
        r->us[i] = (now_us() - start) / 2;
    }
    r->wrong += count_wrong(got, sent, r->bytes);
    c->recv(c, got, r->bytes);
    r->wrong += count_wrong(got, sent, r->bytes);
}

static void echo(channel *c, unsigned char *buf, size_t bytes)
{
    c->recv(c, buf, bytes);
    c->send(c, buf, bytes);
}

/* Rank 1; after the last exchange it sends back what that has brought, so that rank 0 checks both ways. */
static void pong(channel *c, const round_trip *r, unsigned char *sent, unsigned char *got)
{
    for (size_t i = 0; i < r->warmup; i++) echo(c, got, r->bytes);
    fill(sent, r->bytes, r->warmup);
    for (size_t i = 0; i < r->iters; i++) {
        c->recv(c, got, r->bytes);
        c->send(c, r->cold ? got : sent, r->bytes);
    }
    c->send(c, got, r->bytes);
}

static int play(channel *c, round_trip *r)
{
    unsigned char *sent = calloc(2, r->bytes);

    if (!sent) {
        fprintf(stderr, "ping_pong: no memory for two buffers of %zu bytes\n", r->bytes);
        return 1;
    }
    if (c->rank == 0)
        ping(c, r, sent, sent + r->bytes);
    else
        pong(c, r, sent, sent + r->bytes);
    free(sent);
    return 0;
}

/* ---- The worlds of p2p: an error ends the job by itself ---- */

static void comm_send(channel *to, const void *buf, size_t bytes)
{
    p2p_send(to->comm, buf, bytes, 1 - to->rank, TAG);
}

static void comm_recv(channel *from, void *buf, size_t bytes)
{
    p2p_recv(from->comm, buf, bytes, 1 - from->rank, TAG, P2P_STATUS_IGNORE);
}

static int comm_rank(p2p_comm *world, void *arg)
{
    channel c = {.rank = p2p_rank(world), .comm = world, .send = comm_send, .recv = comm_recv};

    return play(&c, arg);
}

static bool comm_round(const char *world, round_trip *r, bool last)
{
    p2p_options options = {.world = world, .trace = options_trace(last)};

    return p2p_launch(2, comm_rank, r, &options) == P2P_OK;
}

/* ---- The raw world ---- */

static _Noreturn void raw_failed(const char *call)
{
    fprintf(stderr, "ping_pong: raw: %s: %s\n", call, strerror(errno));
    _exit(1);
}

static void raw_send(channel *to, const void *buf, size_t bytes)
{
    for (const char *at = buf; bytes > 0;) {
        ssize_t some = write(to->fd, at, bytes);
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) raw_failed("write");
        at += some;
        bytes -= (size_t)some;
    }
}

static void raw_recv(channel *from, void *buf, size_t bytes)
{
    for (char *at = buf; bytes > 0;) {
        ssize_t some = read(from->fd, at, bytes);
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) raw_failed("read");
        at += some;
        bytes -= (size_t)some;
    }
}

static pid_t raw_fork(int rank, const int fds[2], round_trip *r)
{
    pid_t pid = fork();

    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(fds[1 - rank]); /* or the end of the other one would go unnoticed */
    channel c = {.rank = rank, .fd = fds[rank], .send = raw_send, .recv = raw_recv};
    _exit(play(&c, r));
}

static bool raw_round(round_trip *r)
{
    bool fine = true;
    pid_t pids[2];
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
        perror("ping_pong: socketpair");
        return false;
    }
    for (int rank = 0; rank < 2; rank++) pids[rank] = raw_fork(rank, fds, r);
    close(fds[0]);
    close(fds[1]);
    for (int rank = 0; rank < 2; rank++) {
        int status = -1;
        fine = pids[rank] > 0 && waitpid(pids[rank], &status, 0) == pids[rank] && status == 0 && fine;
    }
    return fine;
}

/* ---- What to measure ---- */

typedef struct {
    report_format format;
    const char *worlds[MOST_WORLDS];
    size_t world_count, min, max;
    long factor, iters, warmup; /* iters, warmup: -1 for by size */
    bool cold;
} settings;

static bool known(const char *world)
{
    for (size_t i = 0; i < sizeof known_worlds / sizeof *known_worlds; i++)
        if (strcmp(known_worlds[i], world) == 0) return true;
    return false;
}

static void set_worlds(settings *s, char *text, struct argp_state *state)
{
    if (!list_parse(text, s->worlds, MOST_WORLDS, &s->world_count))
        argp_error(state, "--world: up to %d names, separated by commas", MOST_WORLDS);
    for (size_t i = 0; i < s->world_count; i++)
        if (!known(s->worlds[i])) argp_error(state, "--world: '%s' is not one of raw, socket, shm", s->worlds[i]);
}

static void set_size(size_t *bytes, const char *name, const char *text, struct argp_state *state)
{
    if (!size_parse(text, bytes) || *bytes == 0)
        argp_error(state, "--%s: '%s' is not a size: a number from 1 and perhaps K, M or G", name, text);
}

static void set_count(long *count, const char *name, const char *text, long low, struct argp_state *state)
{
    if (!count_parse(text, low, 100000000, count))
        argp_error(state, "--%s: '%s' is not a number from %ld to 100000000", name, text, low);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->format; return 0;
    case 'w': set_worlds(s, arg, state); return 0;
    case 'b': set_size(&s->min, "min", arg, state); return 0;
    case 'e': set_size(&s->max, "max", arg, state); return 0;
    case 'f': set_count(&s->factor, "factor", arg, 2, state); return 0;
    case 'n': set_count(&s->iters, "iters", arg, 1, state); return 0;
    case 'u': set_count(&s->warmup, "warmup", arg, 0, state); return 0;
    case 'c': s->cold = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not an option", arg); return 0;
    case ARGP_KEY_END:
        if (s->min > s->max) argp_error(state, "--min %zu is more than --max %zu", s->min, s->max);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static settings read_settings(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"world", 'w', "NAMES", 0, "Worlds, separated by commas: socket, shm, raw (default: PAIRWISE_WORLD, or shm)",
         0},
        {"min", 'b', "SIZE", 0, "Smallest message, in bytes; K, M, G are powers of 1024 (default 8)", 0},
        {"max", 'e', "SIZE", 0, "Largest message (default 16M)", 0},
        {"factor", 'f', "N", 0, "Each size is N times the one before (default 8)", 0},
        {"cold", 'c', NULL, 0, "Rank 1 sends back what it has received, from where it lies", 0},
        {"iters", 'n', "N", 0, "Measured exchanges of each size in each world (default: by size, 10 s in all)", 0},
        {"warmup", 'u', "N", 0, "Exchanges before each of 5 rounds that do not count (default: by size)", 0},
        {NULL, 0, NULL, 0, NULL, 0},
    };
    static const struct argp_child children[] = {{&options_format_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Measure half a round trip between two ranks."};
    settings s = {.worlds = {options_world()},
                  .world_count = 1,
                  .min = 8,
                  .max = 16 << 20,
                  .factor = 8,
                  .iters = -1,
                  .warmup = -1};

    options_parse(&argp, argc, argv, &s);
    return s;
}

static size_t count_sizes(const settings *s)
{
    size_t count = 1;

    for (size_t bytes = s->min; bytes <= s->max / (size_t)s->factor; bytes *= (size_t)s->factor) count++;
    return count;
}

static size_t clamp(double value, size_t low, size_t high)
{
    return value < (double)low ? low : value > (double)high ? high : (size_t)value;
}

/* A round of this size: as many exchanges as its share of the time allows, at 12 us and 1.5 GB/s each way; where a launcher
 * has started the ranks, which may be on two hosts, at ten times that and a third. */
static round_trip *new_round(const settings *s, size_t bytes, size_t *room)
{
    double share = total_us / (double)(ROUNDS * s->world_count * count_sizes(s));
    double each = p2p_launched() ? 120 + (double)bytes / 500 : 12 + (double)bytes / 1500;
    size_t iters = clamp(share / 2 / each, 3, MOST_ITERS);

    if (s->iters > 0) iters = ((size_t)s->iters + ROUNDS - 1) / ROUNDS;
    *room = sizeof(round_trip) + iters * sizeof(double);
    round_trip *r = mmap(NULL, *room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED) {
        fprintf(stderr, "ping_pong: no memory for %zu samples: %s\n", iters, strerror(errno));
        exit(1);
    }
    r->bytes = bytes;
    r->cold = s->cold;
    r->iters = iters;
    r->warmup = s->warmup >= 0 ? (size_t)s->warmup : clamp((double)iters / 10, 2, 200);
    return r;
}

/* ---- Measuring and printing ---- */

static const report_column columns[] = {
    {"world", "", 8, REPORT_TEXT, false}, {"bytes", "(B)", 10, 0, false},   {"us_min", "(us)", 11, 3, false},
    {"us_median", "(us)", 11, 3, false},  {"us_p99", "(us)", 11, 3, false}, {"GBps", "(1e9 B/s)", 10, 4, false},
    {"#wrong", "(B)", 7, 0, true},        {"time/raw", "", 9, 2, true},     {"limit_us", "(us)", 11, 3, false},
    {"x_limit", "", 8, 2, false},
};

/* Of one world: its samples of the size under way, its medians of the smallest and the largest size. */
typedef struct {
    const char *name;
    samples us;
    size_t wrong;
    double median, first, last;
} contender;

static bool one_round(contender *c, round_trip *r, bool last)
{
    r->wrong = 0;
    if (!(strcmp(c->name, "raw") == 0 ? raw_round(r) : comm_round(c->name, r, last))) {
        fprintf(stderr, "ping_pong: a round of %zu bytes in world %s failed\n", r->bytes, c->name);
        return false;
    }
    c->wrong += r->wrong;
    samples_add(&c->us, r->us, r->iters);
    return true;
}

static const contender *find_raw(const contender *c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(c[i].name, "raw") == 0) return &c[i];
    return NULL;
}

static void print_row(report *out, const contender *c, const contender *raw, const limits *l, size_t bytes)
{
    double ratio = raw && raw->median > 0 ? c->median / raw->median : 0, limit = limits_message_us(l);
    report_cell cells[] = {
        {c->name, 0},
        {NULL, (double)bytes},
        {NULL, samples_percentile(&c->us, 0)},
        {NULL, c->median},
        {NULL, samples_percentile(&c->us, 99)},
        {NULL, (double)bytes / c->median * 1e-3},
        {NULL, (double)c->wrong},
        {raw ? NULL : "-", ratio},
        {NULL, limit},
        {NULL, c->median / limit},
    };

    report_row(out, cells);
}

static void print_size(report *out, contender *c, size_t count, const limits *l, size_t bytes, bool first)
{
    for (size_t i = 0; i < count; i++) {
        samples_sort(&c[i].us);
        c[i].last = c[i].median = samples_percentile(&c[i].us, 50);
        if (first) c[i].first = c[i].median;
    }
    for (size_t i = 0; i < count; i++) print_row(out, &c[i], find_raw(c, count), l, bytes);
}

static bool measure_size(const settings *s, contender *c, limits *l, size_t bytes, size_t *rounds_done)
{
    size_t room, total = ROUNDS * s->world_count * count_sizes(s);
    round_trip *r = new_round(s, bytes, &room);
    bool fine = true;

    for (size_t i = 0; i < s->world_count; i++) {
        samples_free(&c[i].us);
        c[i].wrong = 0;
    }
    for (int round = 0; round < ROUNDS && fine; round++) {
        fine = limits_round(l, bytes);
        for (size_t i = 0; i < s->world_count && fine; i++) {
            fine = one_round(&c[i], r, *rounds_done + s->world_count >= total);
            report_progress(++*rounds_done, total);
        }
    }
    limits_settle(l);
    munmap(r, room);
    return fine;
}

static void print_summary(const report *out, const settings *s, const contender *c, const limits *last,
                          size_t last_size)
{
    const contender *raw = find_raw(c, s->world_count);

    report_note(out, "limit: a cache line to another core (%.3f us) and one memcpy (%.2f GB/s of %zu B), in this run",
                last->line_us, (double)last_size / last->copy_us * 1e-3, last_size);
    for (size_t i = 0; raw && i < s->world_count; i++) {
        if (&c[i] == raw) continue;
        report_note(out, "%s against raw: %.2f times the time at %zu B, %.2f times the bandwidth at %zu B", c[i].name,
                    c[i].first / raw->first, s->min, raw->last / c[i].last, last_size);
    }
}

int main(int argc, char **argv)
{
    settings s = read_settings(argc, argv);
    contender c[MOST_WORLDS] = {{.name = NULL}};
    limits l = {.line_us = 0};
    size_t done = 0, bytes = s.min, sizes = count_sizes(&s), wrong = 0;
    bool fine = true;
    report out;

    for (size_t i = 0; i < s.world_count; i++) c[i].name = s.worlds[i];
    if (p2p_launched() && p2p_launched() != 2) {
        fprintf(stderr, "ping_pong: is for 2 ranks, and the launcher has started %d\n  try: launch -n 2\n",
                p2p_launched());
        return 2;
    }
    if (!ranks_is_first() && !freopen("/dev/null", "w", stdout)) return 1; /* launched: rank 0 has the times */
    if (s.format == REPORT_TABLE)
        printf("# ping_pong%s: half a round trip between 2 ranks, %d rounds a size, in turn\n", s.cold ? ", cold" : "",
               ROUNDS);
    report_begin(&out, s.format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < sizes && fine; i++, bytes *= (size_t)s.factor) {
        limits_free(&l);
        l = (limits){.line_us = 0};
        fine = measure_size(&s, c, &l, bytes, &done);
        if (fine) print_size(&out, c, s.world_count, &l, bytes, i == 0);
        for (size_t w = 0; w < s.world_count; w++) wrong += c[w].wrong;
    }
    if (fine) print_summary(&out, &s, c, &l, bytes / (size_t)s.factor);
    report_end(&out);
    limits_free(&l);
    for (size_t w = 0; w < s.world_count; w++) samples_free(&c[w].us);
    if (wrong) fprintf(stderr, "ping_pong: %zu bytes came back wrong\n", wrong);
    return fine && wrong == 0 ? 0 : 1;
}
