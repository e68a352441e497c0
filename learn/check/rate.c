/* SPDX-License-Identifier: MIT */
/*
 * A kernel that has passed, on a real device: bench/rate.c runs it there, beside the solution's. Wrong results are a failure;
 * how fast it is, is not: it makes the share of the points that is given. Where there is no device, the share is whole.
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "learn/check/build.h"
#include "learn/check/rate.h"

static void note_speed(const json_t *said, learn_result *result)
{
    double ratio = json_number_value(json_object_get(said, "ratio")),
           speed = json_number_value(json_object_get(said, "speed")),
           peak = json_number_value(json_object_get(said, "peak"));
    const char *unit = json_string_value(json_object_get(said, "unit"));
    if (!(ratio > 0) || !(peak > 0) || !unit) return;
    result->share = ratio >= RATE_ENOUGH ? 1 : ratio / RATE_ENOUGH;
    learn_replace(&result->rated,
                  learn_format("%.3g %s, %.0f%% of this machine's peak; %.0f%% of the solution's speed%s: "
                               "%.0f%% of the points",
                               speed, unit, 100 * speed / peak, 100 * ratio,
                               ratio >= RATE_ENOUGH ? "" : " (80% are enough)", 100 * result->share));
}

static void note_none(const char *why, learn_result *result)
{
    learn_replace(&result->rated, learn_format("not measured: %.*s", (int)strcspn(why, "\n"), why));
}

/* Of the log of a device's compiler: the first error. */
static const char *first_error(const char *log)
{
    const char *error = strstr(log, "error: ");
    return error ? error + strlen("error: ") : log;
}

static void explain(const json_t *said, const char *file, learn_result *result)
{
    const char *log = json_string_value(json_object_get(said, "build")),
               *wrong = json_string_value(json_object_get(said, "wrong"));
    if (log)
        learn_fail(result, "device", log,
                   "The tests are right, and the compiler of this machine's OpenCL device does not take %s: %.*s.",
                   file, (int)strcspn(first_error(log), "\n"), first_error(log));
    else if (wrong)
        learn_fail(result, "device.wrong", "",
                   "The tests are right, and on this machine's OpenCL device it is not: %s.", wrong);
    else
        note_speed(said, result);
}

void learn_rate(const learn_exercise *e, const char *folder, const learn_options *o, learn_result *result)
{
    OWNED char *program = learn_format("%s/bench/rate", learn_build()), *work = learn_work_folder(e, o),
               *cache = learn_format("PAIRWISE_CACHE=%s/opencl", work),
               *source = o->instead ? learn_copy(o->instead) : learn_format("%s/%s", folder, e->check->files[0]);
    OWNED_SPAWNED done = {0};
    if (access(program, X_OK) != 0) {
        note_none("build/bench/rate is not there; make builds it where there is OpenCL (docs/install.md)", result);
        return;
    }
    const char *const words[] = {program, e->code, source, NULL};
    const learn_command_line line = {.argv = words,
                                     .seconds = learn_tool_seconds,
                                     .options = o,
                                     .step = LEARN_LINK,
                                     .variable = o->confine ? cache : NULL};
    learn_spawn(&line, &done);
    const char *out = learn_string(&done.out), *err = learn_string(&done.err);
    bool works = learn_has_prefix(out, RATE_WORKS "\n");
    json_t *said = json_loads(works ? learn_next_line(out) : out, 0, NULL);
    const char *none = json_string_value(json_object_get(said, "none"));
    if (!works || none)
        note_none(none ? none : *err ? err : "the OpenCL device does not work", result);
    else if (said)
        explain(said, e->check->files[0], result);
    else if (done.late)
        learn_fail(
            result, "device.late", "",
            "The tests are right, and on this machine's OpenCL device it has not ended after %.0f s, in which the "
            "solution's is run many times: it waits for something, or does a thousand times the work.",
            learn_tool_seconds);
    else
        learn_fail(result, "device", "", "The tests are right, and on this machine's OpenCL device it crashes.");
    json_decref(said);
}
