/* SPDX-License-Identifier: MIT */
#include "p2p/shared/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECONDS (10.0 * 365 * 24 * 3600)

/* "16M", "64K", "512": powers of 1024. */
static bool parse_size(const char *text, size_t *bytes)
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

static const char *const waits[] = {[WAIT_AUTO] = "auto", "spin", "yield", "sleep", NULL};
static const char *const worlds[] = {"socket", "shm", NULL};

static int index_of(const char *text, const char *const names[])
{
    int i = 0;
    while (names[i] && strcmp(names[i], text) != 0) i++;
    return names[i] ? i : -1;
}

/* What a variable is read into. KIND_NONE: it is read elsewhere, by the launcher, the trainer or its kernels. */
enum kind { KIND_NONE, KIND_FLAG, KIND_SIZE, KIND_TIME, KIND_WAIT, KIND_WORLD, KIND_NETWORK };

#define GIB ((uint64_t)1 << 30)
#define AT(field) offsetof(p2p_config, field)

static const struct {
    p2p_variable is;
    struct target {
        enum kind kind;
        size_t offset;
        uint64_t least, most; /* bytes, or ns */
    } into;
} variables[] = {
    {{"PAIRWISE_WORLD", "the name of a world: " P2P_WORLD_NAMES, "socket; benches and the trainer: shm",
      "how bytes move between ranks"},
     {KIND_WORLD, AT(world), 0, 0}},
    {{"PAIRWISE_EAGER", "a size from 0 to 1G, such as 64K", "64K",
      "a send of up to this many bytes may return before it is received"},
     {KIND_SIZE, AT(eager), 0, GIB}},
    {{"PAIRWISE_UNEXP_MAX", "a size, such as 256M", "256M",
      "bytes that a rank buffers of messages without a receive; further messages wait at their senders"},
     {KIND_SIZE, AT(unexpected_max), 0, SIZE_MAX}},
    {{"PAIRWISE_DIRECT", "a size, such as 64K, or 0 for never",
      "16K where ranks share cores; else 128K, or what make tune has found, and only if it is faster just now",
      "shm: from this many bytes on, a message that waits for its receive is copied from process to process; "
      "memory of p2p_alloc always is"},
     {KIND_SIZE, AT(direct), 0, SIZE_MAX}},
    {{"PAIRWISE_WAIT", "auto, spin, yield or sleep", "auto", "how a rank waits"}, {KIND_WAIT, AT(wait), 0, 0}},
    {{"PAIRWISE_TIMEOUT", "seconds from 0.001 to 315360000, such as 1, 0.5 or 500ms", "none",
      "how long one blocking call may take; then it fails with P2P_ERR_TIMEOUT. While it is set, shm copies a long "
      "message at one end only"},
     {KIND_TIME, AT(timeout_ns), 1000000, UINT64_MAX}},
    {{"PAIRWISE_POLLING", "seconds from 0.001 to 315360000, such as 1, 0.5 or 500ms", "none; MPI programs: 10",
      "end the job when for so long its ranks have only polled (p2p_test, p2p_iprobe) or waited"},
     {KIND_TIME, AT(polling_ns), 1000000, UINT64_MAX}},
    {{"PAIRWISE_SNDBUF", "a size from 1 to 1G, such as 4K", "the system's",
      "size of a link's socket buffer, or of its queue in shared memory"},
     {KIND_SIZE, AT(sndbuf), 1, GIB}},
    {{"PAIRWISE_STRICT", "0 or 1", "0", "1: every send waits for its receive; finds programs that need buffering"},
     {KIND_FLAG, AT(strict), 0, 0}},
    {{"PAIRWISE_DEBUG", "0 or 1", "0", "1: notices a buffer that changes during p2p_isend"},
     {KIND_FLAG, AT(debug), 0, 0}},
    {{"PAIRWISE_CRC", "0 or 1", "0", "1: the bytes of every message carry a checksum"}, {KIND_FLAG, AT(crc), 0, 0}},
    {{"PAIRWISE_NETWORK", "a network: " P2P_NETWORK_NAMES ", or latency=2us,bandwidth=12G,hosts=4,...", "none",
      "virtual time on a network"},
     {KIND_NETWORK, AT(network), 0, 0}},
    {{"PAIRWISE_HOSTS", "a number from 1 to 16", "1",
      "divide the ranks of a job among so many launchers on this machine, as if each were on a host of its own"},
     {KIND_SIZE, AT(hosts), 1, 16}},
    {{"PAIRWISE_HOST_TIMEOUT", "seconds from 3 to 315360000, such as 10", "10",
      "on several hosts: a launcher of which nothing has been heard for so long is lost, and the job with it"},
     {KIND_TIME, AT(host_timeout_ns), UINT64_C(3000000000), UINT64_MAX}},
    {{"PAIRWISE_CHECK", "0 or 1", "1", "0: collectives do not agree before they begin; to measure what that costs"},
     {KIND_FLAG, AT(check), 0, 0}},
    {{"PAIRWISE_EXPLAIN", "0 or 1", "0", "1: as launch --explain, for programs that start ranks themselves"},
     {KIND_FLAG, AT(explain), 0, 0}},
    {{"PAIRWISE_TRACE_ROOM", "a size from 1M to 64G, such as 64M", "64M",
      "room for the events of a trace; events beyond it are counted, not kept"},
     {KIND_SIZE, AT(trace_room), 1 << 20, 64 * GIB}},
    {.is = {"PAIRWISE_TRACE", "a file", "none",
            "write a trace there, as --trace does; of several jobs the last one stays"}},
    {.is =
         {"PAIRWISE_MPI_LEAKS", "error, warn or note", "note; with --strict: error",
          "MPI programs: note: communicators, types, operators and groups that are left at MPI_Finalize do not change "
          "the exit status; warn: nothing that is left does"}},
    {.is = {"PAIRWISE_DEVICE", "as --device of build/train", "auto", "what the trainer and its benches compute on"}},
    {.is = {"PAIRWISE_CACHE", "a folder", "pairwise in XDG_CACHE_HOME, ~/.cache or TMPDIR",
            "where compiled kernels are kept"}},
};

/* Of the project's own programs and tests. */
static const char *const others[] = {
    "PAIRWISE_JOB",           "PAIRWISE_KERNEL_FAIL",    "PAIRWISE_KERNEL_LANES",
    "PAIRWISE_KERNEL_PLAIN",  "PAIRWISE_KERNEL_SAMPLES", "PAIRWISE_BUILD",
    "PAIRWISE_LONG",          "PAIRWISE_COURSE",         "PAIRWISE_RANDOM_PROGRAMS",
    "PAIRWISE_HOSTS_THROUGH",
};

enum { VARIABLES = sizeof variables / sizeof *variables, OTHERS = sizeof others / sizeof *others };

const p2p_variable *p2p__config_variable(size_t index)
{
    return index < VARIABLES ? &variables[index].is : NULL;
}

enum { LONGEST = 40 };

/* Letters to be added, left out or replaced (Levenshtein 1966), a row of the table at a time. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], columns = strlen(b);
    for (size_t k = 0; k <= columns; k++) row[k] = k;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= columns; k++) {
            size_t above = row[k];
            size_t changed = diagonal + (a[i - 1] != b[k - 1]), shorter = (above < row[k - 1] ? above : row[k - 1]) + 1;
            row[k] = changed < shorter ? changed : shorter;
            diagonal = above;
        }
    }
    return row[columns];
}

/* The name that this word is most likely a slip of; NULL if it is like none. The last of `names` is NULL. */
static const char *nearest_name(const char *word, const char *const names[])
{
    const char *best = NULL;
    size_t nearest = LONGEST;
    if (strlen(word) > LONGEST) return NULL;
    for (; *names; names++) {
        size_t d = strlen(*names) <= LONGEST ? distance(word, *names) : LONGEST;
        if (d < nearest) nearest = d, best = *names;
    }
    return nearest <= 4 ? best : NULL;
}

static bool read_variable(const char *text, const struct target *into, p2p_config *config)
{
    void *field = (char *)config + into->offset;
    size_t size;
    uint64_t ns;
    char why[400];
    switch (into->kind) {
    case KIND_NONE: return true;
    case KIND_FLAG: *(bool *)field = *text == '1'; return strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
    case KIND_SIZE:
        if (!parse_size(text, &size) || size < into->least || size > into->most) return false;
        *(size_t *)field = size;
        return true;
    case KIND_TIME:
        if (!p2p__parse_duration(text, &ns) || ns < into->least) return false;
        *(uint64_t *)field = ns;
        return true;
    case KIND_WAIT: *(int *)field = index_of(text, waits); return config->wait >= 0;
    case KIND_WORLD: snprintf(config->world, sizeof config->world, "%s", text); return index_of(text, worlds) >= 0;
    case KIND_NETWORK: return p2p__network_parse(text, field, why, sizeof why);
    }
    return false;
}

p2p_err p2p__config_read(p2p_config *config, char *why, size_t why_bytes)
{
    const char *known[VARIABLES + OTHERS + 1] = {NULL};
    for (size_t i = 0; i < VARIABLES; i++) known[i] = variables[i].is.name;
    memcpy(known + VARIABLES, others, sizeof others);
    for (char **at = environ; at && *at; at++) { /* a setting whose name is mistyped would change nothing, silently */
        char name[64];
        if (strncmp(*at, "PAIRWISE_", 9) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        if (index_of(name, known) >= 0) continue;
        const char *nearest = nearest_name(name, known);
        snprintf(why, why_bytes,
                 "there is no variable %s%s%s%s\n  try: unset %s; build/launch --help lists what there is", name,
                 nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "", name);
        return P2P_ERR_ARG;
    }
    *config = (p2p_config){.world = "socket",
                           .eager = (size_t)64 << 10,
                           .direct = CONFIG_BY_CORES,
                           .unexpected_max = (size_t)256 << 20,
                           .check = true,
                           .host_timeout_ns = UINT64_C(10000000000),
                           .trace_room = (size_t)64 << 20};
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *text = getenv(variables[i].is.name);
        if (!text || read_variable(text, &variables[i].into, config)) continue;
        snprintf(why, why_bytes, "%s=%s is not valid: it takes %s", variables[i].is.name, text,
                 variables[i].is.accepts);
        return P2P_ERR_ARG;
    }
    return P2P_OK;
}

bool p2p__config_is_sound(const p2p_config *config)
{
    bool named = memchr(config->world, 0, sizeof config->world) && index_of(config->world, worlds) >= 0;
    return named && config->wait >= WAIT_AUTO && config->wait <= WAIT_SLEEP && config->sndbuf <= INT_MAX;
}
