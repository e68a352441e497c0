/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * many_ranks: what is divided by the number of ranks is enough at any number of them: the arithmetic for all up to
 * 1,024; collectives of some, and with PAIRWISE_LONG=1 of up to 1,024.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "collectives/internal.h"
#include "p2p/group/internal.h"
#include "p2p/shared/memory.h"
#include "p2p/trace/trace.h"
#include "p2p/world/shm_queue.h"
#include "ring/ring.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Arithmetic ---- */

static p2p_config default_config(void)
{
    p2p_config config;
    char why[400];

    cr_assert_eq(p2p__config_read(&config, why, sizeof why), P2P_OK, "%s", why);
    return config;
}

Test(many_ranks, each_has_room_for_an_element_in_every_slice_of_a_segment)
{
    for (int n = 2; n <= P2P_MAX_RANKS; n++)
        for (size_t bytes = P2P_LAYER_INLINE_MOST; bytes <= p2p__scratch_largest(n); bytes += 64) {
            size_t slot = coll__two_shot_slot(bytes, n);
            cr_assert(slot % 8 == 0 && slot * (size_t)n <= bytes, "%d ranks, %zu bytes: %zu", n, bytes, slot);
            cr_assert(slot || bytes < p2p__scratch_largest(n), "%d ranks, %zu bytes: no room", n, bytes);
        }
}

Test(many_ranks, links_hold_a_header_and_traces_some_events)
{
    p2p_config config = default_config();
    size_t least = p2p__queue_bytes(QUEUE_SMALLEST);

    for (int n = 1; n <= P2P_MAX_RANKS; n++) {
        cr_assert_geq(p2p__world_shm.link_memory(&config, n), 2 * least);
        config.trace_room = 1 << 20; /* the least that is accepted */
        cr_assert_geq(p2p__trace_room(n, &config), 64);
        cr_assert_gt(p2p__scratch_largest(n), P2P_LAYER_INLINE_MOST);
    }
}

Test(many_ranks, a_message_that_may_be_kept_fits_in_a_ranks_share)
{
    p2p_config config = default_config();
    cr_assert_geq(config.unexpected_max / P2P_MAX_RANKS, p2p__eager_cost(config.eager),
                  "a peer of 1,024 has %zu bytes; a message of the eager limit takes %zu",
                  (size_t)config.unexpected_max / P2P_MAX_RANKS, (size_t)p2p__eager_cost(config.eager));
}

/* ---- Collectives ---- */

enum { MOST = 100000, LIMIT_S = 600 };

typedef p2p_err (*all_reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* Ranks are not told apart from the test here: a wrong one says so on stderr. */
static int complain(p2p_comm *world, const char *what, size_t count, size_t element)
{
    fprintf(stderr, "rank %d: %s of %zu: element %zu is wrong\n", p2p_rank(world), what, count, element);
    return 1;
}

static int reduced(p2p_comm *world, const char *name, all_reduce function, size_t count)
{
    static int64_t buf[MOST];
    int64_t n = p2p_size(world), rank = p2p_rank(world);

    for (size_t i = 0; i < count; i++) buf[i] = (int64_t)i * (rank + 1);
    if (function(world, buf, count, DTYPE_I64, OP_SUM)) return 1;
    for (size_t i = 0; i < count; i++)
        if (buf[i] != (int64_t)i * n * (n + 1) / 2) return complain(world, name, count, i);
    return 0;
}

static int from_root_and_back(p2p_comm *world, size_t count)
{
    static int64_t buf[MOST];
    int64_t n = p2p_size(world), rank = p2p_rank(world);
    int root = (int)n - 1;

    for (size_t i = 0; i < count; i++) buf[i] = rank == root ? (int64_t)i + 1 : 0;
    if (coll_broadcast(world, buf, count, DTYPE_I64, root)) return 1;
    for (size_t i = 0; i < count; i++)
        if (buf[i] != (int64_t)i + 1) return complain(world, "broadcast", count, i);
    if (coll_reduce(world, buf, count, DTYPE_I64, OP_SUM, 0)) return 1;
    for (size_t i = 0; i < count && rank == 0; i++)
        if (buf[i] != n * ((int64_t)i + 1)) return complain(world, "reduce", count, i);
    return 0;
}

/* A block of each rank's, to all ranks, and to the root and back. */
static int blocks(p2p_comm *world, size_t count)
{
    static int64_t all[P2P_MAX_RANKS * 16], own[16];
    size_t n = (size_t)p2p_size(world), rank = (size_t)p2p_rank(world);

    for (size_t i = 0; i < count; i++) own[i] = (int64_t)(rank * count + i);
    if (coll_all_gather(world, own, all, count, DTYPE_I64)) return 1;
    for (size_t i = 0; i < n * count; i++)
        if (all[i] != (int64_t)i) return complain(world, "all_gather", count, i);
    if (coll_gather(world, own, all, count, DTYPE_I64, 1) || coll_scatter(world, all, own, count, DTYPE_I64, 1))
        return 1;
    for (size_t i = 0; i < count; i++)
        if (own[i] != (int64_t)(rank * count + i)) return complain(world, "gather and scatter", count, i);
    if (coll_reduce_scatter(world, all, own, count, DTYPE_I64, OP_SUM)) return 1;
    for (size_t i = 0; i < count; i++)
        if (own[i] != (int64_t)(n * (rank * count + i))) return complain(world, "reduce_scatter", count, i);
    return 0;
}

/* One of each size: in a line of the scoreboard, on a stage, in one piece, in many, over 64 KiB. */
static int every_size(p2p_comm *world, void *arg)
{
    static const size_t counts[] = {1, 7, 512, 513, 5000, MOST};
    bool shared = p2p_layer_has_shared_memory(world);

    (void)arg;
    for (size_t k = 0; k < COUNT(counts); k++) {
        if (coll_barrier(world)) return 1;
        if (reduced(world, "all_reduce", coll_all_reduce, counts[k])) return 1;
        if (shared && reduced(world, "two-shot", coll_two_shot_all_reduce, counts[k])) return 1;
        if (shared && k < 4 && reduced(world, "one-shot", coll_one_shot_all_reduce, counts[k])) return 1;
        if (reduced(world, "tree", coll_tree_all_reduce, counts[k])) return 1;
        if (reduced(world, "ring", ring_all_reduce, counts[k])) return 1;
        if (from_root_and_back(world, counts[k])) return 1;
    }
    return blocks(world, 1) || blocks(world, 16);
}

typedef struct {
    int ranks;
    job_main rank_main;
} big_job;

static int launch_big(void *arg)
{
    const big_job *what = arg;
    return p2p_launch(what->ranks, what->rank_main, NULL, &(p2p_options){.timeout_s = LIMIT_S - 10}) ? 1 : 0;
}

static void expect_big(int ranks, job_main rank_main)
{
    big_job what = {ranks, rank_main};
    process_result result;

    process_run(launch_big, &what, NULL, LIMIT_S, &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(result.err_bytes, 0, "on stderr: %.3000s", result.err);
    cr_log_info("%d ranks: %.2f s\n", ranks, result.seconds);
    process_free(&result);
}

/* The job's memory file, open in each rank where ranks share memory. */
static off_t memory_file_end(void)
{
    for (int fd = 0; fd < 64; fd++) {
        char path[40], name[80] = "";
        struct stat info;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, name, sizeof name - 1) < 0 || !strstr(name, "memfd:pairwise")) continue;
        if (fstat(fd, &info) == 0) return info.st_size;
    }
    return 0;
}

/* All ask for the memory of the first collective at the same time: it is taken once, 3 MB a rank. */
static int scratch_once(p2p_comm *world, void *arg)
{
    off_t before = memory_file_end();

    (void)arg;
    if (coll_barrier(world) || reduced(world, "all_reduce", coll_all_reduce, 100) || coll_barrier(world)) return 1;
    off_t grown = memory_file_end() - before, most = (off_t)p2p_size(world) << 22;
    if (grown > most) fprintf(stderr, "the memory file has grown by %lld bytes\n", (long long)grown);
    return grown > most;
}

Test(many_ranks, memory_for_all_is_taken_once)
{
    expect_big(32, scratch_once);
}

Test(many_ranks, every_collective_of_every_size)
{
    static const int all[] = {512, 513, 600, 1000, 1024}, few[] = {33};
    bool whole = getenv("PAIRWISE_LONG");

    for (size_t k = 0; k < (whole ? COUNT(all) : COUNT(few)); k++) expect_big(whole ? all[k] : few[k], every_size);
}
