/* SPDX-License-Identifier: MIT */
/*
 * late: in a world with a virtual network, all ranks of a case begin at the same virtual moment, or some of them later.
 * Computing is what takes time there without a message.
 */
#ifndef PAIRWISE_TESTS_EXERCISES_LATE_H
#define PAIRWISE_TESTS_EXERCISES_LATE_H

#include "p2p/p2p_layer.h"
#include "tests/exercises/check.h"

/* Let this rank compute until that virtual second, at the 10 GB/s that all networks have unless they say otherwise. */
static inline void late_until(p2p_comm *comm, double moment)
{
    double wait = moment - p2p_time(comm);
    if (wait > 0) p2p_layer_compute(comm, (size_t)(wait * 10e9 + 0.5));
}

/* The moment a case begins: long after everything of the case before has ended. */
static inline double late_moment(const check_case *c)
{
    return 1000.0 * (c->number + 1);
}

#endif
