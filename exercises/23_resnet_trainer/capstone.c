/* SPDX-License-Identifier: MIT */
/*
 * capstone: build/train, with your four functions in the place of the library's. Nothing to write here; `make capstone`
 * builds it and runs it beside build/train. It takes the same options: build/capstone --help.
 */
#include "exercises/exercises.h"

int main(int argc, char **argv)
{
    static const train_parallel mine = {my_first_weights, my_share_of_images, my_gradient_sum, my_whole_score};

    return train_program(argc, argv, &mine);
}
