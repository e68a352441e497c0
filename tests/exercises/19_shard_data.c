/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 19: all ranks come to the same order without a word, every example is on exactly one rank, and the
 * next epoch has another order.
 */
#include <stdlib.h>
#include <string.h>

#include "exercises/check/check.h"
#include "exercises/exercises.h"

#pragma weak my_shuffle
#pragma weak my_shard_size
#pragma weak my_shard

enum { MANY = 8 }; /* so many examples are surely not in the same order twice */

/* A case of its own: the orders of a few examples in many epochs. Each of the 24 comes up about 167 times. The sum of squares
 * in all_as_often is 23 on average, and above 90 one time in a thousand million. */
enum { ALL_EPOCHS = 3, FEW = 4, EPOCHS = 4000, ORDERS = 24, MOST_SQUARES = 90 };

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
        if (ranks[i] == 1)
            check_add(plan, (check_case){.count = FEW,
                                         .variant = ALL_EPOCHS,
                                         .call = "my_shuffle",
                                         .what = "4,000 epochs",
                                         .shows = CHECK_SHOW_COUNT});
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

static void run_epochs(const check_case *c)
{
    int64_t *all = check_buffer(c, -1, EPOCHS * FEW, DTYPE_I64);
    memset(all, 0xff, EPOCHS * FEW * sizeof *all);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) my_shuffle((size_t *)all + epoch * FEW, FEW, c->seed, epoch);
    check_report(c, "epochs", all, EPOCHS * FEW, DTYPE_I64);
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant == ALL_EPOCHS) {
        run_epochs(c);
        return;
    }
    int rank = p2p_rank(comm), ranks = p2p_size(comm);
    uint64_t epoch = (uint64_t)c->variant;
    size_t *order = check_buffer(c, -1, c->count, DTYPE_I64), size = my_shard_size(c->count, ranks, rank);

    report_order(c, "order", c->seed, epoch);
    report_order(c, "order again", c->seed, epoch);
    report_order(c, "next epoch", c->seed, epoch + 1);
    report_order(c, "other seed", c->seed + 1, epoch);
    report_order(c, "other seed, next epoch", c->seed + 1, epoch + 1);
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

/* ---- Many epochs ---- */

/* An order of a few examples as one number: 0 2 1 3 is 213. */
static long order_of(const check_case *c, size_t epoch)
{
    long order = 0;
    for (size_t i = 0; i < FEW; i++) order = 10 * order + at(c, 0, "epochs", epoch * FEW + i);
    return order;
}

static size_t times_there(const check_case *c, long example, size_t place)
{
    size_t times = 0;
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) times += at(c, 0, "epochs", epoch * FEW + place) == example;
    return times;
}

static bool are_permutations(const check_case *c)
{
    for (size_t epoch = 0; epoch < EPOCHS; epoch++)
        for (long example = 0; example < FEW; example++) {
            size_t times = 0;
            for (size_t i = 0; i < FEW; i++) times += at(c, 0, "epochs", epoch * FEW + i) == example;
            if (times == 1) continue;
            return check_fail(c, times ? "twice" : "missing",
                              "In epoch %zu the order of examples 0 to %d is %ld %ld %ld %ld: example %ld is there %zu "
                              "times%s. Mix by "
                              "letting two places change places; then nothing can get lost.",
                              epoch, FEW - 1, at(c, 0, "epochs", epoch * FEW), at(c, 0, "epochs", epoch * FEW + 1),
                              at(c, 0, "epochs", epoch * FEW + 2), at(c, 0, "epochs", epoch * FEW + 3), example, times,
                              times ? ", so another one is lost" : "");
        }
    return true;
}

/* Do epochs that lie so far apart always have the same order? */
static bool repeats(const check_case *c, size_t apart)
{
    for (size_t epoch = 0; epoch + apart < EPOCHS; epoch++)
        if (order_of(c, epoch) != order_of(c, epoch + apart)) return false;
    return true;
}

static bool each_epoch_differs(const check_case *c)
{
    bool mixed = times_there(c, 0, 0) < EPOCHS || times_there(c, 1, 1) < EPOCHS || times_there(c, 2, 2) < EPOCHS;
    if (!mixed)
        return check_fail(c, "not_mixed", "In all of %d epochs the order is 0, 1, 2, 3: nothing was mixed.", EPOCHS);
    if (repeats(c, 1))
        return check_fail(
            c, "epoch",
            "Epochs 0 and 1 have the same order, and so have all %d: each epoch has an order of its own, or "
            "every batch has the same examples for ever.",
            EPOCHS);
    for (size_t apart = 2; apart <= EPOCHS / 2; apart++)
        if (repeats(c, apart))
            return check_fail(
                c, "epoch",
                "After %zu epochs the orders begin again: epoch 0 and epoch %zu have the same one. All of epoch "
                "must be part of what the shuffling begins with.",
                apart, apart);
    return true;
}

static bool all_move(const check_case *c)
{
    for (long example = 0; example < FEW; example++)
        for (size_t place = 0; place < FEW; place++)
            if (times_there(c, example, place) == EPOCHS)
                return check_fail(
                    c, "stays",
                    "In all of %d epochs example %ld was at place %zu: it never moves. Does the loop leave "
                    "places out, or is a place never drawn?",
                    EPOCHS, example, place);
    return true;
}

static bool come_everywhere(const check_case *c)
{
    for (long example = 0; example < FEW; example++)
        for (size_t place = 0; place < FEW; place++)
            if (!times_there(c, example, place))
                return check_fail(
                    c, "never",
                    "In %d epochs example %ld never was at place %zu%s. Each place must be able to change "
                    "places with any that is left, itself too: my_random(&state) %% (so many are left).",
                    EPOCHS, example, place, (size_t)example == place ? ", where it begins" : "");
    return true;
}

static bool has_all_orders(const check_case *c)
{
    size_t different = 0;
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        size_t before = 0;
        while (order_of(c, before) != order_of(c, epoch)) before++;
        different += before == epoch;
    }
    return different == ORDERS ||
           check_fail(c, "orders",
                      "Of the %d orders that %d examples have only %zu came up in %d epochs. Is it turned or "
                      "reversed rather than mixed, or is too little of the random number used?",
                      ORDERS, FEW, different, EPOCHS);
}

/* How far from equally often the orders came up: chi squared. The one that came most often, and how often. */
static double squares(const check_case *c, long *order, size_t *most)
{
    double expected = (double)EPOCHS / ORDERS, sum = 0;
    *most = 0;
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        size_t times = 0;
        for (size_t other = 0; other < EPOCHS; other++) {
            bool same = order_of(c, other) == order_of(c, epoch);
            if (same && other < epoch) break; /* counted before */
            times += same;
        }
        if (!times) continue;
        sum += ((double)times - expected) * ((double)times - expected) / expected;
        if (times > *most) *most = times, *order = order_of(c, epoch);
    }
    return sum;
}

static bool all_as_often(const check_case *c)
{
    long order = 0;
    size_t most = 0;
    return squares(c, &order, &most) < MOST_SQUARES ||
           check_fail(c, "biased",
                      "In %d epochs each of the %d orders of %d examples should come up about %d times; %ld %ld %ld "
                      "%ld came up %zu times. A place changes places with one that has not had its turn, itself too: "
                      "with any of all, some orders come more often than others.",
                      EPOCHS, ORDERS, FEW, EPOCHS / ORDERS, order / 1000, order / 100 % 10, order / 10 % 10, order % 10,
                      most);
}

static void judge_epochs(const check_case *c)
{
    if (are_permutations(c) && each_epoch_differs(c) && all_move(c) && come_everywhere(c) && has_all_orders(c))
        all_as_often(c);
}

/* ---- One epoch ---- */

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
        return check_fail(c, "seed", "Two different seeds gave the same order in epoch %d.%s", c->variant,
                          c->variant == 0 && differing(c, 0, "next epoch", 0, "other seed, next epoch")
                              ? " In epoch 1 they did not. Is seed multiplied by epoch? Anything times 0 is 0."
                              : "");
    return true;
}

/* A size that no shard has: a difference of numbers without a sign went below 0. */
static bool wrapped(const check_case *c, int rank)
{
    double size = check_number_of(c, rank, "size");
    return size > (double)UINT32_MAX &&
           !check_fail(
               c, "wrapped",
               "my_shard_size says %.0f for rank %d of %d and %zu example%s. A size_t is never below 0: 0 - 1 is "
               "the largest number there is. Is 1 or the rank taken from a count that is smaller?",
               size, rank, c->ranks, c->count, c->count == 1 ? "" : "s");
}

static bool sizes(const check_case *c)
{
    size_t sum = 0, n = (size_t)c->ranks;
    for (int rank = 0; rank < c->ranks; rank++)
        if (wrapped(c, rank)) return false;
    for (int rank = 0; rank < c->ranks; rank++) sum += (size_t)check_number_of(c, rank, "size");
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t size = (size_t)check_number_of(c, rank, "size"), right = c->count / n + ((size_t)rank < c->count % n);
        if (size == right) continue;
        return check_fail(
            c, sum > c->count ? "padded" : "lost",
            "my_shard_size says %zu for rank %d of %d; it should be %zu: %zu = %zu * %d + %zu. All shards together "
            "have %zu examples, and there are %zu: %s.",
            size, rank, c->ranks, right, c->count, c->count / n, c->ranks, c->count % n, sum, c->count,
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
    if (c->variant == ALL_EPOCHS) {
        judge_epochs(c);
        return;
    }
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
