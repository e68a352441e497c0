/* SPDX-License-Identifier: MIT */
/* What the figures of a comparison mean, in words: comparison_explain. */
#include <stdio.h>
#include <string.h>

#include "bench/util/bandwidth.h"
#include "bench/util/comparison.h"
#include "collectives/collectives.h"

static void explain_columns(const comparison *c)
{
    printf(
        "# algbw is size / time: what the program sees; busbw is algbw x 2(n-1)/n = %.3f: what the busiest link must "
        "carry at least,\n#     to be compared with the hardware, whatever the number of ranks. GB are 1e9 bytes.\n",
        bandwidth_all_reduce_factor(c->ranks));
    printf(
        "# msgs and bytes: payload that the busiest rank sends in one operation. x naive: how many times as fast.\n");
    if (c->network)
        printf("# time is virtual, on %s, the same on every machine; wall is what it took here.\n", c->network);
    else if (c->ranks > costs_cores())
        printf("# %d ranks share %d cores.\n", c->ranks, costs_cores());
}

/* The table that the plain names choose from. */
static void explain_choices(const comparison *c)
{
    bool shared = !c->network && strcmp(c->world, "shm") == 0;
    size_t rows;
    const coll_choice *choices = coll_choices(&rows);

    printf("#\n# auto took");
    for (size_t s = 0; s < c->size_count; s++)
        printf("%s %s (%zu B)", s ? "," : "",
               coll_choose_placed("all_reduce", shared, c->hosts > 1 ? c->hosts : 1, c->ranks, c->bytes[s]),
               c->bytes[s]);
    printf("\n# auto is what coll_all_reduce takes: of these rows the last whose ranks and bytes are both reached.\n"
           "#     %-12s %-8s %6s %10s  %s\n",
           "operation", "world", "ranks", "bytes", "algorithm");
    for (size_t i = 0; i < rows; i++)
        printf("#     %-12s %-8s %6d %10zu  %s\n", choices[i].operation,
               choices[i].hosts    ? choices[i].shared ? "shm hosts" : "hosts"
               : choices[i].shared ? "shm"
                                   : "any",
               choices[i].ranks, choices[i].bytes, choices[i].algorithm);
}

static double GBps_of(const costs_curve *curve, int size)
{
    return bandwidth_GBps(costs_sizes[size], curve->median[size]);
}

static void explain_limits(const comparison *c, size_t last)
{
    const limits *l = &c->limits[last];

    printf(
        "# limit, measured in this run: a cache line to another core (%.3f us), and each of the n-1 sums and copies of "
        "the\n#     buffer by a core of its own, if there is one (%zu B: sum %.2f GB/s, memcpy %.2f GB/s).\n",
        l->line_us, c->bytes[last], bandwidth_GBps(c->bytes[last], l->sum_us),
        bandwidth_GBps(c->bytes[last], l->copy_us));
}

static void explain_costs(const comparison *c)
{
    const costs *k = &c->costs;

    printf("#\n# The model is fitted from ping-pong between the rounds: a message takes %.2f us and %.2f GB/s (%zu B), "
           "%.2f "
           "GB/s (%zu B);\n",
           k->message.median[0], GBps_of(&k->message, 3), costs_sizes[3], GBps_of(&k->message, 5), costs_sizes[5]);
    if (!k->is_virtual)
        printf("#     with all cores busy each takes a core for %.2f us and %.2f GB/s (%zu B), %.2f GB/s (%zu B);\n",
               k->work.median[0], GBps_of(&k->work, 3), costs_sizes[3], GBps_of(&k->work, 5), costs_sizes[5]);
    printf("#     combining %.2f GB/s (%zu B)", GBps_of(&k->combine, 5), costs_sizes[5]);
    if (!k->is_virtual) printf("; %.1f us until all ranks have left a barrier and begun", k->begin);
    printf(".\n");
    if (k->is_virtual)
        printf("#     Predicted is the critical path: the longest chain of messages and combinations.\n");
    else
        printf("#     Predicted is that beginning and the larger of the critical path and all ranks' work divided by "
               "%d core%s.\n",
               k->cores, k->cores == 1 ? "" : "s");
}

static const char *what_binds(const model_time *t)
{
    return t->work_us > t->path_us ? "work" : "path";
}

static void explain_algorithms(const comparison *c, size_t last)
{
    for (size_t a = 0; a < c->algorithm_count; a++) {
        const comparison_cell *cell = &c->cells[last][a];
        if (!cell->has_model) continue;
        printf("#     %-9s %zu B: path %.0f us", c->algorithms[a], c->bytes[last], cell->model.path_us);
        if (!c->network) printf(", work %.0f us: the %s decides", cell->model.work_us, what_binds(&cell->model));
        printf("; predicted %.0f us, measured %.0f us\n", cell->model.us, comparison_time_us(c, last, a));
    }
}

/* n buffers against 2(n-1)/n at the busiest port: n/2; and n in time, because the hub first receives and then sends. */
static void explain_ring_on_network(const comparison *c, double measured)
{
    int n = c->ranks;

    printf("# The ring's factor over naive is %.2f here. Every rank has ports of its own, so the busiest one decides. "
           "Naive's\n"
           "#     hub receives %d buffers and then sends %d; in the ring each rank sends 2(n-1)/n = %.2f buffers while "
           "it\n"
           "#     receives as much. By bytes sent that is a factor of n/2 = %.1f; and because the hub cannot begin to "
           "send\n"
           "#     before it has received, towards n = %d in time, as the buffer grows and latency and combining lose "
           "weight.\n",
           measured, n - 1, n - 1, bandwidth_all_reduce_factor(n), n / 2.0, n);
}

static void explain_ring_on_machine(const comparison *c, double measured)
{
    int n = c->ranks, cores = c->costs.cores;

    printf(
        "# The ring's factor over naive is %.2f here, not n/2 = %.1f. The n/2 is that of the busiest rank's bytes: "
        "naive's hub\n"
        "#     sends n-1 = %d buffers, a rank of the ring 2(n-1)/n = %.2f. It needs a core and a link for every rank. "
        "Here\n"
        "#     a link is memory, copied by the cores, and %d rank%s share %d core%s: what counts is what all ranks "
        "copy\n"
        "#     together, and that is 2(n-1) = %d buffers for both. Naive does it in 2(n-1) = %d messages, the ring in\n"
        "#     2n(n-1) = %d smaller ones: more to wake up and wait for. What the ring wins is that all cores copy and\n"
        "#     combine at once, pieces that fit into caches. On a virtual network (--network 10GbE) it is as in the "
        "books.\n",
        measured, n / 2.0, n - 1, bandwidth_all_reduce_factor(n), n, n == 1 ? "" : "s", cores, cores == 1 ? "" : "s",
        2 * (n - 1), 2 * (n - 1), 2 * n * (n - 1));
}

/* What decides on hosts: the bytes through the one port that each has. */
static void explain_hosts(const comparison *c, size_t last)
{
    double n = c->ranks, hosts = c->hosts;

    printf("#\n# The ranks live on %d hosts, numbered %s. Bytes that left the host with the most (%zu B):\n", c->hosts,
           c->dealt ? "round them, one on each in turn" : "host by host", c->bytes[last]);
    for (size_t a = 0; a < c->algorithm_count; a++)
        printf("#     %-18s %.3f buffers, in %.0f us\n", c->algorithms[a],
               (double)c->cells[last][a].left / (double)c->bytes[last], comparison_time_us(c, last, a));
    printf(
        "# A ring sends 2(n-1)/n = %.3f buffers over each pair of neighbours on two hosts: one pair for each host, if "
        "ranks are\n"
        "#     numbered host by host, and one for each rank, if they are dealt out (--deal). Hierarchical combines "
        "within the\n"
        "#     hosts first, so that 2(H-1)/H = %.3f leave each, however ranks are numbered: the least that can.\n",
        2 * (n - 1) / n, 2 * (hosts - 1) / hosts);
}

void comparison_explain(const comparison *c)
{
    int ring = comparison_find(c, "ring"), naive = comparison_find(c, "naive");
    size_t last = c->size_count - 1;

    explain_columns(c);
    if (!c->network && c->ranks > 1) explain_limits(c, last);
    if (comparison_find(c, "auto") != COMPARISON_NONE) explain_choices(c);
    if (c->hosts > 1) explain_hosts(c, last);
    if (!c->has_costs) return;
    explain_costs(c);
    explain_algorithms(c, last);
    if (ring == COMPARISON_NONE || naive == COMPARISON_NONE || c->ranks < 2) return;
    (c->network ? explain_ring_on_network : explain_ring_on_machine)(c, comparison_factor(c, last, (size_t)ring));
}
