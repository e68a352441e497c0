/* SPDX-License-Identifier: MIT */
// what: the shares begin with image 1
// expect: Image 0 of 21 is taken by no rank
// expect: both counted from 0
#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_first_weights(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    return coll_broadcast(comm, buf, count, dtype, root);
}

size_t my_share_of_images(size_t count, int rank, int size, size_t mine[])
{
    size_t used = 0;

    for (size_t at = (size_t)rank + 1; at < count; at += (size_t)size) mine[used++] = at;
    return used;
}

p2p_err my_gradient_sum(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return ring_all_reduce(comm, buf, count, dtype, op);
}

p2p_err my_whole_score(p2p_comm *comm, my_score *score)
{
    int64_t counts[2] = {score->correct, score->total};
    p2p_err err = coll_all_reduce(comm, counts, 2, DTYPE_I64, OP_SUM);

    if (!err) err = coll_all_reduce(comm, &score->loss, 1, DTYPE_F64, OP_SUM);
    score->correct = counts[0];
    score->total = counts[1];
    return err;
}
