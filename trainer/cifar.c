/* SPDX-License-Identifier: MIT */
/* The binary files of CIFAR-10 and CIFAR-100 (Krizhevsky 2009): records of one or two labels and 3,072 bytes of pixels,
 * nothing else. CIFAR-100 has a coarse label (20) before the fine one (100), which is left out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/internal.h"

static const char first_words[] = "data_batch_", last_words[] = ".bin";

/* ---- Which files ---- */

static bool is_batch(const char *name)
{
    size_t length = strlen(name), least = strlen(first_words) + strlen(last_words);
    return length > least && strncmp(name, first_words, strlen(first_words)) == 0 &&
           strcmp(name + length - strlen(last_words), last_words) == 0;
}

/* data_batch_10 comes after data_batch_9: the shorter name first. */
static int by_number(const void *left, const void *right)
{
    const char *a = *(char *const *)left, *b = *(char *const *)right;
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length != b_length) return a_length < b_length ? -1 : 1;
    return strcmp(a, b);
}

typedef struct {
    const char *train, *test; /* files */
    int classes, labels;      /* labels: in a record; the last one counts */
} set;

static const set ten = {"data_batch_*.bin", "test_batch.bin", 10, 1}, hundred = {"train.bin", "test.bin", 100, 2};

static size_t record_of(const set *which)
{
    return TRAIN_PIXELS + (size_t)which->labels;
}

typedef struct {
    char **names;
    size_t count;
} batches;

static void free_batches(batches *found)
{
    for (size_t i = 0; i < found->count; i++) free(found->names[i]);
    free(found->names);
    *found = (batches){0};
}

static bool add_batch(batches *found, const char *name)
{
    char **longer = realloc(found->names, (found->count + 1) * sizeof *longer);
    if (!longer) return false;
    found->names = longer;
    found->names[found->count] = strdup(name);
    return found->names[found->count++] != NULL;
}

static bool has(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && access(path, F_OK) == 0;
}

static p2p_err find_batches(const char *folder, batches *found, train_error *error)
{
    static const char advice[] =
        "  try: the folder with CIFAR-10's or CIFAR-100's binary version, or no --data for the built-in set; to get "
        "it:\n"
        "       wget https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz && tar -xzf cifar-10-binary.tar.gz\n"
        "       build/train --data cifar-10-batches-bin";
    bool memory = true;
    DIR *dir = opendir(folder);
    *found = (batches){0};
    if (!dir) return train__fail(error, P2P_ERR_ARG, "%s: %s\n%s", folder, strerror(errno), advice);
    for (struct dirent *entry; memory && (entry = readdir(dir));)
        if (is_batch(entry->d_name)) memory = add_batch(found, entry->d_name);
    closedir(dir);
    if (!memory) {
        free_batches(found);
        return train__fail(error, P2P_ERR_NOMEM, "%s: no memory", folder);
    }
    if (!found->count && has(folder, hundred.train)) return P2P_OK;
    /* The same images as pickled arrays have the same names without ".bin". */
    if (!found->count && (has(folder, "data_batch_1") || has(folder, "train")))
        return train__fail(
            error, P2P_ERR_ARG,
            "%s has CIFAR's Python version (data_batch_1 and others, or train, pickled); the binary version is "
            "needed\n  try: https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz, or cifar-100-binary.tar.gz",
            folder);
    if (!found->count)
        return train__fail(error, P2P_ERR_ARG, "%s has no data_batch_*.bin and no train.bin\n%s", folder, advice);
    qsort(found->names, found->count, sizeof *found->names, by_number);
    return P2P_OK;
}

/* ---- One file ---- */

/* How something begins that has the name of a file of images, but is something else. A label is 19 at most. */
static const struct {
    const char *bytes;
    size_t length;
    const char *what, *advice;
} others[] = {
    {"\x1f\x8b", 2, "compressed (gzip)", "tar -xzf of the archive, or gunzip"},
    {"PK\3\4", 4, "a zip archive", "unzip it"},
    {"\x80", 1, "pickled, CIFAR's Python version", "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"},
    {"<", 1, "a web page, not images: what was downloaded is what a server says instead", "the download again"},
    {"version https://git-lfs", 23, "a pointer of Git LFS, not the file itself", "git lfs pull"},
};

static p2p_err check_beginning(const char *path, const uint8_t *at, size_t bytes, train_error *error)
{
    if (!bytes) return train__fail(error, P2P_ERR_ARG, "%s is empty\n  try: the download again", path);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (bytes >= others[i].length && memcmp(at, others[i].bytes, others[i].length) == 0)
            return train__fail(error, P2P_ERR_ARG, "%s is %s\n  try: %s", path, others[i].what, others[i].advice);
    return P2P_OK;
}

/* Not a whole number of records; of the other set's, perhaps. */
static p2p_err check_size(const set *which, const char *path, size_t bytes, train_error *error)
{
    size_t size = record_of(which), over = bytes % size;
    const set *other = which == &ten ? &hundred : &ten;
    if (!over) return P2P_OK;
    if (bytes % record_of(other) == 0)
        return train__fail(error, P2P_ERR_ARG,
                           "%s has records of %zu bytes: it is of CIFAR-%d, under a name of CIFAR-%d\n"
                           "  try: CIFAR-%d's own names, %s and %s",
                           path, record_of(other), other->classes, which->classes, other->classes, other->train,
                           other->test);
    return train__fail(error, P2P_ERR_ARG,
                       "%s: %zu bytes are not a whole number of records of %zu bytes: record %zu (at byte %zu) breaks "
                       "off after %zu",
                       path, bytes, size, bytes / size, bytes - over, over);
}

static p2p_err check_labels(const set *which, const char *path, const uint8_t *records, size_t count,
                            train_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (records[i * TRAIN_RECORD] >= which->classes)
            return train__fail(error, P2P_ERR_ARG, "%s: record %zu (at byte %zu) has label %d; labels are 0 to %d",
                               path, i, i * record_of(which), records[i * TRAIN_RECORD], which->classes - 1);
    return P2P_OK;
}

/* Move records together, without the labels that do not count. */
static void keep_one_label(const set *which, uint8_t *records, size_t count)
{
    size_t size = record_of(which), left_out = size - TRAIN_RECORD;
    for (size_t i = 0; i < count && left_out; i++)
        memmove(records + i * TRAIN_RECORD, records + i * size + left_out, TRAIN_RECORD);
}

static p2p_err file_size(const char *path, int fd, size_t *bytes, train_error *error)
{
    struct stat there;
    if (fstat(fd, &there) < 0) return train__fail(error, P2P_ERR_ARG, "%s: %s", path, strerror(errno));
    if (!S_ISREG(there.st_mode)) return train__fail(error, P2P_ERR_ARG, "%s is not a file", path);
    *bytes = (size_t)there.st_size;
    return P2P_OK;
}

static p2p_err read_all(const char *path, int fd, uint8_t *to, size_t bytes, train_error *error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(fd, to + done, bytes - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return train__fail(error, P2P_ERR_ARG, "%s: %s", path, strerror(errno));
        if (got == 0)
            return train__fail(error, P2P_ERR_ARG, "%s: ended at byte %zu of %zu while it was read", path, done, bytes);
        done += (size_t)got;
    }
    return P2P_OK;
}

/* Append a file's records. All of them are read and checked, also those beyond the limit. */
static p2p_err append(const set *which, const char *folder, const char *name, train_images *images, train_error *error)
{
    char path[PATH_MAX];
    size_t bytes = 0, have = images->count * TRAIN_RECORD;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return train__fail(error, P2P_ERR_ARG, "%.100s...: the path is too long", folder);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is refused, not waited for */
    if (fd < 0) return train__fail(error, P2P_ERR_ARG, "%s: %s", path, strerror(errno));
    p2p_err err = file_size(path, fd, &bytes, error);
    uint8_t *longer = err ? NULL : realloc(images->records, have + bytes + 1);
    if (longer) images->records = longer;
    if (!err && !longer) err = train__fail(error, P2P_ERR_NOMEM, "%s: no memory for %zu bytes", path, bytes);
    if (!err) err = read_all(path, fd, images->records + have, bytes, error);
    close(fd);
    if (!err) err = check_beginning(path, images->records + have, bytes, error);
    if (!err) err = check_size(which, path, bytes, error);
    size_t count = bytes / record_of(which);
    if (!err) keep_one_label(which, images->records + have, count);
    if (!err) err = check_labels(which, path, images->records + have, count, error);
    if (!err) images->count += count;
    return err;
}

static void limit_to(train_images *images, size_t limit)
{
    if (limit && limit < images->count) images->count = limit;
}

p2p_err train_data_cifar(const char *folder, size_t train_limit, size_t test_limit, train_data *data,
                         train_error *error)
{
    train_data read = {0};
    batches found;
    p2p_err err = find_batches(folder, &found, error);
    const set *which = found.count ? &ten : &hundred;
    read.classes = which->classes;
    for (size_t i = 0; i < found.count && !err; i++) err = append(which, folder, found.names[i], &read.train, error);
    if (!err && which == &hundred) err = append(which, folder, which->train, &read.train, error);
    free_batches(&found);
    if (!err) err = append(which, folder, which->test, &read.test, error);
    if (err) {
        train_data_free(&read);
        return err;
    }
    limit_to(&read.train, train_limit);
    limit_to(&read.test, test_limit);
    *data = read;
    return P2P_OK;
}

void train_data_free(train_data *data)
{
    free(data->train.records);
    free(data->test.records);
    *data = (train_data){0};
}
