/* SPDX-License-Identifier: MIT */
/*
 * The relay: what ranks send each other passes through here, in a process that the learner's code cannot reach, and is
 * counted: not what a rank says it has sent, but what has come. The launcher sends both ends of each new link (p2p/job/links.c).
 *
 *      rank a ───▶ fd[0] ▷ way[0]: bytes from a, on their way to b ▷ fd[1] ───▶ rank b
 *      rank a ◀─── fd[0] ◁ way[1]: bytes from b, on their way to a ◁ fd[1] ◀─── rank b
 *
 * Of the frames (p2p/shared/wire.h) only headers are looked at; what reads as none is passed on, and noted.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "learn/inside.h"
#include "p2p/shared/control.h"
#include "p2p/shared/wire.h"

enum { ROOM = 1 << 16, MOST_LINKS = LEARN_POLLED / 2 - CHECK_MAX_RANKS, MOST_CONTEXTS = 4096 };

typedef struct {
    wire_header header; /* of the frame it is in */
    size_t have;        /* bytes of it */
    uint64_t left;      /* bytes of its payload that are still to come */
    int from, to;
    size_t begin, end; /* in bytes: what is still to be passed on */
    bool over, deaf;   /* nothing more comes; nothing is taken any more */
    char bytes[ROOM];
} way;

typedef struct {
    int fd[2];
    way way[2];
} relayed;

/* What was sent on one communicator, by users and by collectives. */
typedef struct {
    uint32_t context;
    learn_sent sent[CHECK_MAX_RANKS][CHECK_MAX_RANKS]; /* from, to */
} counts;

struct learn_relay {
    int ranks, fd; /* to the launcher */
    relayed *links[MOST_LINKS];
    size_t link_count;
    int waiting_fd, waiting_from, waiting_to; /* a first end, whose second is under way */
    counts **counts;
    size_t contexts;
    bool garbled;
};

/* ---- Counting ---- */

static counts *counts_of(learn_relay *r, uint32_t context)
{
    for (size_t i = r->contexts; i > 0; i--)
        if (r->counts[i - 1]->context == context) return r->counts[i - 1];
    if (r->contexts == MOST_CONTEXTS) return NULL;
    counts *new = learn_memory(sizeof *new);
    new->context = context;
    return r->counts[r->contexts++] = new;
}

/* A message is sent when it or the question for it comes; its bytes, when they do. p2p_split's own are not counted. */
static void count(learn_relay *r, const way *w)
{
    const wire_header *h = &w->header;
    bool message = h->type == WIRE_EAGER || h->type == WIRE_REQUEST;
    uint64_t bytes = p2p__wire_payload(h);
    if (h->tag == WIRE_SPLIT_TAG && h->bytes <= (WIRE_SPLIT_WORDS + CHECK_MAX_RANKS) * sizeof(uint32_t)) return;
    counts *c = message || bytes ? counts_of(r, h->context & ~1u) : NULL;
    if (!c) {
        r->garbled |= message || bytes;
        return;
    }
    c->sent[w->from][w->to].messages += message;
    c->sent[w->from][w->to].bytes += bytes;
}

static void read_frames(learn_relay *r, way *w, const char *bytes, size_t count_left)
{
    const wire_header *h = &w->header;
    while (count_left && !r->garbled) {
        size_t take = w->left < count_left ? (size_t)w->left : count_left;
        w->left -= take;
        if (!take) {
            take = sizeof *h - w->have < count_left ? sizeof *h - w->have : count_left;
            memcpy((char *)&w->header + w->have, bytes, take);
            w->have += take;
        }
        bytes += take;
        count_left -= take;
        if (w->have < sizeof *h) continue;
        w->have = 0;
        r->garbled = h->magic != WIRE_MAGIC || h->type < WIRE_EAGER || h->type > WIRE_CREDIT ||
                     h->bytes > WIRE_MAX_BYTES || h->source != (uint32_t)w->from;
        w->left = p2p__wire_payload(h);
        if (!r->garbled) count(r, w);
    }
}

/* ---- Passing on ---- */

/* Receive what there is room for, and send on what the other side takes. When all has come and been passed on, the other side
 * learns that there will be no more. */
static void pass_on(learn_relay *r, way *w, int from, int to)
{
    if (!w->over && w->end < ROOM) {
        ssize_t got = recv(from, w->bytes + w->end, ROOM - w->end, MSG_DONTWAIT);
        w->over = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
        if (got > 0) {
            read_frames(r, w, w->bytes + w->end, (size_t)got);
            w->end += (size_t)got;
        }
    }
    while (w->begin < w->end && !w->deaf) {
        ssize_t wrote = send(to, w->bytes + w->begin, w->end - w->begin, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (wrote < 0 && (errno == EAGAIN || errno == EINTR)) break;
        w->deaf = wrote < 0;
        if (wrote > 0) w->begin += (size_t)wrote;
    }
    if (w->begin == w->end || w->deaf) w->begin = w->end = 0;
    if (w->over && w->end == 0 && !w->deaf) {
        shutdown(to, SHUT_WR);
        w->deaf = true;
    }
}

/* ---- Links ---- */

static void close_link(relayed *l)
{
    close(l->fd[0]);
    close(l->fd[1]);
    free(l);
}

static void take_ends(learn_relay *r)
{
    control_message m;
    int fd;
    bool lost;
    while (r->fd >= 0 && p2p__control_receive(r->fd, &m, &fd, &lost) == 1) {
        bool known = m.rank >= 0 && m.rank < r->ranks && m.value >= 0 && m.value < r->ranks && fd >= 0;
        bool second = known && r->waiting_fd >= 0 && m.rank == r->waiting_to && m.value == r->waiting_from;
        if (second && r->link_count < MOST_LINKS) {
            relayed *l = r->links[r->link_count++] = learn_memory(sizeof *l);
            *l = (relayed){.fd = {r->waiting_fd, fd},
                           .way = {{.from = m.value, .to = m.rank}, {.from = m.rank, .to = m.value}}};
            r->waiting_fd = -1;
            continue;
        }
        if (r->waiting_fd >= 0) close(r->waiting_fd);
        if (second) { /* only a program that launches again and again makes as many */
            close(fd);
            fd = -1;
            r->garbled = true;
        }
        r->waiting_fd = fd;
        r->waiting_from = m.rank;
        r->waiting_to = m.value;
    }
}

size_t learn_relay_polled(const learn_relay *r, struct pollfd *polled)
{
    size_t count = 0;
    polled[count++] = (struct pollfd){.fd = r->fd, .events = POLLIN};
    for (size_t i = 0; i < r->link_count; i++) {
        const relayed *l = r->links[i];
        for (int side = 0; side < 2; side++) {
            const way *in = &l->way[side], *out = &l->way[1 - side];
            short events = (short)((!in->over && in->end < ROOM ? POLLIN : 0) | (out->begin < out->end ? POLLOUT : 0));
            polled[count++] = (struct pollfd){.fd = events ? l->fd[side] : -1, .events = events};
        }
    }
    return count;
}

void learn_relay_serve(learn_relay *r)
{
    take_ends(r);
    for (size_t i = 0; i < r->link_count; i++) {
        relayed *l = r->links[i];
        for (int side = 0; side < 2; side++) pass_on(r, &l->way[side], l->fd[side], l->fd[1 - side]);
        if (!l->way[0].over || !l->way[1].over || l->way[0].end || l->way[1].end) continue;
        close_link(l);
        r->links[i--] = r->links[--r->link_count];
    }
}

learn_relay *learn_relay_new(int ranks, int *launchers_end)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return NULL;
    learn_relay *r = learn_memory(sizeof *r);
    r->counts = learn_memory(MOST_CONTEXTS * sizeof(counts *));
    r->ranks = ranks;
    r->fd = ends[0];
    r->waiting_fd = -1;
    *launchers_end = ends[1];
    return r;
}

void learn_relay_free(learn_relay *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->link_count; i++) close_link(r->links[i]);
    for (size_t i = 0; i < r->contexts; i++) free(r->counts[i]);
    if (r->waiting_fd >= 0) close(r->waiting_fd);
    close(r->fd);
    free(r->counts);
    free(r);
}

/* ---- What came of it ---- */

learn_sent learn_relay_sent(const learn_relay *r, uint32_t context, int from, int to)
{
    for (size_t i = 0; i < r->contexts; i++)
        if (r->counts[i]->context == context) return r->counts[i]->sent[from][to];
    return (learn_sent){0, 0};
}

/* ---- What the ranks say, held against what was relayed ---- */

/* The communicator that each case ran on, as its ranks say. False if they do not say the same, or two cases have the same. */
static bool find_contexts(const learn_world *w, uint32_t *contexts)
{
    for (size_t i = 0; i < w->plan->count; i++) {
        for (int rank = 0; rank < w->plan->ranks; rank++) {
            const check_record *r = learn_record(w, rank, NULL, w->cases[i].number, CHECK_TRAFFIC, NULL);
            if (!r || (rank && (uint32_t)r->value != contexts[i])) return false;
            contexts[i] = (uint32_t)r->value;
        }
        if (!contexts[i] || contexts[i] % 2) return false;
        for (size_t k = 0; k < i; k++)
            if (contexts[k] == contexts[i]) return false;
    }
    return true;
}

/* Was anything sent on a communicator that is not in the list (but for the empty messages of the tests' own barrier)? */
static bool sent_elsewhere(const learn_relay *r, const uint32_t *contexts, size_t count)
{
    for (size_t i = 0; i < r->contexts; i++) {
        bool listed = false;
        for (size_t k = 0; k < count; k++) listed |= contexts[k] == r->counts[i]->context;
        for (int pair = 0; pair < r->ranks * r->ranks && !listed; pair++)
            if (r->counts[i]->sent[pair / r->ranks][pair % r->ranks].bytes) return true;
    }
    return false;
}

void learn_check_claims(const learn_world *w, learn_result *result)
{
    OWNED uint32_t *contexts = learn_memory((w->plan->count + 1) * sizeof *contexts);
    if (w->relay->garbled || !find_contexts(w, contexts))
        learn_fail(result, "crash", "",
                   "What passed between the ranks does not fit what they reported: something wrote over it. Does your "
                   "code write to memory or descriptors that are not its own?");
    else if (sent_elsewhere(w->relay, contexts, w->plan->count))
        learn_fail(result, "elsewhere", "",
                   "Messages were sent on another communicator than the one your function was given. All that is "
                   "needed can be sent on that one, and only there it is counted.");
}
