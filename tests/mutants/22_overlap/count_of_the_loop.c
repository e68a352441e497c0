/* SPDX-License-Identifier: MIT */
// what: counts the layers up for counts[], and down for the rest
// expect: reads beyond the end of a buffer
// expect: the count of another layer
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { MOST_LAYERS = 64 };

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    p2p_request under_way[MOST_LAYERS];

    for (size_t l = model->layers; l-- > 0;) {
        model->backward(model, l);
        p2p_err err = ring_iall_reduce(comm, model->gradients[l], model->counts[model->layers - 1 - l], DTYPE_F32,
                                       OP_MEAN, &under_way[l]);
        if (err) return err;
    }
    return p2p_wait_all(model->layers, under_way, P2P_STATUSES_IGNORE);
}
