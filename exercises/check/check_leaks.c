/* SPDX-License-Identifier: MIT */
/* Inside of communicators: what p2p_finalize would say of requests that were not waited for, asked before it; and what a rank
 * has read. */
#include "p2p/message/internal.h"
#include "p2p/shared/words.h"

#include "exercises/check/check_internal.h"

const char *check_leaked(p2p_comm *world, check_place *at)
{
    static p2p_words text;
    text = (p2p_words){.used = 0};
    p2p__report_leaks(world);
    for (int i = world->engine->drafts - 1; i >= 0; i--) {
        const scoreboard_found *found = &world->engine->row->found[i];
        if (found->what.class != CLASS_REQUEST_LEAK || found->count < 2) continue;
        const scoreboard_call *made = &found->places[1].call;
        p2p__add_arguments(&text, "", made);
        *at = (check_place){made->file, made->line};
    }
    return text.text;
}

bool check_has_read(const p2p_comm *comm, int reader, int sender)
{
    scoreboard *b = comm->engine->scoreboard;
    int from = comm->world_rank[sender], to = comm->world_rank[reader];
    return atomic_load(&p2p__scoreboard_received(b, to)[from]) == atomic_load(&p2p__scoreboard_sent(b, from)[to]);
}

uint32_t check_context(const p2p_comm *comm)
{
    return comm->context;
}
