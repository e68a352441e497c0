/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 37: the learner's trainer, with a stand-in for the network (stand_in.h) that writes down what it is
 * asked for. `make whole` then trains ResNet-20, and compares with build/train.
 */
#include <string.h>

#include "exercises/exercises.h"
#include "tests/exercises/expected.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/stand_in.h"

#pragma weak my_whole_trainer

enum { EPOCHS = 3, SEED = 3, HEAD = 4 /* of a load in the log: epoch, augmented, seed, count */ };

static const struct {
    int ranks;
    size_t images, tests, batch;
} tried[] = {{2, 16, 8, 4}, {3, 20, 11, 2}, {1, 9, 5, 4}, {2, 17, 7, 4}, {4, 30, 3, 3}, {4, 34, 9, 8}};

static void cases(check_plan *plan)
{
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        static char words[8][80];
        snprintf(words[i], sizeof words[i], "%zu images, %zu for tests, batches of %zu", tried[i].images,
                 tried[i].tests, tried[i].batch);
        check_world(plan, tried[i].ranks, i % 2 == 1, NULL);
        check_add(plan, (check_case){.variant = (int)i, .count = tried[i].images, .what = words[i]});
    }
}

static size_t images_of(const check_case *c)
{
    return tried[c->variant].images;
}

static size_t batch_of(const check_case *c)
{
    return tried[c->variant].batch;
}

static size_t tests_of(const check_case *c)
{
    return tried[c->variant].tests;
}

/* ---- In a rank ---- */

static const char path[] = "weights.safetensors";

static void report(const check_case *c, const my_score *score)
{
    double scored[] = {score->loss, (double)score->correct, (double)score->total};
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"open", stand.open},
                   {"saves", stand.saves},
                   {"path", stand.path && strcmp(stand.path, path) == 0},
                   {"batches", stand.batches},
                   {"too early", stand.too_early},
                   {"model", stand.wrong_name},
                   {"in order", stand.in_order},
                   {"no forward", stand.no_forward},
                   {"closed below", stand.closed_below},
                   {"asked", stand.asked},
                   {"asks", stand.asks},
                   {"trained with tests", stand.trained_with_tests},
                   {"ring", stand.ring},
                   {"overlap", stand.overlap},
                   {"bucket", (double)stand.bucket_bytes},
                   {"seed", (double)stand.seed},
                   {"rule", stand.optimizer.rule},
                   {"lr", stand.optimizer.lr},
                   {"decay", stand.optimizer.weight_decay}};
    check_report(c, "loads", stand.loads, stand.load_count, DTYPE_I32);
    check_report(c, "tests", stand.tests, stand.test_count, DTYPE_I32);
    check_report(c, "scales", stand.scales, stand.scale_count, DTYPE_I32);
    check_report(c, "steps", stand.steps, stand.step_count, DTYPE_I32);
    check_report(c, "first", stand.first, STAND_PARAMETERS + STAND_STATISTICS, DTYPE_F32);
    check_report(c, "tested", stand.tested, STAND_STATISTICS, DTYPE_F32);
    check_report(c, "saved", stand.saved, STAND_PARAMETERS + STAND_STATISTICS, DTYPE_F32);
    check_report(c, "weights", stand.last, STAND_PARAMETERS, DTYPE_F32);
    check_report(c, "score", scored, 3, DTYPE_F64);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) check_number(c, numbers[i].name, numbers[i].value);
}

static void run(p2p_comm *comm, const check_case *c)
{
    my_score score = {-1, -1, -1};
    const my_run how = {"resnet20", images_of(c), tests_of(c), batch_of(c), EPOCHS, SEED, 1, path};
    stand = (stand_log){.rank = p2p_rank(comm), .silent = c->fails};
    check_returned(c, my_whole_trainer(comm, &how, &score));
    if (!c->fails) report(c, &score);
}

/* ---- In learn: the log ---- */

static int at(const check_case *c, int rank, const char *name, size_t i)
{
    return (int)check_element(c, rank, name, i);
}

static size_t steps_each(const check_case *c)
{
    size_t all = batch_of(c) * (size_t)c->ranks;
    return all ? (images_of(c) + all - 1) / all : 0;
}

/* Images of all ranks in a step of an epoch, from 0; those of one rank. */
static size_t in_step(const check_case *c, size_t step)
{
    size_t all = batch_of(c) * (size_t)c->ranks, left = images_of(c) - step * all;
    return left < all ? left : all;
}

static size_t share_of(size_t count, int rank, int ranks)
{
    return (count + (size_t)ranks - 1 - (size_t)rank) / (size_t)ranks;
}

static size_t own_in_step(const check_case *c, int rank, size_t step)
{
    size_t share = share_of(images_of(c), rank, c->ranks), before = step * batch_of(c);
    size_t left = share > before ? share - before : 0;
    return left < batch_of(c) ? left : batch_of(c);
}

static size_t image_of(const check_case *c, int rank, size_t epoch, size_t step, size_t i)
{
    size_t position = (step * batch_of(c) + i) * (size_t)c->ranks + (size_t)rank;
    return stand_image(images_of(c), SEED, epoch, true, position);
}

/* How many images a rank loaded in all. */
static size_t loaded(const check_case *c, int rank, const char *log)
{
    size_t sum = 0, used = check_elements(c, rank, log);
    for (size_t k = 0; k + HEAD <= used; k += HEAD + (size_t)at(c, rank, log, k + 3))
        sum += (size_t)at(c, rank, log, k + 3);
    return sum;
}

/* ---- Images ---- */

/* Does a rank load what train_epoch_order says in some other way, all through? */
static bool loads_as(const check_case *c, int rank, bool shuffled, bool first_epoch, size_t counted_from)
{
    size_t used = check_elements(c, rank, "loads"), k = 0, n = (size_t)c->ranks;
    for (size_t epoch = counted_from, position = (size_t)rank; k + HEAD <= used;) {
        size_t count = (size_t)at(c, rank, "loads", k + 3);
        for (size_t i = 0; i < count; i++, position += n) {
            if (position >= images_of(c)) epoch++, position = (size_t)rank;
            size_t image = stand_image(images_of(c), SEED, first_epoch ? 1 : epoch, shuffled, position);
            if ((size_t)at(c, rank, "loads", k + HEAD + i) != image) return false;
        }
        k += HEAD + count;
    }
    return used > 0;
}

/* Does it load a block of the order of the epoch, all through? */
static bool loads_a_block(const check_case *c, int rank)
{
    size_t used = check_elements(c, rank, "loads"), k = 0, n = images_of(c), first = ring_begin(n, c->ranks, rank),
           length = ring_length(n, c->ranks, rank);
    for (size_t epoch = 1, seen = 0; k + HEAD <= used;) {
        size_t count = (size_t)at(c, rank, "loads", k + 3);
        for (size_t i = 0; i < count; i++, seen++) {
            if (seen == length) epoch++, seen = 0;
            if ((size_t)at(c, rank, "loads", k + HEAD + i) != stand_image(n, SEED, epoch, true, first + seen))
                return false;
        }
        k += HEAD + count;
    }
    return used > 0;
}

static bool same_loads(const check_case *c)
{
    size_t used = check_elements(c, 0, "loads");
    for (size_t k = 0; k < used; k++)
        if (at(c, 0, "loads", k) != at(c, 1, "loads", k)) return false;
    return used > 0;
}

static bool explain_loads(const check_case *c, int rank, size_t epoch, size_t step)
{
    size_t got = loaded(c, rank, "loads"), want = EPOCHS * share_of(images_of(c), rank, c->ranks);
    if (c->ranks > 1 && same_loads(c))
        return check_fail(c, "share",
                          "Ranks 0 and 1 load the same images: each rank is to take its share of them (train_shard).");
    if (loads_as(c, rank, false, false, 1) && check_number_of(c, rank, "in order") > 0)
        return check_fail(c, "shuffle",
                          "Rank %d loads its images in the same order in each epoch: train_epoch_order was called "
                          "without `shuffle`.",
                          rank);
    if (loads_as(c, rank, false, false, 1))
        return check_fail(c, "order",
                          "Rank %d loads the images at its positions: train_shard gives positions in the order of the "
                          "epoch, and the image at position p is order[p].",
                          rank);
    if (loads_as(c, rank, true, true, 1))
        return check_fail(c, "epoch",
                          "Rank %d goes through the images in the same order in each epoch: train_epoch_order wants "
                          "the number of the epoch, from 1.",
                          rank);
    if (c->ranks > 1 && loads_a_block(c, 0) && loads_a_block(c, 1))
        return check_fail(
            c, "share",
            "Rank %d loads a block of the order of the epoch, and should load one image in %d of it: its positions "
            "are rank, rank + size, rank + 2 size, ..., which is what train_shard gives.",
            rank, c->ranks);
    if (loads_as(c, rank, true, false, 0))
        return check_fail(c, "epoch", "Rank %d's first epoch has the order of epoch 0: epochs count from 1.", rank);
    if (got < want)
        return check_fail(c, "lost",
                          "Rank %d loaded %zu images in all, and its share of %d epochs is %zu: were the last ones of "
                          "an epoch left out, which make a smaller batch?",
                          rank, got, EPOCHS, want);
    return check_fail(
        c, "images",
        "In epoch %zu, step %zu, rank %d does not load what it should: the next %zu of its positions, each "
        "of them the image order[position].",
        epoch, step + 1, rank, own_in_step(c, rank, step));
}

static bool view_is_right(const check_case *c, int rank, size_t k, size_t epoch)
{
    int seen = at(c, rank, "loads", k), augmented = at(c, rank, "loads", k + 1), seed = at(c, rank, "loads", k + 2);
    if (seen == (int)epoch && augmented && seed == SEED) return true;
    if (!augmented)
        return check_fail(c, "view", "Images are not augmented in training: the train_view of rank %d says false.",
                          rank);
    if (seed != SEED)
        return check_fail(c, "view", "The train_view of rank %d has seed %d; the run's is %d.", rank, seed, SEED);
    return check_fail(c, "view", "In epoch %zu the train_view of rank %d says epoch %d. Epochs count from 1.", epoch,
                      rank, seen);
}

static bool loads(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t k = 0;
        for (size_t epoch = 1; epoch <= EPOCHS; epoch++)
            for (size_t step = 0; step < steps_each(c); step++) {
                size_t count = own_in_step(c, rank, step);
                bool right = (size_t)at(c, rank, "loads", k + 3) == count && k < check_elements(c, rank, "loads");
                for (size_t i = 0; i < count && right; i++)
                    right = (size_t)at(c, rank, "loads", k + HEAD + i) == image_of(c, rank, epoch, step, i);
                if (!right) return explain_loads(c, rank, epoch, step);
                if (!view_is_right(c, rank, k, epoch)) return false;
                k += HEAD + count;
            }
        if (k < check_elements(c, rank, "loads"))
            return check_fail(
                c, "images",
                "Rank %d loads more batches of data.train than %d epochs have: test images are those of data.test.",
                rank, EPOCHS);
    }
    return true;
}

/* ---- Steps ---- */

static bool scales(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t k = 0; k < EPOCHS * steps_each(c); k++) {
            size_t step = k % steps_each(c), own = own_in_step(c, rank, step);
            int got = at(c, rank, "scales", k);
            if (got == (int)in_step(c, step)) continue;
            return check_fail(
                c, "scale",
                "In step %zu rank %d calls train_forward with a scale of 1/%d; there %s %zu images on all "
                "ranks together, so it is 1/%zu.%s",
                k + 1, rank, got, in_step(c, step) == 1 ? "is" : "are", in_step(c, step), in_step(c, step),
                !got              ? " (1/0 stands for 0: have whole numbers been divided, 1 / images?)"
                : got == (int)own ? " That is the number of this rank's own: the sum over ranks is no mean "
                                    "then."
                : got == (int)(batch_of(c) * (size_t)c->ranks) ? " The last step of an epoch has fewer."
                                                               : "");
        }
    return true;
}

static bool numbers(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t want = EPOCHS * steps_each(c), got = check_elements(c, rank, "steps");
        for (size_t k = 0; k < want; k++) {
            int number = at(c, rank, "steps", k);
            if (k < got && number == (int)k + 1) continue;
            if (k >= got)
                return check_fail(c, "update", "Rank %d calls train_update %zu times; there are %zu steps.", rank, got,
                                  want);
            return check_fail(c, "number",
                              "Step %zu of rank %d has the number %d in train_update: they count from 1, through all "
                              "epochs. AdamW divides by what follows from it.",
                              k + 1, rank, number);
        }
        double lr = check_number_of(c, rank, "lr"), decay = check_number_of(c, rank, "decay");
        if (check_number_of(c, rank, "rule") != KERNEL_ADAMW || lr != (double)1e-3f || decay != (double)1e-2f)
            return check_fail(c, "optimizer",
                              "Rank %d's optimizer is not AdamW with lr 1e-3f and weight decay 1e-2f: lr is %.10g, the "
                              "decay %.10g. (Floats: 1e-3 and 1e-3f are two numbers, and not the same bits come out.)",
                              rank, lr, decay);
    }
    return true;
}

/* ---- Weights ---- */

static bool begins_alike(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double parameter = check_element(c, rank, "first", 1),
               statistic = check_element(c, rank, "first", STAND_PARAMETERS);
        if (parameter == 0)
            return check_fail(c, "weights.none",
                              "Rank %d's network has zeros for weights in its first step: what is written to the array "
                              "of train_map reaches the device with train_flush.",
                              rank);
        if (parameter != stand_parameter(0, 1))
            return check_fail(c, "weights",
                              "Rank %d does not begin with rank 0's weights%s. (In this test train_initialise gives "
                              "each rank others.)",
                              rank, parameter == stand_parameter(rank, 1) ? ", but with its own" : "");
        if (statistic != stand_statistic(0, 0))
            return check_fail(c, "weights.statistics",
                              "Rank %d begins with rank 0's parameters, but not with its statistics.", rank);
        if (check_number_of(c, rank, "seed") != SEED && rank == 0)
            return check_fail(c, "weights", "train_initialise is called with another seed than the run's.");
    }
    return true;
}

enum { ALL, OWN, MEAN };

/* After all steps. */
static double weight(const check_case *c, int way, int rank, size_t i)
{
    double w = stand_parameter(0, i);
    for (size_t epoch = 1; epoch <= EPOCHS; epoch++)
        for (size_t step = 0; step < steps_each(c); step++)
            for (int q = 0; q < c->ranks; q++)
                for (size_t k = 0; k < own_in_step(c, q, step); k++)
                    if (way != OWN || q == rank)
                        w -= stand_gradient(image_of(c, q, epoch, step, k), i) / (way == MEAN ? c->ranks : 1);
    return w;
}

static bool are_weights(const check_case *c, int way, double error)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (size_t i = 0; i < STAND_PARAMETERS; i++)
            if (fabs(check_element(c, rank, "weights", i) - weight(c, way, rank, i)) > error) return false;
    return true;
}

static bool weights(const check_case *c)
{
    if (check_number_of(c, 0, "no forward") > 0)
        return check_fail(c, "forward",
                          "train_backward comes before train_forward: the gradients are those of the batch before.");
    if (are_weights(c, ALL, 0)) return true;
    if (are_weights(c, OWN, 0))
        return check_fail(
            c, "sync.own", "Each rank's weights have moved by its own gradients only%s",
            check_number_of(c, 0, "too early") > 0
                ? ": train_sync_wait was called before all gradients were ready. train_backward has to be "
                  "given train_sync_ready, and the sync."
                : ": is there a train_sync_wait between train_backward and train_update, with an "
                  "all-reduce in its options?");
    if (are_weights(c, MEAN, 0.01))
        return check_fail(
            c, "sync.mean",
            "The gradients' mean over ranks was taken. Each is its rank's part of the mean over all images "
            "already (the scale of train_forward): they are added up.");
    return check_fail(c, "sync",
                      "After the last step weight 0 of rank 0 is %g, and should be %g: were the gradients added up "
                      "once, over all ranks, before each train_update?",
                      check_element(c, 0, "weights", 0), weight(c, ALL, 0, 0));
}

/* As build/train adds up gradients by default: in another order the same sums have other bits. */
static bool sync_options(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double bucket = check_number_of(c, rank, "bucket");
        if (check_number_of(c, rank, "ring") != 1)
            return check_fail(c, "sync.options",
                              "Rank %d's gradients are added up by another all-reduce than ring_all_reduce: in another "
                              "order, so the sums are rounded to other bits than those of build/train.",
                              rank);
        if (bucket != (double)((size_t)25 << 20))
            return check_fail(c, "sync.options",
                              "Rank %d's sync has buckets of %.0f bytes; build/train's have 25 MiB, (size_t)25 << 20. "
                              "Where a bucket ends decides in which order the ring adds numbers up.%s",
                              rank, bucket, bucket > 0 ? "" : " With 0 each tensor has its own.");
        if (check_number_of(c, rank, "overlap") != 1)
            return check_fail(c, "sync.options",
                              "Rank %d's sync does not overlap: all of backward is computed before the first gradient "
                              "is sent. build/train's does, with .overlap = true.",
                              rank);
    }
    return true;
}

/* ---- Evaluation, and what is saved ---- */

static double last_statistic(const check_case *c, int rank, size_t i)
{
    double seen = (double)(EPOCHS * share_of(images_of(c), rank, c->ranks));
    return stand_statistic(0, i) + seen * (rank + 1);
}

static bool tests(const check_case *c)
{
    size_t seen[64] = {0};
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t used = check_elements(c, rank, "tests");
        if (check_number_of(c, rank, "trained with tests") > 0)
            return check_fail(c, "evaluate",
                              "Rank %d calls train_forward with test images: that is a step of training, and changes "
                              "the running statistics. They are for train_evaluate.",
                              rank);
        for (size_t k = 0; k + HEAD <= used; k += HEAD + (size_t)at(c, rank, "tests", k + 3)) {
            if (at(c, rank, "tests", k + 1))
                return check_fail(c, "plain", "Rank %d augments test images: they are evaluated as they are.", rank);
            for (int i = 0; i < at(c, rank, "tests", k + 3); i++) {
                int image = at(c, rank, "tests", k + HEAD + (size_t)i);
                if (image >= 0 && image < 64) seen[image]++;
            }
        }
        if (loaded(c, rank, "tests") && check_element(c, rank, "tested", 0) != last_statistic(c, 0, 0))
            return check_fail(
                c, "statistics",
                "Rank %d evaluates with running statistics that are not rank 0's%s: they are not added up "
                "with the gradients, and each rank has seen other images.",
                rank, check_element(c, rank, "tested", 0) == last_statistic(c, rank, 0) ? ", but its own" : "");
    }
    for (size_t i = 0; i < tests_of(c); i++)
        if (seen[i] != 1)
            return check_fail(c, "tests", "Test image %zu was evaluated %zu times, on all ranks together.%s", i,
                              seen[i],
                              (int)seen[i] == c->ranks ? " Each rank is to take its share."
                              : seen[i]                ? ""
                                                       : " Were the last ones left out, which make a smaller batch?");
    return true;
}

static void total(const check_case *c, int rank, bool all, bool last_only, double sums[3])
{
    sums[0] = sums[1] = sums[2] = 0;
    for (int q = 0; q < c->ranks; q++) {
        size_t share = share_of(tests_of(c), q, c->ranks), from = share ? (share - 1) / batch_of(c) * batch_of(c) : 0;
        for (size_t i = 0; i < share && (all || q == rank); i++) {
            size_t image = i * (size_t)c->ranks + (size_t)q;
            sums[2]++;
            if (last_only && i < from) continue;
            sums[0] += stand_loss(image);
            sums[1] += (double)stand_correct(image);
        }
    }
}

static bool is_score(const check_case *c, int rank, const double sums[3])
{
    for (size_t i = 0; i < 3; i++)
        if (check_element(c, rank, "score", i) != sums[i]) return false;
    return true;
}

/* Is the loss, or all of the score, divided by that? */
static bool is_mean(const check_case *c, int rank, const double sums[3], double by)
{
    bool loss = fabs(check_element(c, rank, "score", 0) * by - sums[0]) < 1e-6 * sums[0], others = true;
    for (size_t i = 1; i < 3; i++) {
        double is = check_element(c, rank, "score", i);
        others &= is == sums[i] || fabs(is * by - sums[i]) <= by;
    }
    return by > 1 && loss && others;
}

/* train_loss was asked on a rank where the network held a training batch's loss. */
static void explain_loss(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double asked = check_number_of(c, rank, "asked");
        if (asked == STAND_TRAINED)
            check_because(c, "score.trained",
                          "Rank %d asks train_loss and has evaluated nothing: of %zu test images on %d ranks its share "
                          "is %zu. What it gets, and adds to the score, is its last training batch's.",
                          rank, tests_of(c), c->ranks, share_of(tests_of(c), rank, c->ranks));
        if (asked == STAND_ADDED)
            check_because(c, "score.trained",
                          "Rank %d's first train_evaluate was not told that it is the first: the loss of its last "
                          "training batch is in the score as well.",
                          rank);
        if (asked == STAND_EVALUATED && check_number_of(c, rank, "asks") > 1)
            check_because(c, "score.asks",
                          "Rank %d asks train_loss %.0f times in the evaluation. It has the loss of all batches since "
                          "the first one, and not of the last one alone: is that added up?",
                          rank, check_number_of(c, rank, "asks"));
        if (asked == STAND_TRAINED || asked == STAND_ADDED || check_number_of(c, rank, "asks") > 1) return;
    }
}

static bool score(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double want[3], own[3], last[3];
        total(c, rank, true, false, want);
        total(c, rank, false, false, own);
        total(c, rank, true, true, last);
        if (is_score(c, rank, want)) continue;
        check_fail(c, "score", "On rank %d the score is: loss %g, %g right of %g. It should be %g, %g of %g.%s", rank,
                   check_element(c, rank, "score", 0), check_element(c, rank, "score", 1),
                   check_element(c, rank, "score", 2), want[0], want[1], want[2],
                   is_score(c, rank, own) ? " That is the score of its own share."
                   : is_mean(c, rank, want, c->ranks)
                       ? " That is the mean over ranks: my_score has the sum of the losses of all test images."
                   : is_mean(c, rank, want, want[2])
                       ? " That is the mean over images: my_score has the sum of the losses of all test images."
                   : is_score(c, rank, last) ? " The last batch of each rank alone is in it: `first` of "
                                               "train_evaluate is true for the first one only."
                                             : "");
        explain_loss(c);
        return false;
    }
    return true;
}

static bool saved(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double saves = check_number_of(c, rank, "saves");
        if (saves == (rank == 0)) continue;
        return check_fail(c, "saved", "Rank %d saved the weights %g times: rank 0 saves them, once, and no other does.",
                          rank, saves);
    }
    if (check_number_of(c, 0, "path") != 1) return check_fail(c, "saved", "The weights were saved under another name.");
    for (size_t i = 0; i < STAND_PARAMETERS; i++)
        if (check_element(c, 0, "saved", i) != weight(c, ALL, 0, i))
            return check_fail(c, "saved.old",
                              "What was saved is not what the weights are at the end: train_map brings what the device "
                              "has, and its array is good until the next call that queues work.");
    if (check_element(c, 0, "saved", STAND_PARAMETERS) != last_statistic(c, 0, 0))
        return check_fail(c, "saved.old", "The statistics that were saved are not those of rank 0 at the end.");
    if (check_number_of(c, 0, "batches") != (double)(EPOCHS * steps_each(c)))
        return check_fail(c, "batches", "%g batches were saved; rank 0 has trained with %zu.",
                          check_number_of(c, 0, "batches"), EPOCHS * steps_each(c));
    return true;
}

static void judge(const check_case *c)
{
    if (check_number_of(c, 0, "model") != 0) {
        check_fail(c, "model", "train_describe is called with another name than the run's.");
        return;
    }
    if (!begins_alike(c) || !loads(c) || !scales(c) || !numbers(c) || !weights(c) || !sync_options(c) || !tests(c) ||
        !score(c) || !saved(c))
        return;
    for (int rank = 0; rank < c->ranks; rank++) {
        if (check_number_of(c, rank, "open") > 0) {
            check_fail(c, "open",
                       "Rank %d has left %g of these open: model, data, network, sync. Each has its close or free.",
                       rank, check_number_of(c, rank, "open"));
            return;
        }
        if (check_number_of(c, rank, "closed below") > 0) {
            check_fail(c, "open",
                       "Rank %d closes the network before the sync, which works on it: train_sync_close comes first.",
                       rank);
            return;
        }
    }
}

static const char *const files[] = {"whole_trainer.c", NULL};

const check_exercise check_37_whole_trainer = {.name = "37_whole_trainer",
                                               .idea = "from an empty file to a trained network",
                                               .call = "my_whole_trainer",
                                               .files = files,
                                               .hands_on_errors = true,
                                               .library = CHECK_LIBRARY_ALL,
                                               .cases = cases,
                                               .run = run,
                                               .judge = judge};
