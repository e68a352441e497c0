/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of a world say, held against what the relay saw. A rank says itself which communicator a case ran on, so
 * that must fit: all ranks say the same, no two cases the same, and no bytes were sent on any other.
 */
#include <stdlib.h>

#include "learn/inside.h"

/* The communicator of each case, of which all ranks say the same. False if one has none, or another's. */
static bool find_contexts(const learn_world *w, uint32_t *contexts)
{
    for (size_t i = 0; i < w->plan->count; i++) {
        for (int rank = 0; rank < w->plan->ranks; rank++) {
            const check_record *r = learn_record(w, rank, NULL, w->cases[i].number, CHECK_TRAFFIC, NULL);
            if (!r || (rank && (uint32_t)r->value != contexts[i])) return false;
            contexts[i] = (uint32_t)r->value;
        }
        if (!contexts[i] || contexts[i] % 2) return false;
        for (size_t k = 0; k < i; k++)
            if (contexts[k] == contexts[i]) return false;
    }
    return true;
}

void learn_check_claims(const learn_world *w, learn_result *result)
{
    OWNED uint32_t *contexts = learn_memory((w->plan->count + 1) * sizeof *contexts);
    if (learn_relay_garbled(w->relay) || !find_contexts(w, contexts))
        learn_fail(result, "crash", "",
                   "What passed between the ranks does not fit what they reported: something wrote over it. Does your "
                   "code write to memory or descriptors that are not its own?");
    else if (learn_relay_elsewhere(w->relay, contexts, w->plan->count))
        learn_fail(result, "elsewhere", "",
                   "Messages were sent on another communicator than the one your function was given. All that is "
                   "needed can be sent on that one, and only there it is counted.");
}
