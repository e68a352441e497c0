/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 36: seven functions in every order that their messages may come in, of three ranks, and once each of
 * more; and the names of the mistakes that were in them.
 */
#include "exercises/exercises.h"
#include "tests/exercises/expected.h"

#pragma weak my_names
#pragma weak my_collect
#pragma weak my_two_rounds
#pragma weak my_add_letters
#pragma weak my_first_and_others
#pragma weak my_look_and_add
#pragma weak my_exact_sum
#pragma weak my_sum_and_goodbye

enum { COLLECT, ROUNDS, LETTERS, FIRST, LOOK, EXACT, GOODBYES, NAMES, VARIANTS };

static const char *const calls[VARIANTS] = {"my_collect",          "my_two_rounds",   "my_add_letters",
                                            "my_first_and_others", "my_look_and_add", "my_exact_sum",
                                            "my_sum_and_goodbye",  "my_names"};

static void add(check_plan *plan, int variant)
{
    check_add(plan, (check_case){.call = calls[variant], .count = 1, .dtype = DTYPE_F64, .variant = variant});
}

static void cases(check_plan *plan)
{
    static const int more[] = {2, 5};
    check_world(plan, 3, false, NULL);
    check_every_order(plan);
    for (int variant = 0; variant < NAMES; variant++) add(plan, variant);
    for (int i = 0; i < 2; i++) {
        check_world(plan, more[i], i, NULL);
        for (int variant = 0; variant < NAMES; variant++) add(plan, variant);
    }
    check_world(plan, 3, true, NULL);
    for (int variant = 0; variant < VARIANTS; variant++) add(plan, variant);
}

/* ---- Data: sums of exact numbers, but for EXACT, where 1 and 2^53 are ---- */

static size_t letter_of(const check_case *c, int rank)
{
    (void)c;
    return 1 + (size_t)(3 * rank) % MY_LETTER;
}

static double exact_number(const check_case *c, int rank)
{
    static const double numbers[] = {1, 0x1p53, -0x1p53};
    (void)c;
    return numbers[rank % 3];
}

/* ---- In a rank ---- */

static p2p_err call(p2p_comm *comm, const check_case *c, double *results)
{
    int rank = p2p_rank(comm);
    double mine[MY_LETTER];
    for (size_t i = 0; i < MY_LETTER; i++) mine[i] = check_value(c, rank, i);
    switch (c->variant) {
    case COLLECT: return my_collect(comm, mine[0], results);
    case ROUNDS: return my_two_rounds(comm, mine, results);
    case LETTERS: return my_add_letters(comm, mine, letter_of(c, rank), results);
    case FIRST: return my_first_and_others(comm, mine[0], &results[0], &results[1]);
    case LOOK: return my_look_and_add(comm, mine[0], results);
    case EXACT: return my_exact_sum(comm, exact_number(c, rank), results);
    default: return my_sum_and_goodbye(comm, mine[0], results);
    }
}

/* Numbers on rank 0; on the others none. */
static size_t count_results(const check_case *c, int rank)
{
    static const size_t counts[] = {[ROUNDS] = 2, [FIRST] = 2, [LOOK] = 1, [EXACT] = 1, [GOODBYES] = 1};
    bool each = c->variant == COLLECT || c->variant == LETTERS;
    return rank ? 0 : each ? (size_t)c->ranks : counts[c->variant];
}

/* A receive from any source that comes behind a probe of any source. */
static const check_case *watched;
static bool has_probed;

static void note_probe(int source)
{
    has_probed = source == P2P_ANY_SOURCE;
}

static void note_receive(bool sends, const void *buf, size_t bytes, int peer)
{
    (void)buf, (void)bytes;
    if (sends) return;
    if (has_probed && peer == P2P_ANY_SOURCE) check_number(watched, "behind a probe", 1);
    has_probed = false;
}

static void watch(const check_case *c)
{
    watched = c;
    has_probed = false;
    check_on_probe = c ? note_probe : NULL;
    check_on_message = c ? note_receive : NULL;
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant == NAMES) {
        for (int i = 0; i < NAMES && !c->fails; i++) check_number(c, calls[i], my_names[i]);
        return;
    }
    size_t count = count_results(c, p2p_rank(comm));
    double *results = check_buffer(c, -1, (size_t)c->ranks + 1, DTYPE_F64);
    watch(c);
    check_returned(c, call(comm, c, results));
    watch(NULL);
    check_report(c, "results", results, count, DTYPE_F64);
}

/* ---- In learn ---- */

static double part_of(const check_case *c, int rank, size_t i)
{
    return c->variant == EXACT ? exact_number(c, rank) : check_value(c, rank, i);
}

static double sum_from(const check_case *c, int first, size_t i)
{
    double sum = first < c->ranks ? part_of(c, first, i) : 0;
    for (int q = first + 1; q < c->ranks; q++) sum += part_of(c, q, i);
    return sum;
}

static double want(const check_case *c, int rank, size_t i)
{
    double sum = 0;
    (void)rank;
    switch (c->variant) {
    case COLLECT: return part_of(c, (int)i, 0);
    case LETTERS:
        for (size_t k = 0; k < letter_of(c, (int)i); k++) sum += part_of(c, (int)i, k);
        return sum;
    case FIRST: return i ? sum_from(c, 2, 0) : part_of(c, 1, 0);
    default: return sum_from(c, 0, i);
    }
}

/* all of COLLECT are there, at other places */
static bool is_mixed(const check_case *c)
{
    for (int q = 0; q < c->ranks; q++) {
        int at = 0;
        while (at < c->ranks && check_element(c, 0, "results", (size_t)at) != part_of(c, q, 0)) at++;
        if (at == c->ranks) return false;
    }
    return true;
}

/* In COLLECT: is a rank's number nowhere, and another's in its place as well? */
static bool is_written_over(const check_case *c)
{
    bool twice = false;
    for (int q = 0; q < c->ranks; q++) {
        double is = check_element(c, 0, "results", (size_t)q);
        int whose = 0;
        while (whose < c->ranks && is != part_of(c, whose, 0)) whose++;
        if (whose == c->ranks) return false;
        twice |= whose != q && check_element(c, 0, "results", (size_t)whose) == is;
    }
    return twice;
}

/* What was probed was not received: another one may have been. */
static bool explain_probe(const check_case *c)
{
    if (isnan(check_number_of(c, 0, "behind a probe")) || c->variant == LETTERS) return false;
    return !check_fail(c, "probed",
                       "Behind a probe rank 0 receives from any source: with messages of two ranks there, the probe "
                       "sees one rank's, and the receive takes the other's. What comes is taken for the probed rank's, "
                       "and is not.");
}

static void explain(const check_case *c)
{
    double a = check_element(c, 0, "results", 0), b = check_element(c, 0, "results", 1);
    if (c->variant == COLLECT && is_mixed(c) && check_in_other_order(c))
        check_fail(c, "arrival",
                   "All numbers are there, in the order in which they came: who came first was taken for rank 1.");
    else if (c->variant == COLLECT && is_mixed(c))
        check_fail(
            c, "values",
            "All numbers are there, at other places, and the same ones whatever comes first: with which index is "
            "all[] written?");
    else if (c->variant == COLLECT && check_in_other_order(c) && is_written_over(c))
        check_fail(c, "over",
                   "A rank's number is there twice, and another's is missing: a receive writes to its buffer before it "
                   "is known who has sent. If that is a place in all[], it writes over what has come before.");
    else if (c->variant == ROUNDS && a + b == want(c, 0, 0) + want(c, 0, 1))
        check_fail(c, "round",
                   "Both sums together are right, each by itself is not: a number of the second round was added to the "
                   "first one. A rank may send both before another one has sent any.");
    else if (c->variant == LETTERS && !check_in_other_order(c))
        check_fail(c, "values",
                   "So it is whatever comes first: are as many numbers added up as the letter has, status.bytes / "
                   "sizeof(double), and put where its sender belongs?");
    else if (c->variant == LETTERS)
        check_fail(c, "probed",
                   "The letter that was received is not the one that was probed: with two there, the probe saw one "
                   "rank's, and the receive took the other's.");
    else if (c->variant == FIRST && c->ranks > 2 && a + b == want(c, 0, 0) + want(c, 0, 1))
        check_fail(c, "taken",
                   "Both numbers together are right, each by itself is not: what was added to *others is rank 1's "
                   "number.");
    else if (c->variant == LOOK && a == part_of(c, 0, 0))
        check_fail(c, "not_yet",
                   "*sum is rank 0's own number alone: when it looked, nothing had come, and it did not wait.");
    else if (c->variant == LOOK)
        check_fail(c, "not_yet",
                   "Numbers are missing: when rank 0 looked, they had not come, and it took that for the end.");
    else if (c->variant == EXACT)
        check_fail(c, "rounded",
                   "It should be %g: the numbers added up in the order of ranks. 1 + 2^53 is rounded to 2^53, and 1 - "
                   "2^53 is not: in another order the sum is another one.",
                   want(c, 0, 0));
    else if (c->variant == GOODBYES)
        check_fail(
            c, "kind",
            "The sum is not that of all numbers: was a goodbye, which is empty and leaves the variable as it was, "
            "taken for a number?");
}

static void judge_names(const check_case *c)
{
    static const char *const known[] = {
        "none",       "MY_ARRIVAL", "MY_NEXT_ROUND",  "MY_PROBED_ANOTHER", "MY_ALREADY_TAKEN",
        "MY_NOT_YET", "MY_ROUNDED", "MY_ANOTHER_KIND"};
    for (int i = 0; i < NAMES; i++) {
        int name = (int)check_number_of(c, 0, calls[i]);
        if (name == i + 1) continue;
        if (name <= 0 || name > NAMES)
            check_fail(c, "name", "All seven are mended. The mistake that was in %s has no name yet, in my_names[%d].",
                       calls[i], i);
        else
            check_fail(c, "name",
                       "All seven are mended. But the mistake that was in %s is not %s, as my_names[%d] says: what %s "
                       "means is said in exercises.h.",
                       calls[i], known[name], i, known[name]);
        return;
    }
}

static void judge(const check_case *c)
{
    if (c->variant == NAMES)
        judge_names(c);
    else if (!check_values(c, "values", "results", NULL, count_results, want) && !explain_probe(c))
        explain(c);
}

static const char *const files[] = {"seven_mistakes.c", NULL};

const check_exercise check_36_seven_mistakes = {.name = "36_seven_mistakes",
                                                .idea = "mistakes that show in some orders of messages only",
                                                .call = "my_collect",
                                                .files = files,
                                                .hands_on_errors = true,
                                                .any_source = true,
                                                .broken_stub = true,
                                                .library = CHECK_LIBRARY_P2P,
                                                .cases = cases,
                                                .run = run,
                                                .judge = judge};
