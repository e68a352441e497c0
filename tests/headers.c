/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * headers: each public header compiles alone, without a warning, in the first and in a late standard of C and of C++;
 * and a C++ program that uses them links and runs.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/util/suite.h"

#define WARNINGS "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZERS "-fsanitize=address,undefined"
#else
#define SANITIZERS ""
#endif

static bool have(const char *compiler)
{
    char command[100];
    process_result result;

    snprintf(command, sizeof command, "command -v %s", compiler);
    shell_run(command, NULL, &result);
    bool found = result.status == 0;
    process_free(&result);
    return found;
}

static void compile_alone(const char *compiler, const char *language, const char *standard)
{
    char command[600];
    process_result result;

    snprintf(command, sizeof command,
             "for header in p2p/p2p.h p2p/p2p_layer.h dtype/dtype.h collectives/collectives.h ring/ring.h "
             "kernels/kernels.h trainer/trainer.h; do echo \"#include \\\"$header\\\"\" | "
             "%s -I. -x%s -std=%s " WARNINGS " -fsyntax-only - || exit 1; done",
             compiler, language, standard);
    shell_run(command, NULL, &result);
    cr_assert(result.status == 0, "%s -std=%s:\n%.3000s", compiler, standard, result.err);
    process_free(&result);
}

Test(headers, alone_in_c)
{
    static const char *const compilers[] = {"gcc", "clang"};

    if (!have("gcc") && !have("clang")) cr_skip_test("neither gcc nor clang is installed");
    for (int i = 0; i < 2; i++) {
        if (!have(compilers[i])) continue;
        compile_alone(compilers[i], "c", "c11");
        compile_alone(compilers[i], "c", "c17");
    }
}

Test(headers, alone_in_cplusplus)
{
    static const char *const compilers[] = {"g++", "clang++"};

    if (!have("g++") && !have("clang++")) cr_skip_test("there is no C++ compiler (package g++)");
    for (int i = 0; i < 2; i++) {
        if (!have(compilers[i])) continue;
        compile_alone(compilers[i], "c++", "c++11");
        compile_alone(compilers[i], "c++", "c++20");
    }
}

Test(headers, a_cplusplus_program_runs)
{
    char program[] = "/tmp/pairwise.XXXXXX", command[1000];
    process_result result;

    if (!have("g++")) cr_skip_test("g++ is not installed (package g++)");
    int fd = mkstemp(program);
    cr_assert(fd >= 0, "no file in /tmp");
    close(fd);
    snprintf(command, sizeof command,
             "g++ -std=c++11 " WARNINGS " " SANITIZERS " -I. tests/right/cplusplus.cpp %s/libpairwise.a -o %s && "
             "$L -n 3 %s",
             process_build_folder(), program, program);
    shell_run(command, NULL, &result);
    unlink(program);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "3 ranks: messages, requests, collectives and a layer are right");
    process_free(&result);
}

/* One version: in the header, in what programs say, and in what is installed. */
Test(headers, version_is_the_programs)
{
    char said[60];
    process_result result;

    snprintf(said, sizeof said, "%d.%d.%d", PAIRWISE_VERSION_NUMBER / 10000, PAIRWISE_VERSION_NUMBER / 100 % 100,
             PAIRWISE_VERSION_NUMBER % 100);
    cr_expect_str_eq(PAIRWISE_VERSION, said);
    snprintf(said, sizeof said, "Pairwise %s, build ", PAIRWISE_VERSION);
    shell_run("$L --version", NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_expect(strncmp(result.out, said, strlen(said)) == 0, "%s", result.out);
    process_free(&result);
}
