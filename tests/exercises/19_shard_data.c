/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 19: all ranks come to the same order without a word, every example is on exactly one rank, and the
 * next epoch has another order.
 */
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "tests/exercises/check.h"

#pragma weak my_shuffle
#pragma weak my_shard_size
#pragma weak my_shard

enum { MANY = 8 }; /* so many examples are surely not in the same order twice */

static void add_cases(check_plan *plan, int ranks)
{
    size_t n = (size_t)ranks, counts[] = {0, 1, n - 1, n, n + 1, 3 * n - 1, 100};
    for (int i = 0; i < 7; i++)
        check_add(plan, (check_case){.count = counts[i], .variant = i % 3, .shows = CHECK_SHOW_COUNT});
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], false, NULL);
        add_cases(plan, ranks[i]);
    }
}

static void report_order(const check_case *c, const char *name, uint64_t seed, uint64_t epoch)
{
    int64_t *numbers = check_buffer(c, -1, c->count, DTYPE_I64);
    memset(numbers, 0xff, c->count * sizeof *numbers);
    my_shuffle((size_t *)numbers, c->count, seed, epoch);
    check_report(c, name, numbers, c->count, DTYPE_I64);
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm), ranks = p2p_size(comm);
    uint64_t epoch = (uint64_t)c->variant;
    size_t *order = check_buffer(c, -1, c->count, DTYPE_I64), size = my_shard_size(c->count, ranks, rank);

    report_order(c, "order", c->seed, epoch);
    report_order(c, "order again", c->seed, epoch);
    report_order(c, "next epoch", c->seed, epoch + 1);
    report_order(c, "other seed", c->seed + 1, epoch);
    check_number(c, "size", (double)size);

    size_t right = c->count / (size_t)ranks + ((size_t)rank < c->count % (size_t)ranks);
    size_t *mine = check_buffer(c, -1, right, DTYPE_I64); /* what is written beyond it is caught */
    memset(mine, 0xff, right * sizeof *mine);
    for (size_t i = 0; i < c->count; i++) order[i] = 1000 + i;
    my_shard(order, c->count, ranks, rank, mine);
    check_report(c, "mine", mine, right, DTYPE_I64);
}

/* ---- In learn ---- */

static long at(const check_case *c, int rank, const char *name, size_t i)
{
    return (long)check_element(c, rank, name, i);
}

static bool is_permutation(const check_case *c, int rank)
{
    int *seen = calloc(c->count + 1, sizeof *seen);
    bool good = seen != NULL;
    for (size_t i = 0; i < c->count && good; i++) {
        long example = at(c, rank, "order", i);
        if (example < 0 || (size_t)example >= c->count)
            good = check_fail(c, "range", "order[%zu] is %ld on rank %d; examples are 0 to %zu.", i, example, rank,
                              c->count - 1);
        else if (seen[example]++)
            good =
                check_fail(c, "twice",
                           "Example %ld is in rank %d's order twice, so another one is lost. Mix by letting two places "
                           "change places; then nothing can get lost.",
                           example, rank);
    }
    free(seen);
    return good;
}

static size_t differing(const check_case *c, int a, const char *name_a, int b, const char *name_b)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) count += at(c, a, name_a, i) != at(c, b, name_b, i);
    return count;
}

static bool is_mixed(const check_case *c)
{
    size_t in_place = 0, neighbours = 0;
    if (c->count < MANY) return true;
    for (size_t i = 0; i < c->count; i++) {
        in_place += at(c, 0, "order", i) == (long)i;
        neighbours += i > 0 && labs(at(c, 0, "order", i) - at(c, 0, "order", i - 1)) == 1;
    }
    if (in_place == c->count) return check_fail(c, "not_mixed", "The order is 0, 1, 2, ...: nothing was mixed.");
    if (neighbours > c->count / 2 + 2)
        return check_fail(c, "not_mixed",
                          "%zu of %zu examples still stand beside the one they stood beside before: that is turned or "
                          "reversed rather than mixed.",
                          neighbours, c->count);
    return true;
}

static bool same_for_all(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        if (differing(c, rank, "order", rank, "order again"))
            return check_fail(
                c, "again",
                "Called twice with the same seed and epoch, my_shuffle gave rank %d two orders. All it may "
                "depend on are its arguments.",
                rank);
        if (differing(c, rank, "order", 0, "order"))
            return check_fail(
                c, "differs",
                "Ranks 0 and %d have different orders for the same seed and epoch. Then some examples are on "
                "two ranks and others on none.",
                rank);
    }
    return true;
}

static bool changes(const check_case *c)
{
    if (c->count < MANY) return true;
    if (!differing(c, 0, "order", 0, "next epoch"))
        return check_fail(
            c, "epoch",
            "Epochs %d and %d have the same order: each epoch has an order of its own, or every batch has the "
            "same examples for ever.",
            c->variant, c->variant + 1);
    if (!differing(c, 0, "order", 0, "other seed"))
        return check_fail(c, "seed", "Two different seeds gave the same order.");
    return true;
}

static bool sizes(const check_case *c)
{
    size_t sum = 0, n = (size_t)c->ranks;
    for (int rank = 0; rank < c->ranks; rank++) sum += (size_t)check_number_of(c, rank, "size");
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t size = (size_t)check_number_of(c, rank, "size"), right = c->count / n + ((size_t)rank < c->count % n);
        if (size == right) continue;
        return check_fail(c, sum > c->count ? "padded" : "lost",
                          "my_shard_size says %zu for rank %d of %d; it should be %zu. All shards together have %zu "
                          "examples, and there are %zu: %s.",
                          size, rank, c->ranks, right, sum, c->count,
                          sum > c->count   ? "some would count twice"
                          : sum < c->count ? "some would be on no rank"
                                           : "the first count mod n ranks have one more, the others do not");
    }
    return true;
}

static double want_mine(const check_case *c, int rank, size_t index)
{
    return 1000 + (double)rank + (double)index * c->ranks;
}

static size_t count_mine(const check_case *c, int rank)
{
    return c->count / (size_t)c->ranks + ((size_t)rank < c->count % (size_t)c->ranks);
}

static bool shards(const check_case *c)
{
    if (check_values(c, "shard", "mine", NULL, count_mine, want_mine)) return true;
    check_fail(
        c, "shard",
        "Of the order 1000, 1001, 1002, ... rank r takes those at r, r + n, r + 2n, ...: every n-th, beginning with "
        "its own number. It takes what order[] holds, not the place.");
    return false;
}

static bool silent(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_sent(c, rank).messages_sent)
            return check_fail(c, "messages", "Rank %d sent %llu messages; none are needed.", rank,
                              (unsigned long long)check_sent(c, rank).messages_sent);
    return true;
}

static void judge(const check_case *c)
{
    if (!is_permutation(c, 0) || !is_mixed(c) || !same_for_all(c) || !changes(c)) return;
    if (sizes(c) && shards(c)) silent(c);
}

static const char *const files[] = {"shard_data.c", NULL};

const check_exercise check_19_shard_data = {.name = "19_shard_data",
                                            .idea = "who trains on which example: none lost, none twice",
                                            .call = "my_shuffle and my_shard",
                                            .files = files,
                                            .library = CHECK_LIBRARY_P2P,
                                            .cases = cases,
                                            .run = run,
                                            .judge = judge};
