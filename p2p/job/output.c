/* SPDX-License-Identifier: MIT */
#include "p2p/job/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINK_FULL ((size_t)1 << 20)
#define LONG_LINE ((size_t)64 << 10)
#define READ_AT_ONCE ((size_t)16 << 10)

/* ---- Sinks ---- */

void p2p__sink_init(p2p_sink *sink, int fd)
{
    struct stat info;
    bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    *sink = (p2p_sink){.fd = fd, .chunk = is_file ? SINK_FULL : isatty(fd) ? 512 : PIPE_BUF};
}

void p2p__sink_free(p2p_sink *sink)
{
    free(sink->bytes);
    sink->bytes = NULL;
}

bool p2p__sink_waiting(const p2p_sink *sink)
{
    return sink->from < sink->to;
}

bool p2p__sink_full(const p2p_sink *sink)
{
    return sink->to - sink->from > SINK_FULL;
}

static bool make_room(char **bytes, size_t *room, size_t needed)
{
    if (needed <= *room) return true;
    size_t larger = *room ? 2 * *room : 4096;
    while (larger < needed) larger *= 2;
    char *grown = realloc(*bytes, larger);
    if (!grown) return false;
    *bytes = grown;
    *room = larger;
    return true;
}

void p2p__sink_add(p2p_sink *sink, const char *bytes, size_t count)
{
    if (sink->error || !count) return;
    if (sink->from == sink->to) sink->from = sink->to = 0;
    if (sink->to + count > sink->room && sink->from) {
        memmove(sink->bytes, sink->bytes + sink->from, sink->to - sink->from);
        sink->to -= sink->from;
        sink->from = 0;
    }
    if (!make_room(&sink->bytes, &sink->room, sink->to + count)) {
        sink->error = ENOMEM;
        return;
    }
    memcpy(sink->bytes + sink->to, bytes, count);
    sink->to += count;
    sink->last = bytes[count - 1];
}

/* What polls writable takes sink->chunk bytes without waiting: a pipe takes PIPE_BUF. */
void p2p__sink_flush(p2p_sink *sink)
{
    while (p2p__sink_waiting(sink)) {
        struct pollfd polled = {.fd = sink->fd, .events = POLLOUT};
        int ready = poll(&polled, 1, 0);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return;
        size_t count = sink->to - sink->from;
        ssize_t written = write(sink->fd, sink->bytes + sink->from, count < sink->chunk ? count : sink->chunk);
        if (written >= 0) {
            sink->from += (size_t)written;
        } else if (errno != EINTR && errno != EAGAIN) {
            sink->error = errno;
            sink->from = sink->to = 0;
        }
    }
}

/* ---- Streams ---- */

static void forward(p2p_stream *stream, const char *bytes, size_t count)
{
    char tag[16];
    if (stream->tag && stream->at_line_start)
        p2p__sink_add(stream->sink, tag, (size_t)snprintf(tag, sizeof tag, "[%d] ", stream->rank));
    p2p__sink_add(stream->sink, bytes, count);
    stream->at_line_start = bytes[count - 1] == '\n' || bytes[count - 1] == '\r';
}

/* A line ends with \n, or with \r, as progress bars do; \r\n is one end. */
static size_t line_length(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') return i + 1;
        if (bytes[i] == '\r') return i + 1 + (i + 1 < count && bytes[i + 1] == '\n');
    }
    return count > LONG_LINE ? count : 0;
}

static void forward_lines(p2p_stream *stream)
{
    size_t from = 0, length;
    while ((length = line_length(stream->line + from, stream->length - from)) > 0) {
        forward(stream, stream->line + from, length);
        from += length;
    }
    stream->length -= from;
    memmove(stream->line, stream->line + from, stream->length);
}

static void close_stream(p2p_stream *stream)
{
    close(stream->fd);
    stream->fd = -1;
}

/* What cannot be kept is read all the same: the rank must go on. */
static void keep_lines(p2p_stream *stream)
{
    if (!stream->lost) stream->lost = p2p__spill_keep(stream->keep, &stream->kept, stream->line, stream->length);
    stream->length = 0;
}

bool p2p__stream_read(p2p_stream *stream)
{
    if (stream->fd < 0) return false;
    bool room = make_room(&stream->line, &stream->room, stream->length + READ_AT_ONCE);
    ssize_t got = room ? read(stream->fd, stream->line + stream->length, READ_AT_ONCE) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
        close_stream(stream);
        return false;
    }
    stream->length += (size_t)got;
    if (!stream->keep)
        forward_lines(stream);
    else if (stream->length >= LONG_LINE || stream->lost)
        keep_lines(stream);
    return true;
}

void p2p__stream_end(const p2p_stream *stream)
{
    if (stream->fd >= 0) shutdown(stream->fd, SHUT_RD);
}

bool p2p__stream_replay(p2p_stream *stream)
{
    if (!stream->kept.count) return false;
    if (!stream->replays) keep_lines(stream); /* what has come last */
    stream->replays = true;
    if (!make_room(&stream->line, &stream->room, stream->length + READ_AT_ONCE)) return false;
    size_t got = p2p__spill_take(stream->keep, &stream->kept, stream->line + stream->length, READ_AT_ONCE);
    stream->length += got;
    forward_lines(stream);
    return got > 0;
}

void p2p__stream_finish(p2p_stream *stream)
{
    if (stream->length) {
        forward_lines(stream);
        if (stream->length) forward(stream, stream->line, stream->length);
        if (stream->tag && !stream->at_line_start) forward(stream, "\n", 1);
    }
    if (stream->fd >= 0) close_stream(stream);
    free(stream->line);
    stream->line = NULL;
    stream->length = stream->room = 0;
}
