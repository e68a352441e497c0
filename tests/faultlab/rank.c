/* SPDX-License-Identifier: MIT */
/* What a rank of a case can do: leave notes on the scoreboard, die, wait for others without sleeping. */
#include "lab.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int lab_rank = -1;

void lab_enter(int line)
{
    lab_slot *slot = &lab->rank[lab_rank];
    atomic_store(&slot->line, line);
    atomic_store(&slot->inside, 1);
}

p2p_err lab_leave(p2p_comm *comm, p2p_err err)
{
    lab_slot *slot = &lab->rank[lab_rank];
    slot->err = err;
    slot->at = process_now();
    snprintf(slot->message, sizeof slot->message, "%s", err && comm ? p2p_error_message(comm) : "");
    atomic_store(&slot->inside, 0);
    return err;
}

_Noreturn void lab_die(int signal_number)
{
    lab->died_at = process_now();
    signal(signal_number, SIG_DFL);
    kill(getpid(), signal_number);
    for (;;) pause();
}

char lab_state(pid_t pid)
{
    char path[32], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *after_name = got ? strrchr(text, ')') : NULL;
    return after_name && after_name[1] ? after_name[2] : 0;
}

/* ---- Waiting: look, pause, look again; never longer than ten seconds. ---- */

void lab_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static bool pause_since(double since)
{
    lab_pause();
    return process_now() - since < 10.0;
}

void lab_raise_flag(int flag)
{
    atomic_fetch_add(&lab->flag[flag], 1);
}

bool lab_wait_flag(int flag, int value)
{
    double since = process_now();
    while (atomic_load(&lab->flag[flag]) < value)
        if (!pause_since(since)) return false;
    return true;
}

bool lab_wait_inside(int rank)
{
    lab_slot *slot = &lab->rank[rank];
    double since = process_now();
    while (!atomic_load(&slot->inside) || lab_state(slot->pid) != 'S')
        if (!pause_since(since)) return false;
    return true;
}

bool lab_wait_started(int rank)
{
    double since = process_now();
    while (lab->rank[rank].pid == 0)
        if (!pause_since(since)) return false;
    return true;
}

bool lab_wait_pid_gone(pid_t pid)
{
    double since = process_now();
    while (kill(pid, 0) == 0)
        if (!pause_since(since)) return false;
    return true;
}

bool lab_wait_gone(int rank)
{
    return lab_wait_started(rank) && lab_wait_pid_gone(lab->rank[rank].pid);
}

/* ---- Patterns ---- */

unsigned char lab_byte(int rank, size_t message, size_t index)
{
    return (unsigned char)((size_t)rank * 101 + message * 31 + index * 7 + (index >> 8) + 1);
}

void lab_fill(void *buf, size_t bytes, int rank, size_t message)
{
    unsigned char *at = buf;
    for (size_t i = 0; i < bytes; i++) at[i] = lab_byte(rank, message, i);
}

bool lab_intact(const void *buf, size_t bytes, int rank, size_t message)
{
    const unsigned char *at = buf;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != lab_byte(rank, message, i)) return false;
    return true;
}

bool lab_all(const void *buf, size_t bytes, unsigned char value)
{
    const unsigned char *at = buf;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != value) return false;
    return true;
}

int lab_works(p2p_comm *world)
{
    int rank = p2p_rank(world), size = p2p_size(world);
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank - step + size) % size;
        unsigned char out = lab_byte(rank, 99, (size_t)to), in = 0;
        CHECK_OK(world, p2p_sendrecv(world, &out, 1, to, 12345, &in, 1, from, 12345, P2P_STATUS_IGNORE));
        CHECK(in == lab_byte(from, 99, (size_t)rank), "wrong byte from %d", from);
    }
    return 0;
}

/* ---- Random numbers: xorshift64* (Vigna 2016) ---- */

uint64_t lab_seed;

uint64_t lab_draw(uint64_t below)
{
    lab_seed ^= lab_seed >> 12;
    lab_seed ^= lab_seed << 25;
    lab_seed ^= lab_seed >> 27;
    return (lab_seed * UINT64_C(2685821657736338717) >> 32) % below;
}
