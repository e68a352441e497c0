/* SPDX-License-Identifier: MIT */
/*
 * one_host: suites and faults run unchanged on several hosts, where messages say of each rank on which: " on host 1 (name)". Here
 * is what would be said on one.
 */
#ifndef PAIRWISE_TESTS_ONE_HOST_H
#define PAIRWISE_TESTS_ONE_HOST_H

/* Takes the hosts out of a text, in place, and returns it. */
char *one_host(char *text);

#endif
