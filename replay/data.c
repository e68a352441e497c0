/* SPDX-License-Identifier: MIT */
/*
 * A trace as data for the page. Slices and messages are rows of numbers; page/model.js says which is which.
 */
#include <stdio.h>

#include "replay/page.h"

void replay_put_text(FILE *file, const char *text)
{
    putc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at < 0x20 || *at == '<' || *at == '"' || *at == '\\' || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
        else
            putc(*at, file);
    putc('"', file);
}

static void put_texts(FILE *file, const replay_trace *t)
{
    fputs("\"texts\":[", file);
    for (size_t i = 0; i < t->text_count; i++) {
        if (i) putc(',', file);
        replay_put_text(file, t->texts[i]);
    }
    fputs("]", file);
}

/* Whole numbers, as short as they are. */
static void put_row(FILE *file, const double *row, size_t count, bool first)
{
    fputs(first ? "\n[" : ",\n[", file);
    for (size_t i = 0; i < count; i++) fprintf(file, "%s%.0f", i ? "," : "", row[i]);
    putc(']', file);
}

/* Each kind has as many numbers as it needs. */
static void put_slice(FILE *file, const replay_slice *s, bool first)
{
    double flags = (s->unfinished ? 1 : 0) + (s->failed ? 2 : 0);
    double row[] = {s->kind,  s->rank,  s->track, s->start,     s->length,     flags,     s->parent, s->order,
                    s->name,  s->file,  s->line,  s->comm,      s->collective, s->peer,   s->bytes,  s->polls,
                    s->count, s->dtype, s->op,    s->algorithm, s->root,       s->chosen, s->options};
    size_t all = sizeof row / sizeof *row;
    size_t count = s->kind == SLICE_WAIT ? s->options > 1 ? all : 8 : s->kind == SLICE_COLLECTIVE ? all - 2 : 16;
    put_row(file, row, count, first);
}

static void put_message(FILE *file, const replay_message *m, bool first)
{
    double flags = (m->combined ? 1 : 0) + (m->of_collective ? 2 : 0);
    double row[] = {m->from,     m->to,       m->tag,       m->bytes,       m->comm,       m->collective,     m->sent,
                    m->received, flags,       m->sent_in,   m->received_in, m->sent_order, m->received_order, m->chunk,
                    m->offset,   m->chunk_to, m->offset_to, m->leaves,      m->arrives};
    bool is_virtual = m->leaves >= 0 || m->arrives >= 0;
    put_row(file, row, sizeof row / sizeof *row - (is_virtual ? 0 : 2), first);
}

static void put_list(FILE *file, const int *list, int count)
{
    putc('[', file);
    for (int i = 0; i < count; i++) fprintf(file, "%s%d", i ? "," : "", list[i]);
    putc(']', file);
}

static void put_end(FILE *file, const replay_trace *t)
{
    if (!t->last) return;
    fprintf(file, ",\n\"end\":{\"time\":%.0f,\"isCycle\":%s,\"text\":", t->end_time, t->is_cycle ? "true" : "false");
    replay_put_text(file, replay_text(t, t->end_text));
    fputs(",\"cycle\":", file);
    put_list(file, t->cycle, t->cycle_count);
    fputs(",\"ranks\":[", file);
    for (int i = 0; i < t->ranks; i++) {
        fprintf(file, "%s\n{\"state\":", i ? "," : "");
        replay_put_text(file, replay_text(t, t->last[i].state));
        fputs(",\"call\":", file);
        replay_put_text(file, replay_text(t, t->last[i].call));
        fputs(",\"function\":", file);
        replay_put_text(file, replay_text(t, t->last[i].function));
        fputs(",\"file\":", file);
        replay_put_text(file, replay_text(t, t->last[i].file));
        fprintf(file, ",\"line\":%d,\"inCycle\":%s,\"waitsFor\":", t->last[i].line,
                t->last[i].in_cycle ? "true" : "false");
        put_list(file, t->last[i].waits_for, t->last[i].waits_count);
        putc('}', file);
    }
    fputs("]}", file);
}

void replay_data(FILE *file, const replay_trace *t)
{
    fprintf(file, "{\"ranks\":%d,\"virtual\":%s,\"status\":%d,\"dropped\":%.0f,\"world\":", t->ranks,
            t->is_virtual ? "true" : "false", t->status, t->dropped);
    replay_put_text(file, replay_text(t, t->world));
    fputs(",\"program\":", file);
    replay_put_text(file, replay_text(t, t->program));
    fputs(",\"outcome\":", file);
    replay_put_text(file, replay_text(t, t->outcome));
    if (t->bandwidth > 0)
        fprintf(file, ",\"network\":{\"latencyUs\":%.6g,\"bandwidth\":%.9g,\"combining\":%.9g}", t->latency_us,
                t->bandwidth, t->combining);
    fputs(",\n", file);
    put_texts(file, t);
    fputs(",\n\"slices\":[", file);
    for (size_t i = 0; i < t->slice_count; i++) put_slice(file, &t->slices[i], i == 0);
    fputs("],\n\"messages\":[", file);
    for (size_t i = 0; i < t->message_count; i++) put_message(file, &t->messages[i], i == 0);
    fputs("],\n\"stats\":[", file);
    for (size_t i = 0; i < t->stats_count; i++) {
        const replay_stats *s = &t->stats[i];
        double row[] = {s->comm,          s->rank, s->peer, s->messages_sent, s->bytes_sent, s->messages_received,
                        s->bytes_received};
        put_row(file, row, sizeof row / sizeof *row, i == 0);
    }
    putc(']', file);
    put_end(file, t);
    putc('}', file);
}
