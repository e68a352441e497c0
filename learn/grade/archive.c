/* SPDX-License-Identifier: MIT */
/*
 * The source files in an archive, read by libarchive in a process that can do nothing but read the archive and write to a
 * pipe: a mistake in libarchive, or an archive that unpacks to more than any disk holds, harms nothing else.
 *
 *      of each file     sizes of path and text, the path, the text
 *      exit status      enum outcome
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/check/check_filter.h"
#include "learn/grade/submission.h"

enum outcome { WHOLE, UNREADABLE, DAMAGED, TOO_LARGE, LOCKED };
enum { LAST_FD = 1024, MOST_SECONDS = 10, MOST_ENTRIES = 4096 };

/* So much is unpacked, whatever there would be. */
static const int64_t most_unpacked = INT64_C(64) << 20;

typedef struct {
    size_t path, bytes;
} heading;

/* ---- In the process that unpacks ---- */

/* The archive is descriptor 0, the pipe 1. What a submission before this one held is in memory, but cannot be told. */
static void give_up_rights(void)
{
    const struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS}, none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = 2; fd < LAST_FD; fd++) close(fd);
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__
    const struct rlimit memory = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
#ifdef ARCHITECTURE
    struct sock_filter rules[] = {
        BEGIN_FILTER,           PERMIT(SYS_read),
        PERMIT(SYS_write),      PERMIT(SYS_lseek),
        PERMIT(SYS_fstat),      PERMIT(SYS_newfstatat),
        PERMIT(SYS_brk),        PERMIT(SYS_mmap),
        PERMIT(SYS_munmap),     PERMIT(SYS_mremap),
        PERMIT(SYS_futex),      PERMIT(SYS_sigaltstack), /* the address sanitizer, before _exit */
        PERMIT(SYS_exit_group), ANSWER(SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

static void write_all(const void *bytes, size_t count)
{
    for (ssize_t wrote; count; bytes = (const char *)bytes + wrote, count -= (size_t)wrote)
        if ((wrote = write(STDOUT_FILENO, bytes, count)) <= 0) _exit(DAMAGED);
}

/* Links, folders and devices are left out. Of a file that is too large comes one byte more than is allowed. What is not
 * wanted is unpacked as well: only so is it known how much it is. */
static enum outcome unpack(struct archive *a)
{
    static char text[LEARN_HANDED_BYTES + 1];
    struct archive_entry *entry;
    int64_t unpacked = 0;
    int status, entries = 0;
    for (bool first = true; (status = archive_read_next_header(a, &entry)) != ARCHIVE_EOF; first = false) {
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return first ? UNREADABLE : DAMAGED;
        if (archive_entry_is_encrypted(entry)) return LOCKED;
        if (++entries > MOST_ENTRIES) return TOO_LARGE;
        const char *path = archive_entry_pathname(entry);
        bool wanted = path && learn_is_source(basename(path)) && strlen(path) < LEARN_PATH &&
                      archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
        la_ssize_t got = wanted ? archive_read_data(a, text, sizeof text) : 0;
        if (got < 0) return DAMAGED;
        const void *part;
        size_t bytes = (size_t)got;
        la_int64_t offset;
        do {
            unpacked += (int64_t)bytes;
            if (unpacked > most_unpacked || archive_filter_bytes(a, 0) > most_unpacked) return TOO_LARGE;
        } while ((status = archive_read_data_block(a, &part, &bytes, &offset)) == ARCHIVE_OK);
        if (status != ARCHIVE_EOF) return DAMAGED;
        if (!wanted) continue;
        const heading h = {strlen(path), (size_t)got};
        write_all(&h, sizeof h);
        write_all(path, h.path);
        write_all(text, h.bytes);
    }
    return WHOLE;
}

_Noreturn static void unpack_all(int in, int out)
{
    struct archive *a = archive_read_new();
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || !a) _exit(DAMAGED);
    setlocale(LC_CTYPE, "C.UTF-8"); /* else names in a ZIP archive that are not ASCII are lost */
    give_up_rights();
    archive_read_support_filter_gzip(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    _exit(archive_read_open_fd(a, STDIN_FILENO, 65536) == ARCHIVE_OK ? (int)unpack(a) : UNREADABLE);
}

/* ---- In the process that grades ---- */

void learn_archive_read(int in, learn_text *trouble, learn_each_file *each, void *arg)
{
    static const char *const words[] = {
        [UNREADABLE] = "The archive is empty or cannot be read. ",
        [DAMAGED] = "The archive is damaged or cut off. ",
        [TOO_LARGE] = "The archive is too large: only its beginning was read. ",
        [LOCKED] = "The archive is locked by a password. ",
    };
    int ends[2] = {-1, -1}, status = UNREADABLE << 8;
    struct stat s;
    heading h;
    /* What is no plain file might never end. */
    pid_t pid = in >= 0 && fstat(in, &s) == 0 && S_ISREG(s.st_mode) && pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid == 0) unpack_all(in, ends[1]);
    if (ends[1] >= 0) close(ends[1]);
    FILE *told = ends[0] >= 0 ? fdopen(ends[0], "rb") : NULL;
    OWNED char *text = learn_memory(LEARN_HANDED_BYTES + 1);
    char name[LEARN_PATH];
    while (told && fread(&h, sizeof h, 1, told) == 1 && h.path < sizeof name && h.bytes <= LEARN_HANDED_BYTES + 1) {
        name[h.path] = '\0';
        if (fread(name, 1, h.path, told) != h.path || fread(text, 1, h.bytes, told) != h.bytes) break;
        each(arg, name, text, h.bytes);
    }
    if (told) fclose(told);
    if (!told && ends[0] >= 0) close(ends[0]); /* else the writer would wait */
    if (pid > 0) kill(pid, SIGKILL);           /* it has ended, or said what no archive says */
    if (pid > 0) waitpid(pid, &status, 0);
    bool late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
    int outcome = WIFEXITED(status) ? WEXITSTATUS(status) : late ? TOO_LARGE : DAMAGED;
    if (outcome != WHOLE) learn_add(trouble, "%s", words[outcome <= LOCKED ? outcome : DAMAGED]);
}
