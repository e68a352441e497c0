/* SPDX-License-Identifier: MIT */
/* trainer_recipes: schedules, clipping, several batches a step: the numbers that PyTorch has. */
#include <math.h>

#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/suite.h"

/* ---- Schedules ---- */

enum { STEPS = 1000, COLUMNS = 7 };

/* What PyTorch 1.13 has in each of 1,000 steps, lr 0.1: CosineAnnealingLR(T_max=1000); OneCycleLR(max_lr=0.1,
 * total_steps=1000), and its momentum; MultiStepLR([300, 600, 900]); LinearLR(total_iters=100);
 * SequentialLR([LinearLR(total_iters=100), CosineAnnealingLR(900)], [100]);
 * ChainedScheduler([LinearLR(total_iters=100), MultiStepLR([300, 600, 900])]). */
static const struct {
    uint64_t taken; /* steps before */
    double want[COLUMNS];
} pytorch[] = {
    {0, {0.1, 0.004, 0.95, 0.1, 0.0333333333333, 0.0333333333333, 0.0333333333333}},
    {1, {0.0999997532601, 0.00400264950422, 0.9499972401, 0.1, 0.034, 0.034, 0.034}},
    {25, {0.0998458666867, 0.00564645575492, 0.948284941922, 0.1, 0.05, 0.05, 0.05}},
    {50, {0.0993844170298, 0.01047287233, 0.943257424656, 0.1, 0.0666666666667, 0.0666666666667, 0.0666666666667}},
    {75, {0.0986184960199, 0.0181481463357, 0.935262347567, 0.1, 0.0833333333333, 0.0833333333333, 0.0833333333333}},
    {99, {0.0976011313473, 0.0277094126696, 0.925302695136, 0.1, 0.0993333333333, 0.0993333333333, 0.0993333333333}},
    {100, {0.0975528258148, 0.0281457361449, 0.924848191516, 0.1, 0.1, 0.1, 0.1}},
    {125, {0.0961939766256, 0.0397797838708, 0.912729391801, 0.1, 0.1, 0.0998097349046, 0.1}},
    {150, {0.0945503262094, 0.0522521668123, 0.899737326237, 0.1, 0.1, 0.0992403876506, 0.1}},
    {175, {0.0926320082177, 0.0647072505246, 0.886763280704, 0.1, 0.1, 0.0982962913145, 0.1}},
    {200, {0.0904508497187, 0.0762905873304, 0.874697304864, 0.1, 0.1, 0.0969846310393, 0.1}},
    {225, {0.08802029828, 0.0862075334154, 0.864367152692, 0.1, 0.1, 0.0953153893518, 0.1}},
    {250, {0.0853553390593, 0.0937777632398, 0.856481496625, 0.1, 0.1, 0.0933012701892, 0.1}},
    {275, {0.0824724024165, 0.0984819414512, 0.851581310988, 0.1, 0.1, 0.0909576022144, 0.1}},
    {299, {0.0795161974678, 0.1, 0.85, 0.1, 0.1, 0.0884141761797, 0.1}},
    {300, {0.0793892626146, 0.0999994964516, 0.85000050355, 0.01, 0.1, 0.0883022221559, 0.01}},
    {301, {0.0792620377013, 0.0999979858166, 0.850002014191, 0.01, 0.1, 0.0881898014317, 0.01}},
    {325, {0.0761249282358, 0.0996599867852, 0.850340014575, 0.01, 0.1, 0.0853553390593, 0.01}},
    {350, {0.072699524987, 0.0986959764867, 0.851304028729, 0.01, 0.1, 0.0821393804843, 0.01}},
    {375, {0.0691341716183, 0.0971195885449, 0.852880422977, 0.01, 0.1, 0.0786788218176, 0.01}},
    {400, {0.0654508497187, 0.0949506469528, 0.855049373245, 0.01, 0.1, 0.075, 0.01}},
    {425, {0.0616722681928, 0.0922164274095, 0.857783603725, 0.01, 0.1, 0.071130913087, 0.01}},
    {450, {0.057821723252, 0.0889513143121, 0.861048729883, 0.01, 0.1, 0.0671010071663, 0.01}},
    {475, {0.0539229547864, 0.0851963683522, 0.864803690863, 0.01, 0.1, 0.0629409522551, 0.01}},
    {500, {0.05, 0.080998810154, 0.869001265851, 0.01, 0.1, 0.0586824088833, 0.01}},
    {525, {0.0460770452136, 0.0764114264473, 0.873588667907, 0.01, 0.1, 0.0543577871374, 0.01}},
    {550, {0.042178276748, 0.0714919062439, 0.878508207789, 0.01, 0.1, 0.05, 0.01}},
    {575, {0.0383277318072, 0.0663021153647, 0.883698019427, 0.01, 0.1, 0.0456422128626, 0.01}},
    {599, {0.0346986178906, 0.0611262021936, 0.888873953302, 0.01, 0.1, 0.0414895250417, 0.01}},
    {600, {0.0345491502813, 0.0609073184412, 0.88909283793, 0.001, 0.1, 0.0413175911167, 0.001}},
    {625, {0.0308658283817, 0.0553753581748, 0.894624820324, 0.001, 0.1, 0.0370590477449, 0.001}},
    {650, {0.027300475013, 0.0497758021756, 0.900224398722, 0.001, 0.1, 0.0328989928337, 0.001}},
    {675, {0.0238750717642, 0.0441790681093, 0.905821155175, 0.001, 0.1, 0.028869086913, 0.001}},
    {700, {0.0206107373854, 0.038655538154, 0.911344707225, 0.001, 0.1, 0.025, 0.001}},
    {725, {0.0175275975835, 0.0332746739038, 0.916725592999, 0.001, 0.1, 0.0213211781824, 0.001}},
    {750, {0.0146446609407, 0.0281041428486, 0.921896144736, 0.001, 0.1, 0.0178606195157, 0.001}},
    {775, {0.01197970172, 0.0232089674164, 0.926791339749, 0.001, 0.1, 0.0146446609407, 0.001}},
    {800, {0.00954915028125, 0.0186507072786, 0.93134961812, 0.001, 0.1, 0.0116977778441, 0.001}},
    {825, {0.0073679917823, 0.0144866852012, 0.935513656853, 0.001, 0.1, 0.00904239778555, 0.001}},
    {850, {0.00544967379058, 0.0107692661778, 0.939231090747, 0.001, 0.1, 0.00669872981078, 0.001}},
    {875, {0.00380602337444, 0.00754519890957, 0.942455170911, 0.001, 0.1, 0.00468461064817, 0.001}},
    {899, {0.00249594904496, 0.00495193679865, 0.945048443395, 0.001, 0.1, 0.00307534886202, 0.001}},
    {900, {0.00244717418524, 0.00485502791299, 0.945145352668, 0.0001, 0.1, 0.0030153689607, 0.0001}},
    {925, {0.00138150398012, 0.00273258364924, 0.947267805422, 0.0001, 0.1, 0.00170370868555, 0.0001}},
    {950, {0.000615582970243, 0.00120455708642, 0.948795838097, 0.0001, 0.1, 0.00075961234939, 0.0001}},
    {975, {0.000154133313344, 0.000290164045117, 0.949710234796, 0.0001, 0.1, 0.000190265095413, 0.0001}},
    {999, {2.46739907089e-07, 4e-07, 0.95, 0.0001, 0.1, 3.0461711048e-07, 0.0001}},
};

/* And the sums over all 1,000. */
static const double sums[COLUMNS] = {50.05, 50.5501402, 900.05, 33.31, 96.6333333333, 51.6833333333, 29.9433333333};

static const train_schedule cosine = {.kind = TRAIN_COSINE}, onecycle = {.kind = TRAIN_ONECYCLE};
static const train_schedule multistep = {.kind = TRAIN_STEPS, .count = 3, .milestones = {300, 600, 900}};

static kernel_optimizer at_step(const train_schedule *schedule, uint64_t taken, uint64_t total)
{
    kernel_optimizer o = {.rule = KERNEL_SGD, .lr = 0.1, .momentum = 0.9};
    train_schedule_at(schedule, taken + 1, taken + 1, total, &o);
    return o;
}

static double column(int c, uint64_t taken)
{
    train_schedule s[] = {cosine, onecycle, onecycle, multistep, {.warmup = 100}, cosine, multistep};
    if (c == 5 || c == 6) s[c].warmup = 100;
    kernel_optimizer o = at_step(&s[c], taken, STEPS);
    return c == 2 ? o.momentum : o.lr;
}

Test(schedules, are_pytorchs_over_1000_steps)
{
    for (int c = 0; c < COLUMNS; c++) {
        double sum = 0;
        for (size_t i = 0; i < sizeof pytorch / sizeof *pytorch; i++) {
            double got = column(c, pytorch[i].taken), want = pytorch[i].want[c];
            cr_assert(fabs(got - want) <= 1e-7 * want, "column %d, step %d: %.12g, not %.12g", c, (int)pytorch[i].taken,
                      got, want);
        }
        for (uint64_t t = 0; t < STEPS; t++) sum += column(c, t);
        cr_assert(fabs(sum - sums[c]) <= 1e-8 * sums[c], "column %d: sum %.12g, not %.12g", c, sum, sums[c]);
    }
}

/* OneCycleLR(total_steps=1), 2 and 7. */
Test(schedules, of_few_steps_are_pytorchs)
{
    static const double seven[] = {0.004,          0.0980556627335,  0.091904437627, 0.0672683836481,
                                   0.035773877574, 0.00992967918933, 4e-07};
    for (uint64_t t = 0; t < 7; t++)
        cr_assert(fabs(at_step(&onecycle, t, 7).lr - seven[t]) < 1e-7 * seven[t], "step %d", (int)t);
    cr_assert(fabs(at_step(&onecycle, 0, 2).lr - 0.081174565395) < 1e-9);
    cr_assert(fabs(at_step(&onecycle, 0, 1).lr - 4e-07) < 1e-12);
    cr_assert(fabs(at_step(&onecycle, 9, 7).lr - 4e-07) < 1e-12, "a step too many has the last one's rate");
}

Test(schedules, cycle_beta1_of_adam_and_no_momentum_that_is_none)
{
    kernel_optimizer o = {.rule = KERNEL_ADAMW, .lr = 0.1, .beta1 = 0.9};
    train_schedule_at(&onecycle, 300, 1, STEPS, &o);
    cr_assert(fabs(o.beta1 - 0.85) < 1e-12 && o.momentum < 1e-12);
    o = (kernel_optimizer){.rule = KERNEL_SGD, .lr = 0.1};
    train_schedule_at(&onecycle, 300, 1, STEPS, &o);
    cr_assert(o.momentum < 1e-12);
}

/* ---- Several batches a step ---- */

static training_book *make(train_job *job, size_t images, int ranks, size_t batches)
{
    training_book *book = job_shared(sizeof *book);
    training_make(job, book, images, 4);
    job->settings.lr = 0; /* every step from the same weights */
    job->settings.epochs = 2;
    job->settings.batch = 3;
    job->settings.accumulate = batches;
    job->settings.ranks = ranks;
    return book;
}

/* Batch norm included: the batches are those that the ranks would have. */
static void check_accumulate(size_t images)
{
    static const struct {
        int ranks;
        size_t batches;
    } others[] = {{1, 4}, {2, 2}};
    train_job job;
    training_book *four = make(&job, images, 4, 1);
    ASSERT_RIGHT(training_run(&job, 4));
    train_job_free(&job);
    for (int i = job_is_quick(); i < 2; i++) {
        training_book *book = make(&job, images, others[i].ranks, others[i].batches);
        ASSERT_RIGHT(training_run(&job, others[i].ranks));
        cr_assert(book->steps[0] == four->steps[0], "%d steps, not %d", book->steps[0], four->steps[0]);
        for (int s = 0; s < four->steps[0]; s++) {
            double difference = training_difference(&job, four->page[0][s].gradients, book->page[0][s].gradients);
            cr_assert(difference < 1e-6, "%zu images, %d x %zu: step %d differs by %g", images, others[i].ranks,
                      others[i].batches, s + 1, difference);
        }
        train_job_free(&job);
    }
}

Test(accumulate, is_as_so_many_times_the_ranks)
{
    check_accumulate(24);
}

/* The last step has fewer images: some batches are not full, some have none. */
Test(accumulate, with_a_last_step_that_is_not_full)
{
    check_accumulate(29);
    check_accumulate(14);
}

static p2p_err counting(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int *calls = arg;
    if (p2p_rank(comm) == 0) ++*calls;
    return ring_all_reduce(comm, buf, count, dtype, op);
}

Test(accumulate, does_not_sync_in_between)
{
    for (size_t batches = 1; batches < 4; batches += 2) {
        train_job job;
        int *calls = job_shared(sizeof *calls);
        const train_reducer reducer = {.all_reduce = counting, .arg = calls};
        training_book *book = make(&job, 36, 2, batches);
        job.reducer = &reducer;
        ASSERT_RIGHT(training_run(&job, 2));
        cr_assert(book->steps[0] == (batches == 1 ? 12 : 4) && *calls == book->steps[0], "%d all-reduces in %d steps",
                  *calls, book->steps[0]);
        train_job_free(&job);
    }
}

/* ---- Clipping ---- */

/* torch.nn.utils.clip_grad_norm_ of the numbers 1 to 5, with 2: PyTorch 1.13. */
static int clip_rank(p2p_comm *world, void *arg)
{
    static const double want[] = {0.269679904, 0.539359808, 0.809039712, 1.07871962, 1.34839952};
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 4};
    train_job *job = arg;
    train_network *network;
    train_error error = {""};
    double norm;
    (void)world;
    CHECK(!train_network_open(job->model, &options, &network, &error), "%s", error.text);
    float *gradients = train_map(network, TRAIN_GRADIENTS, &error);
    for (int i = 0; i < 5; i++) gradients[i * 40] = (float)(i + 1);
    train_flush(network, TRAIN_GRADIENTS, &error);
    CHECK(!train_clip(network, 0, &norm, &error) && !train_clip(network, 8, &norm, &error), "%s", error.text);
    CHECK(fabs(norm - 7.416198253631592) < 1e-6, "norm %.9g", norm);
    gradients = train_map(network, TRAIN_GRADIENTS, &error);
    for (int i = 0; i < 5; i++) CHECK(gradients[i * 40] == (float)(i + 1), "clipped, and was short enough");
    CHECK(!train_clip(network, 2, &norm, &error), "%s", error.text);
    gradients = train_map(network, TRAIN_GRADIENTS, &error);
    for (int i = 0; i < 5; i++)
        CHECK(fabs((double)gradients[i * 40] - want[i]) < 1e-6 * want[i], "%.9g", (double)gradients[i * 40]);
    train_network_close(network);
    return 0;
}

Test(clip, is_pytorchs)
{
    static training_book unused;
    train_job job;
    training_make(&job, &unused, 8, 2);
    ASSERT_RIGHT(job_right(1, NULL, clip_rank, &job));
    train_job_free(&job);
}

/* The norm is that of all ranks' gradients together, so a step with half the images on each rank is clipped alike. */
Test(clip, takes_the_norm_of_all_ranks)
{
    uint32_t weights[2];
    for (int clipped = 0; clipped < 2; clipped++) {
        train_job job;
        training_book *book = make(&job, 24, 2, 1);
        job.settings.lr = 0.1f;
        job.settings.optimizer = KERNEL_SGD;
        job.settings.clip = clipped ? 0.01f : 1e6f;
        ASSERT_RIGHT(training_run(&job, 2));
        cr_assert(book->page[0][3].weights == book->page[1][3].weights, "the ranks have different weights");
        weights[clipped] = book->page[0][0].weights;
        train_job_free(&job);
    }
    cr_assert(weights[0] != weights[1], "nothing was clipped");
}

/* ---- Smoothed labels, Nesterov ---- */

/* The gradient of the last layer's bias is the mean of what the network says of a class less what the labels say, and
 * smoothing moves the labels alone. All images are in one step. */
Test(label_smoothing, moves_the_labels)
{
    enum { IMAGES = 12 };
    const float smoothing = 0.2f;
    double bias[2][TRAIN_CLASSES], share[TRAIN_CLASSES] = {0};
    for (int smooth = 0; smooth < 2; smooth++) {
        train_job job;
        training_book *book = make(&job, IMAGES, 2, 2);
        job.settings.label_smoothing = smooth ? smoothing : 0;
        ASSERT_RIGHT(training_run(&job, 2));
        const float *end = book->page[0][0].gradients + job.model->parameters;
        for (int k = 0; k < TRAIN_CLASSES; k++) bias[smooth][k] = (double)end[k - TRAIN_CLASSES];
        for (size_t i = 0; i < IMAGES && !smooth; i++) share[train_label(&job.data.train, i)] += 1.0 / IMAGES;
        train_job_free(&job);
    }
    for (int k = 0; k < TRAIN_CLASSES; k++) {
        double moved = bias[1][k] - bias[0][k], want = (double)smoothing * (share[k] - 1.0 / TRAIN_CLASSES);
        cr_assert(fabs(moved - want) < 1e-6, "class %d: %.9g, not %.9g", k, moved, want);
    }
}

Test(nesterov, is_what_the_settings_ask_for)
{
    uint32_t weights[2];
    for (int nesterov = 0; nesterov < 2; nesterov++) {
        train_job job;
        training_book *book = make(&job, 12, 2, 1);
        job.settings.lr = 0.1f;
        job.settings.optimizer = KERNEL_SGD;
        job.settings.nesterov = nesterov;
        ASSERT_RIGHT(training_run(&job, 2));
        weights[nesterov] = book->page[0][0].weights;
        train_job_free(&job);
    }
    cr_assert(weights[0] != weights[1]);
}
