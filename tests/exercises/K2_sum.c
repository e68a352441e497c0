/* SPDX-License-Identifier: MIT */
/* The test of exercise K2: the sum of all numbers, each read once, and no work-item that adds up what the others have. */
#include "exercises/kernels.h"
#include "tests/exercises/device.h"

#pragma weak my_sum

static const device_size sizes[] = {
    {{64, 1}, {64, 1}, DEVICE_FORWARD, "64 numbers, 1 group of 64"},
    {{256, 4}, {64, 1}, DEVICE_FORWARD, "256 numbers, 4 groups of 64"},
    {{256, 4}, {64, 1}, DEVICE_BACKWARD, "256 numbers, 4 groups of 64, the last work-items first"},
    {{1000, 4}, {64, 1}, DEVICE_SHUFFLED, "1000 numbers, 4 groups of 64, work-items in any order"},
    {{5, 2}, {32, 1}, DEVICE_FORWARD, "5 numbers, 2 groups of 32"},
    {{3000, 3}, {256, 1}, DEVICE_SHUFFLED, "3000 numbers, 3 groups of 256, work-items in any order"},
    {{100, 7}, {1, 1}, DEVICE_FORWARD, "100 numbers, 7 groups of 1"},
    {{777, 5}, {2, 1}, DEVICE_BACKWARD, "777 numbers, 5 groups of 2, the last work-items first"},
};

static void call(float *const at[])
{
    const work_argument *is = device_now()->arguments;
    my_sum(at[0], at[1], at[2], (int)is[3].count);
}

static const device_test test = {
    .sizes = sizes, .count = sizeof sizes / sizeof *sizes, .describe = work_sum, .call = call};

static void cases(check_plan *plan)
{
    device_add(plan, &test);
}

static void run(p2p_comm *comm, const check_case *c)
{
    (void)comm;
    device_case(&test, c);
}

/* ---- In learn ---- */

static double x_at(const check_case *c, size_t i)
{
    return device_value(&test, c, 0, i);
}

/* The sum of every step-th number from first on, below end. */
static double sum_of(const check_case *c, size_t first, size_t end, size_t step)
{
    double sum = 0;
    for (size_t i = first; i < end; i += step) sum += x_at(c, i);
    return sum;
}

/* Which work-items of a group are in its sum. */
typedef enum { FIRST, EVEN, LOWER_HALF } part;

/* What those of all groups have added up, where work-items have numbers in a row, or in turn. */
static double of_part(const check_case *c, part which, bool in_a_row)
{
    const device_size *s = &sizes[c->variant];
    size_t n = s->n[0], group = s->group[0], items = s->n[1] * group, share = items ? (n + items - 1) / items : 0;
    double sum = 0;
    for (size_t i = 0; i < items; i++) {
        size_t me = i % group, first = i * share, end = first + share < n ? first + share : n;
        if (which == FIRST ? me > 0 : which == EVEN ? me % 2 > 0 : me >= group / 2) continue;
        sum += in_a_row ? sum_of(c, first, end, 1) : sum_of(c, i, n, items);
    }
    return sum;
}

/* What all have added up that begin at their number and go on in such steps. */
static double of_all(const check_case *c, size_t step)
{
    const device_size *s = &sizes[c->variant];
    double sum = 0;
    for (size_t i = 0; i < s->n[1] * s->group[0]; i++) sum += sum_of(c, i, s->n[0], step);
    return sum;
}

static bool is_part(const check_case *c, part which, double total)
{
    return sizes[c->variant].group[0] > 1 && (total == of_part(c, which, true) || total == of_part(c, which, false));
}

static bool explain(const check_case *c, double total, double should)
{
    const device_size *s = &sizes[c->variant];
    size_t n = s->n[0], groups = s->n[1], group = s->group[0], items = groups * group,
           whole = items ? n / items * items : 0, alike = items ? group * ((n + items - 1) / items) : 0;
    if (total == 0) return check_fail(c, "nothing", "All sums are 0, and the numbers add up to %g.", should);
    if (items < n && total == sum_of(c, 0, items, 1))
        return check_fail(c, "one_each",
                          "The sum is that of the first %zu numbers: one for each work-item. There are %zu.", items, n);
    if (is_part(c, FIRST, total))
        return check_fail(c, "tree", "Only what the first work-item of each group has added up is in the sum.");
    if (is_part(c, EVEN, total))
        return check_fail(c, "sum",
                          "Only every other work-item is in the sum of its group: does the tree stop one level "
                          "too early?");
    if (is_part(c, LOWER_HALF, total))
        return check_fail(c, "sum",
                          "Only the first half of a group's work-items is in its sum: the first level adds those "
                          "of the second half.");
    if (whole < n && whole && total == sum_of(c, 0, whole, 1))
        return check_fail(c, "tail",
                          "The last %zu numbers are missing: %zu work-items do not divide %zu numbers evenly.",
                          n - whole, items, n);
    if (total == should * (double)groups)
        return check_fail(c, "groups",
                          "The sum is %zu times what it should be, and there are %zu groups: each of them adds up all "
                          "numbers.",
                          groups, groups);
    if (alike <= n && total == (double)groups * sum_of(c, 0, alike, 1))
        return check_fail(
            c, "groups",
            "All %zu groups add up the same numbers, the first %zu: a share was counted within the group, "
            "by get_local_id.",
            groups, alike);
    if (group < items && total == of_all(c, group))
        return check_fail(
            c, "items.step",
            "Numbers were added by several work-items: each goes on in steps of %zu, the size of a group, "
            "and there are %zu work-items in all.",
            group, items);
    if (total == should * (double)group)
        return check_fail(c, "items",
                          "The sum is %zu times what it should be, and there are %zu work-items in a group.", group,
                          group);
    if (total == should - x_at(c, n - 1)) return check_fail(c, "tail", "The last number is missing.");
    if (total == should - x_at(c, 0)) return check_fail(c, "first", "The first number is missing.");
    if (device_count(c, 0, DEVICE_READS) > (double)n)
        return check_fail(c, "items",
                          "x was read %.0f times, and it has %zu numbers: some belong to several work-items.",
                          device_count(c, 0, DEVICE_READS), n);
    return check_fail(c, "sum",
                      "The groups' sums add up to %g, and should to %g. Are all work-items of a group in its sum, each "
                      "once?",
                      total, should);
}

/* Has a group written its sum? */
static bool has_written(const check_case *c, size_t group)
{
    return !device_is_unwritten(c, group);
}

/* Some groups have written their sums, and others have not: those that have no numbers, or all but one. */
static bool all_written(const check_case *c)
{
    const device_size *s = &sizes[c->variant];
    size_t groups = s->n[1], items = groups * s->group[0], share = items ? (s->n[0] + items - 1) / items : 0;
    size_t written = 0, last = 0, none = groups;
    bool empty = true;
    for (size_t g = groups; g-- > 0;) {
        if (has_written(c, g)) {
            written++;
            last = g;
            continue;
        }
        none = g;
        empty &= g * s->group[0] * share >= s->n[0];
    }
    if (!written || written == groups) return !device_unwritten(c);
    if (empty)
        return check_fail(c, "gaps.empty",
                          "Group %zu has no numbers to add up, and has not written partial[%zu]: its sum is 0, and "
                          "partial holds anything to begin with.",
                          none, none);
    if (written == 1)
        return check_fail(c, "gaps.global",
                          "Of %zu groups only group %zu has written its sum, partial[%zu]. Is there one work-item of "
                          "all that writes, by get_global_id? In each group one has to: that whose get_local_id(0) is "
                          "0.",
                          groups, last, last);
    return check_fail(c, "gaps", "Group %zu has not written its sum, partial[%zu]: one work-item of each group does.",
                      none, none);
}

static bool is_right(const check_case *c)
{
    double total = 0, *want = device_wanted(&test, c), should = want ? want[0] : NAN;
    free(want);
    for (size_t g = 0; g < sizes[c->variant].n[1]; g++) total += check_element(c, 0, "partial", g);
    return total == should || explain(c, total, should);
}

enum { VECTOR = 16 }; /* numbers may be read so many at a time */

static size_t log2_of(size_t n)
{
    size_t log = 0;
    while ((size_t)1 << log < n) log++;
    return log;
}

/* As a tree, and each number once. */
static void contract(const check_case *c)
{
    const device_size *s = &sizes[c->variant];
    size_t items = s->n[1] * s->group[0], share = items ? (s->n[0] + items - 1) / items : 0;
    double reads = device_count(c, 0, DEVICE_READS), most = device_count(c, 0, DEVICE_MOST_READS),
           local = device_count(c, 2, DEVICE_MOST_READS);
    if (local > 2 * (double)log2_of(s->group[0]) + 2)
        check_fail(c, "serial",
                   "One work-item reads scratch %.0f times. As a tree of %zu levels it reads two numbers a level and "
                   "one in the end: does one work-item add up what %zu have?",
                   local, log2_of(s->group[0]), s->group[0]);
    else if (reads > (double)s->n[0])
        check_fail(c, "reads", "x was read %.0f times, and it has %zu numbers: each belongs to one work-item.", reads,
                   s->n[0]);
    else if (most > 2 * (double)share + VECTOR)
        check_fail(c, "share", "One work-item adds up %.0f numbers; if all take part, %zu are enough.", most, share);
    else if (check_number_of(c, 0, "barriers") > 2 * (double)log2_of(s->group[0]) + 3)
        check_fail(c, "barriers", "%.0f barriers, and the tree has %zu levels: one for each is enough.",
                   check_number_of(c, 0, "barriers"), log2_of(s->group[0]));
}

/* A buffer was read or written beyond its end. */
static bool too_far(const check_case *c, int buffer, bool writes)
{
    return (int)device_fact(c, DEVICE_KIND) == DEVICE_BOUNDS && (device_fact(c, DEVICE_WRITES) > 0) == writes &&
           (int)device_fact(c, DEVICE_BUFFER) == buffer &&
           device_fact(c, DEVICE_ELEMENT) >= device_fact(c, DEVICE_ELEMENTS);
}

static void explain_bounds(const check_case *c)
{
    if (too_far(c, 1, true))
        check_also(c,
                   "partial has one place for each group, %zu here, and one work-item of each writes it: "
                   "partial[get_group_id(0)].",
                   sizes[c->variant].n[1]);
    if (too_far(c, 2, false))
        check_also(c, "What it adds is another work-item's: in each level only those add whose partner is there, half "
                      "as many as in the level before.");
    if (too_far(c, 2, true))
        check_also(c, "scratch is a group's own, with one place for each of its work-items: get_local_id(0).");
}

static void judge(const check_case *c)
{
    if (!device_is_fine(&test, c))
        explain_bounds(c);
    else if (all_written(c) && is_right(c))
        contract(c);
}

static const char *const files[] = {"sum.cl", NULL};

const check_exercise check_K2_sum = {.name = "K2_sum",
                                     .idea = "a tree in local memory: a group adds up, and waits at barriers",
                                     .call = "my_sum",
                                     .files = files,
                                     .library = CHECK_LIBRARY_P2P,
                                     .opencl = true,
                                     .cases = cases,
                                     .run = run,
                                     .judge = judge};
