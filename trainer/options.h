/* SPDX-License-Identifier: MIT */
#ifndef PAIRWISE_TRAINER_OPTIONS_H
#define PAIRWISE_TRAINER_OPTIONS_H

#include "trainer/trainer.h"

/* What the command line says; ends the program with status 2 and a sentence if it says nothing sensible. */
train_settings train__options(int argc, char *argv[]);

#endif
