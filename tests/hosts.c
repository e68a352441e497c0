/* SPDX-License-Identifier: MIT */
// worlds: each
/*
 * hosts: ranks of several hosts. Here each host is a launcher of this machine (PAIRWISE_HOSTS); what carries their bytes
 * elsewhere, an MPI library, is tried in tests/all/hosts.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/job/hosts.h"
#include "replay/trace.h"
#include "ring/ring.h"
#include "tests/util/commands.h"
#include "tests/util/exposition.h"
#include "tests/util/traced.h"
#include "tests/util/values.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int hosts; /* of the jobs of a test */

static void set_hosts(int count)
{
    hosts = count;
    setenv("PAIRWISE_HOSTS", (const char *[]){"", "1", "2", "3", "4"}[count], 1);
}

/* Ranks are dealt to hosts as evenly as possible, in order; the first hosts get one more. */
static int host_of(int size, int rank)
{
    int count = hosts < size ? hosts : size, first = 0;
    for (int h = 0; h < count; h++) {
        first += size / count + (h < size % count);
        if (rank < first) return h;
    }
    return -1;
}

static int who_lives_where(p2p_comm *world, void *arg)
{
    int size = p2p_size(world), rank = p2p_rank(world), count = hosts < size ? hosts : size;
    p2p_comm *reversed, *own;

    (void)arg;
    CHECK(p2p_hosts(world) == count, "%d hosts, expected %d", p2p_hosts(world), count);
    for (int q = 0; q < size; q++)
        CHECK(p2p_host(world, q) == host_of(size, q), "rank %d is on host %d, expected %d", q, p2p_host(world, q),
              host_of(size, q));
    CHECK(p2p_host(world, -1) == -1 && p2p_host(world, size) == -1, "a rank that does not exist has a host");
    CALL(p2p_split(world, 0, -rank, &reversed)); /* numbered by the first rank of each */
    for (int q = 0; q < size; q++)
        CHECK(p2p_host(reversed, q) == count - 1 - host_of(size, size - 1 - q), "reversed: rank %d is on host %d", q,
              p2p_host(reversed, q));
    CALL(p2p_split(world, host_of(size, rank), 0, &own));
    CHECK(p2p_hosts(own) == 1 && p2p_host(own, p2p_rank(own)) == 0, "the ranks of a host are on %d", p2p_hosts(own));
    CALL(p2p_free(reversed));
    CALL(p2p_free(own));
    return 0;
}

Test(hosts, who_lives_where)
{
    for (int count = 1; count <= 4; count++) {
        set_hosts(count);
        ASSERT_RIGHT(job_sizes((int[]){1, 3, 5, 8}, 4, true, false, who_lives_where, NULL));
    }
}

/* ---- Leaders, and hierarchical all-reduce ---- */

static const struct {
    const char *name;
    p2p_err (*run)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);
} by_host[] = {{"hierarchical", coll_hierarchical_all_reduce}, {"leaders", coll_leaders_all_reduce}};

static int64_t value(int rank, size_t i)
{
    return (int64_t)(rank + 1) * (int64_t)(i % 1000 + 1);
}

/* n(n+1)/2 times the place */
static int check_sum(p2p_comm *world, int which, int64_t *buf, size_t count)
{
    int rank = p2p_rank(world), n = p2p_size(world);

    for (size_t i = 0; i < count; i++) buf[i] = value(rank, i);
    CALL(by_host[which].run(world, buf, count, DTYPE_I64, OP_SUM));
    for (size_t i = 0; i < count; i++) {
        int64_t expected = (int64_t)n * (n + 1) / 2 * (int64_t)(i % 1000 + 1);
        CHECK(buf[i] == expected, "%s, count %zu: element %zu is %lld, not %lld", by_host[which].name, count, i,
              (long long)buf[i], (long long)expected);
    }
    return 0;
}

static int sums_and_means(p2p_comm *world, void *arg)
{
    enum { MOST = 200003 }; /* more than goes through shared memory in a round */
    static int64_t buf[MOST];
    static double mean[1001];
    int n = p2p_size(world);
    const size_t counts[] = {0, 1, (size_t)n - 1, (size_t)n, (size_t)n + 1, 1000, MOST};

    int which = *(const int *)arg;
    for (size_t i = 0; i < COUNT(counts); i++) STEP(check_sum(world, which, buf, counts[i]));
    for (size_t i = 0; i < COUNT(mean); i++) mean[i] = (double)(p2p_rank(world) * 4 * n) + (double)i;
    CALL(by_host[which].run(world, mean, COUNT(mean), DTYPE_F64, OP_MEAN));
    for (size_t i = 0; i < COUNT(mean); i++) {
        double expected = 2.0 * n * (n - 1) + (double)i;
        CHECK(mean[i] == expected, "%s, mean: element %zu is %g, not %g", by_host[which].name, i, mean[i], expected);
    }
    return 0;
}

static void expect_exact(int which)
{
    for (int count = 1; count <= 3; count++) {
        set_hosts(count);
        ASSERT_RIGHT(job_matrix(sums_and_means, &which));
    }
}

Test(hosts, hierarchical_is_exact)
{
    expect_exact(0);
}

Test(hosts, leaders_are_exact)
{
    expect_exact(1);
}

/* Whatever rounds, rounds alike on all ranks. */
static int same_bits(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 30011 };
    static float buf[ELEMENTS], first[ELEMENTS];

    (void)arg;
    for (int round = 0; round < 4; round++) {
        values_fill(buf, ELEMENTS, WILD, DTYPE_F32, OP_SUM, p2p_rank(world), round);
        CALL(by_host[round % 2].run(world, buf, ELEMENTS, DTYPE_F32, OP_SUM));
        memcpy(first, buf, sizeof buf);
        CALL(coll_broadcast(world, first, ELEMENTS, DTYPE_F32, 0));
        for (size_t i = 0; i < ELEMENTS; i++)
            CHECK(memcmp(&buf[i], &first[i], sizeof *buf) == 0, "%s: element %zu is %g, on rank 0 %g",
                  by_host[round % 2].name, i, (double)buf[i], (double)first[i]);
    }
    return 0;
}

Test(hosts, all_ranks_get_the_same_bits)
{
    set_hosts(3);
    ASSERT_RIGHT(job_sizes((int[]){3, 5, 8}, 3, true, false, same_bits, NULL));
}

/* Bytes that this rank has sent to ranks of other hosts. */
static int left_host(p2p_comm *world, uint64_t *bytes)
{
    p2p_traffic traffic[16];

    CALL(p2p_stats(world, traffic));
    *bytes = 0;
    for (int q = 0; q < p2p_size(world); q++)
        if (p2p_host(world, q) != p2p_host(world, p2p_rank(world))) *bytes += traffic[q].bytes_sent;
    return 0;
}

/* Of 12 * 7! bytes every slice and every chunk of it is as long as the others. */
static int bytes_that_leave(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 3 * 5040 };
    static float buf[ELEMENTS];
    uint64_t before = 0, after = 0, all[8], expected = sizeof buf * 2 * (uint64_t)(p2p_hosts(world) - 1);

    (void)arg;
    STEP(left_host(world, &before));
    CALL(coll_hierarchical_all_reduce(world, buf, ELEMENTS, DTYPE_F32, OP_SUM));
    STEP(left_host(world, &after));
    after -= before;
    CALL(coll_all_gather(world, &after, all, sizeof after, DTYPE_U8));
    for (int h = 0; h < p2p_hosts(world); h++) {
        uint64_t left = 0;
        for (int q = 0; q < p2p_size(world); q++)
            if (p2p_host(world, q) == h) left += all[q];
        CHECK(left * (uint64_t)p2p_hosts(world) == expected, "host %d of %d: %llu bytes left it", h, p2p_hosts(world),
              (unsigned long long)left);
    }
    return 0;
}

Test(hosts, what_leaves_a_host)
{
    for (int count = 1; count <= 4; count++) {
        set_hosts(count);
        ASSERT_RIGHT(job_sizes((int[]){2, 3, 4, 6, 7, 8}, 6, true, false, bytes_that_leave, NULL));
    }
}

/* Of leaders: the buffer to each host whose number differs in a bit, whatever ranks there are. */
static int buffers_that_leave(p2p_comm *world, void *arg)
{
    static float buf[1000];
    uint64_t before = 0, after = 0, rounds = 0;
    bool leads = true;

    (void)arg;
    for (int q = 0; q < p2p_rank(world); q++) leads &= p2p_host(world, q) != p2p_host(world, p2p_rank(world));
    for (int left = p2p_hosts(world); left > 1; left /= 2) rounds++;
    STEP(left_host(world, &before));
    CALL(coll_leaders_all_reduce(world, buf, COUNT(buf), DTYPE_F32, OP_MAX));
    STEP(left_host(world, &after));
    CHECK(after - before == (leads ? rounds * sizeof buf : 0), "%llu bytes left the host",
          (unsigned long long)(after - before));
    return 0;
}

Test(hosts, what_leaders_send)
{
    for (int count = 1; count <= 4; count *= 2) {
        set_hosts(count);
        ASSERT_RIGHT(job_sizes((int[]){4, 5, 7, 8}, 4, true, false, buffers_that_leave, NULL));
    }
}

/* ---- On a virtual network the same, for any layout and numbering ---- */

/* Ranks dealt out over hosts, one on each in turn. */
static p2p_err deal(p2p_comm *world, p2p_comm **dealt)
{
    int rank = p2p_rank(world), before = 0;

    for (int q = 0; q < rank; q++) before += p2p_host(world, q) == p2p_host(world, rank);
    return p2p_split(world, 0, before * p2p_size(world) + p2p_host(world, rank), dealt);
}

/* Bytes that leave each host: 2(H-1)/H of the buffer, however many ranks it has, and however they are numbered; the mean is
 * that of all ranks, not of hosts. With a ring 2(n-1)/n for each pair of neighbours on different hosts. */
static int contract(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 3 * 5040 };
    static double buf[ELEMENTS];
    int n = p2p_size(world), all_hosts = p2p_hosts(world);
    p2p_comm *dealt;

    (void)arg;
    CALL(deal(world, &dealt));
    for (int which = 0; which < 4; which++) {
        p2p_comm *comm = which % 2 ? dealt : world;
        uint64_t before = 0, after = 0, all[16], pairs = 0, left[16] = {0};
        for (size_t i = 0; i < ELEMENTS; i++) buf[i] = (double)(p2p_rank(comm) * 2 * n) + (double)i;
        STEP(left_host(comm, &before));
        CALL((which < 2 ? coll_hierarchical_all_reduce : ring_all_reduce)(comm, buf, ELEMENTS, DTYPE_F64, OP_MEAN));
        STEP(left_host(comm, &after));
        for (size_t i = 0; i < ELEMENTS; i++)
            CHECK(buf[i] == (double)n * (n - 1) + (double)i, "%d: element %zu is %g", which, i, buf[i]);
        after -= before;
        CALL(coll_all_gather(comm, &after, all, sizeof after, DTYPE_U8));
        for (int q = 0; q < n; q++) left[p2p_host(comm, q)] += all[q];
        for (int h = 0; h < all_hosts; h++, pairs = 0) {
            for (int q = 0; q < n; q++) pairs += p2p_host(comm, q) == h && p2p_host(comm, (q + 1) % n) != h;
            uint64_t want = which < 2 ? sizeof buf / (uint64_t)all_hosts * 2 * (uint64_t)(all_hosts - 1)
                                      : sizeof buf / (uint64_t)n * 2 * (uint64_t)(n - 1) * pairs;
            CHECK(left[h] == want, "%d: %llu bytes left host %d of %d, not %llu", which, (unsigned long long)left[h], h,
                  all_hosts, (unsigned long long)want);
        }
    }
    return p2p_free(dealt);
}

Test(hosts, contract_of_bytes)
{
    static const struct {
        const char *network;
        int ranks;
    } cases[] = {{"10GbE,hosts=2", 8},     {"10GbE,hosts=4", 8}, {"10GbE,hosts=3:1:2", 6},
                 {"10GbE,hosts=1:4:2", 7}, {"10GbE,hosts=4", 6}, {"10GbE,hosts=8", 8}};

    set_hosts(1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        p2p_options options = {.network = cases[i].network};
        job_result result;
        job_run(cases[i].ranks, &options, contract, NULL, &result);
        cr_expect(result.err == P2P_OK, "%s: %s %.2000s", cases[i].network, result.note, result.process.err);
        job_free(&result);
    }
}

/* What the plain name takes is the same on every rank, and agreed on; long buffers go the way on which the least leaves a host. */
static int plain_on_hosts(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 5 * 5040 * 8 };
    static double buf[ELEMENTS];
    uint64_t before = 0, after = 0, all[16], left = 0, others = (uint64_t)p2p_hosts(world) - 1;

    (void)arg;
    STEP(left_host(world, &before));
    CALL(coll_all_reduce(world, buf, ELEMENTS, DTYPE_F64, OP_SUM));
    STEP(left_host(world, &after));
    after -= before;
    CALL(coll_all_gather(world, &after, all, sizeof after, DTYPE_U8));
    for (int q = 0; q < p2p_size(world); q++) left += all[q];
    CHECK(left == sizeof buf * 2 * others, "%llu bytes left the hosts", (unsigned long long)left);
    return 0;
}

Test(hosts, long_buffers_are_reduced_by_host)
{
    set_hosts(2);
    ASSERT_RIGHT(job_sizes((int[]){3, 4, 7}, 3, true, false, plain_on_hosts, NULL));
    cr_expect_str_eq(coll_choose_on_hosts("all_reduce", 2, 4, 16 << 20), "hierarchical");
    cr_expect_str_neq(coll_choose_on_hosts("all_reduce", 4, 4, 16 << 20), "hierarchical"); /* a rank on each */
    cr_expect_str_neq(coll_choose_on_hosts("all_reduce", 1, 4, 16 << 20), "hierarchical");
    cr_expect_str_eq(coll_choose_on_hosts("all_reduce", 2, 4, 32 << 10), "leaders");
    cr_expect_str_neq(coll_choose_on_hosts("all_reduce", 4, 4, 32 << 10), "leaders");
    cr_expect_str_eq(coll_choose_on_hosts("all_reduce", 2, 4, 8), "recursive-doubling");
}

/* ---- launch --explain ---- */

static int explained(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 1 << 18 };
    static float buf[ELEMENTS];

    (void)arg;
    for (int i = 0; i < 3; i++) CALL(ring_all_reduce(world, buf, ELEMENTS, DTYPE_F32, OP_SUM));
    CALL(coll_all_reduce(world, buf, ELEMENTS, DTYPE_F32, OP_SUM));
    CALL(coll_all_reduce(world, buf, 2, DTYPE_F32, OP_SUM));
    CALL(coll_broadcast(world, buf, ELEMENTS, DTYPE_F32, 1));
    return 0;
}

/* Of the line of a collective: calls, predicted and measured microseconds. */
static int find_explained(const char *text, const char *operation, const char *algorithm, size_t count, double us[2])
{
    for (const char *at = text; at && (at = strstr(at, operation)) != NULL; at = strchr(at, '\n')) {
        char took[32];
        size_t elements, calls;
        if (sscanf(at, "%*s %31s %*d %*d %zu %*s %zu %lf %lf", took, &elements, &calls, &us[0], &us[1]) == 5 &&
            strcmp(took, algorithm) == 0 && elements == count)
            return (int)calls;
    }
    return 0;
}

/* On a virtual network what is predicted is what is measured, but for where ranks begin. */
Test(hosts, explain)
{
    static const char *const networks[] = {"10GbE", "10GbE,hosts=2", NULL};
    double us[2];

    set_hosts(1);
    for (int i = 0; i < 4; i++) {
        p2p_options options = {.world = "socket", .network = networks[i % 3], .explain = i < 3};
        job_result result;
        job_run(4, &options, explained, NULL, &result);
        const char *said = result.process.err;
        cr_expect(result.err == P2P_OK, "%s %.2000s", result.note, said);
        cr_expect((strstr(said, "collectives of ranks 0-3") != NULL) == (i < 3), "%d: %s", i, said);
        if (i < 3) {
            cr_expect_eq(find_explained(said, "ring_all_reduce", "ring", 1 << 18, us), 3, "%s", said);
            cr_expect(i == 2 || (us[0] > 0.9 * us[1] && us[0] < 1.1 * us[1]), "%d: %s", i, said);
            cr_expect(us[0] > 0 && us[1] > 0, "%s", said);
            cr_expect_eq(find_explained(said, "coll_broadcast", "tree", 1 << 18, us), 1, "%s", said);
            cr_expect_eq(find_explained(said, "coll_all_reduce", i == 1 ? "hierarchical" : "ring", 1 << 18, us), 1,
                         "%s", said);
            cr_expect_eq(find_explained(said, "coll_all_reduce", "recursive-doubling", 2, us), 1, "%s", said);
            ASSERT_CONTAINS(said, i == 1 ? "table: from 3 ranks and 131072 B on, on several hosts"
                                         : "table: from 3 ranks and 262144 B on");
            ASSERT_CONTAINS(said, "the program calls it by name");
        }
        job_free(&result);
    }
}

/* ---- Communicators across hosts, again and again ---- */

static int splits_in_a_row(p2p_comm *world, void *arg)
{
    int32_t sum;
    p2p_comm *sub;

    (void)arg;
    for (int i = 0; i < 4200; i++) { /* more than there are places for */
        CALL(p2p_split(world, 0, 0, &sub));
        sum = 1;
        if (i % 100 == 0) CALL(coll_all_reduce(sub, &sum, 1, DTYPE_I32, OP_SUM));
        CHECK(i % 100 || sum == p2p_size(world), "split %d: the sum is %d", i, sum);
        CALL(p2p_free(sub));
    }
    return 0;
}

Test(hosts, communicators_are_freed_on_all_hosts)
{
    set_hosts(2);
    ASSERT_RIGHT(job_sizes((int[]){2, 3}, 2, true, false, splits_in_a_row, NULL));
}

/* What goes with a line lies in memory of the communicator's, which is freed at once: the last one to come finds all there. */
static int freed_at_once(p2p_comm *world, void *arg)
{
    enum { COUNT_OF_ALL = 256 };
    int rank = p2p_rank(world), size = p2p_size(world);
    int32_t buf[COUNT_OF_ALL];
    p2p_comm *sub;

    (void)arg;
    for (int i = 0; i < 100; i++) {
        CALL(p2p_dup(world, &sub));
        if (rank == size - 1)
            CALL(p2p_recv(world, NULL, 0, i % rank, 0, P2P_STATUS_IGNORE)); /* one that waits for all others */
        for (int k = 0; k < COUNT_OF_ALL; k++) buf[k] = (rank + 1) * (k + i);
        if (rank == i % (size - 1)) CALL(p2p_send(world, NULL, 0, size - 1, 0));
        CALL(coll_all_reduce(sub, buf, COUNT_OF_ALL, DTYPE_I32, OP_SUM));
        CALL(p2p_free(sub));
        for (int k = 0; k < COUNT_OF_ALL; k++)
            CHECK(buf[k] == size * (size + 1) / 2 * (k + i), "round %d: element %d is %d", i, k, buf[k]);
    }
    return 0;
}

/* The index of a small communicator is given to a large one, whose memory takes more room; no more than is there, again and
 * again. */
static int memory_of_another_size(p2p_comm *world, void *arg)
{
    enum { FLOATS = 256, OWN = 1 << 20 };
    int rank = p2p_rank(world), size = p2p_size(world);
    unsigned char *own = NULL;
    float buf[FLOATS];
    p2p_comm *pair, *all;

    (void)arg;
    for (int i = 0; i < 20; i++) {
        CALL(p2p_split(world, rank % (size / 2), 0, &pair));
        for (int k = 0; k < FLOATS; k++) buf[k] = (float)(k + i);
        CALL(coll_all_reduce(pair, buf, FLOATS, DTYPE_F32, OP_SUM));
        for (int k = 0; k < FLOATS; k++)
            CHECK(buf[k] == (float)(p2p_size(pair) * (k + i)), "pair, round %d: element %d is %g", i, k,
                  (double)buf[k]);
        CALL(p2p_alloc(world, OWN, (void **)&own)); /* behind it */
        memset(own, rank + i, OWN);
        CALL(p2p_free(pair));
        CALL(p2p_dup(world, &all));
        for (int k = 0; k < FLOATS; k++) buf[k] = (float)(k + i);
        CALL(coll_all_reduce(all, buf, FLOATS, DTYPE_F32, OP_SUM));
        for (int k = 0; k < FLOATS; k++)
            CHECK(buf[k] == (float)(size * (k + i)), "all, round %d: element %d is %g", i, k, (double)buf[k]);
        for (int k = 0; k < OWN; k++)
            CHECK(own[k] == (unsigned char)(rank + i), "round %d: byte %d of this rank's memory is %d", i, k, own[k]);
        CALL(p2p_free(all));
        CALL(p2p_release(world, own));
    }
    return 0;
}

Test(hosts, what_goes_with_a_line_is_passed_on_before_its_memory_goes)
{
    for (int count = 2; count <= 3; count++) {
        set_hosts(count);
        ASSERT_RIGHT(job_sizes((int[]){3, 4}, 2, true, false, freed_at_once, NULL));
        ASSERT_RIGHT(job_sizes((int[]){4, 6}, 2, true, false, memory_of_another_size, NULL));
    }
}

/* Barriers of a host need no agreement of all. */
static int sums_by_the_plain_name(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 100003 };
    static int64_t buf[ELEMENTS];
    int rank = p2p_rank(world), n = p2p_size(world);

    (void)arg;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < ELEMENTS; i++) buf[i] = value(rank, i + (size_t)round);
        CALL(coll_all_reduce(world, buf, ELEMENTS, DTYPE_I64, OP_SUM));
        for (size_t i = 0; i < ELEMENTS; i++) {
            int64_t expected = (int64_t)n * (n + 1) / 2 * (int64_t)((i + (size_t)round) % 1000 + 1);
            CHECK(buf[i] == expected, "round %d: element %zu is %lld, not %lld", round, i, (long long)buf[i],
                  (long long)expected);
        }
    }
    return 0;
}

Test(hosts, long_buffers_are_reduced_without_agreement)
{
    setenv("PAIRWISE_CHECK", "0", 1);
    for (int count = 1; count <= 3; count++) {
        set_hosts(count);
        ASSERT_RIGHT(job_sizes((int[]){4, 5}, 2, true, false, sums_by_the_plain_name, NULL));
    }
    unsetenv("PAIRWISE_CHECK");
}

/* ---- One trace, one file of numbers ---- */

static int to_the_next(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), out = rank, in;

    (void)arg;
    for (int i = 0; i < 10; i++)
        CALL(p2p_sendrecv(world, &out, sizeof out, (rank + 1) % size, 0, &in, sizeof in, (rank + size - 1) % size, 0,
                          P2P_STATUS_IGNORE));
    return 0;
}

Test(hosts, a_trace_has_all_hosts)
{
    job_result result;
    replay_trace trace;
    char why[400];
    size_t bytes;

    set_hosts(3);
    char *text = traced_run(6, NULL, to_the_next, NULL, &result, &bytes);
    cr_assert_not_null(text, "%s", result.process.err);
    cr_assert(replay_read_text(text, bytes, "the trace", &trace, why, sizeof why), "%s", why);
    cr_expect_eq(trace.ranks, 6);
    cr_expect_eq(trace.message_count, 60);
    for (size_t i = 0; i < trace.message_count; i++)
        cr_expect(trace.messages[i].received >= trace.messages[i].sent, "message %zu from %d to %d", i,
                  trace.messages[i].from, trace.messages[i].to);
    replay_free(&trace);
    free(text);
    job_free(&result);
}

Test(hosts, metrics_have_all_hosts)
{
    job_result result;
    size_t bytes;
    char path[200];

    set_hosts(3);
    traced_name(path, sizeof path);
    job_run(6, &(p2p_options){.metrics = path}, to_the_next, NULL, &result);
    char *text = traced_read(path, &bytes);
    unlink(path);
    cr_assert_not_null(text, "%s", result.process.err);
    cr_assert_null(exposition_wrong(text, bytes), "%s", exposition_wrong(text, bytes));
    cr_expect_eq(exposition_sum(text, "pairwise_sent_bytes_total"), 6 * 10 * sizeof(int));
    cr_expect_eq(exposition_sum(text, "pairwise_received_bytes_total"), 6 * 10 * sizeof(int));
    cr_expect_eq(exposition_value(text, "pairwise_calls_total{rank=\"5\",operation=\"p2p_sendrecv\"}"), 10);
    free(text);
    job_free(&result);
}

/* ---- Long messages ---- */

static unsigned char byte_of(int rank, size_t message, size_t i)
{
    return (unsigned char)((size_t)rank * 31 + message * 17 + i * 7 + (i >> 8) * 3);
}

static const size_t long_sizes[] = {1, 4096, 65537, 131071, 262144, 1000003, 3u << 20};

/* All at once, to the rank opposite, out of ordinary memory or of p2p_alloc's, and not from its beginning. */
static int long_messages(p2p_comm *world, bool shared)
{
    enum { MANY = COUNT(long_sizes), ROOM = (3 << 20) + 100 };
    int rank = p2p_rank(world), peer = p2p_size(world) - 1 - rank;
    p2p_request requests[2 * MANY];
    unsigned char *in[MANY], *out[MANY];

    for (size_t m = 0; m < MANY; m++) {
        void *memory[2] = {shared ? NULL : malloc(ROOM), shared ? NULL : malloc(ROOM)};
        for (int k = 0; shared && k < 2; k++) CALL(p2p_alloc(world, ROOM, &memory[k]));
        out[m] = (unsigned char *)memory[0] + 13 * m;
        in[m] = (unsigned char *)memory[1] + 7 * m;
        memset(in[m] - 7 * m, 0xee, ROOM);
        for (size_t i = 0; i < long_sizes[m]; i++) out[m][i] = byte_of(rank, m, i);
        CALL(p2p_irecv(world, in[m], long_sizes[m], peer, (int)m, &requests[m]));
    }
    for (size_t m = 0; m < MANY; m++) CALL(p2p_isend(world, out[m], long_sizes[m], peer, (int)m, &requests[MANY + m]));
    CALL(p2p_wait_all(COUNT(requests), requests, P2P_STATUSES_IGNORE));
    for (size_t m = 0; m < MANY; m++) {
        for (size_t i = 0; i < long_sizes[m]; i++)
            CHECK(in[m][i] == byte_of(peer, m, i), "message %zu: byte %zu is %d", m, i, in[m][i]);
        CHECK(in[m][long_sizes[m]] == 0xee && (!m || *(in[m] - 1) == 0xee), "message %zu: bytes beside it changed", m);
        for (int k = 0; k < 2; k++) {
            unsigned char *memory = k ? in[m] - 7 * m : out[m] - 13 * m;
            if (shared)
                CALL(p2p_release(world, memory));
            else
                free(memory);
        }
    }
    return 0;
}

static int long_messages_of_both(p2p_comm *world, void *arg)
{
    (void)arg;
    STEP(long_messages(world, false));
    return long_messages(world, true);
}

Test(hosts, long_messages)
{
    static const char *const settings[][2] = {
        {"PAIRWISE_DIRECT", "16K"}, {"PAIRWISE_DIRECT", "0"}, {"PAIRWISE_CRC", "1"}};

    set_hosts(2);
    for (size_t i = 0; i < COUNT(settings); i++) {
        setenv(settings[i][0], settings[i][1], 1);
        ASSERT_RIGHT(job_sizes((int[]){2, 4}, 2, true, true, long_messages_of_both, NULL));
        unsetenv(settings[i][0]);
    }
}

/* The receive is posted after the sender has taken its buffer away. */
static int takes_its_buffer_away(p2p_comm *world, void *arg)
{
    enum { BYTES = 1 << 20 };
    static char in[BYTES];
    char go = 1;

    (void)arg;
    if (p2p_rank(world) == 1) {
        CALL(p2p_recv(world, &go, 1, 0, 1, P2P_STATUS_IGNORE));
        CALL(p2p_recv(world, in, BYTES, 0, 0, P2P_STATUS_IGNORE));
        return 0;
    }
    p2p_request request;
    void *out = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CALL(p2p_isend(world, out, BYTES, 1, 0, &request));
    mprotect(out, BYTES, PROT_NONE); /* unmapped, it would make room for a link */
    CALL(p2p_send(world, &go, 1, 1, 1));
    CALL(p2p_wait(&request, P2P_STATUS_IGNORE));
    munmap(out, BYTES);
    return 0;
}

Test(hosts, a_buffer_that_is_gone_is_named)
{
    job_result result;

    set_hosts(2);
    job_run(2, &(p2p_options){.world = "shm"}, takes_its_buffer_away, NULL, &result);
    cr_expect_eq(result.exit_status, 1, "exit status %d", result.exit_status);
    ASSERT_CONTAINS(result.process.err, "the message of rank 0 cannot be reached in its memory");
    cr_expect_eq(result.process.left_behind, 0);
    job_free(&result);
}

/* ---- Settings ---- */

/* The report is host 0's; what it needs of ranks is kept on every host. */
Test(hosts, all_note_what_a_report_needs)
{
    char why[400];

    for (int own = 0; own < 2; own++) {
        p2p_cluster cluster = {.own = own, .count = 2};
        p2p_plan plan = {.size = 2, .hosts = &cluster, .relay = -1, .report_to = -1, .options.report = "/tmp/report"};
        cr_assert_eq(p2p__plan_settings(&plan, why, sizeof why), P2P_OK, "%s", why);
        cr_expect(plan.config.reports, "not on host %d", own);
        cr_expect_eq(plan.options.report != NULL, own == 0, "host %d", own);
    }
}

/* A carrier between two launchers that are asked one after the other: what host 0 has sent is what host 1 receives. */
static char *sent_by_host_0;

static bool exchange(const void *own, void *all, size_t bytes, double seconds, char *why, size_t why_bytes)
{
    (void)seconds, (void)why, (void)why_bytes;
    if (!sent_by_host_0) {
        sent_by_host_0 = malloc(bytes);
        memcpy(sent_by_host_0, own, bytes);
    }
    memcpy(all, sent_by_host_0, bytes);
    memcpy((char *)all + bytes, own, bytes);
    return true;
}

/* What host 1 says of its difference from host 0; "": there is none. */
static void compare_settings(const p2p_options *const options[2], const char *const variables[2], char *why,
                             size_t why_bytes)
{
    static const p2p_carrier carrier = {.exchange = exchange};
    host_greeting greetings[2] = {{.name = "a"}, {.name = "b"}};

    why[0] = 0;
    for (int own = 0; own < 2; own++) {
        p2p_cluster cluster = {.carrier = &carrier, .own = own, .count = 2, .greetings = greetings};
        p2p_plan plan = {.size = 2, .hosts = &cluster, .relay = -1, .report_to = -1, .options = *options[own]};
        char *variable = variables[own] ? strdup(variables[own]) : NULL,
             *value = variable ? strchr(variable, '=') : NULL;
        if (value) {
            *value = 0;
            setenv(variable, value + 1, 1);
        }
        cr_assert_eq(p2p__plan_settings(&plan, why, why_bytes), P2P_OK, "%s", why);
        cr_expect_eq(p2p__hosts_agree(&cluster, &plan, why, why_bytes), own == 0 || !why[0]);
        if (variable) unsetenv(variable);
        free(variable);
    }
    free(sent_by_host_0);
    sent_by_host_0 = NULL;
}

#define NONE             \
    &(const p2p_options) \
    {                    \
        .repair = 0      \
    }
#define WITH(...)        \
    &(const p2p_options) \
    {                    \
        __VA_ARGS__      \
    }

Test(hosts, settings_that_differ_are_named)
{
    const struct {
        const p2p_options *options[2];
        const char *variables[2], *said;
    } cases[] = {
        {{NONE, NONE}, {NULL, NULL}, ""},
        {{WITH(.world = "shm"), NONE}, {NULL, "PAIRWISE_WORLD=shm"}, ""},
        {{WITH(.network = "10GbE"), WITH(.network = "latency=20us,bandwidth=1.25G")}, {NULL, NULL}, ""},
        {{WITH(.explain = true), NONE}, {NULL, NULL}, "host 0 (a) has --explain, host 1 (b) has not"},
        {{NONE, WITH(.explain = true)}, {NULL, NULL}, "host 1 (b) has --explain, host 0 (a) has not"},
        {{WITH(.repair = 3), NONE}, {NULL, NULL}, "host 0 (a) has --repair 3, host 1 (b) has not"},
        {{WITH(.network = "10GbE"), WITH(.network = "1GbE")},
         {NULL, NULL},
         "host 1 (b) has --network 1GbE, host 0 (a) has --network 10GbE"},
        {{WITH(.timeout_s = 2.5), WITH(.timeout_s = 3)},
         {NULL, NULL},
         "host 1 (b) has --timeout 3, host 0 (a) has --timeout 2.5"},
        {{WITH(.ordered_output = true), NONE}, {NULL, NULL}, "host 0 (a) has --ordered, host 1 (b) has not"},
        {{WITH(.tag_output = true), NONE}, {NULL, NULL}, "host 0 (a) has --tag, host 1 (b) has not"},
        {{WITH(.report = "/tmp/report"), NONE}, {NULL, NULL}, "host 0 (a) has --report, host 1 (b) has not"},
        {{WITH(.trace = "/tmp/trace"), NONE}, {NULL, NULL}, "host 0 (a) has --trace, host 1 (b) has not"},
        {{WITH(.metrics = "/tmp/metrics"), NONE}, {NULL, NULL}, "host 0 (a) has --metrics, host 1 (b) has not"},
        {{WITH(.record = "/tmp/record"), NONE}, {NULL, NULL}, "host 0 (a) has --record, host 1 (b) has not"},
        {{WITH(.strict = true), NONE},
         {NULL, "PAIRWISE_STRICT=0"},
         "1 (b) has PAIRWISE_STRICT=0, host 0 (a) has --strict"},
        {{NONE, NONE}, {"PAIRWISE_EAGER=1K", NULL}, "host 0 (a) has PAIRWISE_EAGER=1K, host 1 (b) has not"},
        {{NONE, NONE}, {"PAIRWISE_HOST_TIMEOUT=5", NULL}, "host 0 (a) has PAIRWISE_HOST_TIMEOUT=5, host 1 (b) has not"},
        {{NONE, NONE}, {"PAIRWISE_POLLING=5", NULL}, "host 0 (a) has PAIRWISE_POLLING=5, host 1 (b) has not"},
        {{NONE, NONE}, {"PAIRWISE_WAIT=spin", NULL}, "host 0 (a) has PAIRWISE_WAIT=spin, host 1 (b) has not"},
        {{NONE, NONE}, {"PAIRWISE_TIMEOUT=9", NULL}, "host 0 (a) has PAIRWISE_TIMEOUT=9, host 1 (b) has not"},
        {{NONE, NONE}, {NULL, "PAIRWISE_MPI_LEAKS=warn"}, "host 1 (b) has PAIRWISE_MPI_LEAKS=warn, host 0 (a) has not"},
        {{NONE, NONE}, {"PAIRWISE_CHECK=0", NULL}, "host 0 (a) has PAIRWISE_CHECK=0, host 1 (b) has not"}};
    char why[1000];

    unsetenv("PAIRWISE_WORLD");
    for (size_t i = 0; i < COUNT(cases); i++) {
        compare_settings(cases[i].options, cases[i].variables, why, sizeof why);
        cr_expect(cases[i].said[0] ? strstr(why, cases[i].said) && strstr(why, "mpirun -x NAME") : !why[0],
                  "case %zu: %s", i, why);
    }
}

/* ---- Which launchers are one of several ---- */

Test(hosts, one_task_is_a_job_of_its_own)
{
    static const char *const alone[] = {"PMIX_RANK=0 SLURM_STEP_NUM_TASKS=1", "SLURM_STEP_NUM_TASKS=1", "PMI_SIZE=1"};
    process_result result;
    char line[200];

    for (size_t i = 0; i < COUNT(alone); i++) {
        snprintf(line, sizeof line, "%s $L -n 2 $T/../examples/hello", alone[i]);
        shell_run(line, NULL, &result);
        ASSERT_STATUS(result, 0);
        ASSERT_CONTAINS(result.out, "hello from rank 1 of 2");
        process_free(&result);
    }
}

/* A program that is there on one host only. */
Test(hosts, a_program_that_cannot_be_started_has_its_host)
{
    process_result result;

    /* the script is there when it is looked for, and what should run it is not */
    shell_run("printf '#!/dev/null/none\\n' >$T/no_shell; chmod +x $T/no_shell\n"
              "PAIRWISE_HOSTS=2 $L -n 2 $T/no_shell; status=$?; rm $T/no_shell; exit $status",
              NULL, &result);
    ASSERT_STATUS(result, 127);
    ASSERT_CONTAINS(result.err, "host ");
    ASSERT_CONTAINS(result.err, "): cannot start ");
    process_free(&result);
}

/* ---- Failures ---- */

static int last_one_exits(p2p_comm *world, void *arg)
{
    int last = p2p_size(world) - 1, number;

    (void)arg;
    if (p2p_rank(world) == last) exit(3);
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_PEER_DEAD, p2p_recv(world, &number, sizeof number, last, 0, P2P_STATUS_IGNORE));
    return 0;
}

static int waits_for_the_other(p2p_comm *world, void *arg)
{
    int number;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    p2p_recv(world, &number, sizeof number, 1 - p2p_rank(world), 0, P2P_STATUS_IGNORE);
    fprintf(stderr, "told: %s\n", p2p_error_message(world));
    return 1;
}

static int never_ends(p2p_comm *world, void *arg)
{
    (void)world, (void)arg;
    while (pause() < 0) continue;
    return 0;
}

static int broadcasts_differ(p2p_comm *world, void *arg)
{
    int number = 0;

    (void)arg;
    CALL(coll_broadcast(world, &number, 1, DTYPE_I32, p2p_rank(world)));
    return 0;
}

static int one_exits(p2p_comm *world, void *arg)
{
    int number;

    (void)arg;
    if (p2p_rank(world) == 1) _exit(3);
    CALL(p2p_recv(world, &number, sizeof number, 1, 0, P2P_STATUS_IGNORE));
    return 0;
}

static int one_aborts(p2p_comm *world, void *arg)
{
    (void)arg;
    if (p2p_rank(world) == 1) p2p_abort(world, 3);
    return one_exits(world, NULL);
}

/* Each rank of a diagnosis is said to be on its host; names are equal here, so the host's number is said too. */
Test(hosts, a_diagnosis_names_hosts)
{
    static const struct {
        int (*body)(p2p_comm *world, void *arg);
        double timeout_s;
        const char *said[3];
    } cases[] = {
        {waits_for_the_other,
         0,
         {"\n  rank 0 on host 0 (%s) waits in p2p_recv(source 1, tag 0) at ",
          "\n  rank 1 on host 1 (%s) waits in p2p_recv(", "told: rank 1: p2p_recv(source 0, tag 0) at "}},
        {broadcasts_differ,
         0,
         {"mismatch: coll_broadcast #1: rank 0 on host 0 (%s) has root 0", ", rank 1 on host 1 (%s) has root 1"}},
        {one_exits, 0, {"rank 1 on host 1 (%s) exited with status 3"}},
        {one_aborts, 0, {"rank 1 on host 1 (%s) ended the job with status 3"}},
        {never_ends, 0.2, {"\n  rank 0 on host 0 (%s), ", "\n  rank 1 on host 1 (%s), "}},
    };
    char name[64] = "", said[400];

    gethostname(name, sizeof name - 1);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        p2p_options options = {.timeout_s = cases[i / 2].timeout_s};
        job_result result;
        set_hosts(i % 2 ? 1 : 2);
        job_run(2, &options, cases[i / 2].body, NULL, &result);
        for (int k = 0; k < 3 && cases[i / 2].said[k] && i % 2 == 0; k++) {
            snprintf(said, sizeof said, cases[i / 2].said[k], name);
            ASSERT_CONTAINS(result.process.err, said);
        }
        if (i % 2) ASSERT_LACKS(result.process.err, " on host ");
        job_free(&result);
    }
}

Test(hosts, a_report_has_hosts)
{
    process_result result;

    shell_run("PAIRWISE_HOSTS=2 $L -n 3 --report $T/hosts.json $T/wrong/cycle_of_three; cat $T/hosts.json\n"
              "$L -n 3 --report $T/hosts.json $T/wrong/cycle_of_three; grep -c host $T/hosts.json; rm $T/hosts.json",
              NULL, &result);
    ASSERT_CONTAINS(result.out, "{\"rank\":0,\"host\":0,\"host_name\":\"");
    ASSERT_CONTAINS(result.out, "{\"rank\":1,\"host\":0,\"host_name\":\"");
    ASSERT_CONTAINS(result.out, "{\"rank\":2,\"host\":1,\"host_name\":\"");
    ASSERT_CONTAINS(result.out, "\n0\n"); /* not on one host */
    process_free(&result);
}

Test(hosts, a_death_is_known_on_all_hosts)
{
    job_result result;

    set_hosts(3);
    job_run(6, NULL, last_one_exits, NULL, &result);
    cr_expect_eq(result.exit_status, 3, "exit status %d", result.exit_status);
    cr_expect_str_empty(result.note, "%s", result.note);
    ASSERT_CONTAINS(result.process.err, "rank 5 on host 2 (");
    ASSERT_CONTAINS(result.process.err, ") exited with status 3");
    cr_expect_eq(result.process.left_behind, 0);
    job_free(&result);
}

/* The launcher of host 1 is the child of that of host 0 that has a child. */
Test(hosts, a_launcher_that_is_killed_is_named)
{
    process_result result;

    shell_run(CHILDREN "out=$(mktemp); PAIRWISE_HOSTS=2 $L -n 2 $T/right/actor busy >$out & launcher=$!\n"
                       "until grep -q ready $out && [ $other ]; do\n"
                       "    for child in $(children $launcher); do [ \"$(children $child)\" ] && other=$child; done\n"
                       "    sleep 0.01\n"
                       "done\n"
                       "kill -9 $other; rm $out*; wait $launcher",
              NULL, &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.err, "the launcher of host 1 (");
    ASSERT_CONTAINS(result.err, ") has ended; rank 1 was there");
    process_free(&result);
}
