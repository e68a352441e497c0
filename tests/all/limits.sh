#!/bin/bash
# SPDX-License-Identifier: MIT
#
# limits.sh: faults 14 and 21. Few descriptors and few processes, as root and as an ordinary user, whose descriptors
# in flight are limited too; and more ranks than a piece of shared memory has lines.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
have prlimit || { skip limits "prlimit is not installed"; exit 0; }

# Programs where an ordinary user can reach them.
chmod 755 "$work"
cp -r "$B/launch" "$B/examples" "$B/tests/right" "$work/" 2>/dev/null
L=$work/launch

limits() { # WHO [PREFIX COMMAND...]
    local who=$1
    shift
    check "$who: 64 ranks in a ring with 256 descriptors" \
        says "at 64 of 64" "$@" timeout 60 prlimit --nofile=256 "$L" -n 64 "$work/examples/ring_token"
    check "$who: 16 ranks with 16 descriptors are told what it needs" \
        says needs "$@" timeout 60 prlimit --nofile=16 "$L" -n 16 "$work/examples/hello"
    check "$who: 200 ranks pass a token" \
        says "at 200 of 200" "$@" timeout 60 "$L" -n 200 "$work/examples/ring_token"
    if [ -x "$work/right/all_to_all" ]; then
        check "$who: 64 ranks, all to all" status 0 "$@" timeout 120 "$L" -n 64 "$work/right/all_to_all"
    fi
}

limits "$(id -un)"
check "600 ranks add up 64 KiB" status 0 timeout 300 "$B/bench/all_reduce" \
    --ranks 600 --world shm --min 64K --max 64K --iters 1 --warmup 0 --algorithm auto --csv
if [ "$(id -u)" -ne 0 ] || ! have runuser; then
    skip "limits as an ordinary user" "needs root and runuser"
    exit 0
fi
limits nobody runuser -u nobody --
check "nobody: a fork that fails is named, and ends the job" \
    says "fork of rank" runuser -u nobody -- timeout 60 prlimit --nproc=20 "$L" -n 64 "$work/examples/hello"
