/* SPDX-License-Identifier: MIT */
/*
 * --timeline: where a step's time went, by rank, to scale:
 *
 *      step 3, 412 ms
 *        rank 0 |fffffffffffbbbbbbbbbbbbbbbbbbbbbbbsssoo.....|
 *                forward 110  backward 230  sync 31  optimiser 18 ms
 *        rank 1 |ffffffffffffbbbbbbbbbbbbbbbbbbbbbbbssoo.....|
 *                forward 121  backward 234  sync 17  optimiser 18 ms
 *
 * sync is what was still waited for once the backward pass had ended; a point is anything else.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "trainer/run.h"

enum { WIDTH = 60, PHASES = 4, NUMBERS = PHASES + 2 };

static void draw(char line[WIDTH + 1], const double numbers[NUMBERS], double longest)
{
    static const char letters[PHASES] = {'f', 'b', 's', 'o'};
    double at = 0;
    memset(line, ' ', WIDTH);
    line[WIDTH] = '\0';
    for (int column = 0; column < (int)(WIDTH * numbers[PHASES] / longest + 0.5) && column < WIDTH; column++)
        line[column] = '.';
    for (int phase = 0; phase < PHASES; phase++) {
        double end = at + WIDTH * numbers[phase] / longest;
        for (int column = (int)(at + 0.5); column < (int)(end + 0.5) && column < WIDTH; column++)
            line[column] = letters[phase];
        at = end;
    }
}

static void print_all(const train_runner *r, uint64_t step, const double *all)
{
    double longest = 1e-9;
    char line[WIDTH + 1];
    for (int rank = 0; rank < r->size; rank++)
        if (all[rank * NUMBERS + PHASES] > longest) longest = all[rank * NUMBERS + PHASES];
    printf("step %" PRIu64 ", %.0f ms\n", step, longest * 1e3);
    for (int rank = 0; rank < r->size; rank++) {
        const double *n = all + rank * NUMBERS;
        draw(line, n, longest);
        printf("  rank %d |%s|\n          forward %.1f  backward %.1f  sync %.1f  optimiser %.1f ms; copied %.1f KB\n",
               rank, line, n[0] * 1e3, n[1] * 1e3, n[2] * 1e3, n[3] * 1e3, n[PHASES + 1] / 1e3);
    }
    fflush(stdout);
}

p2p_err train__timeline(train_runner *r, const train_step_report *s)
{
    double mine[NUMBERS] = {s->forward, s->backward, s->sync, s->optimizer, s->seconds, (double)s->copied};
    double *all = calloc((size_t)r->size * NUMBERS, sizeof *all);
    if (!all) return train__fail(r->error, P2P_ERR_NOMEM, "no memory for a timeline");
    p2p_err err = train__comm(r->comm, r->error, coll_all_gather(r->comm, mine, all, NUMBERS, DTYPE_F64));
    if (!err && r->rank == 0) print_all(r, s->step, all);
    free(all);
    return err;
}
