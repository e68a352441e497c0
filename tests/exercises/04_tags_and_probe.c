/* SPDX-License-Identifier: MIT */
/*
 * The test of 04_tags_and_probe. Rank `root` receives with the learner's functions; every other rank is the test itself
 * (letters.h), which sees to it that what is not asked for lies there first.
 */
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "tests/exercises/letters.h"

#pragma weak my_pick
#pragma weak my_recv_unknown

/* ---- Cases ---- */

static void add_pick(check_plan *plan, int root, size_t count)
{
    check_add(plan, (check_case){.call = "my_pick",
                                 .count = count,
                                 .dtype = DTYPE_I32,
                                 .root = root,
                                 .variant = PICK,
                                 .what = root ? "the last rank receives" : "rank 0 receives",
                                 .shows = CHECK_SHOW_COUNT});
}

static void add_letter(check_plan *plan, int root, size_t count, int variant, const char *what)
{
    check_add(plan, (check_case){.call = "my_recv_unknown",
                                 .count = count,
                                 .dtype = DTYPE_I32,
                                 .root = root,
                                 .variant = variant,
                                 .what = what});
}

static void add(check_plan *plan, int ranks)
{
    if (ranks == 1) return; /* no rank to receive from */
    add_pick(plan, 0, 1);
    add_pick(plan, 0, 5);
    add_pick(plan, ranks - 1, 20);
    add_pick(plan, 0, 0);
    add_letter(plan, 0, 3, LETTER, "a letter of 12 bytes for rank 0");
    add_letter(plan, 0, 0, LETTER, "an empty letter for rank 0");
    add_letter(plan, ranks - 1, 2500, LETTER, "a letter of 10,000 bytes for the last rank");
    add_letter(plan, 0, 100000, LETTER, "a letter of 400,000 bytes for rank 0");
    add_letter(plan, 0, 7, ANYONE, "rank 0 takes letters from P2P_ANY_SOURCE with P2P_ANY_TAG");
}

static void cases(check_plan *plan)
{
    static const int sizes[] = {2, 3, 4, 5, 8};

    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_world(plan, sizes[i], strict, NULL);
            add(plan, sizes[i]);
        }
    }
    check_world(plan, 3, false, NULL);
    check_every_order(plan);
    add_letter(plan, 0, 7, ANYONE, "rank 0 takes letters from P2P_ANY_SOURCE with P2P_ANY_TAG");
    check_world(plan, 5, true, NULL);
    add(plan, 5);
}

/* ---- In a rank: the one who receives ---- */

static void run_pick(p2p_comm *comm, const check_case *c)
{
    int tags[MOST], values[MOST], rest;

    for (size_t i = 0; i < c->count; i++) {
        tags[i] = tag_of(i);
        values[i] = 0;
        if (bystander_of(c) >= 0) p2p_probe(comm, bystander_of(c), tag_of(i), P2P_STATUS_IGNORE);
    }
    p2p_send(comm, NULL, 0, source_of(c), GO);
    check_returned(c, my_pick(comm, source_of(c), tags, c->count, values));
    for (size_t i = 0; i < c->count && bystander_of(c) >= 0; i++) {
        bool there = false;
        p2p_iprobe(comm, bystander_of(c), tag_of(i), &there, P2P_STATUS_IGNORE);
        if (there) p2p_recv(comm, &rest, sizeof rest, bystander_of(c), tag_of(i), P2P_STATUS_IGNORE);
    }
    check_report(c, "values", values, c->count, DTYPE_I32);
}

static void report_letter(const check_case *c, const void *data, p2p_status got)
{
    char *copy = check_buffer(c, -1, got.bytes, DTYPE_U8);

    if (data && got.bytes) memcpy(copy, data, got.bytes);
    check_number(c, "from", got.source);
    check_number(c, "tag", got.tag);
    check_number(c, "length", (double)got.bytes);
    check_report(c, "letter", copy, got.bytes / sizeof(int32_t), DTYPE_I32);
}

static void run_letter(p2p_comm *comm, const check_case *c)
{
    void *data = NULL;
    p2p_status got = {-1, -1, 0};
    char rest[DECOY];
    bool there = false;

    p2p_send(comm, NULL, 0, source_of(c), GO);
    p2p_probe(comm, source_of(c), tag_of(1), P2P_STATUS_IGNORE);
    check_returned(c, my_recv_unknown(comm, source_of(c), tag_of(0), &data, &got));
    report_letter(c, data, got);
    free(data);
    p2p_iprobe(comm, source_of(c), tag_of(0), &there, P2P_STATUS_IGNORE);
    check_number(c, "taken", !there);
    there = false;
    p2p_iprobe(comm, source_of(c), tag_of(1), &there, P2P_STATUS_IGNORE);
    if (there) p2p_recv(comm, rest, sizeof rest, source_of(c), tag_of(1), P2P_STATUS_IGNORE);
}

/* All letters lie there, the last rank's in front. */
static void call_letters(p2p_comm *comm, const check_case *c)
{
    for (int rank = c->ranks - 1; rank >= 0; rank--) {
        if (rank == c->root) continue;
        p2p_send(comm, NULL, 0, rank, GO);
        p2p_probe(comm, rank, tag_of((size_t)rank), P2P_STATUS_IGNORE);
    }
}

/* One row a sender: what came from it, or nothing. */
static void run_anyone(p2p_comm *comm, const check_case *c)
{
    size_t room = letter_length(c, c->ranks), count = room * (size_t)c->ranks;
    int32_t *table = check_buffer(c, -1, count, DTYPE_I32);
    int64_t lengths[CHECK_MAX_RANKS] = {0}, tags[CHECK_MAX_RANKS] = {0};

    call_letters(comm, c);
    for (int i = 1; i < c->ranks; i++) {
        void *data = NULL;
        p2p_status got = {-1, -1, 0};
        p2p_err err = my_recv_unknown(comm, P2P_ANY_SOURCE, P2P_ANY_TAG, &data, &got);
        check_returned(c, err);
        if (err) return;
        bool known = got.source >= 0 && got.source < c->ranks && got.bytes <= room * sizeof *table;
        check_number(c, "any", got.source == P2P_ANY_SOURCE || got.tag == P2P_ANY_TAG);
        if (known) {
            if (data && got.bytes) memcpy(table + room * (size_t)got.source, data, got.bytes);
            lengths[got.source] = (int64_t)got.bytes;
            tags[got.source] = got.tag;
        }
        free(data);
    }
    check_report(c, "lengths", lengths, (size_t)c->ranks, DTYPE_I64);
    check_report(c, "tags", tags, (size_t)c->ranks, DTYPE_I64);
    check_report(c, "letters", table, count, DTYPE_I32);
}

/* No rank sends anything: no call would receive it. */
static void run_failing(p2p_comm *comm, const check_case *c)
{
    int tag = tag_of(0), value = 0;
    void *data = &value;
    p2p_status got = {-1, -1, 0};
    bool pick = c->variant == PICK;
    p2p_err err = pick ? my_pick(comm, source_of(c), &tag, 1, &value)
                       : my_recv_unknown(comm, source_of(c), tag, &data, &got);
    check_returned(c, err);
    if (err && data != &value) check_number(c, "data changed", 1);
    if (err && (got.source != -1 || got.tag != -1 || got.bytes)) check_number(c, "status changed", 1);
    if (!err && data != &value) free(data);
}

static void run(p2p_comm *comm, const check_case *c)
{
    static void (*const receive[])(p2p_comm *, const check_case *) = {run_pick, run_letter, run_anyone};

    if (c->fails && p2p_rank(comm) == c->root)
        run_failing(comm, c);
    else if (c->fails)
        return;
    else if (p2p_rank(comm) == c->root)
        receive[c->variant](comm, c);
    else
        run_sender(comm, c);
}

/* ---- In learn ---- */

static size_t at_root(const check_case *c, int rank, size_t count)
{
    return rank == c->root ? count : 0;
}

static size_t count_pick(const check_case *c, int rank)
{
    return at_root(c, rank, c->count);
}

static size_t count_ranks(const check_case *c, int rank)
{
    return at_root(c, rank, (size_t)c->ranks);
}

static size_t count_letters(const check_case *c, int rank)
{
    return at_root(c, rank, letter_length(c, c->ranks) * (size_t)c->ranks);
}

static double want_from_source(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return check_value(c, source_of(c), index);
}

static double want_length(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return (int)index == c->root ? 0 : (double)(letter_length(c, (int)index) * sizeof(int32_t));
}

static double want_tag(const check_case *c, int rank, size_t index)
{
    (void)rank;
    return (int)index == c->root ? 0 : tag_of(index);
}

static double want_letters(const check_case *c, int rank, size_t index)
{
    size_t room = letter_length(c, c->ranks), from = index / room, i = index % room;
    (void)rank;
    return (int)from == c->root || i >= letter_length(c, (int)from) ? 0 : check_value(c, (int)from, i);
}

enum order { AS_ASKED, AS_SENT, BACKWARDS, BY_TAG };

/* Which of the letters comes at this place, if they stand in that order? */
static size_t letter_at(const check_case *c, enum order order, size_t place)
{
    size_t i = 0;
    if (order == AS_SENT) return sent_at(c, place);
    if (order == BACKWARDS) return c->count - 1 - place;
    if (order == AS_ASKED) return place;
    for (; i < c->count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < c->count; k++) before += tag_of(k) < tag_of(i);
        if (before == place) break;
    }
    return i;
}

/* Are the values those of that rank, in that order? */
static bool are(const check_case *c, int rank, enum order order)
{
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, c->root, "values", i) != check_value(c, rank, letter_at(c, order, i))) return false;
    return c->count > 0;
}

/* All values but the first are as they were: 0. */
static bool only_first(const check_case *c)
{
    for (size_t i = 1; i < c->count; i++)
        if (check_element(c, c->root, "values", i) != 0) return false;
    return c->count > 1;
}

/* Each value stands at the place tag % count, of letters that came in the order in which they were sent. */
static bool is_placed_by_tag(const check_case *c)
{
    double placed[MOST] = {0};
    for (size_t k = 0; k < c->count; k++) {
        size_t i = sent_at(c, k);
        placed[(size_t)tag_of(i) % c->count] = check_value(c, source_of(c), i);
    }
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, c->root, "values", i) != placed[i]) return false;
    return c->count > 0;
}

/* The values are those of the source, but at other places. */
static bool are_mixed(const check_case *c)
{
    for (size_t i = 0; i < c->count; i++) {
        size_t k = 0;
        double got = check_element(c, c->root, "values", i);
        while (k < c->count && check_value(c, source_of(c), k) != got) k++;
        if (k == c->count) return false;
    }
    return c->count > 1;
}

static void judge_pick(const check_case *c)
{
    if (check_values(c, "values", "values", NULL, count_pick, want_from_source)) return;
    int source = source_of(c), bystander = bystander_of(c);
    if (are(c, source, BACKWARDS))
        check_fail(c, "backwards",
                   "values stand the wrong way round: the letter with tag tags[0] is in the last place, and that with "
                   "the last "
                   "tag in values[0].");
    else if (are(c, source, BY_TAG))
        check_fail(c, "sorted",
                   "values stand in the order of their tags, the lowest first, not in the order of tags[].");
    else if (only_first(c))
        check_fail(c, "first", "Only values[0] was written to; there are %zu values, and values[i] is that of tags[i].",
                   c->count);
    else if (are(c, source, AS_SENT))
        check_fail(c, "arrival",
                   "values are in the order in which rank %d sent them, not in the order of tags[]. Name the "
                   "tag you want: the others wait.",
                   source);
    else if (bystander >= 0 && (are(c, bystander, AS_SENT) || are(c, bystander, AS_ASKED)))
        check_fail(c, "source",
                   "These are the messages of rank %d, which has sent some with the same tags; only those of "
                   "source, rank %d, were asked for.",
                   bystander, source);
    else if (is_placed_by_tag(c))
        check_fail(c, "by_tag_number",
                   "The values stand where their tags, taken as numbers (tag %% count), point to: values[i] is the one "
                   "whose tag is tags[i], wherever that tag stands in tags[].");
    else if (are_mixed(c))
        check_fail(c, "any_tag",
                   "All values are letters of rank %d, but at other places: values[i] is the one whose tag is tags[i]. "
                   "Was any tag received?",
                   source);
}

static void judge_letter(const check_case *c)
{
    double from = check_number_of(c, c->root, "from"), tag = check_number_of(c, c->root, "tag");
    double length = check_number_of(c, c->root, "length"), right = (double)(c->count * sizeof(int32_t));

    if (from == -1 && tag == -1)
        check_fail(c, "status",
                   "*status was not set: it should say that the letter came from rank %d with tag %d and has "
                   "%.0f bytes.",
                   source_of(c), tag_of(0), right);
    else if (length == DECOY && (int)tag != tag_of(0))
        check_fail(c, "other",
                   "Rank %d sent two letters: first one with tag %d, then the one that was asked for, with tag "
                   "%d. You returned the first. To receive the message that p2p_probe saw, name the source and "
                   "the tag that its status holds.",
                   source_of(c), tag_of(1), tag_of(0));
    else if ((int)from != source_of(c) || (int)tag != tag_of(0) || length != right)
        check_fail(c, "status",
                   "*status says: from rank %.0f, tag %.0f, %.0f bytes. The letter came from rank %d with tag "
                   "%d, and has %.0f bytes.",
                   from, tag, length, source_of(c), tag_of(0), right);
    else
        check_values(c, "letter", "letter", NULL, count_pick, want_from_source);
    if (!c->count && check_number_of(c, c->root, "taken") == 0)
        check_fail(
            c, "empty",
            "The empty letter was not taken: after my_recv_unknown it still lies there. Empty letters are letters, and "
            "must be received like others.");
}

static void judge_anyone(const check_case *c)
{
    if (check_number_of(c, c->root, "any") == 1) {
        check_fail(c, "arguments",
                   "*status says source %d or tag %d, which are P2P_ANY_SOURCE and P2P_ANY_TAG: that is what was asked "
                   "for. It "
                   "should say from whom the letter came, and with which tag.",
                   P2P_ANY_SOURCE, P2P_ANY_TAG);
        return;
    }
    if (check_values(c, "lengths", "lengths", NULL, count_ranks, want_length) &&
        check_values(c, "lengths", "tags", NULL, count_ranks, want_tag))
        check_values(c, "letter", "letters", NULL, count_letters, want_letters);
}

static void judge(const check_case *c)
{
    static void (*const judges[])(const check_case *) = {judge_pick, judge_letter, judge_anyone};

    judges[c->variant](c);
}

static void judge_failing(const check_case *c)
{
    static const struct {
        const char *number, *shown, *instead;
    } outputs[] = {{"data changed", "*data", "set *data only when the letter is in the memory"},
                   {"status changed", "*status", "let p2p_probe write to a p2p_status of your own"}};

    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (check_number_of(c, c->root, outputs[i].number) == 1)
            check_fail(c, "left_alone",
                       "my_recv_unknown returned an error, and had written to %s before the call that failed. On an "
                       "error *data and *status are left alone: %s.",
                       outputs[i].shown, outputs[i].instead);
}

static const char *const files[] = {"tags_and_probe.c", NULL};

const check_exercise check_04_tags_and_probe = {
    .name = "04_tags_and_probe",
    .idea = "which message, and how long is it?",
    .call = "my_pick",
    .files = files,
    .hands_on_errors = true,
    .empty_is_null = true,
    .any_source = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
    .judge_failing = judge_failing,
};
