/* SPDX-License-Identifier: MIT */
/*
 * launch --machine: what this machine does with messages between two ranks, and what follows from it. Three jobs of two ranks in
 * shared memory: with the settings as they are; with every message through the queue; and with every long one in one copy. What
 * goes through the queue may be written straight to its receive, where the cores share no near cache: that counts there.
 *
 * A part of the launcher, like launch_main.c, and not of the library: so it may ask the collectives for their table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "collectives/collectives.h"
#include "p2p/job/launch.h"
#include "p2p/message/cores.h"
#include "p2p/message/internal.h"
#include "p2p/shared/clock.h"
#include "p2p/world/cma.h"
#include "p2p/world/world_shm.h"

enum { SIZES = 7, DEFAULT = 3, ROUNDS = 300, LONGEST = 1 << 20 };
#define SIZE_NS UINT64_C(110000000) /* a size takes no longer, where messages are slow */

static const size_t sizes[SIZES] = {16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, LONGEST};

#if __has_include("tuned_choices.inc")
static const char by[] = "as make tune found it";
#else
static const char by[] = "built in; make tune measures it";
#endif

typedef struct {
    double us[3][SIZES], short_us; /* by job: [0] has none */
    size_t direct;                 /* the setting */
    unsigned kib_ns;               /* of copies out of the queue: see p2p__shm_show */
    bool may_read, shows, two_ways;
    int job;
} measured;

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A round trip. */
static uint64_t lap(p2p_comm *world, unsigned char *out, unsigned char *in, size_t bytes)
{
    uint64_t before = p2p__now();
    int rank = p2p_rank(world);
    if (rank == 0) p2p_send(world, out, bytes, 1, 0);
    p2p_recv(world, in, bytes, 1 - rank, 0, NULL);
    if (rank == 1) p2p_send(world, out, bytes, 0, 0);
    return p2p__now() - before;
}

/* Half a round trip, the median of ROUNDS, or of those begun within SIZE_NS: rank 0 says in each whether another follows. */
static double message_us(p2p_comm *world, unsigned char *out, unsigned char *in, size_t bytes)
{
    static uint64_t took[ROUNDS];
    const unsigned char *said = p2p_rank(world) == 0 ? out : in;
    uint64_t spent = 0;
    int laps = 0;
    lap(world, out, in, bytes);
    do {
        if (said == out) out[0] = laps + 1 < ROUNDS && spent < SIZE_NS;
        took[laps] = lap(world, out, in, bytes);
        spent += took[laps++];
    } while (*said);
    qsort(took, (size_t)laps, sizeof *took, ascending);
    const uint64_t median = took[laps / 2];
    return (double)median * 1e-3 / 2;
}

static int measure(p2p_comm *world, void *arg)
{
    static unsigned char out[LONGEST], in[LONGEST];
    measured *m = arg, own = *m;
    memset(out, 1, sizeof out); /* pages of its own, not the one that reads as zero */
    memset(in, 1, sizeof in);
    own.direct = world->engine->config.direct;
    own.may_read = world->engine->scoreboard->may_read;
    own.shows = world->engine->shows_receives;
    if (own.job == 0) own.two_ways = p2p__shm_has_two_ways(&world->engine->end);
    if (own.job == 0) own.short_us = message_us(world, out, in, 8);
    for (int i = 0; own.job > 0 && i < SIZES; i++) own.us[own.job][i] = message_us(world, out, in, sizes[i]);
    const link_end *link = world->engine->peers[p2p_rank(world) == 0].link.state;
    if (own.job == 1) own.kib_ns = link->kib_ns;
    if (p2p_rank(world) == 0) *m = own;
    return 0;
}

/* ---- What it is made of ---- */

/* The first line of a file that begins with these words, from behind its colon if it has one; false if there is none. */
static bool line_of(const char *path, const char *begins, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    char line[256] = "";
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) found = strncmp(line, begins, strlen(begins)) == 0;
    if (file) fclose(file);
    const char *at = strchr(line, ':');
    at = at ? at + 1 + strspn(at + 1, " ") : line;
    if (found) snprintf(text, room, "%.*s", (int)strcspn(at, "\n"), at);
    return found && *text;
}

static void tell_processor(void)
{
    char name[128], path[80], kind[16], level[8], size[16];
    struct utsname system;
    if (line_of("/proc/cpuinfo", "model name", name, sizeof name))
        printf("%s", name);
    else
        printf("%s", uname(&system) == 0 ? system.machine : "a processor without a name");
    for (int i = 0, told = 0; i < 8; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        if (!line_of(path, "", kind, sizeof kind) || strcmp(kind, "Instruction") == 0) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        if (!line_of(path, "", level, sizeof level)) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (!line_of(path, "", size, sizeof size)) continue;
        unsigned long kib = strtoul(size, NULL, 10);
        bool mib = kib >= 1024;
        printf("%sL%s %lu %s", told++ ? ", " : "; caches: ", level, mib ? kib / 1024 : kib, mib ? "MiB" : "KiB");
    }
    printf("\n%d cores: up to %d ranks have one each; more take turns\n", p2p__cores(), p2p__cores());
}

/* ---- What follows ---- */

static void tell_caches(const measured *m)
{
    if (p2p__cores() < 2 || !m->kib_ns) return;
    bool is_slow = m->kib_ns >= SHM_SLOW_KIB_NS;
    printf("1 KiB that the other core has written: %u ns, so the cores share %s near cache (limit: %d ns)\n", m->kib_ns,
           is_slow ? "no" : "a", SHM_SLOW_KIB_NS);
    printf("8 to 64 KiB: %s\n", is_slow && m->shows ? "written straight to a receive that waits" : "through the queue");
}

static void tell_copies(const char *whom, p2p_copy_way *way, const char *otherwise)
{
    const p2p_copy_rates rates = p2p__copy_measure(way);
    if (rates.near <= 0) return;
    const bool is_slow = p2p__copy_is_slow(way, 1, 0, COPY_LONG);
    printf("16 KiB copied by %s: %.1f GB/s, %.1f if it begins 16 bytes further on in its page%s\n", whom, rates.far,
           rates.near, is_slow ? otherwise : "");
}

/* That of 128 KiB, unless one copy is faster by more than a tenth at half of it, and so on down. As in scripts/tune_direct.awk. */
static size_t best_direct(const measured *m)
{
    const double *queue = m->us[1], *copy = m->us[2];
    int from = DEFAULT;
    while (from > 0 && copy[from - 1] * 1.1 < queue[from - 1]) from--;
    return sizes[0] << from;
}

/* What coll_all_reduce takes in the shm world. */
static void tell_all_reduce(void)
{
    size_t rows;
    const coll_choice *choices = coll_choices(&rows);
    printf("\nAll-reduce (%s):\n", by);
    for (size_t i = 0; i < rows; i++)
        if (strcmp(choices[i].operation, "all_reduce") == 0 && choices[i].shared && !choices[i].hosts)
            printf("    from %2d rank%s and %8zu bytes on: %s\n", choices[i].ranks, choices[i].ranks == 1 ? " " : "s",
                   choices[i].bytes, choices[i].algorithm);
}

static void tell(const measured *m, size_t direct, bool may_read)
{
    tell_processor();
    printf("8 bytes from one rank to another: %.2f us\n", m->short_us);
    tell_caches(m);
    tell_copies("libc", &p2p__copy_by_libc, ": such copies run backward");
    if (may_read) tell_copies("the kernel", &p2p__cma_way, ": such copies go by way of other memory");
    printf("\n%12s %20s %15s\n", "bytes", "through the queue", "in one copy");
    for (int i = 0; i < SIZES; i++) {
        printf("%12zu %17.1f us", sizes[i], m->us[1][i]);
        if (may_read) printf(" %12.1f us", m->us[2][i]);
        printf("\n");
    }
    const size_t best = best_direct(m);
    if (!may_read)
        printf("\nThe system forbids that one process reads another's memory: all goes through the queue.\n");
    else
        printf("\n%s from %zu bytes on; this measurement: in one copy from %zu (PAIRWISE_DIRECT=%zuK, or make tune).\n",
               m->two_ways ? "Whichever is faster, as ranks find out while they run," : "In one copy", direct, best,
               best >> 10);
    tell_all_reduce();
}

int p2p__machine_show(void)
{
    static const char *const direct[] = {NULL, "1G", "1"};
    p2p_options options = {.world = "shm"};
    measured *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t as_set = 0;
    bool may_read = false, shows = false;
    if (m == MAP_FAILED) return 1;
    for (int job = 0; job < 3; job++) {
        m->job = job;
        if (direct[job]) setenv("PAIRWISE_DIRECT", direct[job], 1);
        int status = p2p_launch(2, measure, m, &options);
        if (status) return status;
        if (job == 0) as_set = m->direct, shows = m->shows;
        may_read |= m->may_read;
    }
    m->shows = shows;
    tell(m, as_set, may_read);
    munmap(m, sizeof *m);
    return 0;
}
