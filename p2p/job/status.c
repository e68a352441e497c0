/* SPDX-License-Identifier: MIT */
/*
 * launch --status PID: what each rank of a running job is doing, as a table; launch --ranks-of PID: their
 * processes.
 *
 *      launch --status            ── connects ──>     launcher PID, which listens on an abstract socket of that name
 *      prints what it reads       <── a descriptor ──     the table, in a memory file
 *
 * The launcher answers its own user and root only, and asks who that is of the system, not of the one who connects. It looks
 * for questions twenty times a second and never waits for anyone. Where there are several hosts that of host 0 answers,
 * after it has asked the others; they say that it is to be asked.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/shared/process.h"
#include "p2p/shared/words.h"

#define ANSWER_MS 10000

static struct sockaddr_un address_of(pid_t pid, socklen_t *bytes)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "pairwise-status-%d", (int)pid);
    *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    return address;
}

/* Who is at the other end, as the system knows it. */
static bool other_end(int fd, struct ucred *who)
{
    socklen_t bytes = sizeof *who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &bytes) == 0 && bytes == sizeof *who;
}

/* ---- The table ---- */

enum { COLUMNS = 7, CELL = 120 };

typedef char table_line[COLUMNS][CELL];

/* What ranks have written may not steer a terminal. */
static void put_cell(char cell[CELL], const char *text)
{
    p2p__copy_text(cell, CELL, text);
    for (char *at = cell; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127) *at = '?';
}

/* "3", "0-2,5"; with "any of " before it. */
static void put_ranks(char cell[CELL], const char *before, const p2p_rank_set *set, int size)
{
    p2p_words w = {.used = 0};
    p2p__add_ranks(&w, before, set, size);
    if (w.used >= CELL) memcpy(w.text + CELL - 4, "...", 4);
    put_cell(cell, w.text);
}

static const char *state_of(const p2p_job *job, int rank)
{
    static const char *const states[] = {
        [SCOREBOARD_ABSENT] = "not joined", [SCOREBOARD_RUNNING] = "runs",         [SCOREBOARD_BLOCKED] = "waits",
        [SCOREBOARD_POLLING] = "polls",     [SCOREBOARD_FINALIZING] = "finalizes", [SCOREBOARD_FINISHED] = "finished"};
    char letter = p2p__is_local(job->scoreboard, rank) ? p2p__process_letter(job->ranks[rank].pid)
                                                       : p2p__process_of(job->scoreboard, rank);
    if (job->watch.ended[rank]) return "ended";
    return letter == 'T' || letter == 't' ? "stopped" : states[job->watch.seen[rank].state];
}

static void fill_line(const p2p_job *job, int rank, table_line line)
{
    const p2p_sight *row = &job->watch.seen[rank];
    p2p_words call = {.used = 0};
    p2p_place place = {.rank = rank};
    p2p__place_host(job->scoreboard, &place);
    bool waits = row->state == SCOREBOARD_BLOCKED && !job->watch.ended[rank];
    snprintf(line[0], CELL, "%d", rank);
    if (place.host > 0) snprintf(call.text, sizeof call.text, "%d (%s)", place.host - 1, place.host_name);
    put_cell(line[1], call.text);
    call.text[0] = '\0';
    put_cell(line[2], state_of(job, rank));
    if (row->call.name[0]) p2p__add_arguments(&call, "", &row->call);
    put_cell(line[3], call.text);
    if (row->call.line > 0) snprintf(call.text, sizeof call.text, "%s:%d", row->call.file, row->call.line);
    put_cell(line[4], row->call.line > 0 ? call.text : "");
    line[5][0] = 0;
    if (waits) put_ranks(line[5], "", &row->wait.need, job->size);
    if (waits && !line[5][0] && row->wait.any_count) put_ranks(line[5], "any of ", &row->wait.any[0], job->size);
    snprintf(line[6], CELL, "%.1f s", (double)(p2p__now() - job->ranks[rank].since) * 1e-9);
}

static void print_table(FILE *file, const p2p_job *job, table_line *lines, size_t count)
{
    size_t width[COLUMNS] = {0};
    fprintf(file, "%s: %d rank%s on %d host%s, world %s, for %.1f s\n",
            job->plan->program ? job->plan->program : "a job", job->size, job->size == 1 ? "" : "s",
            job->scoreboard->hosts.count, job->scoreboard->hosts.count == 1 ? "" : "s", job->scoreboard->config.world,
            (double)(p2p__now() - job->started) * 1e-9);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < COLUMNS; k++)
            if (strlen(lines[i][k]) > width[k]) width[k] = strlen(lines[i][k]);
    if (!job->hosts) width[1] = 0;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < COLUMNS; k++) {
            if (k == 1 && !width[1]) continue;
            fprintf(file, "%-*s%s", k == COLUMNS - 1 ? 0 : (int)width[k], lines[i][k], k == COLUMNS - 1 ? "\n" : "  ");
        }
}

/* For scripts; "-" of a rank that has no process now. */
static void print_processes(FILE *file, const p2p_job *job)
{
    for (int i = 0; i < job->size; i++) {
        bool local = p2p__is_local(job->scoreboard, i);
        int pid = local ? (int)job->ranks[i].pid : atomic_load(&job->scoreboard->rows[i].pid);
        if (job->watch.ended[i] || pid <= 0)
            fputs("-\n", file);
        else
            fprintf(file, "%d\n", pid);
    }
}

/* A memory file with the table, of *bytes bytes, and the processes behind it; -1: there is no memory for it. */
static int make_table(p2p_job *job, int *bytes)
{
    static const char *const heads[COLUMNS] = {"rank", "host",      "state", "call, or the last one",
                                               "line", "waits for", "since"};
    int fd = memfd_create("pairwise-status", MFD_CLOEXEC), copy = fd >= 0 ? dup(fd) : -1;
    FILE *file = copy >= 0 ? fdopen(copy, "w") : NULL;
    table_line *lines = calloc((size_t)job->size + 1, sizeof *lines);
    if (file && lines) {
        p2p__see(&job->watch);
        for (int k = 0; k < COLUMNS; k++) put_cell(lines[0][k], heads[k]);
        for (int rank = 0; rank < job->size; rank++) fill_line(job, rank, lines[rank + 1]);
        print_table(file, job, lines, (size_t)job->size + 1);
        *bytes = (int)ftell(file);
        print_processes(file, job);
    }
    bool made = file && lines;
    free(lines);
    if (file) made = fclose(file) == 0 && made;
    if (!file && copy >= 0) close(copy);
    if (made) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* The same, of a launcher that does not know it all: which one does. */
static int make_direction(const p2p_job *job, int *bytes)
{
    int fd = memfd_create("pairwise-status", MFD_CLOEXEC);
    const host_greeting *all = job->hosts->greetings;
    int own = job->hosts->own;
    *bytes = fd < 0 ? 0
                    : dprintf(fd,
                              "process %d is the launcher of " P2P_HOST ", and that of " P2P_HOST
                              " answers for all" P2P_TRY "there, with process %d\n",
                              (int)getpid(), own, all[own].name, 0, all[0].name, (int)all[0].pid);
    return fd;
}

/* ---- The launcher ---- */

int p2p__status_open(void)
{
    socklen_t bytes;
    struct sockaddr_un address = address_of(getpid(), &bytes);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (bind(fd, (const struct sockaddr *)&address, bytes) == 0 && listen(fd, 4) == 0) return fd;
    close(fd); /* a job that nobody can ask is a job all the same */
    return -1;
}

static void note_changes(p2p_job *job)
{
    for (int i = 0; i < job->size; i++) {
        p2p_rank_process *process = &job->ranks[i];
        uint64_t activity = 2 * atomic_load(&job->scoreboard->rows[i].activity) + job->watch.ended[i];
        if (process->since && activity == process->activity) continue;
        process->activity = activity;
        process->since = p2p__now();
    }
}

void p2p__status_tick(p2p_job *job)
{
    struct ucred who;
    if (job->status < 0) return;
    note_changes(job);
    if (job->asker < 0) {
        job->asker = accept4(job->status, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (job->asker < 0) return;
    }
    bool may = other_end(job->asker, &who) && (who.uid == geteuid() || who.uid == 0);
    bool knows = p2p__judges(job);
    if (may && knows && job->hosts && !p2p__hosts_look(job)) return; /* the others answer first */
    int bytes = 0, table = !may ? -1 : knows ? make_table(job, &bytes) : make_direction(job, &bytes);
    if (table >= 0) {
        p2p__control_send(job->asker, (control_message){CONTROL_STATUS, knows ? 0 : -1, bytes}, table);
        close(table);
    }
    close(job->asker);
    job->asker = -1;
    if (job->hosts && knows) p2p__hosts_looked(job->hosts);
}

/* ---- launch --status, --ranks-of ---- */

/* Connected to the launcher of this number, and to no other process; -1: there is none. */
static int connect_to(pid_t pid)
{
    socklen_t bytes;
    struct sockaddr_un address = address_of(pid, &bytes);
    struct ucred who;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (const struct sockaddr *)&address, bytes) == 0 && other_end(fd, &who) && who.pid == pid &&
        (who.uid == geteuid() || geteuid() == 0))
        return fd;
    close(fd);
    return -1;
}

/* Why there is no answer. */
static int refuse(pid_t pid, const char *option)
{
    char path[40];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &info) != 0) {
        fprintf(stderr, "pairwise: there is no process %d\n", (int)pid);
        return 2;
    }
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    uid_t user = (uid_t)p2p__number_in(path, "Uid:", info.st_uid);
    pid_t parent = (pid_t)p2p__number_in(path, "PPid:", 0);
    int above = parent > 0 ? connect_to(parent) : -1;
    if (above >= 0) {
        fprintf(stderr, "pairwise: process %d belongs to the job of process %d\n  try: launch %s %d\n", (int)pid,
                (int)parent, option, (int)parent);
        close(above);
    } else if (user != geteuid() && geteuid() != 0) {
        fprintf(stderr, "pairwise: process %d is another user's: only that user, and root, may ask it\n", (int)pid);
    } else {
        fprintf(stderr,
                "pairwise: process %d is no launcher of Pairwise\n  try: the number of the process that started the "
                "ranks, on the first host (pgrep launch)\n",
                (int)pid);
    }
    return 2;
}

int p2p__status_show(pid_t pid, bool processes)
{
    control_message message = {0};
    char text[4096];
    int table = -1, fd = connect_to(pid);
    bool lost;
    if (fd < 0) return refuse(pid, processes ? "--ranks-of" : "--status");
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int came = poll(&polled, 1, ANSWER_MS);
    bool answered = came == 1 && p2p__control_receive(fd, &message, &table, &lost) == 1 && table >= 0 &&
                    message.type == CONTROL_STATUS;
    close(fd);
    if (!answered) {
        if (came == 0)
            fprintf(stderr, "pairwise: process %d has not answered for %d s: it is stopped, or very busy\n", (int)pid,
                    ANSWER_MS / 1000);
        else
            fprintf(stderr, "pairwise: the job of process %d has ended\n", (int)pid);
        if (table >= 0) close(table);
        return 1;
    }
    bool directed = message.rank < 0; /* to another launcher */
    off_t at = processes && !directed ? message.value : 0, end = processes ? INT_MAX : message.value;
    if (directed) fputs("pairwise: ", stderr);
    for (ssize_t got; at < end && (got = pread(table, text, sizeof text, at)) > 0; at += got)
        fwrite(text, 1, got < end - at ? (size_t)got : (size_t)(end - at), directed ? stderr : stdout);
    close(table);
    if (directed) return 2;
    return fflush(stdout) == 0 ? 0 : 1;
}
