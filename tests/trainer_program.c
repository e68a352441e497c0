/* SPDX-License-Identifier: MIT */
// worlds: last; plain
/*
 * trainer_program: build/train from outside: what it prints, writes, refuses, and that it goes on where it stopped. $L
 * is the launcher, and the program is built beside it; $D is the test's own folder.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/util/commands.h"
#include "trainer/safetensors.h"
#include "trainer/trainer.h"

/* A run that takes a second or two: ResNet-20, 48 built-in images, on the CPU. */
#define SMALL "${L%/launch}/train --device cpu --train-limit 48 --test-limit 20 --batch 8 "

static char *contents(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "re");
    cr_assert(file != NULL, "%s is missing", path);
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    return text;
}

static int lines_with(const char *text, const char *part)
{
    int lines = 0;
    for (; (text = strstr(text, part)); lines++) text += strcspn(text, "\n");
    return lines;
}

/* ---- Called wrongly ---- */

Test(options, that_make_no_sense_end_it_with_2_and_a_reason, .init = make_test_folder, .fini = remove_test_folder)
{
    static const struct {
        const char *arguments, *says;
    } wrong[] = {{"--data nowhere", "nowhere: No such file or directory"},
                 {"--ranks 0", "--ranks is a whole number from 1"},
                 {"--ranks x", "not \"x\""},
                 {"--batch -3", "--batch"},
                 {"--model resnet19", "there are resnet20, resnet18, resnet34"},
                 {"--optimizer magic", "adamw, adam, sgd, rmsprop"},
                 {"--all-reduce some", "naive, tree, recursive-doubling, ring, auto, none"},
                 {"--all-reduce naive --overlap 1", "ring only"},
                 {"--bucket 25X", "25M"},
                 {"--overlap 2", "0 or 1"},
                 {"--lr nan", "--lr"},
                 {"--lr -1", "--lr is a number from 0 to 1000, such as 1e-3, not \"-1\""},
                 {"--lr 1e99", "--lr is a number from 0 to 1000"},
                 {"--lr 1e-60", "--lr is a number from 0 to 1000"},
                 {"--lr inf", "--lr is a number from 0 to 1000"},
                 {"--weight-decay 1e4", "--weight-decay is a number from 0 to 1000"},
                 {"--weight-decay ''", "--weight-decay is a number from 0 to 1000"},
                 {"--momentum 2", "--momentum is a number from 0 to less than 1,"},
                 {"--momentum 1", "--momentum is a number from 0 to less than 1,"},
                 {"--momentum 0.99999999999", "--momentum is a number from 0 to less than 1,"},
                 {"--save-every 0", "--save-every is a number of steps or epochs from 1"},
                 {"--save-every 3days", "--save-every is a number of steps or epochs from 1"},
                 {"--steps 99999999999999999999", "--steps is a whole number from 1"},
                 {"--bucket 99999999999G", "--bucket is a size"},
                 {"--device tpu", "\"tpu\" is no device"},
                 {"--device gpu:999", "--device: there is no gpu:999: there are "},
                 {"--device cpu,cpu:7", "--device: there is no cpu:7: there are "},
                 {"--device cpu,cpu,cpu --ranks 2", "3 devices for 2 ranks"},
                 {"--steps 0", "--steps"},
                 {"--init $D/missing/file", "No such file"},
                 {"--init $D/missing/file", "try: a file that --save"},
                 {"--resume $D/missing", "No such file"},
                 {"--resume $D/missing", "try: the folder that --out named"},
                 {"--wire f8", "there are f32, f16, bf16"},
                 {"--wire i32", "f32, f16 or bf16"},
                 {"--compress powersgd:0", "a whole number from 1"},
                 {"--compress topk:2", "from above 0 to 1"},
                 {"--compress lzma:9", "powersgd:RANK or topk:SHARE"},
                 {"--compress topk:0.1 --wire f16", "one of them"},
                 {"--all-reduce none --wire f16", "--all-reduce none"},
                 {"--schedule linear", "--schedule is constant, cosine, onecycle, or step: and"},
                 {"--schedule step:", "not \"step:\""},
                 {"--schedule step:3,2", "epochs that ascend"},
                 {"--schedule onecycle --warmup 3", "leave --warmup out"},
                 {"--schedule cosine --steps 5 --warmup 5", "--warmup 5: the run has 5 steps in all"},
                 {"--warmup -1", "--warmup is a whole number"},
                 {"--clip -1", "--clip is a number from 0"},
                 {"--accumulate 0", "--accumulate is a whole number from 1"},
                 {"--label-smoothing 1.5", "--label-smoothing is a number from 0 to 1"},
                 {"--nesterov", "for --optimizer sgd"},
                 {"--nesterov --optimizer sgd --momentum 0", "a --momentum above 0"},
                 {"--plot /tmp", "try: --out DIR as well"},
                 {"--init a --resume b", "--init and --resume"},
                 {"--save $D/missing/file", "/missing/"},
                 {"--save $D/missing/file", "no folder /"},
                 {"--out /proc/nowhere", "--out"},
                 {"--dump-logits /", "--dump-logits"},
                 {"--world pigeons --train-limit 2 --test-limit 2", "pigeons"},
                 {"surplus", "what is this?"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[300];
        process_result result;
        snprintf(command, sizeof command, "exec ${L%%/launch}/train %s", wrong[i].arguments);
        run(command, &result);
        ASSERT_STATUS(result, 2);
        ASSERT_CONTAINS(result.err, wrong[i].says);
        process_free(&result);
    }
}

Test(options, that_need_more_memory_than_there_is_are_refused)
{
    process_result result;
    run("exec ${L%/launch}/train --device cpu --ranks 1000 --batch 65536 --train-limit 2 --test-limit 2", &result);
    cr_assert(result.status != 0);
    ASSERT_CONTAINS(result.err, "1000 ranks need at least");
    process_free(&result);
}

Test(options, are_all_in_the_help)
{
    static const char *const all[] = {
        "--ranks",      "--world",     "--device",       "--repair",     "--shrink",
        "--model",      "--data",      "--train-limit",  "--test-limit", "--shuffle",
        "--augment",    "--seed",      "--epochs",       "--steps",      "--batch",
        "--optimizer",  "--lr",        "--weight-decay", "--momentum",   "--nesterov",
        "--schedule",   "--warmup",    "--clip",         "--accumulate", "--label-smoothing",
        "--all-reduce", "--bucket",    "--overlap",      "--wire",       "--compress",
        "--shard",      "--wrapper",   "--init",         "--save=FILE",  "--out",
        "--save-every", "--overwrite", "--resume",       "--eval-only",  "--dump-logits",
        "--timeline",   "--plot",      "--trace",        "--quiet"};
    process_result result;
    run("exec ${L%/launch}/train --help", &result);
    ASSERT_STATUS(result, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ASSERT_CONTAINS(result.out, all[i]);
    ASSERT_CONTAINS(result.out, "Devices of this machine: ");
    process_free(&result);
}

/* A device is written to, a file is replaced: of the one the file must be writable, of the other the folder. */
Test(options, ask_for_no_more_permission_than_is_needed)
{
    train_settings settings;
    train_job job;
    train_error error = {""};
    cr_assert(geteuid() != 0 || setuid(65534) == 0);
    train_defaults(&settings);
    settings.train_limit = settings.test_limit = 2;
    settings.save = settings.dump_logits = "/dev/full";
    cr_assert(train_prepare(&settings, &job, &error) == P2P_OK, "%s", error.text);
    train_job_free(&job);
    settings.save = "/dev/weights";
    cr_assert(train_prepare(&settings, &job, &error) == P2P_ERR_ARG);
    ASSERT_CONTAINS(error.text, "--save: /dev/: Permission denied");
}

/* ---- What it prints and writes ---- */

Test(output, has_a_line_a_step_and_a_line_an_evaluation, .init = make_test_folder, .fini = remove_test_folder)
{
    static const char *const step[] = {
        "\"step\":",    "\"epoch\":",  "\"examples_seen\":", "\"loss\":", "\"fwd_ms\":",   "\"bwd_ms\":",
        "\"sync_ms\":", "\"opt_ms\":", "\"images_per_s\":",  "\"lr\":",   "\"grad_norm\":"};
    static const char *const epoch[] = {"\"accuracy\":",   "\"correct\":",  "\"total\":20",
                                        "\"train_loss\":", "\"epoch_ms\":", "\"eval_ms\":"};
    must_work(SMALL "--epochs 2 --out $D");
    char *text = contents(in_folder("metrics.jsonl"));
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        if (strcmp(step[i], "\"epoch\":") != 0)
            cr_assert(lines_with(text, step[i]) == 6, "%d lines have %s:\n%s", lines_with(text, step[i]), step[i],
                      text);
    for (size_t i = 0; i < sizeof epoch / sizeof *epoch; i++)
        cr_assert(lines_with(text, epoch[i]) == 3, "%d lines have %s:\n%s", lines_with(text, epoch[i]), epoch[i], text);
    cr_assert(lines_with(text, "\"epoch\":") == 9);
    ASSERT_CONTAINS(text, "{\"step\":6,\"epoch\":2,\"examples_seen\":96,\"loss\":");
    ASSERT_CONTAINS(text, "\"train_loss\":null");
}

Test(output, shows_loss_and_accuracy_but_not_with_quiet)
{
    process_result result;
    run(SMALL "--steps 2", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "272474 parameters");
    ASSERT_CONTAINS(result.out, "before training: accuracy");
    ASSERT_CONTAINS(result.out, "step 2/2");
    ASSERT_CONTAINS(result.out, "of 20 test images");
    ASSERT_LACKS(result.out, "\r");
    process_free(&result);
    run(SMALL "--steps 1 --quiet", &result);
    ASSERT_STATUS(result, 0);
    cr_assert_str_eq(result.out, "");
    process_free(&result);
}

/* On the ranks of launchers, of two hosts: what the trainer says of itself is among the numbers of the job. */
Test(output, on_launched_ranks, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work("PAIRWISE_HOSTS=2 $L -n 2 --metrics $D/m.prom " SMALL "--steps 2 --out $D/out && "
              "grep -q '\"step\":2,' $D/out/metrics.jsonl && grep -q 'program_loss{rank=\"0\"} [0-9]' $D/m.prom && "
              "grep -q 'program_images_per_second{rank=\"0\"} [0-9]' $D/m.prom");
}

/* Lines of more than 100 bytes; every line of the trainer's is ASCII. */
static int long_lines(const char *text)
{
    int lines = 0;
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') lines += strcspn(text, "\n") > 100;
    return lines;
}

Test(output, draws_a_timeline)
{
    process_result result;
    run(SMALL "--steps 2 --timeline", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "step 2, ");
    ASSERT_CONTAINS(result.out, "  rank 1 |");
    cr_assert(lines_with(result.out, "optimiser") >= 4);
    cr_assert(long_lines(result.out) == 0, "lines of more than 100 columns:\n%s", result.out);
    process_free(&result);
}

/* Sum of what follows `key` in the lines that have all of `parts`. */
static double sum_in(const char *file, const char *const parts[], const char *key)
{
    static char line[1 << 16];
    double sum = 0;
    FILE *from = fopen(in_folder(file), "re");
    cr_assert(from != NULL, "%s is missing", file);
    while (fgets(line, sizeof line, from)) {
        bool all = true;
        for (int i = 0; parts[i]; i++) all = all && strstr(line, parts[i]);
        const char *at = all ? strstr(line, key) : NULL;
        if (at) sum += strtod(at + strlen(key), NULL);
    }
    fclose(from);
    return sum;
}

/* Milliseconds of rank 0: in a phase of the trace; by the device's own clock. */
static double traced(const char *phase)
{
    char name[40];
    snprintf(name, sizeof name, "\"name\":\"%s\"", phase);
    return 1e-3 * sum_in("t.json", (const char *const[]){name, "\"cat\":\"phase\"", "\"tid\":1,", NULL}, "\"dur\":");
}

static double measured(const char *key)
{
    return sum_in("metrics.jsonl", (const char *const[]){"\"loss\":", NULL}, key);
}

Test(output, traces_what_the_device_does, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--quiet --out $D --trace $D/t.json");
    cr_assert(measured("\"fwd_ms\":") > 0 && traced("forward") >= 0.9 * measured("\"fwd_ms\":"),
              "forward: %g ms in the trace, the device took %g", traced("forward"), measured("\"fwd_ms\":"));
    cr_assert(measured("\"bwd_ms\":") > 0 && traced("backward") >= 0.7 * measured("\"bwd_ms\":"),
              "backward: %g ms in the trace, the device took %g", traced("backward"), measured("\"bwd_ms\":"));
}

Test(output, says_loudly_that_replicas_drift)
{
    process_result result;
    run(SMALL "--steps 1 --all-reduce none --quiet", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.err, "WARNING");
    ASSERT_CONTAINS(result.err, "drift");
    process_free(&result);
}

/* ---- Weights that are saved are weights that are loaded ---- */

Test(weights, come_back_with_the_same_logits, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 3 --save $D/w.safetensors --dump-logits $D/one.csv");
    must_work(SMALL "--ranks 3 --eval-only --init $D/w.safetensors --dump-logits $D/two.csv --quiet");
    must_work("cmp $D/one.csv $D/two.csv");
    char *text = contents(in_folder("one.csv"));
    cr_assert(lines_with(text, ",") == 20);
}

Test(weights, know_how_many_batches_they_have_seen, .init = make_test_folder, .fini = remove_test_folder)
{
    train_file file;
    int64_t batches;
    must_work(SMALL "--steps 2 --save $D/two.safetensors --quiet");
    must_work(SMALL "--steps 1 --init $D/two.safetensors --save $D/three.safetensors --quiet");
    cr_assert(train__file_read(in_folder("three.safetensors"), &file, NULL) == P2P_OK);
    const train_array *counter = train__file_find(&file, "layer3.0.downsample.1.num_batches_tracked");
    cr_assert(counter && counter->end - counter->first == sizeof batches);
    memcpy(&batches, train__file_data(&file, counter), sizeof batches);
    cr_assert(batches == 3, "%d batches", (int)batches);
    train__file_free(&file);
}

/* ---- Going on ---- */

/* The arrays of two files are the same bits (their metadata need not be: it has times in it). */
static void same_arrays(const char *one, const char *two)
{
    train_file a, b;
    train_error error;
    cr_assert(train__file_read(one, &a, &error) == P2P_OK, "%s", error.text);
    cr_assert(train__file_read(two, &b, &error) == P2P_OK, "%s", error.text);
    cr_assert(a.array_count == b.array_count && a.array_count > 0);
    for (size_t i = 0; i < a.array_count; i++) {
        const train_array *x = &a.arrays[i], *y = train__file_find(&b, x->name);
        cr_assert(y && x->end - x->first == y->end - y->first, "%s", x->name);
        cr_assert(memcmp(train__file_data(&a, x), train__file_data(&b, y), x->end - x->first) == 0,
                  "%s is not the same in %s and %s", x->name, one, two);
    }
    train__file_free(&a);
    train__file_free(&b);
}

Test(resume_long, after_an_epoch_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--epochs 2 --out $D/whole");
    must_work(SMALL "--epochs 1 --out $D/half");
    must_work(SMALL "--epochs 2 --resume $D/half --out $D/half");
    same_arrays(in_folder("whole/model.safetensors"), in_folder("half/model.safetensors"));
    same_arrays(in_folder("whole/optimizer-6.safetensors"), in_folder("half/optimizer-6.safetensors"));
    must_work("test ! -e $D/half/optimizer-3.safetensors");
    cr_assert(lines_with(contents(in_folder("half/metrics.jsonl")), "\"loss\":") == 6);
}

Test(resume, in_the_middle_of_an_epoch_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 5 --optimizer rmsprop --out $D/whole");
    must_work(SMALL "--steps 2 --optimizer rmsprop --out $D/part");
    must_work(SMALL "--steps 5 --optimizer rmsprop --resume $D/part --out $D/rest");
    same_arrays(in_folder("whole/model.safetensors"), in_folder("rest/model.safetensors"));
    same_arrays(in_folder("whole/optimizer-5.safetensors"), in_folder("rest/optimizer-5.safetensors"));
    /* The score before the first step belongs to the epoch that has begun, and its end is still reported. */
    const char *metrics = contents(in_folder("rest/metrics.jsonl"));
    cr_assert(strncmp(metrics, "{\"epoch\":1,\"accuracy\":", 22) == 0, "%s", metrics);
    cr_assert_eq(lines_with(metrics, "{\"epoch\":1,"), 2);
}

/* An evaluation is no part of the run. */
/* An epoch of three steps: the third is told as that. At its end a run says where everything is. */
Test(resume, counts_on_and_says_where_files_are, .init = make_test_folder, .fini = remove_test_folder)
{
    process_result result;
    must_work(SMALL "--epochs 1 --steps 2 --out $D/run --quiet");
    run(SMALL "--epochs 1 --resume $D/run --out $D/run --save $D/weights", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "epoch 1  step 3/3");
    ASSERT_CONTAINS(result.out, "/run: metrics.jsonl, model.safetensors, optimizer-3.safetensors");
    ASSERT_CONTAINS(result.out, "weights: ");
    process_free(&result);
}

Test(resume, to_evaluate_leaves_the_run_as_it_is, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 2 --out $D/run --quiet && cp -pr $D/run $D/before");
    must_work(SMALL "--eval-only --resume $D/run --out $D/run && diff -r $D/run $D/before");
}

Test(resume, with_other_options_is_refused, .init = make_test_folder, .fini = remove_test_folder)
{
    static const char *const others[][2] = {{"--seed 4", "--seed 0, not 4"},
                                            {"--optimizer sgd", "--optimizer adamw, not sgd"},
                                            {"--augment 0", "--augment 1, not 0"},
                                            {"--train-limit 40", "48, not 40"},
                                            {"--model resnet18", "conv1.weight"}};
    must_work(SMALL "--steps 1 --out $D --quiet");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char command[300];
        process_result result;
        snprintf(command, sizeof command, "%s--resume $D %s", SMALL, others[i][0]);
        run(command, &result);
        ASSERT_STATUS(result, 2);
        ASSERT_CONTAINS(result.err, others[i][1]);
        process_free(&result);
    }
}

Test(resume, with_and_without_nesterov_are_not_the_same_run, .init = make_test_folder, .fini = remove_test_folder)
{
    process_result result;
#define SGD SMALL "--quiet --optimizer sgd "
    must_work(SGD "--steps 1 --out $D/plain");
    must_work(SGD "--steps 1 --out $D/nesterov --nesterov");
    run(SGD "--steps 2 --resume $D/plain --nesterov", &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "was made without --nesterov");
    process_free(&result);
    run(SGD "--steps 2 --resume $D/nesterov", &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "was made with --nesterov");
    process_free(&result);
    must_work(SGD "--steps 2 --resume $D/nesterov --nesterov");
}

/* A file with weights only is no checkpoint. */
Test(resume, needs_a_checkpoint, .init = make_test_folder, .fini = remove_test_folder)
{
    process_result result;
    must_work(SMALL "--steps 1 --save $D/model.safetensors --quiet");
    run(SMALL "--resume $D", &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "no checkpoint of a run");
    process_free(&result);
}

/* A run that ends in the middle goes on as if it had not. */
static void same_with(const char *recipe)
{
    setenv("O", recipe, 1);
    must_work(SMALL "--epochs 2 $O --out $D/whole --overwrite");
    must_work(SMALL "--epochs 2 $O --steps 2 --out $D/part --overwrite");
    must_work(SMALL "--epochs 2 $O --resume $D/part --out $D/part");
    same_arrays(in_folder("whole/model.safetensors"), in_folder("part/model.safetensors"));
    same_arrays(in_folder("whole/optimizer-6.safetensors"), in_folder("part/optimizer-6.safetensors"));
    must_work(
        "for r in whole part; do grep -o '\"step\".*\"epoch\":[0-9]*\\|\"lr\".*' $D/$r/metrics.jsonl >$D/$r.lr; done; "
        "cmp $D/whole.lr $D/part.lr && test -s $D/part.lr");
}

Test(resume, with_a_schedule_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    same_with("--schedule onecycle --optimizer sgd --nesterov --lr 0.1 --batch 4 --accumulate 2 --clip 0.5");
}

Test(resume_long, with_each_schedule_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    same_with("--schedule cosine --warmup 1 --label-smoothing 0.1");
    same_with("--schedule step:1 --optimizer sgd");
    same_with("--schedule onecycle");
    same_with("--warmup 4 --optimizer rmsprop");
}

Test(resume, with_another_schedule_is_refused, .init = make_test_folder, .fini = remove_test_folder)
{
    static const char *const others[][2] = {{"--epochs 2", "--schedule cosine over 2 epochs, not constant"},
                                            {"--epochs 3 --schedule cosine", "not cosine over 3 epochs"},
                                            {"--epochs 2 --schedule onecycle", "not onecycle over 2 epochs"}};
    must_work(SMALL "--epochs 2 --steps 1 --schedule cosine --out $D --quiet");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char command[300];
        process_result result;
        snprintf(command, sizeof command, "%s--resume $D %s", SMALL, others[i][0]);
        run(command, &result);
        ASSERT_STATUS(result, 2);
        ASSERT_CONTAINS(result.err, others[i][1]);
        process_free(&result);
    }
    must_work(SMALL "--eval-only --resume $D --quiet");
}

/* ---- Recipes ---- */

/* One rank with two batches and two ranks with one: loss and norm are as far apart as rounding is. */
Test(accumulate, shows_the_loss_and_the_norm_of_the_whole_step, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--ranks 2 --steps 3 --lr 0 --clip 0.5 --quiet --out $D/two");
    must_work(SMALL "--ranks 1 --accumulate 2 --steps 3 --lr 0 --clip 0.5 --quiet --out $D/one");
    must_work(
        "for r in one two; do sed -n 's/.*\"loss\":\\([^,]*\\).*\"grad_norm\":\\(.*\\)}/\\1 \\2/p' "
        "$D/$r/metrics.jsonl >$D/$r.txt; done; paste $D/one.txt $D/two.txt | LC_ALL=C awk 'function off(a, b) { return "
        "a - b > 1e-5 * b || b - a > 1e-5 * b } { n++; if (off($1, $3) || off($2, $4) || $2 <= 0) exit 1 } "
        "END { exit n != 3 }'");
}

Test(plot, draws_loss_accuracy_and_time, .init = make_test_folder, .fini = remove_test_folder)
{
    process_result result;
    run("PATH=/nowhere exec ${L%/launch}/train --out $D/run --plot $D/plots", &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "--plot needs gnuplot");
    process_free(&result);
    if (system("command -v gnuplot >/dev/null") != 0) return;
    must_work(SMALL "--epochs 1 --quiet --out $D/run --plot $D/plots/new");
    must_work("cd $D/plots/new && for p in loss accuracy time; do grep -q '<svg' $p.svg && "
              "head -c 4 $p.png | grep -q PNG || exit 1; done");
    must_work("rm $D/plots/new/*.png && " SMALL "--epochs 1 --resume $D/run --plot $D/plots/new && "
              "test -s $D/plots/new/time.png");
    must_work("sed -i -E '2s/\"(fwd_ms|bwd_ms|sync_ms|opt_ms|lr)\":[^,]*/\"\\1\":null/g' $D/run/metrics.jsonl && "
              "grep -q '\"lr\":null' $D/run/metrics.jsonl && rm $D/plots/new/* && " SMALL
              "--epochs 1 --resume $D/run --out $D/run --plot $D/plots/new && test -s $D/plots/new/loss.png");
}

/* A record has a coarse and a fine label. */
Test(cifar100, trains_and_has_100_logits, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(
        "for i in $(seq 0 19); do printf '\\1\\143' && head -c 3072 /dev/zero | tr '\\0' 'a'; done >$D/train.bin; "
        "cp $D/train.bin $D/test.bin");
    must_work(SMALL "--data $D --steps 1 --quiet --save $D/w --dump-logits $D/logits.csv");
    must_work("awk -F, '{ exit NF != 100 }' $D/logits.csv");
    process_result result;
    run(SMALL "--steps 1 --init $D/w", &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "has 100 classes, the data have 10");
    process_free(&result);
}

/* ---- A folder with a run in it ---- */

static void says(const char *command, int status, const char *words)
{
    process_result result;
    run(command, &result);
    ASSERT_STATUS(result, status);
    ASSERT_CONTAINS(result.err, words);
    process_free(&result);
}

/* What compression had not sent yet is in the checkpoint. */
static void resume_with(const char *options)
{
    setenv("O", options, 1);
    must_work(SMALL "--steps 5 $O --out $D/whole --overwrite");
    must_work(SMALL "--steps 2 $O --out $D/part --overwrite");
    must_work(SMALL "--steps 5 $O --resume $D/part --out $D/rest --overwrite");
    same_arrays(in_folder("whole/model.safetensors"), in_folder("rest/model.safetensors"));
    same_arrays(in_folder("whole/optimizer-5.safetensors"), in_folder("rest/optimizer-5.safetensors"));
}

Test(resume, with_16_bits_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    resume_with("--wire bf16");
    if (job_is_quick()) return;
    must_work(SMALL "--steps 6 --wire bf16 --ranks 3 --resume $D/rest");
    says(SMALL "--steps 6 --resume $D/rest", 0, "is dropped");
    must_work(SMALL "--steps 2 --out $D/plain");
    says(SMALL "--steps 3 --wire f16 --resume $D/plain", 0, "begins anew");
}

Test(resume_long, with_powersgd_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    resume_with("--compress powersgd:2");
}

Test(out_long, is_not_replaced_without_a_word, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 1 --out $D --quiet");
    must_work("cp $D/metrics.jsonl $D/before");
    says(SMALL "--steps 1 --out $D --quiet", 2, "--resume ");
    says(SMALL "--steps 1 --out $D/ --quiet", 2, "--overwrite");
    must_work("cmp $D/metrics.jsonl $D/before");
    must_work(SMALL "--steps 2 --out $D --overwrite --quiet");
    must_work(SMALL "--steps 3 --resume $D --out $D/. --quiet");
    cr_assert(lines_with(contents(in_folder("metrics.jsonl")), "\"loss\":") == 3);
}

/* The folder is that of another run: it says so, and touches nothing. */
Test(out, is_one_runs, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 1 --out $D/run --quiet && cp -pr $D/run $D/before");
    int folder = open(in_folder("run"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert(folder >= 0 && flock(folder, LOCK_EX) == 0);
    says(SMALL "--steps 2 --out $D/run --overwrite", 2, "another run is writing into");
    close(folder);
    must_work("diff -r $D/run $D/before");
}

/* Links that somebody has planted are replaced, not followed; files of others stay. */
Test(out, follows_no_links, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work("mkdir $D/run && echo mine >$D/mine && cp $D/mine $D/run/optimizer-3.safetensors && cd $D/run &&"
              "ln -s ../mine metrics.jsonl && ln -s ../mine .model.safetensors.new &&"
              "ln ../mine .optimizer-1.safetensors.new");
    must_work(SMALL "--steps 1 --out $D/run --overwrite --quiet");
    must_work(
        "echo mine | cmp - $D/mine && cmp $D/mine $D/run/optimizer-3.safetensors && test -f $D/run/metrics.jsonl");
    must_work("cd $D/run && mv metrics.jsonl ../m && ln -s ../m metrics.jsonl");
    says(SMALL "--steps 2 --resume $D/run --out $D/run --quiet", 1, "is a link, which is not followed");
}

/* A disk that is full: it is said, and it counts; the training goes on to its end. */
Test(out, whose_metrics_cannot_be_written_says_so, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work("mkdir $D/run && ln -s /dev/full $D/run/metrics.jsonl");
    says(SMALL "--steps 1 --out $D/run --overwrite --quiet", 1, "metrics.jsonl cannot be written: No space left");
    must_work("test -e $D/run/model.safetensors");
}

Test(resume, of_a_finished_run_says_so_and_changes_nothing, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 2 --out $D --quiet");
    must_work("cp -p $D/metrics.jsonl $D/before && cp -p $D/model.safetensors $D/weights");
    says(SMALL "--steps 2 --resume $D --out $D", 0, "is a finished run: step 2");
    if (system("command -v gnuplot >/dev/null") == 0)
        says(SMALL "--steps 3 --resume $D --plot $D/plots", 2, "is not finished");
    must_work("cmp $D/metrics.jsonl $D/before && cmp $D/model.safetensors $D/weights");
}

/* ---- Ranks that a launcher has started, and starts again ---- */

/* One is killed as soon as the first step is in metrics.jsonl: on the host of rank 0. */
Test(repair, on_launched_ranks_of_two_hosts, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 8 --out $D/whole --quiet");
    must_work(
        "PAIRWISE_HOSTS=2 $L -n 2 --repair " SMALL "--repair --steps 8 --out $D/killed --quiet & job=$!\n"
        "until grep -qs step $D/killed/metrics.jsonl || ! kill -0 $job; do sleep 0.01; done\n"
        "kill -9 $($L --ranks-of $job | head -n 1) && wait $job && grep -q '\"generation\":1' $D/killed/metrics.jsonl");
    same_arrays(in_folder("whole/model.safetensors"), in_folder("killed/model.safetensors"));
    cr_assert(lines_with(contents(in_folder("killed/metrics.jsonl")), "\"loss\":") == 8);
    says("exec $L -n 2 --repair " SMALL "--repair --steps 2 --out $D/killed", 1, "there is a run in");
    says("exec $L -n 2 --repair " SMALL "--repair --steps 9 --resume $D/killed --out $D/killed", 2,
         "another folder for --out");
    says("exec $L -n 2 " SMALL "--repair --steps 2", 2, "the launcher repairs nothing");
    /* The first process of rank 0 dies before it has looked: the next one does. */
    must_work("cp -pr $D/killed $D/before");
    says("exec $L -n 2 --repair sh -c 'mkdir $D/once 2>/dev/null && kill -9 $$; exec \"$@\"' - " SMALL
         "--repair --steps 2 --out $D/killed",
         1, "there is a run in");
    must_work("diff -r $D/killed $D/before");
}

Test(save_every_long, keeps_a_checkpoint_in_an_epoch_too, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--steps 5 --out $D/whole --quiet");
    must_work(SMALL "--steps 3 --save-every 2 --out $D/part --quiet");
    must_work(SMALL "--steps 5 --save-every 2steps --resume $D/part --out $D/part --quiet");
    same_arrays(in_folder("whole/model.safetensors"), in_folder("part/model.safetensors"));
    same_arrays(in_folder("whole/optimizer-5.safetensors"), in_folder("part/optimizer-5.safetensors"));
    must_work(SMALL "--epochs 3 --save-every 2epochs --out $D/epochs --quiet");
    must_work("test -e $D/epochs/optimizer-9.safetensors");
}

/* The signal comes when the second step has been told of; a shell has what it starts with & ignore SIGINT. */
#define SIGNALLED_WITH(launcher, signal)                                                      \
    "env --default-signal=INT " launcher SMALL "--epochs 1000 --out $D/part --quiet & p=$!; " \
    "until grep -qs '\"step\":2,' $D/part/metrics.jsonl; do sleep 0.05; done; kill -" signal "; wait $p"
#define SIGNALLED(signal) SIGNALLED_WITH("", signal)

Test(signals, end_it_saved_and_it_goes_on, .init = make_test_folder, .fini = remove_test_folder)
{
    static const char *const ways[][2] = {
        {SIGNALLED("INT $p"), "130"},
        {SIGNALLED("TERM $p"), "143"},
        {SIGNALLED("TERM $($L --ranks-of $p)"), "143"},
        {SIGNALLED_WITH("$L -n 2 ", "TERM $p"), "143"},
        {SIGNALLED_WITH("$L -n 2 ", "TERM $($L --ranks-of $p | tail -n 1)"), "143"},
        {SIGNALLED_WITH("$L -n 2 --repair ", "TERM $($L --ranks-of $p | tail -n 1)"), "143"}};
    char command[400];
    for (int i = job_is_quick() ? 2 : 0; i < 6; i += job_is_quick() ? 2 : 1) {
        train_file file;
        process_result result;
        run(ways[i][0], &result);
        ASSERT_STATUS(result, atoi(ways[i][1]));
        ASSERT_CONTAINS(result.err, "which is saved in");
        ASSERT_CONTAINS(result.err, "--resume ");
        if (i == 3) ASSERT_CONTAINS(result.err, "the ranks have 60 s to end");
        process_free(&result);
        cr_assert(train__file_read(in_folder("part/model.safetensors"), &file, NULL) == P2P_OK);
        int step = atoi(train__file_note(&file, "pairwise.step"));
        train__file_free(&file);
        cr_assert(step >= 2 && step == lines_with(contents(in_folder("part/metrics.jsonl")), "\"loss\":"));
        snprintf(command, sizeof command, "%s--steps %d --quiet --resume $D/part --out $D/part", SMALL, step + 1);
        must_work(command);
        snprintf(command, sizeof command, "%s--steps %d --quiet --out $D/whole", SMALL, step + 1);
        must_work(command);
        same_arrays(in_folder("whole/model.safetensors"), in_folder("part/model.safetensors"));
        must_work("rm -r $D/part $D/whole");
    }
}
