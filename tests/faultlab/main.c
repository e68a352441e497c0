/* SPDX-License-Identifier: MIT */
/* faultlab: run cases, each in a process of its own with a time limit, and say how each one went. */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] = "usage: faultlab CASE...          run these cases\n"
                            "       faultlab --all [--long]   run all quick cases; with --long also the slow ones\n"
                            "       faultlab --all --half N   the first (1) or second (2) of every two of them\n"
                            "       faultlab --list           every case and what must happen\n"
                            "       faultlab --rank NAME      be a rank of a case, under build/launch\n"
                            "Each case runs in a process of its own and has 60 s (slow ones 10 minutes); one that was "
                            "only late runs again, up to\n"
                            "five times in all. One line a case: ok, FAIL or skip.\n"
                            "Exit status: 0 if nothing failed, 1 otherwise, 2 if called wrongly.\n"
                            "PAIRWISE_BUILD: where `launch` is (default: the folder above this program's).\n";

static const lab_case *const groups[] = {
    lab_processes, lab_resources, lab_misuse,    lab_matching,     lab_collectives, lab_mismatch,     lab_crash,
    lab_wire,      lab_shm,       lab_giving_up, lab_layers,       lab_survive,     lab_garbage,      lab_limits,
    lab_attack,    lab_begun,     lab_hosts,     lab_hosts_repair, lab_repair,      lab_repair_worst, lab_trainer};
enum { GROUPS = sizeof groups / sizeof *groups };

enum outcome { PASSED, FAILED, SKIPPED, OUTCOMES };
enum { MOST_RUNS = 5 }; /* of a case that fails because of lab_in_time */

lab_scoreboard *lab;

/* ---- The scoreboard: a memfd, so that programs under build/launch can open it through /proc ---- */

static lab_scoreboard *map_scoreboard(int fd)
{
    void *at = mmap(NULL, sizeof(lab_scoreboard), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void make_scoreboard(void)
{
    char path[64];
    int fd = memfd_create("faultlab-scoreboard", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(lab_scoreboard)) < 0 || !(lab = map_scoreboard(fd))) {
        perror("faultlab: shared memory");
        exit(1);
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv("LAB_SCOREBOARD", path, 1);
    complaint_here = &lab->complaint;
}

static void open_scoreboard(void)
{
    const char *path = getenv("LAB_SCOREBOARD");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : memfd_create("faultlab-scoreboard", MFD_CLOEXEC);
    if (fd < 0 || (!path && ftruncate(fd, sizeof(lab_scoreboard)) < 0) || !(lab = map_scoreboard(fd))) _exit(125);
    close(fd);
    complaint_here = &lab->complaint;
}

/* ---- One case ---- */

/* Settings of the caller that cases set themselves, or could not bear. PAIRWISE_SNDBUF and such stay. */
static void clean_environment(void)
{
    static const char *const names[] = {"PAIRWISE_TIMEOUT",   "PAIRWISE_STRICT", "PAIRWISE_EAGER", "PAIRWISE_DEBUG",
                                        "PAIRWISE_UNEXP_MAX", "PAIRWISE_CRC",    "PAIRWISE_CHECK", "PAIRWISE_NETWORK",
                                        "PAIRWISE_DIRECT",    "PAIRWISE_WAIT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

/* Whatever the caller ignores or blocks (a background job: SIGINT), cases send. */
static void default_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int be_case(void *arg)
{
    const lab_case *c = arg;
    struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    default_signals();
    setrlimit(RLIMIT_CORE, &no_core);
    clean_environment();
    c->run();
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    return errno == ECHILD ? 0 : 1;
}

static enum outcome judge(const process_result *result)
{
    if (result->late)
        snprintf(lab->reason, sizeof lab->reason, "no end within its time%s%s", lab->complaint.made ? "; " : "",
                 lab->complaint.text);
    else if (result->status == 0)
        return PASSED;
    else if (result->status == 77)
        return SKIPPED;
    else if (!lab->reason[0])
        snprintf(lab->reason, sizeof lab->reason, "the case ended with status %d", result->status);
    return FAILED;
}

static enum outcome run_once(const lab_case *c)
{
    process_result result;
    memset(lab, 0, sizeof *lab);
    process_run(be_case, (void *)(uintptr_t)c, NULL, c->slow ? LAB_LONG : LAB_QUICK, &result);
    fputs(result.out, stdout);
    fputs(result.err, stderr);
    process_free(&result);
    return judge(&result);
}

static enum outcome run_case(const lab_case *c)
{
    static const char *const words[] = {"ok", "FAIL", "skip"};
    enum outcome outcome = FAILED;
    lab->late = true;
    for (int run = 0; run < MOST_RUNS && outcome == FAILED && lab->late; run++) {
        if (run) printf("late %s: %s\n", c->name, lab->reason);
        outcome = run_once(c);
    }
    printf("%s %s%s%s\n", words[outcome], c->name, outcome == PASSED ? "" : ": ", outcome == PASSED ? "" : lab->reason);
    return outcome;
}

/* ---- Which cases ---- */

static const lab_case *find_case(const char *name)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const lab_case *c = groups[g]; c && c->name; c++)
            if (strcmp(c->name, name) == 0) return c;
    fprintf(stderr, "faultlab: no case \"%s\"; `faultlab --list` shows all\n", name);
    exit(2);
}

static int list_cases(void)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const lab_case *c = groups[g]; c && c->name; c++)
            printf("%-15s %s%s\n", c->name, c->slow ? "(long) " : "", c->what);
    return 0;
}

static int close_up(const int counts[OUTCOMES])
{
    printf("%d passed, %d failed, %d skipped\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED] ? 1 : 0;
}

/* The trainer and what ranks agree on lie above the worlds: a sample (QUICK=1, as in tests/util/job.h) has their cases in
 * shared memory only. */
static bool is_left_out(const lab_case *group)
{
    const char *world = getenv("PAIRWISE_WORLD");
    return (group == lab_trainer || group == lab_mismatch) && getenv("QUICK") && world && strcmp(world, "socket") == 0;
}

/* half: 1 or 2; 0: all. */
static int run_all(bool with_slow, int half)
{
    int counts[OUTCOMES] = {0}, number = 0;
    for (size_t g = 0; g < GROUPS; g++)
        for (const lab_case *c = groups[g]; c && c->name && !is_left_out(groups[g]); c++)
            if ((with_slow || !c->slow) && (!half || number++ % 2 == half - 1)) counts[run_case(c)]++;
    return close_up(counts);
}

static int run_named(char *names[], size_t count)
{
    int counts[OUTCOMES] = {0};
    for (size_t i = 0; i < count; i++) (void)find_case(names[i]);
    for (size_t i = 0; i < count; i++) counts[run_case(find_case(names[i]))]++;
    return count > 1 ? close_up(counts) : counts[FAILED] ? 1 : 0;
}

/* ---- Being a rank ---- */

static int be_rank(const char *name)
{
    p2p_comm *world = NULL;
    open_scoreboard();
    for (const lab_program *program = lab_programs; program->name; program++) {
        if (strcmp(program->name, name) != 0) continue;
        if (program->before) program->before();
        p2p_err err = p2p_init(&world);
        if (err) return 1;
        lab_rank = complaint_rank = p2p_rank(world);
        lab->rank[lab_rank].pid = getpid();
        int status = program->body(world);
        err = p2p_finalize(world);
        return status ? status : err ? 1 : 0;
    }
    fprintf(stderr, "faultlab: no rank program \"%s\"\n", name);
    return 2;
}

int main(int argc, char *argv[])
{
    bool all = false, slow = false;
    int first = 1, half = 0;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--help") == 0) return fputs(usage, stdout) < 0;
        if (strcmp(argv[first], "--list") == 0) return list_cases();
        if (strcmp(argv[first], "--rank") == 0 && first + 1 < argc) return be_rank(argv[first + 1]);
        if (strcmp(argv[first], "--all") == 0)
            all = true;
        else if (strcmp(argv[first], "--long") == 0)
            slow = true;
        else if (strcmp(argv[first], "--half") == 0 && first + 1 < argc && strlen(argv[first + 1]) == 1)
            half = argv[++first][0] - '0';
        else
            first = argc;
    }
    if (first > argc || all == (first < argc) || (slow && !all) || half < 0 || half > 2) return fputs(usage, stderr), 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    make_scoreboard();
    return all ? run_all(slow, half) : run_named(argv + first, (size_t)(argc - first));
}
