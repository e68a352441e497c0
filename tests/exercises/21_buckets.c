/* SPDX-License-Identifier: MIT */
/* The test of exercise 21: the mean of every tensor, in as few messages as the buckets allow. */
#include <math.h>
#include <stdio.h>

#include "exercises/exercises.h"
#include "tests/exercises/check.h"

#pragma weak my_sync_buckets

enum { TENSORS = 9, STRIDE = 100000 };

/* As in a small network: big weights, tiny biases and norms. */
static const size_t lengths[TENSORS] = {432, 16, 16, 2304, 16, 0, 5000, 64, 10};
static const size_t all = 432 + 16 + 16 + 2304 + 16 + 0 + 5000 + 64 + 10;

/* What a bucket holds, in bytes: nothing, little, less than the biggest tensor, everything. */
static const size_t buckets[] = {0, 300, 10400, 1 << 20};
static const char *const words[] = {"bucket 0: each tensor by itself", "bucket 300 bytes", "bucket 10,400 bytes",
                                    "bucket 1 MiB: all together"};

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 1, 3, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2, NULL);
        for (int k = 3; k >= 0; k--) check_add(plan, (check_case){.variant = k, .what = words[k]});
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    float *tensors[TENSORS];
    char name[40];
    for (size_t t = 0; t < TENSORS; t++) {
        tensors[t] = check_buffer(c, p2p_rank(comm), lengths[t], DTYPE_F32);
        for (size_t i = 0; i < lengths[t]; i++) tensors[t][i] = (float)check_value(c, p2p_rank(comm), t * STRIDE + i);
    }
    check_returned(c, my_sync_buckets(comm, tensors, lengths, TENSORS, buckets[c->variant]));
    for (size_t t = 0; t < TENSORS; t++) {
        snprintf(name, sizeof name, "tensor %zu", t);
        check_report(c, name, tensors[t], lengths[t], DTYPE_F32);
    }
}

/* ---- In learn ---- */

/* How many buckets it takes: from the last tensor to the first, as many together as fit. */
static uint64_t bucket_count(size_t bucket)
{
    uint64_t count = 0;
    for (size_t end = TENSORS; end > 0; count++) {
        size_t bytes = lengths[--end] * sizeof(float);
        while (end > 0 && bytes + lengths[end - 1] * sizeof(float) <= bucket) bytes += lengths[--end] * sizeof(float);
    }
    return count;
}

static double mean(const check_case *c, size_t t, size_t i)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) sum += check_value(c, q, t * STRIDE + i);
    return sum / c->ranks;
}

static bool is_mean(const check_case *c, int rank, const char *name, size_t t)
{
    for (size_t i = 0; i < lengths[t]; i++)
        if (!(fabs(check_element(c, rank, name, i) - mean(c, t, i)) <= 1e-4)) return false;
    return true;
}

static bool is_own(const check_case *c, int rank, const char *name, size_t t)
{
    for (size_t i = 0; i < lengths[t]; i++)
        if (check_element(c, rank, name, i) != check_value(c, rank, t * STRIDE + i)) return false;
    return true;
}

static bool say_wrong(const check_case *c, int rank, const char *name, size_t t)
{
    double got = check_element(c, rank, name, 0);
    if (c->ranks > 1 && is_own(c, rank, name, t))
        return check_fail(
            c, "untouched",
            "On rank %d, %s (%zu floats; tensors are 0 to %d) is as it was before: it was never reduced, or "
            "not copied back.",
            rank, name, lengths[t], TENSORS - 1);
    return check_fail(
        c, "values",
        "On rank %d, %s (%zu floats) is not the mean over all ranks: it begins with %.7g, and should with "
        "%.7g. Is every tensor copied back from the place it was copied to?",
        rank, name, lengths[t], got, mean(c, t, 0));
}

static bool values(const check_case *c)
{
    char name[40];
    for (size_t t = 0; t < TENSORS; t++) {
        snprintf(name, sizeof name, "tensor %zu", t);
        for (int rank = 0; rank < c->ranks; rank++)
            if (!is_mean(c, rank, name, t)) return say_wrong(c, rank, name, t);
        if (!check_same_bits(c, "bits", name)) return false;
    }
    return true;
}

static void traffic(const check_case *c)
{
    uint64_t steps = 2 * (uint64_t)(c->ranks - 1), right = bucket_count(buckets[c->variant]);
    for (int rank = 0; rank < c->ranks && c->ranks > 1; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        uint64_t used = sent.messages_sent / steps;
        double share = (double)sent.bytes_sent / (double)(all * sizeof(float));
        if (share > 2.05 * (c->ranks - 1) / c->ranks + 0.05) {
            check_fail(c, "bytes",
                       "Rank %d sent %.2f times the gradients; a ring of %d sends 2(n-1)/n = %.2f times. Are whole "
                       "buckets sent, filled or not?",
                       rank, share, c->ranks, 2.0 * (c->ranks - 1) / c->ranks);
            return;
        }
        if (sent.messages_sent == right * steps) continue;
        check_fail(
            c, used > right ? "many" : "few",
            "Rank %d sent %llu messages, as for %llu all-reduces of 2(n-1) = %llu each; these %d tensors fit into "
            "%llu buckets, so it should be %llu. %s",
            rank, (unsigned long long)sent.messages_sent, (unsigned long long)used, (unsigned long long)steps, TENSORS,
            (unsigned long long)right, (unsigned long long)(right * steps),
            used > right ? "Is each bucket filled as far as it goes, from the last tensor on?"
                         : "A bucket may not hold more than it is allowed to; one big tensor goes by itself.");
        return;
    }
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
                                         .library = CHECK_LIBRARY_ALL,
                                         .cases = cases,
                                         .run = run,
                                         .judge = judge};
