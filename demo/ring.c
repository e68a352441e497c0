/* SPDX-License-Identifier: MIT */
/*
 * demo-ring: the ranks stand in a ring, a box each with its buffer in chunks; in every step each box sends one chunk to
 * the next. The number in a chunk says how many ranks' parts are in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo/demo.h"

enum { MOST = 8, BOX_HEIGHT = 4, TOP = 4, BOTTOM = 14, FRAMES = 14 };

typedef struct {
    int x, y, width;
} box;

/* The show: the run, and what is in the buffers so far. */
typedef struct {
    const replay_trace *trace;
    demo_part part;
    int n, step;
    unsigned sets[MOST][MOST], fresh[MOST][MOST]; /* ranks whose parts are in; changed in this step */
    double sent[MOST];
} show;

/* ---- Where things are: half of the ranks above, from left to right, the others below, back again ---- */

static box place_in_row(int i, int count, int y)
{
    int width = count > 3 ? 13 : 18, room = SCREEN_WIDTH - 4;
    if (count == 1) return (box){2, y, room};
    return (box){2 + i * (room - width) / (count - 1), y, width};
}

static box box_of(const show *s, int rank)
{
    int above = (s->n + 1) / 2;
    if (rank < above) return place_in_row(rank, above, TOP);
    return place_in_row(s->n - 1 - rank, s->n - above, BOTTOM);
}

/* ---- Drawing ---- */

static enum style style_of(const show *s, unsigned set)
{
    unsigned all = (1u << s->n) - 1;
    return set == all ? STYLE_WHOLE : (set & (set - 1)) ? STYLE_PART : STYLE_OWN;
}

static void draw_buffer(const show *s, int rank, box at)
{
    int each = (at.width - 2) / s->n < 4 ? (at.width - 2) / s->n : 4;
    int x = at.x + (at.width - each * s->n) / 2;
    for (int c = 0; c < s->n; c++) {
        unsigned set = s->sets[rank][c];
        for (int i = 0; i < each - (each > 1); i++) screen_put(x + c * each + i, at.y + 2, style_of(s, set), " ");
        screen_put(x + c * each + (each - 1) / 2, at.y + 2, style_of(s, set), "%d", __builtin_popcount(set));
    }
}

static void draw_box(const show *s, int rank)
{
    box at = box_of(s, rank);
    for (int i = 1; i < at.width - 1; i++) {
        screen_put(at.x + i, at.y, STYLE_PLAIN, "─");
        screen_put(at.x + i, at.y + BOX_HEIGHT - 1, STYLE_PLAIN, "─");
    }
    for (int i = 1; i < BOX_HEIGHT - 1; i++) {
        screen_put(at.x, at.y + i, STYLE_PLAIN, "│");
        screen_put(at.x + at.width - 1, at.y + i, STYLE_PLAIN, "│");
    }
    screen_put(at.x, at.y, STYLE_PLAIN, "┌");
    screen_put(at.x + at.width - 1, at.y, STYLE_PLAIN, "┐");
    screen_put(at.x, at.y + BOX_HEIGHT - 1, STYLE_PLAIN, "└");
    screen_put(at.x + at.width - 1, at.y + BOX_HEIGHT - 1, STYLE_PLAIN, "┘");
    screen_put(at.x + at.width / 2 - 3, at.y + 1, STYLE_STRONG, "rank %d", rank);
    draw_buffer(s, rank, at);
}

/* The way from a rank to the next: where it begins, which way it goes, how long it is. */
typedef struct {
    int x, y, dx, dy, length;
} way;

static way way_from(const show *s, int rank)
{
    int above = (s->n + 1) / 2;
    box from = box_of(s, rank), to = box_of(s, (rank + 1) % s->n);
    if (rank == above - 1) return (way){SCREEN_WIDTH - 8, TOP + BOX_HEIGHT, 0, 1, BOTTOM - TOP - BOX_HEIGHT};
    if (rank == s->n - 1) return (way){7, BOTTOM - 1, 0, -1, BOTTOM - TOP - BOX_HEIGHT};
    if (rank < above) return (way){from.x + from.width, TOP + 2, 1, 0, to.x - from.x - from.width};
    return (way){from.x - 1, BOTTOM + 2, -1, 0, from.x - to.x - to.width};
}

static void draw_way(way w)
{
    const char *line = w.dx ? "─" : "│", *head = w.dx > 0 ? "▶" : w.dx ? "◀" : w.dy > 0 ? "▼" : "▲";
    for (int i = 0; i < w.length; i++)
        screen_put(w.x + i * w.dx, w.y + i * w.dy, STYLE_FAINT, "%s", i < w.length - 1 ? line : head);
}

static void draw_travelling(const show *s, const demo_step *step, double share)
{
    way w = way_from(s, step->message->from);
    int i = (int)(share * (w.length - 1) + 0.5);
    enum style style = step->message->combined ? STYLE_SENT : STYLE_KEPT;
    screen_put(w.x + i * w.dx - 1, w.y + i * w.dy, style, "[%.0f]", step->message->chunk);
}

static void draw_words(const show *s)
{
    char size[32], sent[32], all[32], hub[32];
    bool first = s->step <= s->n - 1;
    screen_put(2, 0, STYLE_STRONG, "ring all-reduce: %d ranks, each with a buffer of %s in %d chunks", s->n,
               demo_bytes(s->part.bytes, size), s->n);
    if (s->step == 0)
        screen_put(2, 1, STYLE_PLAIN, "every rank has its own numbers; wanted: the sums of all, everywhere");
    else
        screen_put(2, 1, STYLE_PLAIN, "step %d of %d: %s", s->step, s->part.last,
                   first ? "what arrives is added to what is there" : "complete chunks go round, and are kept");
    screen_put(2, 19, STYLE_PLAIN, "a digit: how many ranks' parts are in that chunk;  [2]: chunk 2 on its way");
    screen_put(2, 21, STYLE_PLAIN, "sent by each rank so far: %s", demo_bytes(s->sent[0], sent));
    screen_put(2, 22, STYLE_PLAIN, "in all: %s, 2(n-1)/n of the buffer; naive's hub would send %s",
               demo_bytes(2 * s->part.bytes * (s->n - 1) / s->n, all), demo_bytes(s->part.bytes * (s->n - 1), hub));
}

static void draw(const show *s, double share)
{
    screen_clear();
    draw_words(s);
    for (int rank = 0; rank < s->n; rank++) draw_way(way_from(s, rank));
    for (size_t i = 0; i < s->part.count && share >= 0; i++)
        if (s->part.steps[i].arrival == s->step) draw_travelling(s, &s->part.steps[i], share);
    for (int rank = 0; rank < s->n; rank++) draw_box(s, rank);
    screen_show();
}

/* ---- Plain text ---- */

static void print_buffers(const show *s)
{
    for (int rank = 0; rank < s->n; rank++) {
        printf("    rank %d ", rank);
        for (int c = 0; c < s->n; c++) printf(" %d", __builtin_popcount(s->sets[rank][c]));
        putchar('\n');
    }
}

static void print_step(const show *s)
{
    printf("step %d of %d, %s:\n   ", s->step, s->part.last,
           s->step <= s->n - 1 ? "what arrives is added" : "what arrives is kept");
    for (size_t i = 0; i < s->part.count; i++)
        if (s->part.steps[i].arrival == s->step)
            printf(" %d -> %d: chunk %.0f;", s->part.steps[i].message->from, s->part.steps[i].message->to,
                   s->part.steps[i].message->chunk);
    putchar('\n');
    print_buffers(s);
}

/* ---- The show ---- */

/* All of a step at once: what is sent is what was there before it. */
static void take_step(show *s)
{
    unsigned before[MOST][MOST];
    memcpy(before, s->sets, sizeof before);
    for (size_t i = 0; i < s->part.count; i++) {
        const replay_message *m = s->part.steps[i].message;
        int c = (int)m->chunk;
        if (s->part.steps[i].arrival != s->step || c < 0 || c >= s->n) continue;
        s->sets[m->to][c] = before[m->from][c] | (m->combined ? before[m->to][c] : 0);
        s->sent[m->from] += m->bytes;
    }
}

static bool is_complete(const show *s)
{
    for (int rank = 0; rank < s->n; rank++)
        for (int c = 0; c < s->n; c++)
            if (s->sets[rank][c] != (1u << s->n) - 1) return false;
    return true;
}

static void play(const demo *d, show *s)
{
    draw(s, -1);
    screen_pause(2500);
    for (s->step = 1; s->step <= s->part.last; s->step++) {
        for (int f = 0; f < FRAMES && d->live; f++) {
            draw(s, (double)f / (FRAMES - 1));
            screen_wait(90);
        }
        take_step(s);
        draw(s, -1);
        if (!d->live) print_step(s);
        screen_pause(900);
    }
    s->step = s->part.last;
    screen_pause(1200);
}

int demo_ring(demo *d)
{
    char ranks[12], time[32];
    replay_trace trace;
    show s = {.trace = &trace, .n = demo_ranks(d, 4, 2, MOST)};
    const char *const words[] = {"{build}/bench/all_reduce",
                                 "--ranks",
                                 ranks,
                                 "--algorithm",
                                 "ring",
                                 "--min",
                                 "1M",
                                 "--max",
                                 "1M",
                                 "--iters",
                                 "1",
                                 "--csv",
                                 "--trace",
                                 "{trace}",
                                 NULL};
    snprintf(ranks, sizeof ranks, "%d", s.n);
    if (!demo_record(d, words, 0, &trace, NULL)) return 1;
    bool fine = demo_find_part(&trace, "ring_all_reduce", &s.part);
    for (int rank = 0; rank < s.n; rank++)
        for (int c = 0; c < s.n; c++) s.sets[rank][c] = 1u << rank;
    if (fine) {
        play(d, &s);
        screen_close();
        fine = is_complete(&s);
        demo_say("%s: %d steps, took %s on this machine.", fine ? "every chunk is complete everywhere" : "NOT complete",
                 s.part.last, demo_time(s.part.to - s.part.from, time));
        demo_page(d, "ring all-reduce");
        demo_part_free(&s.part);
    }
    replay_free(&trace);
    return fine ? 0 : 1;
}
