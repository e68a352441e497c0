/* SPDX-License-Identifier: MIT */
/*
 * rate: a kernel of exercises K1 to K5 on this machine's OpenCL device: does it build, are its results the oracle's, and
 * how fast is it beside the solution's? Both are run in turn, and medians count. build/learn calls it for an
 * exercise that has passed; it prints RATE_WORKS when the solution has run, so that what goes wrong afterwards is not the
 * device's fault, and an object of JSON:
 *
 *      {"none": "no OpenCL device: ..."}                                      nothing can be said
 *      {"build": "the compiler's log"}   {"wrong": "in which case"}           it is not right here
 *      {"device": "...", "ratio": 0.93, "speed": 22.4, "peak": 28.1, "unit": "GB/s"}
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/rate/rate.h"
#include "bench/util/options.h"
#include "learn/check/rate.h"

enum { TRIES = 3 };

static const double far_too_slow = 0.05; /* a ratio that need not be measured better than by one run */
static const double long_run = 0.1;      /* seconds; a shorter one may have waited for another program */

#define EMBED(name, file)                                                                                \
    __asm__(".pushsection .rodata\n.global rate__" #name "\nrate__" #name ":\n.incbin \"solutions/" file \
            "\"\n.byte 0\n.popsection\n");                                                               \
    extern const char rate__##name[]
EMBED(vector_add, "K1_vector_add/vector_add.cl");
EMBED(sum, "K2_sum/sum.cl");
EMBED(matmul, "K3_matmul/matmul.cl");
EMBED(conv, "K4_conv/conv.cl");
EMBED(norm, "K5_norm/norm.cl");

static const rate_kernel all[] = {
    {"K1", rate__vector_add, work_vector_add, 1e-6, 0, 1, {{{1000}, {256, 1}}, {{1}, {256, 1}}, {{1 << 22}, {256, 1}}}},
    {"K2", rate__sum, work_sum, 1e-5, 1, 1, {{{1000, 3}, {256, 1}}, {{5, 2}, {256, 1}}, {{1 << 22, 64}, {256, 1}}}},
    {"K3",
     rate__matmul,
     work_matmul,
     1e-4,
     0,
     1,
     {{{37, 51, 19}, {16, 4}}, {{1, 5, 3}, {16, 4}}, {{240, 240, 240}, {16, 4}}}},
    {"K4",
     rate__conv,
     work_conv,
     1e-4,
     0,
     1,
     {{{3, 6, 7, 9}, {16, 4}}, {{1, 1, 1, 1}, {16, 4}}, {{16, 32, 48, 48}, {16, 4}}}},
    {"K5", rate__norm, work_norm, 2e-3, 1000, 1, {{{3, 100}, {64, 1}}, {{2, 7}, {64, 1}}, {{1024, 1024}, {64, 1}}}},
};

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (!file) return NULL;
    ssize_t got = getdelim(&text, &room, '\0', file);
    fclose(file);
    return got < 0 ? NULL : text;
}

typedef struct {
    const char *words[2];
} settings;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    settings *s = state->input;
    if (key == ARGP_KEY_ARG && state->arg_num < 2)
        s->words[state->arg_num] = arg;
    else if (key == ARGP_KEY_ARG || (key == ARGP_KEY_END && state->arg_num < 2))
        argp_error(state, "an exercise, K1 to K5, and a file are wanted");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* How often theirs is done while ours is done once. */
static double measured(rate_run *it, cl_kernel theirs, cl_kernel ours)
{
    double ratio = rate__check_large(it, theirs, ours);
    if (ratio < far_too_slow && it->seconds > long_run) return ratio;
    ratio = 0;
    for (int i = 0; i < TRIES && ratio < RATE_ENOUGH; i++) { /* it may have been something else that was slow */
        double once, time = rate__measure(it, theirs, ours, &once);
        if (once > ratio) ratio = once, it->seconds = time;
    }
    return ratio;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse,
        .args_doc = "EXERCISE FILE",
        .doc = "Run a kernel of exercises K1 to K5 on this machine's OpenCL device, check its "
               "results, and measure it beside the solution's. Prints JSON."};
    settings given = {{NULL, NULL}};
    rate_run it = {.r = NULL};
    options_parse(&argp, argc, argv, &given);
    for (size_t i = 0; i < COUNT(all); i++)
        if (strcmp(all[i].name, given.words[0]) == 0) it.r = &all[i];
    char *source = text_of(given.words[1]);
    if (!it.r || !source) {
        fprintf(stderr, "rate: %s\n", it.r ? "the file cannot be read" : "exercises are K1 to K5");
        return 2;
    }
    if (!rate__keep_output()) return 1;
    if (kernel_open(NULL, 0, &it.device)) rate__end_with("none", kernel_error_message(NULL));
    const char *name = it.r->describe(it.r->sizes[0].n, it.r->sizes[0].group).kernel;
    cl_kernel ours = rate__kernel(it.device, it.r->ours, name, "none");
    rate__check(&it, ours, &it.r->sizes[0]);
    fprintf(rate__said, "%s\n", RATE_WORKS);
    fflush(rate__said);
    cl_kernel theirs = rate__kernel(it.device, source, name, "build");
    for (int i = 0; i + 1 < RATE_CASES; i++) rate__check(&it, theirs, &it.r->sizes[i]);
    rate__begin(&it, &it.r->sizes[RATE_CASES - 1]);
    double ratio = measured(&it, theirs, ours), amount = it.w.bytes + it.w.operations;
    double peak = it.w.bytes > 0 ? rate__peak_of_memory(it.device) : rate__peak_of_sums(it.device);
    fprintf(rate__said, "{\"device\": \"%s\", \"ratio\": %.8f, \"speed\": %.8f, \"peak\": %.3f, \"unit\": \"%s\"}\n",
            it.device->info.name, ratio, amount / it.seconds * 1e-9, fmax(peak, amount / it.seconds) * 1e-9,
            it.w.bytes > 0 ? "GB/s" : "GFLOP/s");
    fflush(rate__said);
    _exit(0);
}
