/* SPDX-License-Identifier: MIT */
#include "tests/util/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

char test_folder[200];

void make_test_folder(void)
{
    const char *where = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/pairwise-XXXXXX", where ? where : "/tmp");
    if (!mkdtemp(test_folder)) abort();
}

static int remove_one(const char *path, const struct stat *is, int flag, struct FTW *place)
{
    (void)is;
    (void)flag;
    (void)place;
    return remove(path);
}

void remove_test_folder(void)
{
    nftw(test_folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *in_folder(const char *name)
{
    static char paths[4][400];
    static int next;
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", test_folder, name);
    return paths[next];
}
