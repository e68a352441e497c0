#!/bin/bash
# SPDX-License-Identifier: MIT
#
# strace.sh: faults 15 and 25 on the right programs, allreduce_check among them. The kernel is made to fail every third
# call with EINTR, then some sends with ENOBUFS and ENOMEM: output and status must be those of a run without.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
have strace || { skip strace "strace is not installed"; exit 0; }
strace -f -qq -o /dev/null true 2>/dev/null || { skip strace "may not trace here"; exit 0; }

programs=("$B"/examples/hello "$B"/examples/ring_token "$B"/tests/right/*)
calls=sendmsg,recvmsg,recvfrom,ppoll
run="timeout 60 $B/launch -n 4"

inject() { # NAME WHICH-CALLS FAULT PROGRAM
    local traced="strace -f -qq -o $work/trace -e trace=$2 -e inject=$2:$3"
    check "$1: $(basename "$4")" same "$run $4" "$traced $run $4"
    [ ! -e "$work/trace" ] || injected=$((injected + $(grep -c INJECTED "$work/trace")))
}

injected=0
for program in "${programs[@]}"; do
    [ -x "$program" ] || continue
    inject "EINTR on every third call" $calls error=EINTR:when=3+3 "$program"
    inject "ENOBUFS on the fifth send" sendmsg error=ENOBUFS:when=5 "$program"
    inject "ENOMEM on every seventh send" sendmsg error=ENOMEM:when=2+7 "$program"
done
check "errors were injected ($injected)" test "$injected" -gt 0
