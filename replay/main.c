/* SPDX-License-Identifier: MIT */
/*
 * replay: a trace as a page for any browser; it needs no network and nothing installed.
 *
 *      build/launch -n 4 --trace build/mine.json PROGRAM
 *      build/replay build/mine.json -o build/mine.html
 *      build/replay build/mine.json build/reference.json -o build/both.html
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "p2p/shared/cli.h"
#include "replay/output.h"
#include "replay/page.h"

typedef struct {
    const char *paths[2];
    int count;
    const char *output, *folder, *title;
    char usual[4096];
} settings;

/* FILE.json becomes FILE.html. */
static void name_output(settings *s, struct argp_state *state)
{
    size_t length = strlen(s->paths[0]);
    if (length > 5 && strcmp(s->paths[0] + length - 5, ".json") == 0) length -= 5;
    if (length + 6 > sizeof s->usual) argp_error(state, "the name of the trace is too long: say -o FILE.html");
    memcpy(s->usual, s->paths[0], length);
    memcpy(s->usual + length, ".html", 6);
    s->output = s->usual;
}

static bool is_picture(const settings *s)
{
    size_t length = strlen(s->output);
    return length > 4 && strcmp(s->output + length - 4, ".svg") == 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;
    switch (key) {
    case 'o': s->output = arg; return 0;
    case 's': s->folder = arg; return 0;
    case 't': s->title = arg; return 0;
    case ARGP_KEY_ARG:
        if (s->count == 2) argp_error(state, "one trace, or two to compare; \"%s\" is a third", arg);
        s->paths[s->count++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (s->folder && access(s->folder, R_OK | X_OK) != 0)
            argp_error(state, "--source %s: %s", s->folder, strerror(errno));
        if (!s->count) argp_error(state, "which trace? %slaunch --trace FILE writes one", p2p__cli_prefix());
        if (!s->output) name_output(s, state);
        if (is_picture(s) && s->count > 1) argp_error(state, "a picture is that of one trace, and here are two");
        for (int i = 0; i < s->count; i++)
            if (replay_same_file(s->output, s->paths[i]))
                argp_error(state, "-o %s would overwrite the trace", s->output);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "The page (default: the trace's name, with .html); FILE.svg: a picture for a slide", 0},
    {"source", 's', "DIR", 0, "Where the sources are that the trace names (default: here); no other file is shown", 0},
    {"title", 't', "TEXT", 0, "What stands on top of the page", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char text[] =
    "Make a page that replays TRACE: who sent what to whom, chunk by chunk, step by step.\v"
    "With a REFERENCE the two are put side by side, up to the first message that differs.\n\n"
    "Exit status: 0 done; 1 a trace is damaged, or the page cannot be written; 2 called wrongly.";

static void tell_refused(const settings *s, size_t refused)
{
    if (!refused) return;
    fprintf(stderr, "replay: %zu file%s left out: no source%s below %s\n  try: --source DIR, the folder you build in\n",
            refused, refused == 1 ? " that the trace names is" : "s that the trace names are", refused == 1 ? "" : "s",
            s->folder ? s->folder : "the current folder");
}

static bool put(const settings *s, const replay_trace traces[], FILE *file, size_t *refused)
{
    const char *title = s->title ? s->title : "";
    if (!is_picture(s)) {
        *refused = replay_page(file, &traces[0], s->count == 2 ? &traces[1] : NULL, title, s->folder);
        return true;
    }
    bool drawn = replay_picture(file, &traces[0], title);
    if (!drawn) errno = ENODATA;
    return drawn;
}

static bool write_page(const settings *s, const replay_trace traces[])
{
    replay_output out;
    size_t refused = 0;
    bool fine = replay_output_begin(&out, s->output) && replay_output_end(&out, put(s, traces, out.stream, &refused));
    if (fine) tell_refused(s, refused);
    if (fine && *out.temporary) printf("%s: open it in a browser\n", s->output);
    if (!fine) fprintf(stderr, "replay: %s cannot be written: %s\n", s->output, strerror(errno));
    return fine;
}

int main(int argc, char **argv)
{
    static const struct argp parser = {options, parse, "TRACE [REFERENCE]", text, NULL, NULL, NULL};
    static replay_trace traces[2];
    static settings s;
    char why[4400];
    p2p__cli_parse(&parser, argc, argv, 0, &s);
    for (int i = 0; i < s.count; i++) {
        if (replay_read(s.paths[i], &traces[i], why, sizeof why)) continue;
        fprintf(stderr, "replay: %s\n", why);
        if (i) replay_free(&traces[0]);
        return 1;
    }
    bool written = write_page(&s, traces);
    for (int i = 0; i < s.count; i++) replay_free(&traces[i]);
    return written ? 0 : 1;
}
