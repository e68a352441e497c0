/* SPDX-License-Identifier: MIT */
// worlds: last; hosts
/*
 * contracts: what each algorithm sends, by p2p_stats, held to the formulas of docs/collectives.md: messages, bytes and
 * partners of every rank, for 1 to 16 ranks, any root, awkward counts. Each formula says what rank r sends to rank q;
 * what is received is the same formula read backwards.
 */
#include <stdlib.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "ring/ring.h"
#include "tests/util/algorithms.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { MOST = 16, ROOM = 1 << 20 };

static unsigned char out[ROOM], in[ROOM];

/* One call: its sizes; S is the bytes of `count` elements. */
typedef struct {
    int n, root;
    size_t count, S;
    p2p_comm *comm;
} call;

typedef struct {
    uint64_t messages, bytes;
} traffic;

static const traffic nothing = {0, 0};

static size_t chunk_bytes(const call *c, int chunk)
{
    size_t first, length;

    ring_chunk(c->count, c->n, (chunk + c->n) % c->n, &first, &length);
    return length * sizeof(float);
}

static bool is_right_of(const call *c, int q, int r)
{
    return c->n > 1 && q == (r + 1) % c->n;
}

static traffic add(traffic a, traffic b)
{
    return (traffic){a.messages + b.messages, a.bytes + b.bytes};
}

/* ---- The formulas: what r sends to q ---- */

static traffic from_root(const call *c, int r, int q)
{
    return r == c->root && q != r ? (traffic){1, c->S} : nothing;
}

static traffic to_root(const call *c, int r, int q)
{
    return from_root(c, q, r);
}

static traffic hub(const call *c, int r, int q)
{
    return add(from_root(c, r, q), to_root(c, r, q));
}

/* The parent of a rank is its number, counted from the root, without the lowest 1. */
static traffic down_the_tree(const call *c, int r, int q)
{
    int above = (r - c->root + c->n) % c->n, below = (q - c->root + c->n) % c->n;

    return below > 0 && above == (below & (below - 1)) ? (traffic){1, c->S} : nothing;
}

static traffic up_the_tree(const call *c, int r, int q)
{
    return down_the_tree(c, q, r);
}

static traffic tree_both_ways(const call *c, int r, int q)
{
    return add(up_the_tree(c, r, q), down_the_tree(c, r, q));
}

/* Number among those that double; -1 for the even ones of the pairs that fold. */
static int doubling_number(int rank, int extra)
{
    if (rank >= 2 * extra) return rank - extra;
    return rank % 2 ? rank / 2 : -1;
}

static traffic doubling(const call *c, int r, int q)
{
    int power = 1;

    while (power * 2 <= c->n) power *= 2;
    int extra = c->n - power, a = doubling_number(r, extra), b = doubling_number(q, extra);
    bool pair = r / 2 == q / 2 && r != q && r < 2 * extra && q < 2 * extra;
    bool differ_in_one_bit = a >= 0 && b >= 0 && a != b && ((a ^ b) & ((a ^ b) - 1)) == 0;
    return pair || differ_in_one_bit ? (traffic){1, c->S} : nothing;
}

/* The tree within each host, by place there; the first ranks of hosts double. */
static traffic between_leaders(const call *c, int r, int q)
{
    int host[2] = {p2p_host(c->comm, r), p2p_host(c->comm, q)}, place[2] = {0, 0}, here = 0;
    call part = *c;

    for (int i = 0; i < c->n; i++) {
        here += p2p_host(c->comm, i) == host[0];
        place[0] += i < r && p2p_host(c->comm, i) == host[0];
        place[1] += i < q && p2p_host(c->comm, i) == host[1];
    }
    part.root = 0;
    part.n = host[0] == host[1] && here ? here : p2p_hosts(c->comm);
    if (host[0] == host[1]) return tree_both_ways(&part, place[0], place[1]);
    return place[0] || place[1] ? nothing : doubling(&part, host[0], host[1]);
}

/* All chunks but one's own in the first half; all but the right-hand neighbour's in the second. */
static traffic first_half(const call *c, int r, int q)
{
    return is_right_of(c, q, r) ? (traffic){(uint64_t)c->n - 1, c->S - chunk_bytes(c, r)} : nothing;
}

static traffic second_half(const call *c, int r, int q)
{
    return is_right_of(c, q, r) ? (traffic){(uint64_t)c->n - 1, c->S - chunk_bytes(c, q)} : nothing;
}

static traffic ring(const call *c, int r, int q)
{
    return add(first_half(c, r, q), second_half(c, r, q));
}

static traffic blocks_to_the_right(const call *c, int r, int q)
{
    uint64_t steps = (uint64_t)c->n - 1;

    return is_right_of(c, q, r) ? (traffic){steps, steps * c->S} : nothing;
}

static traffic block_to_everyone(const call *c, int r, int q)
{
    return r == q ? nothing : (traffic){1, c->S};
}

static traffic empty_to_powers_of_two(const call *c, int r, int q)
{
    int distance = (q - r + c->n) % c->n;

    return distance && !(distance & (distance - 1)) ? (traffic){1, 0} : nothing;
}

/* ---- Where ranks share memory ---- */

static bool shared, has_inline; /* the second: also by hosts, up to P2P_LAYER_INLINE_MOST bytes */

static traffic barrier_messages(const call *c, int r, int q)
{
    return has_inline ? nothing : empty_to_powers_of_two(c, r, q);
}

static bool one_shot_can(const call *c)
{
    return shared || (has_inline && c->S <= P2P_LAYER_INLINE_MOST);
}

/* Else naive. */
static traffic all_to_everyone(const call *c, int r, int q)
{
    if (!one_shot_can(c)) return hub(c, r, q);
    return c->S ? block_to_everyone(c, r, q) : nothing;
}

static traffic all_to_root(const call *c, int r, int q)
{
    return c->S || !one_shot_can(c) ? to_root(c, r, q) : nothing;
}

static traffic slices_both_ways(const call *c, int r, int q)
{
    if (!shared) return hub(c, r, q);
    return c->S && r != q ? (traffic){2, chunk_bytes(c, r) + chunk_bytes(c, q)} : nothing;
}

/* ---- The calls ---- */

#define AS_FLOATS(c) (c)->count, DTYPE_F32
#define RUNS(name, call_)              \
    static p2p_err name(const call *c) \
    {                                  \
        return call_;                  \
    }

RUNS(naive_broadcast, coll_naive_broadcast(c->comm, out, AS_FLOATS(c), c->root))
RUNS(naive_reduce, coll_naive_reduce(c->comm, out, AS_FLOATS(c), OP_SUM, c->root))
RUNS(naive_all_reduce, coll_naive_all_reduce(c->comm, out, AS_FLOATS(c), OP_SUM))
RUNS(tree_broadcast, coll_tree_broadcast(c->comm, out, AS_FLOATS(c), c->root))
RUNS(tree_reduce, coll_tree_reduce(c->comm, out, AS_FLOATS(c), OP_MAX, c->root))
RUNS(tree_all_reduce, coll_tree_all_reduce(c->comm, out, AS_FLOATS(c), OP_SUM))
RUNS(doubling_all_reduce, coll_recursive_doubling_all_reduce(c->comm, out, AS_FLOATS(c), OP_SUM))
RUNS(leaders, coll_leaders_all_reduce(c->comm, out, AS_FLOATS(c), OP_SUM))
RUNS(whole_ring, ring_all_reduce(c->comm, out, AS_FLOATS(c), OP_MEAN))
RUNS(gathering_ring, ring_all_gather(c->comm, out, AS_FLOATS(c)))
RUNS(scatter, coll_scatter(c->comm, out, in, AS_FLOATS(c), c->root))
RUNS(gather, coll_gather(c->comm, out, in, AS_FLOATS(c), c->root))
RUNS(all_gather, coll_all_gather(c->comm, out, in, AS_FLOATS(c)))
RUNS(reduce_scatter, coll_reduce_scatter(c->comm, out, in, AS_FLOATS(c), OP_SUM))
RUNS(all_to_all, coll_all_to_all(c->comm, out, in, AS_FLOATS(c)))
RUNS(barrier, coll_barrier(c->comm))
RUNS(one_shot_reduce,
     one_shot_can(c) ? coll_one_shot_reduce(c->comm, out, AS_FLOATS(c), OP_SUM, c->root) : naive_reduce(c))
RUNS(flat, one_shot_can(c) ? coll_one_shot_all_reduce(c->comm, out, AS_FLOATS(c), OP_SUM) : naive_all_reduce(c))
RUNS(direct, shared ? coll_two_shot_all_reduce(c->comm, out, AS_FLOATS(c), OP_SUM) : naive_all_reduce(c))

static p2p_err reducing_ring(const call *c)
{
    size_t first, length;

    return ring_reduce_scatter(c->comm, out, AS_FLOATS(c), OP_SUM, &first, &length);
}

static p2p_err later_ring(const call *c)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_err err = ring_iall_reduce(c->comm, out, AS_FLOATS(c), OP_SUM, &request);

    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

typedef struct {
    const char *name;
    p2p_err (*run)(const call *c);
    traffic (*sends)(const call *c, int r, int q);
    bool rooted; /* otherwise the root is 0: that of naive and tree all-reduce */
} contract;

static const contract contracts[] = {
    {"coll_barrier", barrier, barrier_messages, false},
    {"coll_naive_broadcast", naive_broadcast, from_root, true},
    {"coll_naive_reduce", naive_reduce, to_root, true},
    {"coll_naive_all_reduce", naive_all_reduce, hub, false},
    {"coll_tree_broadcast", tree_broadcast, down_the_tree, true},
    {"coll_tree_reduce", tree_reduce, up_the_tree, true},
    {"coll_tree_all_reduce", tree_all_reduce, tree_both_ways, false},
    {"coll_recursive_doubling_all_reduce", doubling_all_reduce, doubling, false},
    {"coll_leaders_all_reduce", leaders, between_leaders, false},
    {"coll_one_shot_reduce", one_shot_reduce, all_to_root, true},
    {"coll_one_shot_all_reduce", flat, all_to_everyone, false},
    {"coll_two_shot_all_reduce", direct, slices_both_ways, false},
    {"ring_all_reduce", whole_ring, ring, false},
    {"ring_iall_reduce", later_ring, ring, false},
    {"ring_reduce_scatter", reducing_ring, first_half, false},
    {"ring_all_gather", gathering_ring, second_half, false},
    {"coll_scatter", scatter, from_root, true},
    {"coll_gather", gather, to_root, true},
    {"coll_all_gather", all_gather, blocks_to_the_right, false},
    {"coll_reduce_scatter", reduce_scatter, blocks_to_the_right, false},
    {"coll_all_to_all", all_to_all, block_to_everyone, false},
};

/* ---- Held to them ---- */

static int compare(const contract *k, const call *c, int q, const char *what, traffic got, traffic want)
{
    CHECK(got.messages == want.messages && got.bytes == want.bytes,
          "%s, %d ranks, root %d, count %zu: %llu messages, %llu bytes %s rank %d; the contract says %llu, %llu",
          k->name, c->n, c->root, c->count, (unsigned long long)got.messages, (unsigned long long)got.bytes, what, q,
          (unsigned long long)want.messages, (unsigned long long)want.bytes);
    return 0;
}

static int check_contract(const contract *k, call *c)
{
    p2p_traffic before[MOST], after[MOST];
    int rank = p2p_rank(c->comm);
    shared = p2p_layer_has_shared_memory(c->comm);
    has_inline = p2p_layer_has_inline(c->comm);

    CALL(p2p_stats(c->comm, before));
    p2p_err err = k->run(c);
    CHECK(err == P2P_OK, "%s, %d ranks, count %zu: %s", k->name, c->n, c->count, p2p_strerror(err));
    CALL(p2p_stats(c->comm, after));
    for (int q = 0; q < c->n; q++) {
        traffic sent = {after[q].messages_sent - before[q].messages_sent, after[q].bytes_sent - before[q].bytes_sent};
        traffic received = {after[q].messages_received - before[q].messages_received,
                            after[q].bytes_received - before[q].bytes_received};
        STEP(compare(k, c, q, "to", sent, k->sends(c, rank, q)));
        STEP(compare(k, c, q, "from", received, k->sends(c, q, rank)));
    }
    return 0;
}

static int every_contract(p2p_comm *world, void *arg)
{
    int n = p2p_size(world);
    size_t counts[] = {0, 1, (size_t)n - 1, (size_t)n, (size_t)n + 1, 17, 1000};

    (void)arg;
    for (size_t k = 0; k < COUNT(contracts); k++)
        for (size_t i = 0; i < COUNT(counts); i++)
            for (int root = 0; root < (contracts[k].rooted ? n : 1); root++) {
                call c = {.n = n, .root = root, .count = counts[i], .S = counts[i] * sizeof(float), .comm = world};
                STEP(check_contract(&contracts[k], &c));
            }
    return 0;
}

Test(contracts, one_to_sixteen_ranks)
{
    for (int n = 1; n <= MOST; n = job_next_size(n)) ASSERT_RIGHT(job_right(n, n % 5 == 4, every_contract, NULL));
}

/* Long buffers, which are worked on in place, and the plain names, which choose one of the above. */
static int long_buffers(p2p_comm *world, void *arg)
{
    int n = p2p_size(world);

    (void)arg;
    for (size_t k = 0; k < COUNT(contracts); k++) {
        call c = {
            .n = n, .root = contracts[k].rooted ? n - 1 : 0, .count = 30001, .S = 30001 * sizeof(float), .comm = world};
        STEP(check_contract(&contracts[k], &c));
    }
    return 0;
}

Test(contracts, long_buffers)
{
    static const int sizes[] = {2, 3, 4, 7, 8};

    ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, true, long_buffers, NULL));
}
