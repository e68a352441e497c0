/* SPDX-License-Identifier: MIT */
#ifndef PAIRWISE_TRAINER_CRC_H
#define PAIRWISE_TRAINER_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC32C (Castagnoli; RFC 3720, appendix B.4) of data, going on from crc; begin with 0. */
uint32_t train__crc(uint32_t crc, const void *data, size_t bytes);

#endif
