/* SPDX-License-Identifier: MIT */
/* The command line of build/train. */
#include "trainer/options.h"
#include "p2p/shared/cli.h"
#include "trainer/compress.h"
#include "trainer/run.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 256,
    WORLD,
    DEVICE,
    MODEL,
    DATA,
    TRAIN_LIMIT,
    TEST_LIMIT,
    EPOCHS,
    STEPS,
    BATCH,
    OPTIMIZER,
    LR,
    WEIGHT_DECAY,
    MOMENTUM,
    NESTEROV,
    SCHEDULE,
    WARMUP,
    CLIP,
    ACCUMULATE,
    SMOOTHING,
    ALL_REDUCE,
    BUCKET,
    OVERLAP,
    WIRE,
    COMPRESS,
    SHARD,
    SHUFFLE,
    AUGMENT,
    SEED,
    INIT,
    SAVE,
    RESUME,
    OUT,
    OVERWRITE,
    SAVE_EVERY,
    PATIENCE,
    EVAL_ONLY,
    DUMP_LOGITS,
    PLOT,
    TIMELINE,
    TRACE,
    WRAPPER,
    REPAIR,
    SHRINK,
    QUIET
};

enum { USUAL_REPAIRS = 10 };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Ranks and devices:", 1},
    {"ranks", RANKS, "N", 0, "how many processes train together (2)", 1},
    {"world", WORLD, "NAME", 0, "how they reach each other, as build/launch --help lists (PAIRWISE_WORLD, or shm)", 1},
    {"device", DEVICE, "LIST", 0, "auto, cpu, gpu, cpu:K, gpu:K, or one for each rank: gpu:0,gpu:1 (auto)", 1},
    {"repair", REPAIR, "N", OPTION_ARG_OPTIONAL,
     "a rank that dies gets a new process, and no step is lost; up to N in all (10)", 1},
    {"shrink", SHRINK, NULL, 0, "when a rank dies, go on with those that are left", 1},
    {NULL, 0, NULL, 0, "Model and data:", 2},
    {"model", MODEL, "NAME", 0, "resnet20, resnet18 or resnet34 (resnet20)", 2},
    {"data", DATA, "DIR", 0,
     "CIFAR-10's or CIFAR-100's binary version: data_batch_*.bin, test_batch.bin, or train.bin, test.bin (a built-in "
     "set)",
     2},
    {"train-limit", TRAIN_LIMIT, "N", 0, "train with the first N images only", 2},
    {"test-limit", TEST_LIMIT, "N", 0, "test with the first N images only", 2},
    {"shuffle", SHUFFLE, "0|1", 0, "another order in every epoch; 0: the file's (1)", 2},
    {"augment", AUGMENT, "0|1", 0, "cut and mirror images at random (1)", 2},
    {"seed", SEED, "N", 0, "what all random numbers depend on (0)", 2},
    {NULL, 0, NULL, 0, "Training:", 3},
    {"epochs", EPOCHS, "N", 0, "go through the images N times in all (1)", 3},
    {"steps", STEPS, "K", 0, "end after K steps in all; without --epochs, however many epochs that takes", 3},
    {"batch", BATCH, "N", 0, "images a step, per rank (64)", 3},
    {"optimizer", OPTIMIZER, "NAME", 0, "adamw, adam, sgd or rmsprop (adamw)", 3},
    {"lr", LR, "X", 0, "learning rate (1e-3)", 3},
    {"weight-decay", WEIGHT_DECAY, "X", 0, "how strongly weights are drawn to zero (1e-2)", 3},
    {"momentum", MOMENTUM, "X", 0, "of sgd and rmsprop (0.9)", 3},
    {"nesterov", NESTEROV, NULL, 0, "Nesterov's momentum, of sgd", 3},
    {"schedule", SCHEDULE, "NAME", 0,
     "the learning rate of each step: constant, cosine, onecycle, or step:E,E,...: a tenth after each of these epochs "
     "(constant)",
     3},
    {"warmup", WARMUP, "STEPS", 0, "from a third of the learning rate to the whole in the first STEPS (0)", 3},
    {"clip", CLIP, "NORM", 0, "gradients, of all ranks together, become no longer than NORM; 0: as they are (0)", 3},
    {"accumulate", ACCUMULATE, "K", 0, "K batches a step, and sync after the last: as K times the ranks (1)", 3},
    {"label-smoothing", SMOOTHING, "X", 0, "a label is 1 - X, and X is shared by all classes (0)", 3},
    {NULL, 0, NULL, 0, "Gradient sync:", 4},
    {"all-reduce", ALL_REDUCE, "NAME", 0,
     "naive, tree, recursive-doubling, ring, auto, or none: replicas drift apart; to measure what sync costs (ring)",
     4},
    {"bucket", BUCKET, "SIZE", 0, "gradients go in buckets of this size, such as 25M; 0: each tensor alone (25M)", 4},
    {"overlap", OVERLAP, "0|1", 0, "a bucket goes while the backward pass computes the next; ring only (1)", 4},
    {"wire", WIRE, "TYPE", 0,
     "gradients travel as f32, f16 or bf16; what that rounds off goes with the next step's (f32)", 4},
    {"compress", COMPRESS, "METHOD", 0,
     "powersgd:RANK or topk:SHARE, such as powersgd:2 or topk:0.01: gradients travel as two thin matrices, or the "
     "largest only (docs/compression.md)",
     4},
    {"shard", SHARD, "WHAT", 0,
     "none, optimizer, gradients or parameters: each rank keeps its part of the optimiser's state, of the gradients "
     "too, of the parameters too; auto: optimizer or none, whichever is faster (docs/sharding.md) (auto)",
     4},
    {"wrapper", WRAPPER, NULL, 0, "sync by the wrapper that does it in one call, instead of the written-out loop", 4},
    {NULL, 0, NULL, 0, "Files:", 5},
    {"init", INIT, "FILE", 0, "begin with these weights (safetensors, ours or PyTorch's)", 5},
    {"save", SAVE, "FILE", 0, "save the weights at the end (safetensors, torchvision's names)", 5},
    {"out", OUT, "DIR", 0, "metrics.jsonl, and a checkpoint after each epoch, at the end, and on Ctrl-C", 5},
    {"save-every", SAVE_EVERY, "N", 0, "a checkpoint every N steps (500), or every N epochs (2epochs) (1epochs)", 5},
    {"patience", PATIENCE, "N", 0,
     "end when N epochs in a row have no better accuracy; the best weights are best.safetensors in --out", 5},
    {"overwrite", OVERWRITE, NULL, 0, "replace the run that is in --out already", 5},
    {"resume", RESUME, "DIR", 0, "go on from the checkpoint in DIR, with any number of ranks", 5},
    {"eval-only", EVAL_ONLY, NULL, 0, "evaluate and end", 5},
    {"dump-logits", DUMP_LOGITS, "FILE", 0,
     "logits of the last evaluation, a line a test image, a number a class (CSV)", 5},
    {NULL, 0, NULL, 0, "Output:", 6},
    {"timeline", TIMELINE, NULL, 0, "draw where each step's time went, by rank", 6},
    {"plot", PLOT, "DIR", 0,
     "at the end draw loss, accuracy and where the time went, of the run in --out (needs gnuplot)", 6},
    {"trace", TRACE, "FILE", 0, "write what every rank did to FILE (Chrome trace JSON, for build/replay)", 6},
    {"quiet", QUIET, NULL, 0, "say nothing but warnings and errors", 6},
    {0},
};

static const char text[] =
    "Train a ResNet on CIFAR-10 images with several processes: each has the whole model and a share of the images, and "
    "they add up their gradients."
    "\vExamples:\n"
    "  train --ranks 2\n"
    "  train --model resnet34 --data cifar-10-batches-bin --epochs 3 --out run34\n"
    "  train --model resnet34 --data cifar-10-batches-bin --epochs 5 \\\n"
    "        --resume run34 --out run34\n\n"
    "Exit status: 0 trained; 1 an error while training, or a result that could not be saved; 2 called wrongly, or data "
    "or files that cannot be used: nothing was trained; 130, 143 interrupted: the step under way is finished, and what "
    "--out and --save ask for is saved (a second Ctrl-C ends at once).\n\n"
    "Environment: PAIRWISE_DEVICE, PAIRWISE_CACHE and the others that launch --help lists.";

/* ---- Values ---- */

static const char *name_of(int key)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].key == key && options[i].name) return options[i].name;
    return "?";
}

static uint64_t whole(struct argp_state *state, int key, const char *arg, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(arg, &end, 10);
    if (errno || *arg < '0' || *arg > '9' || *end || value < low || value > high)
        argp_error(state, "--%s is a whole number from %llu to %llu, not \"%s\"", name_of(key), (unsigned long long)low,
                   (unsigned long long)high, arg);
    return value;
}

static bool yes_or_no(struct argp_state *state, int key, const char *arg)
{
    if (strcmp(arg, "0") != 0 && strcmp(arg, "1") != 0)
        argp_error(state, "--%s is 0 or 1, not \"%s\"", name_of(key), arg);
    return *arg == '1';
}

/* From 0 to `high`, or to less than it; a number so small that it would become 0 is none. */
static float number(struct argp_state *state, int key, const char *arg, double high, bool below)
{
    char *end;
    double value = strtod(arg, &end);
    bool fits = value >= 0 && (below ? value < high : value <= high);
    float rounded = fits ? (float)value : 0;
    if (end == arg || *end || !fits || (value > 0 && !isnormal(rounded)) || (below && (double)rounded >= high))
        argp_error(state, "--%s is a number from 0 to %s%g, such as 1e-3, not \"%s\"", name_of(key),
                   below ? "less than " : "", high, arg);
    return rounded;
}

/* "500", "500steps", "2epochs" */
static void save_every(struct argp_state *state, const char *arg, train_settings *s)
{
    char *unit;
    errno = 0;
    unsigned long long count = strtoull(arg, &unit, 10);
    bool epochs = strcmp(unit, "epochs") == 0, steps = !*unit || strcmp(unit, "steps") == 0;
    if (errno || *arg < '0' || *arg > '9' || (!epochs && !steps) || count < 1 || count > 1000000000)
        argp_error(state,
                   "--save-every is a number of steps or epochs from 1 to 1000000000, such as 500 or 2epochs, "
                   "not \"%s\"",
                   arg);
    s->save_epochs = epochs ? count : 0;
    s->save_steps = epochs ? 0 : count;
}

/* "25M": units are powers of 1024. */
static size_t size(struct argp_state *state, int key, const char *arg)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(arg, &end, 10);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (unit) end++;
    if (errno || *arg < '0' || *arg > '9' || *end || value > (SIZE_MAX >> shift))
        argp_error(state, "--%s is a size such as 25M, 512K or 0, not \"%s\"", name_of(key), arg);
    return (size_t)value << shift;
}

/* ---- Options ---- */

static bool parse_number(int key, char *arg, struct argp_state *state, train_settings *s)
{
    switch (key) {
    case RANKS: s->ranks = (int)whole(state, key, arg, 1, P2P_MAX_RANKS); break;
    case TRAIN_LIMIT: s->train_limit = whole(state, key, arg, 1, SIZE_MAX); break;
    case TEST_LIMIT: s->test_limit = whole(state, key, arg, 1, SIZE_MAX); break;
    case EPOCHS: s->epochs = whole(state, key, arg, 1, 1000000); break;
    case STEPS: s->steps = whole(state, key, arg, 1, 1000000000); break;
    case BATCH: s->batch = whole(state, key, arg, 1, 65536); break;
    case SEED: s->seed = whole(state, key, arg, 0, UINT64_MAX); break;
    case LR: s->lr = number(state, key, arg, 1000, false); break;
    case WEIGHT_DECAY: s->weight_decay = number(state, key, arg, 1000, false); break;
    case MOMENTUM: s->momentum = number(state, key, arg, 1, true); break;
    case WARMUP: s->schedule.warmup = whole(state, key, arg, 0, 1000000000); break;
    case CLIP: s->clip = number(state, key, arg, 1e6, false); break;
    case PATIENCE: s->patience = whole(state, key, arg, 1, 1000000); break;
    case ACCUMULATE: s->accumulate = whole(state, key, arg, 1, TRAIN_MOST_BATCHES); break;
    case SMOOTHING: s->label_smoothing = number(state, key, arg, 1, false); break;
    case REPAIR:
        arg = p2p__cli_next_number(state, arg);
        s->repair = arg ? (int)whole(state, key, arg, 1, 1000000) : USUAL_REPAIRS;
        break;
    case SAVE_EVERY: save_every(state, arg, s); break;
    case BUCKET: s->bucket_bytes = size(state, key, arg); break;
    case SHUFFLE: s->shuffle = yes_or_no(state, key, arg); break;
    case AUGMENT: s->augment = yes_or_no(state, key, arg); break;
    default: return false;
    }
    return true;
}

static bool parse_choice(int key, const char *arg, struct argp_state *state, train_settings *s)
{
    if (key == OPTIMIZER && !train__rule_named(arg, &s->optimizer))
        argp_error(state, "--optimizer: there is no \"%s\"; there are adamw, adam, sgd, rmsprop", arg);
    if (key == ALL_REDUCE && !train__algorithm_named(arg, &s->all_reduce))
        argp_error(state,
                   "--all-reduce: there is no \"%s\"; there are naive, tree, recursive-doubling, ring, auto, none",
                   arg);
    if (key == SCHEDULE && !train__schedule_named(arg, &s->schedule))
        argp_error(state,
                   "--schedule is constant, cosine, onecycle, or step: and up to %d epochs that ascend, such as "
                   "step:82,123, not \"%s\"",
                   TRAIN_MILESTONES, arg);
    if (key == WIRE && !dtype_parse(arg, &s->compress.wire))
        argp_error(state, "--wire: there is no \"%s\"; there are f32, f16, bf16", arg);
    if (key == COMPRESS && !train__compress_named(arg, &s->compress))
        argp_error(state, "--compress is powersgd:RANK or topk:SHARE, such as powersgd:2 or topk:0.01, not \"%s\"",
                   arg);
    if (key == SHARD && !train__shard_named(arg, &s->shard))
        argp_error(state, "--shard: there is no \"%s\"; there are auto, none, optimizer, gradients, parameters", arg);
    return key == SCHEDULE || key == OPTIMIZER || key == ALL_REDUCE || key == WIRE || key == COMPRESS || key == SHARD;
}

static bool parse_name(int key, char *arg, train_settings *s)
{
    switch (key) {
    case WORLD: s->world = arg; break;
    case DEVICE: s->device = arg; break;
    case MODEL: s->model = arg; break;
    case DATA: s->data = arg; break;
    case INIT: s->init = arg; break;
    case SAVE: s->save = arg; break;
    case RESUME: s->resume = arg; break;
    case OUT: s->out = arg; break;
    case OVERWRITE: s->overwrite = true; break;
    case DUMP_LOGITS: s->dump_logits = arg; break;
    case EVAL_ONLY: s->eval_only = true; break;
    case NESTEROV: s->nesterov = true; break;
    case PLOT: s->plot = arg; break;
    case TIMELINE: s->timeline = true; break;
    case WRAPPER: s->wrapper = true; break;
    case TRACE: s->trace = arg; break;
    case SHRINK: s->shrink = true; break;
    case QUIET: s->quiet = true; break;
    default: return false;
    }
    return true;
}

typedef struct {
    train_settings settings;
    bool wants_overlap;
} command_line;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    command_line *line = state->input;
    train_settings *s = &line->settings;
    if (key == OVERLAP) {
        s->overlap = yes_or_no(state, key, arg);
        line->wants_overlap = s->overlap;
    } else if (key == ARGP_KEY_ARG)
        argp_error(state, "\"%s\": what is this?", arg);
    else if (key == ARGP_KEY_END && line->wants_overlap && s->all_reduce != TRAIN_RING)
        argp_error(state, "--overlap 1 is for --all-reduce ring only");
    else if (!parse_number(key, arg, state, s) && !parse_choice(key, arg, state, s) && !parse_name(key, arg, s))
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* The end of --help: what --device can name on this machine. */
static char *add_devices(int key, const char *help, void *input)
{
    kernel_listing there;
    char *all = NULL;
    (void)input;
    if (key != ARGP_KEY_HELP_EXTRA || kernel_list(&there)) return (char *)help;
    return asprintf(&all, "Devices of this machine: %s.", there.text) < 0 ? NULL : all;
}

train_settings train__options(int argc, char *argv[])
{
    static const struct argp parser = {options, parse, NULL, text, NULL, add_devices, NULL};
    command_line line = {.wants_overlap = false};
    train_defaults(&line.settings);
    p2p__cli_parse(&parser, argc, argv, 0, &line);
    if (!line.settings.world && !getenv("PAIRWISE_WORLD")) line.settings.world = "shm";
    return line.settings;
}
