/* SPDX-License-Identifier: MIT */
/*
 * One rank writes random bytes over random parts of what it shares with the others and with its launcher, sends it
 * random messages and descriptors, closes, floods and forks. The launcher survives, the job ends in time, nothing is
 * left behind, and no other rank crashes. A seed gives the same attack each time: LAB_SEED=17 faultlab attack repeats
 * one.
 */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/message/internal.h"
#include "p2p/shared/control.h"

enum { ATTACK_RANKS = 4, ATTACKER = 2, ATTACK_STEPS = 40, ATTACKS = 24, ATTACKS_LONG = 1500 };

static void draw_bytes(void *at, size_t bytes)
{
    uint64_t kind = lab_draw(3);
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)at)[i] = (unsigned char)(kind == 0     ? lab_draw(256)
                                                   : kind == 1   ? 0xff
                                                   : lab_draw(8) ? 0
                                                                 : lab_draw(9));
}

/* ---- What it does ---- */

static void scribble_anywhere(scoreboard *b)
{
    size_t bytes = p2p__scoreboard_bytes(b->size, &b->config), count = (size_t)lab_draw(4096) + 1;
    draw_bytes((char *)b->shared + lab_draw(bytes - count), count);
}

static void scribble_head(scoreboard *b)
{
    size_t count = (size_t)lab_draw(64) + 1;
    draw_bytes((char *)b->shared + lab_draw(sizeof *b->shared - count), count);
}

static void scribble_row(scoreboard *b)
{
    size_t count = (size_t)lab_draw(256) + 1;
    draw_bytes((char *)&b->rows[lab_draw((uint64_t)b->size)] + lab_draw(sizeof *b->rows - count), count);
}

static void scribble_counters(scoreboard *b)
{
    size_t count = (size_t)lab_draw(32) + 1;
    draw_bytes((char *)b->sent + lab_draw(512 - count), count);
}

static void scribble_gates(scoreboard *b)
{
    size_t count = (size_t)lab_draw(512) + 1;
    draw_bytes((char *)b->gates + lab_draw(8 * sizeof *b->gates - count), count);
}

static void scribble_trace(scoreboard *b)
{
    if (b->config.trace_room) draw_bytes((char *)b->trace + lab_draw(1 << 16), (size_t)lab_draw(4096) + 1);
}

static void change_file(p2p_engine *engine)
{
    if (engine->memory_fd < 0) return;
    off_t at = (off_t)lab_draw(1 << 24) / 4096 * 4096;
    if (lab_draw(2) && ftruncate(engine->memory_fd, at) == 0) return;
    fallocate(engine->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, (off_t)lab_draw(1 << 16) + 1);
}

static void send_noise(int control)
{
    union {
        control_message message;
        unsigned char bytes[200];
    } noise;
    int fds[4] = {0, 0, 0, 0}, count = (int)lab_draw(5);
    size_t size = lab_draw(3) ? sizeof noise.message : (size_t)lab_draw(sizeof noise);
    draw_bytes(&noise, sizeof noise);
    if (lab_draw(2)) noise.message = (control_message){(int)lab_draw(16), (int)lab_draw(6) - 1, (int)lab_draw(4) - 1};
    char beside[CMSG_SPACE(sizeof fds)] = "";
    struct iovec part = {&noise, size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        header.msg_control = beside;
        header.msg_controllen = CMSG_SPACE((size_t)count * sizeof *fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        if (!c) return;
        *c = (struct cmsghdr){CMSG_LEN((size_t)count * sizeof *fds), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), fds, (size_t)count * sizeof *fds);
    }
    sendmsg(control, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void flood(void)
{
    static char noise[1 << 18];
    draw_bytes(noise, sizeof noise);
    for (size_t done = 0; done < sizeof noise;) {
        ssize_t written = write((int)lab_draw(2) + 1, noise + done, sizeof noise - done);
        if (written <= 0) return;
        done += (size_t)written;
    }
}

static void have_child(void)
{
    if (fork() != 0) return;
    for (;;) pause();
}

static void attack_once(p2p_engine *engine)
{
    scoreboard *b = engine->scoreboard;
    switch (lab_draw(20)) {
    case 0:
    case 1: scribble_head(b); break;
    case 2:
    case 3:
    case 4:
    case 5: scribble_row(b); break;
    case 6:
    case 7: scribble_anywhere(b); break;
    case 8: scribble_counters(b); break;
    case 9: scribble_gates(b); break;
    case 10:
    case 11: scribble_trace(b); break;
    case 12: change_file(engine); break;
    case 13:
    case 14:
    case 15:
    case 16: send_noise(engine->control); break;
    case 17: flood(); break;
    case 18: have_child(); break;
    case 19: close((int)lab_draw(12)); break;
    default: break;
    }
}

/* ---- The others work, and end with an error, as they may ---- */

static void work(p2p_comm *world)
{
    static char out[100000], in[100000];
    p2p_err err = P2P_OK;
    for (int i = 0; !err && i < 2000; i++) {
        int rank = p2p_rank(world), size = p2p_size(world), step = 1 + i % (size - 1);
        size_t bytes = i % 5 == 4 ? sizeof out : (size_t)(i % 600);
        err = p2p_sendrecv(world, out, bytes, (rank + step) % size, i % 3, in, sizeof in, (rank + size - step) % size,
                           i % 3, P2P_STATUS_IGNORE);
    }
}

static int body_attack(p2p_comm *world)
{
    if (p2p_rank(world) != ATTACKER) {
        work(world);
        return 0;
    }
    lab_seed += p2p_rank(world) == ATTACKER;
    int steps = (int)lab_draw(ATTACK_STEPS) + 1;
    for (int i = 0; i < steps; i++) attack_once(world->engine);
    if (lab_draw(2)) _exit((int)lab_draw(3));
    work(world);
    return 0;
}

static void attack(uint64_t number)
{
    static lab_job job;
    char path[] = "/tmp/faultlab.XXXXXX";
    int fd = mkstemp(path);
    EXPECT(fd >= 0, "mkstemp: %s", strerror(errno));
    lab_seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    job = (lab_job){.size = ATTACK_RANKS, .body = body_attack};
    job.options =
        (p2p_options){.world = number % 2 ? "shm" : "socket", .timeout_s = 1, .ordered_output = number % 3 == 0};
    if (number % 4 == 0) job.options.trace = path;
    lab_run(&job);
    unlink(path);
    close(fd);
    EXPECT(job.result != P2P_ERR_TODO, "attack %llu: the launcher did not survive: exit status %d: %.900s",
           (unsigned long long)number, job.status, job.text);
    for (int i = 0; i < ATTACK_RANKS; i++)
        EXPECT(i == ATTACKER || job.statuses[i] < 128 || job.statuses[i] == 128 + SIGKILL,
               "attack %llu: rank %d ended with %d: %.900s", (unsigned long long)number, i, job.statuses[i], job.text);
}

static void attacks(uint64_t first, uint64_t last)
{
    const char *only = getenv("LAB_SEED");
    setenv("PAIRWISE_TRACE_ROOM", "1M", 1);
    if (only) first = last = strtoull(only, NULL, 10);
    for (uint64_t number = first; number <= last; number++) attack(number);
}

static void attack_quick(void)
{
    attacks(1, ATTACKS);
}

static void attack_long(void)
{
    attacks(ATTACKS + 1, ATTACKS_LONG);
}

const lab_case lab_attack[] = {
    {"attack", "a rank attacks what it shares: the launcher and the other ranks survive, nothing is left", attack_quick,
     false},
    {"attack-long", "the same, a thousand times", attack_long, true},
    {NULL, NULL, NULL, false},
};
