/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * trace_format: is it the format that Chrome and Perfetto read? Each event has the fields its kind must have; slices
 * nest on every track; both ends of an arrow lie inside a slice, and are one beginning and one end. And the other way
 * round: a trace that was cut or damaged is refused, whatever the damage.
 *
 * Duca and Sinclair, "Trace Event Format", 2016.
 */
#include <stdlib.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "replay/json.h"
#include "replay/page.h"
#include "replay/trace.h"
#include "ring/ring.h"
#include "tests/util/pattern.h"
#include "tests/util/suite.h"
#include "tests/util/traced.h"

enum { MOST_EVENTS = 40000, ROOM = 20000 };

static float buf[ROOM], other[ROOM];

/* ---- The format, read without our reader ---- */

typedef struct {
    char ph[4], name[80], cat[40], scope[4], bp[4], text_id[40], args_name[80];
    double ts, dur, pid, tid, id;
    bool has_ts, has_dur, has_pid, has_tid, has_id, has_args, has_sort;
} event;

static bool take_number(json *j, double *number, bool *has)
{
    *has = true;
    return json_number(j, number);
}

static void read_args(json *j, event *e)
{
    char key[40];
    double unused;

    e->has_args = true;
    if (!json_object(j)) return;
    while (json_key(j, key, sizeof key)) {
        if (strcmp(key, "name") == 0)
            json_text(j, e->args_name, sizeof e->args_name);
        else if (strcmp(key, "sort_index") == 0)
            take_number(j, &unused, &e->has_sort);
        else
            json_skip(j);
    }
}

static void read_member(json *j, event *e, const char *key)
{
    struct {
        const char *key;
        char *text;
        size_t bytes;
    } texts[] = {{"ph", e->ph, sizeof e->ph},
                 {"name", e->name, sizeof e->name},
                 {"cat", e->cat, sizeof e->cat},
                 {"s", e->scope, sizeof e->scope},
                 {"bp", e->bp, sizeof e->bp}};
    struct {
        const char *key;
        double *number;
        bool *has;
    } numbers[] = {{"ts", &e->ts, &e->has_ts},
                   {"dur", &e->dur, &e->has_dur},
                   {"pid", &e->pid, &e->has_pid},
                   {"tid", &e->tid, &e->has_tid}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].key, key) == 0) {
            json_text(j, texts[i].text, texts[i].bytes);
            return;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].key, key) == 0) {
            take_number(j, numbers[i].number, numbers[i].has);
            return;
        }
    if (strcmp(key, "id") == 0 && json_next(j) == '"')
        json_text(j, e->text_id, sizeof e->text_id);
    else if (strcmp(key, "id") == 0)
        take_number(j, &e->id, &e->has_id);
    else if (strcmp(key, "args") == 0)
        read_args(j, e);
    else
        json_fail(j, "a member that the format does not know");
}

static size_t read_all(const char *text, size_t bytes, event *events)
{
    char key[40];
    size_t count = 0;
    json j;

    json_open(&j, text, bytes);
    json_object(&j);
    while (json_key(&j, key, sizeof key)) {
        if (strcmp(key, "traceEvents") != 0) {
            json_skip(&j);
            continue;
        }
        json_array(&j);
        while (json_element(&j) && count < MOST_EVENTS) {
            event *e = &events[count++];
            *e = (event){.ts = 0};
            json_object(&j);
            while (json_key(&j, key, sizeof key)) read_member(&j, e, key);
        }
    }
    json_end(&j);
    cr_assert(json_fine(&j), "%s", j.error);
    cr_assert(count > 0 && count < MOST_EVENTS, "%zu events", count);
    return count;
}

/* What is wrong with one event; NULL for nothing. */
static const char *problem(const event *e)
{
    if (strlen(e->ph) != 1 || !strchr("XsfbeiM", e->ph[0])) return "no kind of event";
    if (!*e->name) return "no name";
    if (!e->has_pid || !e->has_tid) return "no process or thread";
    if (e->ph[0] == 'M') {
        bool names = strcmp(e->name, "process_name") == 0 || strcmp(e->name, "thread_name") == 0;
        if (names) return *e->args_name ? NULL : "a name without a name";
        return strcmp(e->name, "thread_sort_index") == 0 && e->has_sort ? NULL : "unknown metadata";
    }
    if (!e->has_ts || e->ts < 0) return "no time";
    if (!*e->cat) return "no category";
    if ((e->ph[0] == 'X') != e->has_dur || e->dur < 0) return "a slice has a duration, and nothing else has";
    if ((e->ph[0] == 's' || e->ph[0] == 'f') && !e->has_id) return "an arrow without a number";
    if (e->ph[0] == 'f' && strcmp(e->bp, "e") != 0) return "an arrow's end is not bound to the slice around it";
    if ((e->ph[0] == 'b' || e->ph[0] == 'e') && !*e->text_id) return "something in the background without a number";
    if (e->ph[0] == 'i' && (strlen(e->scope) != 1 || !strchr("gpt", e->scope[0]))) return "a moment without a scope";
    return NULL;
}

/* ---- Nesting: by thread, then by time, then in the order of the file ---- */

static int by_thread_and_time(const void *a, const void *b)
{
    const event *x = *(const event *const *)a, *y = *(const event *const *)b;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
    return (x > y) - (x < y);
}

static double end_of(const event *e)
{
    return e->ts + e->dur;
}

static const double rounding = 1e-4; /* us; times have three decimals */

static void check_nesting(const event *events, size_t count)
{
    const event **list = malloc(count * sizeof *list), *open[64];
    size_t used = 0, depth = 0;

    for (size_t i = 0; i < count; i++)
        if (strchr("Xsf", events[i].ph[0])) list[used++] = &events[i];
    qsort(list, used, sizeof *list, by_thread_and_time);
    for (size_t i = 0; i < used; i++) {
        const event *e = list[i];
        while (depth && (open[depth - 1]->tid != e->tid || end_of(open[depth - 1]) < e->ts - rounding)) depth--;
        if (e->ph[0] == 'X') {
            /* What ends exactly where this one begins is not around it. */
            while (depth && end_of(open[depth - 1]) <= e->ts + rounding &&
                   end_of(e) > end_of(open[depth - 1]) + rounding)
                depth--;
            cr_assert(!depth || end_of(e) <= end_of(open[depth - 1]) + rounding,
                      "%s at %.3f ends at %.3f, behind %s, which is around it and ends at %.3f", e->name, e->ts,
                      end_of(e), open[depth - 1]->name, end_of(open[depth - 1]));
            cr_assert(depth < 64);
            open[depth++] = e;
        } else {
            cr_assert(depth > 0, "an arrow at %.3f on thread %.0f is in no slice", e->ts, e->tid);
        }
    }
    free(list);
}

static int by_id(const void *a, const void *b)
{
    const event *x = *(const event *const *)a, *y = *(const event *const *)b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return y->ph[0] - x->ph[0]; /* s before f */
}

/* Every end has its beginning, and no number is used twice. */
static void check_arrows(const event *events, size_t count)
{
    const event **list = malloc(count * sizeof *list), *before = NULL;
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (strchr("sf", events[i].ph[0])) list[used++] = &events[i];
    qsort(list, used, sizeof *list, by_id);
    for (size_t i = 0; i < used; i++) {
        bool same = before && before->id == list[i]->id;
        if (list[i]->ph[0] == 's') cr_assert(!same, "the number %.0f is used twice", list[i]->id);
        if (list[i]->ph[0] == 'f') {
            cr_assert(same && before->ph[0] == 's', "message %.0f was received and never sent", list[i]->id);
            cr_assert(before->ts <= list[i]->ts + rounding * 20, "message %.0f: sent at %.3f, received at %.3f",
                      list[i]->id, before->ts, list[i]->ts);
        }
        before = list[i];
    }
    free(list);
}

static void check_format(const char *text, size_t bytes, int ranks)
{
    event *events = malloc(MOST_EVENTS * sizeof *events);
    size_t count = read_all(text, bytes, events), names = 0;

    for (size_t i = 0; i < count; i++) {
        const char *why = problem(&events[i]);
        cr_assert_null(why, "event %zu (%s %s): %s", i, events[i].ph, events[i].name, why ? why : "");
        names += strcmp(events[i].name, "thread_name") == 0 && events[i].tid <= ranks;
    }
    cr_assert_eq(names, (size_t)ranks, "%zu tracks have the name of a rank", names);
    check_nesting(events, count);
    check_arrows(events, count);
    free(events);
}

/* ---- What is traced ---- */

static int all_sorts(p2p_comm *world, void *arg)
{
    int n = p2p_size(world), rank = p2p_rank(world);
    p2p_request requests[3];

    (void)arg;
    p2p_layer_phase_begin(world, "a \"phase\" with\nwhat \\ needs care");
    CALL(coll_all_reduce(world, buf, ROOM, DTYPE_F32, OP_SUM));
    CALL(coll_naive_all_reduce(world, buf, 100, DTYPE_F32, OP_SUM));
    CALL(coll_tree_all_reduce(world, buf, ROOM, DTYPE_F32, OP_SUM));
    p2p_layer_phase_end(world, "a \"phase\" with\nwhat \\ needs care");
    for (int i = 0; i < 3; i++) CALL(ring_iall_reduce(world, buf + 5000 * i, 5000, DTYPE_F32, OP_SUM, &requests[i]));
    CALL(p2p_sendrecv(world, other, 8, (rank + 1) % n, 0, other + 8, 8, (rank + n - 1) % n, 0, P2P_STATUS_IGNORE));
    CALL(p2p_wait_all(3, requests, P2P_STATUSES_IGNORE));
    CALL(coll_barrier(world));
    return 0;
}

static int receives_first(p2p_comm *world, void *arg)
{
    int n = p2p_size(world);

    (void)arg;
    CALL(coll_barrier(world));
    p2p_recv(world, buf, 4, (p2p_rank(world) + n - 1) % n, 0, P2P_STATUS_IGNORE);
    return 0;
}

static void check_run(int n, const p2p_options *options, job_main rank_main)
{
    job_result result;
    size_t bytes;
    char *text = traced_run(n, options, rank_main, NULL, &result, &bytes);

    cr_assert_not_null(text, "%s\n%.2000s", result.note, result.process.err);
    check_format(text, bytes, n);
    free(text);
    job_free(&result);
}

Test(format, in_real_time)
{
    for (int n = 1; n <= 6; n++) check_run(n, NULL, all_sorts);
    check_run(3, &(p2p_options){.strict = true}, all_sorts);
}

Test(format, in_virtual_time)
{
    for (int n = 1; n <= 6; n++) check_run(n, &(p2p_options){.network = "1GbE"}, all_sorts);
}

/* Messages that arrive byte by byte end up in other calls. */
Test(format, with_short_writes)
{
    setenv("PAIRWISE_SNDBUF", "1", 1);
    check_run(3, NULL, all_sorts);
    check_run(3, &(p2p_options){.network = "1GbE"}, all_sorts);
}

Test(format, of_a_deadlock)
{
    check_run(4, NULL, receives_first);
    check_run(4, &(p2p_options){.network = "1GbE"}, receives_first);
}

/* ---- Damage ---- */

static bool reads(const char *text, size_t bytes, bool make_page)
{
    char why[600];
    replay_trace trace;
    bool fine = replay_read_text(text, bytes, "the trace", &trace, why, sizeof why);

    if (!fine) {
        cr_assert(*why && !strchr(why, '\n'), "refused without a word");
        return false;
    }
    if (make_page) {
        FILE *page = fopen("/dev/null", "w");
        replay_page(page, &trace, NULL, "damaged", NULL);
        fclose(page);
    }
    replay_free(&trace);
    return true;
}

/* A copy that ends where the memory does, so that a sanitizer sees every step too far. */
static bool reads_copy(const char *text, size_t bytes)
{
    char *copy = malloc(bytes ? bytes : 1);

    memcpy(copy, text, bytes);
    bool fine = reads(copy, bytes, false);
    free(copy);
    return fine;
}

static void cut_anywhere(job_main run)
{
    job_result result;
    size_t bytes;
    char *text = traced_run(2, NULL, run, NULL, &result, &bytes);

    cr_assert(text && reads_copy(text, bytes), "the whole of it is fine");
    for (size_t cut = 0; cut < bytes - 1; cut += job_is_quick() ? 7 : 1) /* without its last line break it is whole */
        cr_assert(!reads_copy(text, cut), "cut after %zu of %zu bytes, and taken for a trace", cut, bytes);
    free(text);
    job_free(&result);
}

Test(damage, a_trace_cut_anywhere_is_refused)
{
    cut_anywhere(all_sorts);
}

Test(damage, a_trace_of_a_deadlock_cut_anywhere_is_refused)
{
    cut_anywhere(receives_first);
}

Test(damage, changed_bytes_never_crash)
{
    job_result result;
    size_t bytes;
    uint64_t seed = 7;
    char *text = traced_run(3, NULL, receives_first, NULL, &result, &bytes);
    static const char likely[] = "0129-+.eE\"\\{}[],: \n\0u\x80\xff";

    cr_assert_not_null(text);
    for (int i = 0; i < (job_is_quick() ? 4000 : 20000); i++) {
        size_t at[3];
        char before[3];
        for (int k = 0; k < 3; k++) {
            at[k] = pattern_random(&seed) % bytes;
            before[k] = text[at[k]];
            text[at[k]] = likely[pattern_random(&seed) % (sizeof likely - 1)];
        }
        reads(text, bytes, true);
        for (int k = 3; k-- > 0;) text[at[k]] = before[k];
    }
    cr_assert(reads(text, bytes, true), "put back, it is fine again");
    free(text);
    job_free(&result);
}

Test(damage, what_is_no_trace_is_refused)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "{}",
                                        "[]",
                                        "hello",
                                        "{\"traceEvents\":[]}",
                                        "{\"traceEvents\":[],\"pairwise\":{\"ranks\":0}}",
                                        "{\"traceEvents\":[],\"pairwise\":{\"ranks\":1e99}}",
                                        "{\"traceEvents\":{},\"pairwise\":{\"ranks\":2}}",
                                        "{\"traceEvents\":[{\"ph\":\"X\"}],\"pairwise\":{\"ranks\":2}}",
                                        "{\"traceEvents\":[],\"pairwise\":{\"ranks\":2}} more"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert(!reads_copy(texts[i], strlen(texts[i])), "taken for a trace: %s", texts[i]);
    char deep[4000];
    memset(deep, '[', sizeof deep);
    cr_assert(!reads_copy(deep, sizeof deep));
}
