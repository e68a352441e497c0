/* SPDX-License-Identifier: MIT */
/* internal: what the files of the trainer share. */
#ifndef PAIRWISE_TRAINER_INTERNAL_H
#define PAIRWISE_TRAINER_INTERNAL_H

#include "trainer/trainer.h"

/* Write the message into *error, unless error is NULL. */
void train__explain(train_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, and return err: a macro, so that compilers and `make lint` see which error comes back, and that it is
 * one. */
#define train__fail(error, err, ...) (train__explain((error), __VA_ARGS__), (p2p_err)(err))

/* Pass err on; if it is one, *error says what the communicator says. */
p2p_err train__comm(p2p_comm *comm, train_error *error, p2p_err err);

/* A sampler may be the user's own: are all `share` positions below count? If not, *error says which rank's is not. */
p2p_err train__check_share(const size_t mine[], size_t share, size_t count, int rank, train_error *error);

/* train_find_nonfinite of this rank alone, where no other takes part. */
p2p_err train__find_nonfinite_alone(int rank, const train_model *model, const float *gradients, train_error *error);

/* What compresses the gradients; NULL: nothing. */
struct train__compressor *train__sync_compressor(const train_sync *sync);

/* Piece i of the gradients, as they go in the background; false: there are not so many. */
bool train__sync_piece(const train_sync *sync, size_t i, size_t *first, size_t *count);

bool train__all_finite(const float *at, size_t count);

/* The buckets of a replica. */
train_sync *train__replica_sync(train_data_parallel *replica);

#endif
