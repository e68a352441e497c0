/* SPDX-License-Identifier: MIT */
// what: waits for the all-reduce of the layer before, inside the loop
// expect: one long layer, number 3
// expect: Somewhere it waits though there is something left to compute
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { MOST_LAYERS = 64 };

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    p2p_request request = P2P_REQUEST_NULL;
    for (size_t l = model->layers; l-- > 0;) {
        model->backward(model, l);
        p2p_err err = p2p_wait(&request, P2P_STATUS_IGNORE);
        if (err) return err;
        err = ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN, &request);
        if (err) return err;
    }
    return p2p_wait(&request, P2P_STATUS_IGNORE);
}
