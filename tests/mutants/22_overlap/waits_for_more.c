/* SPDX-License-Identifier: MIT */
// what: waits for 64 requests, of which most were never begun
// expect: leads nowhere, in p2p_wait_all
// expect: as many requests as it is told
#include "exercises/exercises.h"
#include "ring/ring.h"

enum { MOST_LAYERS = 64 };

p2p_err my_overlapped_backward(p2p_comm *comm, const my_model *model)
{
    p2p_request under_way[MOST_LAYERS];

    for (size_t l = model->layers; l-- > 0;) {
        model->backward(model, l);
        p2p_err err = ring_iall_reduce(comm, model->gradients[l], model->counts[l], DTYPE_F32, OP_MEAN, &under_way[l]);
        if (err) return err;
    }
    return p2p_wait_all(MOST_LAYERS, under_way, P2P_STATUSES_IGNORE);
}
