/* SPDX-License-Identifier: MIT */
/* Where the notes of each rank lie. */
#include "p2p/trace/notes.h"

size_t p2p__notes_rank_bytes(const p2p_config *config)
{
    size_t bytes = (config->metrics ? sizeof(notes_metrics) : 0) + (config->record ? sizeof(notes_record) : 0);
    return (bytes + 4095) / 4096 * 4096;
}

size_t p2p__notes_bytes(int size, const p2p_config *config)
{
    return (size_t)size * p2p__notes_rank_bytes(config);
}

static char *block_of(const scoreboard *b, int rank)
{
    return (char *)b->notes + (size_t)rank * p2p__notes_rank_bytes(&b->config);
}

notes_metrics *p2p__notes_metrics(const scoreboard *b, int rank)
{
    return b->config.metrics ? (void *)block_of(b, rank) : NULL;
}

notes_record *p2p__notes_record(const scoreboard *b, int rank)
{
    if (!b->config.record) return NULL;
    return (void *)(block_of(b, rank) + (b->config.metrics ? sizeof(notes_metrics) : 0));
}
