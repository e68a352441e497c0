/* SPDX-License-Identifier: MIT */
#include "p2p/shared/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/shared/spelling.h"

#define MAX_SECONDS (10.0 * 365 * 24 * 3600)

bool p2p__parse_size(const char *text, size_t *bytes)
{
    if (*text < '0' || *text > '9') return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (unit) end++;
    if (errno || *end || value > (SIZE_MAX >> shift)) return false;
    *bytes = (size_t)value << shift;
    return true;
}

bool p2p__parse_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};

    if ((*text < '0' || *text > '9') && *text != '.') return false;
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].name) != 0) continue;
        if (!(value * units[i].seconds <= MAX_SECONDS)) return false;
        *ns = (uint64_t)(value * units[i].seconds * 1e9);
        return true;
    }
    return false;
}

static bool parse_flag(const char *text, void *flag)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) return false;
    *(bool *)flag = *text == '1';
    return true;
}

static bool parse_bytes(const char *text, void *bytes)
{
    return p2p__parse_size(text, bytes);
}

static bool parse_eager(const char *text, void *bytes)
{
    size_t value;
    if (!p2p__parse_size(text, &value) || value > (size_t)1 << 30) return false;
    *(size_t *)bytes = value;
    return true;
}

static bool parse_buffer(const char *text, void *bytes)
{
    size_t value;
    if (!p2p__parse_size(text, &value) || value < 1 || value > (size_t)1 << 30) return false;
    *(int *)bytes = (int)value;
    return true;
}

static bool parse_room(const char *text, void *bytes)
{
    size_t value;
    if (!p2p__parse_size(text, &value) || value < (size_t)1 << 20 || value > (size_t)64 << 30) return false;
    *(size_t *)bytes = value;
    return true;
}

static bool parse_timeout(const char *text, void *ns)
{
    uint64_t value;
    if (!p2p__parse_duration(text, &value) || value < 1000000) return false;
    *(uint64_t *)ns = value;
    return true;
}

static bool parse_wait(const char *text, void *policy)
{
    static const char *const names[] = {[WAIT_AUTO] = "auto", "spin", "yield", "sleep"};
    for (int i = WAIT_AUTO; i <= WAIT_SLEEP; i++)
        if (strcmp(text, names[i]) == 0) return *(int *)policy = i, true;
    return false;
}

static bool is_world(const char *text)
{
    static const char *const names[] = {"socket", "shm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) return true;
    return false;
}

static bool parse_world(const char *text, void *name)
{
    if (!is_world(text)) return false;
    snprintf(name, sizeof((p2p_config *)0)->world, "%s", text);
    return true;
}

static bool parse_network(const char *text, void *network)
{
    char why[400];
    return p2p__network_parse(text, network, why, sizeof why);
}

/* Those without a parser are read elsewhere: by the launcher, the trainer and its kernels. */
static const struct {
    p2p_variable is;
    bool (*parse)(const char *text, void *field);
    size_t offset;
} variables[] = {
    {{"PAIRWISE_WORLD", "the name of a world: " P2P_WORLD_NAMES, "socket; benches and the trainer: shm",
      "how bytes move between ranks"},
     parse_world,
     offsetof(p2p_config, world)},
    {{"PAIRWISE_EAGER", "a size from 0 to 1G, such as 64K", "64K",
      "a send of up to this many bytes may return before it is received"},
     parse_eager,
     offsetof(p2p_config, eager)},
    {{"PAIRWISE_UNEXP_MAX", "a size, such as 256M", "256M",
      "bytes that a rank buffers of messages without a receive; further messages wait at their senders"},
     parse_bytes,
     offsetof(p2p_config, unexpected_max)},
    {{"PAIRWISE_DIRECT", "a size, such as 64K, or 0 for never", "16K where ranks share cores, else 128K",
      "shm: from this many bytes on, a message that waits for its receive is copied from process to process; "
      "memory of p2p_alloc always is"},
     parse_bytes,
     offsetof(p2p_config, direct)},
    {{"PAIRWISE_WAIT", "auto, spin, yield or sleep", "auto", "how a rank waits"},
     parse_wait,
     offsetof(p2p_config, wait)},
    {{"PAIRWISE_TIMEOUT", "seconds from 0.001 to 315360000, such as 1, 0.5 or 500ms", "none",
      "how long one blocking call may take; then it fails with P2P_ERR_TIMEOUT. While it is set, shm copies a long "
      "message at one end only"},
     parse_timeout,
     offsetof(p2p_config, timeout_ns)},
    {{"PAIRWISE_SNDBUF", "a size from 1 to 1G, such as 4K", "the system's",
      "size of a link's socket buffer, or of its queue in shared memory"},
     parse_buffer,
     offsetof(p2p_config, sndbuf)},
    {{"PAIRWISE_STRICT", "0 or 1", "0", "1: every send waits for its receive; finds programs that need buffering"},
     parse_flag,
     offsetof(p2p_config, strict)},
    {{"PAIRWISE_DEBUG", "0 or 1", "0",
      "1: notices a buffer that changes during p2p_isend, and two threads in one communicator"},
     parse_flag,
     offsetof(p2p_config, debug)},
    {{"PAIRWISE_CRC", "0 or 1", "0", "1: the bytes of every message carry a checksum"},
     parse_flag,
     offsetof(p2p_config, crc)},
    {{"PAIRWISE_NETWORK", "a network: " P2P_NETWORK_NAMES ", or latency=2us,bandwidth=12G,...", "none",
      "virtual time on a network"},
     parse_network,
     offsetof(p2p_config, network)},
    {{"PAIRWISE_CHECK", "0 or 1", "1", "0: collectives do not agree before they begin; to measure what that costs"},
     parse_flag,
     offsetof(p2p_config, check)},
    {{"PAIRWISE_TRACE_ROOM", "a size from 1M to 64G, such as 64M", "64M",
      "room for the events of a trace; events beyond it are counted, not kept"},
     parse_room,
     offsetof(p2p_config, trace_room)},
    {{"PAIRWISE_TRACE", "a file", "none", "write a trace there, as --trace does; of several jobs the last one stays"},
     NULL,
     0},
    {{"PAIRWISE_DEVICE", "as --device of build/train", "auto", "what the trainer and its benches compute on"}, NULL, 0},
    {{"PAIRWISE_CACHE", "a folder", "pairwise in XDG_CACHE_HOME, ~/.cache or TMPDIR",
      "where compiled kernels are kept"},
     NULL,
     0},
};

/* Of the project's own programs and tests. */
static const char *const others[] = {
    "PAIRWISE_JOB",          "PAIRWISE_KERNEL_FAIL",    "PAIRWISE_KERNEL_LANES",
    "PAIRWISE_KERNEL_PLAIN", "PAIRWISE_KERNEL_SAMPLES", "PAIRWISE_BUILD",
    "PAIRWISE_LONG",         "PAIRWISE_COURSE",         "PAIRWISE_RANDOM_PROGRAMS",
};

enum { VARIABLES = sizeof variables / sizeof *variables, OTHERS = sizeof others / sizeof *others };

const p2p_variable *p2p__config_variable(size_t index)
{
    return index < VARIABLES ? &variables[index].is : NULL;
}

static bool is_known(const char *name, const char *const known[])
{
    while (*known && strcmp(*known, name) != 0) known++;
    return *known;
}

/* A setting whose name is mistyped would change nothing, silently. */
static bool are_known(char *why, size_t why_bytes)
{
    const char *known[VARIABLES + OTHERS + 1] = {NULL};
    for (size_t i = 0; i < VARIABLES; i++) known[i] = variables[i].is.name;
    for (size_t i = 0; i < OTHERS; i++) known[VARIABLES + i] = others[i];
    for (char **at = environ; at && *at; at++) {
        char name[64];
        if (strncmp(*at, "PAIRWISE_", 9) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        if (is_known(name, known)) continue;
        const char *nearest = p2p__nearest(name, known);
        snprintf(why, why_bytes,
                 "there is no variable %s%s%s%s\n  try: unset %s; build/launch --help lists what there is", name,
                 nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "", name);
        return false;
    }
    return true;
}

p2p_err p2p__config_read(p2p_config *config, char *why, size_t why_bytes)
{
    if (!are_known(why, why_bytes)) return P2P_ERR_ARG;
    *config = (p2p_config){.world = "socket",
                           .eager = (size_t)64 << 10,
                           .direct = CONFIG_BY_CORES,
                           .unexpected_max = (size_t)256 << 20,
                           .check = true,
                           .trace_room = (size_t)64 << 20};
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *text = getenv(variables[i].is.name);
        if (!text || !variables[i].parse || variables[i].parse(text, (char *)config + variables[i].offset)) continue;
        snprintf(why, why_bytes, "%s=%s is not valid: it takes %s", variables[i].is.name, text,
                 variables[i].is.accepts);
        return P2P_ERR_ARG;
    }
    return P2P_OK;
}

bool p2p__config_is_sound(const p2p_config *config)
{
    bool named = memchr(config->world, 0, sizeof config->world) && is_world(config->world);
    return named && config->wait >= WAIT_AUTO && config->wait <= WAIT_SLEEP && config->sndbuf >= 0;
}
