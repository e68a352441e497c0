/* SPDX-License-Identifier: MIT */
/* Faults on the wire: rank 1 writes what it likes onto its link to rank 0, past the library. The only cases that know
 * what a frame looks like. */
#include "lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "p2p/message/internal.h"
#include "p2p/shared/crc.h"
#include "p2p/world/shm_queue.h"

/* ---- Finding the link, and writing to it ---- */

enum { MAX_FD = 256 };
static bool in_shm;

static bool is_stream_socket(int fd)
{
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

/* Exchange a first message with the other rank, and see which stream socket was not there before; -1 if none. In the
 * shm world it only wakes; what it belongs to is the ring that was written to. */
static int open_link(p2p_comm *world)
{
    bool before[MAX_FD];
    in_shm = lab_in_shm(world);
    for (int fd = 0; fd < MAX_FD; fd++) before[fd] = is_stream_socket(fd);
    if (lab_works(world) != 0) return -1;
    for (int fd = 0; fd < MAX_FD; fd++)
        if (is_stream_socket(fd) && !before[fd]) return fd;
    return complaint_make(__FILE__, __LINE__, "no link was opened"), -1;
}

static int wake_up(int fd)
{
    send(fd, "", 1, MSG_NOSIGNAL);
    return 0;
}

/* Bytes instead of a record, its head last. */
static int scribble(int fd, const void *bytes)
{
    shm_writer *w = lab_last_writer();
    uint64_t head;
    memcpy(&head, bytes, sizeof head);
    memcpy(p2p__queue_begin(w, 0), (const char *)bytes + sizeof head, QUEUE_LINE - sizeof head);
    head = (head & UINT32_MAX) | p2p__queue_number(w->at); /* or it would only seem not to be there yet */
    atomic_store(p2p__queue_head(w->ring, w->size, w->at), head);
    return wake_up(fd);
}

static int inject(int fd, const void *bytes, size_t count)
{
    if (in_shm) return scribble(fd, bytes);
    for (size_t done = 0; done < count;) {
        ssize_t sent = send(fd, (const char *)bytes + done, count - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EPIPE) return 0; /* rank 0 has seen enough */
        CHECK(sent > 0 || errno == EINTR, "send: %s", strerror(errno));
        if (sent > 0) done += (size_t)sent;
    }
    return 0;
}

static int inject_frame(int fd, const wire_header *header, const void *payload, size_t bytes)
{
    shm_writer *w = lab_last_writer();
    if (!in_shm) return inject(fd, header, sizeof *header) || inject(fd, payload, bytes);
    CHECK(p2p__queue_room(w, sizeof *header) >= sizeof *header + bytes, "no room for %zu bytes", bytes);
    unsigned char *place = p2p__queue_begin(w, sizeof *header + bytes);
    memcpy(place, header, sizeof *header);
    if (bytes) memcpy(place + sizeof *header, payload, bytes);
    p2p__queue_publish(w, sizeof *header + bytes, QUEUE_FRAME);
    return wake_up(fd);
}

/* A header as this rank would send it next to rank 0; to be changed, then sealed. */
static wire_header next_header(const p2p_comm *world, enum wire_type type, uint64_t bytes)
{
    return (wire_header){.type = (uint8_t)type,
                         .tag = 3,
                         .bytes = bytes,
                         .source = 1,
                         .sequence = world->engine->peers[0].link.frames_out};
}

static unsigned random_state;

static unsigned char random_byte(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (unsigned char)(random_state >> 24);
}

/* ---- rank 0 waits for a message with tag 3; rank 1 runs `attack` with the link; then this must come of it ---- */

static int (*attack)(p2p_comm *world, int fd);

static int defend(p2p_comm *world)
{
    static unsigned char buf[1 << 16];
    p2p_err err = NOTE(world, p2p_recv(world, buf, sizeof buf, 1, 3, P2P_STATUS_IGNORE));
    snprintf(lab->rank[0].kept, sizeof lab->rank[0].kept, "%s", p2p_error_message(world));
    p2p_err again = err ? p2p_send(world, buf, 1, 1, 4) : P2P_OK;
    lab_raise_flag(0);
    CHECK(again == err, "after %d, another call gave %d", (int)err, (int)again);
    return 0;
}

static int body_attack(p2p_comm *world)
{
    int link = open_link(world);
    if (link < 0) return 1;
    lab_raise_flag(1);
    if (p2p_rank(world) == 0) return defend(world);
    CHECK(lab_wait_flag(1, 2), "rank 0 never opened the link");
    int failed = attack(world, link);
    if (failed) return failed;
    CHECK(lab_wait_flag(0, 1), "rank 0 never came back");
    return 0;
}

static void expect_refusal(int (*how)(p2p_comm *world, int fd), const char *what)
{
    static lab_job job;
    job = (lab_job){.size = 2, .body = body_attack};
    attack = how;
    lab_run(&job);
    EXPECT(lab->rank[0].err == P2P_ERR_PROTO, "%s: rank 0 got %d (%s)", what, (int)lab->rank[0].err, lab->rank[0].kept);
    EXPECT(strstr(lab->rank[0].kept, "rank 1"), "%s: rank 1 is not named: %s", what, lab->rank[0].kept);
    EXPECT(job.status != 0, "%s: exit status 0", what);
}

/* ---- Random bytes ---- */

static unsigned seed;

static int attack_noise(p2p_comm *world, int fd)
{
    unsigned char noise[512];
    (void)world;
    random_state = seed;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = random_byte();
    for (size_t i = 0; i < 4; i++) lab->rank[1].kept[i] = (char)noise[i];
    return inject(fd, noise, sizeof noise);
}

static int attack_magic_then_noise(p2p_comm *world, int fd)
{
    wire_header header = next_header(world, WIRE_EAGER, 4);
    unsigned char *at = (unsigned char *)&header;
    random_state = seed;
    for (size_t i = 0; i < sizeof header; i++) at[i] = random_byte();
    header.magic = WIRE_MAGIC;
    return inject_frame(fd, &header, NULL, 0);
}

static void expect_hex(void)
{
    char hex[16];
    const unsigned char *first = (const unsigned char *)lab->rank[1].kept;
    snprintf(hex, sizeof hex, "%02x%02x%02x%02x", first[0], first[1], first[2], first[3]);
    EXPECT(strstr(lab->rank[0].kept, hex), "the header's bytes %s are not in: %s", hex, lab->rank[0].kept);
}

/* Headers whose checksum is right and whose fields are not: anything may come of it but a crash, a hang or a success
 * with wrong bytes. rank 1 leaves at once, so that waiting for more of it ends too. */
static int attack_sealed_noise(p2p_comm *world, int fd)
{
    wire_header header = next_header(world, WIRE_EAGER, 0);
    unsigned char payload[256];
    random_state = seed;
    for (size_t i = 0; i < sizeof payload; i++) payload[i] = random_byte();
    header.type = (uint8_t)(random_byte() % 7);
    header.flags = random_byte();
    header.context = random_byte() % 4;
    header.tag = random_byte() % 2 ? -1 : 7;
    memcpy(&header.sender_id, payload, sizeof header.sender_id);
    header.receiver_id = random_byte() % 8;
    header.bytes = random_byte() % 2 ? random_byte() : (uint64_t)random_byte() << (random_byte() % 64);
    p2p__wire_seal(&header);
    inject_frame(fd, &header, payload, random_byte());
    lab_die(9);
}

static void sealed_noise(void)
{
    static lab_job job;
    job = (lab_job){.size = 2, .body = body_attack};
    attack = attack_sealed_noise;
    lab_run(&job);
    EXPECT(job.status != 0, "seed %u: exit status 0", seed);
    EXPECT(lab->rank[0].err != P2P_OK, "seed %u: rank 0 received something", seed);
    EXPECT(job.statuses[0] < 128, "seed %u: rank 0 was killed: status %d", seed, job.statuses[0]);
}

static void fuzz_frame(void)
{
    for (seed = 1; seed <= 50; seed++) {
        expect_refusal(attack_noise, "noise");
        expect_hex();
        expect_refusal(attack_magic_then_noise, "noise behind the magic number");
        sealed_noise();
    }
}

/* ---- Lengths that cannot be ---- */

static enum wire_type lying_type;
static uint64_t lying_bytes;

static int attack_length(p2p_comm *world, int fd)
{
    wire_header header = next_header(world, lying_type, lying_bytes);
    p2p__wire_seal(&header);
    return inject_frame(fd, &header, NULL, 0);
}

static void huge_len(void)
{
    static const uint64_t lengths[] = {UINT64_C(1) << 60, UINT64_MAX, UINT64_C(1) << 63};
    static const enum wire_type types[] = {WIRE_EAGER, WIRE_REQUEST, WIRE_PAYLOAD};
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < 3; i++) {
            lying_type = types[t];
            lying_bytes = lengths[i];
            expect_refusal(attack_length, "a huge length");
        }
    lying_type = WIRE_EAGER;
    lying_bytes = (64 << 10) + 1; /* over PAIRWISE_EAGER: that is never buffered */
    expect_refusal(attack_length, "a short message that is not short");
}

/* ---- Flipped bits ---- */

static size_t flipped_bit;

static void flip(void *bytes, size_t bit)
{
    unsigned char *at = bytes;
    at[bit / 8] = (unsigned char)(at[bit / 8] ^ 1u << bit % 8);
}

static int attack_header_bit(p2p_comm *world, int fd)
{
    wire_header header = next_header(world, WIRE_EAGER, 0);
    p2p__wire_seal(&header);
    flip(&header, flipped_bit);
    return inject_frame(fd, &header, NULL, 0);
}

static int attack_payload_bit(p2p_comm *world, int fd)
{
    unsigned char payload[1000];
    wire_header header = next_header(world, WIRE_EAGER, sizeof payload);
    lab_fill(payload, sizeof payload, 1, 0);
    header.flags = WIRE_FLAG_CRC;
    header.payload_crc = p2p__crc32c(0, payload, sizeof payload);
    p2p__wire_seal(&header);
    flip(payload, flipped_bit);
    return inject_frame(fd, &header, payload, sizeof payload);
}

/* A large message, changed by its sender after its checksum was taken: the beginning has arrived, the end has not. */
enum { LONG_BYTES = 4 << 20 };

static int until(p2p_request *request, bool (*stop)(const unsigned char *buf), const unsigned char *buf)
{
    bool done = false;
    double since = process_now();
    while (!stop(buf) && !done && process_now() - since < 10)
        CHECK(!p2p_test(request, &done, P2P_STATUS_IGNORE), "p2p_test");
    CHECK(!done, "the message went in one piece");
    return 0;
}

static bool has_begun(const unsigned char *buf)
{
    return *(const volatile unsigned char *)buf != 0;
}
static bool flag_is_up(const unsigned char *buf)
{
    return (void)buf, atomic_load(&lab->flag[0]) > 0;
}

static int body_long_flip(p2p_comm *world)
{
    int rank = p2p_rank(world), failed;
    unsigned char *buf = calloc(1, LONG_BYTES);
    p2p_request request;
    CHECK(buf, "no memory");
    if (rank == 1) {
        memset(buf, 1, LONG_BYTES);
        CHECK_OK(world, p2p_isend(world, buf, LONG_BYTES, 0, 3, &request));
        failed = until(&request, flag_is_up, buf);
        flip(buf, 8 * ((size_t)LONG_BYTES - 1));
        lab_raise_flag(1);
        if (!failed) p2p_wait(&request, P2P_STATUS_IGNORE);
        return failed;
    }
    CHECK_OK(world, p2p_irecv(world, buf, LONG_BYTES, 1, 3, &request));
    failed = until(&request, has_begun, buf);
    lab_raise_flag(0);
    if (failed) return failed;
    CHECK(lab_wait_flag(1, 1), "rank 1 never changed it");
    CHECK_ERR(world, P2P_ERR_PROTO, p2p_wait(&request, P2P_STATUS_IGNORE));
    return 0;
}

static int body_undamaged(p2p_comm *world)
{
    static unsigned char out[300000], in[300000];
    static const size_t sizes[] = {0, 1, 1000, 65536, 300000};
    int rank = p2p_rank(world), other = 1 - rank;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lab_fill(out, sizes[i], rank, i);
        CHECK_OK(world, p2p_sendrecv(world, out, sizes[i], other, 0, in, sizeof in, other, 0, P2P_STATUS_IGNORE));
        CHECK(lab_intact(in, sizes[i], other, i), "%zu bytes are not what was sent", sizes[i]);
    }
    return 0;
}

static void bitflip(void)
{
    static lab_job fine = {.size = 2, .body = body_undamaged}, large = {.size = 2, .body = body_long_flip};
    const char *world = getenv("PAIRWISE_WORLD");
    if (world && strcmp(world, "shm") == 0) {
        setenv("PAIRWISE_CRC", "1", 1); /* no wire: checksums only if asked for */
        unsetenv("PAIRWISE_SNDBUF");    /* room for a whole message at once */
    }
    for (flipped_bit = 0; flipped_bit < 512; flipped_bit += 37) expect_refusal(attack_header_bit, "a bit of a header");
    setenv("PAIRWISE_CRC", "1", 1);
    lab_run(&fine);
    lab_expect_fine(&fine);
    for (flipped_bit = 0; flipped_bit < 8000; flipped_bit += 1777) {
        expect_refusal(attack_payload_bit, "a bit of a message");
        FACTS(lab->rank[0].kept, "1000 bytes", "tag 3", "CRC");
    }
    setenv("PAIRWISE_DIRECT", "1", 1);
    lab_run(&fine);
    lab_expect_fine(&fine);
    setenv("PAIRWISE_DIRECT", "0", 1); /* it comes in parts */
    setenv("PAIRWISE_SNDBUF", "1", 1);
    lab_run(&large);
    lab_expect_err(0, P2P_ERR_PROTO);
    FACTS(lab->rank[0].message, "4194304 bytes", "tag 3", "CRC");
}

/* ---- Programs from different builds ---- */

/* Before p2p_init, in a rank: make the launcher's scoreboard look as if another build had made it. */
void lab_fake_build(void)
{
    const char *job = getenv("PAIRWISE_JOB");
    int rank, control, fd;
    struct stat info;
    if (!job || sscanf(job, "%d,%d,%d", &rank, &control, &fd) != 3 || fstat(fd, &info) != 0) _exit(125);
    scoreboard_settings *b = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (b == MAP_FAILED) _exit(125);
    snprintf(b->build_id, sizeof b->build_id, "another-build");
    munmap(b, (size_t)info.st_size);
}

static void version(void)
{
    static lab_job job;
    lab_launch(&job, ARGS("-n", "2"), "other-build");
    EXPECT(job.status == 1, "exit status %d, not 1", job.status);
    FACTS(job.text, "another-build", "this program is build", "rank ");
}

const lab_case lab_wire[] = {
    {"fuzz-frame", "random bytes on a link: P2P_ERR_PROTO with the header in hex, no crash", fuzz_frame, false},
    {"huge-len", "a header that promises 2^60 bytes is refused", huge_len, false},
    {"bitflip", "a flipped bit is found: in headers always, in messages with PAIRWISE_CRC=1", bitflip, false},
    {"version", "a launcher and a program from different builds: said at p2p_init", version, false},
    {NULL, NULL, NULL, false},
};
