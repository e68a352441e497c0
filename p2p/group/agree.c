/* SPDX-License-Identifier: MIT */
/*
 * Agreement: before a collective writes anything, every rank writes on the scoreboard what it takes the collective for,
 * and reads what the others have written.
 *
 *      rank          0         1         2         3          one cache line each (scoreboard_line)
 *      at            #17       #17       #16       #17        rank 2 is not there yet: wait
 *      hash          a3f1..    a3f1..    ......    a3f1..     equal so far
 *
 * A rank writes its own line and reads the others', so that two ranks that come at the same time need one cache line
 * each way, and no rank waits for a lock. A difference ends the job through the supervisor, so that every rank learns
 * of it, whatever it is waiting for. A line also has room for a few bytes, and a collective may have more barriers: a
 * rank that sees the last one arrive wakes those that sleep.
 *
 * A line is used again eight collectives later, and not before every rank has left the one that used it. A collective with a
 * request is local, so one that finds no line free has none at first: its rank keeps what it thinks, and shows it once there is
 * one, when a step asks (show_more).
 */
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "p2p/group/internal.h"
#include "p2p/shared/control.h"

/* A wait for all ranks of a communicator to come to a step of a collective. */
typedef struct {
    const p2p_comm *comm;
    uint64_t number, steps, hash;
    const scoreboard_line *lines;
    int seen;   /* ranks (of the communicator) below this are there */
    int differ; /* one that means something else; -1: none */
    bool settled;
    bool of_host; /* only the ranks of this host */
    int parts;    /* it is over, too, when so many parts are done; 0: there are none */
} phase;

static scoreboard_line *own_line(const p2p_comm *comm, uint64_t number)
{
    return &p2p__scoreboard_lines(comm->engine->scoreboard, comm->context, number)[comm->engine->rank];
}

/* The agreement on a collective that this rank has come to; 0 for a hash means that it does not matter. */
static phase agreement(const p2p_comm *comm, uint64_t number)
{
    return (phase){.comm = comm,
                   .number = number,
                   .steps = 1,
                   .hash = number == comm->posted ? comm->said : atomic_load(&own_line(comm, number)->what),
                   .lines = p2p__scoreboard_lines(comm->engine->scoreboard, comm->context, number),
                   .differ = -1};
}

static scoreboard_gate *gate_at(const p2p_comm *comm, uint64_t number)
{
    return &comm->engine->scoreboard->gates[p2p__scoreboard_slot(comm->context, number)];
}

static scoreboard_gate *gate_of(const phase *m)
{
    return gate_at(m->comm, m->number);
}

/* ---- Reading the lines ---- */

/* Is this rank (of the communicator) there? Notes if it means something else, as soon as it has said so. */
static bool is_there(phase *m, int rank)
{
    const scoreboard_line *line = &m->lines[m->comm->world_rank[rank]];
    uint64_t at = atomic_load_explicit(&line->at, memory_order_acquire);
    if (m->hash && at >> 24 == m->number && at >= p2p__line_at(m->number, 1)) {
        uint64_t what = atomic_load_explicit(&line->what, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        /* A line that says a later number belongs to a rank that has left this collective: it has agreed long since. */
        if (what != m->hash && atomic_load_explicit(&line->at, memory_order_relaxed) >> 24 == m->number)
            m->differ = m->comm->world_rank[rank];
    }
    return at >= p2p__line_at(m->number, m->steps);
}

static bool is_awaited(const phase *m, int rank)
{
    return rank != m->comm->rank &&
           (!m->of_host || p2p__is_local(m->comm->engine->scoreboard, m->comm->world_rank[rank]));
}

/* Are all there? This rank is; its own line, which the others read, is left alone. Also true if one means something
 * else, or all parts are done: then there is nothing left to wait for. */
static bool all_there(phase *m)
{
    if (m->parts && atomic_load_explicit(&gate_of(m)->parts_done, memory_order_acquire) >= (uint32_t)m->parts)
        return true;
    while (m->differ < 0 && m->seen < m->comm->size && (!is_awaited(m, m->seen) || is_there(m, m->seen))) m->seen++;
    return m->seen == m->comm->size || m->differ >= 0;
}

static p2p_err differ(p2p_comm *comm, const phase *m)
{
    p2p_engine *engine = comm->engine;
    p2p__show_difference(engine, m->differ, comm->context, m->number);
    p2p__control_tell(engine->control, CONTROL_MISMATCH, engine->rank, 0);
    while (!atomic_load(&engine->scoreboard->shared->failed)) p2p__pause(FAILING_PAUSE_NS);
    p2p__job_failed(engine);
    return p2p__job_error(comm);
}

/* ---- Waking ---- */

/* Most wait on a futex, which one call wakes; for a short time, since they do not serve their links meanwhile. */
static void wake_all(const phase *m)
{
    p2p_engine *engine = m->comm->engine;
    scoreboard_gate *gate = gate_of(m);
    if (atomic_load_explicit(&gate->dozing, memory_order_relaxed)) {
        atomic_fetch_add(&gate->bell, 1);
        syscall(SYS_futex, &gate->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    for (int i = 0; i * 64 < engine->size; i++) {
        uint64_t asleep = atomic_load_explicit(&gate->asleep[i], memory_order_relaxed);
        if (asleep) asleep = atomic_exchange(&gate->asleep[i], 0);
        for (int bit = 0; asleep; bit++, asleep >>= 1) {
            if (!(asleep & 1) || i * 64 + bit >= engine->size) continue;
            atomic_fetch_add(&engine->scoreboard->rows[i * 64 + bit].nudges, 1);
            p2p__control_tell(engine->control, CONTROL_WAKE, i * 64 + bit, 0);
        }
    }
}

/* A rank must read the others' lines once after they are sure to see its own. Of two that differ the later one sees it
 * then; and of those that come last at the same time at least one finds all there, and wakes the sleepers. To be sure
 * takes a fence, which costs as much as a message, but next to nothing once others have answered: so it is put off
 * until all are there, or until this rank has to sleep. */
static void settle(phase *m)
{
    m->settled = true;
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = m->seen; m->hash && i < m->comm->size && m->differ < 0; i++)
        if (i != m->comm->rank) is_there(m, i); /* also those behind one that is missing */
    if (all_there(m) && m->differ < 0) wake_all(m);
}

/* ---- Waiting ---- */

/* A short spin: the others are often here at once with a core for each rank; and between two steps, if all that are
 * still missing run on other cores. To yield would then help none of them, and take longer than they take to come. Not
 * so at the first step: a rank that is missing there is still in the program, and the next one on this core may finish
 * the step before. */
static void poll_quickly(p2p_engine *engine, phase *m)
{
    const p2p_spin *spin = &engine->spin;
    scoreboard *b = engine->scoreboard;
    if (all_there(m)) return;
    bool pays = spin->shares_cores ? m->steps > 1 : spin->cheap_polls && spin->now;
    int here = pays && spin->shares_cores ? p2p__cores_show(b, engine->rank) : 0;
    for (int i = m->seen; pays && spin->shares_cores && i < m->comm->size; i++)
        pays = i == m->comm->rank || !p2p__cores_has(b, m->comm->world_rank[i], here) || is_there(m, i);
    p2p_backoff backoff = p2p__backoff_short(BARRIER_POLLS, spin->shares_cores ? BARRIER_SPIN_NS : 0);
    while (pays && !all_there(m) && p2p__backoff_goes_on(&engine->spin, &backoff)) continue;
}

static bool is_complete(p2p_engine *engine, void *arg)
{
    if (engine->spin.shares_cores) poll_quickly(engine, arg);
    return all_there(arg);
}

static void describe_missing(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    const phase *m = arg;
    uint64_t wanted = p2p__line_at(m->number, m->steps);
    (void)engine;
    wait->agree_context = m->comm->context;
    wait->agree_number = m->number;
    wait->agree_steps = m->steps;
    for (int i = m->seen; i < m->comm->size; i++) {
        int rank = m->comm->world_rank[i];
        if (is_awaited(m, i) && atomic_load(&m->lines[rank].at) < wanted) p2p__set_add(&wait->need, rank);
    }
}

/* Yield, if the others only need the core; then sleep where one call wakes all. Not for long: a rank that sleeps here
 * does not serve its links. */
static void timed_wait(p2p_engine *engine, void *arg)
{
    phase *m = arg;
    scoreboard_gate *gate = gate_of(m);
    const struct timespec limit = {0, (long)engine->spin.timed_wait};

    for (int i = 0; i < engine->spin.yields_before_timed_wait && !all_there(m); i++) sched_yield();
    uint32_t bell = atomic_load(&gate->bell);
    atomic_fetch_add(&gate->dozing, 1);
    if (!all_there(m)) syscall(SYS_futex, &gate->bell, FUTEX_WAIT, bell, &limit, NULL, 0);
    atomic_fetch_sub(&gate->dozing, 1);
}

static void ask_to_be_woken(p2p_engine *engine, void *arg)
{
    _Atomic uint64_t *asleep = &gate_of(arg)->asleep[engine->rank / 64];
    uint64_t bit = UINT64_C(1) << (engine->rank % 64);
    if (!(atomic_load_explicit(asleep, memory_order_relaxed) & bit)) atomic_fetch_or(asleep, bit);
}

static void need_no_waking(const phase *m)
{
    int rank = m->comm->engine->rank;
    _Atomic uint64_t *asleep = &gate_of(m)->asleep[rank / 64];
    uint64_t bit = UINT64_C(1) << (rank % 64);
    if (atomic_load_explicit(asleep, memory_order_relaxed) & bit) atomic_fetch_and(asleep, ~bit);
}

static p2p_err wait_for(p2p_comm *comm, phase *m)
{
    p2p_err err = P2P_OK;
    poll_quickly(comm->engine, m);
    if (!m->settled) settle(m);
    if (!all_there(m)) {
        p2p_waiting waiting = {.ready = is_complete,
                               .describe = describe_missing,
                               .timed_wait = timed_wait,
                               .before_sleep = ask_to_be_woken,
                               .arg = m,
                               .state = SCOREBOARD_BLOCKED};
        err = p2p__block(comm, &waiting);
        need_no_waking(m);
    }
    if (!err && m->differ >= 0) return differ(comm, m);
    if (!err && !m->of_host && m->number == comm->all_passed + 1) comm->all_passed++;
    return err == P2P_ERR_TIMEOUT ? p2p__poison(comm, err) : err;
}

/* ---- Coming ---- */

/* Its launcher passes the line on before any message that this rank sends now. It looks for lines as long as it does not
 * sleep; one that is behind by all places, being stopped perhaps, is waited for. */
static p2p_err show_other_hosts(p2p_comm *comm, uint64_t number, size_t payload)
{
    p2p_engine *engine = comm->engine;
    scoreboard_came *came = &engine->row->came;
    _Atomic uint32_t *asleep = &engine->scoreboard->shared->launcher_asleep;
    uint32_t count = atomic_load_explicit(&came->count, memory_order_relaxed);
    if (!p2p__await_passed(engine, SCOREBOARD_CAME - 1)) return p2p__job_error(comm);
    scoreboard_passed *passed = &came->lines[count % SCOREBOARD_CAME];
    *passed = (scoreboard_passed){.context = comm->context, .number = number};
    if (comm->payloads.first) {
        passed->ranks = (uint16_t)comm->size;
        passed->bytes = (uint16_t)payload;
        passed->offset = (uint64_t)(comm->payloads.first - comm->scratch) + (size_t)comm->rank * comm->payloads.stride;
    }
    atomic_store_explicit(&came->count, count + 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(asleep, memory_order_relaxed) && atomic_exchange(asleep, 0))
        p2p__control_tell(engine->control, CONTROL_CAME, engine->rank, 0);
    return P2P_OK;
}

/* The line that this rank writes was last used SCOREBOARD_SLOTS collectives ago: every rank must have left that one, as those
 * have that are in the next. Only non-blocking collectives can be that far apart. */
static bool has_line(const p2p_comm *comm, uint64_t number)
{
    return comm->all_passed + SCOREBOARD_SLOTS >= number + 1;
}

/* What was shown with it is there before the line is touched: the others poll that. */
static void write_line(p2p_comm *comm, uint64_t number, uint64_t hash, const void *payload, size_t bytes)
{
    p2p_engine *engine = comm->engine;
    scoreboard_line *line = own_line(comm, number);
    atomic_store_explicit(&line->at, p2p__line_at(number, 0), memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line->what, hash, memory_order_relaxed);
    if (bytes) memcpy(line->payload, payload, bytes);
    if (engine->config.explain) p2p__explain_show(comm, line->payload);
    atomic_store_explicit(&line->at, p2p__line_at(number, 1), memory_order_release);
    if (engine->choices) p2p__choice_acts(engine);
}

/* ---- Those that have no line yet ---- */

static bool keep_unshown(p2p_comm *comm, uint64_t number, uint64_t hash)
{
    const p2p_engine *engine = comm->engine;
    if (comm->unshown_count == comm->unshown_room) {
        size_t room = 2 * comm->unshown_room + 16;
        p2p_unshown *more = realloc(comm->unshown, room * sizeof *more);
        if (!more) return false;
        comm->unshown = more;
        comm->unshown_room = room;
    }
    p2p_unshown *kept = &comm->unshown[comm->unshown_count++];
    kept->hash = hash;
    if (engine->config.check) p2p__put_words(engine, comm->context, number, number - comm->base, &kept->words);
    return true;
}

/* Of the oldest ones, all have left those that all are in. */
static p2p_err see_passed(p2p_comm *comm)
{
    while (comm->all_passed < comm->posted - comm->unshown_count) {
        phase m = agreement(comm, comm->all_passed + 1);
        if (!all_there(&m)) {
            ask_to_be_woken(comm->engine, &m);
            if (!all_there(&m)) return P2P_OK;
        }
        need_no_waking(&m);
        if (m.differ >= 0) return differ(comm, &m);
        comm->all_passed++;
    }
    return P2P_OK;
}

/* As many as have a line by now. */
static p2p_err show_more(p2p_comm *comm)
{
    size_t shown = 0;
    p2p_err err = comm->unshown_count ? see_passed(comm) : P2P_OK;
    while (!err && shown < comm->unshown_count && has_line(comm, comm->posted - comm->unshown_count + shown + 1)) {
        uint64_t number = comm->posted - comm->unshown_count + shown + 1, hash = comm->unshown[shown].hash;
        *p2p__words_place(comm->engine, comm->context, number) = comm->unshown[shown].words;
        write_line(comm, number, hash, NULL, 0);
        shown++;
        if (!comm->one_host) err = show_other_hosts(comm, number, 0);
        phase m = agreement(comm, number);
        m.hash = hash;
        if (!err) settle(&m);
        if (!err && m.differ >= 0) err = differ(comm, &m);
    }
    comm->unshown_count -= shown;
    if (shown) memmove(comm->unshown, comm->unshown + shown, comm->unshown_count * sizeof *comm->unshown);
    return err;
}

/* All of them, and one more has a line. */
static p2p_err show_all(p2p_comm *comm, uint64_t number)
{
    p2p_err err = show_more(comm);
    while (!err && (comm->unshown_count || !has_line(comm, number))) {
        phase m = agreement(comm, comm->all_passed + 1);
        m.settled = true; /* this rank came long ago */
        err = wait_for(comm, &m);
        if (!err) err = show_more(comm);
    }
    return err;
}

p2p_err p2p__agree_post(p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_engine *engine = comm->engine;
    uint64_t number = comm->posted + 1;
    size_t bytes = what->inline_bytes;
    bool local = what->returns && !bytes && !engine->config.explain;
    p2p_err err = local ? show_more(comm) : show_all(comm, number);
    comm->payloads = (p2p_scratch){NULL, 0, 0};
    if (!err && bytes > SCOREBOARD_INLINE) err = p2p_layer_scratch(comm, bytes, &comm->payloads);
    if (err) return err;
    bool later = comm->unshown_count || !has_line(comm, number);
    /* What does not fit into the line travels in this rank's scratch segment. */
    unsigned char *segment = comm->payloads.first;
    if (segment) memcpy(segment + (size_t)comm->rank * comm->payloads.stride, what->inline_payload, bytes);
    uint64_t hash = engine->config.check ? engine->shown->hash : 0;
    if (later && !keep_unshown(comm, number, hash))
        return p2p_layer_error(comm, P2P_ERR_NOMEM, "no memory for one more collective that is under way");
    comm->posted = number;
    comm->said = hash;
    comm->settled = later;
    if (later) return P2P_OK;
    if (engine->config.check)
        p2p__put_words(engine, comm->context, number, number - comm->base,
                       p2p__words_place(engine, comm->context, number));
    if (what->parts && comm->rank == 0) { /* no rank takes one before it has seen this one here */
        atomic_store_explicit(&gate_at(comm, number)->parts_given, 0, memory_order_relaxed);
        atomic_store_explicit(&gate_at(comm, number)->parts_done, 0, memory_order_relaxed);
    }
    write_line(comm, number, hash, what->inline_payload, segment ? 0 : bytes);
    if (!comm->one_host) err = show_other_hosts(comm, number, bytes);
    if (err) return err;
    return what->barriers ? P2P_OK : p2p__agree_settle(comm); /* with barriers: in the first one, soon */
}

p2p_err p2p__agree_settle(p2p_comm *comm)
{
    if (comm->agreed || comm->settled) return P2P_OK;
    phase m = agreement(comm, comm->posted);
    settle(&m);
    comm->settled = true;
    return m.differ < 0 ? P2P_OK : differ(comm, &m);
}

p2p_err p2p_layer_agree(p2p_comm *comm)
{
    if (comm->agreed) return P2P_OK;
    phase m = agreement(comm, comm->posted);
    m.settled = comm->settled;
    p2p_err err = wait_for(comm, &m);
    if (!err) comm->agreed = true;
    return err;
}

static p2p_err come_to(p2p_comm *comm, unsigned step, bool of_host, int parts)
{
    if (comm->size == 1) return P2P_OK;
    scoreboard_line *line = own_line(comm, comm->posted);
    phase m = agreement(comm, comm->posted);
    m.steps = step + 1;
    m.of_host = of_host;
    m.parts = parts;
    if (comm->agreed) m.hash = 0;
    atomic_store_explicit(&line->at, p2p__line_at(comm->posted, step + 1), memory_order_release);
    p2p_err err = wait_for(comm, &m);
    if (err) { /* the others must not find this rank at the step: its memory is no longer what they expect to read */
        atomic_store(&line->at, p2p__line_at(comm->posted, step));
        atomic_thread_fence(memory_order_seq_cst);
    }
    if (!err && !of_host) comm->agreed = true;
    return err;
}

p2p_err p2p_layer_barrier(p2p_comm *comm, unsigned step)
{
    return come_to(comm, step, false, 0);
}

p2p_err p2p_layer_host_barrier(p2p_comm *comm, unsigned step)
{
    return come_to(comm, step, true, 0);
}

/* ---- Work in parts ---- */

int p2p_layer_turns(const p2p_comm *comm)
{
    const p2p_spin *spin = &comm->engine->spin;
    return spin->shares_cores ? (spin->ranks + spin->cores - 1) / spin->cores : 1;
}

int p2p_layer_next_part(p2p_comm *comm, int parts)
{
    _Atomic uint32_t *given = &gate_at(comm, comm->posted)->parts_given;
    uint32_t part = atomic_load_explicit(given, memory_order_relaxed);
    if (part < (uint32_t)parts) part = atomic_fetch_add_explicit(given, 1, memory_order_relaxed);
    return part < (uint32_t)parts ? (int)part : -1;
}

/* Who waits for the last one is woken by the rank that has done it, when that comes to the barrier. */
void p2p_layer_part_done(p2p_comm *comm)
{
    atomic_fetch_add_explicit(&gate_at(comm, comm->posted)->parts_done, 1, memory_order_release);
}

p2p_err p2p_layer_parts_barrier(p2p_comm *comm, unsigned step, int parts)
{
    return come_to(comm, step, false, parts);
}

const void *p2p_layer_inline(const p2p_comm *comm, int rank)
{
    if (comm->payloads.first) return comm->payloads.first + (size_t)rank * comm->payloads.stride;
    return p2p__scoreboard_lines(comm->engine->scoreboard, comm->context, comm->posted)[comm->world_rank[rank]].payload;
}

uint64_t p2p_layer_number(const p2p_comm *comm)
{
    return comm->collectives;
}

p2p_err p2p_layer_test_agree(p2p_comm *comm, uint64_t collective, bool *agreed)
{
    uint64_t number = comm->base + collective;
    *agreed = !collective || !comm->engine->config.check || comm->size == 1 || number <= comm->all_passed;
    if (*agreed) return P2P_OK;
    p2p_err err = show_more(comm);
    bool shown = number <= comm->posted - comm->unshown_count;
    if (!shown && comm->engine->in_step) comm->engine->in_step->lacks_agreement = true;
    if (!shown && !err && p2p__job_failed(comm->engine)) err = p2p__job_error(comm);
    *agreed = number <= comm->all_passed; /* by now; its line may be that of another one */
    if (err || !shown || *agreed) return err;
    phase m = agreement(comm, number);
    /* This rank may go to sleep over something else, and has to be woken when all are there. */
    if (!all_there(&m)) ask_to_be_woken(comm->engine, &m);
    *agreed = all_there(&m);
    if (*agreed) need_no_waking(&m);
    if (comm->engine->in_step) comm->engine->in_step->lacks_agreement = !*agreed;
    if (m.differ >= 0) return differ(comm, &m);
    if (*agreed && number == comm->all_passed + 1) comm->all_passed++;
    if (*agreed) return show_more(comm);
    if (!p2p__job_failed(comm->engine)) return P2P_OK;
    return p2p__job_error(comm);
}
