/* SPDX-License-Identifier: MIT */
/* Which message a receive gets, and what is said when it never gets one. */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lengths ---- */

enum { TRUNC_LARGE = 1 << 20, ROOM = 50 };

static int truncated(p2p_comm *world, size_t bytes, bool posted_first)
{
    static unsigned char buf[ROOM + 50];
    char fact[32];
    p2p_status status = {77, 78, 79};
    p2p_request request;
    p2p_err err;
    memset(buf, 0xee, sizeof buf);
    if (posted_first) CHECK_OK(world, p2p_irecv(world, buf, ROOM, 0, 4, &request));
    CHECK_OK(world, p2p_send(world, NULL, 0, 0, 9)); /* go */
    if (posted_first)
        err = NOTE(world, p2p_wait(&request, &status));
    else {
        CHECK_OK(world, p2p_recv(world, NULL, 0, 0, 10, P2P_STATUS_IGNORE)); /* sent after it: it is here */
        err = NOTE(world, p2p_recv(world, buf, ROOM, 0, 4, &status));
    }
    CHECK(err == P2P_ERR_TRUNCATE, "%zu bytes into %d gave %d", bytes, ROOM, (int)err);
    CHECK(lab_all(buf, sizeof buf, 0xee), "the buffer was written");
    snprintf(fact, sizeof fact, "%zu bytes", bytes);
    CHECK(lab_has(p2p_error_message(world), "%s", fact) && lab_has(p2p_error_message(world), " %d", ROOM) &&
              lab_has(p2p_error_message(world), "rank 0") && lab_has(p2p_error_message(world), "tag 4"),
          "sizes, source and tag are not all in: %s", p2p_error_message(world));
    if (posted_first) CHECK_OK(world, p2p_recv(world, NULL, 0, 0, 10, P2P_STATUS_IGNORE));
    return lab_works(world);
}

static int send_too_much(p2p_comm *world, size_t bytes)
{
    static unsigned char buf[TRUNC_LARGE];
    p2p_request request;
    CHECK_OK(world, p2p_recv(world, NULL, 0, 1, 9, P2P_STATUS_IGNORE));
    CHECK_OK(world, p2p_isend(world, buf, bytes, 1, 4, &request));
    CHECK_OK(world, p2p_send(world, NULL, 0, 1, 10));
    CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    return lab_works(world);
}

static int body_trunc(p2p_comm *world)
{
    static const size_t sizes[] = {ROOM + 1, 65536, 65537, TRUNC_LARGE};
    int failed = 0;
    for (size_t i = 0; i < 4; i++)
        for (int posted = 0; posted < 2 && !failed; posted++)
            failed = p2p_rank(world) == 0 ? send_too_much(world, sizes[i]) : truncated(world, sizes[i], posted);
    return failed;
}

static void trunc_case(void)
{
    static lab_job job = {.size = 2, .body = body_trunc};
    lab_run(&job);
    lab_expect_fine(&job);
}

static int body_underflow(p2p_comm *world)
{
    static unsigned char buf[200000];
    static const size_t sizes[] = {0, 1, 100, 65536, 65537, 150000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p2p_status status;
        if (p2p_rank(world) == 0) {
            lab_fill(buf, sizes[i], 0, i);
            CHECK_OK(world, p2p_send(world, buf, sizes[i], 1, 3));
            continue;
        }
        memset(buf, 0xee, sizeof buf);
        CHECK_OK(world, p2p_recv(world, buf, sizeof buf, 0, 3, &status));
        CHECK(status.bytes == sizes[i] && status.source == 0 && status.tag == 3, "the status says %zu bytes",
              status.bytes);
        CHECK(lab_intact(buf, sizes[i], 0, i), "%zu bytes are not what was sent", sizes[i]);
        CHECK(lab_all(buf + sizes[i], sizeof buf - sizes[i], 0xee), "more was written than %zu bytes", sizes[i]);
    }
    return lab_works(world);
}

static void underflow_case(void)
{
    static lab_job job = {.size = 2, .body = body_underflow};
    lab_run(&job);
    lab_expect_fine(&job);
}

/* p2p carries bytes: what they mean is between the ranks. */
static int body_dtype(p2p_comm *world)
{
    float sent[256];
    int32_t got[256] = {0};
    for (int i = 0; i < 256; i++) sent[i] = (float)i * 0.3f - 7.0f;
    if (p2p_rank(world) == 0) {
        CHECK_OK(world, p2p_send(world, sent, sizeof sent, 1, 0));
        return 0;
    }
    CHECK_OK(world, p2p_recv(world, got, sizeof got, 0, 0, P2P_STATUS_IGNORE));
    CHECK(memcmp(got, sent, sizeof got) == 0, "the bytes changed on the way");
    return 0;
}

static void dtype_case(void)
{
    static lab_job job = {.size = 2, .body = body_dtype};
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- Deadlocks: every rank on a cycle is told, and the diagnosis has every line ---- */

static void expect_deadlock(lab_job *job, int ranks)
{
    lab_run(job);
    lab_expect_status(job, 1);
    FACTS(job->text, "deadlock", "try:");
    for (int rank = 0; rank < ranks; rank++) {
        EXPECT(lab_has(job->text, "rank %d", rank), "nothing printed names rank %d", rank);
        lab_expect_line(job, __FILE__, rank);
        if (!job->fatal) lab_expect_err(rank, P2P_ERR_DEADLOCK);
    }
    EXPECT(lab_in_time(job->seconds, LAB_DEADLOCK_BAR), "it took %.1f s", job->seconds);
}

static int body_wrong_tag(p2p_comm *world)
{
    int word = 0;
    if (p2p_rank(world) == 0) {
        CHECK_OK(world, p2p_send(world, &word, sizeof word, 1, 7));
        NOTE(world, p2p_recv(world, &word, sizeof word, 1, 9, P2P_STATUS_IGNORE));
    } else {
        NOTE(world, p2p_recv(world, &word, sizeof word, 0, 8, P2P_STATUS_IGNORE));
    }
    return 0;
}

static int body_wrong_tag_then_leave(p2p_comm *world)
{
    int word = 0;
    if (p2p_rank(world) == 0) CHECK_OK(world, p2p_send(world, &word, sizeof word, 1, 7));
    if (p2p_rank(world) == 1) NOTE(world, p2p_recv(world, &word, sizeof word, 0, 8, P2P_STATUS_IGNORE));
    return 0;
}

static void wrong_tag(void)
{
    static lab_job both = {.size = 2, .body = body_wrong_tag}, left = {.size = 2, .body = body_wrong_tag_then_leave};
    expect_deadlock(&both, 2);
    FACTS(both.text, "tag 7", "tag 8");
    lab_run(&left);
    lab_expect_status(&left, 1);
    FACTS(left.text, "rank 1", "tag 7", "tag 8");
    EXPECT(lab->rank[1].err == P2P_ERR_DEADLOCK || lab->rank[1].err == P2P_ERR_PEER_DEAD, "rank 1 got %d",
           (int)lab->rank[1].err);
}

/* Every rank receives from the next, and none has sent: a cycle over all of them. */
static int body_cycle(p2p_comm *world)
{
    int word = 0, next = (p2p_rank(world) + 1) % p2p_size(world);
    NOTE(world, p2p_recv(world, &word, sizeof word, next, 0, P2P_STATUS_IGNORE));
    return 0;
}

static void dl_recv_recv(void)
{
    static lab_job job = {.size = 2, .body = body_cycle}, fatal = {.size = 2, .body = body_cycle, .fatal = true};
    expect_deadlock(&job, 2);
    FACTS(job.text, "p2p_recv(source 1, tag 0)", "p2p_recv(source 0, tag 0)");
    expect_deadlock(&fatal, 2);
    FACTS(fatal.text, "p2p_recv(source 1, tag 0)", "p2p_recv(source 0, tag 0)");
    EXPECT(lab_lines_with(fatal.text, "deadlock") == 1, "it is reported more than once");
}

static void dl_cycle3(void)
{
    static lab_job three = {.size = 3, .body = body_cycle}, seven = {.size = 7, .body = body_cycle};
    expect_deadlock(&three, 3);
    expect_deadlock(&seven, 7);
}

static size_t send_bytes;
static bool send_later;

static int body_send_send(p2p_comm *world)
{
    static unsigned char out[1 << 20], in[1 << 20];
    int rank = p2p_rank(world), other = 1 - rank;
    p2p_request request = P2P_REQUEST_NULL;
    lab_fill(out, send_bytes, rank, 1);
    p2p_err err = send_later ? NOTE(world, p2p_isend(world, out, send_bytes, other, 0, &request))
                             : NOTE(world, p2p_send(world, out, send_bytes, other, 0));
    if (err) return 0;
    CHECK_OK(world, p2p_recv(world, in, send_bytes, other, 0, P2P_STATUS_IGNORE));
    CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    CHECK(lab_intact(in, send_bytes, other, 1), "%zu bytes are not what was sent", send_bytes);
    return 0;
}

static void send_send(size_t bytes, bool later, bool strict, bool deadlock)
{
    static lab_job job;
    job = (lab_job){.size = 2, .body = body_send_send, .options = {.strict = strict}};
    send_bytes = bytes;
    send_later = later;
    if (!deadlock) {
        lab_run(&job);
        lab_expect_fine(&job);
        return;
    }
    expect_deadlock(&job, 2);
    FACTS(job.text, "buffer", "p2p_send(dest 1", "p2p_send(dest 0");
}

static void dl_send_send(void)
{
    send_send(65537, false, false, true);
    send_send(1 << 20, false, false, true);
    send_send(1 << 20, true, false, false);
    send_send(65536, false, false, false);
    send_send(4, false, true, true);
    send_send(4, true, true, false);
    setenv("PAIRWISE_STRICT", "1", 1);
    send_send(4, false, false, true);
}

/* ---- Waiting for a rank that has finished ---- */

static bool finished_send;

static int body_wait_finished(p2p_comm *world)
{
    int word = 0;
    if (p2p_rank(world) == 1) return 0;
    if (finished_send)
        NOTE(world, p2p_ssend(world, &word, sizeof word, 1, 0));
    else
        NOTE(world, p2p_recv(world, &word, sizeof word, 1, 0, P2P_STATUS_IGNORE));
    return 0;
}

static void wait_finished(void)
{
    static lab_job job = {.size = 2, .body = body_wait_finished};
    for (int send = 0; send < 2; send++) {
        finished_send = send;
        lab_run(&job);
        lab_expect_status(&job, 1);
        p2p_err err = lab->rank[0].err;
        EXPECT(err == P2P_ERR_PEER_DEAD || err == P2P_ERR_DEADLOCK, "rank 0 got %d", (int)err);
        FACTS(lab->rank[0].message, "rank 1", "finished");
        FACTS(job.text, "rank 0", "rank 1", "finished");
        lab_expect_line(&job, __FILE__, 0);
        EXPECT(lab_in_time(job.seconds, LAB_DEADLOCK_BAR), "it took %.1f s", job.seconds);
    }
}

/* ---- Order ---- */

enum { IN_ORDER = 10000, TAGS = 64, A_TAG = 50 };

static int one_tag(p2p_comm *world)
{
    for (int i = 0; i < IN_ORDER; i++) {
        int word = i;
        if (p2p_rank(world) == 0) CHECK_OK(world, p2p_send(world, &word, sizeof word, 1, 0));
        if (p2p_rank(world) == 1) CHECK_OK(world, p2p_recv(world, &word, sizeof word, 0, 0, P2P_STATUS_IGNORE));
        CHECK(word == i, "message %d says %d", i, word);
    }
    return 0;
}

static int send_tags(p2p_comm *world)
{
    for (int i = 0; i < TAGS * A_TAG; i++) CHECK_OK(world, p2p_send(world, &i, sizeof i, 1, i % TAGS));
    return 0;
}

/* In an order of tags that has nothing to do with the order of sending; any source every third time. */
static int receive_tags(p2p_comm *world)
{
    int seen[TAGS] = {0};
    unsigned random = 12345;
    for (int left = TAGS * A_TAG; left > 0; left--) {
        int got = -1, tag;
        do {
            random = random * 1664525u + 1013904223u;
            tag = (int)(random >> 16) % TAGS;
        } while (seen[tag] == A_TAG);
        CHECK_OK(world, p2p_recv(world, &got, sizeof got, left % 3 ? 0 : P2P_ANY_SOURCE, tag, P2P_STATUS_IGNORE));
        CHECK(got == seen[tag] * TAGS + tag, "message %d with tag %d is %d", seen[tag], tag, got);
        seen[tag]++;
    }
    return 0;
}

static int body_order(p2p_comm *world)
{
    int failed = one_tag(world);
    if (failed) return failed;
    return p2p_rank(world) == 0 ? send_tags(world) : receive_tags(world);
}

static void order(void)
{
    static lab_job job = {.size = 2, .body = body_order};
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- Any source, and one of them dies ---- */

static int body_anysrc(p2p_comm *world)
{
    int word = 0;
    if (p2p_rank(world) == 1) {
        CHECK(lab_wait_inside(0), "rank 0 never waited");
        lab_die(9);
    }
    if (p2p_rank(world) == 2) {
        CHECK(lab_wait_flag(0, 1), "rank 0 was not told");
        return 0;
    }
    NOTE(world, p2p_recv(world, &word, sizeof word, P2P_ANY_SOURCE, 0, P2P_STATUS_IGNORE));
    lab_raise_flag(0);
    return 0;
}

static void anysrc_death(void)
{
    static lab_job job = {.size = 3, .body = body_anysrc};
    lab_run(&job);
    lab_expect_status(&job, 137);
    lab_expect_survivor(0, 1, "signal 9");
}

/* ---- Sent, never received ---- */

static int unreceived_count;

static int body_unreceived(p2p_comm *world)
{
    int word = 0;
    for (int i = 0; p2p_rank(world) == 1 && i < unreceived_count; i++)
        CHECK_OK(world, p2p_send(world, &word, sizeof word, 0, i));
    NOTE(world, p2p_finalize(world));
    return 0;
}

static void unreceived(void)
{
    static lab_job job, fatal = {.size = 2, .body = body_unreceived, .fatal = true};
    static const char *const facts[] = {"", "1 unreceived message: from 1, tag 0, 4 bytes", "2 unreceived messages",
                                        "3 unreceived messages"};
    for (unreceived_count = 1; unreceived_count <= 3; unreceived_count += 2) {
        job = (lab_job){.size = 2, .body = body_unreceived};
        lab_run(&job);
        lab_expect_err(0, P2P_ERR_LEAK);
        lab_expect_err(1, P2P_OK);
        FACTS(lab->rank[0].message, facts[unreceived_count]);
    }
    unreceived_count = 1;
    lab_run(&fatal);
    lab_expect_status(&fatal, 1);
    FACTS(fatal.text, "rank 0", facts[1]);
}

/* ---- To oneself ---- */

static int body_self(p2p_comm *world)
{
    static unsigned char out[1 << 20], in[1 << 20];
    static const size_t sizes[] = {0, 4, 65536, 65537, 1 << 20};
    int me = p2p_rank(world);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p2p_request request;
        p2p_status status;
        lab_fill(out, sizes[i], me, i);
        CHECK_OK(world, p2p_isend(world, out, sizes[i], me, 3, &request));
        CHECK_OK(world, p2p_recv(world, in, sizeof in, me, 3, &status));
        CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
        CHECK(status.bytes == sizes[i] && status.source == me, "the status says %zu bytes", status.bytes);
        CHECK(lab_intact(in, sizes[i], me, i), "%zu bytes are not what was sent", sizes[i]);
        CHECK_OK(world, p2p_sendrecv(world, out, sizes[i], me, 4, in, sizeof in, me, 4, P2P_STATUS_IGNORE));
    }
    CHECK_OK(world, p2p_send(world, out, 65536, me, 5)); /* buffered */
    CHECK_OK(world, p2p_recv(world, in, 65536, me, 5, P2P_STATUS_IGNORE));
    return 0;
}

static size_t self_bytes;
static bool self_ssend;

/* No rank can ever receive this. */
static int body_self_stuck(p2p_comm *world)
{
    static char buf[1 << 20];
    int me = p2p_rank(world);
    if (self_ssend)
        NOTE(world, p2p_ssend(world, buf, self_bytes, me, 0));
    else
        NOTE(world, p2p_send(world, buf, self_bytes, me, 0));
    return 0;
}

static void self_stuck(size_t bytes, bool ssend, bool strict)
{
    static lab_job job;
    self_bytes = bytes;
    self_ssend = ssend;
    job = (lab_job){.size = 1, .body = body_self_stuck, .options = {.strict = strict}};
    expect_deadlock(&job, 1);
}

static void self(void)
{
    static lab_job job = {.size = 2, .body = body_self};
    lab_run(&job);
    lab_expect_fine(&job);
    self_stuck(4, true, false);
    self_stuck(65537, false, false);
    self_stuck(4, false, true);
}

const lab_case lab_matching[] = {
    {"trunc", "a message too long: P2P_ERR_TRUNCATE with both sizes, nothing written, the next one is fine", trunc_case,
     false},
    {"underflow", "a message shorter than the buffer: its length is in the status, the rest is untouched",
     underflow_case, false},
    {"dtype", "bytes of another type arrive unchanged", dtype_case, false},
    {"wrong-tag", "the wrong tag: the diagnosis has both tags", wrong_tag, false},
    {"dl-recv-recv", "mutual receive: the cycle, each call and line", dl_recv_recv, false},
    {"dl-send-send", "mutual send: large or strict needs buffering; isend, or up to 64 KiB, completes", dl_send_send,
     false},
    {"dl-cycle3", "a cycle of three, and of seven", dl_cycle3, false},
    {"wait-finished", "waiting for a rank that has finished", wait_finished, false},
    {"order", "10,000 messages in order; mixed tags in any order", order, false},
    {"anysrc-death", "any source, and one of them dies: an error that names it", anysrc_death, false},
    {"unreceived", "sent and never received: finalize says from whom, tag and bytes", unreceived, false},
    {"self", "messages to oneself work, or are explained", self, false},
    {NULL, NULL, NULL, false},
};
