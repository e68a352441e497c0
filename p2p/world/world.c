/* SPDX-License-Identifier: MIT */
#include "p2p/world/world.h"

#include <string.h>

static const p2p_world *const worlds[] = {&p2p__world_socket, &p2p__world_shm};

const p2p_world *p2p__world_find(const char *name)
{
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        if (strcmp(worlds[i]->name, name) == 0) return worlds[i];
    return NULL;
}
