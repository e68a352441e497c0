/* SPDX-License-Identifier: MIT */
/*
 * job: run ranks from a test and learn what went wrong in words.
 *
 * The ranks never meet the test framework: a rank function returns 0 when all was right, or complains (complaint.h).
 *
 *      job_run       p2p_launch in a forked child, output caught
 *      job_matrix    the same function for 1, 2, 3, 4, 5, 7 and 8 ranks (quick: 1, 2, 3, 5, 8), buffered and strict: NULL, or
 *                    what was wrong
 */
#ifndef PAIRWISE_TESTS_JOB_H
#define PAIRWISE_TESTS_JOB_H

#include "tests/util/complaint.h"
#include "tests/util/process.h"

typedef int (*job_main)(p2p_comm *world, void *arg);

typedef struct {
    p2p_err err;     /* what p2p_launch returned */
    int exit_status; /* from its options */
    int statuses[P2P_MAX_RANKS];
    char note[1024]; /* of the first rank that failed a check; "" if none did */
    process_result process;
} job_result;

/* `make test` takes samples of long sweeps (QUICK=1); everything else, test-all too, runs them whole. */
bool job_is_quick(void);

/* How many times longer than anywhere else a test may take: TEST_PATIENCE, for machines that are emulated. */
int job_patience(void);

/* In a sweep over numbers of ranks, the one after n: the next; in a sample the next of 1, 2, 3, 5, 8, 16, 32, 64. */
int job_next_size(int n);

/* options may be NULL; rank_statuses is filled in. Free the result with job_free. */
void job_run(int size, const p2p_options *options, job_main rank_main, void *arg, job_result *result);
void job_free(job_result *result);

/* Run and expect success of everything: NULL, or a text that says what was wrong (valid until the next call). */
const char *job_right(int size, bool strict, job_main rank_main, void *arg);

/* job_right for several sizes, in one mode or in both. */
const char *job_matrix(job_main rank_main, void *arg);
const char *job_sizes(const int *sizes, size_t count, bool buffered, bool strict, job_main rank_main, void *arg);

/* Was this job started strict? For rank functions. */
bool job_is_strict(void);

/* Memory that ranks and test share, zeroed; lives as long as the test. */
void *job_shared(size_t bytes);

/* ---- In a rank ---- */

/* This rank's neighbours, in a circle of all. */
int left_of(p2p_comm *comm);
int right_of(p2p_comm *comm);

/* Is `got` what (source, dest, tag, bytes) makes? For received messages, status included. */
int job_check_message(const void *buf, const p2p_status *status, int source, int dest, int tag, size_t bytes);

#endif
