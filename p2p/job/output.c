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
#include <sys/socket.h>
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

/* Of what is written at a time, as much as ends with a line: other launchers may write to the same pipe. */
static size_t whole_lines(const char *bytes, size_t count, size_t most)
{
    if (count <= most) return count;
    const char *end = memrchr(bytes, '\n', most);
    return end ? (size_t)(end + 1 - bytes) : most;
}

/* What polls writable takes sink->chunk bytes without waiting: a pipe takes PIPE_BUF. */
void p2p__sink_flush(p2p_sink *sink)
{
    while (sink->from < sink->to) {
        struct pollfd polled = {.fd = sink->fd, .events = POLLOUT};
        int ready = poll(&polled, 1, 0);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return;
        const char *from = sink->bytes + sink->from;
        ssize_t written = write(sink->fd, from, whole_lines(from, sink->to - sink->from, sink->chunk));
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

static void remember(const p2p_stream *stream, const char *line, size_t length)
{
    while (length && (line[length - 1] == '\n' || line[length - 1] == '\r')) length--;
    if (length) snprintf(stream->said, SAID, "%.*s", (int)MIN(length, SAID), line);
}

/* What stands last in `line`, with or without its end. */
static void remember_last(const p2p_stream *stream)
{
    const char *line = stream->line;
    size_t end = stream->length, from;
    if (!stream->said) return;
    while (end && (line[end - 1] == '\n' || line[end - 1] == '\r')) end--;
    for (from = end; from && line[from - 1] != '\n' && line[from - 1] != '\r'; from--) continue;
    if (end) remember(stream, line + from, end - from);
}

static void forward_lines(p2p_stream *stream)
{
    size_t from = 0, length;
    while ((length = line_length(stream->line + from, stream->length - from)) > 0) {
        if (stream->said) remember(stream, stream->line + from, length);
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

int p2p__spill_keep(p2p_spill *spill, int part, size_t *kept, const char *bytes, size_t count)
{
    if (spill->fd < 0 && !open_spill(spill)) return errno;
    if (count > spill->share - *kept) return EDQUOT;
    for (size_t left = count; left;) {
        off_t at = (off_t)((size_t)part * spill->share + *kept);
        ssize_t written = TEMP_FAILURE_RETRY(pwrite(spill->fd, bytes + count - left, left, at));
        if (written <= 0) return written ? errno : EIO;
        *kept += (size_t)written;
        left -= (size_t)written;
    }
    return 0;
}

size_t p2p__spill_take(const p2p_spill *spill, int part, size_t *taken, size_t kept, char *bytes, size_t room)
{
    off_t at = (off_t)((size_t)part * spill->share + *taken);
    if (*taken == kept) return 0;
    ssize_t got = TEMP_FAILURE_RETRY(pread(spill->fd, bytes, MIN(kept - *taken, room), at));
    if (got <= 0) return 0;
    *taken += (size_t)got;
    return (size_t)got;
}

/* What cannot be kept is read all the same: the rank must go on. */
static void keep_lines(p2p_stream *stream)
{
    remember_last(stream);
    if (!stream->lost)
        stream->lost = p2p__spill_keep(stream->keep, stream->rank, &stream->kept, stream->line, stream->length);
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
    size_t got = p2p__spill_take(stream->keep, stream->rank, &stream->replayed, stream->kept,
                                 stream->line + stream->length, READ_AT_ONCE);
    if (!got) return false;
    stream->length += got;
    forward_lines(stream);
    return true;
}

void p2p__stream_end(p2p_stream *stream)
{
    if (stream->fd >= 0) shutdown(stream->fd, SHUT_RD);
    while (p2p__stream_read(stream)) continue;
    if (stream->keep) remember_last(stream);
    if (!stream->keep) p2p__stream_finish(stream);
}

void p2p__stream_finish(p2p_stream *stream)
{
    if (stream->length) {
        forward_lines(stream);
        remember_last(stream);
        if (stream->length) forward(stream, stream->line, stream->length);
        if (stream->tag && !stream->at_line_start) forward(stream, "\n", 1);
    }
    if (stream->fd >= 0) close(stream->fd);
    stream->fd = -1;
    free(stream->line);
    stream->line = NULL;
    stream->length = stream->room = 0;
}
