/* SPDX-License-Identifier: MIT */
/* The test of exercise 17: the library's algorithms run on a virtual network, and the learner's numbers stand beside. */
#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"
#include "tests/exercises/expected.h"

#pragma weak my_naive_cost
#pragma weak my_tree_cost
#pragma weak my_ring_cost
#pragma weak my_break_even

/* ---- Both sides ---- */

/* Two networks, so that nobody's formulas know one by heart. */
static const struct network {
    const char *text;
    double latency, bandwidth;
} networks[] = {{"latency=20us,bandwidth=1.25G" EXPECTED_REDUCE, 20e-6, 1.25e9},
                {"latency=2us,bandwidth=12.5G" EXPECTED_REDUCE, 2e-6, 12.5e9}};

static const struct network *network_of(const check_case *c)
{
    return strcmp(c->network, networks[0].text) == 0 ? &networks[0] : &networks[1];
}

enum algorithm { NAIVE, TREE, RING, BREAK_EVEN };

static const char *const names[] = {
    [NAIVE] = "my_naive_cost", [TREE] = "my_tree_cost", [RING] = "my_ring_cost", [BREAK_EVEN] = "my_break_even"};

static const char *const beside[] = {[NAIVE] = "beside coll_naive_all_reduce",
                                     [TREE] = "beside coll_tree_all_reduce",
                                     [RING] = "beside ring_all_reduce",
                                     [BREAK_EVEN] = "beside coll_tree_all_reduce and ring_all_reduce"};

static void add(check_plan *plan, size_t count, enum algorithm algorithm)
{
    check_add(plan, (check_case){.count = count,
                                 .dtype = DTYPE_F32,
                                 .variant = (int)algorithm,
                                 .call = names[algorithm],
                                 .what = beside[algorithm],
                                 .shows = algorithm == BREAK_EVEN ? 0 : CHECK_SHOW_COUNT});
}

static void add_world(check_plan *plan, int ranks, const char *network)
{
    size_t n = (size_t)ranks;
    check_world(plan, ranks, false, network);
    for (int a = NAIVE; a <= RING; a++) {
        add(plan, 4000 * n, (enum algorithm)a);
        add(plan, n, (enum algorithm)a);
    }
    add(plan, 0, BREAK_EVEN);
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {8, 4, 2, 3, 5, 16};
    for (int i = 0; i < 6; i++) add_world(plan, ranks[i], networks[0].text);
    add_world(plan, 8, networks[1].text);
}

/* The truth, which the network confirms: from that many bytes on the ring is quicker than the tree. */
static double true_break_even(const check_case *c)
{
    const struct network *net = network_of(c);
    double tree = 2 * expected_log2_up(c->ranks), ring = 2 * (c->ranks - 1);
    if (ring <= tree) return 0;
    return (ring - tree) * net->latency / ((tree - ring / c->ranks) / net->bandwidth);
}

/* ---- In a rank ---- */

static p2p_err measured(p2p_comm *comm, const check_case *c)
{
    void *buf = check_buffer(c, p2p_rank(comm), c->count, c->dtype);
    switch (c->variant) {
    case NAIVE: return coll_naive_all_reduce(comm, buf, c->count, c->dtype, OP_SUM);
    case TREE: return coll_tree_all_reduce(comm, buf, c->count, c->dtype, OP_SUM);
    default: return ring_all_reduce(comm, buf, c->count, c->dtype, OP_SUM);
    }
}

static void predict(const check_case *c)
{
    double bytes = (double)(c->count * dtype_size(c->dtype));
    my_cost (*function)(int ranks, double bytes, double latency, double bandwidth) = c->variant == NAIVE ? my_naive_cost
                                                                                     : c->variant == TREE
                                                                                         ? my_tree_cost
                                                                                         : my_ring_cost;
    my_cost cost = function(c->ranks, bytes, network_of(c)->latency, network_of(c)->bandwidth);
    if (cost.messages < 0 || cost.bytes < 0 || cost.seconds < 0) check_returned(c, P2P_ERR_TODO);
    check_number(c, "my messages", cost.messages);
    check_number(c, "my bytes", cost.bytes);
    check_number(c, "my seconds", cost.seconds);
}

/* How long the tree and the ring take for that many bytes, rounded to whole chunks. */
static double time_of(p2p_comm *comm, const check_case *c, double bytes, bool ring)
{
    size_t count = ((size_t)bytes / 4 + (size_t)c->ranks - 1) / (size_t)c->ranks * (size_t)c->ranks;
    void *buf = check_buffer(c, p2p_rank(comm), count, DTYPE_F32);
    double start = p2p_time(comm);
    if (ring)
        ring_all_reduce(comm, buf, count, DTYPE_F32, OP_SUM);
    else
        coll_tree_all_reduce(comm, buf, count, DTYPE_F32, OP_SUM);
    return p2p_time(comm) - start;
}

static void compare_at(p2p_comm *comm, const check_case *c, double bytes, const char *tree, const char *ring)
{
    coll_barrier(comm);
    check_number(c, tree, time_of(comm, c, bytes, false));
    coll_barrier(comm);
    check_number(c, ring, time_of(comm, c, bytes, true));
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant != BREAK_EVEN) {
        predict(c);
        measured(comm, c);
        return;
    }
    double mine = my_break_even(c->ranks, network_of(c)->latency, network_of(c)->bandwidth), size = true_break_even(c);
    if (mine < 0) check_returned(c, P2P_ERR_TODO);
    check_number(c, "mine", mine);
    compare_at(comm, c, 0.8 * size, "tree below", "ring below");
    compare_at(comm, c, 1.25 * size, "tree above", "ring above");
}

/* ---- In learn ---- */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-3 * fabs(b);
}

static const char *const rank_0_sends[] = {
    [NAIVE] = "Rank 0 receives from all others, which costs it no message of its own, and sends to all others",
    [TREE] = "Rank 0 sends nothing on the way up, and one message in each round on the way down",
    [RING] = "Each rank sends one message in each step, and there are n-1 steps in each half"};

static bool messages(const check_case *c, double real)
{
    double mine = check_number_of(c, 0, "my messages");
    if (near(mine, real)) return true;
    return check_fail(c, "messages",
                      "%s says that the busiest of %d ranks sends %.6g messages; on the network it sent %.6g. %s.",
                      names[c->variant], c->ranks, mine, real, rank_0_sends[c->variant]);
}

static bool bytes(const check_case *c, double real)
{
    double mine = check_number_of(c, 0, "my bytes"), buffer = (double)(c->count * dtype_size(c->dtype));
    if (near(mine, real)) return true;
    return check_fail(c, "bytes",
                      "%s says that the busiest of %d ranks sends %.0f bytes, %.4g times the buffer; on the network it "
                      "sent %.6g, %.4g times the buffer. %s",
                      names[c->variant], c->ranks, mine, mine / buffer, real, real / buffer,
                      c->variant == RING ? "A step sends one chunk, bytes / n." : "Each message is the whole buffer.");
}

/* What a wrong time reminds of. */
static const char *remark(const check_case *c, double mine, double real)
{
    const struct network *net = network_of(c);
    double length = (double)(c->count * dtype_size(c->dtype)), ranks = c->ranks;
    double waits = 2 * (c->variant == TREE ? expected_log2_up(c->ranks) : ranks - 1); /* messages one after the other */
    if (near(mine, real / 2)) return "That is half: there and back again is twice the way.";
    if (near(mine, real * 2))
        return "That is twice as much: does a rank send and receive one after the other? It does both at once.";
    if (near(mine, real - waits * net->latency))
        return "That is the bytes without the latency: each message that waits for another one costs it again.";
    if (c->variant == RING && near(mine, waits * (net->latency + length / net->bandwidth)))
        return "That is the time of whole buffers; a step sends one chunk, bytes / n.";
    if (c->variant == TREE && c->ranks & (c->ranks - 1)) return "How many rounds has a tree if n is no power of two?";
    return "Count the messages that have to wait for each other, each of them latency + its bytes / bandwidth.";
}

static bool seconds(const check_case *c)
{
    double mine = check_number_of(c, 0, "my seconds"), real = expected_seconds(c);
    if (near(mine, real)) return true;
    return check_fail(
        c, "seconds",
        "%s says %.6g us for %d ranks and %zu bytes; on the network it took %.6g us, so yours is %.3g times that. %s",
        names[c->variant], mine * 1e6, c->ranks, c->count * dtype_size(c->dtype), real * 1e6, mine / real,
        remark(c, mine, real));
}

static double slowest(const check_case *c, const char *name)
{
    double most = 0;
    for (int rank = 0; rank < c->ranks; rank++) most = fmax(most, check_number_of(c, rank, name));
    return most * 1e6;
}

static void judge_break_even(const check_case *c)
{
    double mine = check_number_of(c, 0, "mine"), real = true_break_even(c);
    if (real > 0 ? near(mine, real) : mine == 0) return;
    if (real == 0)
        check_fail(c, "break_even",
                   "my_break_even says that with %d ranks the ring is quicker from %.0f bytes on; it always is: it has "
                   "no more messages one after the other than the tree, and they are shorter.",
                   c->ranks, mine);
    else
        check_fail(
            c, "break_even",
            "my_break_even says that with %d ranks the ring is quicker from %.0f bytes on. The network says: at %.0f "
            "bytes the tree takes %.1f us and the ring %.1f; at %.0f bytes the tree %.1f and the ring %.1f.",
            c->ranks, mine, 0.8 * real, slowest(c, "tree below"), slowest(c, "ring below"), 1.25 * real,
            slowest(c, "tree above"), slowest(c, "ring above"));
}

static void judge(const check_case *c)
{
    double most_messages = 0, most_bytes = 0;
    if (c->variant == BREAK_EVEN) {
        judge_break_even(c);
        return;
    }
    for (int rank = 0; rank < c->ranks; rank++) {
        most_messages = fmax(most_messages, (double)check_sent(c, rank).messages_sent);
        most_bytes = fmax(most_bytes, (double)check_sent(c, rank).bytes_sent);
    }
    if (messages(c, most_messages) && bytes(c, most_bytes)) seconds(c);
}

static const char *const files[] = {"predict.c", NULL};

const check_exercise check_17_predict = {.name = "17_predict",
                                         .idea = "what naive, tree and ring cost, on paper, before they are measured",
                                         .call = "your formulas, beside the library's algorithms",
                                         .files = files,
                                         .library = CHECK_LIBRARY_ALL,
                                         .cases = cases,
                                         .run = run,
                                         .judge = judge};
