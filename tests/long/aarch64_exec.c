/* SPDX-License-Identifier: MIT */
/*
 * aarch64_exec: linked with programs for aarch64 that run under qemu-user, which starts other programs as they are:
 * those for aarch64 are started under qemu-user as well. Unless the kernel knows how to (binfmt_misc), which not every
 * machine can be told.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QEMU "/usr/bin/qemu-aarch64"

static int is_ours(const char *path)
{
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t got = read(fd, &header, sizeof header);
    close(fd);
    return got == sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_AARCH64;
}

int execve(const char *path, char *const argv[], char *const envp[])
{
    char self[4096];
    ssize_t length = strcmp(path, "/proc/self/exe") == 0 ? readlink(path, self, sizeof self - 1) : 0;
    if (length > 0) self[length] = '\0', path = self;
    if (!is_ours(path)) return (int)syscall(SYS_execve, path, argv, envp);
    size_t count = 0;
    while (argv[count]) count++;
    const char **words = calloc(count + 6, sizeof *words);
    if (!words) return -1;
    const char *const first[] = {QEMU, "-0", argv[0], path};
    memcpy(words, first, sizeof first);
    for (size_t i = 1; i < count; i++) words[3 + i] = argv[i];
    return (int)syscall(SYS_execve, QEMU, words, envp);
}

int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

int execvp(const char *file, char *const argv[])
{
    const char *path = getenv("PATH");
    char all[4096], full[8300], *rest = all, *folder;
    if (strchr(file, '/')) return execve(file, argv, environ);
    snprintf(all, sizeof all, "%s", path ? path : "/usr/bin:/bin");
    while ((folder = strsep(&rest, ":"))) {
        snprintf(full, sizeof full, "%s/%s", folder, file);
        if (access(full, X_OK) == 0) return execve(full, argv, environ);
    }
    errno = ENOENT;
    return -1;
}
