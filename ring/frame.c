/* SPDX-License-Identifier: MIT */
/* The frame of every call: checks, agreement, memory. */
#include <stdlib.h>

#include "ring/internal.h"

static const char *problem(const ring_call *ring, p2p_argument *argument)
{
    const char *unfit = dtype_problem(ring->dtype, ring->combines ? ring->op : OP_SUM);
    size_t bytes;
    *argument = P2P_ARGUMENT_OTHER;
    if (ring->wrong) return ring->wrong;
    if (unfit) *argument = dtype_problem(ring->dtype, OP_SUM) ? P2P_ARGUMENT_TYPE : P2P_ARGUMENT_OPERATOR;
    if (unfit) return unfit;
    *argument = P2P_ARGUMENT_OPERATOR;
    if (ring->combines && !op_commutes(ring->op))
        return "the operator does not commute, and the ring combines in another order than that of the ranks\n"
               "  try: coll_all_reduce, which keeps it";
    *argument = P2P_ARGUMENT_COUNT;
    if (!dtype_bytes(ring->count, ring->dtype, &bytes))
        return "no buffer has so many elements\n  try: was a negative count passed?";
    *argument = P2P_ARGUMENT_BUFFER;
    return bytes && !ring->buf ? "the buffer is NULL, but its count is not 0" : NULL;
}

p2p_err ring__begin(ring_call *ring)
{
    p2p_fingerprint what = {.operation = ring->operation,
                            .count = ring->count,
                            .dtype = dtype_name(ring->dtype),
                            .op = ring->combines ? op_name(ring->op) : NULL,
                            .root = -1,
                            .late = true};
    ring->rank = p2p_rank(ring->comm);
    ring->size = p2p_size(ring->comm);
    if (!ring->size) return p2p_layer_begin(ring->comm, &what); /* no usable communicator: the layer says why */
    p2p_argument argument;
    const char *wrong = problem(ring, &argument);
    if (wrong) return p2p_layer_refuse_argument(ring->comm, &what, P2P_ERR_ARG, argument, wrong);
    ring->left = (ring->rank - 1 + ring->size) % ring->size;
    ring->right = (ring->rank + 1) % ring->size;
    ring->element = dtype_size(ring->dtype);
    return p2p_layer_begin(ring->comm, &what);
}

p2p_err ring__memory(ring_call *ring)
{
    size_t longest = (ring__chunk(ring, 0).bytes + 63) / 64 * 64;
    if (!longest) return P2P_OK;
    ring->memory = malloc(2 * longest);
    if (!ring->memory)
        return p2p_layer_error(ring->comm, P2P_ERR_NOMEM, "no memory for two chunks of %zu bytes", longest);
    ring->travelling = ring->memory;
    ring->arriving = ring->travelling + longest;
    return P2P_OK;
}

p2p_err ring__end(ring_call *ring, p2p_err err)
{
    if (err == P2P_ERR_TRUNCATE) { /* of another collective's message: the mismatch says more */
        p2p_err disagreement = p2p_layer_agree(ring->comm);
        if (disagreement) err = disagreement;
    }
    free(ring->memory);
    return p2p_layer_end(ring->comm, err);
}
