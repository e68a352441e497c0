/* SPDX-License-Identifier: MIT */
/*
 * carrier: the seam between the launchers of several hosts. What carries their bytes is an MPI library, in a program of its
 * own (mpi/carrier.c); this library and the programs of ranks are not linked with it.
 *
 * Bytes go in slots: memory of the carrier's, filled in place, a few under way at a time to each host, and in order. Many
 * bytes that lie elsewhere go from there, in the place of a slot.
 */
#ifndef PAIRWISE_P2P_CARRIER_H
#define PAIRWISE_P2P_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CARRIER_SLOT ((size_t)128 << 10)

typedef struct {
    const char *name, *which_interface; /* "Open MPI"; its option that says which network to use */

    /* Join the other launchers; before any rank is started. NULL: they have been forked. */
    bool (*open)(int *own, int *hosts, char *why, size_t why_bytes);
    /* Send `own` to each other host and receive theirs, of the same length: all[h] of host h. False after so many seconds,
     * and says in why whom this host has not heard. */
    bool (*exchange)(const void *own, void *all, size_t bytes, double seconds, char *why, size_t why_bytes);

    /* Where the next bytes to a host are put; NULL: all its slots are under way. The same one until `send`. */
    char *(*slot)(int host);
    void (*send)(int host, size_t bytes);
    /* In the place of that slot: so many bytes, at most CARRIER_SLOT, from where they lie. */
    void (*send_from)(int host, const void *at, size_t bytes);
    /* None of what was given to send_from is read any more. */
    bool (*has_left)(int host);
    /* What has arrived from any host, the oldest first of each; NULL: nothing. Until `taken` it stays. */
    const char *(*arrived)(int *host, size_t *bytes);
    void (*taken)(int host);
    /* Nothing is under way from here any more. */
    bool (*all_sent)(void);

    /* What becomes readable when something arrives from a host, and writable when a slot may be free again; NULL: there is
     * none, and one has to look. */
    int (*descriptor)(int host);

    /* Why nothing more can go to a host, or come from it, as the end of a sentence; NULL: as far as is known it can. */
    const char *(*lost)(int host);

    /* All hosts are done; false: one is not, and what is under way is given up. If it takes too long, the process ends, with
     * that status. */
    void (*close)(bool all_done, int status);
} p2p_carrier;

#define P2P_LOCAL_HOSTS 16
/* What goes from one launcher of a job to another: the first packet of its connection to a relay (tests/relay). */
typedef struct {
    uint64_t job[2]; /* of no other job on this machine */
    int32_t from, to;
    uint64_t bytes; /* of a packet */
} carrier_route;

extern const p2p_carrier p2p__local_carrier; /* of launchers on one machine */

/* NULL in a program that is not linked with one. */
extern const p2p_carrier *const p2p__carrier;

#endif
