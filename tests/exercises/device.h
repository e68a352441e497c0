/* SPDX-License-Identifier: MIT */
/*
 * device: what the tests of the kernels share: cases of sizes, groups and orders, each run on the device of
 * exercises/check/check_opencl.h, and what that has found, in words.
 *
 *      in a rank    device_case
 *      in learn     device_add, device_is_fine, device_values, device_unwritten
 */
#ifndef PAIRWISE_TESTS_EXERCISES_DEVICE_H
#define PAIRWISE_TESTS_EXERCISES_DEVICE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/check/check.h"
#include "exercises/check/check_opencl.h"
#include "exercises/check/works.h"

enum { DEVICE_APART = 1 << 20 }; /* indices of the data of two buffers */

/* One case: sizes, a group, and what the learner is shown of it. */
typedef struct {
    size_t n[WORK_SIZES], group[2];
    device_order order;
    const char *words;
} device_size;

typedef struct {
    const device_size *sizes;
    size_t count;
    work_describe *describe;
    double (*value)(const check_case *c, const work *w, int argument, size_t i); /* NULL: check_value */
    void (*call)(float *const at[]); /* a work-item calls the kernel; the rest it knows from device_now */
} device_test;

/* The work of the case that is run or judged. */
static inline work *device_now(void)
{
    static work now;
    return &now;
}

static inline const device_size *device_begin_case(const device_test *t, const check_case *c)
{
    const device_size *size = &t->sizes[c->variant];
    *device_now() = t->describe(size->n, size->group);
    return size;
}

static inline void device_add(check_plan *plan, const device_test *t)
{
    check_world(plan, 1, false, NULL);
    for (size_t i = 0; i < t->count; i++)
        check_add(plan, (check_case){.variant = (int)i, .dtype = DTYPE_F32, .what = t->sizes[i].words});
}

static inline double device_value(const device_test *t, const check_case *c, int argument, size_t i)
{
    return t->value ? t->value(c, device_now(), argument, i) : check_value(c, 0, (size_t)argument * DEVICE_APART + i);
}

/* ---- In a rank ---- */

typedef struct {
    const device_test *test;
    float *at[WORK_ARGUMENTS];
} device_arguments;

static inline void device_call(void *arg)
{
    device_arguments *a = arg;
    a->test->call(a->at);
}

static inline void device_case(const device_test *t, const check_case *c)
{
    const device_size *size = device_begin_case(t, c);
    const work *w = device_now();
    device_arguments given = {.test = t};
    device_range range = {.order = size->order, .item = device_call, .arg = &given};
    device_begin();
    for (int i = 0; i < WORK_ARGUMENTS; i++) {
        const work_argument *a = &w->arguments[i];
        if (a->kind != WORK_IN && a->kind != WORK_OUT && a->kind != WORK_LOCAL) continue;
        given.at[i] = device_buffer(a->count, a->kind == WORK_IN    ? DEVICE_FILLED
                                              : a->kind == WORK_OUT ? DEVICE_OUTPUT
                                                                    : DEVICE_LOCAL);
        for (size_t k = 0; k < a->count && a->kind == WORK_IN; k++) given.at[i][k] = (float)device_value(t, c, i, k);
    }
    memcpy(range.global, w->global, sizeof range.global);
    memcpy(range.local, w->local, sizeof range.local);
    device_run(&range);
    int out = work_output(w);
    check_report(c, w->arguments[out].name, given.at[out], w->arguments[out].count, DTYPE_F32);
    check_report(c, "found", device_found, DEVICE_FACTS, DTYPE_F64);
    check_report(c, "counts", device_counts, sizeof device_counts / sizeof(double), DTYPE_F64);
    check_number(c, "barriers", device_barriers);
    for (int i = 0; i < WORK_ARGUMENTS; i++) { /* is what is only read as it was? */
        double changed = 0;
        for (size_t k = 0; w->arguments[i].kind == WORK_IN && k < w->arguments[i].count; k++)
            changed += given.at[i][k] != (float)device_value(t, c, i, k);
        if (changed > 0) check_number(c, "changed", i);
    }
}

/* ---- In learn ---- */

static inline double device_fact(const check_case *c, int fact)
{
    return check_element(c, 0, "found", (size_t)fact);
}

static inline double device_count(const check_case *c, int argument, int which)
{
    return check_element(c, 0, "counts", (size_t)(argument * DEVICE_COUNTS + which));
}

/* "work-item 3 of group 0" */
static inline const char *device_item(const check_case *c, int item, int group, char text[64])
{
    snprintf(text, 64, "work-item %.0f of group %.0f", device_fact(c, item), device_fact(c, group));
    return text;
}

/* "scratch[3]" */
static inline const char *device_place(const check_case *c, char text[64])
{
    int number = (int)device_fact(c, DEVICE_BUFFER);
    const char *names[WORK_ARGUMENTS];
    int count = 0;
    for (int i = 0; i < WORK_ARGUMENTS; i++) {
        work_kind kind = device_now()->arguments[i].kind;
        if (kind == WORK_IN || kind == WORK_OUT || kind == WORK_LOCAL) names[count++] = device_now()->arguments[i].name;
    }
    if (number < 0 || number >= count)
        snprintf(text, 64, "a place in local memory");
    else
        snprintf(text, 64, "%s[%.0f]", names[number], device_fact(c, DEVICE_ELEMENT));
    return text;
}

/* Do both take part in one level of a tree? Without a barrier between two levels somebody writes its place twice. */
static inline bool device_in_one_level(const check_case *c)
{
    bool same = check_line_of(c, device_fact(c, DEVICE_PLACE)) == check_line_of(c, device_fact(c, DEVICE_OTHER_PLACE));
    int number = (int)device_fact(c, DEVICE_BUFFER);
    bool local = number < 0 || number > work_output(device_now());
    return same && local && !(device_fact(c, DEVICE_AGAIN) > 0) &&
           (device_fact(c, DEVICE_WRITES) > 0) != (device_fact(c, DEVICE_OTHER_WRITES) > 0);
}

static inline void device_say_race(const check_case *c)
{
    char item[64], other[64], place[64];
    int line = check_line_of(c, device_fact(c, DEVICE_PLACE)),
        before = check_line_of(c, device_fact(c, DEVICE_OTHER_PLACE));
    bool groups = device_fact(c, DEVICE_GROUP_OF) != device_fact(c, DEVICE_OTHER_GROUP);
    bool output = (int)device_fact(c, DEVICE_BUFFER) == work_output(device_now());
    bool level = device_in_one_level(c), weak = device_fact(c, DEVICE_WEAK) > 0,
         both = device_fact(c, DEVICE_WRITES) > 0 && device_fact(c, DEVICE_OTHER_WRITES) > 0;
    check_fail(
        c,
        groups   ? "race.groups"
        : weak   ? "race.fence"
        : level  ? "race.level"
        : output ? "race.output"
                 : "race",
        "A race: in line %d %s %s %s, which %s has %s in line %d. %s", line,
        device_item(c, DEVICE_ITEM, DEVICE_GROUP_OF, item), device_fact(c, DEVICE_WRITES) > 0 ? "writes" : "reads",
        device_place(c, place), device_item(c, DEVICE_OTHER_ITEM, DEVICE_OTHER_GROUP, other),
        device_fact(c, DEVICE_OTHER_WRITES) > 0 ? "written" : "read", before,
        groups ? "Groups run in any order, and no barrier reaches from one to another: each place belongs to one "
                 "of them."
        : weak ? "The barrier between the two is for the other kind of memory: CLK_LOCAL_MEM_FENCE is for "
                 "local memory, CLK_GLOBAL_MEM_FENCE for global."
        : level
            ? "No work-item has written twice since the last barrier, so this is one level, and no barrier can part "
              "the two: what is written in a level is another place than what is read in it. Do more work-items add "
              "than half of those before, or is the index of the partner another one's?"
        : both ? "Which of the two stays is chance: each place belongs to one work-item."
               : "There is no barrier between the two, so either may come first.");
}

static inline void device_say_bounds(const check_case *c)
{
    char item[64], place[64];
    double element = device_fact(c, DEVICE_ELEMENT), elements = device_fact(c, DEVICE_ELEMENTS);
    int line = check_line_of(c, device_fact(c, DEVICE_PLACE));
    bool output = device_fact(c, DEVICE_WRITES) > 0 && (int)device_fact(c, DEVICE_BUFFER) == work_output(device_now());
    check_fail(c, output ? "bounds.output" : "bounds",
               "In line %d %s %s %s, and there are %.0f elements, from 0 to %.0f.%s", line,
               device_item(c, DEVICE_ITEM, DEVICE_GROUP_OF, item),
               device_fact(c, DEVICE_WRITES) > 0 ? "writes" : "reads", device_place(c, place), elements, elements - 1,
               element < 0 ? " It lies before the first." : "");
}

/* Nothing was found while the kernel ran, and what is only to be read is as it was. */
static inline bool device_is_fine(const device_test *t, const check_case *c)
{
    char item[64], place[64];
    bool local;
    device_begin_case(t, c);
    const char *output = device_now()->arguments[work_output(device_now())].name;
    switch ((device_finding)device_fact(c, DEVICE_KIND)) {
    case DEVICE_RACE: device_say_race(c); return false;
    case DEVICE_BOUNDS: device_say_bounds(c); return false;
    case DEVICE_UNSET:
        local = (int)device_fact(c, DEVICE_BUFFER) != work_output(device_now());
        return check_fail(c, local ? "unset.local" : "unset.output",
                          "In line %d %s reads %s, which no work-item%s has written: %s holds anything to begin with.",
                          check_line_of(c, device_fact(c, DEVICE_PLACE)),
                          device_item(c, DEVICE_ITEM, DEVICE_GROUP_OF, item), device_place(c, place),
                          local ? " of its group" : "", local ? "local memory" : output);
    case DEVICE_BARRIER:
        return check_fail(c, "barrier",
                          "%s waits at the barrier in line %.0f, and work-item %.0f of its group has ended without "
                          "coming there. On a real device that hangs, or goes on with anything.",
                          (device_item(c, DEVICE_ITEM, DEVICE_GROUP_OF, item), item[0] = 'W', item),
                          device_fact(c, DEVICE_PLACE), device_fact(c, DEVICE_OTHER_ITEM));
    case DEVICE_BARRIERS:
        return check_fail(c, "barrier",
                          "%s waits at the barrier in line %.0f, and work-item %.0f of its group at that in line %.0f: "
                          "all of a group must come to the same one, equally often.",
                          (device_item(c, DEVICE_ITEM, DEVICE_GROUP_OF, item), item[0] = 'W', item),
                          device_fact(c, DEVICE_PLACE), device_fact(c, DEVICE_OTHER_ITEM),
                          device_fact(c, DEVICE_OTHER_PLACE));
    default: break;
    }
    double changed = check_number_of(c, 0, "changed");
    if (!isnan(changed))
        return check_fail(c, "changed", "%s has changed: it is only to be read. Results belong in %s.",
                          device_now()->arguments[(int)changed % WORK_ARGUMENTS].name, output);
    return true;
}

/* What should come out; free it. */
static inline double *device_wanted(const device_test *t, const check_case *c)
{
    const work *w = device_now();
    float *data[WORK_ARGUMENTS] = {NULL};
    double *want = calloc(w->arguments[work_output(w)].count + 1, sizeof *want);
    for (int i = 0; i < WORK_ARGUMENTS; i++) {
        if (w->arguments[i].kind != WORK_IN) continue;
        data[i] = calloc(w->arguments[i].count + 1, sizeof *data[i]);
        for (size_t k = 0; data[i] && k < w->arguments[i].count; k++) data[i][k] = (float)device_value(t, c, i, k);
    }
    if (want) w->oracle(w, t->sizes[c->variant].n, (const float *const *)data, want);
    for (int i = 0; i < WORK_ARGUMENTS; i++) free(data[i]);
    return want;
}

/* The output as it should be, for check_values. */
static double *device_want;

static inline double device_want_at(const check_case *c, int rank, size_t i)
{
    (void)c, (void)rank;
    return device_want[i];
}

static inline size_t device_want_count(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return device_now()->arguments[work_output(device_now())].count;
}

/* All values are right; else the table is noted. device_want holds what should be until the next case. */
static inline bool device_values(const device_test *t, const check_case *c)
{
    free(device_want);
    device_want = device_wanted(t, c);
    return device_want && check_values(c, "values", device_now()->arguments[work_output(device_now())].name, NULL,
                                       device_want_count, device_want_at);
}

/* Is an element of the output as it was before the kernel ran? */
static inline bool device_is_unwritten(const check_case *c, size_t i)
{
    return isnan(check_element(c, 0, device_now()->arguments[work_output(device_now())].name, i));
}

/* Nothing of the output was written, or only a part of it: says so. */
static inline bool device_unwritten(const check_case *c)
{
    const work_argument *a = &device_now()->arguments[work_output(device_now())];
    size_t first = a->count, last = 0, count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (device_is_unwritten(c, i)) {
            if (first == a->count) first = i;
            last = i;
            count++;
        }
    if (!count || device_count(c, work_output(device_now()), DEVICE_WROTE) >= (double)a->count) return false;
    if (count == a->count)
        check_fail(c, "nothing", "Nothing was written to %s.", a->name);
    else if (count == 1)
        check_fail(c, last + 1 == a->count ? "tail" : "gaps", "%s[%zu] was not written, and all others were.", a->name,
                   first);
    else if (count == last - first + 1 && last + 1 == a->count)
        check_fail(c, "tail", "%s[%zu] to %s[%zu], the last %zu of %zu, were not written.", a->name, first, a->name,
                   last, count, a->count);
    else
        check_fail(c, "gaps", "%zu of %zu elements of %s were not written; the first is %s[%zu].", count, a->count,
                   a->name, a->name, first);
    return true;
}

#endif
