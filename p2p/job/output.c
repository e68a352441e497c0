/* SPDX-License-Identifier: MIT */
#include "p2p/job/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINK_FULL ((size_t)1 << 20)
#define LONG_LINE ((size_t)64 << 10)
#define READ_AT_ONCE ((size_t)16 << 10)
#define MOST_IN_MEMORY ((size_t)64 << 20) /* where no temporary file can be had */

/* ---- Sinks ---- */

void p2p__sink_init(p2p_sink *sink, int fd)
{
    struct stat info;
    bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    *sink = (p2p_sink){.fd = fd, .chunk = is_file ? SINK_FULL : isatty(fd) ? 512 : PIPE_BUF};
}

bool p2p__sink_full(const p2p_sink *sink)
{
    return sink->to - sink->from > SINK_FULL;
}

static bool make_room(char **bytes, size_t *room, size_t needed)
{
    size_t larger = *room ? *room : 4096;
    while (larger < needed) larger *= 2;
    char *grown = larger == *room ? *bytes : realloc(*bytes, larger);
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
    while (sink->from < sink->to) {
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

/* ---- Kept until the job ends ---- */

static bool open_spill(p2p_spill *spill)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < SPILL_MOST)
        spill->share = spill->share * limit.rlim_cur / SPILL_MOST;
    if (!folder || !*folder) folder = "/tmp";
    spill->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->fd < 0 && (size_t)snprintf(name, sizeof name, "%s/pairwise.XXXXXX", folder) < sizeof name) {
        spill->fd = mkostemp(name, O_CLOEXEC);
        if (spill->fd >= 0) unlink(name);
    }
    if (spill->fd >= 0) return true;
    spill->fd = memfd_create("pairwise-output", MFD_CLOEXEC);
    spill->share /= SPILL_MOST / MOST_IN_MEMORY;
    return spill->fd >= 0;
}

/* What cannot be kept is read all the same: the rank must go on. */
static void keep_lines(p2p_stream *stream)
{
    p2p_spill *spill = stream->keep;
    if (!stream->lost && spill->fd < 0 && !open_spill(spill)) stream->lost = errno;
    if (!stream->lost && stream->length > spill->share - stream->kept) stream->lost = EDQUOT;
    for (size_t end = stream->kept + stream->length; !stream->lost && stream->kept < end;) {
        off_t at = (off_t)((size_t)stream->rank * spill->share + stream->kept);
        size_t left = end - stream->kept;
        ssize_t written = TEMP_FAILURE_RETRY(pwrite(spill->fd, stream->line + stream->length - left, left, at));
        if (written <= 0)
            stream->lost = written ? errno : EIO;
        else
            stream->kept += (size_t)written;
    }
    stream->length = 0;
}

/* ---- From reading to the end ---- */

bool p2p__stream_read(p2p_stream *stream)
{
    if (stream->fd < 0) return false;
    bool room = make_room(&stream->line, &stream->room, stream->length + READ_AT_ONCE);
    ssize_t got = room ? read(stream->fd, stream->line + stream->length, READ_AT_ONCE) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
        close(stream->fd);
        stream->fd = -1;
        if (stream->kept || stream->lost) keep_lines(stream); /* what has come last */
        return false;
    }
    stream->length += (size_t)got;
    if (!stream->keep)
        forward_lines(stream);
    else if (stream->length >= LONG_LINE || stream->lost)
        keep_lines(stream);
    return true;
}

bool p2p__stream_replay(p2p_stream *stream)
{
    if (stream->replayed == stream->kept) return false;
    if (!make_room(&stream->line, &stream->room, stream->length + READ_AT_ONCE)) return false;
    size_t left = stream->kept - stream->replayed;
    ssize_t got = TEMP_FAILURE_RETRY(pread(stream->keep->fd, stream->line + stream->length, MIN(left, READ_AT_ONCE),
                                           (off_t)((size_t)stream->rank * stream->keep->share + stream->replayed)));
    if (got <= 0) return false;
    stream->replayed += (size_t)got;
    stream->length += (size_t)got;
    forward_lines(stream);
    return true;
}

void p2p__stream_finish(p2p_stream *stream)
{
    if (stream->length) {
        forward_lines(stream);
        if (stream->length) forward(stream, stream->line, stream->length);
        if (stream->tag && !stream->at_line_start) forward(stream, "\n", 1);
    }
    if (stream->fd >= 0) close(stream->fd);
    stream->fd = -1;
    free(stream->line);
    stream->line = NULL;
    stream->length = stream->room = 0;
}
