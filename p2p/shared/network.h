/* SPDX-License-Identifier: MIT */
/*
 * network: virtual time on a network that does not exist, the same on every machine.
 *
 * The model is the one of the textbooks (Hockney; Thakur, Rabenseifner and Gropp 2005): a message of S bytes takes
 * latency + S / bandwidth, and keeps the sender's outgoing and the receiver's incoming port busy for as long; a port
 * carries one message at a time, in the order of the program; combining B bytes takes B / reduce. Each frame carries the
 * time at which its message began. Links buffer: a message begins when its sender is ready, whether or not it is expected.
 *
 *      a send begins      max(now, outgoing port free)
 *      it ends            begin + cost; the port is free again, and a p2p_send returns
 *      a receive begins   max(the send's begin, incoming port free)
 *      it ends            begin + cost; the call that waits for it returns
 *
 * With hosts, ranks of one host talk as in the profile shm, over ports of their own. The ranks of a host share one port to
 * the network, out and in: a message to another host begins when the outgoing port of its host is free, and arrives when the
 * incoming port of the other host is, in order of the time at which ranks ask (then of rank). A launcher gives ports
 * out, when no rank can do anything before that would ask earlier (p2p/job/ports.c):
 *
 *      begins             max(now, port out of the sender's host free);          that port is free again `cost` later
 *      arrives            max(begin, port in of the receiver's host free) + cost; that port is free then
 *
 * Times are whole picoseconds, so that they add up the same everywhere. With P2P_ANY_SOURCE or p2p_wait_any the order
 * depends on the machine, and so does the time; with hosts also with p2p_test and its kin, and where a rank sends to another
 * host while a non-blocking collective of its own is under way.
 */
#ifndef PAIRWISE_P2P_NETWORK_H
#define PAIRWISE_P2P_NETWORK_H

#include "p2p/p2p.h"

typedef struct {
    bool on;
    double latency_s, bandwidth, reduce; /* seconds; bytes a second */
    int slow_from, slow_to;              /* one slow link, both ways; -1: none */
    double slow_factor;                  /* its messages take so many times as long */
    int straggler;                       /* a rank that computes slowly; -1: none */
    double straggler_factor;
    int hosts; /* asked for; 0: one */
    uint16_t on_host
        [P2P_MAX_RANKS]; /* and the ranks on each; the first is 0: as many on each, or one less on the last ones */
    int placed;          /* hosts of the ranks that there are; 0, 1: one */
    uint16_t first[P2P_MAX_RANKS + 1]; /* of them: the first rank of each; behind the last one the number of ranks */
} p2p_network;

/* The clock of a rank, or of a non-blocking collective, in picoseconds. */
typedef struct {
    uint64_t now, out_free, in_free;
} p2p_clock;

#define P2P_NETWORK_NAMES "shm, 1GbE, 10GbE, 100GbE, slow-link, straggler"

/* A profile's name, or "latency=2us,bandwidth=12G,reduce=8G,slow=0-1:10,straggler=2:5,hosts=4" (or "hosts=4:2:2:8": four, of so many ranks), or a name and changes to it
 * behind a comma. GB are 1e9 bytes. False, and why, on anything else. */
bool p2p__network_parse(const char *text, p2p_network *network, char *why, size_t why_bytes);

/* Of so many ranks, numbered host by host: which live where. False, and why, if the network names hosts or ranks that are not
 * there. */
bool p2p__network_place(p2p_network *network, int ranks, char *why, size_t why_bytes);

/* Do they take the same time for everything? */
bool p2p__network_same(const p2p_network *a, const p2p_network *b);

/* Where a rank lives; 0 without hosts. */
int p2p__network_host(const p2p_network *network, int rank);

/* Does a message between these ranks leave its host? */
static inline bool p2p__network_crosses(const p2p_network *network, int from, int to)
{
    return network->placed > 1 && p2p__network_host(network, from) != p2p__network_host(network, to);
}

/* What a message takes between two ranks, and combining on a rank; picoseconds. */
uint64_t p2p__network_message(const p2p_network *network, int from, int to, size_t bytes);
uint64_t p2p__network_compute(const p2p_network *network, int rank, size_t bytes);

#endif
