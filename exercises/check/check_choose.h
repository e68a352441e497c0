/* SPDX-License-Identifier: MIT */
/*
 * A program that holds several mutants of an exercise (learn/check/together.c) has a jump where the test calls a function of
 * theirs: registers and the stack stay as they are, whatever its arguments, and it is no frame in a stack that is printed.
 */
#ifndef PAIRWISE_EXERCISES_CHECK_CHOOSE_H
#define PAIRWISE_EXERCISES_CHECK_CHOOSE_H

#if defined __x86_64__
#define JUMP_TO(place) "jmp *" place "(%rip)\n"
#elif defined __aarch64__
#define JUMP_TO(place) "adrp x16, " place "\nldr x16, [x16, #:lo12:" place "]\nbr x16\n"
#else
#error "no jump is known for this processor: each mutant is a program of its own"
#endif

#define CHECK_JUMP(name)                                                       \
    __attribute__((used, visibility("hidden"))) void (*check_to_##name)(void); \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name      \
            ":\n" JUMP_TO("check_to_" #name) ".size " #name ", . - " #name "\n");

#endif
