/* SPDX-License-Identifier: MIT */
/*
 * compress: gradients in fewer bytes.
 *
 *      wire.c            f16 or bf16 instead of f32 (--wire)
 *      powersgd.c        two thin matrices for each large one (--compress powersgd:RANK)
 *      topk.c            the largest numbers only (--compress topk:SHARE)
 *      compress.c        which of them, and what all of them have
 *      feedback.c        what a checkpoint keeps of them
 *
 * Each leaves out a part of the gradient. Error feedback sends it later: what a step leaves out, the error, is added to
 * the gradient of the next one.
 *
 *      to send  =  gradient + error            sent  =  what can be sent of it            error  =  to send - sent
 *
 * Without it a number that is always too small to be sent would be lost for ever. Seide, Fu, Droppo, Li and Yu, "1-bit
 * stochastic gradient descent and its application to data-parallel distributed training of speech DNNs", 2014;
 * Karimireddy, Rebjock, Stich and Jaggi, "Error feedback fixes SignSGD and other gradient compression schemes", 2019.
 */
#ifndef PAIRWISE_TRAINER_COMPRESS_H
#define PAIRWISE_TRAINER_COMPRESS_H

#include "trainer/internal.h"

typedef struct train__compressor train__compressor;

/* gradients[first, first + count), whole tensors, become the sum of all ranks, as far as it is sent now; c->error the
 * rest of this rank's. */
typedef p2p_err train__compressed_reduce(train__compressor *c, float *gradients, size_t first, size_t count);

struct train__compressor {
    const train_model *model;
    p2p_comm *comm;
    const train_sync_options *options;
    train__compressed_reduce *reduce;
    float *error;     /* one for each parameter, of this rank */
    uint16_t *halves; /* --wire: what is sent, from memory that ranks share */
    /* powersgd.c; factors: the right one of each matrix as it was in the step before, the same on every rank. */
    float *factors, *left_factors, *right_factors;
    size_t factor_count, *factor_at; /* factor_at: of each tensor; TRAIN_NO_FACTOR: it is sent as it is */
    /* topk.c */
    uint32_t *bins;
    void *chosen; /* of this rank, then of all */
};

#define TRAIN_NO_FACTOR SIZE_MAX

/* NULL, and P2P_OK, if the options ask for nothing of the kind. *options outlives it. */
p2p_err train__compressor_open(const train_model *model, p2p_comm *comm, const train_sync_options *options,
                               train__compressor **compressor, train_error *error);
void train__compressor_close(train__compressor *c);

/* What is wrong with these settings, or NULL. */
const char *train__compress_problem(const train_compress *compress);

/* "f16", "powersgd:2", "topk:0.01"; "" if nothing is compressed. */
const char *train__compress_text(const train_compress *compress, char text[40]);

/* One of the names that train__compress_text gives, of --compress: false if there is none. */
bool train__compress_named(const char *text, train_compress *compress);

/* The all-reduce of the options. */
p2p_err train__add_up(const train_sync_options *options, p2p_comm *comm, void *buf, size_t count, enum dtype dtype);

/* wire.c: before and after an all-reduce of c->options->compress.wire, in c->halves + first. pack: `gradients` begins with
 * element `first`. */
void train__wire_pack(train__compressor *c, const float *gradients, size_t first, size_t count);
void train__wire_unpack(const train__compressor *c, float *gradients, size_t first, size_t count);
train__compressed_reduce train__wire_reduce;

/* powersgd.c, topk.c. open: memory beside c->error; false: none. */
bool train__powersgd_open(train__compressor *c);
train__compressed_reduce train__powersgd_reduce;
bool train__topk_open(train__compressor *c);
train__compressed_reduce train__topk_reduce;

/* Of a number of gradients, those that topk sends. */
size_t train__topk_chosen(size_t count, float share);

#endif
