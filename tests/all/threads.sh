#!/bin/bash
# SPDX-License-Identifier: MIT
#
# threads.sh: the shared-memory code with two threads and more in one process, under the thread sanitizer.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
T=build/tsan
# The sanitizer does not model fences, and gcc warns at each; what they order is atomic everywhere.
flags="-O2 -g $(${CC:-cc} -Wno-tsan -Werror -fsyntax-only -x c /dev/null 2>/dev/null && echo -Wno-tsan)"
check "build with the thread sanitizer" make BUILD=$T SAN=thread WERROR= CFLAGS="$flags" $T/libpairwise.a
# shellcheck disable=SC2086  # a list of flags
check "link the ranks as threads" ${CC:-cc} -std=c11 -D_GNU_SOURCE $flags -Wall -Wextra -fsanitize=thread -I. -I$T \
    tests/threads/shm.c $T/libpairwise.a -Wl,--wrap=p2p__memory_map,--wrap=p2p__memory_window,--wrap=munmap -pthread -o "$work/shm"
for ranks in 2 3 5; do
    check "shm, $ranks ranks as threads" env TSAN_OPTIONS=halt_on_error=1 timeout 300 "$work/shm" $ranks
done
# All on one core: whoever comes combines what others own.
check "shm, 4 ranks as threads on one core" env TSAN_OPTIONS=halt_on_error=1 \
    timeout 300 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$work/shm" 4
