/* SPDX-License-Identifier: MIT */
/* learn cut: print the stub of a solution, or write all stubs of an exercise that is not begun. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/learn.h"
#include "p2p/shared/cli.h"

typedef struct {
    const char *name;
    bool write;
} arguments;

static const struct argp_option options[] = {
    {"write", 'w', NULL, 0, "write it to exercises/NN_name/, over whatever is there", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    arguments *a = state->input;
    switch (key) {
    case 'w': a->write = true; break;
    case ARGP_KEY_ARG:
        if (a->name) argp_error(state, "one exercise at a time");
        a->name = arg;
        break;
    case ARGP_KEY_END:
        if (!a->name) argp_error(state, "which exercise? its number, name, a part of it, or \"all\"");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool cut_file(const learn_exercise *e, const char *file, bool write)
{
    learn_text why = {0};
    char path[LEARN_PATH];
    char *stub = learn_stub(e, file, &why), *folder = learn_format("exercises/%s", e->name);
    bool good = stub != NULL;
    if (!good) {
        fprintf(stderr, "learn cut: %s\n", learn_string(&why));
    } else if (!write) {
        fputs(stub, stdout);
    } else {
        good = learn_make_folder(folder) &&
               learn_write_file(learn_path(path, "exercises", e, file), stub, strlen(stub));
        if (!good) fprintf(stderr, "learn cut: %s cannot be written\n", path);
    }
    learn_text_free(&why);
    free(stub);
    free(folder);
    return good;
}

int learn_command_cut(int argc, char **argv)
{
    static const struct argp parser = {
        options, parse, "EX", "Print the stub that is cut from a solution; EX may be all.", NULL, NULL, NULL};
    arguments a = {.name = NULL};
    size_t count;
    learn_text why = {0};
    bool good = true;
    p2p__cli_parse(&parser, argc, argv, 0, &a);
    const learn_exercise *all = learn_course(&count);
    const learn_exercise *e = strcmp(a.name, "all") == 0 ? NULL : learn_find(a.name, &why);
    if (why.used) {
        fprintf(stderr, "learn cut: %s\n", learn_string(&why));
        learn_text_free(&why);
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        if (e && e != &all[i]) continue;
        for (const char *const *file = all[i].check->files; *file; file++)
            good = cut_file(&all[i], *file, a.write) && good;
    }
    return good ? 0 : 1;
}
