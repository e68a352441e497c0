/* SPDX-License-Identifier: MIT */
/*
 * demo-deadlock: a program in which every rank receives before it sends. Elsewhere it would hang until it is killed;
 * here it ends within a second, with an explanation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo/demo.h"

enum { MOST = 12, LINES = 40 };

/* The lines around the call in which the first rank waits. */
static void draw_code(const char *path, int line, int y)
{
    char text[200];
    int number = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(text, sizeof text, file)) {
        number++;
        if (abs(number - line) > 2) continue;
        text[strcspn(text, "\n")] = 0;
        screen_put(2, y++, number == line ? STYLE_BAD : STYLE_PLAIN, "%s %3d %.70s", number == line ? "▶" : " ", number,
                   text);
    }
    if (file) fclose(file);
}

/* Who waits for whom, as far as it is known. */
static void draw_ranks(const replay_trace *t, int shown)
{
    for (int rank = 0; rank < t->ranks; rank++) {
        const replay_last *last = &t->last[rank];
        screen_put(4, 9 + rank, STYLE_STRONG, "rank %d", rank);
        if (rank >= shown) {
            screen_put(13, 9 + rank, STYLE_PLAIN, "in p2p_recv ...");
            continue;
        }
        screen_put(13, 9 + rank, STYLE_BAD, "waits for rank %d ─▶", last->waits_count ? last->waits_for[0] : -1);
        screen_put(35, 9 + rank, STYLE_PLAIN, "%.44s", replay_text(t, last->call));
    }
}

/* 0 → 3 → 2 → 1 → 0 */
static void draw_cycle(const replay_trace *t, int y)
{
    int x = 4;
    if (t->cycle_count < 1) return;
    for (int i = 0; i <= t->cycle_count && x < SCREEN_WIDTH - 10; i++) {
        screen_put(x, y, STYLE_STRONG, "%d", t->cycle[i % t->cycle_count]);
        if (i < t->cycle_count) screen_put(x + 3, y, STYLE_BAD, "─▶");
        x += 7;
    }
}

static void draw(const replay_trace *t, const char *headline, int shown)
{
    screen_clear();
    screen_put(2, 0, STYLE_STRONG, "a program that hangs: build/launch -n %d build/examples/deadlock", t->ranks);
    screen_put(2, 1, shown ? STYLE_BAD : STYLE_PLAIN, "%s", headline);
    draw_code(replay_text(t, t->last[0].file), t->last[0].line, 3);
    draw_ranks(t, shown);
    if (shown == t->ranks && t->is_cycle) draw_cycle(t, 10 + t->ranks);
    screen_show();
}

static void play(const replay_trace *t)
{
    static const char *const dots[] = {"running", "running .", "running . .", "running . . .",
                                       "nothing happens any more"};
    for (int i = 0; i < 5; i++) {
        draw(t, dots[i], 0);
        screen_wait(700);
    }
    screen_pause(800);
    for (int rank = 1; rank <= t->ranks; rank++) {
        draw(t, "who waits for whom?", rank);
        screen_pause(1200);
    }
    draw(t, t->is_cycle ? "a cycle: each waits for the next, so none can continue" : "stuck", t->ranks);
    screen_pause(3500);
}

int demo_deadlock(demo *d)
{
    char ranks[12], time[32], *output = NULL;
    replay_trace trace;
    const char *const words[] = {
        "{build}/launch", "-n", ranks, "--trace", "{trace}", "{build}/examples/deadlock", NULL};
    snprintf(ranks, sizeof ranks, "%d", demo_ranks(d, 4, 2, MOST));
    if (!demo_record(d, words, 1, &trace, &output)) return 1;
    bool fine = trace.last && trace.cycle_count == trace.ranks;
    if (fine && d->live) play(&trace);
    screen_close();
    fputs(output, stdout);
    if (fine) {
        demo_say("found, named and explained %s after the start;\nthe program ended with status 1, as it should.",
                 demo_time(trace.end_time, time));
        demo_page(d, "a deadlock");
    }
    free(output);
    replay_free(&trace);
    return fine ? 0 : 1;
}
