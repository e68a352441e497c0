/* SPDX-License-Identifier: MIT */
// worlds: each; short writes; 3 hosts
/*
 * p2p_messages: blocking calls. Every program here is right under strict mode too (no send needs buffering), except
 * where a test says so. Message contents are a function of source, destination and tag: see util/pattern.h.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/util/pattern.h"
#include "tests/util/suite.h"

enum { KI = 1024, MI = 1024 * 1024, ROOM = 5 * MI, CANARY = 0xA5, MARGIN = 64 };

static unsigned char out[ROOM], in[ROOM + MARGIN];

static const size_t sizes[] = {0,           1,           63,      64,          65, 8 * KI,     8 * KI + 1,
                               24 * KI - 5, 64 * KI - 1, 64 * KI, 64 * KI + 1, MI, 3 * MI + 17};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Helpers of the rank functions ---- */

/* The partner with the last bit of the rank flipped; alone, oneself. */
static int partner_of(p2p_comm *comm)
{
    int other = p2p_rank(comm) ^ 1;

    return other < p2p_size(comm) ? other : p2p_rank(comm);
}

/* Nothing behind the message was touched. */
static int check_margin(size_t bytes)
{
    for (size_t i = bytes; i < bytes + MARGIN; i++) CHECK(in[i] == CANARY, "byte %zu behind the message changed", i);
    return 0;
}

static int send_pattern(p2p_comm *comm, int dest, int tag, size_t bytes)
{
    pattern_fill(out, bytes, pattern_key(p2p_rank(comm), dest, tag));
    CALL(p2p_send(comm, out, bytes, dest, tag));
    return 0;
}

/* Post a send of the pattern from memory of its own, which the caller frees after waiting. */
static int isend_pattern(p2p_comm *comm, int dest, int tag, size_t bytes, void **buf, p2p_request *request)
{
    *buf = malloc(bytes + 1);
    CHECK(*buf, "no memory");
    pattern_fill(*buf, bytes, pattern_key(p2p_rank(comm), dest, tag));
    CALL(p2p_isend(comm, *buf, bytes, dest, tag, request));
    return 0;
}

/* Receive with room to spare and check everything. */
static int recv_pattern(p2p_comm *comm, int source, int tag, size_t bytes)
{
    p2p_status status;

    memset(in, CANARY, bytes + MARGIN);
    CALL(p2p_recv(comm, in, sizeof in, source, tag, &status));
    STEP(job_check_message(in, &status, source, p2p_rank(comm), tag, bytes));
    return check_margin(bytes);
}

/* ---- Sizes ---- */

/* Every rank sends to the rank `shift` further on while receiving from the one `shift` before. */
static int shift_by(p2p_comm *world, int shift, int tag, size_t bytes)
{
    int rank = p2p_rank(world), size = p2p_size(world);
    int dest = (rank + shift) % size, source = (rank - shift + size) % size;
    p2p_status status;

    pattern_fill(out, bytes, pattern_key(rank, dest, tag));
    memset(in, CANARY, bytes + MARGIN);
    CALL(p2p_sendrecv(world, out, bytes, dest, tag, in, bytes, source, tag, &status));
    STEP(job_check_message(in, &status, source, rank, tag, bytes));
    return check_margin(bytes);
}

static int shift_all_sizes(p2p_comm *world, void *arg)
{
    int shifts = p2p_size(world) < 3 ? p2p_size(world) : 3;

    (void)arg;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int shift = 0; shift < shifts; shift++) STEP(shift_by(world, shift, (int)s, sizes[s]));
    return 0;
}

Test(p2p, sendrecv_of_every_size_to_self_and_others)
{
    ASSERT_RIGHT(job_matrix(shift_all_sizes, NULL));
}

/* Received a few bytes behind where it lies at the sender, both counted from the beginning of a page: such copies go another way
 * (p2p/shared/copy.h). */
static int receive_behind(p2p_comm *world, size_t behind, int tag, size_t bytes)
{
    int rank = p2p_rank(world), other = partner_of(world);
    unsigned char *to = in + ((uintptr_t)out - (uintptr_t)in) % 4096 + behind;
    p2p_status status;

    pattern_fill(out, bytes, pattern_key(rank, other, tag));
    memset(to - 1, CANARY, bytes + MARGIN);
    CALL(p2p_sendrecv(world, out, bytes, other, tag, to, bytes, other, tag, &status));
    STEP(job_check_message(to, &status, other, rank, tag, bytes));
    CHECK(to[-1] == CANARY && to[bytes] == CANARY, "%zu behind: a byte beside the message changed", behind);
    return 0;
}

static int receive_all_behind(p2p_comm *world, void *arg)
{
    static const size_t behind[] = {1, 4, 16, 28, 31, 32};

    (void)arg;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t k = 0; k < COUNT(behind) && sizes[s] >= 8 * KI; k++)
            STEP(receive_behind(world, behind[k], (int)s, sizes[s]));
    return 0;
}

Test(p2p, messages_received_behind_where_they_are_sent_from)
{
    ASSERT_RIGHT(job_matrix(receive_all_behind, NULL));
}

/* Blocking sends and receives down the line of ranks, and back up with p2p_ssend. */
static int pass_along(p2p_comm *world, size_t bytes, int tag)
{
    int rank = p2p_rank(world), last = p2p_size(world) - 1;

    if (rank > 0) STEP(recv_pattern(world, rank - 1, tag, bytes));
    if (rank < last) STEP(send_pattern(world, rank + 1, tag, bytes));
    if (rank < last) STEP(recv_pattern(world, rank + 1, tag, bytes));
    if (rank == 0) return 0;
    pattern_fill(out, bytes, pattern_key(rank, rank - 1, tag));
    CALL(p2p_ssend(world, out, bytes, rank - 1, tag));
    return 0;
}

static int line_of_ranks(p2p_comm *world, void *arg)
{
    (void)arg;
    for (size_t s = 0; s < COUNT(sizes); s++) STEP(pass_along(world, sizes[s], INT_MAX - (int)s));
    return 0;
}

Test(p2p, send_recv_ssend_of_every_size_along_a_line)
{
    ASSERT_RIGHT(job_matrix(line_of_ranks, NULL));
}

static int empty_messages(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), other = partner_of(world);
    p2p_status status = {-9, -9, 9};

    (void)arg;
    CALL(p2p_sendrecv(world, NULL, 0, other, 1, NULL, 0, other, 1, &status));
    CHECK(status.source == other && status.tag == 1 && status.bytes == 0, "status of an empty message");
    CALL(p2p_sendrecv(world, NULL, 0, rank, 2, NULL, 0, rank, 2, P2P_STATUS_IGNORE));
    return 0;
}

Test(p2p, empty_messages_need_no_buffer)
{
    ASSERT_RIGHT(job_matrix(empty_messages, NULL));
}

static int shorter_than_the_buffer(p2p_comm *world, void *arg)
{
    static const size_t lengths[] = {0, 1, 1000, 64 * KI + 1};
    int other = partner_of(world);
    p2p_request request;
    void *buf;

    (void)arg;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        STEP(isend_pattern(world, other, 4, lengths[i], &buf, &request));
        STEP(recv_pattern(world, other, 4, lengths[i]));
        CALL(p2p_wait(&request, NULL));
        free(buf);
    }
    return 0;
}

Test(p2p, message_shorter_than_the_buffer)
{
    ASSERT_RIGHT(job_matrix(shorter_than_the_buffer, NULL));
}

/* ---- Buffering: what a send may and may not do before its receive ---- */

/* A send to oneself, then the receive: right as long as the message is at most 64 KiB. */
static int send_to_self_first(p2p_comm *world, void *arg)
{
    static const size_t lengths[] = {0, 1, 64, 64 * KI - 1, 64 * KI};
    int rank = p2p_rank(world);

    (void)arg;
    for (size_t i = 0; i < COUNT(lengths); i++) STEP(send_pattern(world, rank, (int)i, lengths[i]));
    for (size_t i = COUNT(lengths); i-- > 0;) STEP(recv_pattern(world, rank, (int)i, lengths[i]));
    return 0;
}

/* Both send first and then receive in the other order. */
static int both_send_first(p2p_comm *world, void *arg)
{
    int other = partner_of(world);

    (void)arg;
    for (int tag = 0; tag < 10; tag++) STEP(send_pattern(world, other, tag, 64 * KI));
    for (int tag = 10; tag-- > 0;) STEP(recv_pattern(world, other, tag, 64 * KI));
    return 0;
}

Test(p2p, up_to_64_KiB_is_buffered)
{
    static const int few[] = {1, 2, 5};

    ASSERT_RIGHT(job_sizes(few, COUNT(few), true, false, send_to_self_first, NULL));
    ASSERT_RIGHT(job_sizes(few, COUNT(few), true, false, both_send_first, NULL));
}

/* Rank 1 sees the message of rank 0 without receiving it; until then rank 0's call must not return. */
typedef struct {
    bool synchronous; /* p2p_ssend instead of p2p_send */
    size_t bytes;
    atomic_int *returned;
} early_return;

static int send_and_tell(p2p_comm *world, const early_return *what)
{
    pattern_fill(out, what->bytes, pattern_key(0, 1, 5));
    if (what->synchronous)
        CALL(p2p_ssend(world, out, what->bytes, 1, 5));
    else
        CALL(p2p_send(world, out, what->bytes, 1, 5));
    atomic_store(what->returned, 1);
    return 0;
}

static int look_then_receive(p2p_comm *world, const early_return *what)
{
    p2p_status status;
    bool found;

    CALL(p2p_probe(world, 0, 5, &status));
    for (int i = 0; i < 200; i++) {
        CALL(p2p_iprobe(world, 0, 5, &found, &status));
        CHECK(found && status.bytes == what->bytes, "the probed message is not there, or not whole");
    }
    CHECK(!atomic_load(what->returned), "the send of %zu bytes returned before its receive", what->bytes);
    return recv_pattern(world, 0, 5, what->bytes);
}

static int no_early_return(p2p_comm *world, void *arg)
{
    if (p2p_rank(world) == 0) return send_and_tell(world, arg);
    return p2p_rank(world) == 1 ? look_then_receive(world, arg) : 0;
}

static void expect_no_early_return(bool strict, bool synchronous, size_t bytes)
{
    early_return what = {synchronous, bytes, job_shared(sizeof *what.returned)};

    ASSERT_RIGHT(job_right(3, strict, no_early_return, &what));
}

Test(p2p, ssend_waits_for_its_receive)
{
    expect_no_early_return(false, true, 0);
    expect_no_early_return(false, true, 8);
    expect_no_early_return(false, true, MI);
}

Test(p2p, large_send_waits_for_its_receive)
{
    expect_no_early_return(false, false, 64 * KI + 1);
    expect_no_early_return(false, false, MI);
}

Test(p2p, strict_send_waits_for_its_receive)
{
    expect_no_early_return(true, false, 0);
    expect_no_early_return(true, false, 8);
    expect_no_early_return(true, false, 64 * KI);
}

/* ---- Any source, any tag ---- */

enum { EACH = 12 };

static size_t mixed_length(int source, int tag)
{
    return tag % 5 == 3 ? (size_t)(64 * KI + source + tag) : (size_t)(source * 100 + tag);
}

/* To all ranks, this one included: messages with tags 0, 1, 2, ... */
static int post_to_all(p2p_comm *world, p2p_request requests[], void *bufs[])
{
    int rank = p2p_rank(world), size = p2p_size(world);

    for (int tag = 0; tag < EACH; tag++)
        for (int dest = 0; dest < size; dest++) {
            int i = tag * size + dest;
            STEP(isend_pattern(world, dest, tag, mixed_length(rank, tag), &bufs[i], &requests[i]));
        }
    return 0;
}

static int finish_posted(p2p_comm *world, p2p_request requests[], void *bufs[])
{
    size_t count = EACH * (size_t)p2p_size(world);

    CALL(p2p_wait_all(count, requests, P2P_STATUSES_IGNORE));
    for (size_t i = 0; i < count; i++) {
        CHECK(requests[i] == P2P_REQUEST_NULL, "request %zu is not null after p2p_wait_all", i);
        free(bufs[i]);
    }
    return 0;
}

/* From any source: the tags of one source must still come in the order in which it sent them. */
static int receive_any(p2p_comm *world, int next_tag[])
{
    p2p_status status;

    CALL(p2p_recv(world, in, sizeof in, P2P_ANY_SOURCE, P2P_ANY_TAG, &status));
    int source = status.source;
    CHECK(source >= 0 && source < p2p_size(world), "source %d", source);
    CHECK(status.tag == next_tag[source], "from %d: tag %d, expected %d", source, status.tag, next_tag[source]);
    next_tag[source]++;
    return job_check_message(in, &status, source, p2p_rank(world), status.tag, mixed_length(source, status.tag));
}

static int everything_from_anyone(p2p_comm *world, void *arg)
{
    p2p_request requests[EACH * 8];
    void *bufs[EACH * 8];
    int next_tag[8] = {0};

    (void)arg;
    STEP(post_to_all(world, requests, bufs));
    for (int i = 0; i < EACH * p2p_size(world); i++) STEP(receive_any(world, next_tag));
    return finish_posted(world, requests, bufs);
}

Test(p2p, any_source_and_any_tag)
{
    ASSERT_RIGHT(job_matrix(everything_from_anyone, NULL));
}

/* Tags from the last to the first, from any source: all that came too early had to be kept. */
static int any_source_by_tag(p2p_comm *world, void *arg)
{
    p2p_request requests[EACH * 8];
    void *bufs[EACH * 8];
    p2p_status status;

    (void)arg;
    STEP(post_to_all(world, requests, bufs));
    for (int tag = EACH; tag-- > 0;) {
        unsigned seen = 0;
        for (int i = 0; i < p2p_size(world); i++) {
            CALL(p2p_recv(world, in, sizeof in, P2P_ANY_SOURCE, tag, &status));
            CHECK(status.source >= 0 && !(seen >> status.source & 1), "two messages from %d", status.source);
            seen |= 1u << status.source;
            STEP(job_check_message(in, &status, status.source, p2p_rank(world), tag, mixed_length(status.source, tag)));
        }
    }
    return finish_posted(world, requests, bufs);
}

Test(p2p, any_source_of_one_tag_out_of_order)
{
    ASSERT_RIGHT(job_matrix(any_source_by_tag, NULL));
}

/* The highest source first, with any tag: its messages in order, the others kept meanwhile. */
static int any_tag_by_source(p2p_comm *world, void *arg)
{
    p2p_request requests[EACH * 8];
    void *bufs[EACH * 8];
    p2p_status status;

    (void)arg;
    STEP(post_to_all(world, requests, bufs));
    for (int source = p2p_size(world); source-- > 0;)
        for (int tag = 0; tag < EACH; tag++) {
            CALL(p2p_recv(world, in, sizeof in, source, P2P_ANY_TAG, &status));
            STEP(job_check_message(in, &status, source, p2p_rank(world), tag, mixed_length(source, tag)));
        }
    return finish_posted(world, requests, bufs);
}

Test(p2p, any_tag_of_one_source_in_order)
{
    ASSERT_RIGHT(job_matrix(any_tag_by_source, NULL));
}

/* ---- Order ---- */

enum { MANY = 4000 };

/* Even ranks send to the next odd one, all with one tag; every 500th message is a large one. */
static size_t order_length(int i)
{
    return i % 500 == 250 ? 64 * KI + 100 : 8 + (size_t)i % 90;
}

static int send_numbered(p2p_comm *world, int dest)
{
    for (int i = 0; i < MANY; i++) {
        memcpy(out, &i, sizeof i);
        CALL(p2p_send(world, out, order_length(i), dest, 3));
    }
    return 0;
}

static int receive_numbered(p2p_comm *world, int source, int tag)
{
    p2p_status status;
    int number;

    for (int i = 0; i < MANY; i++) {
        CALL(p2p_recv(world, in, sizeof in, source, tag, &status));
        memcpy(&number, in, sizeof number);
        CHECK(number == i && status.bytes == order_length(i), "message %d overtook message %d", number, i);
    }
    return 0;
}

static int in_order(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), other = rank ^ 1, tag = *(int *)arg;

    if (other >= p2p_size(world)) return 0;
    return rank % 2 ? receive_numbered(world, other, tag) : send_numbered(world, other);
}

Test(p2p, messages_do_not_overtake)
{
    static const int few[] = {2, 5, 8};
    int three = 3, any = P2P_ANY_TAG;

    ASSERT_RIGHT(job_sizes(few, COUNT(few), true, true, in_order, &three));
    ASSERT_RIGHT(job_sizes(few, COUNT(few), true, true, in_order, &any));
}

/* ---- Truncation: an error with the buffer untouched; the next message is fine ---- */

typedef struct {
    size_t sent, room;
} cut;

static const cut cuts[] = {{1, 0}, {100, 99}, {64 * KI, 64 * KI - 1}, {64 * KI + 1, 10}, {MI, 64 * KI}};

/* The receive that is too short has just returned `err`. */
static int check_truncated(p2p_comm *world, const cut *what, p2p_err err, const p2p_status *status)
{
    char sent[32], room[32];

    RETURNS(P2P_ERR_TRUNCATE, err);
    for (size_t i = 0; i < what->sent + MARGIN; i++) CHECK(in[i] == CANARY, "byte %zu of the buffer changed", i);
    CHECK(status->source == -9 && status->tag == -9 && status->bytes == 9, "status set in spite of the error");
    snprintf(sent, sizeof sent, "%zu", what->sent);
    snprintf(room, sizeof room, "%zu", what->room);
    const char *message = p2p_error_message(world);
    CHECK(strstr(message, sent) && strstr(message, room), "message without both sizes: %s", message);
    return 0;
}

static int truncate_blocking(p2p_comm *world, const cut *what)
{
    p2p_status status = {-9, -9, 9};

    memset(in, CANARY, what->sent + MARGIN);
    p2p_err err = p2p_recv(world, in, what->room, partner_of(world), 7, &status);
    return check_truncated(world, what, err, &status);
}

/* The receive is there before the message is. */
static int truncate_posted(p2p_comm *world, const cut *what, p2p_request *request)
{
    p2p_status status = {-9, -9, 9};
    p2p_err err = p2p_wait(request, &status);

    CHECK(*request == P2P_REQUEST_NULL, "a request that failed is not null");
    return check_truncated(world, what, err, &status);
}

static int truncated(p2p_comm *world, const cut *what, bool posted)
{
    int other = partner_of(world);
    p2p_request sends[2], receive;
    void *bufs[2];

    memset(in, CANARY, what->sent + MARGIN);
    if (posted) {
        CALL(p2p_irecv(world, in, what->room, other, 7, &receive));
        CALL(p2p_sendrecv(world, NULL, 0, other, 9, NULL, 0, other, 9, NULL));
    }
    STEP(isend_pattern(world, other, 7, what->sent, &bufs[0], &sends[0]));
    STEP(isend_pattern(world, other, 7, what->sent + 1, &bufs[1], &sends[1]));
    STEP(posted ? truncate_posted(world, what, &receive) : truncate_blocking(world, what));
    STEP(recv_pattern(world, other, 7, what->sent + 1));
    CALL(p2p_wait_all(2, sends, P2P_STATUSES_IGNORE));
    free(bufs[0]);
    free(bufs[1]);
    return 0;
}

static int truncation(p2p_comm *world, void *arg)
{
    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    for (size_t i = 0; i < COUNT(cuts); i++) {
        STEP(truncated(world, &cuts[i], false));
        STEP(truncated(world, &cuts[i], true));
    }
    return 0;
}

Test(p2p, truncation_leaves_the_buffer_and_the_stream_alone)
{
    ASSERT_RIGHT(job_matrix(truncation, NULL));
}

/* ---- Probe ---- */

static int check_probed(const p2p_status *status, int source, int tag, size_t bytes)
{
    CHECK(status->source == source && status->tag == tag && status->bytes == bytes,
          "probed source %d, tag %d, %zu bytes; sent were %d, %d, %zu", status->source, status->tag, status->bytes,
          source, tag, bytes);
    return 0;
}

/* Two messages wait, tags 3 and 4; looking changes nothing. */
static int look_around(p2p_comm *world, int other, size_t bytes)
{
    p2p_status status = {-9, -9, 9};
    bool found;

    CALL(p2p_probe(world, other, 4, &status));
    STEP(check_probed(&status, other, 4, bytes + 1));
    CALL(p2p_probe(world, P2P_ANY_SOURCE, P2P_ANY_TAG, &status));
    STEP(check_probed(&status, other, 3, bytes));
    CALL(p2p_iprobe(world, other, P2P_ANY_TAG, &found, &status));
    CHECK(found, "p2p_iprobe does not see what p2p_probe saw");
    STEP(check_probed(&status, other, 3, bytes));
    CALL(p2p_iprobe(world, other, 5, &found, NULL));
    CHECK(!found, "p2p_iprobe found a message that was not sent");
    return 0;
}

static int probe_pair(p2p_comm *world, size_t bytes)
{
    int other = partner_of(world);
    p2p_request sends[2];
    void *bufs[2];
    bool found;

    STEP(isend_pattern(world, other, 3, bytes, &bufs[0], &sends[0]));
    STEP(isend_pattern(world, other, 4, bytes + 1, &bufs[1], &sends[1]));
    STEP(look_around(world, other, bytes));
    STEP(recv_pattern(world, other, 4, bytes + 1));
    STEP(recv_pattern(world, other, 3, bytes));
    for (int tag = 3; tag <= 4; tag++) {
        CALL(p2p_iprobe(world, P2P_ANY_SOURCE, tag, &found, NULL));
        CHECK(!found, "message %d is still there after it was received", tag);
    }
    CALL(p2p_wait_all(2, sends, P2P_STATUSES_IGNORE));
    free(bufs[0]);
    free(bufs[1]);
    /* No rank may be a size ahead: its partner would find that message instead of none. */
    CALL(p2p_sendrecv(world, NULL, 0, other, 9, NULL, 0, other, 9, NULL));
    return 0;
}

static int probing(p2p_comm *world, void *arg)
{
    (void)arg;
    for (size_t s = 0; s < COUNT(sizes); s++) STEP(probe_pair(world, sizes[s]));
    return 0;
}

Test(p2p, probe_and_iprobe_look_and_leave)
{
    ASSERT_RIGHT(job_matrix(probing, NULL));
}

/* The usual way to receive what one does not know the length of. */
static int probe_then_receive(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world);
    p2p_status seen, status;

    (void)arg;
    if (rank > 0) return send_pattern(world, 0, rank, (size_t)rank * 20000);
    for (int i = 1; i < size; i++) {
        CALL(p2p_probe(world, P2P_ANY_SOURCE, P2P_ANY_TAG, &seen));
        CHECK(seen.bytes == (size_t)seen.source * 20000, "%zu bytes from %d", seen.bytes, seen.source);
        CALL(p2p_recv(world, in, seen.bytes, seen.source, seen.tag, &status));
        STEP(job_check_message(in, &status, seen.source, 0, seen.source, seen.bytes));
    }
    return 0;
}

Test(p2p, probe_any_source_then_receive_exactly_that)
{
    ASSERT_RIGHT(job_matrix(probe_then_receive, NULL));
}

/* ---- Arguments that are caught before anything is sent ---- */

static int bad_arguments(p2p_comm *world, void *arg)
{
    int size = p2p_size(world);

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_RANK, p2p_send(world, out, 1, size, 0));
    RETURNS(P2P_ERR_RANK, p2p_send(world, out, 1, P2P_ANY_SOURCE, 0));
    RETURNS(P2P_ERR_RANK, p2p_recv(world, in, 1, INT_MAX, 0, NULL));
    RETURNS(P2P_ERR_ARG, p2p_send(world, out, 1, 0, -1));
    RETURNS(P2P_ERR_ARG, p2p_recv(world, in, 1, 0, -2, NULL));
    RETURNS(P2P_ERR_ARG, p2p_send(world, NULL, 1, 0, 0));
    RETURNS(P2P_ERR_ARG, p2p_recv(world, NULL, 1, 0, 0, NULL));
    return shift_by(world, size - 1, 0, 1000); /* and the communicator is as good as before */
}

Test(p2p, bad_arguments_change_nothing)
{
    ASSERT_RIGHT(job_matrix(bad_arguments, NULL));
}
