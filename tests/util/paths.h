/* SPDX-License-Identifier: MIT */
/* One test for each file of a folder. In a header, for only suites are linked with Criterion, and faultlab is not. */
#ifndef PAIRWISE_TESTS_PATHS_H
#define PAIRWISE_TESTS_PATHS_H

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdio.h>

typedef struct {
    char text[128];
} test_path;

/* Parameters for a ParameterizedTest(test_path *path, ...): the files that match a pattern; none if there are none. */
static inline struct criterion_test_params test_paths(const char *pattern)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0) found.gl_pathc = 0;
    test_path *paths = cr_calloc(found.gl_pathc + 1, sizeof *paths);
    for (size_t i = 0; i < found.gl_pathc; i++) snprintf(paths[i].text, sizeof paths[i].text, "%s", found.gl_pathv[i]);
    size_t count = found.gl_pathc;
    if (count) globfree(&found);
    return cr_make_param_array(test_path, paths, count);
}

#endif
