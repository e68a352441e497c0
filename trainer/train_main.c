/* SPDX-License-Identifier: MIT */
/* train: see trainer/program.c. */
#include "trainer/trainer.h"

int main(int argc, char *argv[])
{
    return train_program(argc, argv, NULL);
}
