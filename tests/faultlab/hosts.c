/* SPDX-License-Identifier: MIT */
/*
 * Launchers of several hosts that are stopped, or are sent what no launcher and no rank sends: each ends its job, or goes on,
 * and leaves nothing behind. LAB_SEED=17 faultlab host-garbage repeats one attack.
 */
#include "lab.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/job/hosts.h"
#include "p2p/message/internal.h"
#include "p2p/world/shm_queue.h"
#include "p2p/world/world_shm.h"

/* ---- A launcher that sends anything: a carrier that makes it up ---- */

enum { RANKS_EACH = 2, HOSTS = 3, ATTACKS = 30, MOST_ATTACKS = 20 * ATTACKS, SLOTS = 100, TRIES = 400, FOLLOWS = 5000 };

static uint64_t attack_number;
static p2p_job view; /* what the check of records asks of a job */
static int slots_left;

static bool exchange(const void *own, void *all, size_t bytes, double seconds, char *why, size_t why_bytes)
{
    (void)seconds, (void)why, (void)why_bytes;
    for (int h = 0; h < HOSTS; h++) memcpy((char *)all + (size_t)h * bytes, own, bytes);
    return true;
}

static char *slot(int host)
{
    static _Alignas(64) char bytes[CARRIER_SLOT];
    (void)host;
    return bytes;
}

static void take_slot(int host, size_t bytes)
{
    (void)host, (void)bytes;
}

static void send_from(int host, const void *at, size_t bytes)
{
    (void)host, (void)at, (void)bytes;
}

/* Zeroes, with some other bytes in between. */
static void draw_bytes(char *to, size_t bytes)
{
    memset(to, 0, bytes);
    for (uint64_t count = lab_draw(2) ? lab_draw(12) : bytes / 4 * lab_draw(2); bytes && count > 0; count--)
        to[lab_draw(bytes)] = (char)(lab_draw(2) ? lab_draw(20) : lab_draw(256));
}

/* A length that records of some type have. */
static uint32_t draw_length(void)
{
    static const size_t least[] = {0,
                                   1,
                                   8,
                                   sizeof(control_message),
                                   sizeof(record_line),
                                   sizeof(record_end),
                                   sizeof(record_failure),
                                   sizeof(record_row),
                                   sizeof(record_difference),
                                   sizeof(record_event),
                                   sizeof(record_finding),
                                   sizeof(record_generation),
                                   sizeof(scoreboard_call),
                                   offsetof(record_line, words),
                                   offsetof(record_line, words) + sizeof(scoreboard_call)},
                        each[] = {0, 1, 8, 24, sizeof(record_count), sizeof(scoreboard_found), sizeof(record_still)};
    return (uint32_t)(least[lab_draw(sizeof least / sizeof *least)] +
                      lab_draw(3) * each[lab_draw(sizeof each / sizeof *each)]);
}

/* Of any host the next, or nearly; but for one rank, perhaps, all go on. */
static void draw_generation(record *r, char *bytes)
{
    record_generation *g = (void *)bytes;
    *g = (record_generation){.number = (int32_t)lab_draw(4) + 1, .members = HOSTS * RANKS_EACH};
    for (int i = 0; i < HOSTS * RANKS_EACH; i++)
        if (lab_draw(2)) p2p__set_add(&g->dead, i);
    if (!lab_draw(4)) p2p__set_add(&g->gone, (int)lab_draw(HOSTS * RANKS_EACH)), g->members--;
    r->bytes = sizeof *g;
}

static void draw_record(record *r, char *bytes)
{
    *r = (record){.type = r->type,
                  .bytes = draw_length(),
                  .a = lab_draw(16) ? (int32_t)lab_draw(HOSTS * RANKS_EACH) : (int32_t)lab_draw(UINT32_MAX),
                  .b = lab_draw(16) ? (int32_t)lab_draw(HOSTS * RANKS_EACH) : (int32_t)lab_draw(UINT32_MAX),
                  .number = lab_draw(2) ? lab_draw(20) : lab_draw(UINT64_MAX)};
    draw_bytes(bytes, r->bytes);
    if (r->type == RECORD_FOLLOWS) *(uint64_t *)(void *)bytes = lab_draw(FOLLOWS);
    if (r->type == RECORD_GENERATION && r->bytes >= sizeof(record_generation) && lab_draw(8)) draw_generation(r, bytes);
    if (r->type == RECORD_NOLINK) *(int32_t *)(void *)bytes = CONTROL_NOLINK;
    if (r->type == RECORD_DIFFERENCE && r->bytes >= sizeof(record_difference) && lab_draw(2))
        ((record_difference *)(void *)bytes)->ranks[1] = 1;
}

/* One that may be obeyed: what those do is to be tried. Of those that end the job one kind in each attack, and rarely. False:
 * none was found. */
static bool draw_sound(int host, record *r, char *bytes)
{
    static const uint32_t ends[] = {RECORD_FAILED, RECORD_INTERRUPT, RECORD_KILL, RECORD_DONE};
    bool may = true;
    r->type = RECORD_BYTES + (uint32_t)lab_draw(RECORD_PRINT);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (r->type == ends[i]) may = i == attack_number % 4 && !lab_draw(5);
    for (int i = 0; i < TRIES && may; i++) {
        draw_record(r, bytes);
        if (!p2p__record_is_sound(&view, host, r, bytes)) continue;
        atomic_fetch_or(&lab->rank[0].count, 1l << r->type);
        return true;
    }
    return false;
}

/* The last one of each host is none in any case: it is longer than what may follow, too. */
static const char *arrived(int *host, size_t *bytes)
{
    static _Alignas(64) char text[CARRIER_SLOT], content[1 << 15];
    record r;
    if (slots_left <= 1 - HOSTS || lab_draw(3)) return NULL;
    *host = (view.hosts->own + 1 + (slots_left > 0 ? (int)lab_draw(HOSTS - 1) : -slots_left)) % HOSTS;
    *bytes = 0;
    for (uint64_t count = lab_draw(3) + 1; count > 0; count--) {
        r.type = (uint32_t)lab_draw(UINT32_MAX);
        if (slots_left <= 0 || !lab_draw(300))
            draw_record(&r, content);
        else if (!draw_sound(*host, &r, content))
            continue;
        memcpy(text + *bytes, &r, sizeof r);
        memcpy(text + *bytes + sizeof r, content, r.bytes);
        *bytes += sizeof r + p2p__record_room(r.bytes);
    }
    if (!lab_draw(300)) *bytes -= (size_t)lab_draw(*bytes + 1); /* it ends in the middle */
    if (slots_left <= 0) *bytes = sizeof text;
    slots_left -= *bytes > 0;
    return text;
}

static void taken(int host)
{
    (void)host;
}

static bool all_sent(void)
{
    return true;
}

static const char *lost(int host)
{
    (void)host;
    return NULL;
}

static bool has_left(int host)
{
    (void)host;
    return true;
}

static void close_carrier(bool all_done, int status)
{
    (void)all_done;
    (void)status;
}

static const p2p_carrier garbage = {.name = "garbage",
                                    .which_interface = "another",
                                    .exchange = exchange,
                                    .slot = slot,
                                    .send = take_slot,
                                    .send_from = send_from,
                                    .has_left = has_left,
                                    .arrived = arrived,
                                    .taken = taken,
                                    .all_sent = all_sent,
                                    .lost = lost,
                                    .close = close_carrier};

static int be_attacked(void *arg, int rank, int control, int memory_fd, scoreboard *b)
{
    char why[400], out[1000] = "", in[1000];
    p2p_comm *world;
    p2p_err err = P2P_OK;
    (void)arg;
    if (p2p__become_rank(rank, control, memory_fd, b, &world, why, sizeof why)) return 1;
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    for (int i = 0; !err && i < 20; i++) {
        int to = (rank + 1 + i) % b->size, from = rank % 2 ? (rank + 2 * b->size - 1 - i) % b->size : P2P_ANY_SOURCE;
        err = p2p_sendrecv(world, out, sizeof out, to, 0, in, sizeof in, from, P2P_ANY_TAG, P2P_STATUS_IGNORE);
    }
    p2p_finalize(world);
    return err != P2P_OK;
}

/* The launcher of one host, in this process; it writes metrics and a record to `path`. */
static int be_launcher(void *path)
{
    char why[1000];
    p2p_err err;
    p2p_plan plan = {.child = be_attacked, .debug_rank = -1, .relay = -1, .report_to = -1};
    plan.options = (p2p_options){.world = attack_number % 2 ? "shm" : "socket",
                                 .metrics = path,
                                 .record = path,
                                 .repair = attack_number % 3 ? 0 : 2};
    lab_seed = attack_number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    slots_left = SLOTS;
    plan.hosts = p2p__hosts_join(&garbage, (int)(attack_number / 2 % HOSTS), HOSTS, RANKS_EACH, why, sizeof why);
    plan.size = HOSTS * RANKS_EACH;
    if (!plan.hosts || p2p__plan_settings(&plan, why, sizeof why)) return 126;
    view = (p2p_job){.plan = &plan, .size = plan.size, .hosts = plan.hosts, .first = plan.hosts->first};
    return p2p__run_job(&plan, &err) & 63;
}

static void attack(char *path)
{
    process_result result;
    process_run(be_launcher, path, NULL, LAB_QUICK / 2.0, &result);
    EXPECT(result.status < 126 && !result.late, "attack %llu: the launcher ended with %d",
           (unsigned long long)attack_number, result.status);
    EXPECT(!result.left_behind, "attack %llu: a process is left behind", (unsigned long long)attack_number);
    process_free(&result);
}

/* The first type of which no record has been tried yet; RECORD_PRINT + 1: of every type one has. */
static int not_tried(void)
{
    int type = RECORD_BYTES;
    while (type <= RECORD_PRINT && atomic_load(&lab->rank[0].count) >> type & 1) type++;
    return type;
}

/* How often a launcher asks for a slot depends on the machine, and with it what is drawn. So attacks go on, beyond their
 * usual number, until records of every type have been tried. */
static void host_garbage(void)
{
    char path[] = "/tmp/faultlab.XXXXXX";
    const char *only = getenv("LAB_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1, usual = only ? first : ATTACKS,
             most = only ? first : MOST_ATTACKS;
    int fd = mkstemp(path);
    EXPECT(fd >= 0, "mkstemp failed");
    close(fd);
    for (attack_number = first; attack_number <= most; attack_number++)
        if (attack_number <= usual || not_tried() <= RECORD_PRINT) attack(path);
    unlink(path);
    EXPECT(only || not_tried() > RECORD_PRINT, "no record of type %d was tried", not_tried());
}

/* ---- A rank that writes what is no record into the queue to its launcher, which carries nothing of it ---- */

static int body_queue(p2p_comm *world)
{
    char byte = 0;
    int rank = p2p_rank(world);
    if (rank == 0) NOTE(world, p2p_recv(world, &byte, 1, 1, 0, P2P_STATUS_IGNORE)); /* both may have come */
    if (rank == 1) {
        CHECK_OK(world, p2p_send(world, &byte, 1, 0, 0));
        shm_writer *writer = lab_last_writer();
        CHECK(writer, "nothing was written into a queue");
        p2p__queue_begin(writer, sizeof byte);
        p2p__queue_publish(writer, sizeof byte, QUEUE_MORE + 1);
    }
    NOTE(world, p2p_recv(world, &byte, 1, 1 - rank, 0, P2P_STATUS_IGNORE));
    return 0;
}

static void host_queue(void)
{
    static lab_job job = {.size = 2, .body = body_queue, .options.world = "shm"};
    setenv("PAIRWISE_HOSTS", "2", 1);
    lab_run(&job);
    lab_expect_status(&job, 1);
    FACTS(job.text, "the bytes from rank 1 to rank 0 are not a valid record");
}

/* ---- Ranks that say they are their launcher: it reads and writes the memory of its ranks, not its own ---- */

enum { LONG = 1 << 20 };

static int body_pid(p2p_comm *world)
{
    static unsigned char buf[LONG];
    atomic_store(&world->engine->row->pid, getppid());
    if (p2p_rank(world) == 0) {
        lab_fill(buf, LONG, 0, 0);
        CHECK_OK(world, p2p_send(world, buf, LONG, 1, 0));
    } else {
        CHECK_OK(world, p2p_recv(world, buf, LONG, 0, 0, P2P_STATUS_IGNORE));
        CHECK(lab_intact(buf, LONG, 0, 0), "not what was sent");
    }
    return 0;
}

static void host_pid(void)
{
    static lab_job job = {.size = 2, .body = body_pid, .options.world = "shm"};
    setenv("PAIRWISE_HOSTS", "2", 1);
    setenv("PAIRWISE_DIRECT", "1", 1);
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- A launcher that is stopped, while ranks send to its host; and then one here dies ---- */

enum { MANY = 300, BYTES = 60000 };

static int body_stopped(p2p_comm *world)
{
    static char out[BYTES];
    int rank = p2p_rank(world);
    p2p_request requests[MANY];
    if (rank == 2) {
        kill(getppid(), SIGSTOP); /* its launcher */
        lab_raise_flag(0);
        for (;;) pause();
    }
    if (rank == 3)
        for (;;) pause();
    CHECK(lab_wait_flag(0, 1), "nothing was stopped");
    for (int i = 0; i < MANY; i++) CHECK_OK(world, p2p_isend(world, out, sizeof out, 2, 0, &requests[i]));
    if (rank == 0) lab_die(SIGKILL);
    NOTE(world, p2p_wait_all(MANY, requests, P2P_STATUSES_IGNORE));
    return 0;
}

static void host_stopped(void)
{
    static lab_job job = {.size = 4, .body = body_stopped};
    setenv("PAIRWISE_HOSTS", "2", 1);
    setenv("PAIRWISE_HOST_TIMEOUT", "3", 1);
    setenv("PAIRWISE_UNEXP_MAX", "16M", 1); /* more than the launchers have room for */
    lab_run(&job);
    lab_expect_status(&job, 137);
    FACTS(job.text, "rank 0");
}

/* ---- All launchers are stopped for longer than a silence may last, and go on: Ctrl-Z, and fg ---- */

static int body_paused(p2p_comm *world)
{
    int rank = p2p_rank(world);
    atomic_store(&lab->rank[rank].count, getppid());
    lab_raise_flag(rank);
    if (rank == 1) {
        CHECK(lab_wait_flag(0, 1), "rank 0 never began");
        for (int i = 0; i < 2; i++) kill((pid_t)lab->rank[i].count, SIGSTOP);
        sleep(4);
        for (int i = 0; i < 2; i++) kill((pid_t)lab->rank[i].count, SIGCONT);
    }
    return lab_works(world);
}

static void host_paused(void)
{
    static lab_job job = {.size = 2, .body = body_paused};
    setenv("PAIRWISE_HOSTS", "2", 1);
    setenv("PAIRWISE_HOST_TIMEOUT", "3", 1);
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- A rank dies between the CLEAR for a long message and its bytes: the receive is an error, or has them all ---- */

enum late { ANSWERED, LEAVES, GIVEN, IN_ALLOC };

/* Has a frame of that rank come that this one has not looked at? */
static bool waits(p2p_comm *world, int from)
{
    return p2p__queue_waiting(&((link_end *)world->engine->peers[from].link.state)->in);
}

static void wait_failed(p2p_comm *world)
{
    while (!atomic_load(&world->engine->scoreboard->shared->failed)) lab_pause();
}

static int send_late(p2p_comm *world)
{
    static unsigned char plain[LONG];
    p2p_request request;
    void *buf = plain;
    if (lab->flag[IN_ALLOC]) CHECK_OK(world, p2p_alloc(world, LONG, &buf));
    lab_fill(buf, LONG, 1, 0);
    CHECK_OK(world, p2p_isend(world, buf, LONG, 2, 0, &request));
    CHECK(lab_wait_flag(ANSWERED, 1), "rank 2 asked for nothing");
    while (!waits(world, 2)) lab_pause();
    lab_raise_flag(LEAVES);
    wait_failed(world);
    NOTE(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    memset(buf, 0xee, LONG); /* it is this rank's again */
    lab_raise_flag(GIVEN);
    return 0;
}

static int receive_from_late(p2p_comm *world)
{
    static unsigned char buf[LONG];
    p2p_request request;
    CHECK_OK(world, p2p_probe(world, 1, 0, P2P_STATUS_IGNORE));
    CHECK_OK(world, p2p_irecv(world, buf, LONG, 1, 0, &request));
    lab_raise_flag(ANSWERED);
    wait_failed(world);
    while (!lab->flag[GIVEN]) lab_pause();
    for (double until = process_now() + 0.3; !waits(world, 1) && process_now() < until;)
        lab_pause(); /* it need not come */
    if (!NOTE(world, p2p_wait(&request, P2P_STATUS_IGNORE)))
        CHECK(lab_intact(buf, LONG, 1, 0), "received with success: not what was sent");
    return 0;
}

static int body_late(p2p_comm *world)
{
    unsigned char to_all[4] = {0}, from_all[4];
    CHECK_OK(world, coll_all_to_all(world, to_all, from_all, 1, DTYPE_U8)); /* links are open */
    switch (p2p_rank(world)) {
    case 0: CHECK(lab_wait_flag(LEAVES, 1), "rank 1 never came that far"); lab_die(SIGKILL);
    case 1: return send_late(world);
    case 2: return receive_from_late(world);
    default: wait_failed(world); return 0;
    }
}

static void host_late(void)
{
    static lab_job job;
    setenv("PAIRWISE_HOSTS", "2", 1);
    setenv("PAIRWISE_DIRECT", "1", 1);
    for (int i = 0; i < 4; i++) {
        job = (lab_job){.size = 4, .body = body_late, .options.world = "shm"};
        memset(lab, 0, sizeof *lab);
        lab->flag[IN_ALLOC] = i % 2;
        lab_run(&job);
        EXPECT(lab->rank[2].err == P2P_OK || lab->rank[2].err == P2P_ERR_PEER_DEAD, "rank 2 got %d: %s",
               (int)lab->rank[2].err, lab->rank[2].message);
        FACTS(job.text, "rank 0", "signal 9");
    }
}

const lab_case lab_hosts[] = {
    {"host-garbage", "a launcher is sent anything by those of other hosts: it ends its job, and leaves nothing",
     host_garbage, false},
    {"host-queue", "a rank writes what is no record to its launcher: it is named", host_queue, false},
    {"host-pid", "a rank says that it is its launcher: that one writes into no process but its ranks", host_pid, false},
    {"host-stopped", "a launcher is stopped, and a rank of another host dies: the job ends", host_stopped, false},
    {"host-paused", "all launchers are stopped, and go on later: so does the job", host_paused, false},
    {"host-late", "a rank dies as a long message begins to cross: never a success without its bytes", host_late, false},
    {NULL, NULL, NULL, false},
};
