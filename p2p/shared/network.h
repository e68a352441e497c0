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
 * Times are whole picoseconds, so that they add up the same everywhere. With P2P_ANY_SOURCE or p2p_wait_any the order
 * depends on the machine, and so does the time.
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
} p2p_network;

/* The clock of a rank, or of a non-blocking collective, in picoseconds. */
typedef struct {
    uint64_t now, out_free, in_free;
} p2p_clock;

#define P2P_NETWORK_NAMES "shm, 1GbE, 10GbE, 100GbE, slow-link, straggler"

/* A profile's name, or "latency=2us,bandwidth=12G,reduce=8G,slow=0-1:10,straggler=2:5", or a name and changes to it
 * behind a comma. GB are 1e9 bytes. False, and why, on anything else. */
bool p2p__network_parse(const char *text, p2p_network *network, char *why, size_t why_bytes);

/* What a message takes between two ranks, and combining on a rank; picoseconds. */
uint64_t p2p__network_message(const p2p_network *network, int from, int to, size_t bytes);
uint64_t p2p__network_compute(const p2p_network *network, int rank, size_t bytes);

#endif
