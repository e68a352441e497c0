/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * network: virtual time is the same in every run, follows the formulas, and is what the network was said to be.
 *
 * The formulas, from the model in p2p/shared/network.h. S bytes on n ranks; c = latency + S / bandwidth is a message of
 * all bytes, C = latency + S/n / bandwidth one of a chunk; g = S / reduce combines all bytes, G = S/n / reduce a chunk.
 *
 *      naive      All ranks send to rank 0 at time 0; its port takes the messages one behind the other, until c, 2c,
 *                 ..., (n-1) c. It combines one while the next is coming in. If g <= c, the port never waits and only
 *                 the last combining shows: (n-1) c + g. If g > c, the messages are there before they are wanted:
 *                 c + (n-1) g. Then n - 1 messages leave its port one behind the other, the last ends (n-1) c later:
 *                      max((n-1) c + g, c + (n-1) g) + (n-1) c
 *      tree       n = 2^k: in each of k rounds up, all ranks still there have the same clock: a message, combining.
 *                 Down, k messages, as the farthest child hears first:   k (c + g) + k c
 *      doubling   In each round both sides send and receive at once: c + g. n = 2^k + extra: extra ranks fold before,
 *                 c + g, and unfold after, c:   k (c + g), and 2 c + g more if n is no power of two
 *      ring       All ranks have the same clock in every step: n - 1 times C + G, then n - 1 times C:
 *                      2 (n-1) C + (n-1) G
 *
 * With H hosts of R ranks: c, C as before between hosts; i = 0.5 us + S / 10 GB/s within one.
 *
 *      one rank each  the ports of a host are those of its rank: all of the above
 *      two at once    two ranks of a host send to two of another at time 0: c and 2c, the second waits for the first
 *      naive          n - R messages come into the hub's host one behind the other, longer than the others take, and leave so;
 *                     R - 1 within the host are sent before:   (n-R) c + g + (R-1) i + (n-R) c
 *      ring           one rank of each host sends to the next host, and sets the pace:   2 (n-1) C + (n-1) G
 *      hierarchical   D = R (latency + S/RH / bandwidth): a step of the R rings. To the owners of slices and back is within
 *                     the host, slices of S/R one after the other:   less than 2 (R-1) (I + G) beside   2 (H-1) D + (H-1) G
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "ring/ring.h"
#include "tests/util/pattern.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MOST_RANKS = 16, MOST = 1 << 20 /* bytes */ };

static unsigned char buffer[MOST], other[MOST];

/* ---- One program on one network ---- */

/* What a program is told, and when each rank was done, on its virtual clock. */
typedef struct {
    int which;
    size_t bytes;
    double took[MOST_RANKS];
} timed;

/* Seconds until the last rank was done; fails the test if anything was wrong. */
static double run_on(const char *network, int n, job_main program, timed *t)
{
    p2p_options options = {.network = network};
    job_result result;
    double last = 0;

    memset(t->took, 0, sizeof t->took);
    job_run(n, &options, program, t, &result);
    cr_assert(result.err == P2P_OK && !result.note[0], "%s, %d ranks: %s\n%.2000s", network, n, result.note,
              result.process.err);
    job_free(&result);
    for (int rank = 0; rank < n; rank++) last = t->took[rank] > last ? t->took[rank] : last;
    return last;
}

/* A network's numbers; its name, or how to ask for it. */
typedef struct {
    const char *text;
    double latency, bandwidth, reduce;
} numbers;

static double message(const numbers *net, double bytes)
{
    return net->latency + bytes / net->bandwidth;
}

static void expect_time(double got, double want, const char *what, const char *network, int n, size_t bytes)
{
    cr_expect(got >= want * 0.99 && got <= want * 1.01,
              "%s, %s, %d ranks, %zu bytes: %.9g s, the formula says %.9g s (%+.2f%%)", what, network, n, bytes, got,
              want, 100 * (got / want - 1));
}

/* ---- A message takes latency + S / bandwidth ---- */

static int ping_pong(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world), last = p2p_size(world) - 1;
    double start = p2p_time(world);

    if (rank == 0) CALL(p2p_send(world, buffer, t->bytes, last, 0));
    if (rank == last) CALL(p2p_recv(world, other, t->bytes, 0, 0, P2P_STATUS_IGNORE));
    if (rank == last) CALL(p2p_send(world, other, t->bytes, 0, 0));
    if (rank == 0) CALL(p2p_recv(world, other, t->bytes, last, 0, P2P_STATUS_IGNORE));
    t->took[rank] = p2p_time(world) - start;
    return 0;
}

static const numbers profiles[] = {
    {"shm", 0.5e-6, 10e9, 10e9},
    {"1GbE", 50e-6, 0.125e9, 10e9},
    {"10GbE", 20e-6, 1.25e9, 10e9},
    {"100GbE", 2e-6, 12.5e9, 10e9},
    {"slow-link", 20e-6, 1.25e9, 10e9},
    {"straggler", 20e-6, 1.25e9, 10e9},
    {"latency=2us,bandwidth=12G", 2e-6, 12e9, 10e9},
    {"latency=1ms,bandwidth=100K,reduce=1M", 1e-3, 100e3, 1e6},
    {"1GbE,latency=5us", 5e-6, 0.125e9, 10e9},
    {"latency=0s,bandwidth=1e9", 0, 1e9, 10e9},
};

Test(virtual_time, of_a_message)
{
    static const size_t sizes[] = {0, 8, 65536, 65537, MOST};
    timed *t = job_shared(sizeof *t);

    for (size_t i = 0; i < COUNT(profiles); i++)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            t->bytes = sizes[s];
            double got = run_on(profiles[i].text, 3, ping_pong, t); /* ranks 0 and 2: not the slow link */
            double want = 2 * message(&profiles[i], (double)sizes[s]);
            cr_expect(got > want - 2e-12 && got < want + 2e-12, "%s, %zu bytes: %.12f s, not %.12f s", profiles[i].text,
                      sizes[s], got, want);
        }
}

/* Neither computing nor sleeping passes it, and without a network it is the machine's. */
static int real_time_passes(p2p_comm *world, void *arg)
{
    timed *t = arg;
    struct timespec pause = {0, 3000000};
    double start = p2p_time(world);

    nanosleep(&pause, NULL);
    t->took[p2p_rank(world)] = p2p_time(world) - start;
    return 0;
}

Test(virtual_time, is_not_the_machines)
{
    timed *t = job_shared(sizeof *t);

    cr_expect(run_on("10GbE", 2, real_time_passes, t) == 0, "virtual time passed: %g s", t->took[0]);
    cr_expect(run_on(NULL, 2, real_time_passes, t) >= 0.003, "without a network: %g s", t->took[0]);
}

/* ---- One message at a time through a port ---- */

static int fan(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world), n = p2p_size(world);

    for (int q = 1; q < n && t->which == 0; q++) {
        if (rank == 0) CALL(p2p_recv(world, other, t->bytes, q, 0, P2P_STATUS_IGNORE));
        if (rank == q) CALL(p2p_send(world, buffer, t->bytes, 0, 0));
    }
    for (int q = 1; q < n && t->which == 1; q++) {
        if (rank == 0) CALL(p2p_send(world, buffer, t->bytes, q, 0));
        if (rank == q) CALL(p2p_recv(world, other, t->bytes, 0, 0, P2P_STATUS_IGNORE));
    }
    int right = (rank + 1) % n, left = (rank + n - 1) % n;
    if (t->which == 2)
        CALL(p2p_sendrecv(world, buffer, t->bytes, right, 0, other, t->bytes, left, 0, P2P_STATUS_IGNORE));
    t->took[rank] = p2p_time(world);
    return 0;
}

Test(virtual_time, ports_carry_one_message_at_a_time)
{
    static const char *const names[] = {"all to one", "one to all", "all to the right"};
    timed *t = job_shared(sizeof *t);

    t->bytes = MOST;
    for (t->which = 0; t->which < 3; t->which++)
        for (int n = 2; n <= 8; n += 3) {
            double want = message(&profiles[2], MOST) * (t->which == 2 ? 1 : n - 1);
            expect_time(run_on("10GbE", n, fan, t), want, names[t->which], "10GbE", n, MOST);
        }
}

/* ---- All-reduce: within 1% of the formulas ---- */

static double naive_formula(const numbers *net, int n, double bytes)
{
    double c = message(net, bytes), g = bytes / net->reduce;
    double port_bound = (n - 1) * c + g, combining_bound = c + (n - 1) * g;

    return (port_bound > combining_bound ? port_bound : combining_bound) + (n - 1) * c;
}

static int log2_below(int n)
{
    int k = 0;

    while (2 << k <= n) k++;
    return k;
}

static double tree_formula(const numbers *net, int n, double bytes)
{
    return log2_below(n) * (2 * message(net, bytes) + bytes / net->reduce);
}

static double doubling_formula(const numbers *net, int n, double bytes)
{
    double c = message(net, bytes), g = bytes / net->reduce;
    int k = log2_below(n);

    return k * (c + g) + (1 << k < n ? 2 * c + g : 0);
}

static double ring_formula(const numbers *net, int n, double bytes)
{
    return 2 * (n - 1) * message(net, bytes / n) + (n - 1) * bytes / n / net->reduce;
}

static p2p_err begun_ring(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_err err = ring_iall_reduce(comm, buf, count, dtype, op, &request);

    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

static const struct algorithm {
    const char *name;
    p2p_err (*run)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);
    double (*formula)(const numbers *net, int n, double bytes);
    bool powers_of_two; /* the formula holds for no other n */
} algorithms[] = {
    {"naive", coll_naive_all_reduce, naive_formula, false},
    {"ring", ring_all_reduce, ring_formula, false},
    {"begun ring", begun_ring, ring_formula, false},
    {"tree", coll_tree_all_reduce, tree_formula, true},
    {"doubling", coll_recursive_doubling_all_reduce, doubling_formula, false},
    {"hierarchical", coll_hierarchical_all_reduce, ring_formula, false}, /* with a rank on each host */
    {"leaders", coll_leaders_all_reduce, doubling_formula, false},       /* the same */
};

static int one_all_reduce(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int n = p2p_size(world);
    int32_t *values = (int32_t *)(void *)buffer;
    size_t count = t->bytes / sizeof *values;

    for (size_t i = 0; i < count; i++) values[i] = p2p_rank(world) + (int)i;
    CALL(algorithms[t->which].run(world, values, count, DTYPE_I32, OP_SUM));
    t->took[p2p_rank(world)] = p2p_time(world);
    for (size_t i = 0; i < count; i++) CHECK(values[i] == n * (n - 1) / 2 + n * (int)i, "element %zu is wrong", i);
    return 0;
}

static void expect_formula(size_t which, const numbers *net)
{
    static const size_t sizes[] = {1024, MOST};
    const struct algorithm *a = &algorithms[which];
    timed *t = job_shared(sizeof *t);

    t->which = (int)which;
    for (int n = 2; n <= MOST_RANKS; n = a->powers_of_two ? 2 * n : job_next_size(n))
        for (size_t s = 0; s < COUNT(sizes); s++) {
            t->bytes = sizes[s];
            expect_time(run_on(net->text, n, one_all_reduce, t), a->formula(net, n, (double)sizes[s]), a->name,
                        net->text, n, sizes[s]);
        }
}

static const numbers ethernet = {"10GbE", 20e-6, 1.25e9, 10e9};
static const numbers slow_to_combine = {"latency=1us,bandwidth=12G,reduce=2G", 1e-6, 12e9, 2e9}; /* g > c */

Test(formulas, naive)
{
    expect_formula(0, &ethernet);
    expect_formula(0, &slow_to_combine);
}

Test(formulas, ring)
{
    expect_formula(1, &ethernet);
    expect_formula(1, &slow_to_combine);
}

Test(formulas, ring_iall_reduce_alone)
{
    expect_formula(2, &ethernet);
    expect_formula(2, &slow_to_combine);
}

Test(formulas, tree)
{
    expect_formula(3, &ethernet);
    expect_formula(3, &slow_to_combine);
}

Test(formulas, doubling)
{
    expect_formula(4, &ethernet);
    expect_formula(4, &slow_to_combine);
}

/* What it is all for: on a network, the ring beats the hub by n/2 and more for long buffers, and not for short ones. */
Test(formulas, ring_against_naive)
{
    timed *t = job_shared(sizeof *t);
    double factor[2];

    for (int i = 0; i < 2; i++) {
        t->bytes = i ? MOST : 8;
        t->which = 0;
        factor[i] = run_on("10GbE", 8, one_all_reduce, t);
        t->which = 1;
        factor[i] /= run_on("10GbE", 8, one_all_reduce, t);
    }
    cr_expect(factor[0] < 1.1, "8 bytes: the ring is %.2f times as fast", factor[0]);
    cr_expect(factor[1] > 4, "1 MiB: the ring is %.2f times as fast", factor[1]);
}

/* ---- Hosts ---- */

static double inside(double bytes)
{
    return 0.5e-6 + bytes / 10e9;
}

static char *hosts_text(char text[32], int hosts)
{
    snprintf(text, 32, "10GbE,hosts=%d", hosts);
    return text;
}

Test(hosts, one_rank_each_is_as_without)
{
    timed *t = job_shared(sizeof *t);
    char text[32];

    t->bytes = MOST;
    for (size_t a = 0; a < COUNT(algorithms); a++)
        for (int n = 2; n <= 8; n *= 2) {
            t->which = (int)a;
            expect_time(run_on(hosts_text(text, n), n, one_all_reduce, t), algorithms[a].formula(&ethernet, n, MOST),
                        algorithms[a].name, text, n, MOST);
        }
}

Test(hosts, within_one_it_is_shared_memory)
{
    timed *t = job_shared(sizeof *t);

    t->bytes = MOST;
    expect_time(run_on("10GbE,hosts=1", 2, ping_pong, t), 2 * message(&ethernet, MOST), "ping-pong", "hosts=1", 2,
                MOST);
    expect_time(run_on("10GbE,hosts=2", 2, ping_pong, t), 2 * message(&ethernet, MOST), "ping-pong", "hosts=2", 2,
                MOST);
    expect_time(run_on("10GbE,hosts=2:1", 3, ping_pong, t), 2 * message(&ethernet, MOST), "between", "hosts=2:1", 3,
                MOST);
    t->which = 0;
    double two = 2 * inside(MOST) + MOST / ethernet.reduce;
    expect_time(run_on("shm", 2, one_all_reduce, t), two, "naive", "shm", 2, MOST);
}

/* Ranks 0 to 3 send at once: 0 and 1 from one host, 2 and 3 within the other one. */
static int two_at_once(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world);

    if (rank < 2) CALL(p2p_send(world, buffer, t->bytes, rank + 2, 0));
    if (rank >= 2) CALL(p2p_recv(world, other, t->bytes, rank - 2, 0, P2P_STATUS_IGNORE));
    t->took[rank] = p2p_time(world);
    return 0;
}

Test(hosts, two_ranks_share_a_port)
{
    timed *t = job_shared(sizeof *t);
    double c = message(&ethernet, MOST);

    t->bytes = MOST;
    run_on("10GbE,hosts=2", 4, two_at_once, t);
    for (int rank = 0; rank < 4; rank++)
        expect_time(t->took[rank], rank % 2 ? 2 * c : c, "one port", "hosts=2", rank, MOST);
    run_on("10GbE,hosts=1:1:2", 4, two_at_once, t); /* two out, one in: the senders need not wait */
    for (int rank = 0; rank < 4; rank++)
        expect_time(t->took[rank], rank == 3 ? 2 * c : c, "one port in", "hosts=1:1:2", rank, MOST);
    run_on("10GbE,hosts=2:1:1", 4, two_at_once, t);
    for (int rank = 0; rank < 4; rank++)
        expect_time(t->took[rank], rank % 2 ? 2 * c : c, "one port out", "hosts=2:1:1", rank, MOST);
}

Test(hosts, naive)
{
    timed *t = job_shared(sizeof *t);
    double c = message(&ethernet, MOST), g = MOST / ethernet.reduce;
    char text[32];

    t->bytes = MOST;
    t->which = 0;
    for (int hosts = 2; hosts <= 8; hosts *= 2)
        for (int each = 2; each * hosts <= MOST_RANKS; each++) {
            int far = each * (hosts - 1);
            double want = 2 * far * c + g + (each - 1) * inside(MOST);
            expect_time(run_on(hosts_text(text, hosts), hosts * each, one_all_reduce, t), want, "naive", text,
                        hosts * each, MOST);
        }
}

Test(hosts, ring)
{
    timed *t = job_shared(sizeof *t);
    char text[32];

    t->bytes = MOST;
    t->which = 1;
    for (int hosts = 2; hosts <= 8; hosts *= 2)
        for (int each = 2; each * hosts <= MOST_RANKS; each++)
            expect_time(run_on(hosts_text(text, hosts), hosts * each, one_all_reduce, t),
                        ring_formula(&ethernet, hosts * each, MOST), "ring", text, hosts * each, MOST);
    expect_time(run_on("10GbE,hosts=1:2:5", 8, one_all_reduce, t), ring_formula(&ethernet, 8, MOST), "ring",
                "hosts=1:2:5", 8, MOST);
}

Test(hosts, hierarchical)
{
    timed *t = job_shared(sizeof *t);
    char text[32];

    t->bytes = MOST;
    t->which = 5;
    for (int hosts = 2; hosts <= 8; hosts *= 2)
        for (int each = 1; each * hosts <= MOST_RANKS; each++) {
            double slice = (double)MOST / each, part = slice / hosts;
            double step = each * message(&ethernet, part), across = 2 * (hosts - 1) * step + (hosts - 1) * part / 10e9;
            double got = run_on(hosts_text(text, hosts), hosts * each, one_all_reduce, t);
            double beside = 2 * (each - 1) * (inside(slice) + slice / 10e9);
            cr_expect(got >= 0.99 * across && got <= 1.01 * (across + beside),
                      "%s, %d ranks: %.9g s; across hosts the formula says %.9g s, within at most %.9g s", text,
                      hosts * each, got, across, beside);
        }
}

/* However many ranks are on each host, between hosts it is what it is with one. */
Test(hosts, leaders)
{
    timed *t = job_shared(sizeof *t);
    char text[32];

    t->bytes = MOST;
    t->which = 6;
    for (int hosts = 2; hosts <= 8; hosts++)
        for (int each = 1; each * hosts <= MOST_RANKS; each++) {
            double across = doubling_formula(&ethernet, hosts, MOST), rounds = 0;
            for (int here = 1; here < each; here *= 2) rounds++;
            double got = run_on(hosts_text(text, hosts), hosts * each, one_all_reduce, t);
            double beside = rounds * (2 * inside(MOST) + MOST / 10e9);
            cr_expect(got >= 0.99 * across && got <= 1.01 * (across + beside),
                      "%s, %d ranks: %.9g s; between hosts the formula says %.9g s, within at most %.9g s", text,
                      hosts * each, got, across, beside);
        }
}

/* Whose clock runs ahead does not get a port before a rank that asks earlier, though its process comes first. */
static int late_process(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world);
    struct timespec work = {0, 100000000};

    if (rank == 0) nanosleep(&work, NULL);
    if (rank == 1) p2p_layer_compute(world, 10000); /* 1 us */
    return two_at_once(world, t);
}

Test(hosts, the_port_is_for_the_clock_that_is_behind)
{
    timed *t = job_shared(sizeof *t);
    double c = message(&ethernet, MOST);

    t->bytes = MOST;
    run_on("10GbE,hosts=2", 4, late_process, t);
    for (int rank = 0; rank < 4; rank++)
        expect_time(t->took[rank], rank % 2 ? 2 * c : c, "rank 0 asks first", "hosts=2", rank, MOST);
}

static int tell_hosts(p2p_comm *world, void *arg)
{
    int *host = arg, n = p2p_size(world), rank = p2p_rank(world);
    p2p_comm *odd;

    if (rank == 0) host[P2P_MAX_RANKS] = p2p_hosts(world);
    for (int i = 0; rank == n - 1 && i < n; i++) host[i] = p2p_host(world, i);
    CALL(p2p_split(world, rank % 2, -rank, &odd));
    CHECK(p2p_host(odd, 0) == 0 && p2p_host(odd, p2p_size(odd)) == -1, "in a group hosts are numbered anew");
    CALL(p2p_free(odd));
    return 0;
}

Test(hosts, who_lives_where)
{
    static const struct {
        const char *network;
        int ranks, hosts;
        const char *where;
    } cases[] = {{"10GbE,hosts=4", 16, 4, "0000111122223333"},
                 {"hosts=4", 6, 4, "001123"},
                 {"1GbE,hosts=4:2:2:8", 16, 4, "0000112233333333"},
                 {"10GbE,hosts=1", 3, 1, "000"},
                 {"10GbE,hosts=3", 3, 3, "012"},
                 {"10GbE", 3, 1, "000"}};
    int *host = job_shared((P2P_MAX_RANKS + 1) * sizeof *host);

    for (size_t i = 0; i < COUNT(cases); i++) {
        p2p_options options = {.network = cases[i].network};
        job_result result;
        job_run(cases[i].ranks, &options, tell_hosts, host, &result);
        cr_expect(result.err == P2P_OK, "%s: %s %.2000s", cases[i].network, result.note, result.process.err);
        cr_expect(host[P2P_MAX_RANKS] == cases[i].hosts, "%s: %d hosts", cases[i].network, host[P2P_MAX_RANKS]);
        for (int rank = 0; rank < cases[i].ranks; rank++)
            cr_expect(host[rank] == cases[i].where[rank] - '0', "%s: rank %d is on %d", cases[i].network, rank,
                      host[rank]);
        job_free(&result);
    }
}

/* ---- A slow link and a straggler ---- */

/* p2p/shared/network.h: their messages take so many times as long, both ways; combining on that rank does. */
Test(faults, slow_link)
{
    static const char slow[] = "10GbE,slow=0-1:10";
    timed *t = job_shared(sizeof *t);
    double c = message(&ethernet, MOST), g = MOST / ethernet.reduce;

    t->bytes = MOST;
    expect_time(run_on(slow, 2, ping_pong, t), 20 * c, "ping-pong over it", slow, 2, MOST);
    expect_time(run_on("10GbE,slow=1-0:10", 2, ping_pong, t), 20 * c, "ping-pong, named backwards", "slow=1-0:10", 2,
                MOST);
    expect_time(run_on("slow-link", 2, ping_pong, t), 20 * c, "ping-pong over the profile's", "slow-link", 2, MOST);
    expect_time(run_on(slow, 3, ping_pong, t), 2 * c, "ping-pong beside it", slow, 3, MOST);
    t->which = 0; /* once each way, 9 c more */
    expect_time(run_on(slow, 4, one_all_reduce, t), 6 * c + g + 18 * c, "naive", slow, 4, MOST);
    t->which = 1; /* every step goes over it */
    double ring = run_on(slow, 4, one_all_reduce, t), want = 6 * 10 * message(&ethernet, MOST / 4.0);
    cr_expect(ring > want && ring < 1.1 * want, "ring over a slow link: %.9g s, its messages take %.9g s", ring, want);
}

Test(faults, straggler)
{
    timed *t = job_shared(sizeof *t);
    double c = message(&ethernet, MOST), g = MOST / ethernet.reduce;

    t->bytes = MOST;
    t->which = 0; /* the hub combines 20 times as slowly: 20 g > c */
    expect_time(run_on("10GbE,straggler=0:20", 4, one_all_reduce, t), c + 3 * 20 * g + 3 * c, "naive", "straggler=0:20",
                4, MOST);
    expect_time(run_on("straggler", 4, one_all_reduce, t), c + 3 * 20 * g + 3 * c, "naive", "straggler", 4, MOST);
    expect_time(run_on("10GbE,straggler=2:20", 4, one_all_reduce, t), 6 * c + g, "naive, not the hub", "straggler=2:20",
                4, MOST);
    t->which = 1; /* its 3 chunks are 20 times as slow, and all ranks wait */
    double ring = run_on("10GbE,straggler=2:20", 4, one_all_reduce, t), even = ring_formula(&ethernet, 4, MOST);
    cr_expect(ring > even + 2 * 19 * g / 4 && ring < even + 3 * 20 * g / 4, "ring: %.9g s, without a straggler %.9g s",
              ring, even);
    expect_time(run_on("10GbE,straggler=2:20", 4, ping_pong, t), 2 * c, "ping-pong", "straggler=2:20", 4, MOST);
}

/* ---- Several in flight: on a virtual network the non-blocking collectives follow one another ---- */

static int two_in_flight(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world), n = p2p_size(world);
    int32_t *first = (int32_t *)(void *)buffer, *second = (int32_t *)(void *)other;
    size_t count = t->bytes / sizeof *first;
    p2p_request requests[2];

    for (size_t i = 0; i < count; i++) first[i] = rank, second[i] = 10 * rank;
    CALL(ring_iall_reduce(world, first, count, DTYPE_I32, OP_SUM, &requests[0]));
    CALL(ring_iall_reduce(world, second, count, DTYPE_I32, OP_SUM, &requests[1]));
    CALL(p2p_wait(&requests[rank % 2], P2P_STATUS_IGNORE));
    CALL(p2p_wait(&requests[1 - rank % 2], P2P_STATUS_IGNORE));
    t->took[rank] = p2p_time(world);
    for (size_t i = 0; i < count; i++)
        CHECK(first[i] == n * (n - 1) / 2 && second[i] == 10 * first[i], "element %zu is wrong", i);
    return 0;
}

/* The second's first message may leave while the first is under way: a chunk's message less than twice the time. */
Test(overlap, two_in_flight_follow_one_another)
{
    timed *t = job_shared(sizeof *t);

    t->bytes = MOST;
    for (int n = 2; n <= 8; n += 2) {
        double one = ring_formula(&ethernet, n, MOST), chunk = message(&ethernet, (double)MOST / n);
        double got = run_on("10GbE", n, two_in_flight, t);
        cr_expect(got >= 0.999 * (2 * one - chunk) && got <= 1.001 * 2 * one,
                  "%d ranks: %.9g s, one alone takes %.9g s", n, got, one);
        for (int run = 0; run < 10; run++)
            cr_expect(run_on("10GbE", n, two_in_flight, t) == got, "%d ranks: another time in run %d", n, run);
    }
}

/* A rank that waits for the second waits for all that the first needs: a rank that computes meanwhile is no
 * deadlock. */
static int second_while_one_computes(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world), first = rank, second = rank;
    struct timespec work = {1, 0};
    p2p_request requests[2];

    CALL(coll_barrier(world)); /* links are open: what is begun leaves at once */
    CALL(ring_iall_reduce(world, &first, 1, DTYPE_I32, OP_SUM, &requests[0]));
    CALL(ring_iall_reduce(world, &second, 1, DTYPE_I32, OP_SUM, &requests[1]));
    if (rank == 0) nanosleep(&work, NULL);
    CALL(p2p_wait(&requests[1], P2P_STATUS_IGNORE));
    CALL(p2p_wait(&requests[0], P2P_STATUS_IGNORE));
    t->took[rank] = p2p_time(world);
    return 0;
}

Test(overlap, a_rank_that_computes_meanwhile_is_no_deadlock)
{
    timed *t = job_shared(sizeof *t);

    for (int n = 2; n <= 4; n += 2) run_on("10GbE", n, second_while_one_computes, t);
}

/* ---- The same program takes the same virtual time in every run, loaded or not ---- */

static int everything(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world), n = p2p_size(world), right = (rank + 1) % n, left = (rank + n - 1) % n;
    int32_t *values = (int32_t *)(void *)buffer;
    p2p_request requests[4];
    p2p_comm *half;

    for (size_t a = 0; a < COUNT(algorithms); a++)
        CALL(algorithms[a].run(world, values, (size_t)1000 << a, DTYPE_I32, OP_MAX));
    CALL(ring_iall_reduce(world, values, 5000, DTYPE_I32, OP_MAX, &requests[0]));
    CALL(p2p_irecv(world, other, 70000, left, 1, &requests[1]));
    CALL(p2p_isend(world, other + 70000, 100 * (size_t)rank, right, 1, &requests[2]));
    CALL(ring_iall_reduce(world, values + 5000, 10, DTYPE_I32, OP_MAX, &requests[3]));
    CALL(coll_barrier(world));
    CALL(p2p_wait_all(4, requests, P2P_STATUSES_IGNORE));
    CALL(p2p_split(world, rank % 2, 0, &half));
    CALL(coll_broadcast(half, values, 20000, DTYPE_I32, 0));
    CALL(coll_all_to_all(world, buffer, other, 1000, DTYPE_U8));
    CALL(coll_reduce_scatter(half, buffer, other, 500, DTYPE_I32, OP_MIN));
    CALL(p2p_free(half));
    t->took[rank] = p2p_time(world);
    return 0;
}

static pid_t start_load(void)
{
    pid_t pid = fork();

    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(60);
    for (volatile unsigned long busy = 0;; busy++) continue;
}

static void stop_load(pid_t pid)
{
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static int one_after_the_other(p2p_comm *world, void *arg)
{
    timed *t = arg;
    int rank = p2p_rank(world), n = p2p_size(world), right = (rank + 1) % n, left = (rank + n - 1) % n;
    int32_t *values = (int32_t *)(void *)buffer;

    for (size_t a = 0; a < COUNT(algorithms); a++)
        CALL(algorithms[a].run(world, values, (size_t)1000 << a, DTYPE_I32, OP_MAX));
    CALL(p2p_sendrecv(world, other, 100 * (size_t)rank, right, 1, other + 1000, 70000, left, 1, P2P_STATUS_IGNORE));
    CALL(coll_all_to_all(world, buffer, other, 1000, DTYPE_U8));
    CALL(coll_broadcast(world, values, 20000, DTYPE_I32, 2));
    t->took[rank] = p2p_time(world);
    return 0;
}

static void same_in_every_run(const char *network, job_main program)
{
    enum { RANKS = 5, LOADS = 4 };
    int runs = job_is_quick() ? 3 : 20;
    timed *t = job_shared(sizeof *t);
    double first[MOST_RANKS] = {0};
    pid_t loads[LOADS] = {0};

    for (int run = 0; run < runs; run++) {
        for (int i = 0; i < LOADS && run == runs / 2; i++) loads[i] = start_load();
        run_on(network, RANKS, program, t);
        for (int rank = 0; rank < RANKS; rank++) {
            if (run == 0) first[rank] = t->took[rank];
            cr_expect(t->took[rank] > 0 && t->took[rank] == first[rank], "run %d%s, rank %d: %.12f s, in run 0 %.12f s",
                      run, run < runs / 2 ? "" : " (loaded)", rank, t->took[rank], first[rank]);
        }
    }
    for (int i = 0; i < LOADS; i++) stop_load(loads[i]);
}

Test(determinism_long, many_runs_with_and_without_load)
{
    same_in_every_run("slow-link,straggler=3:4", everything);
}

Test(determinism, with_hosts)
{
    same_in_every_run("10GbE,hosts=2:1:2", one_after_the_other);
}

/* Neither the size from which sends wait nor the size of the links is part of the model. */
Test(determinism, buffers_do_not_matter)
{
    timed *t = job_shared(sizeof *t);
    double usual = run_on("1GbE", 4, everything, t);

    setenv("PAIRWISE_STRICT", "1", 1);
    cr_expect(run_on("1GbE", 4, everything, t) == usual, "strict: %.12f s, not %.12f s", t->took[0], usual);
    unsetenv("PAIRWISE_STRICT");
    setenv("PAIRWISE_CHECK", "0", 1);
    cr_expect(run_on("1GbE", 4, everything, t) == usual, "without agreement: %.12f s, not %.12f s", t->took[0], usual);
    unsetenv("PAIRWISE_CHECK");
}

/* ---- Asking for a network ---- */

static const char *const nonsense[] = {
    "",
    "nosuch",
    "10gbe ",
    ",",
    "10GbE,",
    "10GbE,,",
    "10GbE,nosuch",
    "latency",
    "latency=",
    "latency=abc",
    "latency=-1us",
    "latency=2 us",
    "latency=nan",
    "latency=inf",
    "bandwidth=",
    "latency=61",
    "latency=3e7",
    "bandwidth=0",
    "bandwidth=-1G",
    "bandwidth=12X",
    "bandwidth=12GB",
    "bandwidth=nan",
    "bandwidth=inf",
    "reduce=0",
    "reduce=",
    "slow=",
    "slow=0",
    "slow=0-1",
    "slow=0-1:",
    "slow=0-1:0",
    "slow=0-1:-3",
    "slow=0-1:x",
    "slow=a-b:3",
    "slow=-1-2:3",
    "slow=1-1:3",
    "slow=0-1024:3",
    "slow=4294967296-1:3",
    "straggler=",
    "straggler=2",
    "straggler=2:",
    "straggler=2:0",
    "straggler=2:nan",
    "straggler=x:2",
    "straggler=-1:2",
    "straggler=4294967296:2",
    "colour=red",
    "hosts",
    "hosts=",
    "hosts=0",
    "hosts=-1",
    "hosts=x",
    "hosts=1025",
    "hosts=1:0:1",
    "hosts=1:",
    "hosts=:1",
    "latency=2us;bandwidth=12G",
};

static int is_run(p2p_comm *world, void *arg)
{
    *(int *)arg = 1;
    return p2p_rank(world) < 0;
}

static void expect_refused(const char *text, bool by_options)
{
    p2p_options options = {.network = by_options ? text : NULL};
    int *ran = job_shared(sizeof *ran);
    job_result result;

    if (!by_options) setenv("PAIRWISE_NETWORK", text, 1);
    job_run(2, &options, is_run, ran, &result);
    unsetenv("PAIRWISE_NETWORK");
    const char *said = result.process.err;
    cr_expect(result.err == P2P_ERR_ARG && !*ran, "\"%s\" %s: %s, ranks %s", text,
              by_options ? "in options" : "in PAIRWISE_NETWORK", p2p_strerror(result.err),
              *ran ? "ran" : "did not run");
    cr_expect(result.err == P2P_OK || (strstr(said, text) && strstr(said, "10GbE") && strstr(said, "slow-link")),
              "\"%s\": neither it nor what is accepted is named in: %s", text, said);
    cr_expect(result.err == P2P_OK || by_options || strstr(said, "PAIRWISE_NETWORK"),
              "\"%s\": no PAIRWISE_NETWORK in: %s", text, said);
    job_free(&result);
}

Test(asking, nonsense_in_options)
{
    for (size_t i = 0; i < COUNT(nonsense); i++) expect_refused(nonsense[i], true);
}

Test(asking, nonsense_in_the_environment)
{
    for (size_t i = 0; i < COUNT(nonsense); i++) expect_refused(nonsense[i], false);
}

Test(asking, nonsense_under_launch)
{
    for (size_t i = 0; i < COUNT(nonsense); i++) {
        char command[300];
        process_result result;
        snprintf(command, sizeof command, "exec $L -n 2 --network '%s' $T/../examples/hello", nonsense[i]);
        shell_run(command, NULL, &result);
        cr_expect(result.status == 2, "--network \"%s\": status %d", nonsense[i], result.status);
        cr_expect(result.status != 2 || (strstr(result.err, nonsense[i]) && strstr(result.err, "10GbE")),
                  "--network \"%s\": neither it nor what is accepted is named in: %s", nonsense[i], result.err);
        process_free(&result);
    }
}

/* Of hosts and ranks that this job does not have. */
Test(asking, hosts_that_are_not_there)
{
    static const struct {
        const char *network, *says;
    } cases[] = {
        {"10GbE,hosts=3", "a network of 3 hosts is not for 2 ranks: each host has one at least\n  try: hosts=2"},
        {"10GbE,hosts=2,hosts=1:1", "hosts= is there twice\n  try: one of them"},
        {"latency=1us,latency=2us", "latency= is there twice"},
        {"hosts=2,10GbE", "a name comes first, and changes to it behind\n  try: 10GbE,..."},
        {"10GbE,1GbE", "a name comes first"},
        {"hosts=1:2", "2 hosts have 3 ranks, and the job has 2"},
        {"10GbE,straggler=2:3", "names a rank that is not there"}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        p2p_options options = {.network = cases[i].network};
        int *ran = job_shared(sizeof *ran);
        job_result result;
        job_run(2, &options, is_run, ran, &result);
        cr_expect(result.err == P2P_ERR_ARG && !*ran, "%s: %s", cases[i].network, p2p_strerror(result.err));
        ASSERT_CONTAINS(result.process.err, cases[i].says);
        job_free(&result);
    }
    setenv("PAIRWISE_HOSTS", "2", 1);
    process_result result;
    shell_run("exec $L -n 2 --network 10GbE,hosts=2 $T/../examples/hello", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "a virtual network with hosts is of one host");
    process_free(&result);
    unsetenv("PAIRWISE_HOSTS");
}

Test(asking, under_launch)
{
    process_result result;

    shell_run(
        "exec $L -n 2 --network latency=2us,bandwidth=12G,reduce=8G,slow=0-1:10,straggler=1:5 $T/../examples/hello",
        NULL, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
    shell_run("exec $L --help", NULL, &result);
    ASSERT_CONTAINS(result.out, "--network");
    ASSERT_CONTAINS(result.out, "100GbE");
    process_free(&result);
}

/* options stand before the environment. */
Test(asking, options_before_the_environment)
{
    timed *t = job_shared(sizeof *t);
    double want = 2 * message(&ethernet, 1000);

    t->bytes = 1000;
    setenv("PAIRWISE_NETWORK", "10GbE", 1);
    expect_time(run_on(NULL, 2, ping_pong, t), want, "PAIRWISE_NETWORK", "10GbE", 2, 1000);
    setenv("PAIRWISE_NETWORK", "1GbE", 1);
    expect_time(run_on("10GbE", 2, ping_pong, t), want, "options against PAIRWISE_NETWORK", "10GbE", 2, 1000);
    unsetenv("PAIRWISE_NETWORK");
}
