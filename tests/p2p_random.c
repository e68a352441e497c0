/* SPDX-License-Identifier: MIT */
// worlds: each; hosts
/*
 * p2p_random: random programs, most of them wrong, against a simulation that knows how they end.
 *
 * A program is a list of operations for each rank. Without wildcards what happens does not depend on timing: a
 * channel (source, dest, tag) is a queue of sends and a queue of receives whose heads meet, and a rank gets as far as
 * it gets, whatever the others' speed. So the simulation says exactly which rank is stuck in which call, and the
 * supervisor must say the same: no complaint when all ranks come to their end, a deadlock otherwise, and every rank
 * that it says waits, waits in the call where the simulation is stuck.
 *
 * Some programs have collectives as well: the k-th of each rank is that of all, and no rank leaves it before all are in
 * it. Buffers are ordinary memory or from p2p_alloc, at random.
 *
 * In another kind of program every receive takes any message from any rank, and no send blocks. Then a rank is one
 * queue, only the number of messages counts, and the same holds, except for ranks that wait for their sends at the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/collectives.h"
#include "tests/util/one_host.h"
#include "tests/util/pattern.h"
#include "tests/util/suite.h"

enum { MOST_RANKS = 6, MOST_OPS = 120, TAGS = 2, SMALL = 8, LARGE = 70000, PROGRAMS = 25 };

typedef enum { SEND, SSEND, RECV, ISEND, IRECV, PROBE, WAIT_ALL, WAIT_ANY, REDUCE } kind;

static const char *const calls[] = {"p2p_send",     "p2p_ssend",    "p2p_recv",       "", "", "p2p_probe",
                                    "p2p_wait_all", "p2p_wait_any", "coll_all_reduce"};

typedef struct {
    kind kind;
    int peer, tag;
    size_t bytes; /* of a send */
} operation;

typedef struct {
    int ranks;
    bool from_anyone; /* a program of the other kind */
    uint64_t seed;
    operation ops[MOST_RANKS][MOST_OPS];
    int count[MOST_RANKS];
} program;

/* ---- Making one: pairs of a send and a receive in an order that works, which is then perhaps disturbed ---- */

static int below(program *p, int limit)
{
    return (int)(pattern_random(&p->seed) % (uint32_t)limit);
}

static void add(program *p, int rank, operation op)
{
    p->ops[rank][p->count[rank]++] = op;
}

static void add_message(program *p, bool forget_send)
{
    static const kind sends[] = {SEND, SEND, SSEND, ISEND}, receives[] = {RECV, RECV, IRECV};
    int source = below(p, p->ranks), dest = below(p, p->ranks), tag = below(p, TAGS);
    kind send = source == dest ? ISEND : sends[below(p, 4)];
    size_t bytes = below(p, 4) ? SMALL : LARGE;

    if (!forget_send) add(p, source, (operation){send, dest, tag, bytes});
    if (below(p, 6) == 0) add(p, source, (operation){below(p, 2) ? WAIT_ALL : WAIT_ANY, 0, 0, 0});
    if (below(p, 6) == 0) add(p, dest, (operation){PROBE, source, tag, 0});
    add(p, dest, (operation){receives[below(p, 3)], source, tag, LARGE});
    if (below(p, 6) == 0) add(p, dest, (operation){below(p, 2) ? WAIT_ALL : WAIT_ANY, 0, 0, 0});
}

static void add_collective(program *p)
{
    for (int r = 0; r < p->ranks; r++) add(p, r, (operation){REDUCE, 0, 0, 0});
}

/* A message in a program where receives take anything: sources and tags are there all the same. */
static void add_any_message(program *p, bool forget_send)
{
    int source = below(p, p->ranks), dest = below(p, p->ranks), tag = below(p, TAGS);
    size_t bytes = below(p, 4) ? SMALL : LARGE;

    if (!forget_send) add(p, source, (operation){ISEND, dest, tag, bytes});
    add(p, dest, (operation){below(p, 3) ? RECV : IRECV, P2P_ANY_SOURCE, P2P_ANY_TAG, LARGE});
}

static void disturb(program *p, int swaps)
{
    for (int i = 0; i < swaps; i++) {
        int rank = below(p, p->ranks);
        if (p->count[rank] < 2) continue;
        int at = below(p, p->count[rank] - 1);
        operation kept = p->ops[rank][at];
        p->ops[rank][at] = p->ops[rank][at + 1];
        p->ops[rank][at + 1] = kept;
    }
}

static void make(program *p, uint64_t seed, bool from_anyone)
{
    *p = (program){.seed = seed * 0x9E3779B97F4A7C15u, .from_anyone = from_anyone}; /* neighbours far apart */
    pattern_random(&p->seed);
    p->ranks = 2 + below(p, MOST_RANKS - 1);
    int messages = 3 + below(p, 15), swaps = below(p, 3) * below(p, 6),
        forgotten = below(p, from_anyone ? 2 : 4) ? -1 : below(p, messages);
    bool collectives = below(p, 3) == 0;
    for (int i = 0; i < messages; i++) {
        (from_anyone ? add_any_message : add_message)(p, i == forgotten);
        if (collectives && below(p, 4) == 0) add_collective(p);
    }
    disturb(p, swaps);
    for (int r = 0; r < p->ranks; r++) add(p, r, (operation){WAIT_ALL, 0, 0, 0});
}

/* ---- Simulating it ---- */

/* Messages posted so far in a channel. */
typedef struct {
    int sent, received;
} channel;

typedef struct {
    channel channels[MOST_RANKS][MOST_RANKS][TAGS]; /* [source][dest][tag] */
    channel of_rank[MOST_RANKS];                    /* if receives are from any rank */
    int collectives[MOST_RANKS];                    /* begun so far */
    int at[MOST_RANKS];                             /* the operation a rank is in */
    bool posted[MOST_RANKS];                        /* that operation's own message is counted */
    int number[MOST_RANKS][MOST_OPS];               /* the place of a message in its channel */
} state;

static bool is_send(kind k)
{
    return k == SEND || k == SSEND || k == ISEND;
}

static bool is_wait(kind k)
{
    return k == WAIT_ALL || k == WAIT_ANY;
}

static channel *channel_of(state *s, const program *p, int rank, const operation *op)
{
    if (p->from_anyone) return &s->of_rank[is_send(op->kind) ? op->peer : rank];
    return is_send(op->kind) ? &s->channels[rank][op->peer][op->tag] : &s->channels[op->peer][rank][op->tag];
}

static void post(state *s, const program *p, int rank, int i)
{
    const operation *op = &p->ops[rank][i];

    if (op->kind == REDUCE) s->number[rank][i] = s->collectives[rank]++;
    if (is_wait(op->kind) || op->kind == REDUCE) return;
    channel *c = channel_of(s, p, rank, op);
    if (is_send(op->kind))
        s->number[rank][i] = c->sent++;
    else /* a probe looks at what the next receive would get, and leaves it there */
        s->number[rank][i] = op->kind == PROBE ? c->received : c->received++;
}

static bool all_have_begun(const state *s, const program *p, int collective)
{
    for (int r = 0; r < p->ranks; r++)
        if (s->collectives[r] <= collective) return false;
    return true;
}

/* Has this message met its other side, or need not? */
static bool done(state *s, const program *p, int rank, int i, bool strict)
{
    const operation *op = &p->ops[rank][i];

    if (op->kind == REDUCE) return all_have_begun(s, p, s->number[rank][i]);
    if (is_wait(op->kind)) return true;
    const channel *c = channel_of(s, p, rank, op);
    if (!is_send(op->kind)) return c->sent > s->number[rank][i];
    if (!strict && op->kind != SSEND && op->bytes == SMALL) return true;
    return c->received > s->number[rank][i];
}

/* A wait is for everything posted before it. */
static bool can_leave(state *s, const program *p, int rank, bool strict)
{
    int at = s->at[rank];
    kind k = p->ops[rank][at].kind;

    if (k == ISEND || k == IRECV) return true;
    if (!is_wait(k)) return done(s, p, rank, at, strict);
    for (int i = 0; i < at; i++)
        if (!done(s, p, rank, i, strict)) return false;
    return true;
}

static bool advance(state *s, const program *p, int rank, bool strict)
{
    if (s->at[rank] == p->count[rank]) return false;
    if (!s->posted[rank]) { /* a move too: others may have waited for it */
        post(s, p, rank, s->at[rank]);
        return s->posted[rank] = true;
    }
    if (!can_leave(s, p, rank, strict)) return false;
    s->at[rank]++;
    s->posted[rank] = false;
    return true;
}

/* Until no rank can go on. True if all are at their end. */
static bool simulate(const program *p, bool strict, state *s)
{
    bool moved = true, all = true;

    memset(s, 0, sizeof *s);
    while (moved) {
        moved = false;
        for (int r = 0; r < p->ranks; r++)
            while (advance(s, p, r, strict)) moved = true;
    }
    for (int r = 0; r < p->ranks; r++) all = all && s->at[r] == p->count[r];
    return all;
}

/* ---- Running it ---- */

typedef struct {
    unsigned char *bufs[MOST_OPS];
    p2p_request requests[MOST_OPS];
    size_t open;
    bool shared[MOST_OPS]; /* this buffer is from p2p_alloc */
    int sent[MOST_RANKS][TAGS], reduced;
    uint64_t seed;
} runner;

static void compute(runner *r)
{
    volatile uint32_t spin = pattern_random(&r->seed) % 8 ? 0 : pattern_random(&r->seed) % 20000;

    while (spin > 0) spin--;
}

static void wait_for_each(runner *r)
{
    size_t index = 0;

    while (index != (size_t)P2P_UNDEFINED) p2p_wait_any(r->open, r->requests, &index, P2P_STATUS_IGNORE);
}

/* Of all sizes, one after the other. What is left for check_received is the first element. */
static int reduce(runner *r, p2p_comm *world, int64_t *buf)
{
    static const size_t counts[] = {1, 50, 600, LARGE / 8};
    size_t count = counts[r->reduced % 4];
    int64_t n = p2p_size(world), k = r->reduced++;

    for (size_t i = 0; i < count; i++) buf[i] = (int64_t)i * (p2p_rank(world) + 1) + k;
    CALL(coll_all_reduce(world, buf, count, DTYPE_I64, OP_SUM));
    for (size_t i = 0; i < count; i++)
        CHECK(buf[i] == (int64_t)i * n * (n + 1) / 2 + n * k, "all-reduce %lld: element %zu", (long long)k, i);
    return 0;
}

static int run_operation(runner *r, p2p_comm *world, const operation *op, unsigned char *buf)
{
    int number = 0;

    if (is_send(op->kind)) {
        number = r->sent[op->peer][op->tag]++;
        memcpy(buf, &number, sizeof number);
    }
    compute(r);
    switch (op->kind) {
    case SEND: p2p_send(world, buf, op->bytes, op->peer, op->tag); break;
    case SSEND: p2p_ssend(world, buf, op->bytes, op->peer, op->tag); break;
    case RECV: p2p_recv(world, buf, op->bytes, op->peer, op->tag, P2P_STATUS_IGNORE); break;
    case ISEND: p2p_isend(world, buf, op->bytes, op->peer, op->tag, &r->requests[r->open++]); break;
    case IRECV: p2p_irecv(world, buf, op->bytes, op->peer, op->tag, &r->requests[r->open++]); break;
    case PROBE: p2p_probe(world, op->peer, op->tag, P2P_STATUS_IGNORE); break;
    case WAIT_ALL: p2p_wait_all(r->open, r->requests, P2P_STATUSES_IGNORE); break;
    case WAIT_ANY: wait_for_each(r); break;
    case REDUCE: STEP(reduce(r, world, (int64_t *)(void *)buf)); break;
    }
    if (is_wait(op->kind)) r->open = 0;
    return 0;
}

static int get_buffer(runner *r, p2p_comm *world, int i)
{
    void *at = NULL;

    r->shared[i] = pattern_random(&r->seed) % 2;
    if (r->shared[i]) CALL(p2p_alloc(world, LARGE, &at));
    r->bufs[i] = r->shared[i] ? at : malloc(LARGE);
    CHECK(r->bufs[i], "no memory");
    return 0;
}

/* The k-th receive of a channel has got the k-th message. */
static int check_received(const program *p, int rank, runner *r)
{
    int next[MOST_RANKS][TAGS] = {{0}};

    for (int i = 0; i < p->count[rank] && !p->from_anyone; i++) {
        const operation *op = &p->ops[rank][i];
        int number;
        memcpy(&number, r->bufs[i], sizeof number);
        if (op->kind == RECV || op->kind == IRECV)
            CHECK(number == next[op->peer][op->tag]++, "operation %d: message %d of its channel", i, number);
    }
    return 0;
}

static int run_rank(p2p_comm *world, void *arg)
{
    static runner r;
    const program *p = arg;
    int rank = p2p_rank(world);

    r.seed = p->seed + (uint64_t)rank;
    for (int i = 0; i < p->count[rank]; i++) {
        STEP(get_buffer(&r, world, i));
        STEP(run_operation(&r, world, &p->ops[rank][i], r.bufs[i]));
    }
    STEP(check_received(p, rank, &r));
    for (int i = 0; i < p->count[rank]; i++) {
        if (r.shared[i]) CALL(p2p_release(world, r.bufs[i]));
        if (!r.shared[i]) free(r.bufs[i]);
    }
    return 0;
}

/* ---- Comparing ---- */

static void expect_fine(const job_result *result, uint64_t seed, bool strict)
{
    cr_assert(result->err == P2P_OK && result->note[0] == '\0' && result->process.err_bytes == 0,
              "program %lu, %s: should end well; %s; %s\n%s", (unsigned long)seed, strict ? "strict" : "buffered",
              p2p_strerror(result->err), result->note, result->process.err);
}

/* "rank 3 waits in p2p_recv(...": is rank 3 stuck there? */
static void check_waiting(const char *line, const program *p, const state *s, uint64_t seed, const char *text)
{
    char call[32];
    int rank = -1;

    if (sscanf(line, " rank %d waits in %31[a-z0-9_](", &rank, call) != 2) return;
    if (p->from_anyone && strcmp(call, "p2p_wait_all") == 0) return; /* whose send was taken depends on timing */
    cr_assert(rank >= 0 && rank < p->ranks && s->at[rank] < p->count[rank],
              "program %lu: rank %d is not stuck, but:\n%s", (unsigned long)seed, rank, text);
    const operation *op = &p->ops[rank][s->at[rank]];
    cr_assert_str_eq(call, calls[op->kind], "program %lu: rank %d is stuck in %s (operation %d), but:\n%s",
                     (unsigned long)seed, rank, calls[op->kind], s->at[rank], text);
}

static void expect_deadlock(const job_result *result, const program *p, const state *s, uint64_t seed, bool strict)
{
    const char *text = one_host(result->process.err);

    cr_assert(result->err == P2P_ERR_RANK_FAILED && result->exit_status == 1 && strstr(text, "deadlock"),
              "program %lu, %s: should deadlock; %s, exit status %d\n%s", (unsigned long)seed,
              strict ? "strict" : "buffered", p2p_strerror(result->err), result->exit_status, text);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        check_waiting(line, p, s, seed, text);
}

static bool run_program(uint64_t seed, bool strict, bool from_anyone)
{
    static program p;
    static state s;
    p2p_options options = {.strict = strict};
    job_result result;

    make(&p, seed, from_anyone);
    bool fine = simulate(&p, strict, &s);
    job_run(p.ranks, &options, run_rank, &p, &result);
    if (fine)
        expect_fine(&result, seed, strict);
    else
        expect_deadlock(&result, &p, &s, seed, strict);
    job_free(&result);
    return fine;
}

/* PAIRWISE_RANDOM_PROGRAMS: how many a test, for long runs. */
static void run_programs(uint64_t first, bool from_anyone)
{
    const char *many = getenv("PAIRWISE_RANDOM_PROGRAMS");
    uint64_t count = many ? strtoull(many, NULL, 10) : PROGRAMS, fine = 0;

    for (uint64_t i = 0; i < count; i++) {
        fine += run_program(first + i, false, from_anyone);
        fine += run_program(first + i, true, from_anyone);
    }
    cr_log_info("%lu of %lu runs ended well, the others in a deadlock\n", (unsigned long)fine,
                2 * (unsigned long)count);
    cr_expect(fine > count / 4 && fine < 2 * count - count / 4, "too much of one kind: %lu of %lu are fine",
              (unsigned long)fine, 2 * (unsigned long)count);
}

Test(p2p, random_programs_end_as_simulated)
{
    run_programs(1, false);
}

Test(p2p, random_programs_that_receive_from_anyone_end_as_simulated)
{
    run_programs(1000000, true);
}
