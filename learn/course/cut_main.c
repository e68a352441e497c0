/* SPDX-License-Identifier: MIT */
/* learn cut: print the stub of a solution, or write all stubs of an exercise that is not begun. */
#include "learn/course/commands.h"

static bool cut_file(const learn_exercise *e, const char *file, bool write)
{
    OWNED_TEXT why = {0};
    OWNED char *stub = learn_stub(e, file, &why);
    if (stub && !write) fputs(stub, stdout);
    if (stub && write) learn_put_stub(e, file, stub, &why);
    if (why.used) fprintf(stderr, "learn cut: %s\n", learn_string(&why));
    return !why.used;
}

int learn_command_cut(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Print the stub that is cut from a solution; EXERCISE may be all.",
                                      .takes_all = true,
                                      .flag = "write",
                                      .flag_key = 'w',
                                      .flag_what = "write it to exercises/NN_name/, over whatever is there"};
    learn_call call = {0};
    bool good = true;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    for (const learn_exercise *e = learn_course(NULL); e->check; e++)
        for (const char *const *file = e->check->files; *file && (!call.e || call.e == e); file++)
            good = cut_file(e, *file, call.flag) && good;
    return good ? 0 : 1;
}
