/* SPDX-License-Identifier: MIT */
/*
 * network: a model on a device: memory, the forward and the backward pass. Knows nothing of ranks.
 *
 *      plan.c            where gradients of values lie while the backward pass runs
 *      memory.c          buffers: what the host shares with the device, what only the device has
 *      operations.c      one operation forward, one backward: the only calls of the layers' kernels
 *      network.c         whole passes
 *
 * Everything queues work and returns; see kernels/kernels.h. The host's own arrays (parameters, gradients, statistics,
 * optimiser state, batches) are wrapped: on a CPU the device works in them, on a GPU they are copied.
 */
#ifndef PAIRWISE_TRAINER_NETWORK_H
#define PAIRWISE_TRAINER_NETWORK_H

#include "kernels/kernels.h"
#include "trainer/internal.h"
#include "trainer/pages.h"
#include "trainer/window.h"

enum { TRAIN_POOL = 8, TRAIN_SLOTS = 2, TRAIN_STATES = 2, TRAIN_RESULT = 2 };

/* Where the backward pass of one operation finds and leaves gradients: numbers of pool buffers, -1 where there is
 * none. */
typedef struct {
    int dy, dconv, din;
    bool add; /* another operation has left its part in din already */
} train_backward_plan;

/* An array of the host's and the buffer over it. */
typedef struct {
    void *host;
    kernel_buffer *on;
    size_t floats;
    p2p_comm *of;               /* whose p2p_alloc it is from; NULL: our own */
    size_t paged;               /* bytes, of train__pages_new; 0: it is not from there */
    const train_window *window; /* where operations find what they need of it (shard.h); NULL: in all of it */
} train_shared;

/* A batch: images (n, 3, 32, 32) and labels (n). Two, so that one is filled while the device works on the other. */
typedef struct {
    train_shared images, labels;
    size_t count;
    kernel_event *busy; /* until this is done, the device reads it */
} train_slot;

/* Marks of a step in the device's queue. */
enum train_mark {
    TRAIN_BEGIN,
    TRAIN_FORWARD_DONE,
    TRAIN_BACKWARD_DONE,
    TRAIN_UPDATE,
    TRAIN_UPDATE_DONE,
    TRAIN_MARK_COUNT
};

typedef struct {
    kernel_event *at[TRAIN_MARK_COUNT];
} train_marks;

/* Called for every operation of a pass, forward or backward. What it returns, if not P2P_OK, ends the pass. */
typedef struct {
    p2p_err (*before)(void *arg, size_t operation);
    p2p_err (*queued)(void *arg, size_t operation, size_t next); /* next: not an operation, at the end of a pass */
    void *arg;
    p2p_err said;
} train_watch;

struct train_network {
    const train_model *model;
    p2p_comm *comm; /* NULL: no other rank reads the gradients */
    kernel_device *device;
    kernel_device_info info;
    size_t capacity; /* images of the largest batch */
    bool frozen;     /* batch norm uses its running statistics in training, too */
    float smoothing; /* of labels, in training */
    enum train_sharding shard;
    train_watch watch;
    size_t activations; /* bytes: all that is neither parameters, gradients nor state */

    train_shared parameters, gradients, statistics, result; /* result: sum of losses, number correct */
    train_shared state[TRAIN_STATES];
    uint64_t batches;                                 /* num_batches_tracked */
    train_slot slots[TRAIN_SLOTS], *loaded, *running; /* loaded: by train_load; running: in the last forward pass */
    int next_slot;
    train_marks marks;     /* of the last step */
    kernel_event *counted; /* the host may read `result`: the last forward pass has ended */

    kernel_buffer **values;    /* of each value: (N, C, H, W) */
    kernel_buffer **convolved; /* of each operation: between convolution and batch norm */
    kernel_buffer **kept;      /* of each operation: what its backward pass needs besides */
    kernel_buffer *plain;      /* logits as (N, 10) */
    kernel_buffer *before;     /* train__keep_statistics; NULL: never asked for */
    kernel_buffer *sums; /* train_accumulate: an operation's gradients of the batches before; NULL: never asked for */
    bool adding;         /* there are some */
    uint64_t batches_before;
    train_backward_plan *plan;
    kernel_buffer *pool[TRAIN_POOL];
};

/* plan.c: fills network->plan, and floats[], how long each pool buffer must be; returns how many there are, or -1 if it
 * cannot plan this model. */
int train__plan_backward(train_network *network, size_t floats[TRAIN_POOL]);

/* memory.c: all buffers, once the device is open; and freeing whatever there is of them. */
p2p_err train__allocate(train_network *network, train_error *error);
void train__release(train_network *network);

/* operations.c: queue one operation for n images. */
kernel_shape train__shape(const train_network *network, int value, size_t n);
kernel_err train__operation_forward(train_network *network, size_t operation, size_t n, bool evaluating);
kernel_err train__operation_backward(train_network *network, size_t operation, size_t n);

/* network.c: of any operation. */
size_t train__longest_gradients(const train_model *model);

/* network.c: put the device's message into *error. */
p2p_err train__device_fail(const train_network *network, kernel_err err, train_error *error);

/* network.c: keep the running statistics as they are before a forward pass, and put them back after it. */
p2p_err train__keep_statistics(train_network *network, train_error *error);
void train__restore_statistics(train_network *network);

/* network.c: one mark; one step of the optimiser on parameters [first, first + count), without a mark. */
kernel_err train__mark(train_network *network, enum train_mark which);
kernel_err train__queue_update(train_network *network, const kernel_optimizer *optimizer, uint64_t step, size_t first,
                               size_t count);

/* network.c: the marks of the last step, which the caller owns now; seconds between two marks that are done, 0 if one
 * is missing. */
train_marks train__take_marks(train_network *network);
void train__free_marks(train_marks *marks);
double train__between(const train_marks *marks, enum train_mark from, enum train_mark to);

#endif
