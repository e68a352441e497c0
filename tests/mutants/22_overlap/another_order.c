/* SPDX-License-Identifier: MIT */
// what: one rank begins its all-reduces in another order
// expect: do not mean the same collective
// expect: the same all-reduces in the same order
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { MOST_LAYERS = 64 };

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    // The plain version, which waits for each all-reduce before it goes on, is here to begin with:
    p2p_request under_way[MOST_LAYERS];

    if (p2p_rank(comm) == 1) {
        for (size_t l = model->layers; l-- > 0;) model->backward(model, l);
        for (size_t l = 0; l < model->layers; l++) {
            p2p_err err = ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN,
                                           &under_way[l]);
            if (err) return err;
        }
        return p2p_wait_all(model->layers, under_way, P2P_STATUSES_IGNORE);
    }
    for (size_t l = model->layers; l-- > 0;) {
        model->backward(model, l);
        p2p_err err = ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN, &under_way[l]);
        if (err) return err;
    }
    return p2p_wait_all(model->layers, under_way, P2P_STATUSES_IGNORE);
}
