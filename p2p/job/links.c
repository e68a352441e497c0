/* SPDX-License-Identifier: MIT */
/*
 * Links between ranks are opened when first used. A rank asks; the supervisor makes a socketpair and sends each side its
 * end. Few ends may be under way at once: an ordinary user may have only about RLIMIT_NOFILE descriptors in flight, and a
 * rank that computes takes what was sent to it only at its next call. So each end is acknowledged, and the rest waits.
 *
 * With launch --relay the two ends are not joined: each leads to the process that holds the other end of that socket, which
 * carries on what comes. The checker of the course counts there what ranks send, outside of their processes.
 *
 *      rank a ─── (a, b) ═══ relay ═══ (b, a) ─── rank b
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/world/world.h"

#define AT_ONCE_EACH 32

static int descriptor_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1 << 20 ? (int)limit.rlim_cur : 1 << 20;
}

p2p_err p2p__links_init(p2p_job *job)
{
    size_t pairs = (size_t)job->size * (size_t)job->size; /* what is never asked for takes no memory */
    job->linked = calloc(pairs / 64 + 1, sizeof *job->linked);
    job->link_requests = calloc(pairs / 2 + 1, sizeof *job->link_requests);
    job->links_max = descriptor_limit() / 2;
    if (job->links_max < 2 * job->size) job->links_max = 2 * job->size; /* one each must always be possible */
    job->links_max_each = job->links_max / job->size;
    if (job->links_max_each > AT_ONCE_EACH) job->links_max_each = AT_ONCE_EACH;
    return job->linked && job->link_requests ? P2P_OK : P2P_ERR_NOMEM;
}

void p2p__links_free(p2p_job *job)
{
    for (size_t i = 0; i < job->link_request_count; i++)
        if (job->link_requests[i].fd_for_b >= 0) close(job->link_requests[i].fd_for_b);
    free(job->link_requests);
    free(job->linked);
    p2p__memory_forget(&job->gaps);
}

void p2p__links_forget(p2p_job *job)
{
    for (size_t i = 0; i < job->link_request_count; i++)
        if (job->link_requests[i].fd_for_b >= 0) close(job->link_requests[i].fd_for_b);
    job->link_request_count = 0;
    job->links_in_flight = job->ends_kept = 0;
    for (int i = 0; i < job->size; i++) job->ranks[i].links_in_flight = 0;
    memset(job->linked, 0, ((size_t)job->size * (size_t)job->size / 64 + 1) * sizeof *job->linked);
    p2p__memory_forget(&job->gaps);
}

bool p2p__link_was_asked(const p2p_job *job, int rank)
{
    for (int i = 0; i < job->size; i++) {
        size_t a = (size_t)(rank < i ? rank : i), b = (size_t)(rank < i ? i : rank), bit = a * (size_t)job->size + b;
        if (i != rank && job->linked[bit / 64] >> bit % 64 & 1) return true;
    }
    return false;
}

void p2p__link_want(p2p_job *job, int from, int to)
{
    int a = from < to ? from : to, b = from < to ? to : from;
    if (a < 0 || b >= job->size || a == b) return;
    size_t bit = (size_t)a * (size_t)job->size + (size_t)b;
    uint64_t mask = UINT64_C(1) << (bit % 64);
    if (job->linked[bit / 64] & mask) return;
    job->linked[bit / 64] |= mask;
    job->link_requests[job->link_request_count++] = (p2p_link_request){a, b, -1, 0};
    p2p__links_open(job);
}

void p2p__link_got(p2p_job *job, int rank)
{
    if (job->ranks[rank].links_in_flight > 0) { /* else it was sent none: it is wrong */
        job->ranks[rank].links_in_flight--;
        job->links_in_flight--;
    }
    p2p__links_open(job);
}

void p2p__link_cannot(p2p_job *job, int rank, const control_message *message)
{
    if (rank < 0 || rank >= job->size) return;
    if (p2p__is_local(job->scoreboard, rank)) {
        p2p__tell_rank(job, rank, *message, -1);
        return;
    }
    if (p2p__is_local(job->scoreboard, message->rank)) p2p__far_forget(job, message->rank, rank);
    p2p__record_put(job, job->hosts->host_of[rank],
                    &(record){.type = RECORD_NOLINK, .a = message->rank, .b = rank, .bytes = sizeof *message}, message);
}

static bool has_room(const p2p_job *job, int rank)
{
    return job->links_in_flight < job->links_max && job->ranks[rank].links_in_flight < job->links_max_each;
}

/* Send `rank` its end and close ours. False if it must be tried again later. */
static bool deliver(p2p_job *job, int rank, int peer, int fd, int place)
{
    p2p_rank_process *to = &job->ranks[rank];
    bool sent = to->control >= 0 && p2p__tell_rank(job, rank, (control_message){CONTROL_LINK, peer, place}, fd);
    bool hopeless = to->control < 0 || (!sent && (errno == EPIPE || errno == ECONNRESET));
    if (!sent && !hopeless) return false;
    close(fd);
    if (!sent) return true;
    to->links_in_flight++;
    job->links_in_flight++;
    return true;
}

static void refuse(p2p_job *job, const p2p_link_request *request, int type, int value)
{
    p2p__link_cannot(job, request->a, &(control_message){type, request->b, value});
    p2p__link_cannot(job, request->b, &(control_message){type, request->a, value});
}

/* The two ends of a new link: for rank a and for rank b. False with errno; the relay forgets a first end without a second. */
static bool make_link(int relay, int a, int b, int ends[2])
{
    int pairs[2][2] = {{-1, -1}, {-1, -1}};
    if (relay < 0) return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    bool good = true;
    for (int i = 0; i < 2 && good; i++) { /* each of the two has its own to the relay */
        good = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) == 0;
        if (!good) pairs[i][0] = pairs[i][1] = -1; /* Linux leaves numbers there that are not ours */
    }
    for (int i = 0; i < 2 && good; i++)
        good = p2p__control_send(relay, (control_message){CONTROL_LINK, i ? b : a, i ? a : b}, pairs[i][1]);
    for (int i = 0; i < 2; i++) {
        ends[i] = pairs[i][0];
        if (!good && ends[i] >= 0) close(ends[i]);
        if (pairs[i][1] >= 0) close(pairs[i][1]);
    }
    return good;
}

/* True when this request has been dealt with. Of a link to a rank of another host this launcher keeps the other end. */
static bool open_link(p2p_job *job, p2p_link_request *request)
{
    bool a_is_here = p2p__is_local(job->scoreboard, request->a),
         far = !a_is_here || !p2p__is_local(job->scoreboard, request->b);
    int a = a_is_here ? request->a : request->b, b = a_is_here ? request->b : request->a, ends[2];
    if (request->fd_for_b < 0) {
        const p2p_config *config = &job->scoreboard->config;
        const p2p_world *world = p2p__world_find(config->world);
        if (!has_room(job, a) || (!far && !has_room(job, b))) return false;
        if (world->link_memory && !request->place) { /* what the two share lies behind the scoreboard */
            memory_place place = p2p__memory_take(job->scoreboard, job->scoreboard_fd, &job->gaps,
                                                  world->link_memory(config, job->size), MEMORY_UNIT);
            request->place = (int)(place / MEMORY_UNIT);
            if (!place || place / MEMORY_UNIT > INT_MAX) {
                refuse(job, request, CONTROL_NOMEMORY, errno);
                return true;
            }
        }
        if (!make_link(job->plan->relay, a, b, ends)) {
            /* perhaps later: ends of other links are kept here or under way */
            if (errno == EAGAIN || errno == ETOOMANYREFS || (errno == EMFILE && job->ends_kept > 0)) return false;
            refuse(job, request, CONTROL_NOLINK, -descriptor_limit());
            return true;
        }
        if (!deliver(job, a, b, ends[0], request->place)) {
            close(ends[0]);
            close(ends[1]);
            return false;
        }
        if (far) {
            p2p__far_open(job, a, b, ends[1], request->place);
            return true;
        }
        request->fd_for_b = ends[1]; /* which the supervisor keeps until the rank can take it */
        job->ends_kept++;
    }
    bool done = has_room(job, b) && deliver(job, b, a, request->fd_for_b, request->place);
    if (done) job->ends_kept--;
    return done;
}

void p2p__links_open(p2p_job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->link_request_count; i++)
        if (!open_link(job, &job->link_requests[i])) job->link_requests[kept++] = job->link_requests[i];
    job->link_request_count = kept;
}
