/* SPDX-License-Identifier: MIT */
/*
 * A file system with nothing in it but what one step of one submission needs. Made anew in every process that is confined,
 * in a mount namespace that ends with it: nothing has to be cleaned up.
 *
 *      /usr /bin /lib* ...    as they are, read only: the compiler, the C library
 *      /dev                   null zero full random urandom
 *      /proc                  of the submission's own processes
 *      /tmp                   empty, in memory, bounded
 *      the checkout           only what the step needs, read only, where it always is
 *      the check's place      its own files and the work folder, read only; compiler and linker may write to the latter
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"

const char *const learn_devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", NULL};

bool learn_step_writes(enum learn_step step)
{
    return step == LEARN_COMPILE || step == LEARN_LINK;
}

char *learn_step_need(enum learn_step step, size_t number)
{
    static const char *const needs[][12] = {
        [LEARN_COMPILE] = {"exercises/exercises.h", "exercises/kernels.h", "exercises/check/opencl.h", "p2p/p2p.h",
                           "p2p/p2p_layer.h", "dtype/dtype.h", "collectives/collectives.h", "ring/ring.h",
                           "trainer/trainer.h", "kernels/kernels.h"},
        [LEARN_LINK] = {"course/obj/exercises/check", "course/obj/tests/exercises", "course/uses", "course/p2p.a",
                        "course/obj/guard", "course/dtype.a", "course/collectives.a", "course/ring.a"},
        [LEARN_RUN] = {"launch"},
        [LEARN_RATE] = {"bench/rate"}};
    const char *need = needs[step][number];
    if (!need || step == LEARN_COMPILE) return need ? learn_copy(need) : NULL;
    return learn_format("%s/%s", learn_build(), need);
}

/* ---- Mounting: `path` is where a thing is and where it shall be, below the new root ---- */

/* Something to mount on: a folder or a file, as the path is. */
static bool make_target(const char *path, const char *target)
{
    struct stat s;
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return learn_make_folder(target);
    OWNED char *above = learn_copy(target);
    *strrchr(above, '/') = '\0';
    int fd = learn_make_folder(above) ? open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0644) : -1;
    bool good = fd >= 0 || access(target, F_OK) == 0;
    if (fd >= 0) close(fd);
    return good;
}

/* A user namespace may not clear what the mount it copies has set. */
static unsigned long kept_flags(const char *path)
{
    static const unsigned long pairs[][2] = {
        {ST_NOSUID, MS_NOSUID},         {ST_NODEV, MS_NODEV},       {ST_NOEXEC, MS_NOEXEC}, {ST_NOATIME, MS_NOATIME},
        {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}, {ST_RDONLY, MS_RDONLY}};
    struct statvfs s;
    unsigned long flags = 0;
    if (statvfs(path, &s) != 0) return 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (s.f_flag & pairs[i][0]) flags |= pairs[i][1];
    return flags;
}

/* With everything that is mounted below it (Linux 5.12). */
static bool make_read_only(const char *target)
{
#if defined SYS_mount_setattr && defined AT_RECURSIVE && defined MOUNT_ATTR_RDONLY
    struct mount_attr set = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
    return syscall(SYS_mount_setattr, AT_FDCWD, target, AT_RECURSIVE, &set, sizeof set) == 0;
#else
    errno = ENOSYS;
    return false;
#endif
}

static bool bind(const char *root, const char *path, bool read_only)
{
    if (access(path, F_OK) != 0) return true; /* what is not there is not missed */
    OWNED char *target = learn_format("%s%s", root, path);
    bool good = make_target(path, target) && mount(path, target, NULL, MS_BIND | MS_REC, NULL) == 0;
    if (good && read_only && !make_read_only(target)) {
        /* Where that is not known, what is mounted below is left out; a namespace of users may not leave it out. */
        unsigned long flags = MS_BIND | MS_REMOUNT | MS_NOSUID | MS_RDONLY | kept_flags(path);
        good = errno == ENOSYS && umount2(target, MNT_DETACH) == 0 && mount(path, target, NULL, MS_BIND, NULL) == 0 &&
               mount(NULL, target, NULL, flags, NULL) == 0;
    }
    return good;
}

static bool empty(const char *root, const char *path, const char *options)
{
    OWNED char *target = learn_format("%s%s", root, path);
    return learn_make_folder(target) && mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

/* What is read only may be a link, /bin to usr/bin. */
static bool bind_all(const char *root, char *const *paths, bool read_only)
{
    for (; *paths; paths++) {
        char to[LEARN_PATH] = "";
        OWNED char *target = learn_format("%s%s", root, *paths);
        bool link = read_only && readlink(*paths, to, sizeof to - 1) >= 0;
        if (link ? symlink(to, target) != 0 && errno != EEXIST : !bind(root, *paths, read_only)) return false;
    }
    return true;
}

static bool bind_devices(const char *root)
{
    bool good = true;
    for (const char *const *path = learn_devices; good && *path; path++) good = bind(root, *path, false);
    return good;
}

/* Its own processes; where that may not be mounted, the whole, in which users protect each other. */
static bool bind_proc(const char *root, const learn_means *means)
{
    OWNED char *target = learn_format("%s/proc", root);
    return learn_make_folder(target) &&
           ((means->own_processes && mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0) ||
            bind(root, "/proc", false));
}

/* ---- All of it ---- */

static bool bind_checkout(const char *root, const learn_sandbox *box, enum learn_step step)
{
    if (!empty(root, box->top, "size=1m,mode=755")) return false;
    for (size_t i = 0;; i++) {
        OWNED char *need = learn_step_need(step, i), *path = learn_format("%s/%s", box->top, need ? need : "");
        if (!need) return true;
        if (!bind(root, path, true)) return false;
    }
}

/* What was made to hold the mounts. */
static bool seal(const char *root, const learn_sandbox *box)
{
    const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
    OWNED char *top = learn_format("%s%s", root, box->top), *scratch = learn_format("%s%s", root, box->scratch);
    return mount(NULL, top, NULL, flags, NULL) == 0 && mount(NULL, scratch, NULL, flags, NULL) == 0 &&
           mount(NULL, root, NULL, flags, NULL) == 0;
}

bool learn_jail(const learn_sandbox *box, enum learn_step step)
{
    OWNED char *root = learn_format("%s/root", box->scratch);
    bool good = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755") == 0 &&
                bind_all(root, box->system, true) && bind_devices(root) && bind_proc(root, &box->means) &&
                empty(root, "/tmp", "size=256m,nr_inodes=4096,mode=1777") && bind_checkout(root, box, step) &&
                empty(root, box->scratch, "size=1m,mode=755") && bind(root, box->place, true) &&
                (!learn_step_writes(step) || !*box->work || bind(root, box->work, false)) && seal(root, box);
    /* The old root comes to lie on the new one, and is taken away. */
    return good && chdir(root) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 &&
           chdir(box->top) == 0;
}
