/* SPDX-License-Identifier: MIT */
/* check_filter: what filters of system calls are made of. ARCHITECTURE is not defined where none can be made. */
#ifndef PAIRWISE_CHECK_FILTER_H
#define PAIRWISE_CHECK_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
#define PERMIT(number) SKIP_UNLESS(number, 1), ALLOW
/* Of another architecture the numbers mean other calls. Then the call's number is what is compared. */
#define BEGIN_FILTER \
    LOAD(arch), SKIP_UNLESS(ARCHITECTURE, 1), BPF_STMT(BPF_JMP | BPF_JA, 1), ANSWER(SECCOMP_RET_KILL_PROCESS), LOAD(nr)

/* Put it on this process and what it starts, which must have no rights to gain (PR_SET_NO_NEW_PRIVS). processes: it may start
 * some. False with errno. check_forbid.c */
bool check_forbid_calls(bool processes);

#endif
