/* SPDX-License-Identifier: MIT */
/* launch: start a program as N ranks and supervise them. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include "p2p/job/launch.h"
#include "p2p/message/internal.h"
#include "p2p/shared/cli.h"

/* From KEY_VARIABLE on: the numbers of variables. */
enum {
    KEY_WORLD = 256,
    KEY_NETWORK,
    KEY_STRICT,
    KEY_TAG,
    KEY_ORDERED,
    KEY_TIMEOUT,
    KEY_TRACE,
    KEY_REPORT,
    KEY_DEBUG,
    KEY_WRAP,
    KEY_RELAY,
    KEY_REPORT_TO,
    KEY_VARIABLE = 1000
};

enum { VARIABLES = 50 };

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "start N ranks (1 to 1024)", 0},
    {"world", KEY_WORLD, "NAME", 0, "how ranks reach each other: " P2P_WORLD_NAMES, 0},
    {"network", KEY_NETWORK, "NAME", 0,
     "virtual time on a network: " P2P_NETWORK_NAMES ", or latency=2us,bandwidth=12G,...", 0},
    {"strict", KEY_STRICT, NULL, 0, "every send waits for its receive: finds programs that need buffering", 0},
    {"tag", KEY_TAG, NULL, 0, "prefix each line of output with [rank]", 0},
    {"ordered", KEY_ORDERED, NULL, 0, "print output at the end, rank by rank (up to 1 GiB in all; the rest is dropped)",
     0},
    {"timeout", KEY_TIMEOUT, "S", 0, "end the job after S seconds and show what each rank was doing", 0},
    {"trace", KEY_TRACE, "FILE", 0, "write what every rank did to FILE (Chrome trace JSON, for build/replay)", 0},
    {"report", KEY_REPORT, "FILE", 0, "write what was found wrong to FILE, for programs (JSON); also if nothing was",
     0},
    {"debug", KEY_DEBUG, "RANK", 0, "run this rank in gdb, on this terminal", 0},
    {"wrap", KEY_WRAP, "CMD", 0, "run each rank under CMD, such as \"valgrind -q\"", 0},
    {"relay", KEY_RELAY, "FD", OPTION_HIDDEN,
     "pass both ends of every link over this socket; the process at its other end carries the messages", 0},
    {"report-to", KEY_REPORT_TO, "FD", OPTION_HIDDEN, "write the report to this socket", 0},
    {NULL, 0, NULL, 0, "Environment variables:", 1},
};

enum { OPTIONS = sizeof options / sizeof *options };

static const char text[] =
    "Start PROGRAM as N ranks and supervise them: forward their output, name deadlocks and deaths, leave nothing "
    "behind."
    "\vExamples:\n"
    "  launch -n 4 --tag build/examples/hello\n"
    "  launch -n 2 --strict ./exchange\n"
    "  launch -n 2 --wrap \"valgrind -q\" ./exchange\n\n"
    "Exit status: 0 all ranks did well; that of the first rank that failed, or 128 + its signal; 1 for a "
    "communication error or a deadlock; 2 called wrongly; 124 time limit; 127 PROGRAM cannot be started; 130, 143 "
    "interrupted.";

typedef struct {
    p2p_plan plan;
    char **program; /* with its arguments */
    wordexp_t wrap;
} command;

static int whole_number(struct argp_state *state, const char *what, const char *arg, int low, int high)
{
    char *end;
    errno = 0;
    long value = strtol(arg, &end, 10);
    if (errno || end == arg || *end || value < low || value > high)
        argp_error(state, "%s is a whole number from %d to %d, not \"%s\"", what, low, high, arg);
    return (int)value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    command *c = state->input;
    p2p_options *o = &c->plan.options;
    uint64_t ns = 0;
    switch (key) {
    case 'n': c->plan.size = whole_number(state, "-n", arg, 1, P2P_MAX_RANKS); break;
    case KEY_WORLD: o->world = arg; break;
    case KEY_NETWORK: o->network = arg; break;
    case KEY_STRICT: o->strict = true; break;
    case KEY_TAG: o->tag_output = true; break;
    case KEY_ORDERED: o->ordered_output = true; break;
    case KEY_TIMEOUT:
        if (!p2p__parse_duration(arg, &ns) || !ns)
            argp_error(state, "--timeout is a number of seconds, such as 10 or 0.5, not \"%s\"", arg);
        o->timeout_s = (double)ns * 1e-9;
        break;
    case KEY_TRACE: o->trace = arg; break;
    case KEY_REPORT: o->report = arg; break;
    case KEY_DEBUG: c->plan.debug_rank = whole_number(state, "--debug", arg, 0, P2P_MAX_RANKS - 1); break;
    case KEY_WRAP:
        if (wordexp(arg, &c->wrap, WRDE_NOCMD) != 0 || !c->wrap.we_wordc)
            argp_error(state, "--wrap: \"%s\" is not a command", arg);
        break;
    case KEY_RELAY: c->plan.relay = whole_number(state, "--relay", arg, 3, INT_MAX); break;
    case KEY_REPORT_TO: c->plan.report_to = whole_number(state, "--report-to", arg, 3, INT_MAX); break;
    case ARGP_KEY_ARGS: c->program = state->argv + state->next; break;
    case ARGP_KEY_END:
        if (!c->plan.size)
            argp_error(state, "how many ranks? say launch -n 4 %s", c->program ? c->program[0] : "PROGRAM");
        if (!c->program) argp_error(state, "which program? launch -n N PROGRAM ARGS...");
        if (c->plan.debug_rank >= c->plan.size)
            argp_error(state, "--debug %d: there are only %d ranks", c->plan.debug_rank, c->plan.size);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- The program ---- */

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Along PATH, as execvp does it. */
static bool find_in_path(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");
    if (!at) at = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(at, ":");
        int used = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
        if (used < PATH_MAX && is_file(path) && access(path, X_OK) == 0) return true;
        if (!at[length]) return false;
        at += length + 1;
    }
}

static const char *advice_for(const char *path)
{
    static const char *const kinds[][2] = {
        {".c", "compile it first, cc -I. FILE.c build/libpairwise.a -o first, and launch -n N ./first"},
        {".py", "launch -n N python3 FILE.py"},
        {".sh", "launch -n N sh FILE.sh"},
        {"", "launch -n N PROGRAM, where PROGRAM is compiled: launch -n 4 build/examples/hello"}};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    size_t i = 0;
    while (*kinds[i][0] && strcmp(kinds[i][0], dot ? dot : "") != 0) i++;
    return kinds[i][1];
}

#define SHOWN 600

static bool refuse(const char *name, const char *cause, const char *advice, p2p_words *why)
{
    size_t length = strlen(name);
    p2p__add(why, "cannot start %s%s: %s", length > SHOWN ? "..." : "", length > SHOWN ? name + length - SHOWN : name,
             cause);
    p2p__add_advice(why, advice);
    return false;
}

static bool check_file(const char *path, p2p_words *why)
{
    const char *advice = advice_for(path);
    struct stat info;
    if (stat(path, &info) != 0)
        return refuse(path, strerror(errno), errno == ENOENT ? "is it built or installed, and spelled right?" : advice,
                      why);
    if (S_ISDIR(info.st_mode)) return refuse(path, "it is a folder", "name a program in it", why);
    if (access(path, X_OK) != 0) return refuse(path, "it is not a program: it may not be executed", advice, why);
    /* The system runs what begins with one of these; anything else a shell would read as its own language. */
    unsigned char start[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return true; /* one may run what one may not read */
    ssize_t got = read(fd, start, sizeof start);
    close(fd);
    if (got < 2 || (memcmp(start, "#!", 2) != 0 && (got < 4 || memcmp(start, "\177ELF", 4) != 0)))
        return refuse(path, "it is not a program: neither compiled nor a script with #!", advice, why);
    return true;
}

/* Can this program be started, as execvp would find it? Otherwise says why not, and what to type instead. */
static bool program_check(const char *name, p2p_words *why)
{
    char path[PATH_MAX], advice[PATH_MAX];
    if (strchr(name, '/')) return check_file(name, why);
    if (find_in_path(name, path)) return check_file(path, why);
    struct stat info;
    if (stat(name, &info) == 0 && S_ISDIR(info.st_mode)) return check_file(name, why);
    if (!is_file(name))
        return refuse(name, "there is no such program", "is it built or installed, and spelled right?", why);
    snprintf(advice, sizeof advice, "launch -n N ./%.300s", name);
    if (access(name, X_OK) != 0) return check_file(name, why);
    return refuse(name, "it is in this folder, which is not searched", advice, why);
}

/* The program, behind the debugger and the wrapper. Does not return but on failure, which the supervisor is told. */
static int start_program(void *arg, int rank, int control, int scoreboard_fd, scoreboard *b)
{
    const command *c = arg;
    char job[64];
    (void)b;
    fcntl(control, F_SETFD, 0);
    fcntl(scoreboard_fd, F_SETFD, 0);
    snprintf(job, sizeof job, "%d,%d,%d", rank, control, scoreboard_fd);
    setenv(P2P_JOB_VARIABLE, job, 1);
    static char *const gdb[] = {"gdb", "-q", "--args"};
    size_t debug = rank == c->plan.debug_rank ? sizeof gdb / sizeof *gdb : 0, program = 0, used = 0;
    while (c->program[program]) program++;
    char **words = calloc(debug + c->wrap.we_wordc + program + 1, sizeof *words);
    for (size_t i = 0; words && i < debug; i++) words[used++] = gdb[i];
    for (size_t i = 0; words && i < c->wrap.we_wordc; i++) words[used++] = c->wrap.we_wordv[i];
    for (size_t i = 0; words && i < program; i++) words[used++] = c->program[i];
    if (words && words[0]) execvp(words[0], words);
    p2p__control_send(control, (control_message){CONTROL_NOEXEC, rank, errno}, -1);
    free(words);
    return 127;
}

static char *describe_variable(int key, const char *help, void *input)
{
    char *words;
    const p2p_variable *is = key >= KEY_VARIABLE ? p2p__config_variable((size_t)(key - KEY_VARIABLE)) : NULL;
    (void)input;
    if (!is || asprintf(&words, "%s (%s; default: %s)", help, is->accepts, is->standard) < 0) return (char *)help;
    return words;
}

int main(int argc, char **argv)
{
    struct argp_option all[OPTIONS + VARIABLES] = {{.name = NULL}}; /* --help lists the variables as well */
    const struct argp parser = {all, parse, "PROGRAM [ARGS...]", text, NULL, describe_variable, NULL};
    command c = {.plan = {.debug_rank = -1, .relay = -1, .report_to = -1, .child = start_program, .arg = &c}};
    char why[2000];
    const p2p_variable *is;
    memcpy(all, options, sizeof options);
    for (int i = 0; i < VARIABLES - 1 && (is = p2p__config_variable((size_t)i)); i++)
        all[OPTIONS + i] =
            (struct argp_option){is->name, KEY_VARIABLE + i, NULL, OPTION_DOC | OPTION_NO_USAGE, is->what, 1};
    p2p__cli_parse(&parser, argc, argv, ARGP_IN_ORDER, &c);
    bool inside = p2p__inside_job();
    if (inside || p2p__plan_settings(&c.plan, why, sizeof why)) {
        fprintf(stderr, "pairwise: %s\n", inside ? P2P_INSIDE_JOB : why);
        return 2;
    }
    int status = 127;
    p2p_err err;
    p2p_words refused = {.used = 0};
    p2p_report report = {.first = NULL};
    const char *first = c.wrap.we_wordc > 0 ? c.wrap.we_wordv[0] : c.program[0];
    if ((c.plan.debug_rank < 0 || program_check("gdb", &refused)) && program_check(first, &refused)) {
        /* Ranks run as the same user: without this they could open through /proc what the supervisor holds. */
        if (c.plan.relay >= 0) prctl(PR_SET_DUMPABLE, 0);
        c.plan.program = c.program[0];
        status = p2p__run_job(&c.plan, &err);
    } else {
        p2p__report_refused(&report, &refused);
        p2p__report_write(&report, &c.plan, status);
        p2p__report_free(&report);
    }
    wordfree(&c.wrap);
    return status;
}
