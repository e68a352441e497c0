/* SPDX-License-Identifier: MIT */
/*
 * shard: what each rank has whole in data-parallel training, divided among the ranks.
 *
 *                            parameters      gradients       optimiser's state
 *      plain step            whole           whole           whole
 *      --shard optimizer     whole           whole           1/n         shard_optimizer.c
 *      --shard gradients     whole           1/n             1/n         shard_gradients.c
 *      --shard parameters    1/n             1/n             1/n         shard_parameters.c
 *
 * Rajbhandari, Rasley, Ruwase and He, "ZeRO: memory optimizations toward training trillion parameter models", 2020,
 * stages 1, 2 and 3; the last is what PyTorch calls FSDP.
 *
 * Same bits as the plain step. The background all-reduce cuts the gradients into pieces, and the ring cuts each piece
 * into n chunks, whose sums have each another order of ranks. So a rank's part is not one run of elements, but its chunk
 * of every piece:
 *
 *      piece      |        0        |        1        |   2   |
 *      rank       | 0 | 1 | 2 | 3   | 0 | 1 | 2 | 3   |0|1|2|3|
 *
 * Offsets stay those of the whole arrays, and the pages of what is another rank's are never written, or given back
 * (pages.h). Operations find parameters, and leave gradients, in windows (window.h), whose pages stay. So the device must
 * work in the host's memory: CPUs.
 */
#ifndef PAIRWISE_TRAINER_SHARD_H
#define PAIRWISE_TRAINER_SHARD_H

#include <stdatomic.h>

#include "trainer/compress.h"
#include "trainer/network.h"

typedef struct {
    size_t first, count;   /* of the flat arrays */
    size_t own, own_count; /* this rank's chunk of it, [own, own + own_count) */
    size_t low, high;      /* the first and the last operation that has tensors in it */
    kernel_event *ready;   /* this rank's gradients are computed, and not yet reduced; else NULL */
    bool whole;            /* shard_parameters.c: every rank's chunk is in the window */
} train__part;

/* shard_keep.c: memory that outlives the process, and the step whose part is whole in each slot, 0: none. */
enum { TRAIN__KEPT_PARTS = 2 };
typedef struct {
    int states;
    size_t count;  /* of a slot */
    float *floats; /* NULL: without --repair */
    _Atomic uint64_t *steps;
} train__kept_parts;

typedef struct {
    train_network *network;
    p2p_comm *comm;
    enum train_sharding what;
    size_t batches;          /* of a step */
    train__compressor *wire; /* --wire: the sync's; NULL: gradients travel as they are */
    train__part *parts;
    size_t count;
    train_window gathered, unreduced; /* of parameters; of gradients, unless a step has several batches */
    p2p_err failed;                   /* in train__shard_ready, which cannot return it */
    kernel_err broken;                /* the same, of the device */
    bool late;                        /* gradients are added up after the backward pass, and not during it */
    bool not_finite;                  /* a gradient of this rank's part */
    bool updating;                    /* the update is queued, and perhaps not done */
    kernel_event *behind;             /* the operation before the last one that is queued */
    double waited;
    size_t most; /* bytes that the arrays held at once, in the first steps */
    uint64_t updates;
    train__kept_parts kept;
} train__shard;

/* "none", "optimizer", "gradients", "parameters", "auto" */
bool train__shard_named(const char *name, enum train_sharding *what);

/* After all ranks have the same arrays: this rank keeps its part. *sync says which the pieces are; batches: of a step. */
p2p_err train__shard_open(train_network *network, p2p_comm *comm, const train_sync *sync, size_t batches,
                          train__shard **shard, train_error *error);
void train__shard_close(train__shard *s);

/* Instead of train_sync_ready, train_sync_wait and train_update. */
void train__shard_ready(void *shard, size_t operation);
p2p_err train__shard_wait(train__shard *s, bool *finite, train_error *error);
p2p_err train__shard_update(train__shard *s, const kernel_optimizer *optimizer, uint64_t step, train_error *error);

/* shard_optimizer.c: the new parameters of all. shard_keep.c: this rank's parts are kept from now on, in `steps` which; keep
 * them, after the update; take those of this step again, all ranks together. */
p2p_err train__shard_gather(train__shard *s, train_error *error);
p2p_err train__shard_keep_open(train__shard *s, int states, _Atomic uint64_t steps[], train_error *error);
p2p_err train__shard_keep(train__shard *s, uint64_t step, train_error *error);
p2p_err train__shard_take(train__shard *s, uint64_t step, train_error *error);

/* Before an operation, forward or backward. shard_parameters.c: what it needs is there; shard_gradients.c: what it leaves
 * has room. */
p2p_err train__shard_before(void *shard, size_t operation);
p2p_err train__shard_gathered(train__shard *s, size_t operation);
void train__shard_room(train__shard *s, size_t operation);

/* shard_parameters.c: when it is queued. */
p2p_err train__shard_queued(void *shard, size_t operation, size_t next);

/* All ranks, to save: rank 0 gets the whole of what is divided; and gives it back. */
p2p_err train__shard_collect(train__shard *s, int states, train_error *error);
void train__shard_divide(train__shard *s);

/* Of an array: where a part begins; give back what is other ranks'. Has an operation tensors in a part? */
float *train__shard_at(const train_shared *array, const train__part *p);
void train__shard_drop(const train_shared *array, const train__part *p);
bool train__shard_uses(const train__shard *s, const train__part *p, size_t operation);

/* In the backward pass, has it gradients of this operation, or of some before and some after it? */
bool train__shard_spans(const train__shard *s, const train__part *p, size_t operation);

/* shard_memory.c: bytes of a rank. */
typedef struct {
    size_t parameters, gradients, state; /* own parts, or the whole */
    size_t gathered, unreduced;          /* the windows: of the parameters, of the gradients */
    size_t kept;                         /* --repair: own parts once more, of two steps */
    size_t sums;                         /* --accumulate: of an operation, while its next gradients are computed */
    size_t feedback;                     /* --wire: what is sent, and what is not sent yet */
    size_t images;                       /* two batches */
    size_t activations, together;        /* together: the most at once */
} train__holding;

train__holding train__shard_holding(const train__shard *s, int states);

/* In the first steps, which are as all others: to count pages takes a moment. */
void train__shard_measure(train__shard *s);

#endif
