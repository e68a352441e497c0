/* SPDX-License-Identifier: MIT */
/*
 * capstone: build/train, with your four functions in the place of the library's. Nothing to write here; `make capstone`
 * builds it and runs it beside build/train. It takes the same options: build/capstone --help.
 */
#include "exercises/exercises.h"
#include "trainer/trainer.h"

static p2p_err whole_score(p2p_comm *comm, train_score *score)
{
    my_score mine = {score->loss, (int64_t)score->correct, (int64_t)score->total};
    p2p_err err = my_whole_score(comm, &mine);

    if (!err) *score = (train_score){mine.loss, (uint64_t)mine.correct, (uint64_t)mine.total};
    return err;
}

int main(int argc, char **argv)
{
    static const train_parallel mine = {my_first_weights, my_share_of_images, my_gradient_sum, whole_score};

    return train_program(argc, argv, &mine);
}
