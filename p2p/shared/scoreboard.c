/* SPDX-License-Identifier: MIT */
#include "p2p/shared/scoreboard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "p2p/shared/memory.h"
#include "p2p/shared/process.h"

/* Ranks must not write to the same cache line: a row of counters is a whole number of them. */
static size_t counters_of_a_rank(int size)
{
    return p2p__round_up((size_t)size, 8);
}

/* Where each part begins, after the one before it. */
typedef struct {
    size_t sent, received, gates, lines, trace, notes, end;
} layout;

static layout find_layout(int size, const p2p_config *config)
{
    size_t n = (size_t)size, counters = n * counters_of_a_rank(size) * sizeof(uint64_t),
           slots = (size_t)SCOREBOARD_CONTEXTS * SCOREBOARD_SLOTS;
    layout at = {.sent = p2p__round_up(sizeof(scoreboard_shared) + n * sizeof(scoreboard_row), 64)};
    at.received = at.sent + counters;
    at.gates = at.received + counters;
    at.lines = at.gates + slots * sizeof(scoreboard_gate);
    at.trace = p2p__round_up(at.lines + slots * n * sizeof(scoreboard_line), 4096); /* on a page of its own */
    at.notes = at.trace + config->trace_bytes;
    at.end = p2p__round_up(at.notes + config->notes_bytes, MEMORY_UNIT); /* the first place of memory.h is there */
    return at;
}

size_t p2p__scoreboard_bytes(int size, const p2p_config *config)
{
    return find_layout(size, config).end;
}

/* This process's picture of a scoreboard with these settings. */
static scoreboard *see(scoreboard_shared *shared, const scoreboard_settings *settings)
{
    scoreboard *b = shared ? malloc(sizeof *b) : NULL;
    if (!b) return NULL;
    layout at = find_layout(settings->size, &settings->config);
    char *base = (char *)shared;
    *b = (scoreboard){.shared = shared,
                      .rows = shared->rows,
                      .size = settings->size,
                      .terminal = settings->terminal,
                      .may_read = settings->may_read,
                      .sent = (void *)(base + at.sent),
                      .received = (void *)(base + at.received),
                      .gates = (void *)(base + at.gates),
                      .lines = (void *)(base + at.lines),
                      .trace = base + at.trace,
                      .notes = base + at.notes};
    memcpy(&b->config, &settings->config, sizeof b->config);
    b->hosts = settings->hosts;
    memcpy(&b->generation, &settings->generation, sizeof b->generation);
    return b;
}

static void fill_settings(scoreboard_settings *settings, int size, const p2p_config *config, bool terminal,
                          bool may_read)
{
    memset(settings, 0, sizeof *settings); /* the gaps too: they are compared */
    settings->magic = SCOREBOARD_MAGIC;
    snprintf(settings->build_id, sizeof settings->build_id, "%s", P2P_BUILD_ID);
    settings->size = size;
    settings->terminal = terminal;
    settings->may_read = may_read;
    memcpy(&settings->config, config, sizeof *config);
    settings->hosts.count = settings->hosts.beside = 1;
    settings->hosts.first[1] = (uint16_t)size;
    settings->generation.members = size;
}

scoreboard *p2p__scoreboard_create(int size, const p2p_config *config, bool may_read, int *fd)
{
    int file = memfd_create("pairwise-scoreboard", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return NULL;
    size_t bytes = p2p__scoreboard_bytes(size, config);
    /* sealed: a file that a process makes shorter would take the memory away from all others */
    bool made = p2p__memory_fill(file, 0, bytes) && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
    scoreboard_shared *shared = made ? p2p__memory_map(file, 0, bytes) : NULL;
    if (shared) fill_settings(&shared->settings, size, config, isatty(STDOUT_FILENO), may_read);
    scoreboard *b = shared ? see(shared, &shared->settings) : NULL;
    if (!b) {
        int saved = errno;
        if (shared) munmap(shared, bytes);
        close(file);
        errno = saved;
        return NULL;
    }
    atomic_store(&shared->memory_end, bytes);
    *fd = file;
    return b;
}

void p2p__scoreboard_place(scoreboard *b, const scoreboard_hosts *hosts)
{
    b->hosts = b->shared->settings.hosts = *hosts;
}

void p2p__scoreboard_begin(scoreboard *b, const scoreboard_generation *generation)
{
    scoreboard_generation *shown = &b->shared->settings.generation; /* field by field: gaps stay cleared */
    shown->number = generation->number;
    shown->members = generation->members;
    shown->gone = generation->gone;
    shown->repairs = generation->repairs;
    memcpy(&b->generation, shown, sizeof *shown);
}

bool p2p__scoreboard_is_whole(const scoreboard *b)
{
    scoreboard_settings settings;
    fill_settings(&settings, b->size, &b->config, b->terminal, b->may_read);
    settings.hosts = b->hosts;
    memcpy(&settings.generation, &b->generation, sizeof b->generation);
    const void *known = &settings, *shown = &b->shared->settings; /* byte by byte: gaps were cleared on both sides */
    return memcmp(known, shown, sizeof settings) == 0;
}

/* Hosts that a launcher may have written: each with a rank, in order. */
static bool hosts_are_sound(const scoreboard_hosts *hosts, int size)
{
    bool sound = hosts->count >= 1 && hosts->count <= size && hosts->own >= 0 && hosts->own < hosts->count &&
                 hosts->beside >= 1 && hosts->first[0] == 0 && hosts->first[hosts->count] == size;
    for (int i = 0; sound && i < hosts->count; i++) sound = hosts->first[i] < hosts->first[i + 1];
    return sound;
}

scoreboard *p2p__scoreboard_attach(int fd, char *why, size_t why_bytes)
{
    struct stat info;
    scoreboard_settings settings;
    if (fstat(fd, &info) != 0 || (size_t)info.st_size < sizeof(scoreboard_shared) ||
        pread(fd, &settings, sizeof settings, 0) != (ssize_t)sizeof settings) {
        snprintf(why, why_bytes, "the launcher's shared memory cannot be opened");
        return NULL;
    }
    /* Settings of another process are used only if a launcher of this build may have written them. */
    settings.build_id[sizeof settings.build_id - 1] = 0;
    const p2p_config *config = &settings.config;
    bool known = settings.magic == SCOREBOARD_MAGIC;
    size_t bytes = (size_t)info.st_size;
    if (!known || strcmp(settings.build_id, P2P_BUILD_ID) != 0 || settings.size < 1 || settings.size > P2P_MAX_RANKS ||
        !p2p__config_is_sound(config) || config->trace_bytes > bytes || config->notes_bytes > bytes ||
        p2p__scoreboard_bytes(settings.size, config) > bytes || !hosts_are_sound(&settings.hosts, settings.size)) {
        snprintf(why, why_bytes, "the launcher is Pairwise build %s, this program is build %s",
                 known ? settings.build_id : "(unknown)", P2P_BUILD_ID);
        return NULL;
    }
    bytes = p2p__scoreboard_bytes(settings.size, config);
    scoreboard_shared *shared = p2p__memory_map(fd, 0, bytes);
    scoreboard *b = see(shared, &settings);
    if (b) return b;
    snprintf(why, why_bytes, "the launcher's shared memory cannot be mapped: %s", strerror(errno));
    if (shared) munmap(shared, bytes);
    return NULL;
}

void p2p__scoreboard_close(scoreboard *b, bool unmap)
{
    if (unmap) munmap(b->shared, p2p__scoreboard_bytes(b->size, &b->config));
    free(b);
}

_Atomic uint64_t *p2p__scoreboard_sent(scoreboard *b, int by)
{
    return b->sent + (size_t)by * counters_of_a_rank(b->size);
}

_Atomic uint64_t *p2p__scoreboard_received(scoreboard *b, int by)
{
    return b->received + (size_t)by * counters_of_a_rank(b->size);
}

size_t p2p__scoreboard_slot(uint32_t context, uint64_t number)
{
    return (size_t)(context / 2 % SCOREBOARD_CONTEXTS) * SCOREBOARD_SLOTS + number % SCOREBOARD_SLOTS;
}

bool p2p__context_left(scoreboard *b, uint32_t index, uint64_t collectives)
{
    _Atomic uint32_t *users = &b->shared->context_users[index];
    _Atomic uint64_t *used = &b->shared->context_used[index];
    uint64_t most = atomic_load(used);
    uint32_t left = atomic_load(users);
    while (most < collectives && !atomic_compare_exchange_weak(used, &most, collectives)) continue;
    while (left > 1 && !atomic_compare_exchange_weak(users, &left, left - 1)) continue;
    return left <= 1;
}

scoreboard_line *p2p__scoreboard_lines(scoreboard *b, uint32_t context, uint64_t number)
{
    return b->lines + p2p__scoreboard_slot(context, number) * (size_t)b->size;
}

void p2p__copy_text(char *to, size_t bytes, const char *from)
{
    if (!from) from = "";
    size_t length = strlen(from);
    if (length >= bytes) {
        from += length - (bytes - 1);
        length = bytes - 1;
    }
    memcpy(to, from, length + 1);
}

char p2p__process_of(const scoreboard *b, int rank)
{
    const scoreboard_row *row = &b->rows[rank];
    return p2p__is_local(b, rank) ? p2p__process_letter(atomic_load(&row->pid)) : (char)atomic_load(&row->letter);
}

void p2p__place_host(const scoreboard *b, p2p_place *place)
{
    place->host = 0;
    place->host_name[0] = '\0';
    if (b->hosts.count < 2 || place->rank < 0 || place->rank >= b->size) return;
    while (place->rank >= b->hosts.first[place->host]) place->host++; /* the first of the next one is behind it */
    snprintf(place->host_name, sizeof place->host_name, "%.*s", P2P_HOST_NAME - 1, b->rows[place->rank].host);
}

void p2p__finding_hosts(const scoreboard *b, p2p_finding *finding)
{
    for (size_t i = 0; i < finding->count; i++) p2p__place_host(b, &finding->places[i]);
    p2p__place_host(b, &finding->spare);
}

#define END(text) ((text)[sizeof(text) - 1] = 0)

scoreboard_call p2p__call_copy(const scoreboard_call *shown)
{
    scoreboard_call call = *shown;
    END(call.name);
    END(call.file);
    END(call.what.algorithm);
    END(call.what.dtype);
    END(call.what.op);
    return call;
}

p2p_err p2p__scoreboard_failure(const scoreboard *b, char *text, size_t bytes)
{
    const scoreboard_failure *failure = &b->shared->failure;
    p2p_err err = failure->err;
    if (bytes) snprintf(text, bytes, "%.*s", (int)sizeof failure->text, failure->text);
    return err < P2P_OK ? err : P2P_ERR_PEER_DEAD;
}
