/* SPDX-License-Identifier: MIT */
/*
 * Into the sandbox: what a process does between fork and exec that is going to be the compiler, the linker or the launcher.
 *
 *      learn ── waits, passes the status on ── first process of a namespace of processes ── compiler, linker or launcher
 *               (is killed by learn             (cleans up after orphans; its end is          (user, file system, limits)
 *                if time is up)                  the end of everything in there)
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"
#include "p2p/shared/process.h"

enum { LAST_FD = 1024 };

/* ---- Namespaces ---- */

static bool write_whole(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return good;
}

/* In there we are who we were; what we gain are rights over the other namespaces. */
static bool map_ourselves(uid_t uid, gid_t gid)
{
    prctl(PR_SET_DUMPABLE, 1); /* else these files would not be ours */
    OWNED char *users = learn_format("%u %u 1", uid, uid), *groups = learn_format("%u %u 1", gid, gid);
    write_whole("/proc/self/setgroups", "deny");
    bool good = write_whole("/proc/self/uid_map", users) && write_whole("/proc/self/gid_map", groups);
    prctl(PR_SET_DUMPABLE, 0);
    return good;
}

bool learn_enter_namespaces(const learn_means *means)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    int flags = (means->user_namespace ? CLONE_NEWUSER : 0) | (means->own_processes ? CLONE_NEWPID : 0) |
                (means->no_network ? CLONE_NEWNET | CLONE_NEWIPC : 0) | (means->jail ? CLONE_NEWNS : 0);
    if (flags && unshare(flags) != 0) return false;
    return !means->user_namespace || map_ourselves(uid, gid);
}

/* ---- The two that wait ---- */

/* Nothing but waiting, and passing the child's status on. In a namespace of processes everything that loses its parent becomes
 * its child. It is a copy of learn, with all that it knows, and may be of the same user as the submission. */
_Noreturn static void look_after(pid_t child)
{
    int status;
    prctl(PR_SET_DUMPABLE, 0);
    for (int fd = 0; fd < LAST_FD; fd++) close(fd);
    for (;;) {
        pid_t ended = waitpid(-1, &status, 0);
        if (ended == child) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        if (ended < 0 && errno != EINTR) _exit(127);
    }
}

/* Returns in the process that goes on. The file system comes before the second fork: the process that looks after the
 * others must see no other processes than theirs. */
static bool become_inner(const learn_sandbox *box, enum learn_step step)
{
    pid_t first = fork();
    if (first < 0) return false;
    if (first > 0) look_after(first);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (box->means.jail && !learn_jail(box, step)) return false;
    pid_t second = fork();
    if (second < 0) return false;
    if (second > 0) look_after(second);
    return true;
}

/* ---- Memory, where there is no control group: looked at from outside ---- */

/* Of a process and all that it started: its own, not shared with a file. */
static uint64_t family_memory(long pid)
{
    OWNED char *status = learn_format("/proc/%ld/status", pid),
               *path = learn_format("/proc/%ld/task/%ld/children", pid, pid), *children = learn_read_file(path, NULL);
    uint64_t sum = (p2p__number_in(status, "RssAnon:", 0) + p2p__number_in(status, "RssShmem:", 0)) << 10;
    char *at = children;
    for (long child; at && (child = strtol(at, &at, 10)) > 0;) sum += family_memory(child);
    return sum;
}

bool learn_sandbox_watch(void *arg, pid_t child)
{
    const learn_sandbox *box = arg;
    if (box->means.group || family_memory(child) <= box->limits.memory) return true;
    ++*box->watched;
    return false;
}

/* ---- Limits and rights ---- */

static bool limit(__rlimit_resource_t what, uint64_t value)
{
    struct rlimit now;
    if (getrlimit(what, &now) != 0) return false;
    rlim_t most = (rlim_t)value < now.rlim_max ? (rlim_t)value : now.rlim_max;
    return setrlimit(what, &(struct rlimit){most, most}) == 0;
}

static bool limit_all(const learn_sandbox *box, enum learn_step step)
{
    bool run = step == LEARN_RUN;
    /* The sanitizer reserves more memory than there is: in what the learner wrote, which is held by the control group, and
     * in this program when it is built with it, which then could not go on to start the compiler. */
#ifdef __SANITIZE_ADDRESS__
    bool good = true;
#else
    struct rlimit space;
    bool good = getrlimit(RLIMIT_AS, &space) == 0; /* the grader has a bound of its own, which is not meant here */
    if (good) space.rlim_cur = space.rlim_max, good = setrlimit(RLIMIT_AS, &space) == 0;
    good = good && (run || limit(RLIMIT_AS, UINT64_C(4) << 30));
#endif
    return good && limit(RLIMIT_CPU, run ? (uint64_t)box->limits.world_seconds + 5 : 60) &&
           limit(RLIMIT_FSIZE, LEARN_FILE_BYTES) && limit(RLIMIT_CORE, 0) && limit(RLIMIT_MSGQUEUE, 0);
}

static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return false;
    return syscall(SYS_capset, &header, none) == 0;
}

bool learn_drop_rights(const learn_sandbox *box)
{
    bool good = true;
    if (box->means.own_user)
        good = setgroups(0, NULL) == 0 && setresgid(box->uid, box->uid, box->uid) == 0 &&
               setresuid(box->uid, box->uid, box->uid) == 0;
    else if (box->means.user_namespace)
        good = drop_capabilities();
    return good && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

static int failed(const char *what)
{
    fprintf(stderr, "learn grade: the sandbox: %s: %s\n", what, strerror(errno));
    return 1;
}

int learn_sandbox_confine(void *arg, enum learn_step step)
{
    const learn_sandbox *box = arg;
    const learn_means *means = &box->means;
    OWNED char *tmp = means->jail ? learn_copy("/tmp") : learn_format("%s/tmp", box->place);
    setenv("TMPDIR", tmp, 1);
    setenv("HOME", tmp, 1);
    umask(022);
    if (!limit_all(box, step)) return failed("limits");
    if (means->group && !learn_group_join(box)) return failed("control group");
    if (!learn_enter_namespaces(means)) return failed("namespaces");
    if (means->own_processes && !become_inner(box, step)) return failed("processes and files");
    if (means->jail && !means->own_processes && !learn_jail(box, step)) return failed("files");
    /* All processes of a user count, here or anywhere; the group's limit comes first. */
    int others = means->own_user || means->user_namespace ? 0 : box->already;
    if (!limit(RLIMIT_NPROC, (uint64_t)(box->limits.processes + 8 + others))) return failed("number of processes");
    if (!learn_drop_rights(box)) return failed("rights");
    if (means->landlock && !learn_landlock(box, step)) return failed("Landlock");
    return 0;
}
