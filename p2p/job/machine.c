/* SPDX-License-Identifier: MIT */
/*
 * launch --machine: what this machine does with messages between two ranks, and what follows from it. Three jobs of two ranks in
 * shared memory: with the settings as they are; with every long message through the queue; and with every one in one copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "p2p/job/launch.h"
#include "p2p/message/cores.h"
#include "p2p/message/internal.h"
#include "p2p/shared/clock.h"

enum { SIZES = 4, ROUNDS = 300, LONGEST = 1 << 20 };
#define SIZE_NS UINT64_C(200000000) /* a size takes no longer, where messages are slow */

static const size_t sizes[SIZES] = {128 << 10, 256 << 10, 512 << 10, LONGEST};

typedef struct {
    double us[3][SIZES], short_us; /* by job: [0] has none */
    size_t direct;                 /* the setting */
    bool may_read;
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
    if (own.job == 0) own.short_us = message_us(world, out, in, 8);
    for (int i = 0; own.job > 0 && i < SIZES; i++) own.us[own.job][i] = message_us(world, out, in, sizes[i]);
    if (p2p_rank(world) == 0) *m = own;
    return 0;
}

static void tell(const measured *m, size_t direct, bool may_read)
{
    size_t wanted = sizes[0];
    printf("%d cores: up to %d ranks have one each; more take turns\n", p2p__cores(), p2p__cores());
    printf("8 bytes from one rank to another: %.2f us\n\n", m->short_us);
    printf("%12s %20s %15s\n", "bytes", "through the queue", "in one copy");
    for (int i = 0; i < SIZES; i++) {
        printf("%12zu %17.1f us", sizes[i], m->us[1][i]);
        if (may_read) printf(" %12.1f us", m->us[2][i]);
        printf("\n");
        if (wanted == sizes[i] && m->us[1][i] * 1.1 < m->us[2][i]) wanted *= 2;
    }
    if (!may_read) {
        printf("\nThe system forbids that one process reads another's memory: all goes through the queue.\n");
        return;
    }
    printf("\nIn one copy from %zu bytes on; this measurement: from %zu (PAIRWISE_DIRECT=%zuK, or make tune).\n",
           direct, wanted, wanted >> 10);
}

int p2p__machine_show(void)
{
    static const char *const direct[] = {NULL, "0", "1"};
    p2p_options options = {.world = "shm"};
    measured *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t as_set = 0;
    bool may_read = false;
    if (m == MAP_FAILED) return 1;
    for (int job = 0; job < 3; job++) {
        m->job = job;
        if (direct[job]) setenv("PAIRWISE_DIRECT", direct[job], 1);
        int status = p2p_launch(2, measure, m, &options);
        if (status) return status;
        if (job == 0) as_set = m->direct;
        may_read |= m->may_read;
    }
    tell(m, as_set, may_read);
    munmap(m, sizeof *m);
    return 0;
}
