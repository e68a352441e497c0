/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * shm_queue: one direction of a link in shared memory, writer and reader in turn. What records hold looks like the
 * heads of records that are still to come, so that content taken for a head is noticed. The two at once: tests/threads.
 */
#include "p2p/world/shm_queue.h"

#include <stdlib.h>
#include <string.h>

#include "tests/util/suite.h"

enum { MOST_WAITING = QUEUE_LARGEST / QUEUE_LINE };

/* What has been written and not been read. */
typedef struct {
    size_t content;
    unsigned kind;
    uint64_t key;
} record;

typedef struct {
    void *memory;
    shm_writer writer;
    shm_reader reader;
    record waiting[MOST_WAITING];
    size_t first, count; /* in waiting */
    uint64_t written;
    bool asked; /* to be woken */
    unsigned random;
} queue;

static void queue_make(queue *r, size_t bytes)
{
    memset(r, 0, sizeof *r);
    r->memory = aligned_alloc(QUEUE_LINE, p2p__queue_bytes(bytes));
    cr_assert_not_null(r->memory);
    memset(r->memory, 0, p2p__queue_bytes(bytes));
    p2p__queue_open(r->memory, bytes, &r->writer, &r->reader);
}

static unsigned next_random(queue *r)
{
    r->random = r->random * 1664525u + 1013904223u;
    return r->random >> 8;
}

/* Word i of a record whose first line is line `key` a lap later: the head that the line it is in will have then. */
static uint64_t word_of(uint64_t key, size_t i)
{
    return p2p__queue_number(key + (i + 1) / 8) | (uint64_t)QUEUE_FRAME << 28 | 8;
}

static void fill(unsigned char *to, size_t content, uint64_t key)
{
    for (size_t at = 0; at < content; at += 8) {
        uint64_t word = word_of(key, at / 8);
        memcpy(to + at, &word, content - at < 8 ? content - at : 8);
    }
}

static bool is_intact(const unsigned char *from, size_t content, uint64_t key)
{
    for (size_t at = 0; at < content; at += 8) {
        uint64_t word = word_of(key, at / 8);
        if (memcmp(from + at, &word, content - at < 8 ? content - at : 8) != 0) return false;
    }
    return true;
}

/* If the writer has moved, there is a pad. */
static void expect_pad(queue *r, uint64_t before)
{
    if (r->writer.at != before) r->waiting[(r->first + r->count++) % MOST_WAITING] = (record){0, QUEUE_PAD, 0};
}

/* False if there is no room. */
static bool write_one(queue *r, size_t content)
{
    uint64_t at = r->writer.at;

    p2p__queue_fetch(&r->writer);
    p2p__queue_rewind(&r->writer, content);
    expect_pad(r, at);
    at = r->writer.at;
    size_t room = p2p__queue_room(&r->writer, content ? content : 1);
    expect_pad(r, at);
    r->asked = r->asked || !room;
    if (room < content || !room) return false;
    record made = {content, QUEUE_SHORT + (unsigned)(r->written % 3), r->writer.at + r->writer.size};
    fill(p2p__queue_begin(&r->writer, content), content, made.key);
    p2p__queue_publish(&r->writer, content, made.kind);
    r->waiting[(r->first + r->count++) % MOST_WAITING] = made;
    r->written++;
    return true;
}

static void read_one(queue *r)
{
    record want = r->waiting[r->first];
    size_t content;
    unsigned kind;

    cr_assert(p2p__queue_waiting(&r->reader), "line %zu: the record is not there", (size_t)r->reader.at);
    const unsigned char *at = p2p__queue_look(&r->reader, &content, &kind);
    cr_assert_not_null(at);
    cr_assert(kind == want.kind, "line %zu: kind %u, expected %u", (size_t)r->reader.at, kind, want.kind);
    if (kind != QUEUE_PAD) {
        cr_assert_eq(content, want.content);
        cr_assert(is_intact(at, content, want.key), "line %zu: not what was written", (size_t)r->reader.at);
    }
    if (p2p__queue_take(&r->reader, content)) r->asked = false;
    r->first = (r->first + 1) % MOST_WAITING;
    r->count--;
}

static void read_all(queue *r)
{
    while (r->count) read_one(r);
    cr_assert(!p2p__queue_waiting(&r->reader), "line %zu: content was taken for a record", (size_t)r->reader.at);
}

static const size_t sizes[] = {QUEUE_SMALLEST, 2 * QUEUE_SMALLEST, 4096, 8192, QUEUE_LARGEST};

Test(shm_queue, any_records_in_any_rhythm)
{
    static queue r;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        queue_make(&r, sizes[s]);
        for (int step = 0; step < 60000; step++) {
            size_t most = next_random(&r) % 4 ? 200 : sizes[s] / 2;
            if (next_random(&r) % 2)
                write_one(&r, next_random(&r) % (most + 1));
            else if (r.count)
                read_one(&r);
            if (!r.count) read_all(&r);
        }
        read_all(&r);
        cr_assert_gt(r.written, 10000);
        free(r.memory);
    }
}

/* Wherever in the queue the writer is, a header finds room once everything has been read, and a writer that waited is
 * told. */
Test(shm_queue, a_full_ring_asks_and_is_answered)
{
    static queue r;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        queue_make(&r, sizes[s]);
        for (size_t content = 0; content <= 64; content++)
            for (int lap = 0; lap < 3; lap++) {
                while (write_one(&r, content)) continue;
                cr_assert(r.asked, "no room, and the reader was not asked");
                read_all(&r);
                cr_assert(!r.asked, "all is read, and the writer was not told");
                cr_assert(write_one(&r, 64), "no room for 64 bytes in an empty queue of %zu", sizes[s]);
            }
        free(r.memory);
    }
}

/* As long as everything is read at once, no line behind the first ones is written; and all of the ring if nothing
 * is. */
Test(shm_queue, near_lines_while_the_reader_keeps_up)
{
    static queue r;
    size_t lines_of_record = 3, records = 0;

    queue_make(&r, QUEUE_LARGEST);
    for (int step = 0; step < 10000; step++) {
        p2p__queue_rewind(&r.writer, lines_of_record * QUEUE_LINE - QUEUE_HEAD);
        cr_assert_lt(r.writer.at % r.writer.size, QUEUE_NEAR);
        expect_pad(&r, r.reader.at);
        cr_assert(write_one(&r, lines_of_record * QUEUE_LINE - QUEUE_HEAD));
        read_all(&r);
    }
    while (write_one(&r, lines_of_record * QUEUE_LINE - QUEUE_HEAD)) records++;
    cr_assert_gt(records * lines_of_record, r.writer.size / 2, "%zu records of %zu lines at %zu", records,
                 lines_of_record, (size_t)r.writer.at % r.writer.size);
    free(r.memory);
}

/* In a small queue. The lines that are fetched for the next message are not those that the reader still reads. */
Test(shm_queue, two_messages_side_by_side)
{
    static queue r;
    uint64_t lines = QUEUE_NEAR - 6, farthest = 0;

    queue_make(&r, (size_t)4 * QUEUE_NEAR * QUEUE_LINE);
    for (int step = 0; step < 1000; step++) {
        uint64_t before = r.writer.at % r.writer.size;
        cr_assert(write_one(&r, lines * QUEUE_LINE - QUEUE_HEAD));
        uint64_t first = (r.writer.at - lines) % r.writer.size;
        cr_assert(first == before || first == 0, "a message begins at line %zu", (size_t)first);
        if (r.writer.at % r.writer.size > farthest) farthest = r.writer.at % r.writer.size;
        for (int poll = 0; poll < QUEUE_NEAR; poll++) p2p__queue_fetch(&r.writer);
        cr_assert_eq(r.writer.fetched, r.writer.message);
        read_all(&r);
    }
    cr_assert(farthest >= 2 * lines && farthest < 4 * lines, "%zu lines are used", (size_t)farthest);
    free(r.memory);
}

/* Long messages use one line after the other, round the whole ring; short ones between them stay near, and the next long one
 * goes on behind the last. */
Test(shm_queue, long_messages_go_round)
{
    static queue r;
    const uint64_t lines = QUEUE_FAR + 10;

    queue_make(&r, QUEUE_LARGEST);
    for (int lap = 0; lap < 3; lap++) {
        uint64_t end = r.writer.at % r.writer.size, longs = 0;
        do {
            cr_assert(write_one(&r, lines * QUEUE_LINE - QUEUE_HEAD));
            uint64_t first = (r.writer.at - lines) % r.writer.size;
            bool at_either_end = end < QUEUE_NEAR || end + QUEUE_NEAR > r.writer.size;
            cr_assert(first == end || first == 0 || at_either_end,
                      "a long message begins at line %zu, the last ended at %zu", (size_t)first, (size_t)end);
            end = r.writer.at % r.writer.size;
            read_all(&r);
            for (uint64_t i = 0; i < (longs % 2 ? 7 : 2 * QUEUE_NEAR); i++) {
                cr_assert(write_one(&r, 8));
                cr_assert_leq(r.writer.at % r.writer.size, QUEUE_NEAR);
                read_all(&r);
            }
        } while (++longs < r.writer.size / lines);
    }
    free(r.memory);
}

/* No more is skipped than there is room for. */
Test(shm_queue, long_messages_do_not_pass_what_is_unread)
{
    static queue r;
    const size_t far_away = QUEUE_LARGEST - (size_t)2 * QUEUE_FAR * QUEUE_LINE;

    queue_make(&r, QUEUE_LARGEST);
    for (size_t content = 0; content < far_away; content += (size_t)QUEUE_FAR * QUEUE_LINE) {
        cr_assert(write_one(&r, (size_t)QUEUE_FAR * QUEUE_LINE));
        read_all(&r);
    }
    for (int unread = 0; unread < QUEUE_NEAR; unread++) {
        cr_assert(write_one(&r, 8));
        read_all(&r);
        for (int i = 0; i < unread; i++) cr_assert(write_one(&r, 8));
        cr_assert(write_one(&r, (size_t)QUEUE_FAR * QUEUE_LINE), "%d lines are unread, and no room for %d", unread,
                  QUEUE_FAR);
        while (write_one(&r, (size_t)QUEUE_FAR * QUEUE_LINE)) continue;
        cr_assert(r.asked);
        read_all(&r);
    }
    free(r.memory);
}

/* ---- Line numbers go round after 2^32 or 2^31 of them, and what stood there before is not taken for new ---- */

/* As if so many lines had been written and read, the ring's memory being what it is now. A multiple of its size, if it
 * is not new. */
static void go_on(queue *r, uint64_t lines)
{
    r->writer.at += lines;
    r->writer.taken_seen += lines;
    r->reader.at += lines;
    r->reader.told += lines;
    atomic_store(&r->reader.ring->taken, r->reader.told);
}

/* From `before` lines before the number `round`, records of one length, `behind` of them waiting at a time. */
static void pass(queue *r, size_t size, uint64_t round, uint64_t before, size_t content, size_t behind)
{
    memset(r->memory, 0, p2p__queue_bytes(size));
    p2p__queue_open(r->memory, size, &r->writer, &r->reader);
    r->first = r->count = 0;
    go_on(r, round - before);
    while (r->reader.at < round + r->reader.size) {
        while (r->count <= behind && write_one(r, content)) continue;
        if (behind)
            read_one(r);
        else
            read_all(r);
    }
    read_all(r);
}

static void pass_everywhere(queue *r, size_t size, uint64_t round)
{
    static const size_t behind[] = {0, 3, MOST_WAITING};
    uint64_t lines = size / QUEUE_LINE, step = 1 + lines / 16;

    for (uint64_t before = 1; before <= 2 * lines; before += before < 10 ? 1 : step)
        for (size_t content = 0; content <= size / 2; content += content < 130 ? 13 : content)
            for (size_t k = 0; k < sizeof behind / sizeof *behind; k++)
                pass(r, size, round, before, content, behind[k]);
}

Test(shm_queue, line_numbers_go_round_at_every_offset_and_size)
{
    static queue r;

    for (size_t size = QUEUE_SMALLEST; size <= QUEUE_LARGEST / 4; size *= 2) {
        queue_make(&r, size);
        pass_everywhere(&r, size, UINT64_C(1) << 32);
        pass_everywhere(&r, size, UINT64_C(1) << 31);
        free(r.memory);
    }
}

Test(shm_queue, line_numbers_go_round_in_any_rhythm)
{
    static queue r;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        queue_make(&r, sizes[s]);
        for (int lap = 0; lap < 200; lap++) {
            memset(r.memory, 0, p2p__queue_bytes(sizes[s]));
            p2p__queue_open(r.memory, sizes[s], &r.writer, &r.reader);
            go_on(&r, (UINT64_C(1) << 32) - 1 - next_random(&r) % r.writer.size);
            while (r.reader.at < (UINT64_C(1) << 32) + r.reader.size) {
                if (next_random(&r) % 2)
                    write_one(&r, next_random(&r) % (next_random(&r) % 8 ? 200 : sizes[s] / 2));
                else if (r.count)
                    read_one(&r);
                if (!r.count) read_all(&r);
            }
            read_all(&r);
        }
        free(r.memory);
    }
}

/* Back to the first line, which the writer does when it has written QUEUE_NEAR lines and all is read. */
static void begin_again(queue *r)
{
    do {
        write_one(r, 8);
        read_all(r);
    } while (r->writer.at % r->writer.size != QUEUE_NEAR);
    p2p__queue_rewind(&r->writer, 8);
    expect_pad(r, r->reader.at);
    read_all(r);
}

/* The writer stays near for a whole round of the numbers; then it goes where it has not been since. */
Test(shm_queue, lines_that_were_skipped_for_a_whole_round)
{
    static const uint64_t rounds[] = {UINT64_C(1) << 32, UINT64_C(1) << 31, UINT64_C(1) << 32};
    static queue r;

    queue_make(&r, QUEUE_LARGEST);
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
        uint64_t lap = r.writer.at;
        for (int i = 0; i < 600; i++) cr_assert(write_one(&r, 8));
        read_all(&r);
        begin_again(&r);
        go_on(&r, lap + rounds[k] - r.writer.at);
        for (int i = 0; i < 300; i++) write_one(&r, i % 3 ? 8 : 100);
        read_all(&r);
        begin_again(&r);
    }
    free(r.memory);
}

Test(shm_queue, a_length_that_cannot_be)
{
    static queue r;
    size_t content;
    unsigned kind;

    queue_make(&r, QUEUE_SMALLEST);
    atomic_store(p2p__queue_head(r.reader.ring, r.reader.size, 0),
                 p2p__queue_number(0) | (uint64_t)QUEUE_SHORT << 28 | (QUEUE_SMALLEST - QUEUE_HEAD + 1));
    cr_assert(p2p__queue_waiting(&r.reader));
    cr_assert_null(p2p__queue_look(&r.reader, &content, &kind));
    free(r.memory);
}
