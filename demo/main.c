/* SPDX-License-Identifier: MIT */
/*
 * demo: what a class sees on the projector. `make demo-ring` and so on; SPEED, RANKS and STEP come from there.
 *
 *      build/demo ring --ranks 6 --speed slow
 */
#include <argp.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo/demo.h"
#include "p2p/shared/cli.h"

static const struct {
    const char *name;
    int (*run)(demo *d);
} demos[] = {
    {"ring", demo_ring}, {"naive", demo_naive}, {"race", demo_race}, {"deadlock", demo_deadlock}, {"train", demo_train},
};

typedef struct {
    demo d;
    int which;
    const char *ranks, *speed; /* as they were given, or NULL */
    enum speed pace;
    bool by_key;
} settings;

static enum speed read_speed(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"slow", "normal", "fast"};
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], text) == 0) return (enum speed)i;
    argp_error(state, "the speed is slow, normal or fast, not \"%s\"", text);
    return SPEED_NORMAL;
}

static int read_ranks(const char *text, struct argp_state *state)
{
    char *end;
    long ranks = strtol(text, &end, 10);
    if (end == text || *end || ranks < 1 || ranks > 1024)
        argp_error(state, "the number of ranks is from 1 to 1024, not \"%s\"", text);
    return (int)ranks;
}

/* A variable that was given to make, or NULL. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void read_environment(settings *s)
{
    const char *step = variable("STEP");
    s->ranks = variable("RANKS");
    s->speed = variable("SPEED");
    s->by_key = step && strcmp(step, "0") != 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT: read_environment(s); return 0; /* options win */
    case 'n': s->ranks = arg; return 0;
    case 's': s->speed = arg; return 0;
    case 'k': s->by_key = true; return 0;
    case ARGP_KEY_ARG:
        for (int i = 0; i < (int)(sizeof demos / sizeof *demos); i++)
            if (strcmp(demos[i].name, arg) == 0) s->which = i;
        if (s->which < 0) argp_error(state, "there is no demo \"%s\": ring, naive, race, deadlock, train", arg);
        return 0;
    case ARGP_KEY_END:
        if (s->which < 0) argp_error(state, "which demo? ring, naive, race, deadlock or train");
        if (s->ranks) s->d.ranks = read_ranks(s->ranks, state);
        if (s->speed) s->pace = read_speed(s->speed, state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "Ranks (default: as many as the demo is made for; also RANKS)", 0},
    {"speed", 's', "NAME", 0, "slow, normal, fast (also SPEED)", 0},
    {"step", 'k', NULL, 0, "Wait for a key after every step (also STEP=1); q ends", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

/* All programs lie in the folder of this one. */
static void find_build(demo *d)
{
    char path[sizeof d->build];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    snprintf(d->build, sizeof d->build, "%s", length > 0 ? dirname(path) : "build");
    char here[sizeof d->build];
    size_t base = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (base && strncmp(d->build, here, base) == 0 && d->build[base] == '/') /* shorter, as people write it */
        memmove(d->build, d->build + base + 1, strlen(d->build + base + 1) + 1);
    snprintf(d->folder, sizeof d->folder, "%s/demos", d->build);
}

int demo_ranks(const demo *d, int usual, int low, int high)
{
    if (!d->ranks) return usual;
    if (d->ranks >= low && d->ranks <= high) return d->ranks;
    fprintf(stderr, "demo: demo-%s can be shown with %d to %d ranks, not %d\n", d->name, low, high, d->ranks);
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        options,
        parse,
        "ring|naive|race|deadlock|train",
        "Show how ranks talk to each other: a real run, replayed.\vAway from a terminal: plain text.",
        NULL,
        NULL,
        NULL};
    static settings s = {.which = -1, .pace = SPEED_NORMAL};
    p2p__cli_parse(&parser, argc, argv, 0, &s);
    s.d.name = demos[s.which].name;
    s.d.live = screen_live();
    find_build(&s.d);
    screen_open(s.pace, s.by_key);
    int status = demos[s.which].run(&s.d);
    screen_close();
    return status;
}
