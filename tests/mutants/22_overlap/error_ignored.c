/* SPDX-License-Identifier: MIT */
// what: does not ask what p2p_wait_all says.
// expect: p2p_wait_all failed on rank 0
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { MOST_LAYERS = 64 };

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    // The plain version, which waits for each all-reduce before it goes on, is here to begin with:
    p2p_request under_way[MOST_LAYERS];

    for (size_t l = model->layers; l-- > 0;) {
        model->backward(model, l);
        p2p_err err = ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN, &under_way[l]);
        if (err) return err;
    }
    p2p_wait_all(model->layers, under_way, P2P_STATUSES_IGNORE);
    return P2P_OK;
}
