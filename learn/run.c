/* SPDX-License-Identifier: MIT */
/*
 * One world: the learner's program as its ranks, under build/launch, and what they wrote into the memory file they were
 * given. What is read there is checked like anything that comes from strangers: the learner's code has been near it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "learn/build.h"

/* When its time is over, a rank says where it is; then the launcher ends the job; then we do. */
static const double default_seconds = 10, words_seconds = 2, grace_seconds = 5;

/* ---- The memory file ---- */

static check_head *head_of(const learn_world *w, int rank)
{
    return (check_head *)(void *)(w->area + (size_t)rank * CHECK_AREA);
}

/* Its size is sealed, so that nobody can make it larger, and nobody make it smaller under our eyes. */
static int make_area(learn_world *w)
{
    w->area_bytes = (size_t)w->plan->ranks * CHECK_AREA;
    int fd = memfd_create("reports", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)w->area_bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        w->area = mmap(NULL, w->area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (w->area == MAP_FAILED) w->area = NULL;
    if (w->area && getrandom(&w->nonce, sizeof w->nonce, 0) == (ssize_t)sizeof w->nonce) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Is there a whole record at this place of the rank's part? */
static const check_record *record_at(const learn_world *w, int rank, size_t at, size_t end)
{
    const check_record *r = (const check_record *)(const void *)(w->area + (size_t)rank * CHECK_AREA + at);
    if (end - at < sizeof *r || r->bytes > end - at - sizeof *r || check_record_size(r->bytes) > end - at) return NULL;
    if (r->stamp != (w->nonce ^ at) || !memchr(r->name, '\0', sizeof r->name)) return NULL;
    if (r->kind == CHECK_REPORT && (r->value < 0 || r->value >= DTYPE_COUNT || r->count > CHECK_AREA ||
                                    r->bytes != r->count * dtype_size((enum dtype)r->value)))
        return NULL;
    if (r->kind == CHECK_NUMBER && r->bytes != sizeof(double)) return NULL;
    if (r->kind == CHECK_TRAFFIC && r->bytes != (size_t)w->plan->ranks * sizeof(p2p_traffic)) return NULL;
    if (r->kind == CHECK_LEAK && (!r->bytes || ((const char *)(r + 1))[r->bytes - 1])) return NULL;
    return r;
}

static void read_rank(learn_world *w, int rank)
{
    check_head *head = &w->heads[rank];
    *head = *head_of(w, rank);
    size_t at = sizeof *head, end = head->used < CHECK_AREA - at ? at + (size_t)head->used : CHECK_AREA;
    w->garbled[rank] = head->used > CHECK_AREA - at || (head->phase != CHECK_ABSENT && head->nonce != 0);
    while (at < end) {
        const check_record *r = record_at(w, rank, at, end);
        if (!r) break;
        at += check_record_size(r->bytes);
    }
    w->garbled[rank] |= at < end;
    head->used = at - sizeof *head;
}

static const check_record *search(const learn_world *w, int rank, size_t at, int number, enum check_kind kind,
                                  const char *name)
{
    const char *area = w->area + (size_t)rank * CHECK_AREA;
    size_t end = sizeof(check_head) + (size_t)w->heads[rank].used;
    while (at < end) {
        const check_record *r = (const check_record *)(const void *)(area + at);
        if (r->number == number && r->kind == kind && (!name || strcmp(r->name, name) == 0)) return r;
        at += check_record_size(r->bytes);
    }
    return NULL;
}

const check_record *learn_record(const learn_world *w, int rank, int number, enum check_kind kind, const char *name)
{
    return search(w, rank, sizeof(check_head), number, kind, name);
}

const check_record *learn_next_record(const learn_world *w, int rank, const check_record *r, enum check_kind kind)
{
    size_t at = (size_t)((const char *)r - (w->area + (size_t)rank * CHECK_AREA)) + check_record_size(r->bytes);
    return search(w, rank, at, r->number, kind, NULL);
}

bool learn_case_ended(const learn_world *w, int number)
{
    for (int rank = 0; rank < w->plan->ranks; rank++)
        if (!learn_record(w, rank, number, CHECK_ENDED, NULL)) return false;
    return true;
}

/* ---- Running ---- */

typedef struct {
    const char *words[24];
    size_t count;
    char launcher[LEARN_PATH], ranks[16], limit[32], debug[16];
} launch_line;

static void add(launch_line *l, const char *word)
{
    l->words[l->count++] = word;
}

/* seconds, 0: no limit; debug: a rank for gdb, -1: none. */
static void make_line(launch_line *l, const learn_world *w, const char *program, double seconds, int debug,
                      const char *trace)
{
    snprintf(l->launcher, sizeof l->launcher, "%s/launch", learn_build());
    snprintf(l->ranks, sizeof l->ranks, "%d", w->plan->ranks);
    snprintf(l->limit, sizeof l->limit, "%g", seconds);
    snprintf(l->debug, sizeof l->debug, "%d", debug);
    add(l, l->launcher);
    add(l, "-n");
    add(l, l->ranks);
    add(l, "--world");
    add(l, "socket");
    if (seconds > 0) {
        add(l, "--tag");
        add(l, "--timeout");
        add(l, l->limit);
    }
    if (debug >= 0) {
        add(l, "--debug");
        add(l, l->debug);
    }
    if (w->plan->strict) add(l, "--strict");
    if (w->plan->network) {
        add(l, "--network");
        add(l, w->plan->network);
    }
    if (trace) {
        add(l, "--trace");
        add(l, trace);
    }
    add(l, program);
}

/* "[2] text" is of rank 2; only the launcher puts that there, and never more than once a line. */
static int rank_of_line(const char *line, const char **text)
{
    char *end;
    if (*line != '[') return -1;
    long rank = strtol(line + 1, &end, 10);
    if (end == line + 1 || end[0] != ']' || end[1] != ' ' || rank < 0 || rank >= CHECK_MAX_RANKS) return -1;
    *text = end + 2;
    return (int)rank;
}

static void share_out(learn_world *w)
{
    learn_text outputs[CHECK_MAX_RANKS] = {{0}};
    const char *at = learn_string(&w->job.out), *text;
    while (*at) {
        size_t length = strcspn(at, "\n");
        int rank = rank_of_line(at, &text);
        if (rank >= 0 && text <= at + length) {
            learn_add_bytes(&outputs[rank], text, (size_t)(at + length - text));
            learn_add(&outputs[rank], "\n");
        }
        at += length + (at[length] == '\n');
    }
    for (int i = 0; i < CHECK_MAX_RANKS; i++) w->outputs[i] = outputs[i].text ? outputs[i].text : learn_copy("");
}

static void run(learn_world *w, int fd, const char *program, uint64_t seed, size_t number, const learn_options *o)
{
    launch_line line = {.count = 0};
    char variable[200];
    double seconds = o->world_seconds > 0 ? o->world_seconds : default_seconds;
    unsigned long long delays = o->delays ? o->delay_seed * 1000003u + number * 7919u + 1 : 0;
    make_line(&line, w, program, seconds + words_seconds, -1, o->trace);
    bool reports = w->e->check->run; /* a program with a main of its own has nothing to report with */
    snprintf(variable, sizeof variable, CHECK_VARIABLE "=%d,%zu,%llu,%llu,%ld,%d", reports ? LEARN_FD : -1, number,
             (unsigned long long)seed, delays, (long)(seconds * 1000), o->only ? o->only->number : -1);
    learn_command_line spawned = {.argv = line.words,
                                  .fd = reports ? fd : -1,
                                  .seconds = seconds + words_seconds + grace_seconds,
                                  .options = o,
                                  .step = LEARN_RUN,
                                  .variable = variable};
    learn_spawn(&spawned, &w->job);
    learn_symbolize(&w->job.err, program, o);
    close(fd);
    for (int rank = 0; rank < w->plan->ranks; rank++) read_rank(w, rank);
    share_out(w);
}

void learn_debug_world(learn_world *w, const char *program, const learn_place *place, int rank)
{
    launch_line line = {.count = 0};
    char value[100];
    int fd = make_area(w);
    if (fd < 0 || dup2(fd, LEARN_FD) < 0) return;
    for (int q = 0; q < w->plan->ranks; q++) head_of(w, q)->nonce = w->nonce;
    make_line(&line, w, program, 0, rank, NULL);
    snprintf(value, sizeof value, "%d,%zu,0,0,0,%d", w->e->check->run ? LEARN_FD : -1, place->world, place->number);
    setenv(CHECK_VARIABLE, value, 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the leak check cannot run under a debugger */
    execv(line.words[0], (char *const *)line.words);
}

bool learn_run_world(learn_world *w, const char *program, uint64_t seed, size_t number, const learn_options *options,
                     learn_text *why)
{
    if (w->plan->ranks < 1 || w->plan->ranks > CHECK_MAX_RANKS) {
        learn_add(why, "the test asks for %d ranks; at most %d are possible", w->plan->ranks, CHECK_MAX_RANKS);
        return false;
    }
    int fd = make_area(w);
    if (fd < 0) {
        learn_add(why, "no memory for the reports of %d ranks: %s", w->plan->ranks, strerror(errno));
        return false;
    }
    for (int rank = 0; rank < w->plan->ranks; rank++) head_of(w, rank)->nonce = w->nonce;
    run(w, fd, program, seed, number, options);
    return true;
}

void learn_world_free(learn_world *w)
{
    if (w->area) munmap(w->area, w->area_bytes);
    for (int i = 0; i < CHECK_MAX_RANKS; i++) free(w->outputs[i]);
    learn_spawned_free(&w->job);
    *w = (learn_world){.e = NULL};
}
