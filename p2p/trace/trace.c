/* SPDX-License-Identifier: MIT */
/* Where the events of each rank lie. */
#include "p2p/trace/trace.h"

enum { LEAST_EVENTS = 64 };

uint64_t p2p__trace_room(int size, const p2p_config *config)
{
    size_t each = config->trace_room / (size_t)size;
    size_t events = each > sizeof(trace_rank) ? (each - sizeof(trace_rank)) / sizeof(trace_event) : 0;
    return events < LEAST_EVENTS ? LEAST_EVENTS : events;
}

size_t p2p__trace_rank_bytes(int size, const p2p_config *config)
{
    if (!config->trace_room) return 0;
    uint64_t events = p2p__trace_room(size, config) + (uint64_t)size;
    return (sizeof(trace_rank) + (size_t)events * sizeof(trace_event) + 4095) / 4096 * 4096;
}

size_t p2p__trace_bytes(int size, const p2p_config *config)
{
    return (size_t)size * p2p__trace_rank_bytes(size, config);
}

trace_rank *p2p__trace_of(const scoreboard *b, int rank)
{
    return (trace_rank *)(void *)((char *)b->trace + (size_t)rank * p2p__trace_rank_bytes(b->size, &b->config));
}
