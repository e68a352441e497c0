/* SPDX-License-Identifier: MIT */
#include "bench/util/options.h"

#include <stdlib.h>

#include "bench/util/busy.h"
#include "bench/util/sizes.h"
#include "p2p/p2p.h"
#include "p2p/shared/cli.h"

/* Above every character: no short form. */
enum { KEY_CSV = 0x1000, KEY_JSON, KEY_TRACE };

static const char *trace;

static error_t parse_format(int key, char *arg, struct argp_state *state)
{
    report_format *format = state->input;

    switch (key) {
    case KEY_CSV: *format = REPORT_CSV; return 0;
    case KEY_JSON: *format = REPORT_JSON; return 0;
    case KEY_TRACE: trace = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option format_options[] = {
    {"csv", KEY_CSV, NULL, 0, "Print CSV; the first line has the names", 10},
    {"json", KEY_JSON, NULL, 0, "Print JSON: an array of objects", 10},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const struct argp_option trace_options[] = {
    {"trace", KEY_TRACE, "FILE", 0, "Write a trace of the last job to FILE (Chrome trace JSON, for build/replay)", 11},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t hand_on(int key, char *arg, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT) state->child_inputs[0] = state->input;
    return parse_format(key, arg, state);
}

const struct argp options_table_argp = {.options = format_options, .parser = parse_format};
static const struct argp_child tables[] = {{&options_table_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
const struct argp options_format_argp = {.options = trace_options, .parser = hand_on, .children = tables};

const char *options_trace(bool last)
{
    return last ? trace : NULL;
}

const char *options_world(void)
{
    const char *name = getenv("PAIRWISE_WORLD");
    return name ? name : "shm";
}

void options_ranks(char *text, long low, long high, size_t room, long *ranks, size_t *count, struct argp_state *state)
{
    const char *parts[P2P_MAX_RANKS];

    if (!list_parse(text, parts, room, count))
        argp_error(state, "--ranks: up to %zu numbers, separated by commas", room);
    for (size_t i = 0; i < *count; i++)
        if (!count_parse(parts[i], low, high, &ranks[i]))
            argp_error(state, "--ranks: '%s' is not a number from %ld to %ld", parts[i], low, high);
}

void options_parse(const struct argp *argp, int argc, char **argv, void *own)
{
    p2p__cli_parse(argp, argc, argv, 0, own);
    busy_begin();
}
