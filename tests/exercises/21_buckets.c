/* SPDX-License-Identifier: MIT */
/* The test of exercise 21: the mean of every tensor, in as few messages as the buckets allow. */
#include <math.h>
#include <stdio.h>

#include "exercises/exercises.h"
#include "tests/exercises/ring_contract.h"

#pragma weak my_sync_buckets

enum { TENSORS = 9, STRIDE = 1000000 };

/* As in a small network: big weights, tiny biases and norms. In one case 150 times as long, 4.7 MB together: more than
 * any rank sets aside beforehand. */
static const size_t lengths[TENSORS] = {432, 16, 16, 2304, 16, 0, 5000, 64, 10};
enum { TIMES = 150, EVERY = 101 }; /* of so many elements one is looked at there */

/* What a bucket holds, in bytes: nothing, two tensors exactly, little, other tensors if it is filled from the first one on, less
 * than the biggest tensor, everything, with long tensors too; and no tensors at all. */
enum { BUCKETS = 8, LONG = BUCKETS - 1 };

static const size_t buckets[BUCKETS] = {400, 0, 128, 300, 1800, 10400, 1 << 20, 1 << 26};
static const char *const words[BUCKETS] = {"no tensors",
                                           "bucket 0: each tensor by itself",
                                           "bucket 128 bytes, which tensors 1 and 2 fill exactly",
                                           "bucket 300 bytes",
                                           "bucket 1,800 bytes",
                                           "bucket 10,400 bytes",
                                           "bucket 1 MiB: all together",
                                           "bucket 64 MiB: all together, 4.7 MB"};

static size_t length_of(const check_case *c, size_t t)
{
    return lengths[t] * (c->variant == LONG ? TIMES : 1);
}

static size_t tensors_of(const check_case *c)
{
    return c->variant == 0 ? 0 : TENSORS;
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 1, 3, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2, NULL);
        for (int k = LONG - 1; k >= 0; k--)
            check_add(plan, (check_case){.variant = k, .count = k ? TENSORS : 0, .what = words[k]});
        if (ranks[i] == 2) check_add(plan, (check_case){.variant = LONG, .what = words[LONG]});
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    float *tensors[TENSORS];
    size_t counts[TENSORS];
    char name[40];
    for (size_t t = 0; t < TENSORS; t++) {
        counts[t] = length_of(c, t);
        tensors[t] = check_buffer(c, p2p_rank(comm), counts[t], DTYPE_F32);
        for (size_t i = 0; i < counts[t]; i++) tensors[t][i] = (float)check_value(c, p2p_rank(comm), t * STRIDE + i);
    }
    check_returned(c, my_sync_buckets(comm, tensors, counts, tensors_of(c), buckets[c->variant]));
    for (size_t t = 0; t < TENSORS; t++) {
        snprintf(name, sizeof name, "tensor %zu", t);
        check_report(c, name, tensors[t], counts[t], DTYPE_F32);
    }
}

/* ---- In learn ---- */

/* ---- Which tensors go together, by the rule and by others ---- */

enum way { RIGHT, FROM_THE_FIRST, NEVER_RESET, NEVER_FULL, FLOATS, OVERFULL, BIG_ONE_JOINED, EACH, TOGETHER, WAYS };

static const char *const ways[WAYS] = {
    [FROM_THE_FIRST] =
        ("The bytes of each rank are those of buckets that are filled from the first tensor on: backward begins "
         "with the last one, so the buckets do"),
    [NEVER_RESET] = "That is as if the sum of the bytes went on from bucket to bucket: each begins at 0 again",
    [NEVER_FULL] =
        "That is as if a tensor that fills the bucket exactly did not fit: up to `bucket` bytes fit, not fewer",
    [FLOATS] = "That is as if `bucket` were a number of floats: it is bytes, and a float has 4",
    [OVERFULL] = "That is as if a bucket were closed after it is too full, not before",
    [BIG_ONE_JOINED] = "That is as if the first tensor in a bucket were not counted",
    [EACH] = "That is each tensor by itself",
    [TOGETHER] = "That is all of them in one"};

static bool fits(enum way way, size_t bytes, size_t next, size_t bucket)
{
    switch (way) {
    case NEVER_FULL: return bytes + next < bucket;
    case FLOATS: return (bytes + next) / sizeof(float) <= bucket;
    case OVERFULL: return bytes < bucket;
    case EACH: return false;
    case TOGETHER: return true;
    default: return bytes + next <= bucket;
    }
}

/* The floats in each bucket; how many buckets there are. */
static size_t fill(const check_case *c, enum way way, size_t totals[TENSORS])
{
    size_t bucket = buckets[c->variant];
    size_t count = 0, bytes = 0;
    for (size_t used = 0; used < TENSORS; count++) {
        if (way != NEVER_RESET) bytes = 0;
        totals[count] = 0;
        do {
            size_t length = length_of(c, way == FROM_THE_FIRST ? used : TENSORS - 1 - used);
            if (totals[count] || way != BIG_ONE_JOINED) bytes += length * sizeof(float);
            totals[count] += length;
            used++;
        } while (
            used < TENSORS &&
            fits(way, bytes, sizeof(float) * length_of(c, way == FROM_THE_FIRST ? used : TENSORS - 1 - used), bucket));
    }
    return count;
}

/* What a rank sends for them: in each half of the ring all chunks but one. */
static uint64_t bytes_of(const check_case *c, int rank, size_t count, const size_t totals[TENSORS])
{
    uint64_t floats = 0;
    for (size_t i = 0; i < count && c->ranks > 1; i++)
        floats += 2 * totals[i] - ring_length(totals[i], c->ranks, rank) -
                  ring_length(totals[i], c->ranks, (rank + 1) % c->ranks);
    return floats * sizeof(float);
}

static bool sent_as(const check_case *c, enum way way)
{
    size_t totals[TENSORS], count = tensors_of(c) ? fill(c, way, totals) : 0;
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        if (sent.messages_sent != count * 2 * (uint64_t)(c->ranks - 1)) return false;
        if (sent.bytes_sent != bytes_of(c, rank, count, totals)) return false;
    }
    return true;
}

/* ---- Values ---- */

static size_t tensor_judged; /* for part */

static double part(const check_case *c, int rank, size_t index)
{
    return check_value(c, rank, tensor_judged * STRIDE + index);
}

static double mean(const check_case *c, size_t t, size_t i)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += check_value(c, q, t * STRIDE + i);
    return sum / c->ranks;
}

static bool is_mean(const check_case *c, int rank, const char *name, size_t t)
{
    for (size_t i = 0; i < length_of(c, t); i += c->variant == LONG ? EVERY : 1)
        if (!(fabs(check_element(c, rank, name, i) - mean(c, t, i)) <= 1e-4)) return false;
    return true;
}

static bool is_own(const check_case *c, int rank, const char *name, size_t t)
{
    for (size_t i = 0; i < length_of(c, t); i++)
        if (check_element(c, rank, name, i) != check_value(c, rank, t * STRIDE + i)) return false;
    return true;
}

/* Does it begin with another tensor's mean? */
static bool is_others(const check_case *c, int rank, const char *name, size_t t, size_t *other)
{
    for (*other = 0; *other < TENSORS; ++*other) {
        size_t shared = length_of(c, *other) < length_of(c, t) ? length_of(c, *other) : length_of(c, t), i = 0;
        while (i < shared && fabs(check_element(c, rank, name, i) - mean(c, *other, i)) <= 1e-4) i++;
        if (*other != t && shared >= 3 && i == shared) return true;
    }
    return false;
}

static bool say_wrong(const check_case *c, int rank, const char *name, size_t t)
{
    char of[40];
    size_t first = 0, other;
    made_of m = {c, rank, of, name, 0, length_of(c, t), DTYPE_F32, OP_MEAN, part};
    snprintf(of, sizeof of, "In tensor %zu, ", t);
    tensor_judged = t;
    size_t bytes = length_of(c, t) * sizeof(float), bucket = buckets[c->variant];
    if (c->ranks > 1 && is_own(c, rank, name, t) && sent_as(c, RIGHT))
        return check_fail(
            c, "not_copied_back",
            "On rank %d, %s (%zu floats; tensors are 0 to %d) is as it was before. As many bytes were "
            "sent as for all of them, so it was reduced: the result was not copied back, or before it was there.",
            rank, name, length_of(c, t), TENSORS - 1);
    if (c->ranks > 1 && is_own(c, rank, name, t))
        return check_fail(
            c, "untouched",
            "On rank %d, %s (%zu floats; tensors are 0 to %d) is as it was before: it was never reduced, or "
            "not copied back.%s",
            rank, name, length_of(c, t), TENSORS - 1,
            bucket && bytes > bucket ? " It is larger than a bucket: it goes by itself." : "");
    if (is_others(c, rank, name, t, &other))
        return check_fail(c, "values",
                          "On rank %d, %s has what belongs to tensor %zu: it was not copied back from the place it was "
                          "copied to.",
                          rank, name, other);
    if (made_of_explain(&m)) return false;
    while (fabs(check_element(c, rank, name, first) - mean(c, t, first)) <= 1e-4) first++;
    return check_fail(
        c, "values",
        "On rank %d, %s (%zu floats) is not the mean over all ranks: its element %zu is %.7g, and should be "
        "%.7g. Is every tensor copied back from the place it was copied to?",
        rank, name, length_of(c, t), first, check_element(c, rank, name, first), mean(c, t, first));
}

static bool values(const check_case *c)
{
    char name[40];
    for (size_t t = 0; t < tensors_of(c); t++) {
        snprintf(name, sizeof name, "tensor %zu", t);
        for (int rank = 0; rank < c->ranks; rank++)
            if (!is_mean(c, rank, name, t)) return say_wrong(c, rank, name, t);
        if (!check_same_bits(c, "bits", name)) return false;
    }
    return true;
}

/* Too many bytes in as many messages as there should be. */
static bool too_long(const check_case *c, size_t count, const size_t totals[TENSORS])
{
    uint64_t sent = 0, right = 0;
    for (int rank = 0; rank < c->ranks; rank++) {
        sent += check_sent(c, rank).bytes_sent;
        right += bytes_of(c, rank, count, totals);
    }
    return sent > right &&
           !check_fail(c, "bytes",
                       "All ranks together sent %llu bytes; %llu are enough for these gradients, 2(n-1)/n of "
                       "them a rank. Is more reduced than was copied in: whole buckets, filled or not?",
                       (unsigned long long)sent, (unsigned long long)right);
}

static void traffic(const check_case *c)
{
    size_t totals[TENSORS], right = tensors_of(c) ? fill(c, RIGHT, totals) : 0;
    uint64_t steps = 2 * (uint64_t)(c->ranks - 1), sent = check_sent(c, 0).messages_sent,
             used = steps ? sent / steps : 0;
    enum way way = RIGHT;
    if (sent_as(c, RIGHT) || too_long(c, right, totals)) return;
    for (way = FROM_THE_FIRST; way < WAYS && !sent_as(c, way); way++) continue;
    if (used == right && way < WAYS)
        check_fail(c, "first", "%s.", ways[way]);
    else if (steps && sent % steps)
        check_fail(
            c, "other",
            "Rank 0 sent %llu message%s. An all-reduce round the ring takes 2(n-1) = %llu of each rank, so it should "
            "be %llu for %zu bucket%s: is it ring_all_reduce that is called, by all ranks, for each bucket?",
            (unsigned long long)sent, sent == 1 ? "" : "s", (unsigned long long)steps,
            (unsigned long long)(right * steps), right, right == 1 ? "" : "s");
    else if (used != right)
        check_fail(
            c, used > right ? "many" : "few",
            "Rank 0 sent %llu messages, as for %llu all-reduces of 2(n-1) = %llu each; these %zu tensors fit into %zu "
            "bucket%s, so it should be %llu. %s",
            (unsigned long long)sent, (unsigned long long)used, (unsigned long long)steps, tensors_of(c), right,
            right == 1 ? "" : "s", (unsigned long long)(right * steps),
            used > right ? "Is each bucket filled as far as it goes, from the last tensor on?"
                         : "A bucket may not hold more than it is allowed to; one big tensor goes by itself.");
    else
        check_fail(c, "first",
                   "There are as many buckets as there should be, but not with the same tensors in them: from the last "
                   "tensor to the first, each bucket takes as many as fit.");
    if (used != right && way < WAYS) check_also(c, "%s.", ways[way]);
}

static void judge(const check_case *c)
{
    if (values(c)) traffic(c);
}

static const char *const files[] = {"buckets.c", NULL};

const check_exercise check_21_buckets = {.name = "21_buckets",
                                         .idea = "many small gradients, few messages",
                                         .call = "my_sync_buckets",
                                         .files = files,
                                         .hands_on_errors = true,
                                         .library = CHECK_LIBRARY_ALL,
                                         .cases = cases,
                                         .run = run,
                                         .judge = judge};
