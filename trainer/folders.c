/* SPDX-License-Identifier: MIT */
/* Can the results be written? Checked before any rank is started. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trainer/run.h"
#include "trainer/weights.h"

bool train__same_folder(const char *one, const char *other)
{
    struct stat a, b;
    return one && other && stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

p2p_err train__make_folder(const char *option, const char *path, train_error *error)
{
    char part[PATH_MAX];
    struct stat there;
    if (strlen(path) >= sizeof part) return train__fail(error, P2P_ERR_ARG, "%s: the path is too long", option);
    for (size_t i = 1; path[i - 1]; i++) {
        if (path[i] && path[i] != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return train__fail(error, P2P_ERR_ARG, "%s: %s: %s", option, part, strerror(errno));
    }
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode) && access(path, W_OK) == 0) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG, "%s: %s is no folder that can be written to", option, path);
}

/* A run that exists already is continued or replaced only if an option asks for it. */
static p2p_err check_free(const train_settings *s, train_error *error)
{
    static const char *const names[] = {TRAIN_MODEL_FILE, "metrics.jsonl"};
    char path[PATH_MAX];
    if (s->overwrite || train__same_folder(s->resume, s->out)) return P2P_OK;
    for (int i = 0; i < 2; i++) {
        if (snprintf(path, sizeof path, "%s/%s", s->out, names[i]) >= (int)sizeof path || access(path, F_OK) != 0)
            continue;
        return train__fail(error, P2P_ERR_ARG,
                           "--out: there is a run in %s already (%s)\n"
                           "  try: --resume %s to go on with it, --overwrite to replace it, or another folder",
                           s->out, names[i], s->out);
    }
    return P2P_OK;
}

static p2p_err check_file(const char *option, const char *path, train_error *error)
{
    char folder[PATH_MAX];
    struct stat there;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (!*path || length >= sizeof folder || (slash && !slash[1]))
        return train__fail(error, P2P_ERR_ARG, "%s: \"%.200s\" is no name of a file", option, path);
    snprintf(folder, sizeof folder, "%.*s", (int)(length ? length : 1), length ? path : ".");
    if (stat(folder, &there) != 0 || !S_ISDIR(there.st_mode))
        return train__fail(error, P2P_ERR_ARG, "%s: there is no folder %s", option, folder);
    bool exists = stat(path, &there) == 0;
    if (exists && S_ISDIR(there.st_mode)) return train__fail(error, P2P_ERR_ARG, "%s: %s is a folder", option, path);
    const char *written = exists && !S_ISREG(there.st_mode) ? path : folder; /* as train__durable_begin does */
    if (access(written, W_OK) != 0)
        return train__fail(error, P2P_ERR_ARG, "%s: %s: %s", option, written, strerror(errno));
    return P2P_OK;
}

bool train__writes_folder(const train_settings *s)
{
    return s->out && !(s->eval_only && train__same_folder(s->resume, s->out));
}

enum {
    LOCK_TRIES = 100,
    LOCK_PAUSE = 20000000
}; /* ns: the processes of a run that was killed end within two seconds */

p2p_err train__lock_folder(const char *folder, int *lock, train_error *error)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; *lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) < 0; i++) {
        bool taken = errno == EWOULDBLOCK;
        if (taken && i < LOCK_TRIES) {
            nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE}, NULL);
            continue;
        }
        close(*lock);
        *lock = -1;
        if (taken)
            return train__fail(error, P2P_ERR_ARG,
                               "--out: another run is writing into %s\n"
                               "  try: another folder, or wait until that run has ended",
                               folder);
    }
    return P2P_OK;
}

/* Before a rank is started, for a message in time; rank 0 keeps the lock. Ranks of a launcher are several processes already. */
static p2p_err check_lock(const train_settings *s, train_error *error)
{
    int lock;
    if (p2p_launched() || !train__writes_folder(s)) return P2P_OK;
    p2p_err err = train__lock_folder(s->out, &lock, error);
    if (lock >= 0) close(lock);
    return err;
}

/* May this process be one that takes the place of another, and find what that has written? */
static bool may_be_later(const train_settings *s)
{
    return p2p_launched() && (s->repair || s->shrink);
}

p2p_err train__check_first(train_runner *r)
{
    const train_settings *s = r->settings;
    if (r->rank != 0 || !train__writes_folder(s)) return P2P_OK;
    p2p_err err = r->lock < 0 ? train__lock_folder(s->out, &r->lock, r->error) : P2P_OK;
    if (!err && may_be_later(s) && !r->checked) err = check_free(s, r->error);
    if (!err) r->checked = true;
    return err;
}

static p2p_err check_run(const train_settings *s, train_error *error)
{
    if (!may_be_later(s)) return check_free(s, error);
    if (!train__same_folder(s->resume, s->out)) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG,
                       "--resume: %s is written to, and a rank that is started again reads where the run began\n"
                       "  try: another folder for --out, or, on one machine, build/train --ranks N without a launcher",
                       s->resume);
}

p2p_err train__check_results(const train_settings *s, train_error *error)
{
    p2p_err err = check_lock(s, error);
    if (!err && s->out) err = check_run(s, error);
    if (!err && s->out) err = train__make_folder("--out", s->out, error);
    if (!err && s->plot) err = train__check_plot(s, error);
    if (!err && s->save) err = check_file("--save", s->save, error);
    if (!err && s->dump_logits) err = check_file("--dump-logits", s->dump_logits, error);
    return err;
}
