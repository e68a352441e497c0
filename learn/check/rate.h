/* SPDX-License-Identifier: MIT */
/* rate: what learn and bench/rate.c agree on. */
#ifndef PAIRWISE_LEARN_RATE_H
#define PAIRWISE_LEARN_RATE_H

#define RATE_WORKS "the device works" /* is printed first, once this machine's device has run the solution */
#define RATE_ENOUGH 0.8               /* of the solution's speed: all points */

#endif
