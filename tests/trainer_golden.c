/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * trainer_golden: the same numbers as PyTorch, from the same weights and images: logits, losses, gradients. The numbers
 * are in files beside the checkout; without them everything here is skipped. How closely they can agree is PyTorch's
 * own distance from itself in double precision: see the tolerance in expected.json.
 *
 * GOLDEN_ALL_REDUCE chooses the all-reduce of two ranks (ring); tests/all/trainer.sh tries them all.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/trainer/golden.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"
#include "trainer/run.h"
#include "trainer/trainer.h"

enum { STEPS = 10, LOGITS = 16, TENSORS = 200 };

/* What the ranks leave for the test. */
typedef struct {
    double norms[TENSORS];
} findings;

static p2p_err note_gradients(void *arg, const train_hook_context *now)
{
    findings *found = arg;
    train_model *m = NULL;
    const float *gradients = train_map(now->network, TRAIN_GRADIENTS, NULL);
    if (p2p_rank(now->comm) != 0 || now->step != 0) return P2P_OK;
    if (!gradients || train_build(train_describe("resnet20"), &m, NULL)) return P2P_ERR_SYS;
    for (size_t i = 0; i < m->tensor_count; i++) {
        const train_tensor *t = &m->tensors[i];
        double sum = 0;
        for (size_t k = 0; t->kind == TRAIN_PARAMETER && k < t->count; k++)
            sum += (double)gradients[t->offset + k] * (double)gradients[t->offset + k];
        found->norms[i] = sqrt(sum);
    }
    train_free(m);
    return P2P_OK;
}

static int rank_main(p2p_comm *world, void *arg)
{
    train_error error = {""};
    p2p_err err = train_run(world, arg, NULL, &error);
    CHECK(err == P2P_OK, "train_run: %s: %s", p2p_strerror(err), error.text);
    return 0;
}

static size_t steps(void)
{
    return job_is_quick() ? STEPS / 2 : STEPS;
}

/* Steps over the first images, in the file's order. */
static void make_run(train_job *job, int ranks, findings *found)
{
    train_settings s;
    train_error error;
    train_defaults(&s);
    s.ranks = ranks;
    s.data = GOLDEN_DATA;
    s.init = GOLDEN_INIT;
    s.batch = 128 / (size_t)ranks;
    s.shuffle = s.augment = false;
    s.steps = steps();
    s.test_limit = LOGITS;
    s.quiet = true;
    s.device = "cpu";
    s.out = test_folder;
    const char *asked = getenv("GOLDEN_ALL_REDUCE");
    cr_assert(!asked || train__algorithm_named(asked, &s.all_reduce), "GOLDEN_ALL_REDUCE=%s", asked ? asked : "");
    cr_assert(train_prepare(&s, job, &error) == P2P_OK, "%s", error.text);
    job->hooks = (train_hooks){.after_sync = note_gradients, .arg = found};
}

/* ---- What was written ---- */

static void compare_losses(const double *expected, size_t count)
{
    char line[1000];
    size_t step = 0;
    FILE *file = fopen(in_folder("metrics.jsonl"), "re");
    cr_assert(file && count == STEPS, "%zu losses are expected", count);
    while (fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "\"loss\":");
        if (!at) continue;
        double loss = strtod(at + 7, NULL), off = fabs(loss / expected[step] - 1);
        cr_assert(off < (step ? 1e-2 : 1e-5), "step %zu: loss %.9g, PyTorch has %.9g", step + 1, loss, expected[step]);
        step++;
    }
    fclose(file);
    cr_assert(step == steps(), "%zu steps", step);
}

static void compare_norms(const train_model *m, const findings *found)
{
    for (size_t i = 0; i < m->tensor_count; i++) {
        if (m->tensors[i].kind != TRAIN_PARAMETER) continue;
        double expected = golden_number("one_rank", "first_step_grad_norms", m->tensors[i].name);
        cr_assert(fabs(found->norms[i] / expected - 1) < 2e-3, "gradient of %s: norm %.9g, PyTorch has %.9g",
                  m->tensors[i].name, found->norms[i], expected);
    }
}

/* ---- The comparisons ---- */

static bool skipped(void)
{
    if (golden_here()) return false;
    remove_test_folder(); /* a skipped test has no .fini */
    cr_skip_test("no golden files beside the checkout");
    return true;
}

/* init.safetensors is what torch.manual_seed(20) gave. */
Test(golden, a_seed_gives_the_weights_that_it_gives_pytorch)
{
    if (skipped()) return;
    train_model *m = NULL;
    train_start start;
    train_error error;
    cr_assert(train_build(train_describe("resnet20"), &m, &error) == P2P_OK);
    cr_assert(train_start_from(GOLDEN_INIT, m, &start, &error) == P2P_OK, "%s", error.text);
    float *parameters = malloc(m->parameters * sizeof(float)), *statistics = malloc(m->statistics * sizeof(float));
    train_initialise(m, 20, parameters, statistics);
    for (size_t i = 0; i < m->parameters; i++)
        cr_assert(fabsf(parameters[i] - start.parameters[i]) < 1e-6f, "parameter %zu is %.9g, PyTorch has %.9g", i,
                  (double)parameters[i], (double)start.parameters[i]);
    free(parameters);
    free(statistics);
    train_start_free(&start);
    train_free(m);
}

Test(golden, first_logits, .init = make_test_folder, .fini = remove_test_folder)
{
    double expected[LOGITS * TRAIN_CLASSES];
    train_job job;
    if (skipped()) return;
    make_run(&job, 1, NULL);
    job.hooks.after_sync = NULL;
    job.settings.eval_only = true;
    job.settings.dump_logits = in_folder("logits.csv");
    ASSERT_RIGHT(job_right(1, false, rank_main, &job));
    size_t count = golden_numbers(NULL, "init_eval_logits_first_16_test", expected, LOGITS * TRAIN_CLASSES);
    cr_assert(count == LOGITS * TRAIN_CLASSES, "%zu logits are expected", count);
    FILE *file = fopen(in_folder("logits.csv"), "re");
    cr_assert(file != NULL);
    for (size_t i = 0; i < count; i++) {
        double logit = NAN;
        cr_assert(fscanf(file, "%lf%*[,\n]", &logit) >= 1, "only %zu logits", i);
        cr_assert(fabs(logit - expected[i]) < 1e-4, "logit %zu of image %zu: %.9g, PyTorch has %.9g", i % 10, i / 10,
                  logit, expected[i]);
    }
    fclose(file);
    train_job_free(&job);
}

Test(golden, adamw_on_one_rank, .init = make_test_folder, .fini = remove_test_folder)
{
    double expected[STEPS];
    train_job job;
    if (skipped()) return;
    findings *found = job_shared(sizeof *found);
    make_run(&job, 1, found);
    ASSERT_RIGHT(job_right(1, false, rank_main, &job));
    compare_losses(expected, golden_numbers("one_rank", "losses", expected, STEPS));
    compare_norms(job.model, found);
    train_job_free(&job);
}

Test(golden, adamw_on_two_ranks, .init = make_test_folder, .fini = remove_test_folder)
{
    double by_rank[2 * STEPS], expected[STEPS];
    train_job job;
    if (skipped()) return;
    findings *found = job_shared(sizeof *found);
    make_run(&job, 2, found);
    ASSERT_RIGHT(job_right(2, false, rank_main, &job));
    size_t count = golden_numbers("two_ranks", "losses_by_rank", by_rank, 2 * STEPS);
    for (size_t s = 0; s < STEPS; s++) expected[s] = (by_rank[2 * s] + by_rank[2 * s + 1]) / 2;
    compare_losses(expected, count / 2);
    train_job_free(&job);
}

Test(golden, sgd_on_one_rank, .init = make_test_folder, .fini = remove_test_folder)
{
    double expected[STEPS];
    train_job job;
    if (skipped()) return;
    findings *found = job_shared(sizeof *found);
    make_run(&job, 1, found);
    job.settings.optimizer = KERNEL_SGD;
    job.settings.lr = 0.01f;
    job.settings.momentum = 0.9f;
    job.settings.weight_decay = 1e-4f;
    ASSERT_RIGHT(job_right(1, false, rank_main, &job));
    compare_losses(expected, golden_numbers("sgd_one_rank", "losses", expected, STEPS));
    train_job_free(&job);
}
