/* SPDX-License-Identifier: MIT */
/* learn_check: compile, then world after world until one is wrong, and in each case after case. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "learn/inside.h"

/* Times as long as the best possible: up to the first all points are given, from the second on none. */
#define LEARN_SLOW_ALL 1.2
#define LEARN_SLOW_NONE 3.0

/* ---- What ran ---- */

/* Does a world have a case of the same function? */
static bool has_call(const check_plan *plan, const check_world_plan *world, const char *call)
{
    for (size_t i = 0; i < world->count; i++) {
        const char *other = plan->cases[world->first + i].call;
        if (other == call || (other && call && strcmp(other, call) == 0)) return true;
    }
    return false;
}

/* Which worlds like this one were right: "the same with 1, 2 and 3 ranks". */
static bool add_right_worlds(learn_text *t, const check_plan *plan, size_t failed, const check_case *c)
{
    bool sizes[CHECK_MAX_RANKS + 1] = {false}, any = false, buffered = false, only_one = true;
    const check_world_plan *world = &plan->worlds[failed];
    if (c && c->fails) return false; /* tried in this world alone */
    for (size_t i = 0; i < failed; i++) {
        const check_world_plan *other = &plan->worlds[i];
        if (c && !has_call(plan, other, c->call)) continue;
        if (other->strict == world->strict && other->ranks != world->ranks) sizes[other->ranks] = any = true;
        if (sizes[other->ranks] && other->ranks > 1) only_one = false;
        if (!other->strict && world->strict && other->ranks == world->ranks) buffered = true;
    }
    if (any) {
        learn_add(t, "the same with ");
        learn_add_numbers(t, sizes, CHECK_MAX_RANKS + 1);
        learn_add(t, " rank%s", only_one ? "" : "s");
    }
    if (buffered) learn_add(t, "%sbuffered", any ? ", and " : "");
    return any || buffered;
}

/* Which roots were right in this world, if this one is another. */
static bool add_right_roots(learn_text *t, const check_plan *plan, size_t failed, const check_case *c, bool first)
{
    bool roots[CHECK_MAX_RANKS] = {false}, any = false;
    const check_world_plan *world = &plan->worlds[failed];
    for (int i = 0; i < c->number; i++) {
        const check_case *other = &plan->cases[world->first + (size_t)i];
        if ((other->shows & CHECK_SHOW_ROOT) && other->root >= 0 && other->root < c->ranks)
            roots[other->root] = any = true;
    }
    if (!any || !(c->shows & CHECK_SHOW_ROOT) || roots[c->root]) return false;
    learn_add(t, "%swith root ", first ? "" : ", and here ");
    learn_add_numbers(t, roots, c->ranks);
    return true;
}

char *learn_what_ran(const learn_exercise *e, const check_plan *plan, size_t failed, const check_case *c)
{
    learn_text t = {0};
    OWNED_TEXT right = {0};
    const check_world_plan *world = &plan->worlds[failed];
    learn_add(&t, "%s", learn_call_of(e, c));
    if (!e->check->opencl) learn_add(&t, " on %d rank%s", world->ranks, world->ranks == 1 ? "" : "s");
    if (c && c->what) learn_add(&t, ", %s", c->what);
    if (c && (c->shows & CHECK_SHOW_COUNT)) learn_add(&t, ", count %zu", c->count);
    if (c && (c->shows & CHECK_SHOW_DTYPE)) learn_add(&t, ", %s", dtype_name(c->dtype));
    if (c && (c->shows & CHECK_SHOW_OP)) learn_add(&t, ", %s", op_name(c->op));
    if (c && (c->shows & CHECK_SHOW_ROOT)) learn_add(&t, ", root %d", c->root);
    if (e->check->opencl) return t.text;
    learn_add(&t, ", %s", world->strict ? "strict (every send waits for its receive)" : "buffered");
    if (world->network) learn_add(&t, ", network %s", world->network);
    bool any = add_right_worlds(&right, plan, failed, c);
    if (c && add_right_roots(&right, plan, failed, c, !any)) any = true;
    if (any) learn_add(&t, " (%s was right)", learn_string(&right));
    return t.text;
}

/* ---- One world ---- */

/* Ranks that wait for each other, or messages left over, in a case without elements, where those with elements were right. */
static void note_empty(const learn_world *w, size_t failed, learn_result *result)
{
    static const char *const keys[] = {"deadlock.returned", "deadlock.unreceived", "leak"};
    const check_case *c = &w->cases[failed];
    bool fits = false, right = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) fits |= strcmp(result->key, keys[i]) == 0;
    for (size_t i = 0; i < failed; i++) right |= w->cases[i].count > 0;
    if (!fits || !right || c->count || !(c->shows & CHECK_SHOW_COUNT)) return;
    learn_add_to_failure(result,
                         "With elements it was right, and here count is 0: one rank leaves its call out, and the "
                         "other does not.");
    snprintf(result->key, sizeof result->key, "no_elements");
    learn_set_advice(result,
                     "For count 0 either all ranks make their calls or none does: an empty message that is sent "
                     "has to be received, and one that is waited for has to be sent.");
}

/* The case that was wrong; NULL if none was, or the end of the world was. */
static const check_case *judge_world(learn_world *w, const learn_place *only, learn_result *result)
{
    bool whole_program = !w->e->check->run;
    if (whole_program && w->job.status != 0) {
        learn_autopsy(w, NULL, result);
        return &w->cases[0];
    }
    for (size_t i = 0; i < w->plan->count; i++) {
        const check_case *c = &w->cases[i];
        if (only && only->number != c->number) continue;
        bool ended = true; /* every rank has been through it */
        for (int rank = 0; rank < c->ranks; rank++)
            ended &= whole_program || learn_record(w, rank, NULL, c->number, CHECK_ENDED, NULL);
        if (ended) {
            learn_judge(w, c, result);
        } else {
            learn_autopsy(w, c, result);
            learn_judge_ended(w, c, result);
        }
        if (result->state == LEARN_FAILED) note_empty(w, i, result);
        if (result->state == LEARN_FAILED) return c;
        result->cases++;
    }
    if (w->job.status != 0) learn_autopsy(w, NULL, result);
    if (!whole_program && !only && !w->plan->repairs && !w->schedule && result->state != LEARN_FAILED)
        learn_check_claims(w, result);
    return NULL;
}

static void add_stream(learn_text *t, const char *heading, const learn_text *stream, size_t bytes)
{
    if (!bytes) return;
    learn_add(t, "%s%s:\n%s", t->used ? "\n" : "", heading, learn_string(stream));
    if (t->text[t->used - 1] != '\n') learn_add(t, "\n");
}

/* Every case in every order: of one that is wrong in some the result is that of such an order. Which case it was; NULL: none. */
static const check_case *judge_orders(learn_world *w, const check_plan *plan, learn_result *result)
{
    const learn_world fresh = *w;
    for (size_t i = 0; i < w->plan->count && result->state != LEARN_FAILED; i++) {
        OWNED_TEXT why = {0};
        learn_order order = {.story = NULL};
        const check_case *c = &w->cases[i];
        const learn_place place = {(size_t)c->world, c->number};
        learn_options one = *fresh.options;
        if (one.only && one.only->number != c->number) continue;
        one.only = &place;
        bool wrong = learn_find_order(w, plan, c, &order, result);
        for (int k = 0; wrong && k < 2 && order.schedules[k] && result->state != LEARN_FAILED; k++) {
            *w = fresh;
            w->options = &one;
            w->schedule = order.schedules[k];
            if (learn_run_world(w, w->program, plan, place.world, &one, &why)) judge_world(w, &place, result);
            w->options = fresh.options;
            w->schedule = NULL;
            if (result->state != LEARN_FAILED) learn_world_free(w);
        }
        if (wrong)
            learn_fail(result, "message_race", "",
                       "What the ranks have in the end depends on which message comes first.");
        if (wrong) learn_replace(&result->order, order.story ? learn_copy(order.story) : learn_copy(""));
        learn_order_free(&order);
        if (wrong) return c;
        *w = fresh;
    }
    return NULL;
}

static learn_result new_result(void)
{
    return (learn_result){.state = LEARN_PASSED,
                          .ran = learn_copy(""),
                          .order = learn_copy(""),
                          .shown = learn_copy(""),
                          .broke = learn_copy(""),
                          .advice = learn_copy(""),
                          .more = learn_copy(""),
                          .warnings = learn_copy(""),
                          .rated = learn_copy(""),
                          .share = 1};
}

/* A world once more, or one of its cases in a world that has no other: which case is wrong then? -1: none; -2: it did not run. */
static int wrong_again(const learn_exercise *e, const check_plan *plan, size_t number, const learn_place *only,
                       const char *program, const learn_options *o)
{
    OWNED_TEXT why = {0};
    OWNED_RESULT result = new_result();
    const check_world_plan *world = &plan->worlds[number];
    learn_options again = *o;
    learn_world w = {.e = e, .plan = world, .cases = plan->cases + world->first, .program = program, .options = &again};
    again.only = only;
    again.trace = NULL;
    bool ran = learn_run_world(&w, program, plan, number, &again, &why);
    const check_case *wrong = ran ? judge_world(&w, only, &result) : NULL;
    int is = !ran ? -2 : wrong ? wrong->number : result.state == LEARN_PASSED ? -1 : -2;
    learn_world_free(&w);
    return is;
}

/* What was wrong behind other cases, and is right alone, is so because of something that they have left. */
static void note_left_over(const learn_exercise *e, const check_plan *plan, const char *program, const learn_options *o,
                           learn_result *result)
{
    static const char *const others[] = {"timeout", "checker", "todo"};
    const learn_place *at = &result->place;
    const check_world_plan *world = &plan->worlds[at->world];
    if (!e->check->run || !at->number || world->repairs || world->orders || o->only || o->delays) return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(result->key, others[i], strlen(others[i])) == 0) return;
    for (int times = 0; times < 2; times++)
        if (wrong_again(e, plan, at->world, at, program, o) != -1) return;
    if (wrong_again(e, plan, at->world, NULL, program, o) != at->number) return; /* it differs from run to run */
    learn_add_to_failure(result, "The same case is right when it comes first: is something kept from one call to the "
                                 "next, as a static or global variable is? Each call begins anew.");
    snprintf(result->key, sizeof result->key, "left_over");
    learn_set_advice(result, "What a call counts or keeps is a local variable, or is set anew where the call begins.");
}

static void check_world_number(const learn_exercise *e, const check_plan *plan, size_t number, const char *program,
                               const learn_options *o, learn_result *result)
{
    OWNED_TEXT why = {0}, more = {0};
    const check_world_plan *world = &plan->worlds[number];
    learn_world w = {.e = e, .plan = world, .cases = plan->cases + world->first, .program = program, .options = o};
    const check_case *wrong = NULL;
    if (world->orders && !o->delays) wrong = judge_orders(&w, plan, result);
    if (result->state != LEARN_FAILED && learn_run_world(&w, program, plan, number, o, &why))
        wrong = judge_world(&w, o->only, result);
    if (why.used) learn_fail(result, "checker", "", "%s", learn_string(&why));
    if (result->slow.words && !result->slow.ran) {
        result->slow.place.world = number;
        result->slow.ran = learn_what_ran(e, plan, number, &w.cases[result->slow.place.number]);
    }
    if (result->state == LEARN_FAILED) {
        learn_replace(&result->ran, learn_what_ran(e, plan, number, wrong));
        result->place = (learn_place){number, wrong ? wrong->number : 0};
        add_stream(&more, "What the ranks printed", &w.job.out, w.job.out_bytes);
        add_stream(&more, "What the ranks and the supervisor said", &w.job.err, w.job.err_bytes);
        learn_replace(&result->more, learn_copy(learn_string(&more)));
    } else {
        result->worlds++;
    }
    learn_world_free(&w);
}

/* All is right, and something took too long: that is a failure, and a part of the points. */
static void note_slowness(learn_result *result)
{
    learn_slowness *slow = &result->slow;
    double share = fmax(0, fmin(1, (LEARN_SLOW_NONE - slow->times) / (LEARN_SLOW_NONE - LEARN_SLOW_ALL)));
    if (!slow->words || result->state != LEARN_PASSED) return;
    learn_fail(result, slow->key, "", "%s", slow->words);
    OWNED char *most =
        learn_format("All else is right. At most it took %.2g times as long as the best possible: %.0f%% "
                     "of the points.",
                     slow->times, 100 * share);
    learn_add_to_failure(result, most);
    learn_replace(&result->ran, learn_copy(slow->ran));
    result->place = slow->place;
    result->share = share;
}

/* ---- All ---- */

int learn_lock_work(const learn_exercise *e, const learn_options *o)
{
    OWNED char *work = learn_work_folder(e, o);
    int how = o->keep_program ? LOCK_SH : LOCK_EX;
    int fd = learn_make_folder(work) ? open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0 || flock(fd, how | LOCK_NB) == 0 || errno != EWOULDBLOCK) return fd;
    fprintf(stderr, "another check of %s is under way in this checkout: waiting until it ends\n", e->name);
    while (flock(fd, how) != 0 && errno == EINTR) continue;
    return fd;
}

/* A line that the next one replaces; with nothing left to do it is gone. */
static void show_progress(const learn_exercise *e, const learn_options *o, size_t world, size_t worlds)
{
    if (!o->progress) return;
    fprintf(stderr, "\r\033[K");
    if (!worlds)
        fprintf(stderr, "%s: compiling", e->name);
    else if (world < worlds)
        fprintf(stderr, "%s: running, %zu of %zu", e->name, world + 1, worlds);
    fflush(stderr);
}

bool learn_check(const learn_exercise *e, const char *folder, const learn_options *options, learn_result *result)
{
    const learn_options *o = options ? options : &(learn_options){.seed = 0};
    char program[LEARN_PATH];
    check_plan plan;
    double began = learn_now();
    *result = new_result();
    if (!o->even_if_stub && !o->instead && learn_not_started(e, folder)) {
        result->state = LEARN_NOT_STARTED;
        result->share = 0;
    } else {
        int lock = learn_lock_work(e, o);
        uint64_t seed = learn_key(o->seed, UINT64_MAX, 0); /* ranks know it */
        check_plan_make(&plan, e->check, seed, o->seed);
        show_progress(e, o, 0, 0);
        bool good = learn_compile(e, folder, o, program, result);
        for (size_t i = 0; good && i < plan.world_count && result->state != LEARN_FAILED; i++) {
            if (o->only && o->only->world != i) continue;
            show_progress(e, o, i, plan.world_count);
            check_world_number(e, &plan, i, program, o, result);
        }
        if (result->state == LEARN_FAILED) note_left_over(e, &plan, program, o, result);
        note_slowness(result);
        if (e->check->opencl && o->rate && result->state == LEARN_PASSED) learn_rate(e, folder, o, result);
        show_progress(e, o, 1, 1);
        if (!plan.world_count) learn_fail(result, "checker", "", "The test has no worlds.");
        check_plan_free(&plan);
        if (lock >= 0) close(lock);
    }
    result->seconds = learn_now() - began;
    return result->state == LEARN_PASSED;
}

void learn_result_free(learn_result *result)
{
    free(result->ran);
    free(result->order);
    free(result->shown);
    free(result->broke);
    free(result->advice);
    free(result->more);
    free(result->warnings);
    free(result->rated);
    free(result->slow.words);
    free(result->slow.ran);
    *result = (learn_result){.state = LEARN_NOT_STARTED};
}
