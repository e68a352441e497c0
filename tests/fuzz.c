/* SPDX-License-Identifier: MIT */
// worlds: each
/* fuzz: every file of the corpus of tests/fuzz, seeds and what the fuzzer found, given to its reader. */
#include "tests/fuzz/fuzz.h"

#include "tests/fuzz/corpus.h"

Test(corpus, of_settings)
{
    run_corpus("settings", fuzz_settings);
}

Test(corpus, of_traces)
{
    run_corpus("trace", fuzz_trace);
}

Test(corpus, of_submissions)
{
    run_corpus("submission", fuzz_submission);
}

Test(corpus, of_what_is_remembered_of_learners)
{
    run_corpus("state", fuzz_state);
}

Test(corpus, of_what_learners_programs_leave)
{
    run_corpus("remains", fuzz_remains);
}
