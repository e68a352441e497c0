/* SPDX-License-Identifier: MIT */
/* What this machine lets us do about the code of others, found out by trying; places for submissions; what is left of it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"
#include "p2p/shared/process.h"

/* Numbers of users that systems leave to programs that need one for a moment. */
enum { FIRST_USER = 61184, USERS = 4000 };

/* ---- Processes of a user ---- */

/* Their number; a signal is sent to each, unless it is 0. */
static int processes_of(uid_t uid, int signal_number, int *threads)
{
    int found = 0;
    *threads = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *d; proc && (d = readdir(proc));) {
        if (!isdigit((unsigned char)*d->d_name)) continue;
        OWNED char *path = learn_format("/proc/%s/status", d->d_name);
        if (p2p__number_in(path, "Uid:", UINT64_MAX) != uid) continue;
        found++;
        *threads += (int)p2p__number_in(path, "Threads:", 0);
        if (signal_number) kill((pid_t)strtol(d->d_name, NULL, 10), signal_number);
    }
    if (proc) closedir(proc);
    return found;
}

int learn_kill_user(uid_t uid)
{
    int threads, left = 0;
    if (uid >= FIRST_USER && uid < FIRST_USER + USERS) left = processes_of(uid, SIGKILL, &threads);
    for (int tries = 0; left && tries < 100 && processes_of(uid, SIGKILL, &threads); tries++) usleep(10000);
    return left;
}

/* ---- Finding out ---- */

enum attempt { NAMESPACES, JAIL, USER, CHECKOUT, LANDLOCK, FILTER };

/* In a process of its own. */
static bool succeeds(learn_sandbox *box, enum attempt what)
{
    char *launcher = learn_format("%s/launch", learn_build()),
         *guard = learn_format("%s/course/obj/guard", learn_build()),
         *library = learn_format("%s/course/p2p.a", learn_build());
    int status = 1;
    switch (what) {
    case NAMESPACES: return learn_enter_namespaces(&box->means);
    case USER: return learn_drop_rights(box);
    case CHECKOUT: /* can that user get at what it needs of the checkout as it lies there? */
        return learn_drop_rights(box) && access("exercises/exercises.h", R_OK) == 0 && access(launcher, X_OK) == 0 &&
               access(library, R_OK) == 0;
    case LANDLOCK:
        return learn_landlock(box, LEARN_RUN) && open("exercises/exercises.h", O_RDONLY | O_CLOEXEC) < 0 &&
               errno == EACCES;
    case FILTER: /* what becomes a rank refuses system calls, if it can */
        execl(guard, guard, "--can", (char *)NULL);
        return false;
    case JAIL: break;
    }
    /* It needs a process that is in the namespace of processes: a child's. */
    pid_t pid = learn_enter_namespaces(&box->means) ? fork() : -1;
    if (pid == 0)
        _exit(learn_jail(box, LEARN_RUN) && access("solutions", F_OK) != 0 && access("/proc/self/maps", R_OK) == 0 &&
                      access(launcher, X_OK) == 0
                  ? 0
                  : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Try with one more; keep it if that works. */
static void keep_if(learn_sandbox *box, bool *means, enum attempt what)
{
    int status = 1;
    *means = true;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) _exit(succeeds(box, what) ? 0 : 1);
    *means = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void find_means(learn_sandbox *box)
{
    learn_means *m = &box->means;
    bool root = geteuid() == 0;
    if (!root) keep_if(box, &m->user_namespace, NAMESPACES);
    if (root || m->user_namespace) {
        keep_if(box, &m->own_processes, NAMESPACES);
        keep_if(box, &m->no_network, NAMESPACES);
        keep_if(box, &m->jail, JAIL);
    }
    if (root) keep_if(box, &m->own_user, m->jail ? USER : CHECKOUT);
    if (!m->jail && learn_landlock_there()) keep_if(box, &m->landlock, LANDLOCK);
    keep_if(box, &m->filter, FILTER);
    m->group = learn_group_make(box);
    learn_group_remove(box);
}

/* ---- Folders ---- */

char *learn_sandbox_own(const learn_sandbox *box, const char *name)
{
    return learn_format("%s/own/%s", box->place, name);
}

bool learn_sandbox_work(learn_sandbox *box, const char *name)
{
    int length = snprintf(box->work, sizeof box->work, "%.*s/work/%s", LEARN_PATH / 2 + 128, box->place, name);
    return length < (int)sizeof box->work && learn_make_for(box, box->work, LEARN_SUBMISSION);
}

static bool make_scratch(learn_sandbox *box)
{
    const char *tmp = getenv("TMPDIR");
    char real[PATH_MAX];
    if (!realpath(tmp && *tmp ? tmp : "/tmp", real) || strlen(real) > LEARN_PATH / 2) return false;
    struct statvfs s;
    if (statvfs(real, &s) == 0 && (s.f_flag & ST_NOEXEC)) {
        errno = ENOEXEC; /* programs are to be run there */
        return false;
    }
    return learn_make_scratch(box, real);
}

/* ---- For all submissions ---- */

bool learn_sandbox_open(learn_sandbox *box, const learn_limits *limits, const char *class)
{
    *box = (learn_sandbox){.limits = *limits, .number = -1, .lock = -1};
    umask(022);
    box->uid = FIRST_USER + (uid_t)(getpid() % USERS);
    processes_of(geteuid(), 0, &box->already);
    if (!getcwd(box->top, sizeof box->top) || !make_scratch(box)) {
        fprintf(stderr, "learn grade: no folder for submissions can be made in %s: %s; name another one: TMPDIR=...\n",
                getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
                errno == ENOEXEC ? "programs may not be run there (it is mounted noexec)" : strerror(errno));
        return false;
    }
    box->system = learn_system_without(box, class);
    if (!learn_sandbox_begin(box)) {
        fprintf(stderr, "learn grade: nothing can be made in %s: %s\n", box->scratch, strerror(errno));
        return false;
    }
    find_means(box);
    learn_sandbox_end(box);
    box->number = -1;
    return true;
}

void learn_sandbox_close(learn_sandbox *box)
{
    learn_remove_tree(box->scratch);
    close(box->lock);
    for (size_t i = 0; box->system && box->system[i]; i++) free(box->system[i]);
    free(box->system);
}

bool learn_sandbox_begin(learn_sandbox *box)
{
    int threads;
    uid_t uid = box->uid;
    box->number++;
    for (int i = 0; i < USERS; i++) {
        uid = FIRST_USER + (uid + 1 - FIRST_USER) % USERS;
        if (!getpwuid(uid) && processes_of(uid, 0, &threads) == 0) break; /* it has no name and no process */
    }
    box->uid = uid;
    if (box->means.group) box->means.group = learn_group_make(box);
    void *watched = mmap(NULL, sizeof *box->watched, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    box->watched = watched == MAP_FAILED ? NULL : watched;
    box->work[0] = '\0';
    int length = snprintf(box->place, sizeof box->place, "%.*s/%d", LEARN_PATH / 2 + 64, box->scratch, box->number);
    OWNED char *own = learn_format("%s/own", box->place), *work = learn_format("%s/work", box->place),
               *tmp = learn_format("%s/tmp", box->place);
    return watched != MAP_FAILED && length < (int)sizeof box->place && learn_make_for(box, box->place, LEARN_GRADER) &&
           learn_make_for(box, own, LEARN_GRADER) && learn_make_for(box, work, LEARN_GRADER) &&
           learn_make_for(box, tmp, LEARN_SUBMISSION);
}

int learn_sandbox_end(learn_sandbox *box)
{
    int left = box->means.own_user ? learn_kill_user(box->uid) : 0;
    learn_group_remove(box);
    learn_remove_tree(box->place);
    if (box->watched) munmap(box->watched, sizeof *box->watched);
    box->watched = NULL;
    return left;
}

/* ---- In words ---- */

static void add_more(learn_text *t, bool there, const char *yes, const char *no)
{
    learn_add(t, "%s%s.", t->used ? " " : "", there ? yes : no);
}

char *learn_sandbox_words(const learn_sandbox *box)
{
    const learn_means *m = &box->means;
    const struct {
        bool there;
        const char *what;
    } means[] = {{m->own_user, "a user for each submission"},
                 {m->own_processes, "namespaces of processes"},
                 {m->no_network, "namespaces of networks"},
                 {m->jail || m->landlock, "namespaces of mounts and Landlock (it can fill the disk)"},
                 {m->filter, "a filter of system calls (it can make processes and signal them)"},
                 {m->group, "control groups (memory is looked at 20 times a second)"}};
    learn_text t = {0};
    /* what the machine lacks, for the first line; then what is done */
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        if (!means[i].there) learn_add(&t, "%s%s", t.used ? ", " : "Missing here: ", means[i].what);
    if (t.used) learn_add(&t, ".");
    add_more(&t, m->own_user, "Each submission runs as a user of its own",
             geteuid() ? "Submissions run as you: only root can give each a user of its own"
                       : "Submissions run as root: no other user can be become here, or none can read this checkout");
    struct stat s;
    bool open = !m->own_user || (stat("solutions", &s) == 0 && (s.st_mode & S_IROTH)) ||
                (stat("tests/exercises", &s) == 0 && (s.st_mode & S_IROTH));
    add_more(&t, m->jail || m->landlock || !open, "It sees neither tests nor solutions nor other submissions",
             "It can see tests and solutions: this machine allows neither mount namespaces nor Landlock");
    add_more(&t, m->no_network || m->filter, "It has no network", "It has the network");
    add_more(&t, m->own_processes, "No process outlives it",
             "Processes it leaves are looked for and killed: no namespace of processes can be made here");
    learn_add(&t, " Limits: %g s a world, %d processes, %llu MiB a file, %llu MiB of memory.",
              box->limits.world_seconds, box->limits.processes, (unsigned long long)(LEARN_FILE_BYTES >> 20),
              (unsigned long long)(box->limits.memory >> 20));
    return t.text;
}
