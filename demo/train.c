/* SPDX-License-Identifier: MIT */
/*
 * demo-train: a network learns, on two ranks: loss and accuracy as they come, read from the metrics that build/train
 * writes while it runs; before the first of them, what it says, for the first run on a machine compiles kernels; then
 * what each rank spent its time on, from the trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "demo/demo.h"
#include "replay/json.h"

enum {
    MOST_STEPS = 20000,
    MOST_EPOCHS = 200,
    WIDTH = 66,
    HEIGHT = 9,
    TOP = 3,
    MOST_RANKS = 8,
    KINDS = 4,
    STEPS = 60,
    LOOK_MS = 150,
    LINE = 200
};

static const char *const kinds[KINDS] = {"forward", "backward", "sync", "optimiser"};
static const enum style styles[KINDS] = {STYLE_SENT, STYLE_PART, STYLE_BAD, STYLE_KEPT};

/* What the metrics have said so far. */
typedef struct {
    double loss[MOST_STEPS], accuracy[MOST_EPOCHS], ms[KINDS], images_per_s;
    int steps, epochs;
    long read;       /* bytes of the file */
    char said[LINE]; /* before the first of them: the last line that build/train has said */
} metrics;

/* ---- The metrics: a line a step, a line an epoch ---- */

typedef struct {
    double loss, accuracy, images_per_s, ms[KINDS];
    bool has_loss, has_accuracy;
} line_of_metrics;

static bool read_line(const char *text, size_t bytes, line_of_metrics *line)
{
    static const char *const keys[KINDS] = {"fwd_ms", "bwd_ms", "sync_ms", "opt_ms"};
    char key[40];
    json j;
    json_open(&j, text, bytes);
    *line = (line_of_metrics){.has_loss = false};
    if (!json_object(&j)) return false;
    while (json_key(&j, key, sizeof key)) {
        double number = 0;
        if (json_next(&j) != '0') {
            json_skip(&j);
            continue;
        }
        json_number(&j, &number);
        if (strcmp(key, "loss") == 0) line->loss = number, line->has_loss = true;
        if (strcmp(key, "accuracy") == 0) line->accuracy = number, line->has_accuracy = true;
        if (strcmp(key, "images_per_s") == 0) line->images_per_s = number;
        for (int i = 0; i < KINDS; i++)
            if (strcmp(key, keys[i]) == 0) line->ms[i] = number;
    }
    return json_fine(&j);
}

static void take_line(metrics *m, const line_of_metrics *line)
{
    if (line->has_accuracy && m->epochs < MOST_EPOCHS) m->accuracy[m->epochs++] = line->accuracy;
    if (!line->has_loss || m->steps == MOST_STEPS) return;
    m->loss[m->steps++] = line->loss;
    m->images_per_s = line->images_per_s;
    memcpy(m->ms, line->ms, sizeof m->ms);
}

/* Read the whole lines that were added since the last call. */
static void read_metrics(metrics *m, const char *path)
{
    char text[4096];
    line_of_metrics line;
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (fseek(file, m->read, SEEK_SET) == 0)
        while (fgets(text, sizeof text, file) && strchr(text, '\n')) {
            m->read = ftell(file);
            if (read_line(text, strlen(text), &line)) take_line(m, &line);
        }
    fclose(file);
}

static bool has_begun(const metrics *m)
{
    return m->steps || m->epochs;
}

/* Read the last whole line; away from a terminal it is shown here. */
static void read_log(metrics *m, const demo *d, const char *path)
{
    char text[LINE], last[LINE] = "";
    FILE *file = has_begun(m) ? NULL : fopen(path, "re");
    if (!file) return;
    while (fgets(text, sizeof text, file))
        if (strchr(text, '\n')) memcpy(last, text, sizeof last);
    fclose(file);
    last[strcspn(last, "\n")] = 0;
    if (!d->live && strcmp(m->said, last) != 0) demo_say("%s", last), fflush(stdout);
    memcpy(m->said, last, sizeof last);
}

/* ---- Drawing ---- */

static double loss_at(const metrics *m, int column)
{
    int from = (int)((long)column * m->steps / WIDTH), to = (int)((long)(column + 1) * m->steps / WIDTH);
    double sum = 0;
    if (m->steps < WIDTH) return column < m->steps ? m->loss[column] : -1;
    for (int i = from; i < to; i++) sum += m->loss[i];
    return sum / (to - from);
}

static void draw_loss(const metrics *m)
{
    double most = 0;
    for (int i = 0; i < m->steps; i++)
        if (m->loss[i] > most) most = m->loss[i];
    for (int column = 0; column < WIDTH && m->steps; column++) {
        double loss = loss_at(m, column);
        if (loss < 0 || most <= 0) continue;
        int filled = (int)(loss / most * HEIGHT + 0.5);
        for (int y = 0; y < filled; y++) screen_put(10 + column, TOP + HEIGHT - 1 - y, STYLE_SENT, "█");
    }
    screen_put(2, TOP, STYLE_FAINT, "%6.2f", most);
    screen_put(2, TOP + HEIGHT - 1, STYLE_FAINT, "%6.2f", 0.0);
    screen_put(2, TOP - 1, STYLE_STRONG, "loss");
    if (m->steps) screen_put(60, TOP - 1, STYLE_STRONG, "now %.3f", m->loss[m->steps - 1]);
}

static void draw_accuracy(const metrics *m)
{
    int y = TOP + HEIGHT + 1;
    screen_put(2, y, STYLE_STRONG, "accuracy");
    for (int i = m->epochs > 8 ? m->epochs - 8 : 0, x = 12; i < m->epochs; i++, x += 8)
        screen_put(x, y, STYLE_PLAIN, "%s%.1f%%", i ? "→ " : "", 100 * m->accuracy[i]);
}

static void draw_times(int y, const char *name, const double ms[KINDS], double most)
{
    int x = 12;
    screen_put(2, y, STYLE_PLAIN, "%s", name);
    for (int i = 0; i < KINDS && most > 0; i++)
        for (int k = (int)(ms[i] / most * 60 + 0.5); k > 0; k--) screen_put(x++, y, styles[i], "%c", "FBSO"[i]);
}

static double sum_of(const double ms[KINDS])
{
    return ms[0] + ms[1] + ms[2] + ms[3];
}

static void draw_key(int y)
{
    for (int i = 0, x = 12; i < KINDS; i++, x += 16) screen_put(x, y, styles[i], "%c %s", "FBSO"[i], kinds[i]);
}

static void draw(const metrics *m, int ranks)
{
    screen_clear();
    if (!has_begun(m)) {
        screen_put(2, 0, STYLE_STRONG, "training on %d %s begins", ranks, ranks == 1 ? "rank" : "ranks");
        screen_put(2, TOP, STYLE_PLAIN, "%s", m->said);
        screen_show();
        return;
    }
    screen_put(2, 0, STYLE_STRONG, "training on %d %s: step %d, %.0f images/s", ranks, ranks == 1 ? "rank" : "ranks",
               m->steps, m->images_per_s);
    draw_loss(m);
    draw_accuracy(m);
    screen_put(2, 16, STYLE_STRONG, "the last step");
    draw_times(17, "rank 0", m->ms, sum_of(m->ms));
    draw_key(19);
    screen_show();
}

/* ---- Each rank's time, from the trace ---- */

static void add_phases(const replay_trace *t, double ms[][KINDS])
{
    for (size_t i = 0; i < t->slice_count; i++) {
        const replay_slice *s = &t->slices[i];
        if (s->kind != SLICE_PHASE || s->rank >= MOST_RANKS) continue;
        for (int k = 0; k < KINDS; k++)
            if (strncmp(replay_text(t, s->name), kinds[k], 4) == 0) ms[s->rank][k] += s->length * 1e-6;
    }
}

static void show_ranks(const demo *d, const replay_trace *t)
{
    double ms[MOST_RANKS][KINDS] = {{0}}, most = 0;
    int ranks = t->ranks < MOST_RANKS ? t->ranks : MOST_RANKS;
    add_phases(t, ms);
    for (int r = 0; r < ranks; r++)
        if (sum_of(ms[r]) > most) most = sum_of(ms[r]);
    if (most <= 0) return;
    screen_clear();
    screen_put(2, 0, STYLE_STRONG, "what each rank spent its time on");
    for (int r = 0; r < ranks; r++) {
        char name[20];
        snprintf(name, sizeof name, "rank %d", r);
        draw_times(3 + r, name, ms[r], most);
        if (!d->live)
            printf("rank %d: forward %.0f ms, backward %.0f ms, sync %.0f ms, optimiser %.0f ms\n", r, ms[r][0],
                   ms[r][1], ms[r][2], ms[r][3]);
    }
    draw_key(4 + ranks);
    screen_show();
    screen_pause(5000);
}

/* ---- The run ---- */

static pid_t start(const demo *d, const char *program, const char *out, int ranks)
{
    char number[12], steps[12], log[3300], trace[3300];
    snprintf(number, sizeof number, "%d", ranks);
    snprintf(steps, sizeof steps, "%d", STEPS);
    snprintf(log, sizeof log, "%s/train.log", d->folder);
    snprintf(trace, sizeof trace, "%s/train.json", d->folder);
    unlink(log); /* of another run */
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int nothing = open("/dev/null", O_RDONLY), fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (fd >= 0) dup2(fd, STDOUT_FILENO), dup2(fd, STDERR_FILENO);
    setenv("PAIRWISE_TRACE", trace, 1);
    execl(program, program, "--ranks", number, "--model", "resnet20", "--steps", steps, "--out", out, "--overwrite",
          (char *)NULL);
    _exit(127);
}

static int watch(const demo *d, pid_t pid, const char *path, int ranks, metrics *m)
{
    int status;
    pid_t ended;
    char log[3300];
    snprintf(log, sizeof log, "%s/train.log", d->folder);
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
        read_metrics(m, path);
        read_log(m, d, log);
        draw(m, ranks);
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
    }
    read_metrics(m, path);
    draw(m, ranks);
    screen_pause(3000);
    return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void show_trace(const demo *d)
{
    char path[3300], why[3600];
    replay_trace trace;
    snprintf(path, sizeof path, "%s/train.json", d->folder);
    if (!replay_read(path, &trace, why, sizeof why)) {
        screen_close();
        fprintf(stderr, "demo: %s\n", why);
        return;
    }
    show_ranks(d, &trace);
    screen_close();
    demo_page(d, "training");
    replay_free(&trace);
}

int demo_train(demo *d)
{
    static metrics m;
    char program[3300], out[3300], path[3400];
    int ranks = demo_ranks(d, 2, 1, MOST_RANKS);
    snprintf(program, sizeof program, "%s/train", d->build);
    if (access(program, X_OK) != 0) {
        screen_close();
        fprintf(stderr, "demo: %s is not there: without the trainer there is nothing to show\n", program);
        return 1;
    }
    snprintf(out, sizeof out, "%s/train", d->folder);
    snprintf(path, sizeof path, "%s/metrics.jsonl", out);
    mkdir(d->folder, 0777);
    unlink(path);
    if (!d->live) printf("resnet20 trains %d steps on %d %s\n", STEPS, ranks, ranks == 1 ? "rank" : "ranks");
    pid_t pid = start(d, program, out, ranks);
    int status = pid > 0 ? watch(d, pid, path, ranks, &m) : 1;
    if (status) {
        screen_close();
        fprintf(stderr, "demo: the training ended with status %d; what it said is in %s/train.log\n", status,
                d->folder);
        return 1;
    }
    if (!d->live && m.steps) printf("loss %.3f, after %d steps %.3f\n", m.loss[0], m.steps, m.loss[m.steps - 1]);
    for (int i = 0; !d->live && i < m.epochs; i++)
        printf("accuracy %s training: %.1f%%\n", i ? "after" : "before", 100 * m.accuracy[i]);
    show_trace(d);
    return 0;
}
