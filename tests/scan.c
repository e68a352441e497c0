/* SPDX-License-Identifier: MIT */
// worlds: last
/* scan: coll_scan and coll_exscan, held to the reduction over the ranks 0 to r, bit for bit, in rank order. */
#include "collectives/collectives.h"
#include "tests/util/suite.h"
#include "tests/util/values.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { BIG = 65536 + 13, CANARY = 0xA5, MARGIN = 8 };

static unsigned char buffer[(BIG + 1) * sizeof(double)];

typedef struct {
    enum dtype dtype;
    enum op op;
    size_t count;
    bool exclusive;
} scan_case;

static int scanned(p2p_comm *world, const scan_case *c, int seed)
{
    int rank = p2p_rank(world), combined = c->exclusive ? rank : rank + 1;
    size_t size = dtype_size(c->dtype), wrong;

    memset(buffer, CANARY, c->count * size + MARGIN);
    values_fill(buffer, c->count, WILD, c->dtype, c->op, rank, seed);
    CALL((c->exclusive ? coll_exscan : coll_scan)(world, buffer, c->count, c->dtype, c->op));
    if (combined == 0)
        wrong = values_changed(buffer, c->count, WILD, c->dtype, c->op, rank, seed);
    else
        wrong = values_wrong(buffer, 0, c->count, IN_RANK_ORDER, 0, combined, WILD, c->dtype, c->op, seed);
    CHECK(wrong == c->count, "%s, %s of %s, %d ranks, count %zu: element %zu", c->exclusive ? "exscan" : "scan",
          op_name(c->op), dtype_name(c->dtype), p2p_size(world), c->count, wrong);
    for (size_t i = 0; i < MARGIN; i++) CHECK(buffer[c->count * size + i] == CANARY, "wrote behind the buffer");
    return 0;
}

static int every_scan(p2p_comm *world, void *arg)
{
    size_t n = (size_t)p2p_size(world), counts[] = {0, 1, n - 1, n, n + 1, 1000};
    scan_case c;
    int seed = 0;

    (void)arg;
    for (size_t i = 0; i < COUNT(counts); i++)
        for (int op = 0; op < OP_COUNT; op++)
            for (int exclusive = 0; exclusive < 2; exclusive++) {
                c = (scan_case){.dtype = (enum dtype)((i + (size_t)op) % DTYPE_COUNT), .op = (enum op)op};
                c.count = counts[i], c.exclusive = exclusive;
                if (!dtype_problem(c.dtype, c.op)) STEP(scanned(world, &c, seed++));
            }
    return 0;
}

Test(scan, every_type_and_operator)
{
    ASSERT_RIGHT(job_matrix(every_scan, NULL));
}

static int large_scans(p2p_comm *world, void *arg)
{
    (void)arg;
    for (int exclusive = 0; exclusive < 2; exclusive++)
        STEP(scanned(world, &(scan_case){DTYPE_F64, OP_MEAN, BIG, exclusive}, exclusive));
    return 0;
}

Test(scan, large)
{
    static const int sizes[] = {2, 3, 5};

    ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, true, large_scans, NULL));
}

/* What docs/collectives.md promises: a message of the whole buffer to the next rank, and none else. */
static int one_message_up(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), n = p2p_size(world), values[5] = {1, 2, 3, 4, 5};
    p2p_traffic rows[8];

    (void)arg;
    CALL(coll_scan(world, values, 5, DTYPE_I32, OP_SUM));
    CALL(p2p_stats(world, rows));
    for (int q = 0; q < n; q++) {
        uint64_t sent = q == rank + 1, received = q == rank - 1;
        CHECK(rows[q].messages_sent == sent && rows[q].bytes_sent == sent * sizeof values, "to rank %d", q);
        CHECK(rows[q].messages_received == received, "from rank %d", q);
    }
    return 0;
}

Test(scan, sends_one_message_up)
{
    ASSERT_RIGHT(job_matrix(one_message_up, NULL));
}
