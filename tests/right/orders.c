/* SPDX-License-Identifier: MIT */
/*
 * orders: programs whose orders can be counted by hand; for the tests of launch --explore (tests/orders.c). Rank 0 prints a sum,
 * which is the same in all of them.
 *
 *      orders gather M      each other rank sends M messages to rank 0, which receives from any
 *      orders posted M      the same, all receives posted first
 *      orders probed M      the same, rank 0 asks who is first
 *      orders any M         the same, a receive for each message of each rank, whichever ends first
 *      orders caused        rank 1 sends to rank 0, then tells the others that they may
 *      orders answered      the same, but rank 1 waits until rank 0 has its message
 *      orders apart         ranks 0 and 1 each receive from any of the others
 *      orders behind        rank 2 receives from ranks 3 and 4, and then sends to rank 0, as rank 1 does
 *      orders selective     rank 0 receives from any, from rank 1, and from any; rank 1 sends two messages
 *      orders tags          any tag, one source
 *      orders poll          rank 0 asks once whether a message has come
 *      orders test          the same with a request
 *      orders until         rank 0 asks until a message has come
 *      orders patient N     rank 0 asks N times at most whether a message has come, and prints whether it has
 *      orders asks          rank 2 sends to rank 0, which then sends to it, and asks until that message has come
 *      orders last          as gather 1, but if all come from the highest rank down, rank 0 waits for one more
 *      orders spins         as gather 1, but if the highest rank is first, rank 0 never ends
 *      orders prints        as gather 1, and rank 0 prints who was first
 *      orders random SEED   sends, and receives from any, as the seed says; there is always enough to receive
 *      orders unsteady      as gather 1, and rank 0 prints the number of its process
 *      orders toggles FILE  as gather 1 if FILE is there, which is then removed; else FILE is made, and rank 0 names the sources
 *      orders exchange      ranks 0 and 1 send to each other, then receive
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/p2p.h"

enum { MOST = 64 };

static p2p_comm *world;
static int rank, size, each, sum;
static const char *file;

static void put(int dest)
{
    p2p_send(world, &rank, sizeof rank, dest, 0);
}

static int get(int source)
{
    int got;
    p2p_status status;

    p2p_recv(world, &got, sizeof got, source, P2P_ANY_TAG, &status);
    sum += got;
    return status.source;
}

static void gather(void)
{
    for (int i = 0; i < each && rank > 0; i++) put(0);
    for (int i = 0; i < each * (size - 1) && rank == 0; i++) get(P2P_ANY_SOURCE);
}

static void posted(void)
{
    p2p_request requests[MOST];
    int got[MOST], count = each * (size - 1);

    if (rank > 0) gather();
    if (rank > 0) return;
    for (int i = 0; i < count; i++) p2p_irecv(world, &got[i], sizeof got[i], P2P_ANY_SOURCE, 0, &requests[i]);
    p2p_wait_all((size_t)count, requests, P2P_STATUSES_IGNORE);
    for (int i = 0; i < count; i++) sum += got[i];
}

static void probed(void)
{
    p2p_status status;

    if (rank > 0) gather();
    for (int i = 0; i < each * (size - 1) && rank == 0; i++) {
        p2p_probe(world, P2P_ANY_SOURCE, 0, &status);
        get(status.source);
    }
}

static void any(void)
{
    p2p_request requests[MOST];
    int got[MOST], count = each * (size - 1);
    size_t index;

    if (rank > 0) gather();
    if (rank > 0) return;
    for (int i = 0; i < count; i++) p2p_irecv(world, &got[i], sizeof got[i], 1 + i / each, 0, &requests[i]);
    for (int i = 0; i < count; i++) {
        p2p_wait_any((size_t)count, requests, &index, P2P_STATUS_IGNORE);
        sum += got[index];
    }
}

static void tell_others(void)
{
    for (int to = 2; rank == 1 && to < size; to++) put(to);
    for (int i = 1; rank == 0 && i < size; i++) get(P2P_ANY_SOURCE);
}

static void caused(void)
{
    if (rank > 1) get(1);
    if (rank > 0) put(0);
    tell_others();
}

static void answered(void)
{
    if (rank > 1) get(1);
    if (rank > 1) put(0);
    if (rank == 1) p2p_ssend(world, &rank, sizeof rank, 0, 0);
    tell_others();
}

static void apart(void)
{
    for (int to = 0; to < 2 && rank > 1; to++) put(to);
    for (int i = 2; i < size && rank < 2; i++) get(P2P_ANY_SOURCE);
}

static void behind(void)
{
    for (int i = 0; i < 2 && (rank == 0 || rank == 2); i++) get(P2P_ANY_SOURCE);
    if (rank == 1 || rank == 2) put(0);
    if (rank > 2) put(2);
}

static void selective(void)
{
    if (rank == 1) put(0);
    if (rank == 1 || rank == 2) put(0);
    if (rank > 0) return;
    get(P2P_ANY_SOURCE);
    get(1);
    get(P2P_ANY_SOURCE);
}

static void tags(void)
{
    for (int tag = 0; tag < 3 && rank == 1; tag++) p2p_send(world, &rank, sizeof rank, 0, tag);
    for (int i = 0; i < 3 && rank == 0; i++) get(1);
}

static void poll(void)
{
    bool found;

    if (rank == 1) put(0);
    if (rank > 0) return;
    p2p_iprobe(world, 1, 0, &found, P2P_STATUS_IGNORE);
    get(1);
}

static void test(void)
{
    bool done;
    int got;
    p2p_request request;

    if (rank == 1) put(0);
    if (rank > 0) return;
    p2p_irecv(world, &got, sizeof got, 1, 0, &request);
    p2p_test(&request, &done, P2P_STATUS_IGNORE);
    p2p_wait(&request, P2P_STATUS_IGNORE);
}

static void until(void)
{
    bool found = false;

    if (rank == 1) put(0);
    if (rank > 0) return;
    while (!found) p2p_iprobe(world, 1, 0, &found, P2P_STATUS_IGNORE);
    get(1);
}

static void patient(void)
{
    bool found = false;

    if (rank == 1) put(0);
    if (rank > 0) return;
    for (int i = 0; i < each && !found; i++) p2p_iprobe(world, 1, 0, &found, P2P_STATUS_IGNORE);
    printf("%s\n", found ? "found" : "given up");
    get(1);
}

static void asks(void)
{
    bool found = false;
    p2p_request sent = P2P_REQUEST_NULL;

    if (rank == 0) get(P2P_ANY_SOURCE);
    if (rank == 2) get(P2P_ANY_SOURCE);
    p2p_isend(world, &rank, sizeof rank, rank == 2 ? 0 : 2, 0, &sent);
    while (rank == 2 && !found) p2p_iprobe(world, P2P_ANY_SOURCE, 0, &found, P2P_STATUS_IGNORE);
    if (rank == 2) get(P2P_ANY_SOURCE);
    p2p_wait(&sent, P2P_STATUS_IGNORE);
}

static void last(void)
{
    int down = 0;

    if (rank > 0) put(0);
    for (int i = 1; i < size && rank == 0; i++) down += get(P2P_ANY_SOURCE) == size - i;
    if (rank == 0 && down == size - 1) get(1);
}

static void spins(void)
{
    bool ends = true;

    if (rank > 0) put(0);
    for (int i = 1; i < size && rank == 0; i++)
        if (get(P2P_ANY_SOURCE) == size - 1 && i == 1) ends = false;
    if (ends) return;
    for (;;) pause();
}

static void prints(void)
{
    if (rank > 0) put(0);
    for (int i = 1; i < size && rank == 0; i++) printf("from %d\n", get(P2P_ANY_SOURCE));
}

static void unsteady(void)
{
    gather();
    if (rank == 0) printf("%d\n", (int)getpid());
}

static void toggles(void)
{
    bool there = rank == 0 && unlink(file) == 0;

    if (rank > 0) put(0);
    if (rank == 0 && !there) close(creat(file, 0600));
    for (int i = 1; rank == 0 && i < size; i++) get(there ? P2P_ANY_SOURCE : i);
}

static void exchange(void)
{
    if (rank < 2) put(1 - rank);
    if (rank < 2) get(1 - rank);
}

/* A message of any source, by a receive, by a probe and a receive, or by a wait for any. */
static void take(unsigned how)
{
    p2p_status status = {.source = 0};
    p2p_request request;
    int got = 0;
    size_t index;

    if (how % 3 == 0) get(P2P_ANY_SOURCE);
    if (how % 3 == 1) p2p_probe(world, P2P_ANY_SOURCE, 0, &status);
    if (how % 3 == 1) get(status.source);
    if (how % 3 < 2) return;
    p2p_irecv(world, &got, sizeof got, P2P_ANY_SOURCE, 0, &request);
    p2p_wait_any(1, &request, &index, &status);
}

/* One of the ranks sends to another, or receives if a message was sent to it before: so none waits in vain. */
static void run_random(void)
{
    unsigned state = (unsigned)each * 2654435761u + 1, sent[MOST] = {0};
    p2p_request requests[MOST];
    size_t count = 0;

    for (int i = 0; i < 14; i++) {
        state = state * 1103515245u + 12345u;
        int who = (int)(state >> 16) % size, to = (who + 1 + (int)(state >> 24) % (size - 1)) % size;
        bool receives = sent[who] && state >> 20 & 1;
        if (receives)
            sent[who]--;
        else if (i < 9)
            sent[to]++;
        if (rank == who && receives) take(state >> 8);
        if (rank == who && !receives && i < 9) p2p_isend(world, &rank, sizeof rank, to, 0, &requests[count++]);
    }
    while (sent[rank]-- > 0) get(P2P_ANY_SOURCE);
    p2p_wait_all(count, requests, P2P_STATUSES_IGNORE);
    sum = 0;
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"gather", gather},     {"posted", posted},   {"probed", probed}, {"any", any},           {"caused", caused},
    {"answered", answered}, {"apart", apart},     {"behind", behind}, {"tags", tags},         {"selective", selective},
    {"poll", poll},         {"test", test},       {"until", until},   {"patient", patient},   {"asks", asks},
    {"last", last},         {"prints", prints},   {"spins", spins},   {"exchange", exchange}, {"random", run_random},
    {"unsteady", unsteady}, {"toggles", toggles},
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "gather";

    file = argv[argc - 1];
    each = argc > 2 ? atoi(argv[2]) : 1;
    p2p_init(&world);
    rank = p2p_rank(world);
    size = p2p_size(world);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(name, programs[i].name) == 0) programs[i].run();
    if (rank == 0) printf("%d\n", sum);
    p2p_finalize(world);
    return 0;
}
