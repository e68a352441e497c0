/* SPDX-License-Identifier: MIT */
/* CRC32C by the processor's own instruction where it has one, a nibble at a time elsewhere. */
#include "p2p/shared/crc.h"

#include <string.h>
#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/* Remainders of the 16 nibbles for the reflected polynomial 0x82F63B78. */
static const uint32_t nibble_table[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static uint32_t crc_portable(uint32_t crc, const unsigned char *at, size_t bytes)
{
    for (; bytes; bytes--, at++) {
        crc ^= *at;
        crc = (crc >> 4) ^ nibble_table[crc & 15];
        crc = (crc >> 4) ^ nibble_table[crc & 15];
    }
    return crc;
}

/* The instruction takes eight bytes, or one. */
#if defined(__x86_64__)
#define TARGET __attribute__((target("sse4.2")))
#define EIGHT(crc, word) (uint32_t) __builtin_ia32_crc32di(crc, word)
#define ONE __builtin_ia32_crc32qi
#define HAS_INSTRUCTION __builtin_cpu_supports("sse4.2")
#elif defined(__aarch64__)
#define TARGET __attribute__((target("+crc")))
#define EIGHT __builtin_aarch64_crc32cx
#define ONE __builtin_aarch64_crc32cb
#define HAS_INSTRUCTION (getauxval(AT_HWCAP) & HWCAP_CRC32)
#endif

#ifdef HAS_INSTRUCTION
TARGET static uint32_t crc_hardware(uint32_t crc, const unsigned char *at, size_t bytes)
{
    for (; bytes >= 8; bytes -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        crc = EIGHT(crc, word);
    }
    for (; bytes; bytes--, at++) crc = ONE(crc, *at);
    return crc;
}
#endif

uint32_t p2p__crc32c(uint32_t crc, const void *data, size_t bytes)
{
#ifdef HAS_INSTRUCTION
    if (HAS_INSTRUCTION) return ~crc_hardware(~crc, data, bytes);
#endif
    return ~crc_portable(~crc, data, bytes);
}
