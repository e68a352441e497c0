/* SPDX-License-Identifier: MIT */
// worlds: last; 2 hosts
/*
 * p2p_alloc: memory that other ranks can read in place: what it holds, that it comes back, what misuse says, and
 * collectives on it. The same must be true where ranks share no memory.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "tests/util/pattern.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static unsigned char byte_at(int rank, size_t key, size_t i)
{
    return (unsigned char)((size_t)rank * 50 + key * 7 + i + (i >> 12));
}

static void fill(unsigned char *buf, size_t bytes, int rank, size_t key)
{
    for (size_t i = 0; i < bytes; i++) buf[i] = byte_at(rank, key, i);
}

static bool is_intact(const unsigned char *buf, size_t bytes, int rank, size_t key)
{
    for (size_t i = 0; i < bytes; i++)
        if (buf[i] != byte_at(rank, key, i)) return false;
    return true;
}

/* ---- What it is ---- */

static int zeroed_and_ones_own(p2p_comm *world, void *arg)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, (3 << 20) + 1};
    int rank = p2p_rank(world);
    void *buf[COUNT(sizes)];

    (void)arg;
    for (size_t k = 0; k < COUNT(sizes); k++) {
        CALL(p2p_alloc(world, sizes[k], &buf[k]));
        CHECK((uintptr_t)buf[k] % 4096 == 0, "%zu bytes at %p: not aligned to a page", sizes[k], buf[k]);
        for (size_t i = 0; i < sizes[k]; i++) CHECK(!((char *)buf[k])[i], "byte %zu is not zero", i);
        fill(buf[k], sizes[k], rank, k);
    }
    CALL(coll_barrier(world));
    for (size_t k = 0; k < COUNT(sizes); k++)
        CHECK(is_intact(buf[k], sizes[k], rank, k), "another rank wrote to %zu bytes of rank %d", sizes[k], rank);
    for (size_t k = 0; k < COUNT(sizes); k++) CALL(p2p_release(world, buf[k]));
    return 0;
}

Test(p2p_alloc, zeroed_aligned_and_ones_own)
{
    ASSERT_RIGHT(job_matrix(zeroed_and_ones_own, NULL));
}

static int in_any_order(p2p_comm *world, void *arg)
{
    enum { BLOCKS = 7, BYTES = 10000 };
    int rank = p2p_rank(world);
    void *buf[BLOCKS];

    (void)arg;
    for (size_t k = 0; k < BLOCKS; k++) {
        CALL(p2p_alloc(world, BYTES, &buf[k]));
        fill(buf[k], BYTES, rank, k);
    }
    for (size_t i = 0, k = (size_t)rank % BLOCKS; i < BLOCKS; i++, k = (k + 3) % BLOCKS) {
        CHECK(is_intact(buf[k], BYTES, rank, k), "buffer %zu changed when another was released", k);
        CALL(p2p_release(world, buf[k]));
    }
    CALL(p2p_release(world, NULL));
    return 0;
}

Test(p2p_alloc, released_in_any_order)
{
    ASSERT_RIGHT(job_matrix(in_any_order, NULL));
}

/* The job's memory file, which a rank has open where ranks share memory; of 0 bytes if there is none. */
static struct stat memory_file(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char path[40], name[80] = "";
        struct stat info;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, name, sizeof name - 1) < 0 || !strstr(name, "memfd:pairwise")) continue;
        if (fstat(fd, &info) == 0) return info;
    }
    return (struct stat){.st_size = 0};
}

static size_t file_bytes(void)
{
    return (size_t)memory_file().st_blocks * 512;
}

/* A buffer that grows, as an array that is appended to; what was before does not stay in memory. */
static int grow(p2p_comm *world, void *arg)
{
    enum { STEPS = 60 };
    size_t bytes = 0, before = file_bytes();
    void *buf = NULL, *larger;

    (void)arg;
    for (size_t step = 1; step <= STEPS; step++) {
        CALL(p2p_alloc(world, step << 17, &larger));
        if (bytes) memcpy(larger, buf, bytes);
        CALL(p2p_release(world, buf));
        buf = larger;
        CHECK(is_intact(buf, bytes, p2p_rank(world), 0), "step %zu: not what was there", step);
        bytes = step << 17;
        fill(buf, bytes, p2p_rank(world), 0);
    }
    CALL(coll_barrier(world));
    size_t most = before + (size_t)p2p_size(world) * ((STEPS << 17) + (4 << 20));
    CHECK(file_bytes() <= most, "%zu bytes are in use, expected at most %zu", file_bytes(), most);
    CALL(coll_barrier(world));
    CALL(p2p_release(world, buf));
    CALL(coll_barrier(world));
    CHECK(file_bytes() <= before + (1 << 20), "%zu bytes are still in use, %zu before", file_bytes(), before);
    return 0;
}

Test(p2p_alloc, grows_and_gives_back)
{
    static const int sizes[] = {2, 1, 3};
    ASSERT_RIGHT(job_sizes(sizes, job_is_quick() ? 1 : COUNT(sizes), true, false, grow, NULL));
}

/* ---- Messages out of it, longer than those that are buffered ---- */

static const size_t lengths[] = {65536, 65537, 300001, (1 << 20) + 8};

/* One message to the right, out of the middle of a buffer up to its end. */
static int pass_on(p2p_comm *world, unsigned char *block, size_t room, size_t bytes, size_t key, bool from_shared)
{
    int rank = p2p_rank(world), size = p2p_size(world), left = (rank + size - 1) % size;
    unsigned char *got = malloc(bytes), *own = calloc(bytes, 1), *out = from_shared ? block + room - bytes : own;
    unsigned char *in = from_shared ? got : block;
    p2p_status status;
    p2p_request request;

    fill(out, bytes, rank, key);
    CALL(p2p_irecv(world, in, bytes, left, (int)key, &request));
    CALL(p2p_send(world, out, bytes, (rank + 1) % size, (int)key));
    CALL(p2p_wait(&request, &status));
    CHECK(status.bytes == bytes && status.source == left, "%zu bytes from %d", status.bytes, status.source);
    CHECK(is_intact(in, bytes, left, key), "%zu bytes from rank %d are wrong", bytes, left);
    CHECK(is_intact(out, bytes, rank, key), "%zu bytes of rank %d changed by being sent", bytes, rank);
    free(got);
    free(own);
    return 0;
}

/* Buffers come and go, so that new ones lie where no other rank has looked yet. */
static int long_messages(p2p_comm *world, void *arg)
{
    void *kept = NULL;

    (void)arg;
    for (size_t k = 0; k < 2 * COUNT(lengths); k++) {
        size_t bytes = lengths[k / 2], room = bytes + 5000 * k;
        void *block;
        CALL(p2p_alloc(world, room, &block));
        int wrong = pass_on(world, block, room, bytes, k, k % 2 == 0);
        if (wrong) return wrong;
        if (kept) CALL(p2p_release(world, kept));
        kept = block;
    }
    CALL(p2p_release(world, kept));
    return 0;
}

Test(p2p_alloc, long_messages_out_of_it_and_into_it)
{
    ASSERT_RIGHT(job_matrix(long_messages, NULL));
}

/* Written again as soon as the send has returned: the receiver must have it all by then. */
static int used_again(p2p_comm *world, void *arg)
{
    enum { BYTES = 200000, TIMES = 20 };
    int rank = p2p_rank(world);
    void *block;
    unsigned char *got = malloc(BYTES);

    (void)arg;
    CALL(p2p_alloc(world, BYTES, &block));
    for (size_t k = 0; k < TIMES && rank < 2 && p2p_size(world) > 1; k++) {
        fill(block, BYTES, 0, k);
        if (rank == 0) CALL(p2p_send(world, block, BYTES, 1, 0));
        if (rank == 1) CALL(p2p_recv(world, got, BYTES, 0, 0, P2P_STATUS_IGNORE));
        CHECK(rank == 0 || is_intact(got, BYTES, 0, k), "message %zu is another one", k);
    }
    CALL(p2p_release(world, block));
    free(got);
    return 0;
}

Test(p2p_alloc, is_free_again_when_a_send_returns)
{
    ASSERT_RIGHT(job_matrix(used_again, NULL));
}

/* What has been given back is taken again, so places do not run out; a place in use is never handed out. */
static int come_and_go(p2p_comm *world, void *arg)
{
    enum { BLOCKS = 8, STEPS = 400 };
    int rank = p2p_rank(world);
    void *buf[BLOCKS] = {NULL};
    size_t bytes[BLOCKS] = {0};
    uint64_t seed = (uint64_t)rank + 1;
    off_t end = 0;

    (void)arg;
    for (size_t step = 0; step < STEPS; step++) {
        size_t k = pattern_random(&seed) % BLOCKS;
        CHECK(is_intact(buf[k], bytes[k], rank, k), "step %zu: buffer %zu is not what it was", step, k);
        CALL(p2p_release(world, buf[k]));
        bytes[k] = pattern_random(&seed) % 4 ? pattern_random(&seed) % 40000 : (size_t)(2 << 20) + 1;
        CALL(p2p_alloc(world, bytes[k], &buf[k]));
        for (size_t i = 0; i < bytes[k]; i += 1000) CHECK(!((char *)buf[k])[i], "step %zu: not zeroed", step);
        fill(buf[k], bytes[k], rank, k);
        if (step == STEPS / 2) end = memory_file().st_size;
    }
    CHECK(memory_file().st_size <= 2 * end, "the file has grown to %lld bytes; at half time it had %lld",
          (long long)memory_file().st_size, (long long)end);
    for (size_t k = 0; k < BLOCKS; k++) CALL(p2p_release(world, buf[k]));
    return 0;
}

Test(p2p_alloc, places_are_taken_again)
{
    static const int sizes[] = {2, 1, 4};
    ASSERT_RIGHT(job_sizes(sizes, job_is_quick() ? 1 : COUNT(sizes), true, false, come_and_go, NULL));
}

/* ---- Errors ---- */

static int too_much(p2p_comm *world, void *arg)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 5000, (size_t)1 << 46};
    void *buf = &buf, *small;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        RETURNS(P2P_ERR_NOMEM, p2p_alloc(world, sizes[i], &buf));
        CHECK(buf == &buf, "the address was set");
        CHECK(strstr(p2p_error_message(world), "p2p_alloc"), "the call is not named: %s", p2p_error_message(world));
    }
    CALL(p2p_alloc(world, 100, &small));
    CALL(coll_barrier(world));
    CALL(p2p_release(world, small));
    return 0;
}

Test(p2p_alloc, too_much_is_an_error_and_nothing_else)
{
    ASSERT_RIGHT(job_matrix(too_much, NULL));
}

/* A limit that is reached at some buffer: that one is an error, and what came before is as it was. */
static int limited(p2p_comm *world, void *arg)
{
    enum { MOST = 400, BYTES = 1 << 20 };
    static void *buf[MOST];
    size_t count = 0;

    (void)arg;
    if (!file_bytes()) return 0; /* ranks share no memory, and no file is to be limited */
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CALL(coll_barrier(world)); /* on several hosts it sends: there will be no memory for a new link */
    while (count < MOST && p2p_alloc(world, BYTES, &buf[count]) == P2P_OK) fill(buf[count++], BYTES, 0, 0);
    CHECK(count > 0 && count < MOST, "%zu buffers of a megabyte each within a limit of 256", count);
    CHECK(strstr(p2p_error_message(world), "ulimit"), "no advice: %s", p2p_error_message(world));
    for (size_t i = 0; i < count; i++) CHECK(is_intact(buf[i], BYTES, 0, 0), "buffer %zu has changed", i);
    for (size_t i = 0; i < count; i++) CALL(p2p_release(world, buf[i]));
    CALL(coll_barrier(world));
    return 0;
}

/* The process that forks the ranks has the limit, so the ranks have it too. */
static int limited_job(void *arg)
{
    rlim_t room = (rlim_t)256 << 20;

    (void)arg;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){room, room});
    return p2p_launch(2, limited, NULL, NULL) == P2P_OK ? 0 : 1;
}

Test(p2p_alloc, a_limit_is_an_error_with_advice)
{
    process_result result;

    process_run(limited_job, NULL, NULL, 60, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

static int misuse(p2p_comm *world, void *arg)
{
    void *buf;
    char own[100];

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_ARG, p2p_alloc(world, 10, NULL));
    CALL(p2p_alloc(world, 10000, &buf));
    RETURNS(P2P_ERR_ARG, p2p_release(world, own));
    RETURNS(P2P_ERR_ARG, p2p_release(world, (char *)buf + 1));
    CALL(p2p_release(world, buf));
    RETURNS(P2P_ERR_ARG, p2p_release(world, buf));
    CHECK(strstr(p2p_error_message(world), "released already"), "no advice: %s", p2p_error_message(world));
    CALL(p2p_finalize(world));
    RETURNS(P2P_ERR_STATE, p2p_alloc(world, 10, &buf));
    RETURNS(P2P_ERR_STATE, p2p_release(world, buf));
    return 0;
}

Test(p2p_alloc, misuse)
{
    ASSERT_RIGHT(job_right(2, false, misuse, NULL));
}

/* Rank 1 forgets two buffers; the line says where they came from. */
static int forget(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world);
    void *buf;

    (void)arg;
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    CALL(p2p_alloc(world, 5000, &buf));
    if (rank == 0) CALL(p2p_release(world, buf));
    if (rank == 1) CALL(p2p_alloc(world, 777, &buf));
    p2p_err err = p2p_finalize(world);
    if (rank == 0) return err == P2P_OK ? 0 : complaint_make(__FILE__, __LINE__, "rank 0: %s", p2p_strerror(err));
    RETURNS(P2P_ERR_LEAK, err);
    const char *message = p2p_error_message(world);
    CHECK(strstr(message, "2 buffers never released") && strstr(message, "5000 bytes") &&
              strstr(message, "777 bytes") && strstr(message, "p2p_alloc.c:"),
          "what was forgotten is not named: %s", message);
    return 0;
}

Test(p2p_alloc, finalize_reports_what_is_left)
{
    ASSERT_RIGHT(job_right(2, false, forget, NULL));
}

/* ---- In use ---- */

/* Messages out of such memory and into it, empty, short and long ones, to oneself too. */
static int messages(p2p_comm *world, void *arg)
{
    enum { BYTES = 300000 };
    static const size_t sizes[] = {0, 1, 100, 20000, 65536, 65537, BYTES};
    int rank = p2p_rank(world), n = p2p_size(world), right = (rank + 1) % n, left = (rank + n - 1) % n;
    void *out, *in;

    (void)arg;
    CALL(p2p_alloc(world, BYTES, &out));
    CALL(p2p_alloc(world, BYTES, &in));
    for (size_t k = 0; k < COUNT(sizes); k++) {
        fill(out, sizes[k], rank, k);
        CALL(p2p_sendrecv(world, out, sizes[k], right, 0, sizes[k] ? in : NULL, sizes[k], left, 0, P2P_STATUS_IGNORE));
        CHECK(is_intact(in, sizes[k], left, k), "%zu bytes: not what was sent", sizes[k]);
    }
    CALL(p2p_release(world, out));
    CALL(p2p_release(world, in));
    return 0;
}

Test(p2p_alloc, messages)
{
    ASSERT_RIGHT(job_matrix(messages, NULL));
}

static int check_sum(p2p_comm *comm, int64_t *buf, size_t count, int round)
{
    int rank = p2p_rank(comm), n = p2p_size(comm);

    for (size_t i = 0; i < count; i++) buf[i] = (int64_t)i * (rank + 1) + round;
    CALL(coll_all_reduce(comm, buf, count, DTYPE_I64, OP_SUM));
    for (size_t i = 0; i < count; i++) {
        int64_t want = (int64_t)i * n * (n + 1) / 2 + (int64_t)n * round;
        CHECK(buf[i] == want, "round %d, element %zu of %zu: %lld, not %lld", round, i, count, (long long)buf[i],
              (long long)want);
    }
    return 0;
}

/* New buffers every time, more than a rank remembers; some ranks have theirs elsewhere; not from the beginning on. */
static int reduce_new_ones(p2p_comm *world, void *arg)
{
    static int64_t own[30000];
    void *shared;

    (void)arg;
    for (int round = 0; round < 100; round++) {
        size_t count = 1 + (size_t)round * 211, ahead = (size_t)round % 5;
        CALL(p2p_alloc(world, (count + ahead) * sizeof *own, &shared));
        bool elsewhere = (round + p2p_rank(world)) % 4 == 3;
        STEP(check_sum(world, elsewhere ? own : (int64_t *)shared + ahead, count, round));
        CALL(p2p_release(world, shared));
    }
    return 0;
}

Test(p2p_alloc, all_reduce_of_new_buffers)
{
    ASSERT_RIGHT(job_matrix(reduce_new_ones, NULL));
}

/* Rank 0 keeps its buffer, the others have a new one each time: what is read of the one that stays is never given
 * up. */
static int one_stays(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 2000 };
    const int *rounds = arg;
    void *kept, *buf;

    CALL(p2p_alloc(world, ELEMENTS * sizeof(int64_t), &kept));
    for (int round = 0; round < *rounds; round++) {
        CALL(p2p_alloc(world, ELEMENTS * sizeof(int64_t), &buf));
        STEP(check_sum(world, p2p_rank(world) ? buf : kept, ELEMENTS, round));
        CALL(p2p_release(world, buf));
    }
    CALL(p2p_release(world, kept));
    return 0;
}

Test(p2p_alloc, one_buffer_stays_while_others_come_and_go)
{
    int rounds = 100;
    ASSERT_RIGHT(job_matrix(one_stays, &rounds));
}

/* More buffers at a time than a rank remembers. */
Test(p2p_alloc, all_reduce_of_more_than_64_ranks)
{
    static const int sizes[] = {65, 66};
    int rounds = 3;
    ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, false, one_stays, &rounds));
}

/* One buffer for several communicators, its parts reduced one after the other, as a trainer does. */
static int reduce_slices(p2p_comm *world, void *arg)
{
    enum { ELEMENTS = 200000, SLICES = 7 };
    p2p_comm *half;
    void *buf;

    (void)arg;
    CALL(p2p_alloc(world, ELEMENTS * sizeof(int64_t), &buf));
    CALL(p2p_split(world, p2p_rank(world) % 2, 0, &half));
    for (int round = 0; round < 3; round++)
        for (size_t s = 0, first = 0; s < SLICES; s++) {
            size_t next = ELEMENTS * (s + 1) / SLICES;
            STEP(check_sum(s % 2 ? half : world, (int64_t *)buf + first, next - first, round));
            first = next;
        }
    CALL(p2p_free(half));
    CALL(p2p_release(world, buf));
    return 0;
}

Test(p2p_alloc, slices_and_groups)
{
    ASSERT_RIGHT(job_matrix(reduce_slices, NULL));
}

/* Rank 1 has no room for addresses to read what others have: they copy, all of them or only some, and messages are
 * sent. On several hosts they are sent over links that it has mapped before: without room it can have no new one. */
static int short_sighted(p2p_comm *world, void *arg)
{
    static int64_t own[100000];
    int rank = p2p_rank(world);
    void *buf;

    (void)arg;
    CALL(p2p_alloc(world, 1000000, &buf));
    STEP(check_sum(world, buf, 100, 0)); /* and stages are there, which are mapped as well */
    if (p2p_hosts(world) > 1) STEP(check_sum(world, own, COUNT(own), 0));
    if (rank == 1) setrlimit(RLIMIT_AS, &(struct rlimit){1 << 20, RLIM_INFINITY});
    STEP(check_sum(world, buf, 100000, 1));
    if (rank == 1) setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    STEP(check_sum(world, buf, 100001, 2));
    STEP(pass_on(world, buf, 1000000, 300000, 0, true));
    CALL(p2p_release(world, buf));
    return 0;
}

Test(p2p_alloc, a_rank_without_room_to_read_in_place)
{
#if defined(__SANITIZE_ADDRESS__)
    cr_skip_test("the address sanitizer needs more room than this leaves");
#endif
    ASSERT_RIGHT(job_matrix(short_sighted, NULL));
}
