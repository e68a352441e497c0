/* SPDX-License-Identifier: MIT */
/*
 * relay DIR: between the launchers that PAIRWISE_HOSTS=3 forks on this machine, a network. mpirun starts a relay on each host;
 * with PAIRWISE_HOSTS_THROUGH=DIR each launcher is connected to the relay of its host, instead of to the others. So a
 * suite that starts many jobs, which no process under mpirun can, runs over MPI and over what it runs over.
 *
 *      launcher 0 --- DIR/0, relay 0 <==== p2p__carrier: MPI ====> relay 1, DIR/1 --- launcher 1
 *
 * Each pair of launchers of a job has a connection to either relay, whose first packet says which (carrier_route). Between
 * relays each packet has its route before it; one of no bytes is the end of a connection. What arrives for a launcher waits
 * for it in memory, so that no job holds up another. A file DIR/stop ends the relays.
 */
#include "p2p/job/carrier.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MOST 4096
#define FIRST_MESSAGE_S 30.0
#define EAGER_NS UINT64_C(1000000) /* as p2p__hosts_pause: the longer nothing has come, the less often it looks */
#define PAUSE_PART 32
#define PAUSE_MOST_NS UINT64_C(10000000)

typedef struct packet {
    struct packet *next;
    size_t bytes;
    char at[];
} packet;

typedef struct {
    carrier_route route;   /* from the launcher here */
    int fd;                /* -1: it has not connected yet */
    bool ended, far_ended; /* neither side sends any more: the connection is over */
    packet *first, **end;  /* what has arrived for it */
} connection;

/* A route and its packet, which is longer than a slot if the packet is as long as one. */
typedef struct {
    size_t bytes, done;
    _Alignas(8) char at[sizeof(carrier_route) + CARRIER_SLOT];
} transfer;

static connection *connections[MOST];
static int own, hosts, count;
static transfer leaving[P2P_LOCAL_HOSTS], arriving[P2P_LOCAL_HOSTS];
static bool moved;
static struct {
    unsigned long long connections, packets, bytes;
} sent;

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "relay %d: %s: %s\n", own, what, why);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Connections ---- */

static connection *find(const carrier_route *route)
{
    for (int i = 0; i < count; i++)
        if (connections[i]->route.to == route->to && !memcmp(connections[i]->route.job, route->job, sizeof route->job))
            return connections[i];
    connection *c = count < MOST ? calloc(1, sizeof *c) : NULL;
    if (!c) die("one more connection", "there are too many");
    *c = (connection){.route = *route, .fd = -1, .end = &c->first};
    connections[count++] = c;
    return c;
}

static void meet(int listening)
{
    carrier_route route;
    int fd = accept(listening, NULL, NULL);
    if (fd < 0) return;
    moved = true;
    if (recv(fd, &route, sizeof route, 0) != sizeof route) { /* it has ended already */
        close(fd);
        return;
    }
    if (route.from != own || route.to == own || route.to < 0 || route.to >= hosts)
        die("a connection", "of other hosts");
    find(&route)->fd = fd;
    sent.connections++;
}

static void drop_ended(void)
{
    for (int i = count; i-- > 0;) {
        connection *c = connections[i];
        if (!c->ended || !c->far_ended) continue;
        close(c->fd);
        free(c);
        connections[i] = connections[--count];
    }
}

/* ---- From a launcher to another relay ---- */

/* True: nothing waits for a slot to this host. */
static bool pass_on(int host)
{
    transfer *t = &leaving[host];
    while (t->done < t->bytes) {
        size_t part = MIN(t->bytes - t->done, CARRIER_SLOT);
        char *slot = p2p__carrier->slot(host);
        if (!slot) return false;
        memcpy(slot, t->at + t->done, part);
        p2p__carrier->send(host, part);
        t->done += part;
        moved = true;
    }
    return true;
}

/* A packet or the end; while none can go to that host it stays in the socket, and the launcher waits. */
static void take(connection *c)
{
    transfer *t = &leaving[c->route.to];
    if (c->fd < 0 || c->ended || !pass_on(c->route.to)) return;
    ssize_t got = recv(c->fd, t->at + sizeof c->route, CARRIER_SLOT, MSG_DONTWAIT);
    if (got < 0) return;
    c->ended = got == 0;
    c->route.bytes = (uint64_t)got;
    memcpy(t->at, &c->route, sizeof c->route);
    t->bytes = sizeof c->route + (size_t)got;
    t->done = 0;
    moved = true;
    sent.packets++;
    sent.bytes += t->bytes;
    pass_on(c->route.to);
}

/* ---- From another relay to a launcher ---- */

static void keep(const carrier_route *route, const char *bytes)
{
    connection *c = find(&(carrier_route){.job = {route->job[0], route->job[1]}, .from = own, .to = route->from});
    packet *p = malloc(sizeof *p + route->bytes);
    if (!p) die("a packet", "no memory");
    *p = (packet){.bytes = route->bytes};
    memcpy(p->at, bytes, route->bytes);
    *c->end = p;
    c->end = &p->next;
}

static void collect(int from, const char *bytes, size_t length)
{
    transfer *t = &arriving[from];
    carrier_route route;
    if (length > sizeof t->at - t->bytes) die("what arrives", "longer than a packet");
    memcpy(t->at + t->bytes, bytes, length);
    t->bytes += length;
    memcpy(&route, t->at, sizeof route);
    if (t->bytes < sizeof route + route.bytes) return;
    if (route.from != from || route.to != own || t->bytes > sizeof route + route.bytes)
        die("what arrives", "no packet");
    keep(&route, t->at + sizeof route);
    t->bytes = 0;
}

/* False: the launcher has to take others first. One that has closed its socket takes all. */
static bool give_one(connection *c, const packet *p)
{
    c->far_ended = p->bytes == 0;
    if (c->far_ended) return shutdown(c->fd, SHUT_WR) == 0 || errno == ENOTCONN;
    return send(c->fd, p->at, p->bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

static void give(connection *c)
{
    packet *p;
    while (c->fd >= 0 && (p = c->first) && give_one(c, p)) {
        c->first = p->next;
        if (!p->next) c->end = &c->first;
        free(p);
        moved = true;
    }
}

/* ---- The loop ---- */

/* Until a launcher sends something, or takes something; what comes through MPI wakes nobody. */
static void wait_for(int listening, uint64_t ns)
{
    static struct pollfd polled[1 + MOST];
    polled[0] = (struct pollfd){.fd = listening, .events = POLLIN};
    for (int i = 0; i < count; i++) {
        connection *c = connections[i];
        bool reads = !c->ended && leaving[c->route.to].done == leaving[c->route.to].bytes;
        polled[1 + i] = (struct pollfd){.fd = reads || c->first ? c->fd : -1,
                                        .events = (short)((reads ? POLLIN : 0) | (c->first ? POLLOUT : 0))};
    }
    ppoll(polled, (nfds_t)count + 1, &(struct timespec){.tv_nsec = (long)ns}, NULL);
}

static void move_all(int listening)
{
    static unsigned turn;
    const char *bytes;
    int from;
    size_t length;
    meet(listening);
    turn++; /* another is the first each time */
    for (int i = 0; i < count; i++) take(connections[(turn + (unsigned)i) % (unsigned)count]);
    for (int h = 0; h < hosts; h++) pass_on(h);
    while ((bytes = p2p__carrier->arrived(&from, &length))) {
        collect(from, bytes, length);
        p2p__carrier->taken(from);
        moved = true;
    }
    for (int i = 0; i < count; i++) give(connections[i]);
    drop_ended();
}

static void serve(int listening, const char *stop)
{
    for (uint64_t moved_at = now_ns(); access(stop, F_OK) != 0;) {
        moved = false;
        move_all(listening);
        uint64_t now = now_ns(), quiet = now - moved_at;
        if (moved)
            moved_at = now;
        else if (quiet < EAGER_NS)
            sched_yield();
        else
            wait_for(listening, MIN(quiet / PAUSE_PART, PAUSE_MOST_NS));
        for (int h = 0; h < hosts; h++)
            if (h != own && p2p__carrier->lost(h)) die("another relay", p2p__carrier->lost(h));
    }
}

static int listen_at(const char *folder)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if ((size_t)snprintf(at.sun_path, sizeof at.sun_path, "%s/%d", folder, own) >= sizeof at.sun_path)
        die(folder, "too long a name");
    umask(0); /* tests have users of their own */
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, MOST)) die(at.sun_path, strerror(errno));
    return fd;
}

int main(int argc, char *argv[])
{
    char why[1000], stop[1000];
    int all[P2P_LOCAL_HOSTS];
    if (argc != 2) return fputs("usage: mpirun ... relay DIR\n", stderr), 2;
    if (!p2p__carrier->open(&own, &hosts, why, sizeof why)) die("MPI", why);
    if (hosts > P2P_LOCAL_HOSTS) die("MPI", "too many hosts");
    if (!p2p__carrier->exchange(&own, all, sizeof own, FIRST_MESSAGE_S, why, sizeof why)) die("MPI", why);
    snprintf(stop, sizeof stop, "%s/stop", argv[1]);
    int listening = listen_at(argv[1]);
    printf("relay %d listens\n", own);
    fflush(stdout);
    serve(listening, stop);
    printf("relay %d: %llu connections, %llu packets, %llu bytes\n", own, sent.connections, sent.packets, sent.bytes);
    fflush(stdout);
    p2p__carrier->close(true, 0);
    return 0;
}
