/* SPDX-License-Identifier: MIT */
#ifndef PAIRWISE_TRAINER_OPTIONS_H
#define PAIRWISE_TRAINER_OPTIONS_H

#include "trainer/trainer.h"

/* The settings that the command line asks for; if it is wrong, ends the program with status 2 and a message. */
train_settings train__options(int argc, char *argv[]);

#endif
