/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 12: shards of any length, both ways, from and to any root; and two gathers in a row, in which a shard
 * of the second one may come before one of the first.
 */
#include "exercises/exercises.h"
#include "tests/exercises/in_a_row.h"
#include "tests/exercises/shards.h"

#pragma weak my_scatter
#pragma weak my_gather

/* ---- Both sides ---- */

static void add(check_plan *plan, size_t count, enum cut cut, enum function function, int root)
{
    check_add(plan, (check_case){.count = count,
                                 .dtype = expected_dtype(OP_SUM, root + (int)cut),
                                 .root = root,
                                 .variant = (int)cut * FUNCTIONS + (int)function,
                                 .call = function == SCATTER ? "my_scatter" : "my_gather",
                                 .what = shards_words_of(cut, function),
                                 .shows = CHECK_SHOW_DTYPE | CHECK_SHOW_ROOT | (cut == EVEN ? CHECK_SHOW_COUNT : 0)});
}

static void add_all(check_plan *plan, int ranks, enum function function)
{
    size_t n = (size_t)ranks, counts[] = {0, 1, n - 1, n + 1, 1000};
    for (int root = 0; root < ranks; root++) add(plan, 5 * n, root % 2 ? GROWING : EVEN, function, root);
    for (int i = 0; i < 5; i++) add(plan, counts[i], EVEN, function, (i * 3 + 1) % ranks);
    add(plan, 0, GROWING, function, 0);
    add(plan, 0, HOLES, function, ranks - 1);
    add(plan, 5, ALL_LAST, function, ranks / 2);
    if (ranks == 3) add(plan, 60000, EVEN, function, 1); /* too long to be buffered */
}

static void add_scatters(check_plan *plan, int ranks)
{
    add_all(plan, ranks, SCATTER);
}

static void add_gathers(check_plan *plan, int ranks)
{
    add(plan, 5 * (size_t)ranks, EVEN, GATHER_LAST_FIRST, 0);
    add_all(plan, ranks, GATHER);
    add(plan, 0, GROWING, GATHER_LAST_FIRST, ranks / 2);
    if (ranks == 3) add(plan, 15, EVEN, GATHER_IN_A_ROW, 0);
}

/* All scatters first: so my_scatter can be tried before my_gather is written. */
static void cases(check_plan *plan)
{
    check_matrix(plan, add_scatters);
    check_matrix(plan, add_gathers);
    check_world(plan, 3, false, NULL); /* both once more: in the last world calls fail as well */
    add(plan, 15, EVEN, SCATTER, 1);
    add(plan, 15, EVEN, GATHER, 1);
}

/* ---- In a rank ---- */

static const size_t *counts_of(const check_case *c)
{
    static size_t counts[CHECK_MAX_RANKS];
    for (int q = 0; q < c->ranks; q++) counts[q] = shards_length_of(c, q);
    return counts;
}

static void run_scatter(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t length = shards_length_of(c, rank), all = shards_begin_of(c, c->ranks);
    void *shard = check_buffer(c, -1, length, c->dtype);
    void *whole = rank == c->root ? check_buffer(c, rank, all, c->dtype) : NULL;
    check_returned(c, my_scatter(comm, whole, counts_of(c), shard, c->dtype, c->root));
    check_report(c, "shard", shard, length, c->dtype);
    check_report(c, "whole", whole, whole ? all : 0, c->dtype);
}

/* Let everyone else's message come to the root in this order: last rank first. No rank has an empty shard. */
static void barrier_last_first(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    p2p_comm *door;
    p2p_split(comm, 0, rank, &door);
    if (rank != c->root) p2p_recv(door, NULL, 0, c->root, 0, P2P_STATUS_IGNORE);
    for (int q = c->ranks - 1; q >= 0 && rank == c->root; q--) {
        if (q == rank) continue;
        p2p_send(door, NULL, 0, q, 0);
        p2p_probe(comm, q, P2P_ANY_TAG, P2P_STATUS_IGNORE);
    }
    p2p_free(door);
}

static void run_gather(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t length = shards_length_of(c, rank), all = shards_begin_of(c, c->ranks);
    void *shard = check_buffer(c, rank, length, c->dtype);
    void *whole = rank == c->root ? check_buffer(c, -1, all, c->dtype) : NULL;
    if (shards_function_of(c) == GATHER_LAST_FIRST) barrier_last_first(comm, c);
    check_returned(c, my_gather(comm, shard, counts_of(c), whole, c->dtype, c->root));
    check_report(c, "shard", shard, length, c->dtype);
    check_report(c, "whole", whole, whole ? all : 0, c->dtype);
}

static void run_in_a_row(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t length = shards_length_of(c, rank), all = shards_begin_of(c, c->ranks);
    void *shard = check_buffer(c, rank, length, c->dtype), *next = check_buffer(c, -1, length, c->dtype);
    void *whole = rank == c->root ? check_buffer(c, -1, all, c->dtype) : NULL;
    void *second = rank == c->root ? check_buffer(c, -1, all, c->dtype) : NULL;
    p2p_comm *door;
    p2p_split(comm, 0, rank, &door);
    for (size_t i = 0; i < length; i++) check_put(next, i, c->dtype, check_value(c, rank, c->count + i));
    if (rank == 2 && !c->strict) in_a_row_wait(door, c->root); /* where rank 1 could not send twice without the root */
    check_returned(c, my_gather(comm, shard, counts_of(c), whole, c->dtype, c->root));
    check_returned(c, my_gather(comm, next, counts_of(c), second, c->dtype, c->root));
    in_a_row_end(door, 2);
    check_report(c, "whole", whole, whole ? all : 0, c->dtype);
    check_report(c, "second", second, second ? all : 0, c->dtype);
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (shards_function_of(c) == GATHER_IN_A_ROW)
        run_in_a_row(comm, c);
    else if (shards_function_of(c) == SCATTER)
        run_scatter(comm, c);
    else
        run_gather(comm, c);
}

/* ---- In learn ---- */

static size_t count_shard(const check_case *c, int rank)
{
    return shards_length_of(c, rank);
}

static size_t count_whole(const check_case *c, int rank)
{
    return rank == c->root ? shards_begin_of(c, c->ranks) : 0;
}

static double want_shard(const check_case *c, int rank, size_t index)
{
    return check_value(c, c->root, shards_begin_of(c, rank) + index);
}

static int owner_of(const check_case *c, size_t index)
{
    int q = 0;
    while (shards_begin_of(c, q + 1) <= index) q++;
    return q;
}

static double want_whole(const check_case *c, int rank, size_t index)
{
    int owner = owner_of(c, index);
    (void)rank;
    return check_value(c, owner, index - shards_begin_of(c, owner));
}

static double zero(const check_case *c, int rank, size_t index)
{
    (void)c, (void)rank, (void)index;
    return 0;
}

/* Did a pointer that counts bytes move on by elements? Then a shard lies so many bytes behind the beginning of the whole. */
static bool elements_for_bytes(const check_case *c)
{
    size_t element = dtype_size(c->dtype), all = shards_begin_of(c, c->ranks) * element;
    const char *whole = check_data(c, c->root, "whole");
    for (int q = 1; q < c->ranks && whole; q++) {
        size_t begin = shards_begin_of(c, q), bytes = shards_length_of(c, q) * element;
        const void *shard = check_data(c, q, "shard");
        if (!begin || !bytes || !shard || begin + bytes > all || memcmp(whole + begin, shard, bytes) != 0) continue;
        return !check_fail(c, "char",
                           "Rank %d's shard belongs %zu elements of %zu bytes behind the beginning of the whole, which "
                           "is %zu bytes; you have it %zu bytes behind. A pointer to char counts bytes: one element "
                           "further on is dtype_size(dtype) further on.",
                           q, begin, element, begin * element, begin);
    }
    return false;
}

/* " Rank 0's shard has so many ...": whose, if it is one other rank's. */
static const char *length_of_another(const check_case *c, int whose, size_t length)
{
    static char text[100];
    int other = -1, found = 0;
    for (int q = 0; q < c->ranks; q++)
        if (q != whose && shards_length_of(c, q) == length) other = q, found++;
    if (found != 1) return "";
    snprintf(text, sizeof text, " So many has rank %d's shard: this one's length is counts[%d].", other, whose);
    return text;
}

/* Is only the beginning of a shard there, and nothing behind it? The shard is elements [first, first + length) of a report. */
static bool cut_short(const check_case *c, int whose, int rank, const char *name, size_t first, check_want *should)
{
    made_of m = {c, rank, "", name, first, shards_length_of(c, whose), c->dtype, OP_SUM, should};
    size_t right = 0;
    while (right < m.length && made_of_got(&m, first + right) == should(c, rank, first + right)) right++;
    if (!right || right == m.length) return false;
    size_t after = right == m.length / dtype_size(c->dtype) && right + 1 < m.length ? right + 1 : right;
    for (size_t i = first + after; i < first + m.length; i++)
        if (made_of_got(&m, i) != 0) return false; /* one element may be half right */
    const char *another = length_of_another(c, whose, right);
    return !check_fail(c, *another ? "count" : "beginning",
                       "Of rank %d's shard only the first %zu of %zu elements are there; nothing came behind them.%s%s",
                       whose, right, m.length, *another ? "" : made_of_unit(&m, right), another);
}

/* Where in the root's whole a wrong shard was taken from, if that can be told: at least 3 elements. */
static bool found_elsewhere(const check_case *c, int rank, size_t *begin)
{
    size_t length = shards_length_of(c, rank), all = shards_begin_of(c, c->ranks);
    for (*begin = 0; length >= 3 && *begin + length <= all; ++*begin) {
        size_t same = 0;
        while (same < length && check_element(c, rank, "shard", same) == check_value(c, c->root, *begin + same)) same++;
        if (same == length) return true;
    }
    return false;
}

static bool scatter_values(const check_case *c)
{
    size_t begin;
    if (check_values(c, "values", "shard", NULL, count_shard, want_shard)) return true;
    if (elements_for_bytes(c) || shards_explain_by_rule(c)) return false;
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t length = shards_length_of(c, rank);
        if (!length || expected_holds(c, rank, "shard", 0, length, want_shard)) continue;
        if (expected_holds(c, rank, "shard", 0, length, zero))
            return check_fail(
                c, rank == c->root ? "own" : "missed", "Nothing was written to rank %d's shard.%s", rank,
                rank == c->root ? " It is the root, and has a shard of its own, which only has to be copied."
                : check_sent(c, rank).messages_received ? " A message has come to it: was it received into shard?"
                                                        : " No message has come to it.");
        if (cut_short(c, rank, rank, "shard", 0, want_shard)) return false;
        if (!found_elsewhere(c, rank, &begin)) continue;
        return check_fail(c, "offset",
                          "Rank %d has elements %zu to %zu of the whole; its shard begins at element %zu, because the "
                          "shards before it have so many elements together.",
                          rank, begin, begin + length - 1, shards_begin_of(c, rank));
    }
    return false;
}

/* Where rank q's shard lies in the root's whole, if not where it belongs: at least 2 elements. */
static bool lies_elsewhere(const check_case *c, int q, size_t *place)
{
    size_t length = shards_length_of(c, q), all = shards_begin_of(c, c->ranks);
    for (*place = 0; length >= 2 && *place + length <= all; ++*place) {
        size_t same = 0;
        while (same < length && check_element(c, c->root, "whole", *place + same) == check_value(c, q, same)) same++;
        if (same == length && *place != shards_begin_of(c, q)) return true;
    }
    return false;
}

/* Whose shard, or the beginning of it, lies in block q of the root's whole? -1: no rank's. */
static int found_there(const check_case *c, int q)
{
    size_t begin = shards_begin_of(c, q), length = shards_length_of(c, q);
    for (int r = 0; r < c->ranks; r++) {
        size_t same = 0, shared = shards_length_of(c, r) < length ? shards_length_of(c, r) : length;
        while (same < shared && check_element(c, c->root, "whole", begin + same) == check_value(c, r, same)) same++;
        if (same == shared && shared >= 3) return r;
    }
    return -1;
}

/* Nothing stands where rank q's shard belongs. */
static bool say_missing(const check_case *c, int q)
{
    bool came = check_traffic(c, c->root, q).messages_received, sent = check_traffic(c, q, c->root).messages_sent;
    if (q == c->root)
        return check_fail(
            c, "own", "Rank %d's shard is missing in the whole. It is the root's own: it only has to be copied.", q);
    if (came)
        return check_fail(c, "elsewhere",
                          "Rank %d's shard has come to rank %d, and nothing stands where it belongs, from element %zu "
                          "of the whole on: it was received into another place.",
                          q, c->root, shards_begin_of(c, q));
    return check_fail(c, "missed", "Rank %d's shard is missing in the whole: rank %d has %s.%s", q, sent ? c->root : q,
                      sent ? "received nothing from it" : "sent nothing",
                      sent && q == c->ranks - 1 ? " It is the last rank's: does the loop come to it?" : "");
}

static bool gather_values(const check_case *c)
{
    size_t place;
    if (check_values(c, "values", "whole", NULL, count_whole, want_whole)) return true;
    if (elements_for_bytes(c) || shards_explain_by_rule(c)) return false;
    for (int q = 0; q < c->ranks; q++) {
        size_t begin = shards_begin_of(c, q), length = shards_length_of(c, q);
        int there = found_there(c, q);
        if (!length || expected_holds(c, c->root, "whole", begin, length, want_whole)) continue;
        if (expected_holds(c, c->root, "whole", begin, length, zero)) return say_missing(c, q);
        if (cut_short(c, q, c->root, "whole", begin, want_whole)) return false;
        if (there == c->root && there != q)
            return check_fail(c, "place",
                              "Where rank %d's shard belongs, from element %zu on, lies rank %d's, the root's own. It "
                              "has its place among the others, behind the shards of all ranks below it.",
                              q, begin, there);
        if (there >= 0 && there != q)
            return check_fail(c, "order",
                              "Where rank %d's shard belongs, from element %zu on, lies rank %d's. The place of a "
                              "shard follows from who sent it, not from when it came.",
                              q, begin, there);
        if (lies_elsewhere(c, q, &place))
            return check_fail(c, "place",
                              "Rank %d's shard lies from element %zu of the whole on; it belongs from element %zu on, "
                              "because the shards before it have so many elements together.",
                              q, place, begin);
    }
    return false;
}

static bool whole_is_untouched(const check_case *c)
{
    if (check_values(c, "spoiled", "whole", NULL, count_whole, expected_from_root)) return true;
    return check_fail(c, "spoiled", "The root's whole has changed: a scatter only reads it.");
}

/* The root sends each byte once, to whom it belongs; in a gather everyone sends its own. */
static bool contract(const check_case *c)
{
    size_t element = dtype_size(c->dtype), all = shards_begin_of(c, c->ranks) * element;
    bool scatter = shards_function_of(c) == SCATTER;
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t own = shards_length_of(c, rank) * element, most = 0;
        if (scatter == (rank == c->root)) most = scatter ? all - own : own;
        unsigned long long sent = check_sent(c, rank).bytes_sent, messages = check_sent(c, rank).messages_sent;
        if (scatter && rank == c->root && sent > most)
            return check_fail(
                c, "bytes",
                "Rank %d, the root, sent %llu bytes. The shards of the other ranks have %zu bytes together: does it "
                "send everyone the whole? Each byte need only go to the rank whose shard it is in.",
                rank, sent, most);
        if (sent > most)
            return check_fail(c, "bytes", "Rank %d sent %llu bytes; %zu are enough: %s.", rank, sent, most,
                              most      ? "its shard"
                              : scatter ? "in a scatter only the root sends"
                                        : "the root only receives");
        if (messages > (unsigned long long)c->ranks - 1)
            return check_fail(c, "messages", "Rank %d sent %llu messages; one for each shard is enough.", rank,
                              messages);
    }
    return true;
}

static double want_second(const check_case *c, int rank, size_t index)
{
    int owner = owner_of(c, index);
    (void)rank;
    return check_value(c, owner, c->count + index - shards_begin_of(c, owner));
}

/* Rank 1's shard of the second call has come before rank 2's of the first. */
static void in_a_row(const check_case *c)
{
    if (check_values(c, "values", "whole", NULL, count_whole, want_whole) &&
        check_values(c, "values", "second", NULL, count_whole, want_second))
        return;
    in_a_row_judge_root(c, "shard");
}

static void judge(const check_case *c)
{
    if (shards_function_of(c) == GATHER_IN_A_ROW) {
        in_a_row(c);
        return;
    }
    bool right = shards_function_of(c) == SCATTER ? scatter_values(c) && whole_is_untouched(c) : gather_values(c);
    if (right) contract(c);
}

static const char *const files[] = {"scatter_gather.c", NULL};

const check_exercise check_12_scatter_gather = {.name = "12_scatter_gather",
                                                .idea = "hand out shards of any length, and collect them again",
                                                .call = "my_scatter and my_gather",
                                                .files = files,
                                                .hands_on_errors = true,
                                                .library = CHECK_LIBRARY_P2P,
                                                .cases = cases,
                                                .run = run,
                                                .judge = judge};
