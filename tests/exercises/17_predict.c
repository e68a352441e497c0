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

/* Two networks, so that no formulas fit one of them alone. */
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
    if (ranks > 1) add(plan, 0, BREAK_EVEN);
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {8, 4, 2, 3, 5, 16, 1};
    for (int i = 0; i < 7; i++) add_world(plan, ranks[i], networks[0].text);
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
    if (cost.messages == -1 && cost.bytes == -1 && cost.seconds == -1)
        check_returned(c, P2P_ERR_TODO); /* as the stub */
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

/* A length on which the learner's border and the true one disagree, if they are two: what is said there can be measured. */
static double length_between(double mine, double real)
{
    double low = fmax(mine, real / 4), between = sqrt(fmin(low, 4 * real) * real);
    return round(between / 64) * 64;
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
    const struct network *net = network_of(c);
    double mine = my_break_even(c->ranks, net->latency, net->bandwidth), size = true_break_even(c);
    if (mine == -1) check_returned(c, P2P_ERR_TODO);
    check_number(c, "mine", mine);
    double between = length_between(mine, size);
    check_number(c, "between", between);
    check_number(c, "my tree", my_tree_cost(c->ranks, between, net->latency, net->bandwidth).seconds);
    check_number(c, "my ring", my_ring_cost(c->ranks, between, net->latency, net->bandwidth).seconds);
    compare_at(comm, c, between, "tree between", "ring between");
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

/* What a wrong number of messages reminds of. */
static const char *messages_remark(const check_case *c, double mine, double real)
{
    static char text[100];
    if (c->variant == RING && near(mine, 2.0 * c->ranks))
        return " Yours are 2n steps: the last in each half is not needed.";
    if (c->variant == TREE && !near(mine, 2 * real)) {
        snprintf(text, sizeof text, " ceil(log2 %d) is %d: 1 must be doubled so often.", c->ranks,
                 expected_log2_up(c->ranks));
        return text;
    }
    if (near(mine, 2 * real))
        return c->variant == RING ? " Yours are twice as many."
                                  : " Yours are twice as many: those it receives are among them.";
    if (near(2 * mine, real)) return " Yours are half as many: one of the two halves.";
    if (c->variant == NAIVE && near(mine, c->ranks)) return " Yours are n: one to itself.";
    return "";
}

static bool messages(const check_case *c, double real)
{
    double mine = check_number_of(c, 0, "my messages");
    if (near(mine, real)) return true;
    return check_fail(
        c, "messages", "%s says that the busiest of %d ranks sends %.6g messages; on the network it sent %.6g. %s.%s",
        names[c->variant], c->ranks, mine, real, rank_0_sends[c->variant], messages_remark(c, mine, real));
}

static bool bytes(const check_case *c, double real)
{
    double mine = check_number_of(c, 0, "my bytes"), buffer = (double)(c->count * dtype_size(c->dtype));
    if (near(mine, real)) return true;
    return check_fail(c, "bytes",
                      "%s says that the busiest of %d ranks sends %.0f bytes, %.4g times the buffer; on the network it "
                      "sent %.6g, %.4g times the buffer. %s",
                      names[c->variant], c->ranks, mine, mine / buffer, real, real / buffer,
                      c->variant != RING && near(mine, buffer)
                          ? "That is one message, the whole buffer; there are more."
                      : near(2 * mine, real) ? "Yours are half: there are two halves, and each sends as much."
                      : near(mine, 2 * real) ? "Yours are twice as many: received bytes are not sent."
                      : c->variant != RING   ? "Each message is the whole buffer."
                      : near(mine, floor(real / buffer) * buffer)
                          ? "A step sends one chunk, bytes / n. 2 * (n-1) / n in whole numbers is 1: compute in double."
                          : "A step sends one chunk, bytes / n.");
}

static const char *const ways[] = {[NAIVE] = "n-1 come to rank 0, and then n-1 go from it",
                                   [TREE] = "one in each round, on the way up and on the way down",
                                   [RING] = "one in each step, n-1 in each half"};

/* What a wrong time reminds of. */
static const char *remark(const check_case *c, double mine, double real)
{
    static char text[200];
    const struct network *net = network_of(c);
    double length = (double)(c->count * dtype_size(c->dtype)), ranks = c->ranks;
    double waits = 2 * (c->variant == TREE ? expected_log2_up(c->ranks) : ranks - 1); /* messages one after the other */
    double chunk = c->variant == RING ? length / ranks : length;                      /* bytes of one message */
    double one = net->latency + chunk / net->bandwidth;                               /* its time */
    if (near(mine, net->latency + waits * chunk / net->bandwidth))
        return "That has the latency once: each message that waits for another one costs it again.";
    if (near(mine, waits * (net->latency + chunk * net->bandwidth)))
        return "That is bytes times bandwidth; bytes / bandwidth are seconds.";
    if (near(mine, waits * chunk / net->bandwidth + net->latency * 2 * (ranks - 1)) && c->variant == TREE)
        return "That has the latency of as many messages as naive has one after the other.";
    if (c->variant == RING && near(mine, waits * net->latency + length / net->bandwidth))
        return "That has the bytes of one buffer; a rank sends 2(n-1) chunks one after the other, 2(n-1)/n of a "
               "buffer.";
    if (near(mine, real * 1e6) || near(mine, real * 1e3))
        return near(mine, real * 1e6) ? "The result is to be in seconds, not in microseconds."
                                      : "The result is to be in seconds, not in milliseconds.";
    if (c->variant != TREE && near(mine, real * ranks / (ranks - 1)))
        return "That is one message too many each way: with n ranks there are n - 1 others.";
    if (c->variant == TREE && near(mine, real * (waits + 2) / waits)) return "That is one round too many each way.";
    if (c->variant == TREE && near(mine, real * (ranks - 1) * 2 / waits))
        return "That is naive's: in a tree the ranks that have it send side by side, so there are ceil(log2 n) rounds "
               "each way.";
    if (near(mine, real / 2)) return "That is half: there and back again is twice the way.";
    if (near(mine, real * 2))
        return "That is twice as much: does a rank send and receive one after the other? It does both at once.";
    if (near(mine, real - waits * net->latency))
        return "That is the bytes without the latency: each message that waits for another one costs it again.";
    if (c->variant == RING && near(mine, waits * (net->latency + length / net->bandwidth)))
        return "That is the time of whole buffers; a step sends one chunk, bytes / n.";
    if (mine < 4 * ranks * one && near(mine, round(mine / one) * one)) {
        snprintf(text, sizeof text,
                 "That is %.0f message%s of %s one after the other; there are %.0f that wait for each other: %s.",
                 mine / one, near(mine, one) ? "" : "s", c->variant == RING ? "a chunk" : "the whole buffer", waits,
                 ways[c->variant]);
        return text;
    }
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

/* What a wrong length reminds of. */
static const char *break_even_remark(const check_case *c, double mine, double real)
{
    static char text[200];
    const struct network *net = network_of(c);
    double tree = 2 * expected_log2_up(c->ranks), ring = 2 * (c->ranks - 1);
    if (near(mine, real / net->bandwidth)) return "Yours is in seconds: times bandwidth it would be bytes.";
    if (near(mine, (ring - tree) * net->latency / ((ring - ring / c->ranks) / net->bandwidth)))
        return "That is where the ring becomes quicker than naive's bytes; the tree has 2 * rounds messages.";
    if (near(mine, (ring - tree) * net->latency * net->bandwidth / tree))
        return "That leaves out the ring's bytes, 2(n-1)/n buffers one after the other. In whole numbers (n-1)/n is 0: "
               "compute in double.";
    if (near(mine, (ring - tree) * net->latency * net->bandwidth / (tree - floor(ring / c->ranks))))
        return "That has 1 for the ring's 2(n-1)/n: in whole numbers it is 1, so compute in double.";
    if (near(mine, ring * net->latency * net->bandwidth / (tree - ring / c->ranks)))
        return "That leaves out the tree's latencies: 2 * rounds messages wait for each other there.";
    if (mine == 0)
        return "The ring has more messages one after the other than the tree, so for short buffers it is slower.";
    if (mine < 1e-3 * real || mine > 1e3 * real)
        return "Yours is in no way a length: which seconds, divided by which seconds a byte?";
    snprintf(text, sizeof text, "Yours is %.4g times what it should be.", mine / real);
    return text;
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
        check_fail(c, "break_even",
                   "my_break_even says that with %d ranks the ring is quicker from %.0f bytes on%s. At %.0f bytes, "
                   "says the network, "
                   "the tree takes %.1f us and the ring %.1f; and so do your own two formulas, %.1f and %.1f. %s",
                   c->ranks, mine, mine < real ? "" : ", and the tree below", check_number_of(c, 0, "between"),
                   slowest(c, "tree between"), slowest(c, "ring between"), slowest(c, "my tree"), slowest(c, "my ring"),
                   break_even_remark(c, mine, real));
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
