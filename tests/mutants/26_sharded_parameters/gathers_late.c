/* SPDX-License-Identifier: MIT */
// what: gathers after backward
// expect: it was called before the layer was gathered for it
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "ring/ring.h"

/* All weights of a layer, from every rank's chunk, in `whole`. */
static p2p_err gather(p2p_comm *comm, const my_sharded_network *network, size_t layer, double *whole)
{
    size_t first, length;
    ring_chunk(network->counts[layer], p2p_size(comm), p2p_rank(comm), &first, &length);
    memcpy(whole + first, network->weights[layer], length * sizeof *whole);
    return ring_all_gather(comm, whole, network->counts[layer], DTYPE_F64);
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
    p2p_err err = whole && gradient ? P2P_OK : P2P_ERR_NOMEM;

    if (!err) network->backward(network, layer, whole, gradient);
    if (!err) err = gather(comm, network, layer, whole);
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
