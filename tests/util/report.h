/* SPDX-License-Identifier: MIT */
/* What a run reported (launch --report, docs/reports.md), in a form that tests can compare. */
#ifndef PAIRWISE_TESTS_REPORT_H
#define PAIRWISE_TESTS_REPORT_H

/*
 * The file as lines: "status 1", then for each finding its class, reason or argument and ranks, and a line for each
 * place; what is not known is left out. To be freed; if it is no report, says why instead.
 *
 *      status 1
 *      deadlock/tag [0,1]
 *      0 waits p2p_recv a.c:19 for [1]
 *      1 message from 0 tag 7 4 bytes
 */
char *report_lines(const char *path);

/* What to try, of the first finding, to be freed; NULL if it says nothing. */
char *report_advice(const char *path);

#endif
