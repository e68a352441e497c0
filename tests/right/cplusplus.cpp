// SPDX-License-Identifier: MIT
// A C++ program: messages, requests, the collectives, and a collective of its own, each over the public headers.
#include <cstdio>
#include <vector>

#include "collectives/collectives.h"
#include "dtype/dtype.h"
#include "p2p/p2p.h"
#include "p2p/p2p_layer.h"
#include "ring/ring.h"

namespace
{

// Round the ring, each rank's number once: what this rank has from its left.
int from_left(p2p_comm *world, int rank, int size)
{
    int got = -1;
    p2p_status status;
    p2p_request request = P2P_REQUEST_NULL;
    p2p_irecv(world, &got, sizeof got, (rank + size - 1) % size, P2P_ANY_TAG, &request);
    p2p_send(world, &rank, sizeof rank, (rank + 1) % size, 7);
    p2p_wait(&request, &status);
    return status.tag == 7 && status.bytes == sizeof got && request == P2P_REQUEST_NULL ? got : -1;
}

bool add_up(p2p_comm *world, int rank, int size)
{
    std::vector<float> values(1000, static_cast<float>(rank)), ring(values);
    const float sum = static_cast<float>(size * (size - 1) / 2);
    p2p_request request;
    coll_all_reduce(world, values.data(), values.size(), DTYPE_F32, OP_SUM);
    ring_iall_reduce(world, ring.data(), ring.size(), DTYPE_F32, OP_SUM, &request);
    p2p_wait_all(1, &request, P2P_STATUSES_IGNORE);
    for (std::size_t i = 0; i < values.size(); i++)
        if (values[i] < sum || values[i] > sum || ring[i] < sum || ring[i] > sum) return false;
    return true;
}

p2p_err tell_all(p2p_comm *world, int *number, int root)
{
    p2p_fingerprint what = p2p_fingerprint();
    what.operation = "tell_all";
    what.count = 1;
    what.root = root;
    p2p_err err = p2p_layer_begin(world, &what);
    if (err) return err;
    for (int q = 0; !err && q < p2p_size(world); q++)
        if (p2p_rank(world) == root && q != root) err = p2p_layer_send(world, number, sizeof *number, q, 0);
    if (!err && p2p_rank(world) != root)
        err = p2p_layer_recv(world, number, sizeof *number, root, 0, P2P_STATUS_IGNORE);
    return p2p_layer_end(world, err);
}

} // namespace

int main()
{
    p2p_comm *world = nullptr;
    if (p2p_init(&world) != P2P_OK) return 1;
    const int rank = p2p_rank(world), size = p2p_size(world);
    int told = rank == 0 ? 42 : 0;
    const bool right = from_left(world, rank, size) == (rank + size - 1) % size && add_up(world, rank, size) &&
                       tell_all(world, &told, 0) == P2P_OK && told == 42;
    if (right && rank == 0) std::printf("%d ranks: messages, requests, collectives and a layer are right\n", size);
    return p2p_finalize(world) == P2P_OK && right ? 0 : 1;
}
