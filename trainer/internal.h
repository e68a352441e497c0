/* SPDX-License-Identifier: MIT */
/* internal: what the files of the trainer share. */
#ifndef PAIRWISE_TRAINER_INTERNAL_H
#define PAIRWISE_TRAINER_INTERNAL_H

#include "trainer/trainer.h"

/* Say what went wrong, if anybody wants to know, and return err. */
p2p_err train__fail(train_error *error, p2p_err err, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
