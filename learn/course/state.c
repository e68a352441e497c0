/* SPDX-License-Identifier: MIT */
/*
 * What is remembered of the learner, between one call and the next:
 *
 *      .learn/08_broadcast/failure     the kind of the last failure
 *      .learn/08_broadcast/passed      a number for the files that passed last
 *      .learn/08_broadcast/hints       how far the hints have been shown
 *      .learn/08_broadcast/stub-FILE   the stubs that the learner began with
 *      .learn/old/08_broadcast/WHEN/   work put aside by reset and update
 *
 * All of it can be deleted at any time: what is lost is which hint comes next, and until the next make test what is done.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/course/commands.h"

char *learn_state_get(const learn_exercise *e, const char *name)
{
    OWNED char *path = learn_format("%s/%s/%s", LEARN_STATE, e->name, name);
    return learn_read_file(path, NULL);
}

void learn_state_put(const learn_exercise *e, const char *name, const char *text)
{
    static bool said;
    OWNED char *path = learn_format("%s/%s/%s", LEARN_STATE, e->name, name);
    if (!text) {
        unlink(path);
    } else if (!learn_put_file(path, text, strlen(text))) {
        if (!said)
            fprintf(stderr, "learn: %s cannot be written, so nothing is remembered: %s\n", path, strerror(errno));
        said = true;
    }
}

uint64_t learn_files_hash(const learn_exercise *e, const char *folder)
{
    uint64_t hash = 0;
    for (const char *const *file = e->check->files; *file; file++) {
        OWNED char *path = learn_format("%s/%s", folder, *file);
        if (!(hash = learn_hash_file(hash, path))) return 0;
    }
    return hash;
}

static uint64_t own_hash(const learn_exercise *e)
{
    OWNED char *folder = learn_format("exercises/%s", e->name);
    return learn_files_hash(e, folder);
}

void learn_state_begin(const learn_exercise *e)
{
    for (const char *const *file = e->check->files; *file; file++) {
        OWNED char *name = learn_format("stub-%s", *file), *known = learn_state_get(e, name);
        OWNED char *stub = known ? NULL : learn_stub(e, *file, NULL);
        if (stub) learn_state_put(e, name, stub);
    }
}

void learn_state_note(const learn_exercise *e, const learn_result *result)
{
    learn_state_begin(e);
    if (result->state == LEARN_NOT_STARTED) return;
    bool passed = result->state == LEARN_PASSED;
    OWNED char *text = passed ? learn_format("%016" PRIx64 "\n", own_hash(e)) : learn_format("%s\n", result->key);
    learn_state_put(e, "passed", passed ? text : NULL);
    learn_state_put(e, "failure", passed ? NULL : text);
}

enum learn_progress learn_progress(const learn_exercise *e)
{
    OWNED char *folder = learn_format("exercises/%s", e->name);
    if (learn_not_started(e, folder)) return LEARN_TO_DO;
    OWNED char *passed = learn_state_get(e, "passed");
    return passed && strtoull(passed, NULL, 16) == own_hash(e) ? LEARN_DONE : LEARN_IN_PROGRESS;
}

const char *learn_last_failure(const learn_exercise *e, char *key)
{
    OWNED char *text = learn_state_get(e, "failure");
    snprintf(key, LEARN_KEY, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
    return key;
}
