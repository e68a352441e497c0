/* SPDX-License-Identifier: MIT */
/* Faults of processes: ranks that die, leave, stop or dawdle; launchers that are killed, interrupted or cannot fork. */
#include "lab.h"
#include "p2p/shared/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- A rank dies while others wait for it ---- */

static int victim = 1;        /* the rank that dies */
static void (*way_out)(void); /* how */

static void by_sigkill(void)
{
    lab_die(SIGKILL);
}
static void by_segv(void)
{
    lab_die(SIGSEGV);
}

static void by_exit0(void)
{
    lab->died_at = process_now();
    exit(0);
}

static void by_exit3(void)
{
    lab->died_at = process_now();
    exit(3);
}

/* Every rank but the victim waits for it; the last rank computes instead until the victim is gone, and learns of its
 * death in the next call. The victim's own last call is a send. */
static int body_one_dies(p2p_comm *world)
{
    int rank = p2p_rank(world), last = p2p_size(world) - 1, word = 0;
    int friend = victim == 0 ? 1 : 0;
    if (rank == victim) {
        NOTE(world, p2p_send(world, &word, sizeof word, friend, 7));
        for (int other = 0; other < last; other++)
            CHECK(other == victim || lab_wait_inside(other), "rank %d never waited", other);
        way_out();
    }
    if (rank == friend) p2p_recv(world, &word, sizeof word, victim, 7, P2P_STATUS_IGNORE);
    if (rank == last) CHECK(lab_wait_gone(victim), "rank %d never went", victim);
    NOTE(world, p2p_recv(world, &word, sizeof word, rank == last ? friend : victim, 0, P2P_STATUS_IGNORE));
    return 0;
}

/* cause is what the supervisor says, brief what each survivor is told */
static void one_dies(void (*how)(void), int status, const char *cause, const char *brief)
{
    static lab_job job = {.size = 4, .body = body_one_dies};
    char name[32];
    way_out = how;
    lab_run(&job);
    lab_expect_status(&job, status);
    snprintf(name, sizeof name, "rank %d", victim);
    FACTS(job.text, name, cause, "p2p_send", "p2p_recv");
    lab_expect_line(&job, __FILE__, victim);
    lab_expect_line(&job, __FILE__, 2);
    for (int rank = 0; rank < job.size; rank++)
        if (rank != victim) lab_expect_survivor(rank, victim, brief);
    EXPECT(job.statuses[victim] == (how == by_exit0 ? 0 : status), "status of the dead: %d", job.statuses[victim]);
}

static void peer_sigkill(void)
{
    one_dies(by_sigkill, 137, "killed by signal 9 (Killed)", "signal 9");
}
static void exit0(void)
{
    one_dies(by_exit0, 1, "left without p2p_finalize (exit status 0)", "without p2p_finalize");
}
static void exit3(void)
{
    one_dies(by_exit3, 3, "exited with status 3", "status 3");
}
static void segv(void)
{
    one_dies(by_segv, 139, "killed by signal 11 (Segmentation fault)", "signal 11");
}

static void root_death(void)
{
    victim = 0;
    one_dies(by_sigkill, 137, "killed by signal 9 (Killed)", "signal 9");
}

/* ---- Two die at once ---- */

static int body_double_death(p2p_comm *world)
{
    int rank = p2p_rank(world), word = 0;
    if (rank == 2)
        for (;;) pause();
    if (rank == 1) {
        CHECK(lab_wait_inside(0) && lab_wait_inside(3) && lab_wait_started(2), "no rank waits");
        kill(lab->rank[2].pid, SIGKILL);
        lab_die(SIGKILL);
    }
    NOTE(world, p2p_recv(world, &word, sizeof word, rank == 0 ? 1 : 2, 0, P2P_STATUS_IGNORE));
    return 0;
}

static void double_death(void)
{
    static lab_job job = {.size = 4, .body = body_double_death};
    lab_run(&job);
    lab_expect_status(&job, 137);
    EXPECT(lab_lines_with(job.text, "killed by signal 9") == 1, "the first cause is not reported once");
    int first = lab_has(job.text, "rank 1 was killed") || lab_has(job.text, "rank 1 killed") ? 1 : 2;
    lab_expect_survivor(0, first, "signal 9");
    lab_expect_survivor(3, first, "signal 9");
}

/* ---- A rank stops; a rank is slow ---- */

static int body_sigstop(p2p_comm *world)
{
    int word = 0;
    if (p2p_rank(world) == 1) {
        raise(SIGSTOP);
        return 0;
    }
    double before = process_now();
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_recv(world, &word, sizeof word, 1, 0, P2P_STATUS_IGNORE));
    double waited = process_now() - before;
    CHECK(waited > 0.9 && waited < LAB_WAIT, "timed out after %.3f s, not 1 s", waited);
    return 5;
}

static void sigstop(void)
{
    static lab_job job = {.size = 2, .body = body_sigstop};
    setenv("PAIRWISE_TIMEOUT", "1", 1);
    lab_run(&job);
    lab_expect_err(0, P2P_ERR_TIMEOUT);
    FACTS(lab->rank[0].message, "rank 1", "state T (stopped)", "no progress for ", "p2p_recv(source 1, tag 0)");
    EXPECT(job.status != 0, "exit status 0");
    EXPECT(job.seconds < 10, "the job took %.1f s to end", job.seconds);
}

/* The work a slow rank does between two messages; no test waits for something by it. */
static void work(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0) continue;
}

static int body_straggler(p2p_comm *world)
{
    int word = 0, rank = p2p_rank(world);
    for (int round = 0; round < 8; round++) {
        if (rank == 1) work(0.4);
        if (rank == 1) CHECK_OK(world, p2p_send(world, &word, sizeof word, 0, 0));
        if (rank == 0) CHECK_OK(world, p2p_recv(world, &word, sizeof word, 1, 0, P2P_STATUS_IGNORE));
    }
    return 0;
}

static void straggler(void)
{
    static lab_job job = {.size = 2, .body = body_straggler};
    lab_short_timeout();
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- The launcher is killed, or interrupted ---- */

static void kill_and_look(lab_job *job)
{
    EXPECT(lab_wait_flag(0, 3) && lab_wait_inside(0), "the ranks never ran");
    kill(job->process.pid, SIGKILL);
    lab_finish(job); /* fails if a rank is left */
    EXPECT(job->status == 137, "exit status %d", job->status);
}

static int with_child(p2p_comm *world)
{
    if (fork() == 0)
        for (;;) pause();
    return lab_idle(world);
}

static void launcher_kill(void)
{
    static lab_job job = {.size = 3, .body = lab_idle}, launched, parents = {.size = 3, .body = with_child};
    lab_start(&parents);
    kill_and_look(&parents);
    lab_start(&job);
    kill_and_look(&job);
    lab_launch_start(&launched, ARGS("-n", "3"), "idle");
    kill_and_look(&launched);
}

static void interrupt_with(int number)
{
    static lab_job job;
    lab_launch_start(&job, ARGS("-n", "2"), "deaf");
    EXPECT(lab_wait_flag(0, 2), "the ranks never ran");
    kill(job.process.pid, number);
    double sent = process_now();
    lab_finish(&job);
    EXPECT(job.status == 128 + number, "exit status %d, not %d", job.status, 128 + number);
    EXPECT(lab->rank[0].count == number, "rank 0 got signal %ld, not %d", lab->rank[0].count, number);
    EXPECT(process_now() - sent < 10, "it took %.1f s to end", process_now() - sent);
}

static void sigint(void)
{
    interrupt_with(SIGINT);
    interrupt_with(SIGTERM);
}

/* ---- Ctrl-Z ---- */

static void wait_for_state(pid_t pid, const char *letters)
{
    double until = process_now() + 30;
    while (!strchr(letters, p2p__process_letter(pid)) && process_now() < until) usleep(1000);
    EXPECT(strchr(letters, p2p__process_letter(pid)), "process %d is in state %c, not %s", (int)pid,
           p2p__process_letter(pid), letters);
}

/* The launcher stops its ranks and itself; when it goes on, so do they. */
static void sigtstp(void)
{
    static lab_job job;
    if (getenv("PAIRWISE_HOSTS")) lab_skip("ranks of other hosts cannot be stopped");
    lab_launch_start(&job, ARGS("-n", "2"), "deaf");
    EXPECT(lab_wait_flag(0, 2), "the ranks never ran");
    kill(job.process.pid, SIGTSTP);
    wait_for_state(job.process.pid, "T");
    for (int rank = 0; rank < 2; rank++) wait_for_state(lab->rank[rank].pid, "T");
    kill(job.process.pid, SIGCONT);
    for (int rank = 0; rank < 2; rank++) wait_for_state(lab->rank[rank].pid, "SR");
    atomic_store(&lab->flag[0], 0);
    kill(lab->rank[0].pid, SIGINT);
    kill(lab->rank[1].pid, SIGKILL);
    lab_finish(&job);
    EXPECT(job.status == 137, "exit status %d", job.status);
}

/* ---- Which process holds which descriptor ---- */

enum { MAX_HELD = 512 };
typedef struct {
    char what[48]; /* "socket:[12345]" */
    int owner;
} held;

static held inherited[MAX_HELD];
static size_t inherited_count;

static bool was_inherited(const char *what)
{
    for (size_t i = 0; i < inherited_count; i++)
        if (strcmp(inherited[i].what, what) == 0) return true;
    return false;
}

/* Append the sockets and pipes of a process that were not there before the launch. */
static size_t list_held(pid_t pid, int owner, held list[], size_t count)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir)) && count < MAX_HELD;) {
        char *what = list[count].what;
        snprintf(path, sizeof path, "/proc/%d/fd/%.16s", (int)pid, entry->d_name);
        ssize_t got = readlink(path, what, sizeof list->what - 1);
        what[got > 0 ? got : 0] = '\0';
        list[count].owner = owner;
        if (strncmp(what, "socket:", 7) == 0 || strncmp(what, "pipe:", 5) == 0) count += !was_inherited(what);
    }
    if (dir) closedir(dir);
    return count;
}

/* A socket has one holder; the end of a pipe may show in the supervisor too, but not in two ranks. */
static const held *held_twice(const held list[], size_t count, int ranks)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            if (list[i].owner == list[j].owner || strcmp(list[i].what, list[j].what) != 0) continue;
            if (list[i].what[0] == 's' || (list[i].owner < ranks && list[j].owner < ranks)) return &list[i];
        }
    return NULL;
}

/* Look until it is right: a passed descriptor is closed by the supervisor a moment later. */
static int audit(int ranks)
{
    static held list[MAX_HELD];
    const held *twice = NULL;
    size_t count = 0;
    double since = process_now();
    do {
        count = 0;
        for (int rank = 0; rank < ranks; rank++) count = list_held(lab->rank[rank].pid, rank, list, count);
        count = list_held(getppid(), ranks, list, count);
        twice = held_twice(list, count, ranks);
    } while (twice && process_now() - since < LAB_WAIT);
    CHECK(!twice, "%s is held by process %d and one before it", twice->what, twice->owner);
    CHECK(count >= (size_t)(ranks * (ranks - 1)), "only %zu sockets found", count);
    return 0;
}

static int body_fd_audit(p2p_comm *world)
{
    int size = p2p_size(world), failed = lab_works(world);
    char go = 0;
    if (failed) return failed;
    if (p2p_rank(world) != 0) {
        CHECK_OK(world, p2p_recv(world, &go, 1, 0, 1, P2P_STATUS_IGNORE));
        return 0;
    }
    for (int rank = 1; rank < size; rank++) CHECK(lab_wait_inside(rank), "rank %d never waited", rank);
    failed = audit(size);
    for (int rank = 1; rank < size; rank++) CHECK_OK(world, p2p_send(world, &go, 1, rank, 1));
    return failed;
}

static void fd_audit(void)
{
    static lab_job job = {.size = 4, .body = body_fd_audit};
    inherited_count = list_held(getpid(), 0, inherited, 0);
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- What was sent before a death arrives first ---- */

static bool link_open_before;
enum { SMALL_SENT = 100, LARGE_SENT = 2, LARGE = 16384 };

static int send_then_die(p2p_comm *world)
{
    static unsigned char buf[LARGE];
    for (size_t i = 0; i < SMALL_SENT + LARGE_SENT; i++) {
        size_t bytes = i < SMALL_SENT ? 8 : LARGE;
        lab_fill(buf, bytes, 1, i);
        CHECK_OK(world, p2p_send(world, buf, bytes, 0, 0));
    }
    lab_die(SIGKILL);
}

static int body_send_then_die(p2p_comm *world)
{
    static unsigned char buf[LARGE];
    p2p_status status;
    int failed = link_open_before ? lab_works(world) : 0;
    if (failed) return failed;
    if (p2p_rank(world) == 1) return send_then_die(world);
    CHECK(lab_wait_gone(1), "rank 1 never died");
    for (size_t i = 0; i < SMALL_SENT + LARGE_SENT; i++) {
        CHECK_OK(world, p2p_recv(world, buf, sizeof buf, 1, 0, &status));
        CHECK(status.bytes == (i < SMALL_SENT ? 8 : LARGE), "message %zu has %zu bytes", i, status.bytes);
        CHECK(lab_intact(buf, status.bytes, 1, i), "message %zu is not what was sent", i);
    }
    NOTE(world, p2p_recv(world, buf, sizeof buf, 1, 0, &status));
    return 0;
}

static void send_then_death(void)
{
    static lab_job job = {.size = 2, .body = body_send_then_die};
    unsetenv("PAIRWISE_SNDBUF"); /* all of it must fit into the link: no rank reads meanwhile */
    for (int round = 0; round < 2; round++) {
        link_open_before = round == 0;
        lab_run(&job);
        lab_expect_status(&job, 137);
        lab_expect_survivor(0, 1, "signal 9");
    }
}

/* ---- Death in the middle of a message: the sender is killed by rank 2 when part of it has come ---- */

enum { PARTIAL = 64 << 20 };

/* Until something has arrived; then some of it is here, the rest is not, and no call reads on. */
static int until_first_byte(volatile unsigned char *buf, p2p_request *request)
{
    double since = process_now();
    bool done = false;
    while (buf[0] == 0 && !done && process_now() - since < 10) p2p_test(request, &done, P2P_STATUS_IGNORE);
    CHECK(buf[0] != 0 && !done, "%s", done ? "the message is complete" : "nothing arrived");
    return 0;
}

static int receive_part(p2p_comm *world)
{
    unsigned char *buf = calloc(1, PARTIAL);
    p2p_request request = P2P_REQUEST_NULL;
    CHECK(buf, "no memory");
    CHECK_OK(world, p2p_irecv(world, buf, PARTIAL, 1, 0, &request));
    int failed = until_first_byte(buf, &request);
    lab_raise_flag(0);
    if (failed) return failed;
    CHECK(lab_wait_gone(1), "rank 1 never died");
    NOTE(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    CHECK(request == P2P_REQUEST_NULL, "the request is still there");
    free(buf);
    return 0;
}

static int body_partial_frame(p2p_comm *world)
{
    if (p2p_rank(world) == 0) return receive_part(world);
    if (p2p_rank(world) == 1) {
        unsigned char *buf = malloc(PARTIAL);
        CHECK(buf, "no memory");
        memset(buf, 1, PARTIAL);
        NOTE(world, p2p_send(world, buf, PARTIAL, 0, 0));
        free(buf);
        return complaint_make(__FILE__, __LINE__, "the send ended");
    }
    CHECK(lab_wait_flag(0, 1), "rank 0 got nothing");
    lab->died_at = process_now();
    kill(lab->rank[1].pid, SIGKILL);
    return 0;
}

static void partial_frame(void)
{
    static lab_job job = {.size = 3, .body = body_partial_frame};
    setenv("PAIRWISE_SNDBUF", "1", 1);
    setenv("PAIRWISE_DIRECT", "0", 1); /* it comes in parts */
    lab_run(&job);
    lab_expect_status(&job, 137);
    lab_expect_survivor(0, 1, "signal 9");
    FACTS(lab->rank[0].message, " of 67108864 bytes");
}

/* ---- Launches that cannot be ---- */

static void bad_sizes_under_launch(void)
{
    static const char *const sizes[] = {"0", "-1", "abc", "100000", "1025", "", "4x", "1e3", "99999999999999999999"};
    static lab_job job;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lab_launch(&job, ARGS("-n", sizes[i]), "hello");
        EXPECT(job.status == 2, "-n \"%s\": exit status %d, not 2", sizes[i], job.status);
        FACTS(job.text, sizes[i], "usage");
        EXPECT(!strstr(job.text, "hello"), "-n \"%s\" ran something", sizes[i]);
    }
    lab_launch(&job, ARGS("-n", "2"), NULL);
    EXPECT(job.status == 2, "no program: exit status %d, not 2", job.status);
    lab_launch(&job, ARGS("-n", "2", "/dev/null/none"), NULL);
    EXPECT(job.status == 127, "a program that is not there: exit status %d, not 127", job.status);
}

static void bad_size(void)
{
    static const int sizes[] = {0, -1, 1025, 100000};
    static lab_job job = {.body = lab_was_run};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        job.size = sizes[i];
        lab_run(&job);
        EXPECT(job.result == P2P_ERR_ARG, "p2p_launch(%d) gave %d", sizes[i], (int)job.result);
        EXPECT(lab->flag[0] == 0, "p2p_launch(%d) ran a rank", sizes[i]);
    }
    bad_sizes_under_launch();
}

/* As root: become a user that has no other process (two of these tests may run at a time), so that exactly five more may
 * be forked. Otherwise: none. */
static void limit_processes(void)
{
    bool root = geteuid() == 0;
    rlim_t limit = root ? 6 : 1;
    uid_t nobody_else = 100000 + (uid_t)getpid();
    if (root && setresuid(nobody_else, nobody_else, nobody_else) != 0) _exit(126);
    prctl(PR_SET_DUMPABLE, 1);        /* lost with the user id; without it /proc/self/fd is not ours to read */
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also lost */
    setrlimit(RLIMIT_NPROC, &(struct rlimit){limit, limit});
}

static void fork_fails(void)
{
    static lab_job job = {.size = 16, .body = lab_idle, .setup = limit_processes};
    bool root = geteuid() == 0;
    lab_run(&job);
    EXPECT(job.status == 1, "exit status %d, not 1", job.status);
    FACTS(job.text, "fork", root ? "rank 5" : "rank 0", "Resource temporarily unavailable");
}

const lab_case lab_processes[] = {
    {"peer-sigkill", "killed while others wait: PEER_DEAD in time, naming rank, signal and calls; exit 137",
     peer_sigkill, false},
    {"exit0", "exit(0) before finalize is an error, exit status 1", exit0, false},
    {"exit3", "exit(3): named, with the rank's last call; exit status 3", exit3, false},
    {"segv", "SIGSEGV: named, with the rank's last call; exit status 139", segv, false},
    {"sigstop", "a stopped rank: PAIRWISE_TIMEOUT names it and its state", sigstop, false},
    {"straggler", "a slow rank is no error: each call has the whole time limit", straggler, false},
    {"launcher-kill", "the supervisor is killed: no rank is left, and nothing that one has forked", launcher_kill,
     false},
    {"sigint", "SIGINT and SIGTERM are forwarded, the deaf are killed; exit 130, 143", sigint, false},
    {"sigtstp", "Ctrl-Z stops the ranks with their launcher, and they go on with it", sigtstp, false},
    {"fd-audit", "no third process holds a link", fd_audit, false},
    {"send-then-die", "what was sent before a death arrives, then PEER_DEAD", send_then_death, false},
    {"partial-frame", "killed in the middle of a message: PEER_DEAD says how much came", partial_frame, false},
    {"double-death", "two die at once: one cause, the same for all", double_death, false},
    {"root-death", "rank 0 dies", root_death, false},
    {"bad-size", "0, -1, abc or 100000 ranks: exit 2 before any fork", bad_size, false},
    {"fork-fails", "the sixth fork fails: said, and the five are ended", fork_fails, false},
    {NULL, NULL, NULL, false},
};
