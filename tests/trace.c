/* SPDX-License-Identifier: MIT */
// worlds: last; 2 hosts
/*
 * trace: what a trace says is what happened: every message that p2p_stats counts is an arrow and no other, for all
 * algorithms and 1 to 16 ranks; a job that fails leaves a trace that says how; and being traced costs little.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "replay/trace.h"
#include "ring/ring.h"
#include "tests/util/algorithms.h"
#include "tests/util/one_host.h"
#include "tests/util/suite.h"
#include "tests/util/traced.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MOST = 16, ROOM = 1 << 15 };

static float out[ROOM], in[ROOM];

/* What the ranks say of themselves: [rank][peer]. */
static p2p_traffic (*stats)[MOST];

static int leave_stats(p2p_comm *world)
{
    CALL(p2p_stats(world, stats[p2p_rank(world)]));
    return 0;
}

static void read_trace(char *text, size_t bytes, const job_result *result, replay_trace *trace)
{
    char why[400];

    cr_assert_not_null(text, "no trace was written; note: %s\n%.2000s", result->note, result->process.err);
    cr_assert(replay_read_text(text, bytes, "the trace", trace, why, sizeof why), "%s", why);
}

/* ---- Arrows and p2p_stats ---- */

static void compare_pair(const replay_trace *t, int from, int to, const char *name)
{
    const p2p_traffic *sender = &stats[from][to], *receiver = &stats[to][from];
    uint64_t messages = 0, bytes = 0, received = 0, received_bytes = 0;

    for (size_t i = 0; i < t->message_count; i++) {
        const replay_message *m = &t->messages[i];
        if (m->from != from || m->to != to || m->comm != 0) continue;
        messages++;
        bytes += (uint64_t)m->bytes;
        if (m->received < 0) continue;
        cr_assert(m->received >= m->sent, "%s: received before it was sent", name);
        received++;
        received_bytes += (uint64_t)m->bytes;
    }
    cr_assert(messages == sender->messages_sent && bytes == sender->bytes_sent,
              "%s, %d ranks: %d -> %d: %llu arrows, %llu bytes; p2p_stats counts %llu, %llu", name, t->ranks, from, to,
              (unsigned long long)messages, (unsigned long long)bytes, (unsigned long long)sender->messages_sent,
              (unsigned long long)sender->bytes_sent);
    cr_assert(received == receiver->messages_received && received_bytes == receiver->bytes_received,
              "%s, %d ranks: %d <- %d: %llu arrows arrive, p2p_stats counts %llu", name, t->ranks, to, from,
              (unsigned long long)received, (unsigned long long)receiver->messages_received);
}

/* The file repeats what p2p_stats said, so that its readers can check the same. */
static void compare_rows(const replay_trace *t, const char *name)
{
    size_t expected = 0, found = 0;

    for (int rank = 0; rank < t->ranks; rank++)
        for (int peer = 0; peer < t->ranks; peer++)
            expected += stats[rank][peer].messages_sent || stats[rank][peer].messages_received;
    for (size_t i = 0; i < t->stats_count; i++) {
        const replay_stats *row = &t->stats[i];
        if (row->comm != 0) continue;
        const p2p_traffic *own = &stats[(int)row->rank][(int)row->peer];
        cr_assert((uint64_t)row->messages_sent == own->messages_sent && (uint64_t)row->bytes_sent == own->bytes_sent &&
                      (uint64_t)row->messages_received == own->messages_received &&
                      (uint64_t)row->bytes_received == own->bytes_received,
                  "%s: the row of rank %.0f, peer %.0f is not what p2p_stats says", name, row->rank, row->peer);
        found++;
    }
    cr_assert_eq(found, expected, "%s, %d ranks: %zu rows of p2p_stats, expected %zu", name, t->ranks, found, expected);
}

static void check_job(int n, const p2p_options *options, job_main rank_main, void *arg, const char *name)
{
    job_result result;
    replay_trace trace;
    size_t bytes;
    char *text = traced_run(n, options, rank_main, arg, &result, &bytes);

    cr_assert(result.err == P2P_OK && result.process.err_bytes == 0, "%s, %d ranks: %s %s\n%.2000s", name, n,
              p2p_strerror(result.err), result.note, result.process.err);
    read_trace(text, bytes, &result, &trace);
    cr_assert_eq(trace.ranks, n);
    cr_assert_eq(trace.dropped, 0);
    cr_assert_str_eq(replay_text(&trace, trace.outcome), "finished");
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++) compare_pair(&trace, from, to, name);
    compare_rows(&trace, name);
    replay_free(&trace);
    free(text);
    job_free(&result);
}

static int run_algorithm(p2p_comm *world, void *arg)
{
    const algorithm *a = arg;
    static const size_t counts[] = {0, 5, 1000, 20000};

    for (size_t i = 0; i < COUNT(counts); i++) {
        operation o = {world, out, counts[i], DTYPE_F32, OP_SUM, p2p_size(world) - 1};
        CALL(a->run(&o));
    }
    return leave_stats(world);
}

static int run_blocks(p2p_comm *world, void *arg)
{
    int last = p2p_size(world) - 1;

    (void)arg;
    CALL(coll_barrier(world));
    CALL(coll_scatter(world, out, in, 100, DTYPE_F32, last));
    CALL(coll_gather(world, out, in, 100, DTYPE_F32, 0));
    CALL(coll_all_gather(world, out, in, 100, DTYPE_F32));
    CALL(coll_reduce_scatter(world, out, in, 100, DTYPE_F32, OP_SUM));
    CALL(coll_all_to_all(world, out, in, 100, DTYPE_F32));
    return leave_stats(world);
}

/* Every algorithm in one virtual network's time as well: a track of its own for what goes on in the background. */
static int run_everything(p2p_comm *world, void *arg)
{
    for (size_t i = 0; i < algorithm_count; i++) STEP(run_algorithm(world, (void *)(uintptr_t)&algorithms[i]));
    return run_blocks(world, arg);
}

/* Every other algorithm, so that the halves can run side by side; in a sample on at most 8 ranks. */
static void check_algorithms(size_t first)
{
    int most = job_is_quick() ? 8 : MOST;

    stats = job_shared(sizeof(p2p_traffic[MOST][MOST]));
    for (size_t i = first; i < algorithm_count; i += 2)
        for (int n = 1; n <= most; n = job_next_size(n))
            check_job(n, NULL, run_algorithm, (void *)(uintptr_t)&algorithms[i], algorithms[i].name);
}

Test(arrows, equal_p2p_stats_for_every_algorithm)
{
    check_algorithms(0);
}

Test(arrows, equal_p2p_stats_for_every_other_algorithm)
{
    check_algorithms(1);
}

Test(arrows, equal_p2p_stats_for_blocks)
{
    stats = job_shared(sizeof(p2p_traffic[MOST][MOST]));
    for (int n = 1; n <= MOST; n++) check_job(n, NULL, run_blocks, NULL, "blocks");
}

Test(arrows, equal_p2p_stats_strict_and_in_virtual_time)
{
    static const int sizes[] = {1, 2, 3, 8, 13};

    stats = job_shared(sizeof(p2p_traffic[MOST][MOST]));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        check_job(sizes[i], &(p2p_options){.strict = true}, run_everything, NULL, "strict");
        check_job(sizes[i], &(p2p_options){.network = "10GbE"}, run_everything, NULL, "virtual");
    }
}

/* Messages of users: to the own rank, long and short, from any rank, requests in any order, a group. */
static int user_messages(p2p_comm *world, void *arg)
{
    int n = p2p_size(world), rank = p2p_rank(world), right = (rank + 1) % n;
    p2p_request requests[4] = {P2P_REQUEST_NULL};
    p2p_comm *group;
    size_t index;

    (void)arg;
    CALL(p2p_isend(world, out, 10, right, 1, &requests[0]));
    CALL(p2p_isend(world, out, sizeof out, right, 2, &requests[1]));
    CALL(p2p_irecv(world, in, sizeof in, P2P_ANY_SOURCE, 2, &requests[2]));
    CALL(p2p_irecv(world, in, 20, P2P_ANY_SOURCE, P2P_ANY_TAG, &requests[3])); /* longer than what comes */
    CALL(p2p_wait_any(4, requests, &index, P2P_STATUS_IGNORE));
    CALL(p2p_wait_all(4, requests, P2P_STATUSES_IGNORE));
    CALL(p2p_sendrecv(world, out, 100, rank, 3, in, 100, rank, 3, P2P_STATUS_IGNORE));
    CALL(p2p_split(world, rank % 2, 0, &group));
    CALL(ring_all_reduce(group, out, 100, DTYPE_F32, OP_SUM));
    CALL(p2p_free(group));
    return leave_stats(world);
}

Test(arrows, equal_p2p_stats_for_users_messages)
{
    stats = job_shared(sizeof(p2p_traffic[MOST][MOST]));
    for (int n = 1; n <= 8; n++) check_job(n, NULL, user_messages, NULL, "messages of users");
}

/* ---- What else is in it ---- */

static const replay_slice *find_slice(const replay_trace *t, int rank, const char *name)
{
    for (size_t i = 0; i < t->slice_count; i++)
        if (t->slices[i].rank == rank && strcmp(replay_text(t, t->slices[i].name), name) == 0) return &t->slices[i];
    return NULL;
}

static size_t count_slices(const replay_trace *t, int rank, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < t->slice_count; i++)
        count += t->slices[i].rank == rank && strcmp(replay_text(t, t->slices[i].name), name) == 0;
    return count;
}

static int one_ring(p2p_comm *world, void *arg)
{
    (void)arg;
    CALL(ring_all_reduce(world, out, 1000, DTYPE_F32, OP_SUM));
    return 0;
}

Test(contents, a_ring_says_which_chunk_goes_where)
{
    enum { N = 4 };
    job_result result;
    replay_trace t;
    size_t bytes, combined = 0;
    char *text = traced_run(N, NULL, one_ring, NULL, &result, &bytes);

    read_trace(text, bytes, &result, &t);
    cr_assert_eq(t.message_count, 2 * N * (N - 1));
    for (size_t i = 0; i < t.message_count; i++) {
        const replay_message *m = &t.messages[i];
        size_t first, length;
        ring_chunk(1000, N, (int)m->chunk, &first, &length);
        cr_assert(m->chunk >= 0 && m->chunk == m->chunk_to && m->offset == (double)(4 * first) &&
                      m->offset_to == m->offset && m->bytes == (double)(4 * length),
                  "a message of chunk %g at %g, %g bytes", m->chunk, m->offset, m->bytes);
        cr_assert(m->of_collective && m->collective == 1);
        combined += m->combined;
    }
    cr_assert_eq(combined, N * (N - 1), "the first half is combined, the second is not");
    for (int rank = 0; rank < N; rank++) {
        const replay_slice *ring = find_slice(&t, rank, "ring_all_reduce");
        cr_assert_not_null(ring);
        cr_assert_eq(ring->count, 1000);
        cr_assert_str_eq(replay_text(&t, ring->dtype), "f32");
        cr_assert_str_eq(replay_text(&t, ring->op), "sum");
        cr_assert_str_eq(replay_text(&t, ring->file), "tests/trace.c");
        cr_assert_eq(count_slices(&t, rank, "combine"), N - 1);
        const replay_slice *step = find_slice(&t, rank, "p2p_layer_sendrecv");
        cr_assert_str_eq(replay_text(&t, step->file), "ring/reduce_scatter.c");
    }
    replay_free(&t);
    free(text);
    job_free(&result);
}

/* A program of one's own: phases around calls, and a buffer whose parts are known by where they lie. */
static int own_program(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world);
    bool done = false;
    p2p_request request;

    (void)arg;
    CALL(coll_barrier(world));
    p2p_layer_watch(world, out, 4000);
    p2p_layer_phase_begin(world, "step");
    p2p_layer_phase_begin(world, "exchange");
    if (rank == 0) CALL(p2p_send(world, out + 100, 40, 1, 7));
    if (rank == 1) CALL(p2p_recv(world, out + 200, 40, 0, 7, P2P_STATUS_IGNORE));
    p2p_layer_phase_end(world, "exchange");
    p2p_layer_phase_end(world, "nonsense");
    p2p_layer_phase_end(world, "step");
    if (rank == 0) CALL(p2p_irecv(world, in, 1, 1, 8, &request));
    for (int polls = 0; rank == 0 && !done; polls++) {
        CALL(p2p_test(&request, &done, P2P_STATUS_IGNORE));
        if (polls == 1000) CALL(p2p_send(world, NULL, 0, 1, 9));
    }
    if (rank == 1) CALL(p2p_recv(world, NULL, 0, 0, 9, P2P_STATUS_IGNORE));
    if (rank == 1) CALL(p2p_send(world, out, 1, 0, 8));
    return 0;
}

Test(contents, phases_parts_and_looks)
{
    job_result result;
    replay_trace t;
    size_t bytes;
    char *text = traced_run(2, NULL, own_program, NULL, &result, &bytes);

    read_trace(text, bytes, &result, &t);
    cr_assert_eq(result.err, P2P_OK, "%s", result.note);
    for (int rank = 0; rank < 2; rank++) {
        const replay_slice *step = find_slice(&t, rank, "step"), *exchange = find_slice(&t, rank, "exchange"),
                           *call = find_slice(&t, rank, rank ? "p2p_recv" : "p2p_send");
        cr_assert(step && exchange && call);
        cr_assert_eq(step->kind, SLICE_PHASE);
        cr_assert(&t.slices[exchange->parent] == step && &t.slices[call->parent] == exchange);
        cr_assert(!step->unfinished && !exchange->unfinished);
    }
    size_t of_users = 0;
    for (size_t i = 0; i < t.message_count; i++) {
        const replay_message *m = &t.messages[i];
        cr_assert(m->of_collective == (m->collective > 0) && (m->of_collective || m->tag >= 7));
        of_users += !m->of_collective;
        if (m->tag == 7) cr_assert(m->offset == 400 && m->offset_to == 800, "%g, %g", m->offset, m->offset_to);
    }
    cr_assert_eq(of_users, 3);
    double polls = 0;
    size_t slices = 0;
    for (size_t i = 0; i < t.slice_count; i++)
        if (t.slices[i].rank == 0 && t.slices[i].polls > 0) polls += t.slices[i].polls, slices++;
    cr_assert(polls >= 1000 && slices < 50, "%.0f polls in %zu slices: polls in a row are one", polls, slices);
    replay_free(&t);
    free(text);
    job_free(&result);
}

/* ---- How it ends ---- */

static int dies(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world);

    (void)arg;
    p2p_layer_phase_begin(world, "before the end");
    CALL(coll_barrier(world));
    if (rank == 1) kill(getpid(), SIGKILL);
    p2p_recv(world, in, 4, 1, 0, P2P_STATUS_IGNORE);
    return 0;
}

Test(ends, a_death_leaves_the_events_of_the_dead)
{
    job_result result;
    replay_trace t;
    size_t bytes;
    char *text = traced_run(3, NULL, dies, NULL, &result, &bytes);

    read_trace(text, bytes, &result, &t);
    cr_assert_str_eq(replay_text(&t, t.outcome), "death");
    char *end = one_host(strdup(replay_text(&t, t.end_text)));
    ASSERT_CONTAINS(end, "rank 1 was killed by signal 9");
    free(end);
    cr_assert(find_slice(&t, 1, "before the end")->unfinished, "the phase of the dead rank never ended");
    cr_assert_not_null(find_slice(&t, 1, "coll_barrier"));
    cr_assert_eq(t.status, 128 + SIGKILL);
    cr_assert_not_null(t.last);
    replay_free(&t);
    free(text);
    job_free(&result);
}

static int waits_in_a_ring(p2p_comm *world, void *arg)
{
    int n = p2p_size(world);

    (void)arg;
    p2p_recv(world, in, 4, (p2p_rank(world) + n - 1) % n, 0, P2P_STATUS_IGNORE);
    return 0;
}

Test(ends, a_deadlock_is_an_event_with_its_cycle)
{
    job_result result;
    replay_trace t;
    size_t bytes;
    char *text = traced_run(3, NULL, waits_in_a_ring, NULL, &result, &bytes);

    read_trace(text, bytes, &result, &t);
    cr_assert_str_eq(replay_text(&t, t.outcome), "deadlock");
    cr_assert(t.is_cycle && t.cycle_count == 3);
    for (int rank = 0; rank < 3; rank++) {
        cr_assert_str_eq(replay_text(&t, t.last[rank].state), "stuck");
        cr_assert(t.last[rank].in_cycle && t.last[rank].waits_count == 1);
        cr_assert_eq(t.last[rank].waits_for[0], (rank + 2) % 3);
        ASSERT_CONTAINS(replay_text(&t, t.last[rank].call), "p2p_recv(source");
        const replay_slice *call = find_slice(&t, rank, "p2p_recv");
        cr_assert(call && (call->unfinished || call->failed));
    }
    replay_free(&t);
    free(text);
    job_free(&result);
}

static int never_ends(p2p_comm *world, void *arg)
{
    (void)arg;
    while (p2p_rank(world) == 0) pause();
    p2p_recv(world, in, 4, 0, 0, P2P_STATUS_IGNORE);
    return 0;
}

Test(ends, a_time_limit_leaves_a_trace)
{
    job_result result;
    replay_trace t;
    size_t bytes;
    char *text = traced_run(2, &(p2p_options){.timeout_s = 2}, never_ends, NULL, &result, &bytes);

    read_trace(text, bytes, &result, &t);
    cr_assert_str_eq(replay_text(&t, t.outcome), "timeout");
    cr_assert_str_eq(replay_text(&t, t.last[0].state), "running");
    cr_assert_str_eq(replay_text(&t, t.last[1].state), "blocked");
    replay_free(&t);
    free(text);
    job_free(&result);
}

/* ---- The file ---- */

static int many_messages(p2p_comm *world, void *arg)
{
    (void)arg;
    for (int i = 0; i < 4000; i++)
        CALL(p2p_sendrecv(world, out, 4, 1 - p2p_rank(world), 0, in, 4, 1 - p2p_rank(world), 0, P2P_STATUS_IGNORE));
    return 0;
}

Test(file, what_does_not_fit_is_counted_and_said)
{
    job_result result;
    replay_trace t;
    size_t bytes;

    setenv("PAIRWISE_TRACE_ROOM", "1M", 1);
    char *text = traced_run(2, NULL, many_messages, NULL, &result, &bytes);
    read_trace(text, bytes, &result, &t);
    cr_assert(t.dropped > 0 && t.message_count > 1000);
    ASSERT_CONTAINS(result.process.err, "is only the beginning");
    ASSERT_CONTAINS(result.process.err, "try: PAIRWISE_TRACE_ROOM=4M");
    cr_assert_eq(t.stats_count, 2, "what p2p_stats says has room in any case");
    cr_assert_eq(t.stats[0].messages_sent, 4000);
    replay_free(&t);
    free(text);
    job_free(&result);
}

Test(file, cannot_be_written)
{
    static const char *const paths[] = {"$T/right/actor/trace.json", "/", ""};
    process_result result;

    for (size_t i = 0; i < COUNT(paths); i++) {
        char command[200];
        snprintf(command, sizeof command, "exec $L -n 2 --trace \"%s\" $T/right/actor exit 0 0", paths[i]);
        shell_run(command, NULL, &result);
        ASSERT_STATUS(result, 2);
        ASSERT_CONTAINS(result.err, "trace");
        process_free(&result);
    }
    shell_run("PAIRWISE_TRACE_ROOM=5 exec $L -n 2 $T/right/actor exit 0 0", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "PAIRWISE_TRACE_ROOM=5");
    process_free(&result);
}

Test(file, comes_by_option_or_variable_and_leaves_nothing_beside_it)
{
    static const char *const commands[] = {"exec $L -n 2 --trace %s $T/right/pairs",
                                           "PAIRWISE_TRACE=%s exec $L -n 2 $T/right/pairs"};
    char path[200], command[600];
    process_result result;
    size_t bytes;

    for (size_t i = 0; i < COUNT(commands); i++) {
        traced_name(path, sizeof path);
        snprintf(command, sizeof command, commands[i], path);
        shell_run(command, NULL, &result);
        ASSERT_STATUS(result, 0);
        process_free(&result);
        char *text = traced_read(path, &bytes);
        cr_assert(text && bytes > 1000);
        free(text);
        snprintf(command, sizeof command, "ls %s*", path);
        shell_run(command, NULL, &result);
        snprintf(command, sizeof command, "%s\n", path);
        cr_assert_str_eq(result.out, command);
        process_free(&result);
        unlink(path);
    }
}

Test(file, is_not_written_unless_wanted)
{
    job_result result;

    job_run(2, NULL, one_ring, NULL, &result);
    cr_assert_eq(result.err, P2P_OK);
    job_free(&result);
}

/* ---- What it costs: ten times the 3 % that bench/tracing is held to, for the machine may be busy ---- */

enum { OPERATIONS = 60, TRIES = 8 };

static double *median_us;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int timed_rings(p2p_comm *world, void *arg)
{
    static float buf[1 << 18];
    double us[OPERATIONS];

    (void)arg;
    for (int i = 0; i < OPERATIONS; i++) {
        CALL(coll_barrier(world));
        double start = p2p_time(world);
        CALL(ring_all_reduce(world, buf, COUNT(buf), DTYPE_F32, OP_SUM));
        us[i] = (p2p_time(world) - start) * 1e6;
    }
    qsort(us, OPERATIONS, sizeof *us, by_value);
    if (p2p_rank(world) == 0) *median_us = us[OPERATIONS / 2];
    return 0;
}

static double time_of(bool traced)
{
    job_result result;
    size_t bytes;

    if (traced)
        free(traced_run(2, NULL, timed_rings, NULL, &result, &bytes));
    else
        job_run(2, NULL, timed_rings, NULL, &result);
    cr_assert_eq(result.err, P2P_OK, "%s", result.note);
    job_free(&result);
    return *median_us;
}

Test(cost, of_being_traced_is_small)
{
    double best = 1e9;

    median_us = job_shared(sizeof *median_us);
    for (int i = 0; i < TRIES && best > 1.3; i++) {
        double off = time_of(false), on = time_of(true);
        if (on / off < best) best = on / off;
    }
    cr_assert(best <= 1.3, "an all-reduce of 1 MiB takes %.2f times as long when traced", best);
}
