/* SPDX-License-Identifier: MIT */
/* Which compression; the memory of all of them. */
#include "trainer/compress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK_MOST = 64 };

/* ---- Names ---- */

const char *train__compress_problem(const train_compress *c)
{
    if (c->wire != DTYPE_F32 && c->wire != DTYPE_F16 && c->wire != DTYPE_BF16)
        return "--wire: gradients travel as f32, f16 or bf16";
    if ((unsigned)c->method > TRAIN_TOPK) return "--compress: there is no such method";
    if (c->method && c->wire != DTYPE_F32) return "--wire and --compress: one of them";
    if (c->method == TRAIN_POWERSGD && (c->rank < 1 || c->rank > RANK_MOST))
        return "--compress powersgd:RANK: a whole number from 1 to 64";
    if (c->method == TRAIN_TOPK && !(c->share > 0 && c->share <= 1))
        return "--compress topk:SHARE: a number from above 0 to 1, such as 0.01";
    return NULL;
}

const char *train__compress_text(const train_compress *c, char text[40])
{
    text[0] = 0;
    if (c->wire != DTYPE_F32) snprintf(text, 40, "%s", dtype_name(c->wire));
    if (c->method == TRAIN_POWERSGD) snprintf(text, 40, "powersgd:%d", c->rank);
    if (c->method == TRAIN_TOPK) snprintf(text, 40, "topk:%g", (double)c->share);
    return text;
}

bool train__compress_named(const char *text, train_compress *c)
{
    train_compress named = {.wire = c->wire};
    const char *number = strchr(text, ':');
    char *end;
    if (!number++) return false;
    double value = strtod(number, &end);
    if (end == number || *end || !(value >= 0 && value <= RANK_MOST)) return false;
    named.method = strncmp(text, "powersgd:", 9) == 0 ? TRAIN_POWERSGD : TRAIN_TOPK;
    named.rank = (int)value;
    named.share = (float)value;
    if (named.method == TRAIN_TOPK && strncmp(text, "topk:", 5) != 0) return false;
    if (named.method == TRAIN_POWERSGD && value - named.rank > 0) return false;
    *c = named;
    return true;
}

/* ---- Memory ---- */

static bool open_method(train__compressor *c)
{
    const train_compress *how = &c->options->compress;
    c->error = calloc(c->model->parameters, sizeof *c->error);
    if (!c->error) return false;
    if (how->method == TRAIN_POWERSGD) return train__powersgd_open(c);
    if (how->method == TRAIN_TOPK) return train__topk_open(c);
    void *halves = NULL;
    p2p_err err = p2p_alloc(c->comm, c->model->parameters * sizeof *c->halves, &halves);
    c->halves = halves;
    c->reduce = train__wire_reduce;
    return !err;
}

p2p_err train__compressor_open(const train_model *model, p2p_comm *comm, const train_sync_options *options,
                               train__compressor **compressor, train_error *error)
{
    const train_compress *how = &options->compress;
    const char *problem = train__compress_problem(how);
    if (problem) return train__fail(error, P2P_ERR_ARG, "%s", problem);
    if (!how->method && how->wire == DTYPE_F32) return P2P_OK;
    train__compressor *c = calloc(1, sizeof *c);
    if (c) *c = (train__compressor){.model = model, .comm = comm, .options = options};
    if (c && open_method(c)) {
        *compressor = c;
        return P2P_OK;
    }
    train__compressor_close(c);
    return train__fail(error, P2P_ERR_NOMEM, "no memory to compress gradients");
}

void train__compressor_close(train__compressor *c)
{
    if (!c) return;
    free(c->error);
    if (c->halves) p2p_release(c->comm, c->halves);
    free(c->factors);
    free(c->left_factors);
    free(c->right_factors);
    free(c->factor_at);
    free(c->bins);
    free(c->chosen);
    free(c);
}

p2p_err train__add_up(const train_sync_options *o, p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    if (o->reducer) return o->reducer->all_reduce(o->reducer->arg, comm, buf, count, dtype, OP_SUM);
    return o->all_reduce ? o->all_reduce(comm, buf, count, dtype, OP_SUM) : P2P_OK;
}
