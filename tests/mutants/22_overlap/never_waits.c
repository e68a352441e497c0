/* SPDX-License-Identifier: MIT */
// what: begins all of them, and returns without waiting
// expect: returned while a request of its own was still under way
// expect: Every ring_iall_reduce needs a p2p_wait
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    p2p_request under_way[64];
    for (size_t l = model->layers; l-- > 0;) {
        model->backward(model, l);
        ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN, &under_way[l]);
    }
    return P2P_OK;
}
