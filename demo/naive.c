/* SPDX-License-Identifier: MIT */
/*
 * demo-naive: every rank sends all of its buffer to rank 0, which receives one at a time, and sends the result back to
 * one at a time. The other ranks wait: rank 0 is the bottleneck.
 */
#include <stdio.h>
#include <string.h>

#include "demo/demo.h"

enum { MOST = 12, FRAMES = 14, LANE = 34, FROM = 12, TOP = 4 };

typedef struct {
    const replay_trace *trace;
    demo_part part;
    int n, step;
    double hub; /* bytes through rank 0 so far */
} show;

/* The message of this rank on the way in or out: the first or the second of its two. */
static const demo_step *message_of(const show *s, int rank, bool inward)
{
    for (size_t i = 0; i < s->part.count; i++) {
        const replay_message *m = s->part.steps[i].message;
        if (inward ? m->from == rank && m->to == 0 : m->from == 0 && m->to == rank) return &s->part.steps[i];
    }
    return NULL;
}

static bool is_inward(const show *s)
{
    return s->step <= s->n - 1;
}

static int count_waiting(const show *s)
{
    int waiting = 0;
    for (int rank = 1; rank < s->n; rank++) {
        const demo_step *step = message_of(s, rank, is_inward(s));
        waiting += step && step->arrival > s->step;
    }
    return waiting;
}

/* ---- Drawing ---- */

static void draw_lane(const show *s, int rank, double share)
{
    bool inward = is_inward(s);
    const demo_step *step = message_of(s, rank, inward);
    int y = TOP + rank - 1, at = (int)(share * (LANE - 4));
    if (!step) return;
    bool done = step->arrival < s->step || (step->arrival == s->step && share >= 1),
         now = step->arrival == s->step && !done;
    screen_put(2, y, STYLE_STRONG, "rank %d", rank);
    for (int i = 0; i < LANE; i++) screen_put(FROM + i, y, STYLE_FAINT, done || now ? "─" : "·");
    screen_put(FROM + (inward ? LANE : -1), y, STYLE_FAINT, inward ? "▶" : "◀");
    if (now) screen_put(FROM + (inward ? at : LANE - 4 - at), y, inward ? STYLE_SENT : STYLE_KEPT, "[%s]", "==");
    if (!now)
        screen_put(FROM + LANE / 2 - 4, y, done ? STYLE_WHOLE : STYLE_BAD,
                   done ? inward ? " taken ✓ " : " has it ✓ " : " waits ");
}

static void draw_bar(int y, const char *name, double value, double most, enum style style)
{
    char text[32];
    int width = 30, full = most > 0 ? (int)(value / most * width + 0.5) : 0;
    screen_put(2, y, STYLE_PLAIN, "%-26s", name);
    for (int i = 0; i < width; i++) screen_put(29 + i, y, i < full ? style : STYLE_FAINT, i < full ? "█" : "░");
    screen_put(61, y, STYLE_PLAIN, "%s", demo_bytes(value, text));
}

static void draw(const show *s, double share)
{
    char size[32];
    int under = TOP + s->n;
    double total = 2 * s->part.bytes * (s->n - 1);
    screen_clear();
    screen_put(2, 0, STYLE_STRONG, "naive all-reduce: %d ranks, each with a buffer of %s", s->n,
               demo_bytes(s->part.bytes, size));
    screen_put(2, 1, STYLE_PLAIN, "step %d of %d: %s", s->step, s->part.last,
               is_inward(s) ? "all send to rank 0, which takes one at a time"
                            : "rank 0 has the sum, and gives it to one at a time");
    for (int rank = 1; rank < s->n; rank++) draw_lane(s, rank, share);
    int hub = TOP + (s->n - 2) / 2;
    screen_put(FROM + LANE + 3, hub, STYLE_WHOLE, " rank 0 ");
    screen_put(FROM + LANE + 12, hub, STYLE_PLAIN, "%s", is_inward(s) ? "adds them up" : "has the sum");
    int waiting = count_waiting(s);
    if (waiting)
        screen_put(2, under, STYLE_BAD, "%d of %d ranks can only wait", waiting, s->n);
    else
        screen_put(2, under, STYLE_PLAIN, "no rank has to wait");
    draw_bar(under + 2, "through rank 0", s->hub, total, STYLE_BAD);
    draw_bar(under + 3, "through any other rank", 2 * s->part.bytes, total, STYLE_SENT);
    draw_bar(under + 4, "a ring: through each rank", 4 * s->part.bytes * (s->n - 1) / s->n, total, STYLE_SENT);
    screen_show();
}

static void print_step(const show *s)
{
    char bytes[32];
    for (size_t i = 0; i < s->part.count; i++) {
        const replay_message *m = s->part.steps[i].message;
        if (s->part.steps[i].arrival == s->step)
            printf("step %d of %d: rank %d -> rank %d, %s, %s; %d wait\n", s->step, s->part.last, m->from, m->to,
                   demo_bytes(m->bytes, bytes), m->combined ? "added" : "kept", count_waiting(s));
    }
}

/* ---- The show ---- */

static void play(const demo *d, show *s)
{
    for (s->step = 1; s->step <= s->part.last; s->step++) {
        for (int f = 0; f < FRAMES && d->live; f++) {
            draw(s, (double)f / FRAMES);
            screen_wait(90);
        }
        for (size_t i = 0; i < s->part.count; i++)
            if (s->part.steps[i].arrival == s->step) s->hub += s->part.steps[i].message->bytes;
        draw(s, 1);
        if (!d->live) print_step(s);
        screen_pause(800);
    }
    screen_pause(1500);
}

int demo_naive(demo *d)
{
    char ranks[12], time[32], bytes[32];
    replay_trace trace;
    show s = {.trace = &trace, .n = demo_ranks(d, 6, 2, MOST)};
    const char *const words[] = {"{build}/bench/all_reduce",
                                 "--ranks",
                                 ranks,
                                 "--algorithm",
                                 "naive",
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
    bool fine = demo_find_part(&trace, "coll_naive_all_reduce", &s.part);
    if (fine) {
        play(d, &s);
        screen_close();
        demo_say("%d messages, one after the other; %s went through rank 0;\ntook %s on this machine.", s.part.last,
                 demo_bytes(s.hub, bytes), demo_time(s.part.to - s.part.from, time));
        demo_page(d, "naive all-reduce: the hub's traffic jam");
        demo_part_free(&s.part);
    }
    replay_free(&trace);
    return fine ? 0 : 1;
}
