/* SPDX-License-Identifier: MIT */
#include "p2p/shared/network.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/shared/config.h"

#define PICO 1e12
#define MOST_LATENCY (60 * UINT64_C(1000000000)) /* ns; no network takes a minute */

static const struct {
    const char *name;
    p2p_network network;
} profiles[] = {
    {"shm", {true, 0.5e-6, 10e9, 10e9, -1, -1, 1, -1, 1}},
    {"1GbE", {true, 50e-6, 0.125e9, 10e9, -1, -1, 1, -1, 1}},
    {"10GbE", {true, 20e-6, 1.25e9, 10e9, -1, -1, 1, -1, 1}},
    {"100GbE", {true, 2e-6, 12.5e9, 10e9, -1, -1, 1, -1, 1}},
    {"slow-link", {true, 20e-6, 1.25e9, 10e9, 0, 1, 10, -1, 1}},
    {"straggler", {true, 20e-6, 1.25e9, 10e9, -1, -1, 1, 0, 20}},
};

enum { PROFILES = sizeof profiles / sizeof *profiles };

/* "12G", "125M", "1e9": bytes a second, decimal, as links are sold; a factor, which has no unit. */
static bool parse_number(const char *text, const char *units, double least, double most, double *number)
{
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (long i = unit ? unit - units : -1; i >= 0; i--) value *= 1e3;
    if (end == text || (unit ? end[1] : *end) || !(value >= least) || !(value <= most)) return false;
    *number = value;
    return true;
}

/* A rank and the character behind it; where the text goes on, NULL if it is not so. */
static const char *parse_rank(const char *text, char behind, int *rank)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || value >= P2P_MAX_RANKS || *end != behind) return NULL;
    *rank = (int)value;
    return end + 1;
}

static bool parse_field(char *field, p2p_network *network)
{
    char *value = strchr(field, '=');
    uint64_t ns;
    if (!value) {
        size_t i = 0;
        while (i < PROFILES && strcmp(profiles[i].name, field) != 0) i++;
        if (i < PROFILES) *network = profiles[i].network;
        return i < PROFILES;
    }
    *value++ = 0;
    if (strcmp(field, "latency") == 0) {
        if (!p2p__parse_duration(value, &ns) || ns > MOST_LATENCY) return false;
        network->latency_s = (double)ns * 1e-9;
        return true;
    }
    if (strcmp(field, "bandwidth") == 0) return parse_number(value, "KMG", 1, 1e15, &network->bandwidth);
    if (strcmp(field, "reduce") == 0) return parse_number(value, "KMG", 1, 1e15, &network->reduce);
    if (strcmp(field, "slow") == 0) {
        const char *second = parse_rank(value, '-', &network->slow_from);
        const char *factor = second ? parse_rank(second, ':', &network->slow_to) : NULL;
        return factor && network->slow_from != network->slow_to &&
               parse_number(factor, "", DBL_MIN, 1e6, &network->slow_factor);
    }
    const char *factor = strcmp(field, "straggler") == 0 ? parse_rank(value, ':', &network->straggler) : NULL;
    return factor && parse_number(factor, "", DBL_MIN, 1e6, &network->straggler_factor);
}

bool p2p__network_parse(const char *text, p2p_network *network, char *why, size_t why_bytes)
{
    char copy[200], shown[200], *rest = copy, *field;
    p2p_network parsed = profiles[2].network;
    if (!*text || (size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy) {
        snprintf(why, why_bytes, "a network has a name: " P2P_NETWORK_NAMES);
        return false;
    }
    while ((field = strsep(&rest, ",")) != NULL) {
        snprintf(shown, sizeof shown, "%s", field);
        if (parse_field(field, &parsed)) continue;
        snprintf(why, why_bytes,
                 "network \"%s\": \"%s\" is not understood; there are " P2P_NETWORK_NAMES
                 ", or latency=2us,bandwidth=12G,reduce=8G,slow=0-1:10,straggler=2:5",
                 text, shown);
        return false;
    }
    parsed.on = true;
    *network = parsed;
    return true;
}

/* Up to eleven days: what would take longer could not be added up. */
static uint64_t pico_of(double seconds)
{
    return (uint64_t)((seconds < 1e6 ? seconds : 1e6) * PICO + 0.5);
}

uint64_t p2p__network_message(const p2p_network *network, int from, int to, size_t bytes)
{
    if (from == to) return 0;
    double seconds = network->latency_s + (double)bytes / network->bandwidth;
    if ((from == network->slow_from && to == network->slow_to) ||
        (to == network->slow_from && from == network->slow_to))
        seconds *= network->slow_factor;
    return pico_of(seconds);
}

uint64_t p2p__network_compute(const p2p_network *network, int rank, size_t bytes)
{
    double seconds = (double)bytes / network->reduce;
    if (rank == network->straggler) seconds *= network->straggler_factor;
    return pico_of(seconds);
}
