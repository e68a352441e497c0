/* SPDX-License-Identifier: MIT */
/* The test of 06_isend_irecv: what arrives from either side, with one and two ranks too, short and long. */
#include "exercises/check/check.h"
#include "exercises/exercises.h"

#pragma weak my_halo

enum { LONG = 1 << 18 };

static void add(check_plan *plan, int ranks)
{
    static const size_t counts[] = {1, 5, 0, 1000};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check_add(plan,
                  (check_case){.count = counts[i], .dtype = DTYPE_I32, .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE});
    if (ranks <= 4)
        check_add(plan, (check_case){.count = LONG, .dtype = DTYPE_I32, .shows = CHECK_SHOW_COUNT | CHECK_SHOW_DTYPE});
}

static void cases(check_plan *plan)
{
    static const int sizes[] = {3, 4, 5, 8, 2, 1}; /* two and one are special: last */

    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_world(plan, sizes[i], strict, NULL);
            add(plan, sizes[i]);
        }
    }
}

static void run(p2p_comm *comm, const check_case *c)
{
    int32_t *edges = check_buffer(c, p2p_rank(comm), 2 * c->count, DTYPE_I32);
    void *to_left = check_buffer(c, -1, c->count, DTYPE_I32), *to_right = check_buffer(c, -1, c->count, DTYPE_I32);
    void *from_left = check_buffer(c, -1, c->count, DTYPE_I32), *from_right = check_buffer(c, -1, c->count, DTYPE_I32);

    for (size_t i = 0; i < c->count; i++) {
        check_put(to_left, i, DTYPE_I32, edges[i]);
        check_put(to_right, i, DTYPE_I32, edges[c->count + i]);
    }
    check_report(c, "before", from_left, c->count, DTYPE_I32);
    check_returned(c, my_halo(comm, to_left, to_right, from_left, from_right, c->count * sizeof(int32_t)));
    check_report(c, "from_left", from_left, c->count, DTYPE_I32);
    check_report(c, "from_right", from_right, c->count, DTYPE_I32);
}

static int left_of(const check_case *c, int rank)
{
    return (rank + c->ranks - 1) % c->ranks;
}

static int right_of(const check_case *c, int rank)
{
    return (rank + 1) % c->ranks;
}

/* My left neighbour's to_right, and my right neighbour's to_left. */
static double want_left(const check_case *c, int rank, size_t index)
{
    return check_value(c, left_of(c, rank), c->count + index);
}

static double want_right(const check_case *c, int rank, size_t index)
{
    return check_value(c, right_of(c, rank), index);
}

/* Does every element of a report come from there? */
static bool is_from(const check_case *c, int rank, const char *name, int source, size_t first)
{
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, rank, name, i) != check_value(c, source, first + i)) return false;
    return c->count > 0;
}

static bool contract(const check_case *c)
{
    size_t bytes = c->count * sizeof(int32_t);

    for (int rank = 0; rank < c->ranks; rank++) {
        int left = left_of(c, rank), right = right_of(c, rank);
        uint64_t each = left == right ? 2 : 1;
        p2p_traffic to_left = check_traffic(c, rank, left), to_right = check_traffic(c, rank, right);
        if (c->ranks == 1 && to_left.messages_sent == 0) continue; /* it copied: right as well */
        if (to_left.messages_sent != each || to_right.messages_sent != each)
            return check_fail(c, "messages",
                              "Rank %d sent %llu messages to its left (rank %d) and %llu to its right (rank %d); "
                              "it should have been %s.",
                              rank, (unsigned long long)to_left.messages_sent, left,
                              (unsigned long long)to_right.messages_sent, right,
                              each == 2 ? "two to this one neighbour, who is both" : "one to each");
        if (to_left.bytes_sent != each * bytes || to_right.bytes_sent != each * bytes)
            return check_fail(
                c, "bytes", "Rank %d sent %llu bytes to rank %d and %llu to rank %d; each message should be %zu.", rank,
                (unsigned long long)to_left.bytes_sent, left, (unsigned long long)to_right.bytes_sent, right, bytes);
    }
    return true;
}

/* Whose buffer is it that arrived as `name`? */
static bool find_origin(const check_case *c, int rank, const char *name, int *source, bool *to_right)
{
    for (int i = 0; i < 2 * c->ranks; i++) {
        *source = i / 2;
        *to_right = i % 2;
        if (is_from(c, rank, name, *source, *to_right ? c->count : 0)) return true;
    }
    return false;
}

/* The same buffer of that neighbour has come to both its sides. */
static bool reused(const check_case *c, int source, int neighbour, bool to_right, bool is_left)
{
    int other = is_left ? left_of(c, neighbour) : right_of(c, neighbour);
    return source == neighbour && other != source && c->ranks > 1 &&
           is_from(c, other, is_left ? "from_right" : "from_left", source, to_right ? c->count : 0) &&
           (c->ranks > 2 || !is_from(c, other, is_left ? "from_left" : "from_right", source, to_right ? 0 : c->count));
}

static bool say_origin(const check_case *c, int rank, bool is_left)
{
    const char *name = is_left ? "from_left" : "from_right";
    int source, neighbour = is_left ? left_of(c, rank) : right_of(c, rank);
    bool to_right;

    if (!find_origin(c, rank, name, &source, &to_right)) return false;
    if (source == neighbour && to_right == is_left) return false;
    if (reused(c, source, neighbour, to_right, is_left)) {
        check_fail(
            c, "reused",
            "Rank %d's %s holds what rank %d should have sent the other way, its %s: both messages of rank %d have the "
            "same contents. Is one buffer sent both ways, or written to again before its send was waited for?",
            rank, name, source, to_right ? "to_right" : "to_left", source);
        return true;
    }
    bool tags = source == neighbour && left_of(c, rank) == right_of(c, rank) &&
                check_traffic(c, rank, neighbour).messages_sent > 0;
    check_fail(
        c, tags ? "tags" : "mixed",
        "Rank %d's %s holds what rank %d sent as its %s. It should hold what rank %d, the %s neighbour, sent as its "
        "%s.%s",
        rank, name, source, to_right ? "to_right" : "to_left", neighbour, is_left ? "left-hand" : "right-hand",
        is_left ? "to_right" : "to_left",
        tags ? " Both messages come from the same rank here, so the source alone does not tell which is which: give "
               "each direction a tag."
             : "");
    return true;
}

/* Its message has come, and the buffer is as it was: 0. */
static bool say_unwritten(const check_case *c, int rank, bool is_left)
{
    const char *name = is_left ? "from_left" : "from_right";
    bool wrong = false;

    for (size_t i = 0; i < c->count; i++) {
        wrong |= check_element(c, rank, name, i) != (is_left ? want_left(c, rank, i) : want_right(c, rank, i));
        if (check_element(c, rank, name, i) != 0) return false;
    }
    if (!wrong || check_sent(c, rank).messages_received + check_traffic(c, rank, rank).messages_received != 2)
        return false;
    return !check_fail(
        c, "unwritten",
        "Both messages came to rank %d, but its %s holds only zeros, as before: what came was written to "
        "other memory, or %s was written to after it had come.",
        rank, name, name);
}

static void say_why(const check_case *c)
{
    if (c->ranks == 1 && !check_traffic(c, 0, 0).messages_sent && check_element(c, 0, "from_left", 0) == 0 &&
        check_element(c, 0, "from_right", 0) == 0) {
        check_fail(c, "alone",
                   "With one rank nothing came: both its neighbours are itself, so what it sends to its right arrives "
                   "from its "
                   "left, and the other way round.");
        return;
    }
    for (int rank = 0; rank < c->ranks; rank++)
        if (say_unwritten(c, rank, true) || say_unwritten(c, rank, false) || say_origin(c, rank, true) ||
            say_origin(c, rank, false))
            return;
}

static void judge(const check_case *c)
{
    bool right = check_values(c, "values", "from_left", "before", NULL, want_left) &&
                 check_values(c, "values", "from_right", "before", NULL, want_right);

    if (contract(c) && !right) say_why(c);
}

static const char *const files[] = {"isend_irecv.c", NULL};

const check_exercise check_06_isend_irecv = {
    .name = "06_isend_irecv",
    .idea = "both neighbours at once, in any order",
    .call = "my_halo",
    .files = files,
    .hands_on_errors = true,
    .waits_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
};
