/* SPDX-License-Identifier: MIT */
/*
 * Agreement: before a collective can spoil anything, every rank shows on the board what it thinks the collective is.
 *
 *      first to arrive    claims the slot of this number, writes its fingerprint             CLAIMED -> OPEN
 *      the others         compare with it, and count themselves in
 *      last to arrive     says that all agree, and has those woken that went to sleep        OPEN -> AGREED
 *
 * One counter and one comparison a rank, no messages. A difference ends the job through the supervisor, so that every
 * rank learns of it, whatever it is waiting for.
 */
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "p2p/control.h"
#include "p2p/internal.h"
#define DOZE_NS 1000000

static uint64_t phase_of(uint64_t number, unsigned phase)
{
    return number * 4 + phase;
}

static bool slot_agreed(const board_slot *slot, uint64_t number)
{
    return atomic_load(&slot->phase) >= phase_of(number, SLOT_AGREED); /* a later number: agreed long since */
}

static board_slot *slot_of(const p2p_comm *comm, uint64_t number)
{
    return p2p__board_slot(comm->engine->board, comm->context, number);
}

/* ---- Fingerprints ---- */

/* What this rank shows of itself already (layer.c) is what it thinks. */
static void fill(const p2p_comm *comm, board_fingerprint *f)
{
    const board_call *call = &comm->engine->row->call;
    p2p__copy_text(f->operation, sizeof f->operation, call->name);
    p2p__copy_text(f->file, sizeof f->file, call->file);
    f->line = call->line;
    f->what = call->what;
    f->rank = comm->engine->rank;
}

static bool same_what(const board_what *a, const board_what *b)
{
    return a->count == b->count && a->root == b->root && strcmp(a->dtype, b->dtype) == 0 && strcmp(a->op, b->op) == 0 &&
           strcmp(a->algorithm, b->algorithm) == 0;
}

static bool same(const board_fingerprint *first, const p2p_comm *comm)
{
    const board_call *call = &comm->engine->row->call;
    return same_what(&first->what, &call->what) && strcmp(first->operation, call->name) == 0;
}

/* ---- A difference ---- */

typedef struct {
    char text[900];
    size_t used;
} sentence;

__attribute__((format(printf, 2, 3))) static void add(sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(s->text + s->used, sizeof s->text - s->used, format, args);
    va_end(args);
    s->used += (size_t)more < sizeof s->text - s->used ? (size_t)more : sizeof s->text - s->used - 1;
}

static void add_place(sentence *s, const board_fingerprint *f)
{
    if (f->file[0]) add(s, " at %s:%d", f->file, f->line);
}

static void add_fields(sentence *s, const board_fingerprint *f, const board_fingerprint *other)
{
    const board_what *a = &f->what, *b = &other->what;
    const char *between = " ";
    add(s, "rank %d has", f->rank);
    if (a->count != b->count) add(s, "%scount %llu", between, (unsigned long long)a->count), between = ", ";
    if (strcmp(a->dtype, b->dtype) != 0) add(s, "%sdtype %s", between, a->dtype), between = ", ";
    if (strcmp(a->op, b->op) != 0) add(s, "%sop %s", between, a->op), between = ", ";
    if (a->root != b->root) add(s, "%sroot %d", between, a->root), between = ", ";
    if (strcmp(a->algorithm, b->algorithm) != 0) add(s, "%salgorithm %s", between, a->algorithm);
    add_place(s, f);
}

static void describe_difference(const board_fingerprint *a, const board_fingerprint *b, uint64_t number, sentence *s)
{
    unsigned long long n = number;
    if (strcmp(a->operation, b->operation) != 0) {
        add(s, "rank %d is in %s #%llu", a->rank, a->operation, n);
        add_place(s, a);
        add(s, ", rank %d in %s #%llu", b->rank, b->operation, n);
        add_place(s, b);
        add(s, "\n  try: every rank must make the same collective calls in the same order");
        return;
    }
    add(s, "%s #%llu: ", a->operation, n);
    add_fields(s, a, b);
    add(s, ", ");
    add_fields(s, b, a);
    add(s, "\n  try: give every rank the same arguments; no buffer has been changed");
}

/* The lower rank first, so that the words do not depend on who came first. */
static p2p_err differ(p2p_comm *comm, const board_slot *slot, uint64_t number)
{
    p2p_engine *engine = comm->engine;
    board_fingerprint own, first = slot->first;
    sentence s = {.used = 0};
    fill(comm, &own);
    bool first_is_lower = first.rank < own.rank;
    add(&s, "mismatch: ");
    describe_difference(first_is_lower ? &first : &own, first_is_lower ? &own : &first, number, &s);
    snprintf(engine->row->error, sizeof engine->row->error, "%s", s.text);
    p2p__control_tell(engine, CONTROL_MISMATCH, engine->rank, 0);
    while (!atomic_load(&engine->board->failed)) p2p__pause(100000);
    p2p__job_failed(engine);
    return p2p__job_error(comm);
}

/* ---- Arriving ---- */

static bool claim(p2p_comm *comm, board_slot *slot, uint64_t seen, uint64_t number)
{
    if (!atomic_compare_exchange_strong(&slot->phase, &seen, phase_of(number, SLOT_CLAIMED))) return false;
    fill(comm, &slot->first);
    atomic_store_explicit(&slot->arrived, 0, memory_order_relaxed);
    for (int i = 0; i * 64 < comm->engine->size; i++) {
        atomic_store_explicit(&slot->here[i], 0, memory_order_relaxed);
        atomic_store_explicit(&slot->asleep[i], 0, memory_order_relaxed);
    }
    atomic_store(&slot->phase, phase_of(number, SLOT_OPEN));
    return true;
}

/* Most wait on a futex, which one call wakes. They only doze there, since they cannot look at their links meanwhile. */
static void ring_bell(board_slot *slot)
{
    atomic_fetch_add(&slot->bell, 1);
    if (atomic_load(&slot->dozing)) syscall(SYS_futex, &slot->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void wake_sleepers(p2p_engine *engine, board_slot *slot)
{
    for (int i = 0; i * 64 < engine->size; i++) {
        uint64_t asleep = atomic_load(&slot->asleep[i]);
        for (int bit = 0; asleep; bit++, asleep >>= 1) {
            if (!(asleep & 1)) continue;
            atomic_fetch_add(&engine->board->rows[i * 64 + bit].nudges, 1);
            p2p__control_tell(engine, CONTROL_WAKE, i * 64 + bit, 0);
        }
    }
}

static void arrive(p2p_comm *comm, board_slot *slot, uint64_t number)
{
    p2p_engine *engine = comm->engine;
    atomic_fetch_or_explicit(&slot->here[engine->rank / 64], UINT64_C(1) << (engine->rank % 64), memory_order_relaxed);
    if (atomic_fetch_add(&slot->arrived, 1) + 1 < (uint32_t)comm->size) return;
    atomic_store(&slot->phase, phase_of(number, SLOT_AGREED));
    ring_bell(slot);
    wake_sleepers(engine, slot);
}

/* The slot's last user, BOARD_SLOTS collectives ago, must be agreed before it can be used again: only non-blocking
 * collectives can be that far apart. */
static p2p_err wait_for_slot(p2p_comm *comm, uint64_t number);

p2p_err p2p__agree_post(p2p_comm *comm)
{
    uint64_t number = comm->collectives;
    board_slot *slot = slot_of(comm, number);
    p2p_err err = wait_for_slot(comm, number);
    if (err) return err;
    uint64_t seen = atomic_load(&slot->phase);
    if (seen < phase_of(number, SLOT_FREE)) claim(comm, slot, seen, number);
    while (atomic_load(&slot->phase) == phase_of(number, SLOT_CLAIMED)) {
        if (p2p__job_failed(comm->engine)) return p2p__job_error(comm);
        sched_yield();
    }
    if (!same(&slot->first, comm)) return differ(comm, slot, number);
    arrive(comm, slot, number);
    return P2P_OK;
}

/* ---- Waiting for the others ---- */

typedef struct {
    const p2p_comm *comm;
    uint64_t number;
} agreement;

static bool is_agreed(p2p_engine *engine, void *arg)
{
    (void)engine;
    const agreement *a = arg;
    return slot_agreed(slot_of(a->comm, a->number), a->number);
}

static void describe_missing(p2p_engine *engine, void *arg, board_wait *wait)
{
    const agreement *a = arg;
    const board_slot *slot = slot_of(a->comm, a->number);
    (void)engine;
    wait->agree_context = a->comm->context;
    wait->agree_number = a->number;
    for (int i = 0; i < a->comm->size; i++) {
        int rank = a->comm->world_rank[i];
        if (!(atomic_load(&slot->here[rank / 64]) >> (rank % 64) & 1)) p2p__set_add(&wait->need, rank);
    }
}

/* Let the others have the core if that is all they need, then sleep where one call wakes everybody. Not for long: whoever
 * sleeps here does not serve its links. */
static void doze(p2p_engine *engine, void *arg)
{
    const agreement *a = arg;
    board_slot *slot = slot_of(a->comm, a->number);
    const struct timespec limit = {0, DOZE_NS};

    for (int i = 0; i < engine->spin.yields_before_a_doze && !is_agreed(engine, arg); i++) sched_yield();
    uint32_t bell = atomic_load(&slot->bell);
    atomic_fetch_add(&slot->dozing, 1);
    if (!is_agreed(engine, arg)) syscall(SYS_futex, &slot->bell, FUTEX_WAIT, bell, &limit, NULL, 0);
    atomic_fetch_sub(&slot->dozing, 1);
}

static void ask_to_be_woken(p2p_engine *engine, void *arg)
{
    const agreement *a = arg;
    atomic_fetch_or(&slot_of(a->comm, a->number)->asleep[engine->rank / 64], UINT64_C(1) << (engine->rank % 64));
}

static p2p_err wait_agreed(p2p_comm *comm, uint64_t number)
{
    agreement a = {comm, number};
    if (is_agreed(comm->engine, &a)) return P2P_OK;
    p2p_waiting waiting = {.ready = is_agreed,
                           .describe = describe_missing,
                           .doze = doze,
                           .before_sleep = ask_to_be_woken,
                           .arg = &a,
                           .state = BOARD_BLOCKED};
    p2p_err err = p2p__block(comm, &waiting);
    return err == P2P_ERR_TIMEOUT ? p2p__poison(comm, err) : err;
}

static p2p_err wait_for_slot(p2p_comm *comm, uint64_t number)
{
    return number > BOARD_SLOTS ? wait_agreed(comm, number - BOARD_SLOTS) : P2P_OK;
}

p2p_err p2p_layer_agree(p2p_comm *comm)
{
    if (comm->agreed) return P2P_OK;
    p2p_err err = wait_agreed(comm, comm->collectives);
    if (!err) comm->agreed = true;
    return err;
}

uint64_t p2p_layer_number(const p2p_comm *comm)
{
    return comm->collectives;
}

p2p_err p2p_layer_test_agree(p2p_comm *comm, uint64_t number, bool *agreed)
{
    *agreed = !number || !comm->engine->config.check || comm->size == 1 || slot_agreed(slot_of(comm, number), number);
    if (*agreed || !p2p__job_failed(comm->engine)) return P2P_OK;
    return p2p__job_error(comm);
}
