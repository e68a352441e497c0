/* SPDX-License-Identifier: MIT */
/*
 * What the data of a grading follow from: the seed, which is printed and may be a number that everyone thinks of, and a key that
 * is drawn once in each checkout and never leaves it:
 *
 *      .learn/grading-key      16 digits, for the grader's eyes alone
 *
 * Whoever knows the seed and not the key knows nothing of the data.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "learn/course/commands.h"
#include "learn/grade/grading.h"
#include "learn/inside.h"

#define KEY LEARN_STATE "/grading-key"
enum { DIGITS = 16 };

static bool read_key(uint64_t *key)
{
    size_t bytes;
    OWNED char *text = learn_read_plain_file(KEY, 64, &bytes);
    return text && sscanf(text, "%16" SCNx64, key) == 1 && strspn(text, "0123456789abcdef") == DIGITS;
}

/* Under another name first: a key that is there is whole. If there is one by then, that one counts: link fails. */
static bool put_key(uint64_t key)
{
    OWNED char *path = learn_format(KEY ".%ld", (long)getpid()), *text = learn_format("%016" PRIx64 "\n", key);
    if (!learn_make_folder(LEARN_STATE)) return false;
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0) close(fd);
    if (good && link(path, KEY) != 0 && errno != EEXIST) good = false, error = errno;
    if (fd >= 0) unlink(path);
    errno = error;
    return good;
}

/* A key that is there and cannot be read, as one that root has drawn, is replaced by nothing. */
void learn_secret(learn_class *class)
{
    uint64_t key = 0;
    class->secret = 0;
    if (!class->seed || read_key(&key)) {
        if (class->seed) class->secret = learn_key(key ? key : 1, class->seed, 0);
        return;
    }
    while (getrandom(&key, sizeof key, 0) != sizeof key) continue;
    bool put = put_key(key);
    if (!put || !read_key(&key))
        fprintf(stderr,
                "learn grade: %s cannot be %s (%s), so the next time --seed %" PRIu64
                " makes other data; nothing else is "
                "different\n",
                KEY, put ? "read" : "written", strerror(errno), class->seed);
    class->secret = learn_key(key ? key : 1, class->seed, 0);
}
