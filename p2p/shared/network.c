/* SPDX-License-Identifier: MIT */
#include "p2p/shared/network.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/shared/config.h"

#define PICO 1e12
#define MOST_LATENCY (60 * UINT64_C(1000000000)) /* ns; no network takes a minute */

#define NUMBERS(latency, bytes, combined, from, to, factor, rank, slower)                                    \
    {                                                                                                        \
        .on = true, .latency_s = (latency), .bandwidth = (bytes), .reduce = (combined), .slow_from = (from), \
        .slow_to = (to), .slow_factor = (factor), .straggler = (rank), .straggler_factor = (slower)          \
    }

static const struct {
    const char *name;
    p2p_network network;
} profiles[] = {
    {"shm", NUMBERS(0.5e-6, 10e9, 10e9, -1, -1, 1, -1, 1)},
    {"1GbE", NUMBERS(50e-6, 0.125e9, 10e9, -1, -1, 1, -1, 1)},
    {"10GbE", NUMBERS(20e-6, 1.25e9, 10e9, -1, -1, 1, -1, 1)},
    {"100GbE", NUMBERS(2e-6, 12.5e9, 10e9, -1, -1, 1, -1, 1)},
    {"slow-link", NUMBERS(20e-6, 1.25e9, 10e9, 0, 1, 10, -1, 1)},
    {"straggler", NUMBERS(20e-6, 1.25e9, 10e9, -1, -1, 1, 0, 20)},
};

enum { SHM, ETHERNET = 2 }; /* the one within a host; the one that is changed, if there is no name */
enum { PROFILES = sizeof profiles / sizeof *profiles };
enum { NAMED = 1 << 16 }; /* a profile, among the bits of fields */

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

static const char *const fields[] = {"latency", "bandwidth", "reduce", "hosts", "slow", "straggler", NULL};

/* PROFILES: none has this name. */
static size_t profile_of(const char *name)
{
    size_t i = 0;
    while (i < PROFILES && strcmp(profiles[i].name, name) != 0) i++;
    return i;
}

/* Which of the fields is set here? -1: none, it is a name. */
static int field_of(const char *text)
{
    size_t length = strcspn(text, "=");
    for (int i = 0; fields[i] && text[length]; i++)
        if (strlen(fields[i]) == length && memcmp(fields[i], text, length) == 0) return i;
    return -1;
}

/* Would this field take back what is in front of it? Says why not. */
static bool takes_back(const char *text, const char *field, unsigned before, char *why, size_t why_bytes)
{
    int which = field_of(field);
    bool twice = which >= 0 && before >> which & 1, late_name = before && profile_of(field) < PROFILES;
    if (twice) snprintf(why, why_bytes, "network \"%s\": %s= is there twice\n  try: one of them", text, fields[which]);
    if (late_name)
        snprintf(why, why_bytes, "network \"%s\": a name comes first, and changes to it behind\n  try: %s,...", text,
                 field);
    return twice || late_name;
}

/* "4": so many hosts; "4:2:2:8": four, with so many ranks each. */
static bool parse_hosts(const char *text, p2p_network *network)
{
    int count = 0, number = 1;
    for (const char *at = text; *at || !count; at += *at == ':') {
        char *end;
        long value = strtol(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && (*end != ':' || !end[1])) || value < 1 || value > P2P_MAX_RANKS ||
            count == P2P_MAX_RANKS)
            return false;
        network->on_host[count++] = (uint16_t)(number = (int)value);
        at = end;
    }
    if (count == 1) network->on_host[0] = 0;
    network->hosts = count == 1 ? number : count;
    return true;
}

static bool parse_field(char *field, p2p_network *network)
{
    char *value = strchr(field, '=');
    uint64_t ns;
    if (!value) {
        size_t i = profile_of(field);
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
    if (strcmp(field, "hosts") == 0) return parse_hosts(value, network);
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
    unsigned before = 0; /* bits of fields */
    p2p_network parsed = profiles[ETHERNET].network;
    if (!*text || (size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy) {
        snprintf(why, why_bytes, "a network has a name: " P2P_NETWORK_NAMES);
        return false;
    }
    while ((field = strsep(&rest, ",")) != NULL) {
        snprintf(shown, sizeof shown, "%s", field);
        if (takes_back(text, field, before, why, why_bytes)) return false;
        const int which = field_of(field);
        before |= which >= 0 ? 1U << which : NAMED;
        if (parse_field(field, &parsed)) continue;
        snprintf(why, why_bytes,
                 "network \"%s\": \"%s\" is not understood; there are " P2P_NETWORK_NAMES
                 ", or latency=2us,bandwidth=12G,reduce=8G,slow=0-1:10,straggler=2:5,hosts=4",
                 text, shown);
        return false;
    }
    parsed.on = true;
    *network = parsed;
    return true;
}

bool p2p__network_place(p2p_network *n, int ranks, char *why, size_t why_bytes)
{
    int sum = 0, hosts = ranks > 1 ? n->hosts : 0;
    bool listed = hosts && n->on_host[0];
    n->placed = 0;
    if (!n->on) return true;
    if (ranks > 1 && (n->slow_from >= ranks || n->slow_to >= ranks || n->straggler >= ranks)) {
        snprintf(why, why_bytes, "the network names a rank that is not there: ranks are 0 to %d", ranks - 1);
        return false;
    }
    for (int h = 0; listed && h < hosts; h++) sum += n->on_host[h];
    if (hosts > ranks || (listed && sum != ranks)) {
        snprintf(why, why_bytes,
                 listed
                     ? "the network's %d hosts have %d ranks, and the job has %d\n  try: as many, or hosts=%d"
                     : "a network of %d hosts is not for %d ranks: each host has one at least\n  try: hosts=%d or less",
                 hosts, listed ? sum : ranks, ranks, hosts);
        return false;
    }
    for (int h = 0; h < hosts; h++)
        n->first[h + 1] = (uint16_t)(n->first[h] + (listed ? n->on_host[h] : ranks / hosts + (h < ranks % hosts)));
    n->placed = hosts;
    return true;
}

bool p2p__network_same(const p2p_network *a, const p2p_network *b)
{
    if (!a->on || !b->on) return a->on == b->on;
    bool numbers = a->latency_s == b->latency_s && a->bandwidth == b->bandwidth && a->reduce == b->reduce;
    bool slow = a->slow_from == b->slow_from && a->slow_to == b->slow_to && a->slow_factor == b->slow_factor;
    bool late = a->straggler == b->straggler && a->straggler_factor == b->straggler_factor;
    size_t hosts = a->placed > 1 ? (size_t)a->placed + 1 : 0;
    bool placed = (hosts ? a->placed : 0) == (b->placed > 1 ? b->placed : 0);
    return numbers && slow && late && placed && memcmp(a->first, b->first, hosts * sizeof *a->first) == 0;
}

int p2p__network_host(const p2p_network *network, int rank)
{
    int low = 0, high = network->placed; /* of the hosts from low to before high */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (rank >= network->first[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Up to eleven days: what would take longer could not be added up. */
static uint64_t pico_of(double seconds)
{
    return (uint64_t)((seconds < 1e6 ? seconds : 1e6) * PICO + 0.5);
}

uint64_t p2p__network_message(const p2p_network *network, int from, int to, size_t bytes)
{
    if (from == to) return 0;
    bool inside = network->placed > 1 && !p2p__network_crosses(network, from, to);
    const p2p_network *link = inside ? &profiles[SHM].network : network;
    double seconds = link->latency_s + (double)bytes / link->bandwidth;
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
