/* SPDX-License-Identifier: MIT */
// what: the all-reduce is begun before backward
// expect: before backward had computed it
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { MOST_LAYERS = 64 };

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    // The plain version, which waits for each all-reduce before it goes on, is here to begin with:
    p2p_request under_way[MOST_LAYERS];

    for (size_t l = model->layers; l-- > 0;) {
        p2p_err err = ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN, &under_way[l]);
        if (err) return err;
        model->backward(model, l);
    }
    return p2p_wait_all(model->layers, under_way, P2P_STATUSES_IGNORE);
}
