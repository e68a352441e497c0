/* SPDX-License-Identifier: MIT */
/* A test file's judge is linked into the ranks as well, where nobody calls it: here is what it would call. */
#include <stdlib.h>

#include "exercises/check/check_internal.h"

bool check_values(const check_case *c, const char *key, const char *name, const char *before, check_count *count,
                  check_want *want)
{
    (void)c, (void)key, (void)name, (void)before, (void)count, (void)want;
    abort();
}

bool check_same_bits(const check_case *c, const char *key, const char *name)
{
    (void)c, (void)key, (void)name;
    abort();
}

double check_number_of(const check_case *c, int rank, const char *name)
{
    (void)c, (void)rank, (void)name;
    abort();
}

double check_element(const check_case *c, int rank, const char *name, size_t index)
{
    (void)c, (void)rank, (void)name, (void)index;
    abort();
}

size_t check_elements(const check_case *c, int rank, const char *name)
{
    (void)c, (void)rank, (void)name;
    abort();
}

const void *check_data(const check_case *c, int rank, const char *name)
{
    (void)c, (void)rank, (void)name;
    abort();
}

p2p_traffic check_traffic(const check_case *c, int rank, int peer)
{
    (void)c, (void)rank, (void)peer;
    abort();
}

p2p_traffic check_sent(const check_case *c, int rank)
{
    (void)c, (void)rank;
    abort();
}

double check_seconds(const check_case *c, int rank)
{
    (void)c, (void)rank;
    abort();
}

const char *check_output(const check_case *c, int rank)
{
    (void)c, (void)rank;
    abort();
}

bool check_fail(const check_case *c, const char *key, const char *format, ...)
{
    (void)c, (void)key, (void)format;
    abort();
}

void check_also(const check_case *c, const char *format, ...)
{
    (void)c, (void)format;
    abort();
}
