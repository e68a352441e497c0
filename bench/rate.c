/* SPDX-License-Identifier: MIT */
/*
 * rate: runs one kernel of exercises K1 to K5 on this machine's OpenCL device, as learn asks for it (learn/check/rate.h). It
 * judges nothing and knows no solution: a kernel on a processor may read and write whatever is here. learn starts two of it,
 * one with the learner's kernel and one with the solution's, each under the filter that other hand-ins have.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/rate/rate.h"
#include "bench/util/options.h"
#include "exercises/check/check_filter.h"
#include "exercises/check/check_internal.h"

static rate_run it;

static bool all_of(void *bytes, size_t count)
{
    for (ssize_t got; count; bytes = (char *)bytes + got, count -= (size_t)got)
        if ((got = recv(CHECK_FD, bytes, count, MSG_WAITALL)) <= 0) return false;
    return true;
}

static bool answer(bool good, double number)
{
    size_t words = good ? 0 : strlen(it.words);
    const rate_answer a = {
        .failed = !good, .bytes = (uint32_t)words, .is_cpu = it.device && it.device->info.is_cpu, .number = number};
    return send(CHECK_FD, &a, sizeof a, MSG_NOSIGNAL) == (ssize_t)sizeof a &&
           (!words || send(CHECK_FD, it.words, words, MSG_NOSIGNAL) == (ssize_t)words);
}

static bool build(const rate_order *o, const work *w)
{
    char *source = o->bytes <= RATE_SOURCE ? calloc(1, (size_t)o->bytes + 1) : NULL;
    bool good = source && all_of(source, o->bytes) && rate__build(&it, source, w->kernel);
    free(source);
    return good;
}

static bool obey(const rate_order *o)
{
    size_t n[WORK_SIZES], group[2] = {(size_t)o->group[0], (size_t)o->group[1]};
    work_describe *describe = rate_describe(o->code);
    double number = 0;
    bool good = false;
    for (int i = 0; i < WORK_SIZES; i++) n[i] = (size_t)o->n[i];
    if (!describe) return false;
    work w = describe(n, group);
    it.words[0] = '\0';
    switch (o->what) {
    case RATE_BUILD: good = build(o, &w); break;
    case RATE_BEGIN: good = rate_place(&w, WORK_ARGUMENTS) <= it.shared_bytes && rate__begin(&it, &w); break;
    case RATE_RUN: good = rate__launch(&it, &number); break;
    case RATE_PEAK:
        number = w.bytes > 0 ? rate__peak_of_memory(&it) : rate__peak_of_sums(it.device);
        good = true;
        break;
    default: return false;
    }
    return answer(good, number);
}

/* What kernels print goes nowhere; who asks for what they may not is ended. */
static bool give_up_rights(void)
{
    struct stat s;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0) return false;
    if (fstat(CHECK_FD + 1, &s) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    it.shared_bytes = (size_t)s.st_size;
    it.shared = mmap(NULL, it.shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, CHECK_FD + 1, 0);
    return it.shared != MAP_FAILED && (check_forbid_calls(true) || errno == ENOSYS);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {.doc =
                                         "Run a kernel of exercises K1 to K5 on this machine's OpenCL device. "
                                         "build/learn starts it, tells it over a "
                                         "socket what to run, and judges what comes out: it is not for use by hand."};
    rate_order o;
    int type;
    options_parse(&argp, argc, argv, NULL);
    if (getsockopt(CHECK_FD, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof type}) != 0) {
        fputs("rate: it is started by build/learn only: make test EX=K1\n", stderr);
        return 2;
    }
    if (!give_up_rights()) return 1;
    bool there = kernel_open(NULL, 0, &it.device) == KERNEL_OK;
    if (!there) snprintf(it.words, sizeof it.words, "%s", kernel_error_message(NULL));
    if (!answer(there, 0) || !there) return 1;
    while (all_of(&o, sizeof o) && o.code[sizeof o.code - 1] == '\0' && obey(&o)) continue;
    _exit(0); /* a kernel may have damaged what would be tidied up */
}
