/* SPDX-License-Identifier: MIT */
/* launch: start a program as N ranks and supervise them. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include "p2p/job/hosts.h"
#include "p2p/job/orders.h"
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
    KEY_METRICS,
    KEY_EXPLAIN,
    KEY_EXPLORE,
    KEY_SEED,
    KEY_QUIET,
    KEY_SCHEDULE,
    KEY_STATUS,
    KEY_MACHINE,
    KEY_RECORD,
    KEY_REPAIR,
    KEY_RANKS_OF,
    KEY_DEBUG,
    KEY_WRAP,
    KEY_RELAY,
    KEY_REPORT_TO,
    KEY_PATIENCE,
    KEY_VARIABLE = 1000
};

enum { VARIABLES = 50 };

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "start N ranks (1 to 1024)", 0},
    {"world", KEY_WORLD, "NAME", 0, "how ranks reach each other: " P2P_WORLD_NAMES, 0},
    {"network", KEY_NETWORK, "NAME", 0,
     "virtual time on a network: " P2P_NETWORK_NAMES ", or latency=2us,bandwidth=12G,hosts=4,...", 0},
    {"strict", KEY_STRICT, NULL, 0, "every send waits for its receive: finds programs that need buffering", 0},
    {"tag", KEY_TAG, NULL, 0, "prefix each line of output with [rank]", 0},
    {"ordered", KEY_ORDERED, NULL, 0, "print output at the end, rank by rank (up to 1 GiB in all; the rest is dropped)",
     0},
    {"timeout", KEY_TIMEOUT, "S", 0, "end the job after S seconds and show what each rank was doing", 0},
    {"trace", KEY_TRACE, "FILE", 0, "write what every rank did to FILE (Chrome trace JSON, for build/replay)", 0},
    {"report", KEY_REPORT, "FILE", 0, "write what was found wrong to FILE, for programs (JSON); also if nothing was",
     0},
    {"metrics", KEY_METRICS, "FILE", 0,
     "write numbers of the ranks to FILE every second, and at the end, for Prometheus: calls, bytes, errors, durations",
     0},
    {"explain", KEY_EXPLAIN, NULL, 0,
     "say at the end which algorithm each collective took, why, what it should take and what it took", 0},
    {"record", KEY_RECORD, "FILE", 0,
     "keep the last 2,000 calls of each rank, and write them to FILE at the end (JSON): where did ranks diverge?", 0},
    {"repair", KEY_REPAIR, "N", OPTION_ARG_OPTIONAL,
     "a rank that dies does not end the job: the others call p2p_repair, and it gets a new process; N in all at most "
     "(default: 10)",
     0},
    {"explore", KEY_EXPLORE, "RUNS|SECONDS", OPTION_ARG_OPTIONAL,
     "run the program in every order that messages may come in, until one goes wrong; at most RUNS (10000), or for "
     "30s, say",
     0},
    {"seed", KEY_SEED, "N", 0,
     "run in an order that chance gives, always the same for N; with --explore: in 1000 such orders, or so many", 0},
    {"quiet", KEY_QUIET, NULL, 0, "with --explore: print only the schedule of the order that is wrong", 0},
    {"schedule", KEY_SCHEDULE, "STRING", 0, "run the program in the order that --explore has found, exactly", 0},
    {"status", KEY_STATUS, "PID", 0, "instead: show what each rank of the job that process PID has launched is doing",
     0},
    {"ranks-of", KEY_RANKS_OF, "PID", 0,
     "instead: print the process of each rank of that job, a line each, by rank; - of one that has none, or lives on "
     "another host",
     0},
    {"machine", KEY_MACHINE, NULL, 0,
     "instead: measure what messages between two ranks take here, and say what follows from that", 0},
    {"debug", KEY_DEBUG, "RANK", 0, "run this rank in gdb, on this terminal", 0},
    {"wrap", KEY_WRAP, "CMD", 0, "run each rank under CMD, such as \"valgrind -q\"", 0},
    {"relay", KEY_RELAY, "FD", OPTION_HIDDEN,
     "pass both ends of every link over this socket; the process at its other end carries the messages", 0},
    {"report-to", KEY_REPORT_TO, "FD", OPTION_HIDDEN, "write the report to this socket", 0},
    {"patience", KEY_PATIENCE, "N", OPTION_HIDDEN,
     "the --timeout holds for an idle machine: up to N times as long while ranks compute, and other programs run", 0},
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
    "communication error or a deadlock; 2 called wrongly; 3 --explore has not finished; 124 time limit; 127 PROGRAM "
    "cannot be started; 130, 143 "
    "interrupted.";

typedef struct {
    p2p_plan plan;
    p2p_explore_options explore;
    char **program; /* with its arguments */
    int status_of;  /* a process; 0: a job is to be started */
    bool processes; /* of its ranks, instead of what they are doing */
    bool machine;   /* the machine is to be measured */
    wordexp_t wrap;
    char abi[PATH_MAX]; /* a library to be loaded first; "": none */
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

/* "500" runs, or "30s". */
static void read_bound(struct argp_state *state, p2p_explore_options *explore, const char *arg)
{
    bool runs = arg && strspn(arg, "0123456789") == strlen(arg);
    explore->all = true;
    if (runs)
        explore->runs = (uint64_t)whole_number(state, "--explore", arg, 1, INT_MAX);
    else if (arg && (!p2p__parse_duration(arg, &explore->ns) || !explore->ns))
        argp_error(state, "--explore takes a number of runs, such as 500, or a time, such as 30s, not \"%s\"", arg);
}

/* What cannot be together with orders; and what is not said. */
static void check_orders(struct argp_state *state, command *c)
{
    const p2p_options *o = &c->plan.options;
    p2p_explore_options *e = &c->explore;
    if (e->quiet && !e->all) argp_error(state, "--quiet goes with --explore");
    if (!e->all && !e->schedule && !e->random) return;
    if (e->schedule && (e->all || e->random))
        argp_error(state, "--explore finds an order, --schedule plays one, --seed leaves it to chance: one of them");
    if (e->all && (o->trace || o->metrics || o->record || o->explain || c->plan.debug_rank >= 0))
        argp_error(state, "--explore runs a program many times: --trace and the like go with --schedule, for one run");
    if (e->all && c->plan.relay >= 0) argp_error(state, "--relay does not go with --explore");
    if (o->strict) argp_error(state, "orders leave open whether a send waits: not with --strict");
    if (o->repair) argp_error(state, "orders are those of a job in which nobody dies: not with --repair");
    if (c->plan.size > P2P_ORDERS_RANKS)
        argp_error(state, "orders can be explored of at most %d ranks; try fewer: most mistakes show with 3",
                   P2P_ORDERS_RANKS);
    if (!e->runs && !e->ns) e->runs = e->random ? 1000 : 10000;
}

static error_t parse_orders(int key, char *arg, struct argp_state *state, p2p_explore_options *explore)
{
    switch (key) {
    case KEY_EXPLORE: read_bound(state, explore, p2p__cli_next_number(state, arg)); break;
    case KEY_SEED:
        explore->random = true;
        explore->seed = (uint64_t)whole_number(state, "--seed", arg, 0, INT_MAX);
        break;
    case KEY_QUIET: explore->quiet = true; break;
    case KEY_SCHEDULE: explore->schedule = arg; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
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
    case KEY_STATUS: c->status_of = whole_number(state, "--status", arg, 1, INT_MAX); break;
    case KEY_RANKS_OF:
        c->status_of = whole_number(state, "--ranks-of", arg, 1, INT_MAX);
        c->processes = true;
        break;
    case KEY_REPAIR:
        arg = p2p__cli_next_number(state, arg);
        o->repair = arg ? whole_number(state, "--repair", arg, 1, P2P_REPAIR_MOST) : P2P_REPAIR_USUAL;
        break;
    case KEY_MACHINE: c->machine = true; break;
    case KEY_RECORD: o->record = arg; break;
    case KEY_METRICS: o->metrics = arg; break;
    case KEY_EXPLAIN: o->explain = true; break;
    case KEY_DEBUG: c->plan.debug_rank = whole_number(state, "--debug", arg, 0, P2P_MAX_RANKS - 1); break;
    case KEY_WRAP:
        if (wordexp(arg, &c->wrap, WRDE_NOCMD) != 0 || !c->wrap.we_wordc)
            argp_error(state, "--wrap: \"%s\" is not a command", arg);
        break;
    case KEY_RELAY: c->plan.relay = whole_number(state, "--relay", arg, 3, INT_MAX); break;
    case KEY_REPORT_TO: c->plan.report_to = whole_number(state, "--report-to", arg, 3, INT_MAX); break;
    case KEY_PATIENCE: c->plan.patience = whole_number(state, "--patience", arg, 1, 1000); break;
    case ARGP_KEY_ARGS: c->program = state->argv + state->next; break;
    case ARGP_KEY_END:
        if (c->status_of && (c->plan.size || c->program))
            argp_error(state, "%s %d stands alone", c->processes ? "--ranks-of" : "--status", c->status_of);
        if (c->machine && (c->plan.size || c->program || c->status_of)) argp_error(state, "--machine stands alone");
        if (c->status_of || c->machine) break;
        if (!c->plan.size)
            argp_error(state, "how many ranks? say %slaunch -n 4 %s", p2p__cli_prefix(),
                       c->program ? c->program[0] : "PROGRAM");
        if (!c->program) argp_error(state, "which program? %slaunch -n N PROGRAM ARGS...", p2p__cli_prefix());
        check_orders(state, c);
        if (c->plan.debug_rank >= c->plan.size)
            argp_error(state, "--debug %d: there are only %d ranks", c->plan.debug_rank, c->plan.size);
        break;
    default: return parse_orders(key, arg, state, &c->explore);
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
    char *installed = p2p__cli_installed(advice);
    p2p__add_advice(why, installed ? installed : advice);
    free(installed);
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
        return refuse(name, "there is no such program",
                      strcmp(name, "gdb") == 0 ? "install it: sudo apt-get install -y gdb"
                                               : "is it built or installed, and spelled right?",
                      why);
    snprintf(advice, sizeof advice, "launch -n N ./%.300s", name);
    if (access(name, X_OK) != 0) return check_file(name, why);
    return refuse(name, "it is in this folder, which is not searched", advice, why);
}

/* ---- MPI programs that another MPI's compiler has made for the standard ABI ---- */

/* The first library that this program names (a string of its own) whose name begins so. This launcher has no such string: a
 * launch inside a launch is no MPI program. */
static bool names_library(const char *path, const char *begin, char *name, size_t bytes)
{
    char wanted[32];
    size_t length = (size_t)snprintf(wanted + 1, sizeof wanted - 1, "%s.so.", begin) + 1;
    struct stat info;
    wanted[0] = name[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
        size_t size = (size_t)info.st_size;
        const char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            const char *found = memmem(file, size, wanted, length);
            if (found)
                snprintf(name, bytes, "%.*s", (int)strnlen(found + 1, (size_t)(file + size - found - 1)), found + 1);
            munmap((void *)(uintptr_t)file, size);
        }
    }
    if (fd >= 0) close(fd);
    return name[0] != '\0';
}

static bool program_path(const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s", name);
    return strchr(name, '/') || find_in_path(name, path);
}

/* Another MPI's library knows nothing of this launcher: each process is rank 0 of 1. */
static void warn_of_other_mpi(const command *c)
{
    char path[PATH_MAX], library[64];
    if (c->plan.size < 2 || (c->plan.hosts && c->plan.hosts->own) || !program_path(c->program[0], path)) return;
    if (!names_library(path, "libmpi", library, sizeof library) &&
        !names_library(path, "libmpich", library, sizeof library))
        return;
    fprintf(stderr,
            "pairwise: note: %s was built for another MPI (%s), which knows nothing of this launcher: each of its %d "
            "processes is rank 0 of a world of one\n  try: build it with Pairwise's mpicc, or start it with that MPI's "
            "own mpirun\n",
            c->program[0], library, c->plan.size);
}

/* Does this program need the shared library of MPI's standard ABI, and is ours beside the launcher? Then what
 * LD_PRELOAD has to be, so that it is loaded before another MPI's. */
static bool program_abi(const char *name, char *library, size_t bytes)
{
    char path[PATH_MAX], own[PATH_MAX], needed[64];
    static const char *const places[] = {"", "/../lib/pairwise"};
    const char *slash = strrchr(name, '/');
    bool python = strncmp(slash ? slash + 1 : name, "python", 6) == 0; /* its modules may need it */
    if (!program_path(name, path)) return false;
    if (!python && !names_library(path, "libmpi_abi", needed, sizeof needed)) return false;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) return false;
    own[length] = '\0';
    char *end = strrchr(own, '/');
    if (end) *end = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int used = snprintf(library, bytes, "%s%s/libmpi_abi.so.1", own, places[i]);
        if (used <= 0 || (size_t)used >= bytes || !is_file(library)) continue;
        const char *others = getenv("LD_PRELOAD");
        if (others) snprintf(library + used, bytes - (size_t)used, ":%s", others);
        return true;
    }
    return false;
}

/* ---- Starting it ---- */

/* The program, behind the debugger and the wrapper. Does not return but on failure, which the supervisor is told. */
static int start_program(void *arg, int rank, int control, int scoreboard_fd, scoreboard *b)
{
    const command *c = arg;
    char job[64];
    fcntl(control, F_SETFD, 0);
    fcntl(scoreboard_fd, F_SETFD, 0);
    snprintf(job, sizeof job, "%d,%d,%d", rank, control, scoreboard_fd);
    setenv(P2P_JOB_VARIABLE, job, 1);
    setenv("PAIRWISE_WORLD", b->config.world, 1);
    if (c->plan.options.network) setenv("PAIRWISE_NETWORK", c->plan.options.network, 1);
    if (c->abi[0]) setenv("LD_PRELOAD", c->abi, 1);
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

static int usage_error(const char *why)
{
    fprintf(stderr, "pairwise: %s\n", why);
    return 2;
}

/* Where this is one launcher of several, the world is made of the ranks of all. */
static bool join_hosts(p2p_plan *plan, char *why, size_t why_bytes)
{
    if (!p2p__carrier) return true;
    plan->hosts = p2p__hosts_open(plan->size, why, why_bytes);
    if (!plan->hosts) return false;
    plan->size = plan->hosts->map.first[plan->hosts->count];
    if (plan->debug_rank >= 0 || plan->relay >= 0) {
        snprintf(why, why_bytes, "--debug is for one host, and this is one launcher of %d", plan->hosts->count);
        return false;
    }
    return true;
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
    if (c.status_of) return p2p__status_show(c.status_of, c.processes);
    if (p2p__inside_job()) return usage_error(P2P_INSIDE_JOB);
    if (c.machine) return p2p__machine_show();
    int status = p2p__hosts_find(argv);
    if (status >= 0) return status;
    if (!join_hosts(&c.plan, why, sizeof why) || p2p__plan_settings(&c.plan, why, sizeof why)) return usage_error(why);
    if (c.explore.all || c.explore.schedule || c.explore.random) {
        if (c.plan.hosts || c.plan.config.hosts > 1 || c.plan.config.network.placed > 1)
            return usage_error("orders are explored on one host\n  try: without other hosts, virtual ones too");
        p2p__orders_settings(&c.plan.config);
    }
    if (c.plan.hosts && !p2p__hosts_agree(c.plan.hosts, &c.plan, why, sizeof why))
        return c.plan.hosts->own ? 2 : usage_error(why); /* all have seen it */
    status = 127;
    p2p_err err;
    p2p_words refused = {.used = 0};
    p2p_report report = {.first = NULL};
    const char *first = c.wrap.we_wordc > 0 ? c.wrap.we_wordv[0] : c.program[0];
    if ((c.plan.debug_rank < 0 || program_check("gdb", &refused)) && program_check(first, &refused)) {
        /* Ranks run as the same user: without this they could open through /proc what the supervisor holds. */
        if (c.plan.relay >= 0) prctl(PR_SET_DUMPABLE, 0);
        if (!program_abi(c.program[0], c.abi, sizeof c.abi)) c.abi[0] = '\0';
        warn_of_other_mpi(&c);
        c.plan.program = c.program[0];
        bool orders = c.plan.config.explore;
        status = orders ? p2p__explore(&c.plan, &c.explore, c.program) : p2p__run_job(&c.plan, &err);
    } else {
        p2p__report_refused(&report, c.plan.hosts, &refused);
        p2p__report_write(&report, &c.plan, status);
        p2p__report_free(&report);
    }
    wordfree(&c.wrap);
    return status;
}
