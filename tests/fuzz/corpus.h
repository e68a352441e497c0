/* SPDX-License-Identifier: MIT */
/* corpus: gives files to a reader. For test bodies. */
#ifndef PAIRWISE_TESTS_FUZZ_CORPUS_H
#define PAIRWISE_TESTS_FUZZ_CORPUS_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/util/suite.h"

typedef int fuzz_reader(const uint8_t *bytes, size_t count);

/* As large as the file, so that a sanitizer sees every step too far. */
static void give_file(const char *path, fuzz_reader *reader)
{
    uint8_t some[20000];
    FILE *file = fopen(path, "re");
    cr_assert(file != NULL, "%s", path);
    size_t count = fread(some, 1, sizeof some, file);
    fclose(file);
    uint8_t *bytes = malloc(count ? count : 1);
    memcpy(bytes, some, count);
    reader(bytes, count);
    free(bytes);
}

/* Every file of tests/fuzz/corpus/NAME, and nothing at all. */
static inline void run_corpus(const char *name, fuzz_reader *reader)
{
    glob_t files;
    char pattern[100];
    snprintf(pattern, sizeof pattern, "tests/fuzz/corpus/%s/*", name);
    cr_assert(glob(pattern, 0, NULL, &files) == 0, "no file is in %s", pattern);
    for (size_t i = 0; i < files.gl_pathc; i++) give_file(files.gl_pathv[i], reader);
    globfree(&files);
    reader((const uint8_t *)"", 0);
}

#endif
