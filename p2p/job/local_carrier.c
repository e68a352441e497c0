/* SPDX-License-Identifier: MIT */
/*
 * A carrier for launchers of one machine, which forks them: PAIRWISE_HOSTS=2 divides the ranks of a job among two
 * launchers, as if each were on a host of its own. Everything between hosts can so be tried and tested without MPI.
 * Between each two launchers there is one socketpair; a slot is a packet. With PAIRWISE_HOSTS_THROUGH=DIR they reach each
 * other through relays instead (tests/relay), one for each host, which listen at DIR/0, DIR/1, ...
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p2p/job/hosts.h"

#define ROOM (4 * (int)CARRIER_SLOT)

/* The launcher that this process is: it and its sockets to the others. */
static struct {
    int own, hosts, next;
    int socket[P2P_LOCAL_HOSTS];
    size_t arrived[P2P_LOCAL_HOSTS], leaving[P2P_LOCAL_HOSTS];
    const void *from[P2P_LOCAL_HOSTS]; /* what is leaving */
    bool gone[P2P_LOCAL_HOSTS];
    pid_t pids[P2P_LOCAL_HOSTS]; /* of those that this one has forked */
} c;
static _Alignas(8) char slots_in[P2P_LOCAL_HOSTS][CARRIER_SLOT], slots_out[P2P_LOCAL_HOSTS][CARRIER_SLOT];

static bool push(int host)
{
    if (!c.leaving[host]) return true;
    ssize_t sent = send(c.socket[host], c.from[host], c.leaving[host], MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)) return false;
    c.leaving[host] = 0; /* also if there is no launcher any more */
    return true;
}

static char *slot(int host)
{
    return push(host) ? slots_out[host] : NULL;
}

static void send_from(int host, const void *at, size_t bytes)
{
    c.from[host] = at;
    c.leaving[host] = bytes;
    push(host);
}

static bool has_left(int host)
{
    return push(host);
}

static void send_slot(int host, size_t bytes)
{
    send_from(host, slots_out[host], bytes);
}

static const char *arrived(int *host, size_t *bytes)
{
    for (int i = 0; i < c.hosts; i++) {
        int h = (c.next + i) % c.hosts;
        if (h == c.own) continue;
        push(h);
        ssize_t got = c.arrived[h] ? (ssize_t)c.arrived[h] : recv(c.socket[h], slots_in[h], CARRIER_SLOT, MSG_DONTWAIT);
        if (got == 0) c.gone[h] = true;
        if (got <= 0) continue;
        c.arrived[h] = (size_t)got;
        c.next = (h + 1) % c.hosts;
        *host = h;
        *bytes = (size_t)got;
        return slots_in[h];
    }
    return NULL;
}

static void taken(int host)
{
    c.arrived[host] = 0;
}

static bool all_sent(void)
{
    bool all = true;
    for (int h = 0; h < c.hosts; h++) all = (h == c.own || push(h)) && all;
    return all;
}

/* One message, until then at the latest. Signals of the program's may come meanwhile. */
static bool receive_until(int fd, void *to, size_t bytes, uint64_t until)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int ready;
    do {
        uint64_t now = p2p__now();
        ready = poll(&polled, 1, now < until ? (int)((until - now) / 1000000 + 1) : 0);
    } while (ready < 0 && errno == EINTR);
    return ready == 1 && TEMP_FAILURE_RETRY(recv(fd, to, bytes, 0)) == (ssize_t)bytes;
}

/* Before the first slot. */
static bool exchange(const void *own, void *all, size_t bytes, double seconds, char *why, size_t why_bytes)
{
    bool good = true;
    uint64_t until = p2p__now() + (uint64_t)(seconds * 1e9);
    for (int h = 0; h < c.hosts; h++)
        if (h != c.own) TEMP_FAILURE_RETRY(send(c.socket[h], own, bytes, MSG_NOSIGNAL));
    for (int h = 0; h < c.hosts && good; h++) {
        char *to = (char *)all + (size_t)h * bytes;
        if (h == c.own)
            memcpy(to, own, bytes);
        else
            good = receive_until(c.socket[h], to, bytes, until);
        if (!good) snprintf(why, why_bytes, "host %d has no answer from host %d", c.own, h);
    }
    return good;
}

static void close_carrier(bool all_done, int status)
{
    (void)status; /* nothing here waits */
    for (int h = 0; h < c.hosts; h++) {
        if (h == c.own) continue;
        close(c.socket[h]);
        if (!all_done && c.pids[h] > 0) kill(c.pids[h], SIGKILL); /* it may be stopped */
    }
}

/* At its end it is readable for ever. */
static int descriptor(int host)
{
    return host == c.own || c.gone[host] ? -1 : c.socket[host];
}

static const char *lost(int host)
{
    return c.gone[host] ? "has ended" : NULL;
}

const p2p_carrier p2p__local_carrier = {.name = "one machine",
                                        .which_interface = "fewer hosts",
                                        .exchange = exchange,
                                        .slot = slot,
                                        .send = send_slot,
                                        .send_from = send_from,
                                        .has_left = has_left,
                                        .arrived = arrived,
                                        .taken = taken,
                                        .all_sent = all_sent,
                                        .descriptor = descriptor,
                                        .lost = lost,
                                        .close = close_carrier};

/* ---- The launchers ---- */

static void be_launcher(int own, int hosts, int sockets[P2P_LOCAL_HOSTS][P2P_LOCAL_HOSTS])
{
    c.own = own;
    c.hosts = hosts;
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < hosts; b++) {
            if (a == b) continue;
            if (a != own) {
                close(sockets[a][b]);
                continue;
            }
            c.socket[b] = sockets[a][b];
            setsockopt(c.socket[b], SOL_SOCKET, SO_SNDBUF, &(int){ROOM}, sizeof(int));
        }
}

/* A socket to the relay of one of them, or -1 and errno. */
static int reach_relay(const char *folder, carrier_route route)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if ((size_t)snprintf(at.sun_path, sizeof at.sun_path, "%s/%d", folder, route.from) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && TEMP_FAILURE_RETRY(connect(fd, (struct sockaddr *)&at, sizeof at)) == 0 &&
        send(fd, &route, sizeof route, MSG_NOSIGNAL) == sizeof route)
        return fd;
    int saved = errno;
    if (fd >= 0) close(fd);
    errno = saved;
    return -1;
}

/* The ends of what is between launchers a and b of the job that began then. */
static bool connect_two(uint64_t began, int a, int b, int ends[2])
{
    const char *folder = getenv("PAIRWISE_HOSTS_THROUGH");
    carrier_route route = {.job = {(uint64_t)getpid(), began}, .from = a, .to = b};
    if (!folder) return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    ends[0] = reach_relay(folder, route);
    route.from = b;
    route.to = a;
    if (ends[0] >= 0) ends[1] = reach_relay(folder, route);
    return ends[0] >= 0 && ends[1] >= 0;
}

/* The launchers of the other hosts; they return in a process of their own. This one's number, or -1 and errno. */
static int fork_launchers(int hosts)
{
    int sockets[P2P_LOCAL_HOSTS][P2P_LOCAL_HOSTS], own = 0, fd, standard[STDERR_FILENO + 1], closed = 0;
    bool good = true;
    uint64_t began = p2p__now();
    memset(&c, 0, sizeof c);
    /* no socket may be where something is printed, if that is closed */
    while ((fd = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO) standard[closed++] = fd;
    if (fd >= 0) close(fd);
    memset(sockets, -1, sizeof sockets);
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < a && good; b++) {
            int ends[2] = {-1, -1};
            good = connect_two(began, a, b, ends);
            sockets[a][b] = ends[0];
            sockets[b][a] = ends[1];
        }
    while (closed > 0) close(standard[--closed]);
    pid_t parent = getpid();
    for (int h = 1; h < hosts && !own && good; h++) {
        c.pids[h] = fork();
        if (c.pids[h] == 0) own = h;
        good = c.pids[h] >= 0;
    }
    if (!good) { /* those that there are find that this one has closed its ends, and end */
        int saved = errno;
        for (int i = 0; i < P2P_LOCAL_HOSTS * P2P_LOCAL_HOSTS; i++)
            if ((&sockets[0][0])[i] >= 0) close((&sockets[0][0])[i]);
        errno = saved;
        return -1;
    }
    if (own) {
        memset(c.pids, 0, sizeof c.pids);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (none > STDIN_FILENO) {
            dup2(none, STDIN_FILENO);
            close(none);
        }
    }
    be_launcher(own, hosts, sockets);
    return own;
}

int p2p__run_on_hosts(const p2p_plan *plan, p2p_err *err)
{
    int hosts = MIN((int)plan->config.hosts, plan->size);
    p2p_plan part = *plan;
    char why[1000];
    fflush(NULL);
    const char *through = getenv("PAIRWISE_HOSTS_THROUGH");
    int own = fork_launchers(hosts), ranks = plan->size / hosts + (own < plan->size % hosts), status = 1;
    if (own < 0)
        snprintf(why, sizeof why,
                 "%d launchers cannot be started%s%s: %s\n  try: fewer hosts and ranks, or higher limits (ulimit -u, "
                 "ulimit -n)",
                 hosts, through ? " through relays at " : "", through ? through : "", strerror(errno));
    else
        part.hosts = p2p__hosts_join(&p2p__local_carrier, own, hosts, ranks, why, sizeof why);
    if (own > 0) {
        part.options.report = NULL;
        part.report_to = -1;
        part.options.rank_statuses = NULL;
    }
    if (part.hosts)
        status = p2p__run_job(&part, err);
    else if (own <= 0)
        fprintf(stderr, "pairwise: %s\n", why);
    if (!part.hosts) *err = P2P_ERR_SYS;
    if (!part.hosts && own >= 0) close_carrier(false, 1); /* the others wait for an answer */
    if (own > 0) _exit(status);
    for (int h = 1; h < hosts; h++)
        if (c.pids[h] > 0) TEMP_FAILURE_RETRY(waitpid(c.pids[h], NULL, 0));
    return status;
}
