/* SPDX-License-Identifier: MIT */
// what: waits for each all-reduce before it goes on
// expect: That is as long as one after the other
/* Exercise 22: gradients travel while others are still being computed. The page is README.md in this folder. */
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { MOST_LAYERS = 64 };

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    // TODO: compute each layer's gradient, begin its all-reduce, go on with the next layer; at the end wait for all.
    // The plain version, which waits for each all-reduce before it goes on, is here to begin with:
    p2p_request under_way[MOST_LAYERS];

    for (size_t l = model->layers; l-- > 0;) {
        model->backward(model, l);
        p2p_err err = ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN, &under_way[l]);
        if (!err) err = p2p_wait(&under_way[l], P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return p2p_wait_all(model->layers, under_way, P2P_STATUSES_IGNORE);
    // END TODO
}
