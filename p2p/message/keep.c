/* SPDX-License-Identifier: MIT */
/*
 * Memory that outlives its process. The supervisor has it, a memory file for each rank and name (kept.c); a rank asks for one
 * by writing the name to its row, maps what it is sent, and closes the descriptor.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "p2p/message/internal.h"
#include "p2p/shared/control.h"

static bool has_come(p2p_engine *engine, void *arg)
{
    (void)arg;
    return engine->kept_came;
}

static void describe(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    (void)engine, (void)arg, (void)wait; /* it waits for no rank */
}

/* Ask the supervisor: a descriptor, and whether the memory was there. */
static p2p_err ask(p2p_comm *comm, const char *name, size_t bytes, int *fd, bool *found)
{
    p2p_engine *engine = comm->engine;
    p2p_waiting waiting = {.ready = has_come, .describe = describe, .state = SCOREBOARD_BLOCKED, .patient = true};
    scoreboard_keep *keep = &engine->row->keep;
    memset(keep->name, 0, sizeof keep->name);
    p2p__copy_text(keep->name, sizeof keep->name, name);
    keep->bytes = bytes;
    engine->kept_came = false;
    p2p__control_tell(engine->control, CONTROL_KEEP, engine->rank, 0);
    p2p_err err = p2p__block(comm, &waiting);
    if (err) return err;
    *fd = engine->kept_fd;
    *found = engine->kept_value > 0;
    if (*fd >= 0) return P2P_OK;
    if (engine->kept_value == -EEXIST)
        return p2p__fail(comm, CAUSE_KEPT_SIZE, name, (unsigned long long)keep->bytes, bytes);
    if (engine->kept_value == -E2BIG) return p2p__fail(comm, CAUSE_KEPT_MANY, name, SCOREBOARD_KEPT);
    return p2p__fail(comm, CAUSE_KEPT_REFUSED, bytes, name, strerror(-engine->kept_value));
}

/* Of a job without a supervisor it ends with the process. */
static p2p_err obtain(p2p_comm *comm, p2p_kept *kept, bool *found)
{
    int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    *found = false;
    if (comm->engine->control >= 0) {
        p2p_err err = ask(comm, kept->name, kept->bytes, &fd, found);
        if (err) return err;
        flags = MAP_SHARED;
    }
    kept->at = mmap(NULL, kept->bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    int saved = errno;
    if (fd >= 0) close(fd);
    if (kept->at != MAP_FAILED) return P2P_OK;
    return p2p__fail(comm, CAUSE_KEPT_REFUSED, kept->bytes, kept->name, strerror(saved));
}

static p2p_err check(p2p_comm *comm, const char *name, size_t bytes, void **buf)
{
    if (!buf) return p2p__fail(comm, CAUSE_NO_PLACE_FOR_ADDRESS);
    if (!name || !*name) return p2p__fail(comm, CAUSE_KEPT_NAME, name ? "empty" : "NULL");
    if (strlen(name) >= SCOREBOARD_NAME) return p2p__fail(comm, CAUSE_KEPT_NAME, "too long");
    if (!bytes) return p2p__fail(comm, CAUSE_KEPT_NOTHING);
    if (bytes > PTRDIFF_MAX) return p2p__fail(comm, CAUSE_IMPOSSIBLE_SIZE, bytes);
    return P2P_OK;
}

p2p_err p2p_keep(p2p_comm *comm, const char *name, size_t bytes, void **buf, bool *found)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_keep", SHAPE_PLAIN, 0, 0, bytes, 0, 0, 0, 0});
    if (err) return err;
    err = check(comm, name, bytes, buf);
    if (err) return p2p__leave(comm, err);
    p2p_engine *engine = comm->engine;
    p2p_kept *kept = engine->kept;
    bool was_there = true;
    while (kept && strcmp(kept->name, name) != 0) kept = kept->next;
    if (kept && kept->bytes != bytes)
        return p2p__leave(comm, p2p__fail(comm, CAUSE_KEPT_SIZE, name, (unsigned long long)kept->bytes, bytes));
    if (!kept) {
        kept = calloc(1, sizeof *kept);
        if (!kept) return p2p__leave(comm, p2p__fail(comm, CAUSE_KEPT_REFUSED, bytes, name, strerror(ENOMEM)));
        p2p__copy_text(kept->name, sizeof kept->name, name);
        kept->bytes = bytes;
        err = obtain(comm, kept, &was_there);
        if (err) {
            free(kept);
            return p2p__leave(comm, err);
        }
        kept->next = engine->kept;
        engine->kept = kept;
    }
    *buf = kept->at;
    if (found) *found = was_there;
    return p2p__leave(comm, P2P_OK);
}

void p2p__kept_free(p2p_engine *engine)
{
    while (engine->kept) {
        p2p_kept *kept = engine->kept;
        engine->kept = kept->next;
        munmap(kept->at, kept->bytes);
        free(kept);
    }
}

/* ---- And time, to save what it has ---- */

void p2p_layer_grace(p2p_comm *comm, int seconds)
{
    if (!comm || !comm->engine || seconds < 0) return;
    atomic_store(&comm->engine->row->grace, seconds < P2P_GRACE_MOST ? seconds : P2P_GRACE_MOST);
}
