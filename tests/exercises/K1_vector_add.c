/* SPDX-License-Identifier: MIT */
/* The test of exercise K1: every sum, and nothing behind the end. */
#include "exercises/kernels.h"
#include "tests/exercises/device.h"

#pragma weak my_vector_add

static const device_size sizes[] = {
    {{256}, {64, 1}, DEVICE_FORWARD, "256 numbers in groups of 64"},
    {{1000}, {64, 1}, DEVICE_FORWARD, "1000 numbers in groups of 64"},
    {{1000}, {64, 1}, DEVICE_BACKWARD, "1000 numbers in groups of 64, the last work-items first"},
    {{1}, {64, 1}, DEVICE_FORWARD, "1 number in a group of 64"},
    {{65}, {64, 1}, DEVICE_SHUFFLED, "65 numbers in groups of 64, work-items in any order"},
    {{63}, {1, 1}, DEVICE_FORWARD, "63 numbers in groups of 1"},
    {{777}, {256, 1}, DEVICE_SHUFFLED, "777 numbers in groups of 256, work-items in any order"},
    {{5000}, {96, 1}, DEVICE_FORWARD, "5000 numbers in groups of 96"},
};

static void call(float *const at[])
{
    my_vector_add(at[0], at[1], at[2], (int)device_now()->arguments[3].count);
}

static const device_test test = {
    .sizes = sizes, .count = sizeof sizes / sizeof *sizes, .describe = work_vector_add, .call = call};

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

/* c is so many times a, b, and their product. */
typedef struct {
    double a, b, product;
    const char *words;
} made_of;

static const made_of right = {1, 1, 0, ""}, ways[] = {{1, 0, 0, "c is a: b was not added."},
                                                      {0, 1, 0, "c is b: a was not added."},
                                                      {1, -1, 0, "c is a - b, where it should be a + b."},
                                                      {0, 0, 1, "c is a * b, where it should be a + b."},
                                                      {2, 0, 0, "c is a + a, where it should be a + b."}};

/* shift: of what lies so many places further on. */
static bool is_made(const check_case *c, const made_of *way, size_t shift)
{
    size_t n = sizes[c->variant].n[0];
    for (size_t i = 0; i + shift < n; i++) {
        double a = device_value(&test, c, 0, i + shift), b = device_value(&test, c, 1, i + shift);
        if (check_element(c, 0, "c", i) != way->a * a + way->b * b + way->product * a * b) return false;
    }
    return n > shift;
}

/* Is every other group's part unwritten, as when a group begins twice as far on? */
static bool is_counted_twice(const check_case *c)
{
    const device_size *s = &sizes[c->variant];
    size_t n = s->n[0], group = s->group[0];
    for (size_t i = 0; i < n; i++)
        if (device_is_unwritten(c, i) != (i / group % 2 == 1)) return false;
    return n > 2 * group && group > 1;
}

static void explain(const check_case *c)
{
    const device_size *size = &sizes[c->variant];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (is_made(c, &ways[i], 0)) {
            check_fail(c, "operation", "%s", ways[i].words);
            return;
        }
    if (is_made(c, &right, 1)) {
        check_fail(c, "index", "c[0] is a[1] + b[1], and so on: each sum lies one place too far to the front.");
        return;
    }
    if (device_unwritten(c)) {
        if (size->group[0] > 1 && !device_is_unwritten(c, 0) && device_is_unwritten(c, 1))
            check_also(c, "Only the first work-item of each group has written something.");
        if (is_counted_twice(c))
            check_also(c, "The elements of every other group are missing: was the beginning of a group counted twice? "
                          "get_global_id(0) is get_group_id(0) * get_local_size(0) + get_local_id(0) already.");
        size_t items = device_now()->global[0];
        if (size->n[0] > 1 && size->n[0] < items && device_is_unwritten(c, 0))
            check_also(c,
                       "There are more work-items than numbers here, %zu: is something divided by their number, and "
                       "rounded down to 0?",
                       items);
        if (size->n[0] == 1)
            check_also(c, "It is the only one: is something done for several numbers at once, and not for what is left "
                          "over, which is fewer?");
        return;
    }
    size_t i = 0;
    while (check_element(c, 0, "c", i) == device_want[i]) i++;
    check_fail(c, "values", "c[%zu] is %g, and should be %g: a[%zu] is %g, and b[%zu] is %g.", i,
               check_element(c, 0, "c", i), device_want[i], i, device_value(&test, c, 0, i), i,
               device_value(&test, c, 1, i));
}

/* Which element did the work-item want that went over the end? Its own is said with it, if that is another. */
static void say_own(const check_case *c)
{
    double own = device_fact(c, DEVICE_GROUP_OF) * (double)sizes[c->variant].group[0] + device_fact(c, DEVICE_ITEM);
    if (device_fact(c, DEVICE_KIND) == DEVICE_BOUNDS && own != device_fact(c, DEVICE_ELEMENT))
        check_also(c, "It is work-item %.0f of all, and its element is that of this number.", own);
}

static void judge(const check_case *c)
{
    if (!device_is_fine(&test, c))
        say_own(c);
    else if (!device_values(&test, c))
        explain(c);
}

static const char *const files[] = {"vector_add.cl", NULL};

const check_exercise check_K1_vector_add = {.name = "K1_vector_add",
                                            .idea = "a kernel: one work-item for each number",
                                            .call = "my_vector_add",
                                            .files = files,
                                            .library = CHECK_LIBRARY_P2P,
                                            .opencl = true,
                                            .cases = cases,
                                            .run = run,
                                            .judge = judge};
