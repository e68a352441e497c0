/* SPDX-License-Identifier: MIT */
/*
 * trace_job: the supervisor's part of a trace: how the job ended, and the file. The ranks' events are read when all of
 * them have ended, whatever they ended by.
 */
#ifndef PAIRWISE_P2P_TRACE_JOB_H
#define PAIRWISE_P2P_TRACE_JOB_H

#include "p2p/job/launch.h"
#include "p2p/trace/trace_json.h"

/* For a job that is traced; a job without the memory for it goes on without saying how it ended. */
void p2p__trace_open(p2p_job *job);

/* When it fails: before anybody is told, so that what ranks show is what they were doing. */
void p2p__trace_deadlock(p2p_job *job, const p2p_finding *deadlock);
void p2p__trace_failed(p2p_job *job, p2p_err err, int rank, const char *text);

/* When all ranks have ended: write the file. False, and said why, if that failed. */
bool p2p__trace_close(p2p_job *job);

#endif
