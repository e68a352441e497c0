/* SPDX-License-Identifier: MIT */
/* CRC32C, eight bytes at a time: eight tables, each one byte further on (Kounavis and Berry 2008). */
#include "trainer/crc.h"

static uint32_t table[8][256];

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
        table[0][i] = crc;
    }
    for (int t = 1; t < 8; t++)
        for (uint32_t i = 0; i < 256; i++) table[t][i] = (table[t - 1][i] >> 8) ^ table[0][table[t - 1][i] & 255];
}

static uint32_t one_byte(uint32_t crc, unsigned char byte)
{
    return (crc >> 8) ^ table[0][(crc ^ byte) & 255];
}

static uint32_t eight_bytes(uint32_t crc, const unsigned char *at)
{
    uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    return table[7][low & 255] ^ table[6][(low >> 8) & 255] ^ table[5][(low >> 16) & 255] ^ table[4][low >> 24] ^
           table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
}

uint32_t train__crc(uint32_t crc, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    if (!table[0][1]) make_tables();
    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, at += 8) crc = eight_bytes(crc, at);
    for (; bytes; bytes--, at++) crc = one_byte(crc, *at);
    return ~crc;
}
