/* SPDX-License-Identifier: MIT */
/*
 * A kernel that has passed, on a real device, beside the solution's (rated.c). Wrong results are a failure; how fast it is, is
 * not: it makes the share of the points that is given. Where there is no device, the share is whole.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/check/rate.h"
#include "learn/check/rated.h"

static void note_speed(const rated *found, learn_result *result)
{
    if (!(found->ratio > 0) || !(found->peak > 0)) return;
    result->share = found->ratio >= RATE_ENOUGH ? 1 : found->ratio / RATE_ENOUGH;
    learn_replace(&result->rated,
                  learn_format("%.3g %s, %.0f%% of this machine's peak; %.0f%% of the solution's speed%s: "
                               "%.0f%% of the points",
                               found->speed, found->unit, 100 * found->speed / found->peak, 100 * found->ratio,
                               found->ratio >= RATE_ENOUGH ? "" : " (80% are enough)", 100 * result->share));
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

static void explain(const rated *found, const char *file, learn_result *result)
{
    const char *words = found->words;
    switch (found->as) {
    case RATED: note_speed(found, result); break;
    case RATED_NONE: note_none(words, result); break;
    case RATED_BUILD:
        learn_fail(result, "device", words,
                   "The tests are right, and the compiler of this machine's OpenCL device does not take %s: %.*s.",
                   file, (int)strcspn(first_error(words), "\n"), first_error(words));
        break;
    case RATED_WRONG:
        learn_fail(result, "device.wrong", "",
                   "The tests are right, and on this machine's OpenCL device it is not: %s.", words);
        break;
    case RATED_LATE:
        learn_fail(
            result, "device.late", "",
            "The tests are right, and on this machine's OpenCL device it has not ended after %.0f s, in which the "
            "solution's is run many times: it waits for something, or does a thousand times the work.",
            learn_tool_seconds);
        break;
    case RATED_DEAD:
        learn_fail(result, "device", "", "The tests are right, and on this machine's OpenCL device it crashes.");
    }
}

void learn_rate(const learn_exercise *e, const char *folder, const learn_options *o, learn_result *result)
{
    OWNED char *program = learn_format("%s/bench/rate", learn_build()),
               *source = o->instead ? learn_copy(o->instead) : learn_format("%s/%s", folder, e->check->files[0]);
    rated found;
    if (access(program, X_OK) != 0) {
        note_none("build/bench/rate is not there; make builds it where there is OpenCL (docs/install.md)", result);
    } else if (o->no_device) {
        note_none(o->no_device, result);
    } else {
        learn_rate_beside(e, source, o, &found);
        explain(&found, e->check->files[0], result);
        free(found.words);
    }
}
