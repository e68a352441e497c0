/* SPDX-License-Identifier: MIT */
/* Limits of the system, and places where a launcher may find itself: it works, or there is a sentence. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void limit(unsigned what, rlim_t most)
{
    if (setrlimit(what, &(struct rlimit){most, most}) != 0) _exit(125);
}

static void tiny_files(void)
{
    limit(RLIMIT_FSIZE, 4096);
}

static void limits_files(void)
{
    static lab_job job = {.size = 2, .body = lab_was_run, .setup = tiny_files}, launched = {.setup = tiny_files};
    lab_run(&job);
    EXPECT(job.result == P2P_ERR_SYS && !lab->flag[0], "p2p_launch gave %d", (int)job.result);
    FACTS(job.text, "shared memory", "File too large", "ulimit -f");
    lab_launch(&launched, ARGS("-n", "2"), "hello");
    EXPECT(launched.status == 1, "exit status %d", launched.status);
    FACTS(launched.text, "shared memory", "ulimit -f");
}

/* Output into a file that must not become as long. */
static void short_files(void)
{
    limit(RLIMIT_FSIZE, 64 << 20);
    int fd = open("/tmp", O_TMPFILE | O_WRONLY, 0600);
    if (fd < 0) _exit(125);
    dup2(fd, STDOUT_FILENO);
    if (lseek(fd, (64 << 20) - 100, SEEK_SET) < 0) _exit(125);
    close(fd);
}

static void limits_output(void)
{
    static lab_job job = {.setup = short_files};
    lab_launch(&job, ARGS("-n", "2"), "chatter");
    EXPECT(job.status == 1, "exit status %d", job.status);
    EXPECT(lab->flag[0] == 2, "only %d ranks ran to the end", lab->flag[0]);
    FACTS(job.text, "output could not be written", "File too large");
}

static void little_memory(void)
{
    limit(RLIMIT_AS, 16 << 20); /* enough for the launcher itself */
}

static void limits_memory(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    lab_skip("a sanitizer needs more addresses than that");
#endif
    static lab_job job = {.setup = little_memory};
    lab_launch(&job, ARGS("-n", "4"), "hello");
    EXPECT(job.status == 1 || job.status == 127, "exit status %d", job.status);
    FACTS(job.text, "memory", "ulimit -v");
}

static void no_processes(void)
{
    if (geteuid() == 0 && setresuid(65533, 65533, 65533) != 0) _exit(125);
    limit(RLIMIT_NPROC, 1);
}

static void limits_processes(void)
{
    static lab_job job = {.size = 4, .body = lab_was_run, .setup = no_processes};
    lab_run(&job);
    EXPECT(job.status == 1, "exit status %d", job.status);
    FACTS(job.text, getenv("PAIRWISE_HOSTS") ? "launchers cannot be started" : "fork of rank", "ulimit -u");
}

/* The first process of a container: whose signals are ignored unless it waits for them, and to whom orphans fall. */
static void limits_first(void)
{
    static lab_job fine, stuck, orphans;
    char *const words[] = {"/usr/bin/unshare", "--pid", "--fork", "--mount-proc", lab_build("launch"), "-n", "2"};
    if (geteuid() != 0 || access(words[0], X_OK) != 0) lab_skip("needs root, and unshare");
    if (access(words[4], X_OK) != 0) lab_skip("%s is not built", words[4]);
    memcpy(fine.argv, words, sizeof words);
    memcpy(stuck.argv, words, sizeof words);
    fine.argv[7] = lab_build("examples/ring_token");
    stuck.argv[7] = lab_build("examples/deadlock");
    lab_run(&fine);
    if (lab_has(fine.text, "unshare:")) lab_skip("unshare: %.100s", fine.text);
    EXPECT(fine.status == 0, "exit status %d: %s", fine.status, fine.text);
    FACTS(fine.text, "at 2 of 2 ranks");
    lab_run(&stuck);
    EXPECT(stuck.status == 1, "exit status %d: %s", stuck.status, stuck.text);
    FACTS(stuck.text, "deadlock: ranks 0 and 1");
    memcpy(orphans.argv, words, sizeof words);
    orphans.argv[7] = "/bin/sh";
    orphans.argv[8] = "-c";
    orphans.argv[9] =
        "(true & true & true &)\n" /* they fall to process 1, which takes their ends */
        "i=0; while [ $i -lt 2000 ] && grep -qs '^[0-9]* (true) Z\\|^[0-9]* (sh) Z' /proc/[0-9]*/stat; do\n"
        "i=$((i + 1)); sleep 0.01; done; [ $i -lt 2000 ]";
    lab_run(&orphans);
    EXPECT(orphans.status == 0, "exit status %d: zombies are left: %s", orphans.status, orphans.text);
}

/* Nothing is kept at home, and nothing in /dev/shm. */
static void nowhere(void)
{
    setenv("HOME", "/dev/null/none", 1);
    setenv("TMPDIR", "/dev/null/none", 1);
}

static void limits_folders(void)
{
    static lab_job job = {.setup = nowhere}, kept = {.setup = nowhere};
    lab_launch(&job, ARGS("-n", "2", "--world", "shm"), "chatter");
    EXPECT(job.status == 0, "exit status %d: %.400s", job.status, job.text);
    lab_launch(&kept, ARGS("-n", "2", "--ordered"), "chatter");
    EXPECT(kept.status == 0, "exit status %d: %.400s", kept.status, kept.text);
    EXPECT(lab_lines_with(kept.text, "line") >= LAB_TEXT / 40, "output was lost");
}

const lab_case lab_limits[] = {
    {"limits-files", "a limit on the size of files (SIGXFSZ): a sentence before any rank starts", limits_files, false},
    {"limits-output", "output into a file at its limit: the run goes on, a sentence, status 1", limits_output, false},
    {"limits-memory", "a limit on addresses: a sentence with advice", limits_memory, false},
    {"limits-processes", "no process may be started: a sentence with advice", limits_processes, false},
    {"limits-first", "the launcher is process 1: it works", limits_first, false},
    {"limits-folders", "no home, no place for temporary files: it works", limits_folders, false},
    {NULL, NULL, NULL, false},
};
