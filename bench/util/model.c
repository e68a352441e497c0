/* SPDX-License-Identifier: MIT */
#include "bench/util/model.h"

#include <string.h>

/* One kind of step: so many follow each other, so many are made by all ranks together; bytes of one. */
typedef struct {
    double bytes;
    double messages_path, combines_path, messages_all, combines_all;
} steps;

static int log2_down(int n)
{
    int log = 0;

    while (n >> (log + 1)) log++;
    return log;
}

static steps naive_steps(int n, double bytes)
{
    double others = n - 1;

    return (steps){bytes, 2 * others, others, 2 * others, others};
}

static steps tree_steps(int n, double bytes)
{
    int depth = log2_down(n) + (n > 1 << log2_down(n));

    return (steps){bytes, 2 * depth, depth, 2.0 * (n - 1), n - 1};
}

static steps doubling_steps(int n, double bytes)
{
    int rounds = log2_down(n), power = 1 << rounds, extra = n - power;
    double exchanges = power * rounds;

    return (steps){bytes, rounds + 2.0 * (extra > 0), rounds + (extra > 0), exchanges + 2 * extra, exchanges + extra};
}

static steps ring_steps(int n, double bytes)
{
    double others = n - 1;

    return (steps){bytes / n, 2 * others, others, 2 * n * others, n * others};
}

static const struct {
    const char *name;
    steps (*count)(int n, double bytes);
} algorithms[] = {
    {"naive", naive_steps}, {"tree", tree_steps}, {"recursive-doubling", doubling_steps}, {"ring", ring_steps}};

/* The hub of a virtual network combines while it receives, so only the last combination or message counts. */
static double virtual_naive(int n, double message, double combine)
{
    if (n < 2) return 0;
    double slower = message > combine ? message : combine, quicker = message > combine ? combine : message;
    return (n - 1) * message + (n - 1) * slower + quicker;
}

static model_time predict(const costs *c, const steps *s, int ranks)
{
    double message = costs_us(&c->message, s->bytes), combine = costs_us(&c->combine, s->bytes);
    double work = ranks <= c->cores ? message : costs_us(&c->work, s->bytes);
    model_time t = {.path_us = s->messages_path * message + s->combines_path * combine};

    if (!c->is_virtual) t.work_us = (s->messages_all * work + s->combines_all * combine) / c->cores;
    t.us = c->begin + (t.path_us > t.work_us ? t.path_us : t.work_us);
    return t;
}

bool model_all_reduce(const costs *c, const char *algorithm, int ranks, size_t bytes, model_time *time)
{
    size_t i = 0, count = sizeof algorithms / sizeof *algorithms;

    while (i < count && strcmp(algorithms[i].name, algorithm) != 0) i++;
    if (i == count) return false;
    steps s = algorithms[i].count(ranks, (double)bytes);
    *time = predict(c, &s, ranks);
    if (c->is_virtual && algorithms[i].count == naive_steps) {
        time->path_us = virtual_naive(ranks, costs_us(&c->message, s.bytes), costs_us(&c->combine, s.bytes));
        time->us = time->path_us;
    }
    return true;
}
