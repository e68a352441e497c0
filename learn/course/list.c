/* SPDX-License-Identifier: MIT */
/* learn list: the board, without running anything. */
#include "learn/course/commands.h"

int learn_command_list(int argc, char **argv)
{
    static const learn_usage usage = {
        .what = "Show the board: which exercises are done, begun, not started, and what comes next. Nothing is run; an "
                "exercise is done if its files are as they were when it last passed.",
        .may_lack = true};
    learn_call call;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    learn_board(stdout);
    return 0;
}
