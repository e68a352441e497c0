/* SPDX-License-Identifier: MIT */
/* Values of variables and of options: sizes, times, networks, lists. The first byte says of which. */
#include <stdlib.h>
#include <string.h>

#include "bench/util/sizes.h"
#include "p2p/shared/config.h"
#include "tests/fuzz/fuzz.h"

static const char *const names[] = {"PAIRWISE_WORLD",      "PAIRWISE_EAGER",  "PAIRWISE_UNEXP_MAX", "PAIRWISE_DIRECT",
                                    "PAIRWISE_WAIT",       "PAIRWISE_STRICT", "PAIRWISE_TIMEOUT",   "PAIRWISE_SNDBUF",
                                    "PAIRWISE_TRACE_ROOM", "PAIRWISE_CHECK",  "PAIRWISE_NETWORK"};

static void read_variable(const char *name, const char *value)
{
    p2p_config config;
    char why[300];
    setenv(name, value, 1);
    p2p_err err = p2p__config_read(&config, why, sizeof why);
    if (err && !strstr(why, name)) __builtin_trap();
    unsetenv(name);
}

static void read_option(char *text)
{
    size_t size, parts_count;
    const char *parts[8];
    long number;
    if (count_parse(text, 1, 100, &number) && (number < 1 || number > 100)) __builtin_trap();
    size_parse(text, &size);
    list_parse(text, parts, 8, &parts_count);
}

static void read_network(const char *text)
{
    p2p_network network;
    char why[300];
    if (!p2p__network_parse(text, &network, why, sizeof why)) return;
    if (p2p__network_message(&network, 0, 1, 1 << 20) < p2p__network_message(&network, 0, 1, 1)) __builtin_trap();
}

FUZZ(settings)
{
    enum { NAMES = sizeof names / sizeof *names };
    if (!count) return 0;
    char *text = fuzz_text(bytes + 1, count - 1);
    if (*bytes % 16 < NAMES)
        read_variable(names[*bytes % 16], text);
    else if (*bytes % 16 < 14)
        read_network(text);
    else
        read_option(text);
    free(text);
    return 0;
}
