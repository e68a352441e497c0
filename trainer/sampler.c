/* SPDX-License-Identifier: MIT */
/*
 * Which rank trains with which image, in which step. Twelve images, three ranks, two images a rank and step:
 *
 *      order of the epoch    7 2 9 0 | 4 11 1 8 | ...          a permutation from (seed, epoch), the same on every rank
 *      position              0 1 2 3   4  5 6 7
 *      rank                  0 1 2 0   1  2 0 1                position mod 3
 *
 *      step 0 takes positions 0 to 5: rank 0 has 7 and 0, rank 1 has 2 and 4, rank 2 has 9 and 11
 *
 * So a step takes the same images whatever the number of ranks, as long as ranks times batch is the same.
 */
#include "trainer/internal.h"
#include "trainer/twister.h"

/* Fisher and Yates, from the front, as torch.randperm after manual_seed(seed + epoch), with DistributedSampler's epochs
 * from 0: the same order. */
void train_epoch_order(size_t count, uint64_t seed, uint64_t epoch, bool shuffle, size_t order[])
{
    train_twister twister;
    train__twister(&twister, seed + epoch - 1);
    for (size_t i = 0; i < count; i++) order[i] = i;
    for (size_t i = 0; shuffle && i + 1 < count; i++) {
        size_t chosen = i + train__twister_bits(&twister) % (count - i), other = order[i];
        order[i] = order[chosen];
        order[chosen] = other;
    }
}

size_t train_shard(size_t count, int rank, int size, size_t mine[])
{
    size_t taken = 0;
    for (size_t i = (size_t)rank; i < count; i += (size_t)size) mine[taken++] = i;
    return taken;
}

p2p_err train__check_share(const size_t mine[], size_t share, size_t count, int rank, train_error *error)
{
    if (share > count)
        return train__fail(error, P2P_ERR_ARG, "the sampler gave rank %d %zu of %zu images", rank, share, count);
    for (size_t i = 0; i < share; i++)
        if (mine[i] >= count)
            return train__fail(error, P2P_ERR_ARG, "the sampler gave rank %d position %zu of %zu", rank, mine[i],
                               count);
    return P2P_OK;
}
