/* SPDX-License-Identifier: MIT */
/* A rank that writes where it should not: on the scoreboard, to its launcher, to the output of others. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "p2p/message/internal.h"
#include "p2p/shared/control.h"
#include "p2p/trace/trace.h"

/* ---- On the scoreboard: rank 2 writes, while the others wait ---- */

static int wait_for_each_other(p2p_comm *world)
{
    char byte = 0;
    int rank = p2p_rank(world), from = (rank + 1) % p2p_size(world);
    NOTE(world, p2p_recv(world, &byte, 1, from, 0, P2P_STATUS_IGNORE));
    return 0;
}

static int after_the_others_wait(p2p_comm *world, void (*scribble)(scoreboard *b))
{
    if (p2p_rank(world) < 2) return wait_for_each_other(world);
    CHECK(lab_wait_inside(0) && lab_wait_inside(1), "ranks 0 and 1 never waited");
    scribble(world->engine->scoreboard);
    return wait_for_each_other(world);
}

static void garbage(lab_job *job, const char *const facts[])
{
    job->size = 3;
    job->options.timeout_s = 5;
    lab_run(job);
    EXPECT(job->status > 0 && job->status < 128, "exit status %d", job->status);
    lab_expect_facts(job->text, facts);
}

#define GARBAGE(job, ...) garbage((job), (const char *const[]){__VA_ARGS__, NULL})

static void scribble_states(scoreboard *b)
{
    static const int states[] = {12345678, -12345678, 6};
    for (int i = 0; i < b->size; i++) atomic_store(&b->rows[i].state, states[i]);
}

static int body_states(p2p_comm *world)
{
    return after_the_others_wait(world, scribble_states);
}

static void garbage_states(void)
{
    static lab_job job = {.body = body_states};
    GARBAGE(&job, "overwritten", "-fsanitize=address");
}

static void scribble_settings(scoreboard *b)
{
    memset(b->shared, 0xa5, sizeof b->shared->settings);
}

static int body_settings(p2p_comm *world)
{
    return after_the_others_wait(world, scribble_settings);
}

static void garbage_settings(void)
{
    static lab_job job = {.body = body_settings}, shm = {.body = body_settings, .options.world = "shm"};
    GARBAGE(&job, "overwritten");
    GARBAGE(&shm, "overwritten");
}

/* Names that do not end, and more of everything than there is room for: still a deadlock, in words that end. */
static void scribble_names(scoreboard *b)
{
    for (int i = 0; i < b->size; i++) {
        scoreboard_row *row = &b->rows[i];
        memset(row->call.name, 'x', sizeof row->call.name);
        memset(row->call.file, 'x', sizeof row->call.file);
        memset(&row->call.what, 'x', sizeof row->call.what);
        memset(row->wait.pending, 'x', sizeof row->wait.pending);
        memset(row->wait.waiting, 'x', sizeof row->wait.waiting);
        row->call.shape = i == 0 ? SHAPE_WAIT : i == 1 ? SHAPE_COLLECTIVE : 1 << 30;
        row->wait.pending[0].shape = SHAPE_COLLECTIVE;
        row->wait.pending_count = row->wait.waiting_count = row->wait.any_count = i == 1 ? INT_MIN : INT_MAX;
    }
}

static int body_names(p2p_comm *world)
{
    int failed = 0;
    char byte = 0;
    if (p2p_rank(world) < 2) return wait_for_each_other(world);
    CHECK(lab_wait_inside(0) && lab_wait_inside(1), "ranks 0 and 1 never waited");
    scribble_names(world->engine->scoreboard);
    p2p_request request;
    NOTE(world, p2p_irecv(world, &byte, 1, 0, 0, &request));
    NOTE(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    return failed;
}

static void garbage_names(void)
{
    static char run[121];
    static lab_job job = {.body = body_names};
    memset(run, 'x', sizeof run - 1);
    GARBAGE(&job, "deadlock");
    EXPECT(!strstr(job.text, run), "a name did not end: %.900s", job.text);
}

static void scribble_counters(scoreboard *b)
{
    for (int i = 0; i < b->size; i++)
        for (int k = 0; k < b->size; k++) atomic_store(&p2p__scoreboard_received(b, i)[k], UINT64_C(1000000));
}

static int body_counters(p2p_comm *world)
{
    return after_the_others_wait(world, scribble_counters);
}

static void garbage_counters(void)
{
    static lab_job job = {.body = body_counters};
    GARBAGE(&job, "overwritten");
}

/* The end of the memory that has been given out: a link would lie on the scoreboard itself, or where no file
 * reaches. */
static void scribble_end(scoreboard *b, uint64_t end)
{
    atomic_store(&b->shared->memory_end, end);
}

static int body_end(p2p_comm *world)
{
    char byte = 0;
    int rank = p2p_rank(world);
    if (rank == 2) scribble_end(world->engine->scoreboard, 4096);
    if (rank == 2) lab_raise_flag(0);
    CHECK(lab_wait_flag(0, 1), "rank 2 never wrote");
    p2p_err err = NOTE(world,
                       rank ? p2p_recv(world, &byte, 1, 0, 0, P2P_STATUS_IGNORE) : p2p_send(world, &byte, 1, 1, 0));
    CHECK(err, "a link where there is no place for it");
    return 1;
}

static void garbage_end(void)
{
    static lab_job job = {.body = body_end, .options.world = "shm"};
    GARBAGE(&job, "rank");
}

/* All of it, and dies of it. */
static int body_everything(p2p_comm *world)
{
    if (p2p_rank(world) < 2) return wait_for_each_other(world);
    CHECK(lab_wait_inside(0) && lab_wait_inside(1), "ranks 0 and 1 never waited");
    scoreboard *b = world->engine->scoreboard;
    memset(b->shared, 'x', p2p__scoreboard_bytes(b->size, &b->config));
    _exit(0);
}

static void garbage_everything(void)
{
    static lab_job job = {.body = body_everything}, shm = {.body = body_everything, .options.world = "shm"};
    GARBAGE(&job, "pairwise: ");
    GARBAGE(&shm, "pairwise: ");
}

static void scribble_trace(scoreboard *b)
{
    memset(b->trace, 0x77, b->config.trace_bytes);
}

static int body_trace(p2p_comm *world)
{
    if (p2p_rank(world) == 1) wait_for_each_other(world); /* and once more: for the end of rank 2 */
    if (p2p_rank(world) < 2) return wait_for_each_other(world);
    CHECK(lab_wait_inside(0) && lab_wait_inside(1), "ranks 0 and 1 never waited");
    scribble_trace(world->engine->scoreboard);
    CHECK_OK(world, p2p_send(world, "", 1, 1, 0)); /* rank 1 and this one note what they do */
    _exit(3);
}

static void garbage_trace(void)
{
    char path[] = "/tmp/faultlab.XXXXXX";
    int fd = mkstemp(path);
    struct stat info;
    static lab_job job = {.body = body_trace};
    EXPECT(fd >= 0, "mkstemp: %s", strerror(errno));
    job.options.trace = path;
    setenv("PAIRWISE_TRACE_ROOM", "1M", 1);
    GARBAGE(&job, "rank 2");
    bool written = stat(path, &info) == 0 && info.st_size > 1000;
    unlink(path);
    close(fd);
    EXPECT(written, "no trace was written");
}

/* No rank can take the memory away from the others. */
static int body_shorter(p2p_comm *world)
{
    if (p2p_rank(world) == 2)
        CHECK(ftruncate(world->engine->memory_fd, 0) != 0, "the memory of all can be made shorter");
    return lab_works(world);
}

static void garbage_shorter(void)
{
    static lab_job job = {.size = 3, .body = body_shorter, .options.world = "shm"};
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- To the launcher ---- */

static void send_with(int control, const void *bytes, size_t count, int descriptors)
{
    int fds[16];
    char beside[CMSG_SPACE(sizeof fds)] = "";
    struct iovec part = {(void *)(uintptr_t)bytes, count};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    for (int i = 0; i < descriptors; i++) fds[i] = STDIN_FILENO;
    if (descriptors) {
        header.msg_control = beside;
        header.msg_controllen = CMSG_SPACE((size_t)descriptors * sizeof *fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)descriptors * sizeof *fds);
        memcpy(CMSG_DATA(c), fds, (size_t)descriptors * sizeof *fds);
    }
    while (sendmsg(control, &header, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

static int body_descriptors(p2p_comm *world)
{
    control_message nothing = {CONTROL_WAKE, p2p_rank(world), 0};
    for (int i = 0; i < 160; i++) send_with(world->engine->control, &nothing, sizeof nothing, i % 16 + 1);
    return lab_works(world);
}

static void garbage_descriptors(void)
{
    static lab_job job = {.size = 3, .body = body_descriptors};
    lab_run(&job); /* which counts the descriptors before and after */
    lab_expect_fine(&job);
}

static int body_babble(p2p_comm *world)
{
    static const unsigned char noise[4000] = {7};
    if (p2p_rank(world) == 2)
        for (size_t i = 1; i < sizeof noise; i += 97) send_with(world->engine->control, noise, i, 0);
    return wait_for_each_other(world);
}

static void garbage_messages(void)
{
    static lab_job job = {.body = body_babble};
    GARBAGE(&job, "rank 2 sent its launcher", "no message of Pairwise");
    EXPECT(lab_lines_with(job.text, "no message of Pairwise") == 1, "said more than once");
}

/* ---- To the output ---- */

enum { FLOOD_RANKS = 32, FLOOD_MIB = 48 }; /* a share of 32 MiB */

static int body_flood(p2p_comm *world)
{
    static char line[1 << 16];
    memset(line, 'y', sizeof line);
    for (size_t i = 127; i < sizeof line; i += 128) line[i] = '\n';
    if (p2p_rank(world) == 1)
        for (int i = 0; i < FLOOD_MIB * 16; i++) fwrite(line, 1, sizeof line, stdout);
    return lab_works(world);
}

static void output_flood(void)
{
    struct rusage used;
    static lab_job job = {.size = FLOOD_RANKS, .body = body_flood, .options.ordered_output = true, .out = "/dev/null"};
    lab_run(&job);
    getrusage(RUSAGE_CHILDREN, &used);
    lab_expect_status(&job, 1);
    FACTS(job.text, "rank 1", "32 MiB", "--ordered", "dropped");
    EXPECT(used.ru_maxrss >> 10 < FLOOD_MIB, "it took %ld MiB to keep it", used.ru_maxrss >> 10);
}

/* An ordinary user's processes, which may be looked into. */
static void be_ordinary(void)
{
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(125);
    prctl(PR_SET_DUMPABLE, 1);
}

static int write_to(pid_t pid, int first, int last)
{
    int written = 0;
    for (int fd = first; fd <= last; fd++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
        int there = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (there >= 0) written += write(there, "forged\n", 7) == 7;
        if (there >= 0) close(there);
    }
    return written;
}

static int body_forge(p2p_comm *world)
{
    if (p2p_rank(world) == 1) {
        CHECK(lab_wait_started(0), "rank 0 never started");
        CHECK(write_to(lab->rank[0].pid, 1, 2) == 0, "what rank 0 prints can be forged");
        CHECK(write_to(getppid(), 0, 40) == 0, "what the launcher has open can be opened");
    }
    return lab_works(world);
}

static void output_forged(void)
{
    static lab_job job = {.size = 2, .body = body_forge, .setup = be_ordinary, .options.tag_output = true};
    lab_run(&job);
    lab_expect_fine(&job);
}

/* A trace goes to no file that a rank has chosen. */
static int body_plant(p2p_comm *world)
{
    const char *path = getenv("LAB_TRACE");
    CHECK(path, "LAB_TRACE is not set");
    if (p2p_rank(world) == 1) {
        char name[200], target[200];
        snprintf(target, sizeof target, "%s.target", path);
        snprintf(name, sizeof name, "%s.%d.tmp", path, (int)getppid());
        CHECK(symlink(target, name) == 0 && symlink(target, path) == 0, "symlink: %s", strerror(errno));
    }
    return lab_works(world);
}

static void trace_planted(void)
{
    char folder[] = "/tmp/faultlab.XXXXXX", path[80], target[100], command[120];
    struct stat info;
    static lab_job job = {.size = 2, .body = body_plant}, again = {.size = 2, .body = lab_was_run};
    EXPECT(mkdtemp(folder), "mkdtemp: %s", strerror(errno));
    snprintf(path, sizeof path, "%s/trace.json", folder);
    snprintf(target, sizeof target, "%s.target", path);
    snprintf(command, sizeof command, "rm -r %s", folder);
    setenv("LAB_TRACE", path, 1);
    job.options.trace = again.options.trace = path;
    lab_run(&job);
    bool followed = stat(target, &info) == 0, is_file = lstat(path, &info) == 0 && S_ISREG(info.st_mode);
    EXPECT(unlink(path) == 0 && symlink(target, path) == 0, "symlink: %s", strerror(errno));
    lab_run(&again);
    bool written = stat(target, &info) == 0;
    EXPECT(system(command) == 0, "%s", command);
    EXPECT(!followed && is_file, "the trace went through a link that a rank had made");
    EXPECT(!written && again.result == P2P_ERR_ARG && lab_has(again.text, "link"), "a link was taken for a file: %s",
           again.text);
}

const lab_case lab_garbage[] = {
    {"scoreboard-garbage-states", "states that do not exist: a sentence", garbage_states, false},
    {"scoreboard-garbage-settings", "settings overwritten: a sentence", garbage_settings, false},
    {"scoreboard-garbage-names", "names that do not end, counts without bounds: a report that ends", garbage_names,
     false},
    {"scoreboard-garbage-counters", "more received than sent: a sentence", garbage_counters, false},
    {"scoreboard-garbage-end", "no link lies on the scoreboard itself", garbage_end, false},
    {"scoreboard-garbage-everything", "all of the scoreboard overwritten: the launcher survives, a sentence",
     garbage_everything, false},
    {"scoreboard-garbage-trace", "a trace overwritten: a file, and no more", garbage_trace, false},
    {"scoreboard-garbage-shorter", "the shared memory cannot be made shorter", garbage_shorter, false},
    {"control-descriptors", "descriptors sent to the launcher do not stay there", garbage_descriptors, false},
    {"control-garbage", "what is no message: a sentence, once", garbage_messages, false},
    {"output-flood", "--ordered: bounded memory, a limit that is said, status 1", output_flood, false},
    {"output-forged", "a rank's lines and the launcher's files cannot be opened through /proc", output_forged, false},
    {"trace-planted", "a trace is not written through a link", trace_planted, false},
    {NULL, NULL, NULL, false},
};
