/* SPDX-License-Identifier: MIT */
#ifndef PAIRWISE_P2P_CRC_H
#define PAIRWISE_P2P_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC32C (Castagnoli, as in iSCSI, RFC 3720 appendix B.4) of data, continuing from crc; start with 0. */
uint32_t p2p__crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
