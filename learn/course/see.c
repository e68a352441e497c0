/* SPDX-License-Identifier: MIT */
/*
 * learn see, learn debug: the case that fails, alone.
 *
 *      see      as a page for the browser: the learner's messages beside the solution's, up to the first that differs
 *      debug    in gdb, one rank of it
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/course/commands.h"
#include "learn/inside.h"

enum { TRIED = 12 };

/* Where its program is built: with whole names, so not where learn test builds it. */
static char *work_of(const learn_exercise *e)
{
    return learn_format("%s/course/see/%s", learn_build(), e->name);
}

/* ---- Which case ---- */

learn_place learn_case_with(const learn_exercise *e, int ranks)
{
    check_plan plan;
    check_plan_make(&plan, e->check, 0, 0);
    learn_place place = {plan.world_count ? plan.world_count - 1 : 0, 0};
    for (size_t i = plan.world_count; i-- > 0;)
        if (plan.worlds[i].ranks == ranks && !plan.worlds[i].strict) place.world = i;
    check_plan_free(&plan);
    return place;
}

/* Checks the learner's files. False if there is no case to be run alone, which has been explained. passes: all are right. */
static bool find_place(const learn_exercise *e, const char *folder, learn_place *place, bool *passes)
{
    OWNED char *work = work_of(e);
    learn_options options = {.even_if_stub = e->check->broken_stub, .whole_names = true, .work = work};
    OWNED_RESULT result;
    bool found = true;
    learn_check(e, folder, &options, &result);
    learn_state_note(e, &result);
    *place = result.place;
    *passes = result.state == LEARN_PASSED;
    if (*passes) {
        *place = learn_case_with(e, 4);
    } else if (result.state == LEARN_NOT_STARTED || !*result.ran) {
        learn_explain(stdout, e, &result, false);
        found = false;
    } else {
        OWNED char *words = learn_format("%s: %s", e->name, result.ran);
        OWNED_TEXT title = {0};
        learn_add_wrapped(&title, words, 0, learn_columns());
        puts(learn_string(&title));
    }
    return found;
}

/* ---- see ---- */

/* What these files do in that case goes to the trace. */
static void trace_case(const learn_exercise *e, const char *folder, const learn_place *place, const char *trace)
{
    OWNED_RESULT result;
    OWNED char *work = work_of(e);
    learn_options options = {
        .even_if_stub = true, .only = place, .trace = trace, .whole_names = true, .quiet_compiler = true, .work = work};
    unlink(trace); /* that of another case is none of this one */
    learn_check(e, folder, &options, &result);
}

static bool has_messages(const char *trace)
{
    OWNED char *text = learn_read_file(trace, NULL);
    return text && strstr(text, "\"ph\":\"s\"");
}

/* Of a world that passes the first case in which something is sent, or its first. `trace` is the solution's. */
static void choose_case(const learn_exercise *e, const char *solution, learn_place *place, const char *trace)
{
    check_plan plan;
    check_plan_make(&plan, e->check, 0, 0);
    const check_world_plan *world = &plan.worlds[place->world];
    for (size_t i = 0; i < world->count && i < TRIED; i++) {
        const learn_place tried = {place->world, plan.cases[world->first + i].number};
        trace_case(e, solution, &tried, trace);
        if (!has_messages(trace)) continue;
        *place = tried;
        break;
    }
    for (size_t i = 0; i < world->count; i++) {
        const check_case *c = &plan.cases[world->first + i];
        if (c->number != place->number) continue;
        OWNED char *what = learn_what_ran(e, &plan, place->world, c);
        char *right = strstr(what, " (the same"), *end = right ? right : strstr(what, " (here");
        printf("%s passes; this is one of its cases: %.*s\n", e->name, (int)(end ? end - what : (long)strlen(what)),
               what);
    }
    check_plan_free(&plan);
}

int learn_command_see(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Replay the case that fails: your messages beside the solution's, step "
                                              "by step, as a page for the browser."};
    learn_call call = {0};
    learn_place place;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    const char *name = call.e->name;
    OWNED char *own = learn_format("exercises/%s", name), *solution = learn_format("solutions/%s", name);
    OWNED char *mine = learn_format("%s/course/see/yours.json", learn_build()),
               *reference = learn_format("%s/course/see/solution.json", learn_build()),
               *page = learn_format("%s/see/%s.html", LEARN_STATE, name),
               *replay = learn_format("%s/replay", learn_build());
    const char *const words[] = {replay, mine, reference, "-o", page, "--title", name, NULL};
    if (call.e->check->opencl) {
        printf("%s has no messages to be seen; make test EX=%s says what its work-items did.\n", call.e->name,
               call.e->code);
        return 1;
    }
    bool passes;
    if (!find_place(call.e, own, &place, &passes)) return 1;
    OWNED char *folder = learn_format("%s/course/see", learn_build());
    learn_make_folder(folder);
    learn_make_folder(LEARN_STATE "/see");
    if (passes) choose_case(call.e, solution, &place, reference);
    trace_case(call.e, own, &place, mine);
    trace_case(call.e, solution, &place, reference);
    fflush(NULL);
    int status;
    pid_t pid;
    return posix_spawn(&pid, replay, NULL, NULL, (char *const *)words, environ) == 0 &&
                   waitpid(pid, &status, 0) == pid && status == 0
               ? 0
               : 1;
}

/* ---- debug ---- */

/* The program of the last check, with that case alone. */
static int debug(const learn_exercise *e, const learn_place *place, int rank)
{
    check_plan plan;
    check_plan_make(&plan, e->check, 0, 0);
    const check_world_plan *world = &plan.worlds[place->world];
    if (rank < 0 || rank >= world->ranks) {
        fprintf(stderr, "learn debug: RANK=%d, but this case has %d %s: 0 to %d\n", rank, world->ranks,
                world->ranks == 1 ? "rank" : "ranks", world->ranks - 1);
        check_plan_free(&plan);
        return 2;
    }
    OWNED char *work = work_of(e), *program = learn_format("%s/ranks", work);
    learn_world w = {.e = e, .plan = world, .cases = plan.cases + world->first};
    printf("rank %d of it in gdb. Type \"break %s\", then \"run\"; \"quit\" ends.\n", rank, e->check->call);
    fflush(stdout);
    learn_debug_world(&w, program, place, rank);
    fprintf(stderr, "learn debug: %s/launch cannot be started: %s\n", learn_build(), strerror(errno));
    return 1;
}

int learn_command_debug(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Run the case that fails, alone, with one rank in gdb: RANK of the "
                                              "environment, or rank 0."};
    learn_call call = {0};
    learn_place place;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    const char *rank = getenv("RANK");
    OWNED char *own = learn_format("exercises/%s", call.e->name);
    char *end = NULL;
    long number = rank && *rank ? strtol(rank, &end, 10) : 0;
    if (end && *end) {
        fprintf(stderr, "learn debug: RANK=%s is not a rank\n", rank);
        return 2;
    }
    bool passes;
    if (!find_place(call.e, own, &place, &passes)) return 1;
    if (passes) printf("%s passes; this is one of its cases.\n", call.e->name);
    return debug(call.e, &place, (int)number);
}
