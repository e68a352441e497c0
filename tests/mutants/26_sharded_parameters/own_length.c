/* SPDX-License-Identifier: MIT */
// what: a ring by hand, in which each chunk goes with the length of the rank's own
// expect: sends 280 bytes from where chunk 2 begins, which has 272
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "ring/ring.h"

/* All weights of a layer, from every rank's chunk, in `whole`. */
static p2p_err gather(p2p_comm *comm, const my_sharded_network *network, size_t layer, double *whole)
{
    int size = p2p_size(comm), rank = p2p_rank(comm);
    size_t count = network->counts[layer], first, length, out, in;
    p2p_err err = P2P_OK;
    (void)out, (void)in;
    ring_chunk(count, size, rank, &first, &length);
    memcpy(whole + first, network->weights[layer], length * sizeof *whole);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int s = 0; s < size - 1 && !err; s++) {
        size_t outs, ins;
        ring_chunk(count, size, (rank - s + size) % size, &out, &outs);
        ring_chunk(count, size, (rank - s - 1 + size) % size, &in, &ins);
        err = p2p_sendrecv(comm, whole + out, length * sizeof *whole, right, 0, whole + in, ins * sizeof *whole, left,
                           0, P2P_STATUS_IGNORE);
    }
    return err;
}

static p2p_err forward_layer(p2p_comm *comm, const my_sharded_network *network, size_t layer)
{
    double *whole = malloc((network->counts[layer] + 1) * sizeof *whole);
    p2p_err err = whole ? gather(comm, network, layer, whole) : P2P_ERR_NOMEM;

    if (!err) network->forward(network, layer, whole);
    free(whole);
    return err;
}

static p2p_err backward_layer(p2p_comm *comm, const my_sharded_network *network, size_t layer)
{
    size_t count = network->counts[layer], first, length;
    double *whole = malloc((count + 1) * sizeof *whole), *gradient = malloc((count + 1) * sizeof *gradient);
    p2p_err err = whole && gradient ? gather(comm, network, layer, whole) : P2P_ERR_NOMEM;

    if (!err) network->backward(network, layer, whole, gradient);
    if (!err) err = ring_reduce_scatter(comm, gradient, count, DTYPE_F64, OP_MEAN, &first, &length);
    if (!err) memcpy(network->gradients[layer], gradient + first, length * sizeof *gradient);
    free(gradient);
    free(whole);
    return err;
}

p2p_err my_sharded_pass(p2p_comm *comm, const my_sharded_network *network)
{
    p2p_err err = P2P_OK;
    for (size_t l = 0; l < network->layers && !err; l++) err = forward_layer(comm, network, l);
    for (size_t l = network->layers; l > 0 && !err; l--) err = backward_layer(comm, network, l - 1);
    return err;
}
