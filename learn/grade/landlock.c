/* SPDX-License-Identifier: MIT */
/*
 * Landlock: a process gives up the right to open what is not on its list; needs no rights and no namespaces, but Linux 5.13.
 * The list is that of jail.c. Unlike there, names can be seen; what they hold cannot.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"

#if __has_include(<linux/landlock.h>) && defined(SYS_landlock_create_ruleset)
#include <linux/landlock.h>

/* Everything the first version knows; what later ones added is not needed to hide files. */
enum { ALL = (1 << 13) - 1 };
enum { READ = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR };
enum { ON_FILES = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE };

bool learn_landlock_there(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

/* What is not there is not missed. */
static bool allow(int ruleset, const char *path, unsigned access)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT;
    int as_folder = openat(fd, ".", O_PATH | O_CLOEXEC);
    if (as_folder >= 0) close(as_folder);
    struct landlock_path_beneath_attr rule = {.allowed_access = as_folder < 0 ? access & ON_FILES : access,
                                              .parent_fd = fd};
    bool good = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(fd);
    return good;
}

static bool allow_all(int ruleset, char *const *paths, unsigned access)
{
    for (; *paths; paths++)
        if (!allow(ruleset, *paths, access)) return false;
    return true;
}

bool learn_landlock(const learn_sandbox *box, enum learn_step step)
{
    struct landlock_ruleset_attr attributes = {.handled_access_fs = ALL};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (ruleset < 0) return false;
    OWNED char *tmp = learn_format("%s/tmp", box->place);
    bool writes = learn_step_writes(step); /* of all others nothing would bound how much is written */
    bool good = true, all = false;
    for (size_t i = 0; good && !all; i++) {
        OWNED char *need = learn_step_need(step, i);
        all = !need;
        good = all || allow(ruleset, need, READ);
    }
    for (const char *const *path = learn_devices; good && *path; path++)
        good = allow(ruleset, *path, READ | LANDLOCK_ACCESS_FS_WRITE_FILE);
    good = good && allow_all(ruleset, box->system, READ) &&
           allow(ruleset, "/proc", READ | LANDLOCK_ACCESS_FS_WRITE_FILE) && allow(ruleset, box->place, READ) &&
           (!writes || (allow(ruleset, tmp, ALL) && (!*box->work || allow(ruleset, box->work, ALL)))) &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return good;
}

#else

bool learn_landlock_there(void)
{
    return false;
}

bool learn_landlock(const learn_sandbox *box, enum learn_step step)
{
    (void)box, (void)step;
    errno = ENOSYS;
    return false;
}

#endif
