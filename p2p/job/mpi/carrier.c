/* SPDX-License-Identifier: MIT */
/* The carrier that is an MPI library: slots are sent by MPI_Isend and received by MPI_Irecv, which keep their order. One thread;
 * nothing here waits, but for the beginning and the end. */
#include "p2p/job/carrier.h"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "p2p/shared/words.h"

#ifdef OPEN_MPI
#define NAME "Open MPI"
#define WHICH_INTERFACE "mpirun --mca btl_tcp_if_include NAME"
#else
#define NAME "MPICH"
#define WHICH_INTERFACE "mpirun -iface NAME"
#endif

#define SLOTS 4
#define TAG 1
#define DESCRIPTORS 4096
#define POLL_NS 200000
#define END_S 30
#define ABORT_S 2
#define FINALIZE_S 10
#define LOST (MPI_MAX_ERROR_STRING + 60)
#define BEFORE_A_SLOT 8192 /* bytes, at most, that Open MPI sends before those of a message */

/* The slots of one direction, of all hosts: that of host h begin at h * SLOTS. */
typedef struct {
    MPI_Request *requests; /* those of `out` behind those of `in` */
    char *bytes;
    int *first;  /* of each host: its oldest slot */
    int *length; /* of each slot that has arrived; -1: not yet */
} ring;

static struct {
    int own, hosts;
    MPI_Comm comm;
    ring in, out;
    int *done; /* for MPI_Testsome */
    MPI_Status *statuses;
    int out_pending, next_host;
    bool looked;        /* what had arrived then has been given */
    bool *lent;         /* of each slot out: what it sends lies elsewhere */
    bool *over;         /* of each host: it sends nothing more */
    char (*lost)[LOST]; /* of each host: why it cannot be reached; "": it can */
} c;

/* A call for a host has failed. */
static void note(int code, const char *call, int host)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS || c.lost[host][0]) return;
    MPI_Error_string(code, text, &length);
    snprintf(c.lost[host], sizeof *c.lost, "cannot be reached any more: %s: %s", call, text);
}

static const char *lost(int host)
{
    return c.lost[host][0] ? c.lost[host] : NULL;
}

static bool inherited[DESCRIPTORS]; /* open before MPI was */

/* Of what MPI has opened, or has been given by what started it, nothing is for ranks. */
static void keep_from_ranks(void)
{
    const char *starter = getenv("PMI_FD");
    if (starter && atoi(starter) > STDERR_FILENO) inherited[atoi(starter) % DESCRIPTORS] = false;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && !inherited[fd]) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
    }
}

/* Threads of MPI's own must not take signals that are for the launcher: they inherit the mask. */
static int init(void)
{
    sigset_t all, old;
    for (int fd = 0; fd < DESCRIPTORS; fd++) inherited[fd] = fcntl(fd, F_GETFD) >= 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    int failed = MPI_Init(NULL, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed;
}

static bool open_carrier(int *own, int *hosts, char *why, size_t why_bytes)
{
    char eager_limit[32];
    snprintf(eager_limit, sizeof eager_limit, "%zu", CARRIER_SLOT + BEFORE_A_SLOT);
    /* launchers cannot read each other's memory, which MPI would try on one machine: they are not dumpable */
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    setenv("MPIR_CVAR_CH4_CMA_ENABLE", "0", 0);
    setenv("FI_SHM_DISABLE_CMA", "1", 0);
    /* a receive is there for each slot: to ask before it is sent costs four short messages more; windows bound what is sent */
    setenv("OMPI_MCA_btl_tcp_eager_limit", eager_limit, 0);
    if (init() != MPI_SUCCESS) {
        snprintf(why, why_bytes, "%s does not start", NAME);
        return false;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &c.own);
    MPI_Comm_size(MPI_COMM_WORLD, &c.hosts);
    *own = c.own;
    *hosts = c.hosts;
    return true;
}

/* ---- Before the first rank ---- */

static void name_missing(const MPI_Request *requests, char *why, size_t why_bytes)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length, missing = 0;
    size_t used;
    MPI_Get_processor_name(name, &length);
    used = (size_t)snprintf(why, why_bytes, P2P_HOST " has no answer from host", c.own, name);
    for (int h = 0; h < c.hosts && used + 10 < why_bytes; h++)
        if (requests[h] != MPI_REQUEST_NULL)
            used += (size_t)snprintf(why + used, why_bytes - used, "%s %d", missing++ ? "," : "", h);
}

static bool exchange(const void *own, void *all, size_t bytes, double seconds, char *why, size_t why_bytes)
{
    MPI_Request *requests = malloc(2 * (size_t)c.hosts * sizeof *requests); /* received, then sent */
    double until = MPI_Wtime() + seconds;
    int done = 0, failed = MPI_SUCCESS;
    for (int h = 0; requests && h < c.hosts; h++) {
        requests[h] = requests[c.hosts + h] = MPI_REQUEST_NULL;
        if (h == c.own) {
            memcpy((char *)all + (size_t)h * bytes, own, bytes);
            continue;
        }
        failed |= MPI_Irecv((char *)all + (size_t)h * bytes, (int)bytes, MPI_BYTE, h, TAG, MPI_COMM_WORLD,
                            &requests[h]);
        failed |= MPI_Isend(own, (int)bytes, MPI_BYTE, h, TAG, MPI_COMM_WORLD, &requests[c.hosts + h]);
    }
    while (requests && !done && failed == MPI_SUCCESS && MPI_Wtime() < until) {
        failed = MPI_Testall(2 * c.hosts, requests, &done, MPI_STATUSES_IGNORE);
        if (!done) nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
    done = done && failed == MPI_SUCCESS;
    if (requests && !done) name_missing(requests, why, why_bytes);
    free(requests);
    return done;
}

/* ---- Slots ---- */

static bool make_ring(ring *r, MPI_Request *requests)
{
    size_t hosts = (size_t)c.hosts;
    *r = (ring){.requests = requests,
                .bytes = malloc(hosts * SLOTS * CARRIER_SLOT),
                .first = calloc(hosts, sizeof *r->first),
                .length = malloc(hosts * SLOTS * sizeof *r->length)};
    if (!r->bytes || !r->first || !r->length) return false;
    for (size_t i = 0; i < hosts * SLOTS; i++) {
        r->requests[i] = MPI_REQUEST_NULL;
        r->length[i] = -1;
    }
    return true;
}

static char *bytes_of(const ring *r, int slot)
{
    return r->bytes + (size_t)slot * CARRIER_SLOT;
}

static void expect(int slot)
{
    c.in.length[slot] = -1;
    note(MPI_Irecv(bytes_of(&c.in, slot), (int)CARRIER_SLOT, MPI_BYTE, slot / SLOTS, TAG, c.comm, &c.in.requests[slot]),
         "MPI_Irecv", slot / SLOTS);
}

/* All pairs of hosts have exchanged a message: so this ends. */
static bool ready(void)
{
    size_t slots = (size_t)c.hosts * SLOTS;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &c.comm) != MPI_SUCCESS) return false;
    MPI_Comm_set_errhandler(c.comm, MPI_ERRORS_RETURN);
    c.lost = calloc((size_t)c.hosts, sizeof *c.lost);
    c.done = malloc(2 * slots * sizeof *c.done);
    c.statuses = malloc(2 * slots * sizeof *c.statuses);
    MPI_Request *requests = malloc(2 * slots * sizeof *requests);
    c.over = calloc((size_t)c.hosts, sizeof *c.over);
    c.lent = calloc(slots, sizeof *c.lent);
    if (!requests || !make_ring(&c.in, requests) || !make_ring(&c.out, requests + slots) || !c.lent || !c.done ||
        !c.statuses || !c.lost || !c.over)
        return false;
    for (int slot = 0; slot < (int)slots; slot++)
        if (slot / SLOTS != c.own) expect(slot);
    return true;
}

static bool exchange_first(const void *own, void *all, size_t bytes, double seconds, char *why, size_t why_bytes)
{
    if (!exchange(own, all, bytes, seconds, why, why_bytes)) return false;
    if (!c.done && !ready()) {
        snprintf(why, why_bytes, "no memory to reach %d hosts", c.hosts);
        return false;
    }
    keep_from_ranks(); /* all connections are there now */
    return true;
}

/* What has arrived, and what has left: one call for both, since each asks the system. */
static void look(void)
{
    int slots = c.hosts * SLOTS, count = 0, code = MPI_Testsome(2 * slots, c.in.requests, &count, c.done, c.statuses);
    if (count == MPI_UNDEFINED) count = 0;
    for (int i = 0; i < count; i++) {
        int slot = c.done[i] % slots, host = slot / SLOTS;
        if (code == MPI_ERR_IN_STATUS) note(c.statuses[i].MPI_ERROR, "MPI_Testsome", host);
        if (c.done[i] >= slots)
            c.out_pending--;
        else if (!c.lost[host][0])
            MPI_Get_count(&c.statuses[i], MPI_BYTE, &c.in.length[slot]);
    }
}

static void look_at_out(void)
{
    if (c.out_pending) look();
}

static int current(const ring *r, int host)
{
    return host * SLOTS + r->first[host];
}

static void advance(ring *r, int host)
{
    r->first[host] = (r->first[host] + 1) % SLOTS;
}

static char *slot_of(int host)
{
    int slot = current(&c.out, host);
    if (c.out.requests[slot] != MPI_REQUEST_NULL) look_at_out();
    return c.out.requests[slot] == MPI_REQUEST_NULL ? bytes_of(&c.out, slot) : NULL;
}

static void send_from(int host, const void *at, size_t bytes)
{
    int slot = current(&c.out, host);
    int code = MPI_Isend(at, (int)bytes, MPI_BYTE, host, TAG, c.comm, &c.out.requests[slot]);
    note(code, "MPI_Isend", host);
    if (code == MPI_SUCCESS) c.out_pending++;
    c.lent[slot] = true;
    advance(&c.out, host);
}

static bool has_left(int host)
{
    look_at_out();
    for (int slot = host * SLOTS; slot < (host + 1) * SLOTS; slot++)
        if (c.lent[slot] && c.out.requests[slot] != MPI_REQUEST_NULL) return false;
    return true;
}

static void send_slot(int host, size_t bytes)
{
    int slot = current(&c.out, host);
    send_from(host, bytes_of(&c.out, slot), bytes);
    c.lent[slot] = false;
}

static const char *find_arrived(int *host, size_t *bytes)
{
    for (int i = 0; i < c.hosts; i++) {
        int h = (c.next_host + i) % c.hosts, slot = current(&c.in, h);
        if (h == c.own || c.over[h] || c.in.length[slot] < 0) continue;
        c.over[h] = c.in.length[slot] == 0;
        if (c.over[h]) continue;
        c.next_host = (h + 1) % c.hosts;
        *host = h;
        *bytes = (size_t)c.in.length[slot];
        return bytes_of(&c.in, slot);
    }
    return NULL;
}

static const char *arrived(int *host, size_t *bytes)
{
    const char *at = find_arrived(host, bytes);
    if (!at && !c.looked) {
        look();
        at = find_arrived(host, bytes);
    }
    c.looked = at; /* who asks until there is nothing more looks once */
    return at;
}

static void taken(int host)
{
    expect(current(&c.in, host));
    advance(&c.in, host);
}

static bool all_sent(void)
{
    look_at_out();
    return !c.out_pending;
}

/* The last message to each host is an empty one: when that of all has come, no message is left that MPI would complain of. */
static void take_leave(void)
{
    int host, left = 1;
    size_t bytes;
    for (int h = 0; h < c.hosts; h++)
        if (h != c.own && slot_of(h)) send_slot(h, 0);
    while (left) {
        while (arrived(&host, &bytes)) taken(host);
        left = !all_sent();
        for (int h = 0; h < c.hosts; h++) left += h != c.own && !c.over[h];
        if (left) nanosleep(&(struct timespec){0, POLL_NS}, NULL);
    }
}

static volatile sig_atomic_t status_if_late;

static void leave(int signal)
{
    (void)signal;
    _exit(status_if_late);
}

static void close_carrier(bool all_done, int status)
{
    status_if_late = status || all_done ? status : 1;
    fflush(NULL);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = leave}, NULL);
    alarm(all_done ? END_S : ABORT_S); /* MPI waits for what may not come */
    if (!all_done) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    if (c.over) take_leave();
    alarm(FINALIZE_S); /* MPICH 4.0 over UCX was seen to hang there, if a job ends as it begins */
    for (int slot = 0; c.done && slot < c.hosts * SLOTS; slot++)
        if (c.in.requests[slot] != MPI_REQUEST_NULL) {
            MPI_Cancel(&c.in.requests[slot]);
            MPI_Wait(&c.in.requests[slot], MPI_STATUS_IGNORE);
        }
    MPI_Finalize();
    free(c.done);
    free(c.statuses);
    free(c.lost);
    free(c.over);
    free(c.lent);
    free(c.in.requests);
    for (ring *r = &c.in; r; r = r == &c.in ? &c.out : NULL) {
        free(r->bytes);
        free(r->first);
        free(r->length);
    }
}

static const p2p_carrier mpi = {.name = NAME,
                                .which_interface = WHICH_INTERFACE,
                                .open = open_carrier,
                                .exchange = exchange_first,
                                .slot = slot_of,
                                .send = send_slot,
                                .send_from = send_from,
                                .has_left = has_left,
                                .arrived = arrived,
                                .taken = taken,
                                .all_sent = all_sent,
                                .lost = lost,
                                .close = close_carrier};
const p2p_carrier *const p2p__carrier = &mpi;
