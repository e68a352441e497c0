/* SPDX-License-Identifier: MIT */
/*
 * train_all_reduce: build/train with an all-reduce of one's own, which has a state: a communicator and what it has
 * counted. Rank 0 receives the gradients of all others, adds them up, and sends the sum back:
 *
 *      rank 1 --\           /--> rank 1
 *      rank 2 ---> rank 0 -----> rank 2          every rank but 0 sends once; rank 0 is the bottleneck
 *      rank 3 --/           \--> rank 3
 *
 *      build/examples/train_all_reduce --ranks 3 --steps 10 --overlap 0
 *
 * With --overlap 1 (the default) the trainer begins the one that does not wait instead, while the device computes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/collectives.h"
#include "trainer/trainer.h"

typedef struct {
    p2p_comm *own;
    unsigned long waited, begun; /* all-reduces */
} state;

static p2p_err open_state(void *arg, p2p_comm *comm)
{
    state *s = arg;
    return p2p_split(comm, 0, p2p_rank(comm), &s->own);
}

static void close_state(void *arg, p2p_comm *comm)
{
    state *s = arg;
    if (p2p_rank(comm) == 0) printf("own all-reduce: %lu waited for, %lu begun\n", s->waited, s->begun);
    p2p_free(s->own);
}

/* On rank 0: in the order of the ranks, so that every run has the same bits. */
static p2p_err add_up(p2p_comm *comm, float *sum, size_t count)
{
    float *part = malloc((count + 1) * sizeof *part);
    p2p_err err = part ? P2P_OK : P2P_ERR_NOMEM;
    for (int rank = 1; rank < p2p_size(comm) && !err; rank++) {
        err = p2p_recv(comm, part, count * sizeof *part, rank, 0, P2P_STATUS_IGNORE);
        for (size_t i = 0; i < count && !err; i++) sum[i] += part[i];
    }
    free(part);
    for (int rank = 1; rank < p2p_size(comm) && !err; rank++) err = p2p_send(comm, sum, count * sizeof *sum, rank, 0);
    return err;
}

static p2p_err all_reduce(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    state *s = arg;
    (void)comm;
    if (dtype != DTYPE_F32 || op != OP_SUM) return P2P_ERR_TODO;
    s->waited++;
    if (p2p_rank(s->own) == 0) return add_up(s->own, buf, count);
    p2p_err err = p2p_send(s->own, buf, count * sizeof(float), 0, 0);
    return err ? err : p2p_recv(s->own, buf, count * sizeof(float), 0, 0, P2P_STATUS_IGNORE);
}

static p2p_err iall_reduce(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op,
                           p2p_request *request)
{
    state *s = arg;
    (void)comm;
    s->begun++;
    return coll_naive_iall_reduce(s->own, buf, count, dtype, op, request);
}

int main(int argc, char *argv[])
{
    static state s;
    const train_reducer reducer = {
        .open = open_state, .all_reduce = all_reduce, .close = close_state, .arg = &s, .iall_reduce = iall_reduce};
    return train_program_own(argc, argv, &(train_own){.reducer = &reducer});
}
