/* SPDX-License-Identifier: MIT */
// what: keeps all layers in an array on the stack, of a fixed length
// expect: The variables of my_sharded_pass need
// expect: what lies on the stack is not counted
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "ring/ring.h"

/* All weights of a layer, from every rank's chunk, in `whole`. */
static p2p_err gather(p2p_comm *comm, const my_sharded_network *network, size_t layer, double *whole)
{
    // TODO: this rank's chunk to its place in whole, then those of the others.
    // stub: (void)comm, (void)network, (void)layer, (void)whole;
    // stub: return P2P_ERR_TODO;
    size_t first, length;
    ring_chunk(network->counts[layer], p2p_size(comm), p2p_rank(comm), &first, &length);
    memcpy(whole + first, network->weights[layer], length * sizeof *whole);
    return ring_all_gather(comm, whole, network->counts[layer], DTYPE_F64);
    // END TODO
}

static p2p_err backward_layer(p2p_comm *comm, const my_sharded_network *network, size_t layer)
{
    // TODO: room for the layer and its gradient; gather; backward; this rank's chunk of the mean gradient.
    // stub: (void)comm, (void)network, (void)layer;
    // stub: return P2P_ERR_TODO;
    size_t count = network->counts[layer], first, length;
    double *whole = malloc((count + 1) * sizeof *whole), *gradient = malloc((count + 1) * sizeof *gradient);
    p2p_err err = whole && gradient ? gather(comm, network, layer, whole) : P2P_ERR_NOMEM;

    if (!err) network->backward(network, layer, whole, gradient);
    if (!err) err = ring_reduce_scatter(comm, gradient, count, DTYPE_F64, OP_MEAN, &first, &length);
    if (!err) memcpy(network->gradients[layer], gradient + first, length * sizeof *gradient);
    free(gradient);
    free(whole);
    return err;
    // END TODO
}

p2p_err my_sharded_pass(p2p_comm *comm, const my_sharded_network *network)
{
    p2p_err err = P2P_OK;
    double all[16][256];
    for (size_t l = 0; l < network->layers && !err; l++) err = gather(comm, network, l, all[l]);
    for (size_t l = 0; l < network->layers && !err; l++) network->forward(network, l, all[l]);
    for (size_t l = network->layers; l > 0 && !err; l--) err = backward_layer(comm, network, l - 1);
    return err;
}
