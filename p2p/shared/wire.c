/* SPDX-License-Identifier: MIT */
#include "p2p/shared/wire.h"

#include <stdio.h>

#include "p2p/shared/crc.h"

void p2p__wire_seal(wire_header *header)
{
    header->magic = WIRE_MAGIC;
    header->header_crc = p2p__crc32c(0, header, offsetof(wire_header, header_crc));
}

bool p2p__wire_check(const wire_header *header, bool sealed, int source, uint32_t sequence, size_t eager, char *why,
                     size_t why_bytes)
{
    const char *wrong = sealed && header->magic != WIRE_MAGIC ? "it does not begin a frame"
                        : sealed && header->header_crc != p2p__crc32c(0, header, offsetof(wire_header, header_crc))
                            ? "its checksum is wrong"
                        : header->type < WIRE_EAGER || header->type > WIRE_CREDIT ? "its type is unknown"
                        : header->source != (uint32_t)source ? "it comes from another rank than the link"
                        : header->sequence != sequence       ? "a frame was lost or repeated"
                        : header->type == WIRE_EAGER && header->bytes > eager ? "its length is over the eager limit"
                        : header->bytes > WIRE_MAX_BYTES                      ? "its length is impossible"
                                                                              : NULL;
    if (!wrong) return true;
    size_t used = (size_t)snprintf(why, why_bytes, "the bytes from rank %d are not a valid header: %s:", source, wrong);
    const unsigned char *at = (const unsigned char *)header;
    for (size_t i = 0; i < sizeof *header && used + 4 < why_bytes; i++)
        used += (size_t)snprintf(why + used, why_bytes - used, "%s%02x", i % 4 ? "" : " ", at[i]);
    return false;
}
