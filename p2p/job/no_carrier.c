/* SPDX-License-Identifier: MIT */
/* A program that is linked with a carrier (mpi/carrier.c) does not take this out of the library. */
#include "p2p/job/carrier.h"

const p2p_carrier *const p2p__carrier = NULL;
