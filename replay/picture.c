/* SPDX-License-Identifier: MIT */
/*
 * A trace as one picture, for a slide: a row for each rank, time to the right.
 *
 *      rank 0   [ computes ]......[ computes ]        dotted: in a call, sends or waits
 *                    \                                an arrow: a message, from when it leaves to when it arrives
 *      rank 1   ......[ computes ]
 *
 * Of a program with several communicators it is the one that was used last, so that what a test does around a case is left
 * out; of a virtual network the times are virtual.
 */
#include <math.h>

#include "replay/page.h"

enum { LEFT = 64, WIDTH = 880, TOP = 40, ROW = 46, BAR = 22, BELOW = 46 };

typedef struct {
    FILE *file;
    const replay_trace *trace;
    double comm, begin, end;
} picture;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static void put_escaped(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '&' || (unsigned char)*text < ' ')
            fprintf(file, "&#%d;", *text == '<' || *text == '&' ? *text : ' ');
        else
            putc(*text, file);
}

static double x_of(const picture *p, double time)
{
    return LEFT + WIDTH * (time - p->begin) / (p->end - p->begin);
}

static double middle_of(int rank)
{
    return TOP + ROW * rank + BAR / 2.0;
}

static bool is_shown(const picture *p, const replay_slice *s)
{
    bool shown = s->kind == SLICE_COLLECTIVE || s->kind == SLICE_CALL || s->kind == SLICE_COMPUTE;
    return s->track == 0 && s->comm == p->comm && shown;
}

static double sent_at(const replay_message *m)
{
    return m->leaves >= 0 ? m->leaves : m->sent;
}

static double received_at(const replay_message *m)
{
    return m->arrives >= 0 ? m->arrives : m->received;
}

static bool find_span(picture *p)
{
    const replay_trace *t = p->trace;
    p->begin = INFINITY;
    p->end = -INFINITY;
    for (size_t i = 0; i < t->message_count; i++) p->comm = larger(p->comm, t->messages[i].comm);
    for (size_t i = 0; i < t->slice_count; i++) {
        if (!is_shown(p, &t->slices[i])) continue;
        p->begin = smaller(p->begin, t->slices[i].start);
        p->end = larger(p->end, t->slices[i].start + t->slices[i].length);
    }
    return p->end > p->begin;
}

static void put_slices(const picture *p, bool computing)
{
    for (size_t i = 0; i < p->trace->slice_count; i++) {
        const replay_slice *s = &p->trace->slices[i];
        if (!is_shown(p, s) || (s->kind == SLICE_COMPUTE) != computing) continue;
        fprintf(p->file, "<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
                computing ? "computes" : "calls", x_of(p, s->start), TOP + ROW * s->rank,
                larger(0.5, WIDTH * s->length / (p->end - p->begin)), BAR);
    }
}

static void put_messages(const picture *p)
{
    for (size_t i = 0; i < p->trace->message_count; i++) {
        const replay_message *m = &p->trace->messages[i];
        if (m->comm != p->comm || m->from == m->to || !(received_at(m) >= 0)) continue;
        double side = m->from < m->to ? BAR / 2.0 : -BAR / 2.0;
        fprintf(p->file, "<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>\n", x_of(p, sent_at(m)),
                middle_of(m->from) + side, x_of(p, received_at(m)), middle_of(m->to) - side);
    }
}

/* A scale of 1, 2 or 5 times a power of ten, in the unit in which numbers are short. */
static void put_times(const picture *p)
{
    double span = p->end - p->begin, step = 1;
    double unit = span >= 1e9 ? 1e9 : span >= 1e6 ? 1e6 : span >= 1e3 ? 1e3 : 1;
    while (span / step > 40) step *= 10;
    step *= span / step > 20 ? 5 : span / step > 8 ? 2 : 1;
    int y = TOP + ROW * p->trace->ranks;
    for (int i = 0; i * step <= span; i++)
        fprintf(p->file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g %s</text>\n",
                x_of(p, p->begin + i * step), y + 14, i * step / unit,
                unit == 1e9   ? "s"
                : unit == 1e6 ? "ms"
                : unit == 1e3 ? "us"
                              : "ns");
}

bool replay_picture(FILE *file, const replay_trace *trace, const char *title)
{
    static const char style[] =
        "<style>text{font:13px sans-serif;fill:#333}.title{font-size:16px}.computes{fill:#3574b5}"
        ".calls{fill:#e4e0d5}line{stroke:#c8551b;stroke-width:1.2;marker-end:url(#tip)}</style>\n"
        "<marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" "
        "orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"#c8551b\"/></marker>\n";
    picture p = {.file = file, .trace = trace};
    int width = LEFT + WIDTH + 40, height = TOP + ROW * trace->ranks + BELOW;
    if (!find_span(&p)) return false;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\">\n%s"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text class=\"title\" x=\"%d\" y=\"24\">",
            width, height, style, width, height, LEFT);
    put_escaped(file, title);
    fputs("</text>\n", file);
    for (int rank = 0; rank < trace->ranks; rank++)
        fprintf(file, "<text x=\"8\" y=\"%.0f\">rank %d</text>\n", middle_of(rank) + 5, rank);
    put_slices(&p, false);
    put_slices(&p, true);
    put_messages(&p);
    put_times(&p);
    fprintf(file,
            "<text x=\"%d\" y=\"%d\">blue: computes; grey: in a call, sends or waits; arrows: "
            "messages</text>\n</svg>\n",
            LEFT, height - 8);
    return true;
}
