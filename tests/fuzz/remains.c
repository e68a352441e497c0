/* SPDX-License-Identifier: MIT */
/* What the ranks of a learner's program left on standard error; the first byte is how it ended. */
#include "learn/inside.h"
#include "tests/fuzz/fuzz.h"

FUZZ(remains)
{
    static learn_world world;
    size_t exercises;
    const check_world_plan plan = {.ranks = 4};
    learn_result result = {.state = LEARN_NOT_STARTED};
    if (!count) return 0;
    world = (learn_world){.e = &learn_course(&exercises)[8], .plan = &plan};
    world.job.status = *bytes;
    learn_add_bytes(&world.job.err, (const char *)bytes + 1, count - 1);
    learn_autopsy(&world, NULL, &result);
    learn_text_free(&world.job.err);
    learn_result_free(&result);
    return 0;
}
