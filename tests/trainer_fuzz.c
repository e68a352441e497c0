/* SPDX-License-Identifier: MIT */
// worlds: last
/* trainer_fuzz: as fuzz, for the readers of the trainer and of compiled kernels. Needs no device. */
#include "tests/fuzz/fuzz.h"

#include "tests/fuzz/corpus.h"

Test(corpus, of_safetensors)
{
    run_corpus("safetensors", fuzz_safetensors);
}

Test(corpus, of_checkpoints)
{
    run_corpus("resume", fuzz_resume);
}

Test(corpus, of_images)
{
    run_corpus("cifar", fuzz_cifar);
}

Test(corpus, of_compiled_kernels)
{
    run_corpus("cache", fuzz_cache);
}
