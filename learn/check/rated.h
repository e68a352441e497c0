/* SPDX-License-Identifier: MIT */
/* rated: a kernel on a real device, beside the solution's: what was found (rated.c), for rate.c to put into words. */
#ifndef PAIRWISE_LEARN_RATED_H
#define PAIRWISE_LEARN_RATED_H

#include "learn/check/build.h"

enum rated_as {
    RATED,       /* right: ratio, speed, peak and unit are set */
    RATED_NONE,  /* nothing can be said, and words say why; it is not the kernel's fault */
    RATED_BUILD, /* the device's compiler does not take it: words are its log */
    RATED_WRONG, /* words say in which case, or which call of OpenCL failed */
    RATED_LATE,
    RATED_DEAD /* the process that ran it ended */
};

typedef struct {
    enum rated_as as;
    char *words; /* never NULL; free it */
    double ratio, speed, peak;
    const char *unit;
} rated;

/* source: the learner's file. Both run in processes of their own, confined as options say; what they have computed is judged
 * here, of data that were not known before. */
void learn_rate_beside(const learn_exercise *e, const char *source, const learn_options *options, rated *found);

#endif
