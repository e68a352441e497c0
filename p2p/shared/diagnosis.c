/* SPDX-License-Identifier: MIT */
#include "p2p/shared/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#define NAME(name, text) text,

const char *p2p__class_name(int class)
{
    static const char *const names[] = {P2P_CLASS_LIST(NAME)};
    return (size_t) class < sizeof names / sizeof *names ? names[class] : "";
}

const char *p2p__reason_name(int reason)
{
    static const char *const names[] = {P2P_REASON_LIST(NAME)};
    return (size_t)reason < sizeof names / sizeof *names ? names[reason] : "";
}

p2p_place *p2p__finding_add(p2p_finding *finding, int role, int rank, const scoreboard_call *call)
{
    if (finding->count == finding->room) {
        size_t room = finding->room ? 2 * finding->room : 4;
        p2p_place *places = realloc(finding->places, room * sizeof *places);
        if (places) finding->places = places, finding->room = room;
    }
    p2p_place *place = finding->count < finding->room ? &finding->places[finding->count++] : &finding->spare;
    *place = (p2p_place){.role = role, .rank = rank};
    if (call) place->call = *call;
    return place;
}

const p2p_place *p2p__finding_next(const p2p_finding *finding, int role, size_t *at)
{
    while (*at < finding->count && finding->places[*at].role != role) ++*at;
    return *at < finding->count ? &finding->places[(*at)++] : NULL;
}

const p2p_place *p2p__finding_first(const p2p_finding *finding, int role)
{
    size_t at = 0;
    const p2p_place *first = p2p__finding_next(finding, role, &at);
    return first ? first : &finding->spare;
}

void p2p__finding_free(p2p_finding *finding)
{
    free(finding->places);
    free(finding->text);
    free(finding->advice);
}

p2p_diagnosis p2p__diagnosis_of(p2p_err err)
{
    static const struct {
        p2p_err err;
        int class, argument;
    } known[] = {{P2P_ERR_ARG, CLASS_INVALID_ARGUMENT, P2P_ARGUMENT_OTHER},
                 {P2P_ERR_RANK, CLASS_INVALID_ARGUMENT, P2P_ARGUMENT_RANK},
                 {P2P_ERR_STATE, CLASS_CALL_ORDER, P2P_ARGUMENT_NONE},
                 {P2P_ERR_TRUNCATE, CLASS_TRUNCATION, P2P_ARGUMENT_NONE},
                 {P2P_ERR_MISMATCH, CLASS_COUNT_MISMATCH, P2P_ARGUMENT_NONE},
                 {P2P_ERR_PEER_DEAD, CLASS_DEATH, P2P_ARGUMENT_NONE},
                 {P2P_ERR_TIMEOUT, CLASS_TIMEOUT, P2P_ARGUMENT_NONE},
                 {P2P_ERR_PROTO, CLASS_CORRUPTION, P2P_ARGUMENT_NONE},
                 {P2P_ERR_LEAK, CLASS_RESOURCE_LEAK, P2P_ARGUMENT_NONE},
                 {P2P_ERR_DEADLOCK, CLASS_DEADLOCK, P2P_ARGUMENT_NONE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].err == err) return (p2p_diagnosis){.class = known[i].class, .argument = known[i].argument};
    return (p2p_diagnosis){.class = CLASS_REFUSED};
}
