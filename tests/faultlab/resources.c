/* SPDX-License-Identifier: MIT */
/* Faults of the system: signals, short reads and writes, limits on memory and descriptors, settings, output. */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- An exchange of all sizes between all ranks, every byte checked: it must be right whatever the system does
 * ---- */

static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 65535, 65536, 65537, 300000};
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 300000 };

static int exchange_one(p2p_comm *world, size_t which, unsigned char *out, unsigned char *in)
{
    int rank = p2p_rank(world), size = p2p_size(world);
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        p2p_status status;
        lab_fill(out, sizes[which], rank, which);
        memset(in, 0, LARGEST);
        CHECK_OK(world, p2p_sendrecv(world, out, sizes[which], to, 3, in, LARGEST, from, 3, &status));
        CHECK(status.bytes == sizes[which], "%zu bytes came, not %zu", status.bytes, sizes[which]);
        CHECK(lab_intact(in, sizes[which], from, which), "%zu bytes from %d are not what was sent", sizes[which], from);
    }
    return 0;
}

static int exchange_all(p2p_comm *world, int rounds)
{
    static unsigned char out[LARGEST], in[LARGEST];
    for (int round = 0; round < rounds; round++)
        for (size_t which = 0; which < SIZES; which++) {
            int failed = exchange_one(world, which, out, in);
            if (failed) return failed;
        }
    return 0;
}

/* ---- Timer signals at 1 kHz ---- */

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    ticks = ticks + 1;
}

static void start_storm(void)
{
    struct sigaction action = {.sa_handler = tick}; /* no SA_RESTART: every system call may end with EINTR */
    struct itimerval every = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

/* rank 0 says when to stop, because all ranks must stop together */
static int more(p2p_comm *world, unsigned char *go)
{
    for (int rank = 1; p2p_rank(world) == 0 && rank < p2p_size(world); rank++)
        CHECK_OK(world, p2p_send(world, go, 1, rank, 4));
    if (p2p_rank(world) > 0) CHECK_OK(world, p2p_recv(world, go, 1, 0, 4, P2P_STATUS_IGNORE));
    return 0;
}

static int body_storm(p2p_comm *world)
{
    int failed = 0;
    double since = process_now();
    start_storm(); /* a timer does not survive fork */
    for (unsigned char go = 1; !failed && go;) {
        failed = exchange_all(world, 1);
        go = ticks < 300 && process_now() - since < 5;
        if (!failed) failed = more(world, &go);
    }
    CHECK(failed || ticks > 10, "only %d signals came", (int)ticks);
    return failed;
}

static void itimer_storm(void)
{
    static lab_job job = {.size = 3, .body = body_storm, .setup = start_storm};
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- Short reads and writes ---- */

static int body_exchange(p2p_comm *world)
{
    return exchange_all(world, 3);
}

static void short_io(void)
{
    static lab_job job = {.size = 4, .body = body_exchange};
    setenv("PAIRWISE_SNDBUF", "1", 1);
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- SIGPIPE: a dead peer is an error, and the user's handler is not touched ---- */

static volatile sig_atomic_t pipes;

static void note_pipe(int number)
{
    (void)number;
    pipes = pipes + 1;
}

static int body_sigpipe(p2p_comm *world)
{
    static char buf[1000];
    struct sigaction now;
    signal(SIGPIPE, note_pipe);
    int failed = lab_works(world);
    if (failed) return failed;
    if (p2p_rank(world) == 1) lab_die(SIGKILL);
    p2p_err err = P2P_OK;
    for (int i = 0; !err && i < 100000; i++) err = NOTE(world, p2p_send(world, buf, sizeof buf, 1, 0));
    sigaction(SIGPIPE, NULL, &now);
    CHECK(err, "100,000 messages to the dead and no error");
    CHECK(pipes == 0, "SIGPIPE was raised");
    CHECK(now.sa_handler == note_pipe, "the handler of SIGPIPE was changed");
    return 0;
}

static void sigpipe(void)
{
    static lab_job job = {.size = 2, .body = body_sigpipe};
    lab_run(&job);
    lab_expect_status(&job, 137);
    lab_expect_survivor(0, 1, "signal 9");
}

/* ---- Floods ---- */

enum { FLOOD = 20000 };

static int flood_out(p2p_comm *world)
{
    for (int i = 0; i < FLOOD; i++)
        for (int to = 0; to < p2p_size(world); to++)
            if (to != p2p_rank(world)) CHECK_OK(world, p2p_send(world, &i, sizeof i, to, 0));
    return 0;
}

static int body_flood(p2p_comm *world)
{
    int failed = flood_out(world);
    for (int from = 0; !failed && from < p2p_size(world); from++)
        for (int i = 0; i < FLOOD && from != p2p_rank(world); i++) {
            int got = -1;
            CHECK_OK(world, p2p_recv(world, &got, sizeof got, from, 0, P2P_STATUS_IGNORE));
            CHECK(got == i, "message %d from %d holds %d", i, from, got);
        }
    return failed;
}

static void flood(void)
{
    static lab_job job = {.size = 3, .body = body_flood};
    lab_run(&job);
    lab_expect_fine(&job);
}

enum { BOUND_COUNT = 512, BOUND_BYTES = 65536 };

static int bound_send(p2p_comm *world)
{
    static p2p_request requests[BOUND_COUNT];
    static unsigned char buf[BOUND_COUNT][BOUND_BYTES];
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        lab_fill(buf[i], BOUND_BYTES, 1, i);
        CHECK_OK(world, p2p_isend(world, buf[i], BOUND_BYTES, 0, 1, &requests[i]));
    }
    CHECK_OK(world, p2p_send(world, NULL, 0, 0, 2)); /* must not be held up by what waits */
    CHECK_OK(world, p2p_wait_all(BOUND_COUNT, requests, P2P_STATUSES_IGNORE));
    return 0;
}

static long resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int bound_receive(p2p_comm *world)
{
    static unsigned char buf[BOUND_BYTES];
    long before = resident_bytes();
    CHECK_OK(world, p2p_recv(world, NULL, 0, 1, 2, P2P_STATUS_IGNORE));
    long grown = resident_bytes() - before;
    CHECK(grown < 8 << 20, "%ld bytes are kept of 32 MiB that no rank received", grown);
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        CHECK_OK(world, p2p_recv(world, buf, sizeof buf, 1, 1, P2P_STATUS_IGNORE));
        CHECK(lab_intact(buf, sizeof buf, 1, i), "message %zu is not what was sent", i);
    }
    return 0;
}

static int body_flood_bound(p2p_comm *world)
{
    return p2p_rank(world) == 0 ? bound_receive(world) : bound_send(world);
}

/* Blocking sends of more than there is room for, both ways: as deadlocked as large ones, and explained like them. */
static int body_over_bound(p2p_comm *world)
{
    int other = 1 - p2p_rank(world);
    p2p_err err = P2P_OK;
    for (int i = 0; !err && i < FLOOD; i++) err = NOTE(world, p2p_send(world, &i, sizeof i, other, 0));
    CHECK(err == P2P_ERR_DEADLOCK, "20,000 sends gave %d", (int)err);
    return 0;
}

static void flood_bound(void)
{
    static lab_job job = {.size = 2, .body = body_flood_bound}, over = {.size = 2, .body = body_over_bound};
    setenv("PAIRWISE_UNEXP_MAX", "1M", 1);
    lab_run(&job);
    lab_expect_fine(&job);
    lab_run(&over);
    lab_expect_status(&over, 1);
    FACTS(over.text, "deadlock", "p2p_send", "rank 0", "rank 1");
}

/* ---- Descriptors: too few from the start, or used up later ---- */

static rlim_t files;

static void limit_files(void)
{
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files});
}

static int body_token(p2p_comm *world)
{
    int rank = p2p_rank(world), size = p2p_size(world), token = 0;
    if (rank > 0) CHECK_OK(world, p2p_recv(world, &token, sizeof token, rank - 1, 0, P2P_STATUS_IGNORE));
    token++;
    CHECK_OK(world, p2p_send(world, &token, sizeof token, (rank + 1) % size, 0));
    if (rank == 0) CHECK_OK(world, p2p_recv(world, &token, sizeof token, size - 1, 0, P2P_STATUS_IGNORE));
    CHECK(token == (rank ? rank + 1 : size), "the token says %d", token);
    return 0;
}

static void fd_limit(void)
{
    static lab_job launched = {.setup = limit_files}, ring = {.size = 64, .body = body_token, .setup = limit_files};
    files = 16;
    lab_launch(&launched, ARGS("-n", "16"), "hello");
    EXPECT(launched.status != 0 && launched.status < 128, "exit status %d", launched.status);
    FACTS(launched.text, "needs", "16", "ulimit -n");
    EXPECT(!strstr(launched.text, "hello from"), "ranks were started");
    files = 256;
    lab_run(&ring);
    lab_expect_fine(&ring);
}

static int opened[1024], opened_count;

static void use_up_descriptors(void)
{
    int fd;
    while (opened_count < 1024 && (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) opened[opened_count++] = fd;
}

static void give_back_descriptors(void)
{
    while (opened_count > 0) close(opened[--opened_count]);
}

/* Ranks 0 and 1 have a link; rank 0 or rank 2 has no descriptor left for the one between them. */
static int exhausted = 0;

static int ping(p2p_comm *world, int other)
{
    int mine = p2p_rank(world), theirs = -1;
    CHECK_OK(world,
             p2p_sendrecv(world, &mine, sizeof mine, other, 5, &theirs, sizeof theirs, other, 5, P2P_STATUS_IGNORE));
    CHECK(theirs == other, "%d came from %d", theirs, other);
    return 0;
}

static int exhausted_zero(p2p_comm *world)
{
    int failed = ping(world, 1), word = 0;
    if (failed) return failed;
    if (exhausted == 0) use_up_descriptors();
    if (exhausted == 2) CHECK(lab_wait_flag(0, 1), "rank 2 never filled its table");
    p2p_err err = NOTE(world, p2p_sendrecv(world, &word, sizeof word, 2, 6, &word, 0, 2, 6, P2P_STATUS_IGNORE));
    CHECK(err == P2P_ERR_SYS, "a link that cannot be gave %d", (int)err);
    snprintf(lab->rank[0].kept, sizeof lab->rank[0].kept, "%s", p2p_error_message(world));
    failed = ping(world, 1);
    give_back_descriptors();
    lab_raise_flag(1);
    return failed ? failed : 9;
}

static int body_fd_exhaust(p2p_comm *world)
{
    if (p2p_rank(world) == 0) return exhausted_zero(world);
    if (p2p_rank(world) == 1) {
        int failed = ping(world, 0);
        return failed ? failed : ping(world, 0);
    }
    if (exhausted == 2) use_up_descriptors();
    lab_raise_flag(0);
    if (exhausted == 2) NOTE(world, p2p_recv(world, NULL, 0, 0, 6, P2P_STATUS_IGNORE));
    CHECK(lab_wait_flag(1, 1), "rank 0 never finished");
    return 0;
}

static void fd_exhaust(void)
{
    static lab_job job = {.size = 3, .body = body_fd_exhaust, .setup = limit_files};
    files = 64;
    for (exhausted = 0; exhausted <= 2; exhausted += 2) {
        lab_run(&job);
        lab_expect_status(&job, 9);
        FACTS(lab->rank[0].kept, "descriptor", "64");
    }
}

/* ---- Memory: the n-th allocation fails, for all n ---- */

enum { OOM_STOP = 100, OOM_BYTES = 5000 };

/* Sends back whatever comes. */
static int echo(p2p_comm *world)
{
    static unsigned char buf[OOM_BYTES];
    p2p_status status;
    for (;;) {
        CHECK_OK(world, p2p_recv(world, buf, sizeof buf, 0, P2P_ANY_TAG, &status));
        if (status.tag == OOM_STOP) return 0;
        CHECK_OK(world, p2p_send(world, buf, status.bytes, 0, status.tag));
    }
}

/* Make a call whose n-th allocation fails; after P2P_ERR_NOMEM the same call must work. */
static long oom_n;
static bool oom_hit;

#define SWEEP(comm, call)                                                                                    \
    do {                                                                                                     \
        lab_alloc_fail_at(oom_n);                                                                            \
        p2p_err err_ = NOTE(comm, call);                                                                     \
        lab_alloc_fail_at(0);                                                                                \
        oom_hit = oom_hit || lab_alloc_failed();                                                             \
        CHECK(!err_ || err_ == P2P_ERR_NOMEM, "%s gave %d (%s)", #call, (int)err_, p2p_error_message(comm)); \
        CHECK(!err_ || lab_alloc_failed(), "%s gave P2P_ERR_NOMEM, but nothing had failed", #call);          \
        if (err_) CHECK_OK(comm, call);                                                                      \
    } while (0)

static int oom_messages(p2p_comm *world, unsigned char *out, unsigned char *in)
{
    p2p_request send = P2P_REQUEST_NULL, receive = P2P_REQUEST_NULL;
    lab_fill(out, OOM_BYTES, 0, (size_t)oom_n);
    SWEEP(world, p2p_isend(world, out, OOM_BYTES, 1, 1, &send));
    SWEEP(world, p2p_send(world, out, OOM_BYTES, 1, 2));
    SWEEP(world, p2p_recv(world, in, OOM_BYTES, 1, 2, P2P_STATUS_IGNORE)); /* the other one comes first: unexpected */
    CHECK(lab_intact(in, OOM_BYTES, 0, (size_t)oom_n), "the second message is not what was sent");
    SWEEP(world, p2p_irecv(world, in, OOM_BYTES, 1, 1, &receive));
    SWEEP(world, p2p_wait(&send, P2P_STATUS_IGNORE));
    SWEEP(world, p2p_wait(&receive, P2P_STATUS_IGNORE));
    CHECK(lab_intact(in, OOM_BYTES, 0, (size_t)oom_n), "the first message is not what was sent");
    SWEEP(world, p2p_send(world, out, OOM_BYTES, 0, 3)); /* to oneself */
    SWEEP(world, p2p_recv(world, in, OOM_BYTES, 0, 3, P2P_STATUS_IGNORE));
    return 0;
}

static int body_oom_messages(p2p_comm *world)
{
    static unsigned char out[OOM_BYTES], in[OOM_BYTES];
    int failed = 0;
    if (p2p_rank(world) == 1) return echo(world);
    do {
        oom_hit = false;
        oom_n++;
        failed = oom_messages(world, out, in);
    } while (!failed && oom_hit);
    if (failed) return failed;
    CHECK(oom_n > 1, "no call of the library ever allocates");
    CHECK_OK(world, p2p_send(world, NULL, 0, 1, OOM_STOP));
    return 0;
}

/* A group of one, so that no other rank waits for a split that failed. */
static int body_oom_split(p2p_comm *world)
{
    do {
        p2p_comm *sub = NULL;
        oom_hit = false;
        oom_n++;
        SWEEP(world, p2p_split(world, 0, 0, &sub));
        CHECK(sub && p2p_size(sub) == 1, "no group came of it");
        CHECK_OK(world, p2p_free(sub));
    } while (oom_hit);
    return 0;
}

/* What failed allocations leave behind, they leave every time. */
static size_t allocated(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

static int body_oom_leak(p2p_comm *world)
{
    size_t before = 0;
    for (int round = 0; round < 200; round++) {
        oom_n = 0;
        int failed = body_oom_split(world);
        if (failed) return failed;
        if (round == 100) before = allocated();
    }
    size_t after = allocated();
    CHECK(after <= before + 1024, "100 rounds of failed splits left %zu bytes", after - before);
    return 0;
}

static void oom_sweep(void)
{
    static lab_job job = {.size = 2, .body = body_oom_messages}, alone = {.size = 1, .body = body_oom_split};
    lab_run(&job);
    lab_expect_fine(&job);
    lab_run(&alone);
    lab_expect_fine(&alone);
    alone.body = body_oom_leak;
    lab_run(&alone);
    lab_expect_fine(&alone);
}

/* ---- The kernel kills a rank for memory ---- */

static char group_path[200];

static bool write_to(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return good;
}

static bool make_group(void)
{
    static const char *const roots[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(group_path, sizeof group_path, "%s/pairwise-faultlab-%d", roots[i], (int)getpid());
        if (mkdir(group_path, 0755) != 0) continue;
        if (write_to(group_path, i ? "memory.max" : "memory.limit_in_bytes", "64M")) {
            write_to(group_path, i ? "memory.swap.max" : "memory.memsw.limit_in_bytes", i ? "0" : "64M");
            return true;
        }
        rmdir(group_path);
    }
    return false;
}

static void enter_group(void)
{
    if (!write_to(group_path, "cgroup.procs", "0")) _exit(126);
}

static int body_oomkill(p2p_comm *world)
{
    int word;
    if (p2p_rank(world) == 0) {
        NOTE(world, p2p_recv(world, &word, sizeof word, 1, 0, P2P_STATUS_IGNORE));
        return 0;
    }
    write_to("/proc/self", "oom_score_adj", "1000");
    CHECK(lab_wait_inside(0), "rank 0 never waited");
    lab->died_at = process_now() + 5; /* dying of memory takes as long as it takes */
    char *much = mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(much != MAP_FAILED, "mmap: %s", strerror(errno));
    memset(much, 1, 256 << 20);
    return complaint_make(__FILE__, __LINE__, "256 MiB fit into a limit of 64 MiB");
}

static void oomkill(void)
{
    static lab_job job = {.size = 2, .body = body_oomkill, .setup = enter_group};
    if (!make_group()) lab_skip("no right to make a memory cgroup");
    lab_start(&job);
    lab_finish(&job);
    rmdir(group_path);
    lab_expect_status(&job, 137);
    lab_expect_survivor(0, 1, "signal 9");
    FACTS(job.text, "rank 1", "killed by signal 9", "out of memory");
}

/* ---- A limit on memory of a group above the one that the job is in: seen before anything is started ---- */

static char inner_path[sizeof group_path + 8];

static void enter_inner(void)
{
    if (!write_to(inner_path, "cgroup.procs", "0")) _exit(126);
}

static void nested_limit(void)
{
    static lab_job job = {.size = 2, .body = lab_was_run, .setup = enter_inner, .options.memory_each = 100 << 20};
    if (!make_group()) lab_skip("no right to make a memory cgroup");
    snprintf(inner_path, sizeof inner_path, "%s/inner", group_path);
    EXPECT(mkdir(inner_path, 0755) == 0, "%s", inner_path);
    lab_start(&job);
    lab_finish(&job);
    rmdir(inner_path);
    rmdir(group_path);
    EXPECT(job.status == 1, "exit status %d", job.status);
    FACTS(job.text, "2 ranks need at least", "and there is 0.");
}

/* ---- Which clock the library reads ---- */

static int uses_wall_clock(const char *folder, const char *name)
{
    static const char *const words[] = {"CLOCK_REALTIME", "gettimeofday", "time(NULL)", "CLOCK_MONOTONIC_COARSE"};
    char path[512], line[1024];
    int found = 0;
    snprintf(path, sizeof path, "%.300s/%.200s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) found += strstr(line, words[i]) != NULL;
    fclose(file);
    return found;
}

/* The files of a folder and of the rooms in it; how many there are. */
static int read_sources(const char *folder)
{
    char room[400];
    int files_read = 0;
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        snprintf(room, sizeof room, "%.200s/%.100s", folder, entry->d_name);
        if (!dot) files_read += read_sources(room);
        if (!dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0)) continue;
        EXPECT(!uses_wall_clock(folder, entry->d_name), "%s reads a clock that jumps", room);
        files_read++;
    }
    closedir(dir);
    return files_read;
}

static void wall_clock(void)
{
    static const char *const folders[] = {"p2p", "collectives", "ring", "trainer"};
    char path[40];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "../%s", folders[i]);
        int files_read = read_sources(lab_build(path));
        snprintf(path, sizeof path, "../../%s", folders[i]);
        if (!files_read) files_read = read_sources(lab_build(path)); /* BUILD=build/other */
        if (!files_read) lab_skip("the sources are not beside the build folder");
    }
}

/* ---- Output that cannot be written ---- */

static void broken_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0) _exit(126);
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
}

static void expect_ran(lab_job *job, const char *where, bool may_be_fine)
{
    lab_launch(job, ARGS("-n", "2"), "chatter");
    EXPECT(lab->flag[0] == 2, "with stdout %s, only %d ranks ran to the end", where, lab->flag[0]);
    EXPECT(job->status < 126, "with stdout %s, the exit status is %d", where, job->status);
    EXPECT(may_be_fine || job->status != 0, "with stdout %s, the exit status is 0", where);
}

static void output_full(void)
{
    static lab_job full = {.out = "/dev/full"}, full3 = {.out = "/dev/full"}, closed = {.out = ""},
                   broken = {.setup = broken_pipe}, silent = {.err = "/dev/full"};
    expect_ran(&full, "full", false);
    expect_ran(&closed, "closed", true);
    expect_ran(&broken, "a broken pipe", true);
    expect_ran(&silent, "fine and stderr full", true);
    EXPECT(silent.status == 0, "with only stderr full, the exit status is %d", silent.status);
    lab_launch(&full3, ARGS("-n", "2"), "chatter3");
    EXPECT(full3.status == 3, "exit status %d, not the ranks' 3", full3.status);
}

/* ---- Settings that make no sense ---- */

static const struct {
    const char *name, *value;
} bad_settings[] = {
    {"PAIRWISE_TIMEOUT", "abc"},
    {"PAIRWISE_TIMEOUT", "-1"},
    {"PAIRWISE_TIMEOUT", "1e99"},
    {"PAIRWISE_TIMEOUT", "nan"},
    {"PAIRWISE_TIMEOUT", ""},
    {"PAIRWISE_TIMEOUT", "1 s"},
    {"PAIRWISE_EAGER", "64X"},
    {"PAIRWISE_EAGER", "-1"},
    {"PAIRWISE_EAGER", ""},
    {"PAIRWISE_UNEXP_MAX", "1Q"},
    {"PAIRWISE_UNEXP_MAX", "99999999999999999999"},
    {"PAIRWISE_UNEXP_MAX", "17179869184G"},
    {"PAIRWISE_SNDBUF", "-5"},
    {"PAIRWISE_SNDBUF", "0x10"},
    {"PAIRWISE_STRICT", "maybe"},
    {"PAIRWISE_DEBUG", "2"},
    {"PAIRWISE_CRC", "yes"},
    {"PAIRWISE_WORLD", "nosuch"},
};

static void bad_setting(const char *name, const char *value)
{
    static lab_job job = {.size = 2, .body = lab_was_run}, launched, alone;
    setenv(name, value, 1);
    lab_run(&job);
    EXPECT(job.result == P2P_ERR_ARG, "%s=%s: p2p_launch gave %d", name, value, (int)job.result);
    EXPECT(lab->flag[0] == 0, "%s=%s: ranks were started", name, value);
    FACTS(job.text, name, value);
    lab_launch(&launched, ARGS("-n", "2"), "hello");
    EXPECT(launched.status == 2, "%s=%s: build/launch ends with %d", name, value, launched.status);
    FACTS(launched.text, name, value);
    lab_run_alone(&alone, "hello");
    EXPECT(alone.status != 0, "%s=%s: p2p_init took it", name, value);
    FACTS(alone.text, name, value);
    unsetenv(name);
}

static void bad_env(void)
{
    for (size_t i = 0; i < sizeof bad_settings / sizeof *bad_settings; i++)
        bad_setting(bad_settings[i].name, bad_settings[i].value);
}

const lab_case lab_resources[] = {
    {"itimer-storm", "timer signals at 1 kHz without SA_RESTART are not noticed", itimer_storm, false},
    {"short-io", "links with the smallest buffer (PAIRWISE_SNDBUF=1) carry the same bytes", short_io, false},
    {"sigpipe", "no SIGPIPE; the user's handler is not touched", sigpipe, false},
    {"flood", "20,000 tiny messages in every direction before any receive", flood, false},
    {"flood-bound", "beyond PAIRWISE_UNEXP_MAX messages wait at their sender and hold up no other tag", flood_bound,
     false},
    {"fd-limit", "too few descriptors: needs, limit and advice before any rank starts; 64 ranks in a ring at 256",
     fd_limit, false},
    {"fd-exhaust", "no descriptor left for a link: a clear error, and open links go on working", fd_exhaust, false},
    {"oom-sweep", "the n-th allocation fails, for all n: P2P_ERR_NOMEM, and the same call works afterwards", oom_sweep,
     false},
    {"oomkill", "a rank killed for memory: as any death, with the hint", oomkill, false},
    {"group-limit", "a limit on memory of a group above the job's: seen before any rank is started", nested_limit,
     false},
    {"clock", "no clock that jumps is read", wall_clock, false},
    {"output-full", "stdout or stderr full, closed or broken: the run goes on, the exit status is right", output_full,
     false},
    {"bad-env", "a bad PAIRWISE_ value: variable, value and what is accepted, before any fork", bad_env, false},
    {NULL, NULL, NULL, false},
};
