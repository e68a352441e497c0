/* SPDX-License-Identifier: MIT */
/* The program: settings and files are checked before a rank is started; then the ranks train. */
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trainer/options.h"
#include "trainer/run.h"
#include "trainer/weights.h"

/* What the ranks and the process that started them share. */
typedef struct {
    atomic_int reported; /* a rank has printed the error; all ranks may have the same one */
    atomic_int stopped;  /* as they were asked to, */
    atomic_int saved;    /* after a step that is the checkpoint's */
    atomic_int first;    /* rank 0 is a rank of this process */
    atomic_ullong step;  /* the last one */
} outcome;

typedef struct {
    train_job job;
    outcome *outcome;
} program;

/* ---- In a rank ---- */

static volatile sig_atomic_t asked_to_stop;

static void ask_to_stop(int signal)
{
    asked_to_stop = signal;
}

/* Of a process that ends since it, or another rank, was asked to. */
static int status_of_stop(void)
{
    return 128 + (asked_to_stop ? asked_to_stop : SIGTERM);
}

/* An error that a rank finds ends the job; one that the communicator has found has been told already. A rank that a launcher has
 * started is a process that ends with a status of its own. */
static int rank_main(p2p_comm *world, void *arg)
{
    program *p = arg;
    train_error error = {""};
    train_result result;
    sigaction(SIGINT, &(struct sigaction){.sa_handler = ask_to_stop, .sa_flags = SA_RESTART}, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = ask_to_stop, .sa_flags = SA_RESTART}, NULL);
    /* a launcher that repairs may have this process begin again, with all that it began with */
    train_start *begun = p2p_launched() ? NULL : &p->job.start;
    p2p_err err = train__run_once(world, &p->job, begun, &result, &error);
    if (!err && result.stopped) atomic_store(&p->outcome->stopped, 1);
    if (!err && p2p_rank(world) == 0) {
        atomic_store(&p->outcome->step, result.step);
        atomic_store(&p->outcome->saved, result.checkpoint && result.saved);
        atomic_store(&p->outcome->first, 1);
    }
    if (!err && result.saved && result.stopped && p2p_launched()) return status_of_stop();
    if (!err) return result.saved ? 0 : 1;
    if (atomic_exchange(&p->outcome->reported, 1) == 0)
        fprintf(stderr, "train: rank %d: %s\n", p2p_rank(world), error.text);
    p2p_abort(world, 1);
    return 1;
}

/* ---- In the process that starts them ---- */

static int launch(program *p)
{
    p2p_options options = {.world = p->job.settings.world,
                           .trace = p->job.settings.trace,
                           .grace_s = TRAIN_GRACE,
                           .repair = p->job.settings.shrink && !p->job.settings.repair ? p->job.settings.ranks
                                                                                       : p->job.settings.repair,
                           .memory_each = train__least_memory(&p->job)};
    p2p_err err = p2p_launch(p->job.settings.ranks, rank_main, p, &options);
    return err == P2P_ERR_ARG || err == P2P_ERR_STATE ? 2 : options.exit_status;
}

/* A word of a command line, so that a shell reads it as it is. */
static void print_word(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=./,:+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fprintf(stderr, " %s", word);
        return;
    }
    fputs(" '", stderr);
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, stderr);
    fputc('\'', stderr);
}

/* The same command, with --resume from the checkpoint. */
static void print_resume(int argc, char *argv[], const char *out)
{
    fputs(p2p_launched() ? "  go on with, under the launcher as before:" : "  go on with:", stderr);
    for (int i = 0; i < argc; i++) {
        size_t length = strcspn(argv[i], "=");
        if (strcmp(argv[i], "--overwrite") == 0) continue;
        if ((length == 8 && strncmp(argv[i], "--resume", 8) == 0) ||
            (length == 6 && strncmp(argv[i], "--init", 6) == 0))
            i += argv[i][length] ? 0 : 1;
        else
            print_word(argv[i]);
    }
    print_word("--resume");
    print_word(out);
    fputc('\n', stderr);
}

/* What has been saved, and how to resume. */
static void say_interrupted(const program *p, int argc, char *argv[])
{
    const train_settings *s = &p->job.settings;
    unsigned long long step = atomic_load(&p->outcome->step);
    char path[PATH_MAX];
    bool saved = atomic_load(&p->outcome->saved);
    bool there = s->out && snprintf(path, sizeof path, "%s/" TRAIN_MODEL_FILE, s->out) < (int)sizeof path &&
                 access(path, F_OK) == 0;
    if (saved && there)
        fprintf(stderr, "train: interrupted after step %llu, which is saved in %s\n", step, s->out);
    else if (there)
        fprintf(stderr, "train: interrupted; the last checkpoint in %s is whole\n", s->out);
    else
        fprintf(stderr, "train: interrupted%s; no checkpoint was written%s\n",
                s->save && atomic_load(&p->outcome->first) ? ", weights saved" : "",
                s->out ? "" : ": --out DIR keeps one");
    if (there) print_resume(argc, argv, s->out);
}

/* The run to resume has ended, and no option asks for anything that needs no training. */
static bool nothing_to_do(const train_job *job)
{
    const train_settings *s = &job->settings;
    if (!s->resume || s->eval_only || s->save || s->dump_logits) return false;
    if (!train__finished(s, job->start.step, job->start.epoch) &&
        !train__waited_enough(s, job->start.best_epoch, job->start.epoch - 1))
        return false;
    if (s->plot) return true; /* to be drawn */
    fprintf(stderr,
            "train: %s is a finished run: step %llu, epoch %llu; nothing was done, no file was changed\n"
            "  try: more --epochs, --steps (they count the whole run) or --patience, or --eval-only\n",
            s->resume, (unsigned long long)job->start.step,
            (unsigned long long)job->start.epoch - (job->start.position ? 0 : 1));
    return true;
}

/* At the end: where everything is. */
static void say_files(const program *p)
{
    const train_settings *s = &p->job.settings;
    if (s->quiet) return;
    if (s->out && train__writes_folder(s) && atomic_load(&p->outcome->saved))
        printf("in %s: metrics.jsonl, " TRAIN_MODEL_FILE ", " TRAIN_STATE_FILE "\n", s->out,
               atomic_load(&p->outcome->step));
    if (s->save) printf("weights: %s\n", s->save);
    if (s->dump_logits) printf("logits: %s\n", s->dump_logits);
    if (s->plot) printf("pictures: loss, accuracy and time, as .svg and .png, in %s\n", s->plot);
    fflush(stdout);
}

static int draw(const train_settings *s)
{
    train_error error = {""};
    if (!s->plot || !train__plot(s->out ? s->out : s->resume, s->plot, &error)) return 0;
    fprintf(stderr, "train: no pictures were drawn: %s\n", error.text);
    return 1;
}

static int run(program *p, int argc, char *argv[])
{
    const train_settings *s = &p->job.settings;
    if (nothing_to_do(&p->job)) return p2p_launched() ? 0 : draw(s);
    if (s->plot && !s->out) {
        fprintf(stderr, "train: --plot: the run in %s is not finished\n  try: --out DIR as well\n", s->resume);
        return 2;
    }
    p->outcome = mmap(NULL, sizeof *p->outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->outcome == MAP_FAILED) {
        perror("train: mmap");
        return 1;
    }
    p->job.stop = &asked_to_stop;
    int status = launch(p);
    bool speaks = !p2p_launched() || atomic_load(&p->outcome->first); /* one process for all ranks */
    if (status == 0 && atomic_load(&p->outcome->stopped)) /* ranks were asked to stop, and perhaps not this process */
        status = status_of_stop();
    if (speaks && (status == 128 + SIGINT || status == 128 + SIGTERM)) say_interrupted(p, argc, argv);
    if (status == 0 && speaks) say_files(p);
    if (status == 0 && speaks) status = draw(s);
    munmap(p->outcome, sizeof *p->outcome);
    return status;
}

int train_program_own(int argc, char *argv[], const train_own *own)
{
    program p;
    train_error error = {""};
    train_settings settings = train__options(argc, argv);
    if (train_prepare(&settings, &p.job, &error)) {
        fprintf(stderr, "train: %s\n", error.text);
        return 2;
    }
    if (own->parallel) p.job.parallel = *own->parallel;
    if (own->hooks) p.job.hooks = *own->hooks;
    p.job.reducer = own->reducer;
    int status = run(&p, argc, argv);
    train_job_free(&p.job);
    return status;
}

int train_program(int argc, char *argv[], const train_parallel *parallel)
{
    return train_program_own(argc, argv, &(train_own){.parallel = parallel});
}
