/* SPDX-License-Identifier: MIT */
/*
 * demo-race: naive, tree and ring on the same buffer, each on a lane, at the speed that was measured: on a virtual
 * network, where every rank has a port of its own, and then on this machine, whose cores the ranks share.
 */
#include <stdio.h>
#include <string.h>

#include "demo/demo.h"

enum { RUNNERS = 3, BAR = 46, FRAMES = 70 };

static const struct {
    const char *name, *call;
} runners[RUNNERS] = {
    {"naive", "coll_naive_all_reduce"}, {"tree", "coll_tree_all_reduce"}, {"ring", "ring_all_reduce"}};

typedef struct {
    demo_part parts[RUNNERS];
    double time[RUNNERS], most_sent[RUNNERS], all[RUNNERS];
    int n;
    const char *where;
} race;

static double sent_by(const demo_part *part, int rank)
{
    double bytes = 0;
    for (size_t i = 0; i < part->count; i++)
        if (part->steps[i].message->from == rank) bytes += part->steps[i].message->bytes;
    return bytes;
}

static bool find_runners(const replay_trace *t, race *r)
{
    for (int i = 0; i < RUNNERS; i++) {
        if (!demo_find_part(t, runners[i].call, &r->parts[i])) return false;
        r->time[i] = r->parts[i].to - r->parts[i].from;
        for (int rank = 0; rank < r->n; rank++)
            r->most_sent[i] = demo_most(r->most_sent[i], sent_by(&r->parts[i], rank));
        for (size_t m = 0; m < r->parts[i].count; m++) r->all[i] += r->parts[i].steps[m].message->bytes;
    }
    return true;
}

/* Which share of its bytes has arrived, so long after the start. */
static double progress(const race *r, int runner, double after)
{
    const demo_part *part = &r->parts[runner];
    double arrived = 0;
    if (after >= r->time[runner]) return 1;
    for (size_t i = 0; i < part->count; i++) {
        const replay_message *m = part->steps[i].message;
        double from = m->leaves >= 0 ? m->leaves : m->sent, to = m->arrives >= 0 ? m->arrives : m->received;
        double share = to > from ? (part->from + after - from) / (to - from) : 1;
        arrived += m->bytes * demo_most(0, demo_least(1, share));
    }
    return r->all[runner] > 0 ? arrived / r->all[runner] : 0;
}

static double slowest(const race *r)
{
    return demo_most(r->time[0], demo_most(r->time[1], r->time[2]));
}

/* ---- Drawing ---- */

static void draw_runner(const race *r, int i, double after)
{
    int y = 5 + 4 * i, full = (int)(progress(r, i, after) * BAR);
    char time[32], sent[32];
    bool done = after >= r->time[i];
    screen_put(2, y, STYLE_STRONG, "%s", runners[i].name);
    for (int k = 0; k < BAR; k++)
        screen_put(10 + k, y, k < full ? done ? STYLE_WHOLE : STYLE_SENT : STYLE_FAINT,
                   k < full ? done ? "═" : "█" : "░");
    screen_put(58, y, done ? STYLE_STRONG : STYLE_PLAIN, "%s%s", demo_time(demo_least(after, r->time[i]), time),
               done ? " ✓" : "");
    screen_put(10, y + 1, STYLE_PLAIN, "%zu messages; the busiest rank sends %s", r->parts[i].count,
               demo_bytes(r->most_sent[i], sent));
}

static void draw(const race *r, double after)
{
    char size[32], time[32];
    screen_clear();
    screen_put(2, 0, STYLE_STRONG, "the race: all-reduce of %s on %d ranks, by three algorithms",
               demo_bytes(r->parts[0].bytes, size), r->n);
    screen_put(2, 1, STYLE_PLAIN, "%s", r->where);
    screen_put(2, 3, STYLE_PLAIN, "%s after the start", demo_time(after, time));
    for (int i = 0; i < RUNNERS; i++) draw_runner(r, i, after);
    screen_put(10, 18, STYLE_FAINT, "a bar: how much of what has to be sent has arrived");
    screen_show();
}

static void play(const race *r)
{
    double end = slowest(r);
    draw(r, 0);
    screen_pause(1500);
    for (int f = 1; f <= FRAMES; f++) {
        draw(r, end * f / FRAMES);
        screen_wait(100);
    }
    screen_pause(2500);
}

/* ---- The two courses ---- */

static bool record(const demo *d, const char *network, replay_trace *trace, race *r)
{
    char ranks[12];
    const char *words[24] = {"{build}/bench/all_reduce",
                             "--ranks",
                             ranks,
                             "--algorithm",
                             "naive,tree,ring",
                             "--min",
                             "8M",
                             "--max",
                             "8M",
                             "--iters",
                             "1",
                             "--csv",
                             "--trace",
                             "{trace}",
                             NULL};
    snprintf(ranks, sizeof ranks, "%d", r->n);
    if (network) words[14] = "--network", words[15] = network, words[16] = NULL;
    return demo_record(d, words, 0, trace, NULL) && find_runners(trace, r);
}

static void print_table(const race *virtual_race, const race *real_race)
{
    char sent[32], a[32], b[32];
    printf("            messages   busiest rank sends   10 Gbit/s Ethernet      this machine\n");
    for (int i = 0; i < RUNNERS; i++)
        printf("  %-8s  %8zu   %18s   %10s %5.2fx   %9s %5.2fx\n", runners[i].name, virtual_race->parts[i].count,
               demo_bytes(virtual_race->most_sent[i], sent), demo_time(virtual_race->time[i], a),
               virtual_race->time[0] / virtual_race->time[i], demo_time(real_race->time[i], b),
               real_race->time[0] / real_race->time[i]);
    printf("  (x: how many times as fast as naive; this machine: best of three, on cores\n  that the ranks share)\n");
}

static void release(race *r)
{
    for (int i = 0; i < RUNNERS; i++) demo_part_free(&r->parts[i]);
}

int demo_race(demo *d)
{
    replay_trace virtual_trace = {.ranks = 0}, real_trace = {.ranks = 0};
    race real_race = {.n = demo_ranks(d, 8, 2, 64),
                      .where = "on this machine: the ranks share its cores and its memory"};
    race virtual_race = {.n = real_race.n, .where = "on 10 Gbit/s Ethernet, a port for every rank (virtual time)"};
    bool fine = record(d, NULL, &real_trace, &real_race) && record(d, "10GbE", &virtual_trace, &virtual_race);
    if (fine) {
        if (d->live) play(&virtual_race), play(&real_race);
        screen_close();
        print_table(&virtual_race, &real_race);
        demo_page(d, "the race: naive, tree and ring");
    }
    release(&real_race);
    release(&virtual_race);
    replay_free(&real_trace);
    replay_free(&virtual_trace);
    return fine ? 0 : 1;
}
