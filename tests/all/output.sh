#!/bin/bash
# SPDX-License-Identifier: MIT
#
# output.sh: fault 27. Output that goes nowhere: full, closed, or a reader that has left. The job ends, nothing hangs,
# and lost output is not called success.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
L="timeout 20 $B/launch"
hello="$L -n 2 $B/examples/hello"
nonzero() { ! timeout 20 bash -c "$1" || { echo "status 0"; return 1; }; }
ends() { timeout 20 bash -c "$1; test \$? -lt 124"; }

check "stdout full: status not 0" nonzero "$hello >/dev/full"
check "stdout closed: ends" ends "$hello >&-"
check "stderr closed: status 0" timeout 20 bash -c "$hello 2>&-"
check "stdin closed: status 0" timeout 20 bash -c "$hello <&-"
check "all three closed: ends" ends "$hello <&- >&- 2>&-"
check "a reader that leaves: ends" ends "$L -n 8 $B/examples/ring_token | true"
check "stderr full: a deadlock still ends with status 1" \
    bash -c "$L -n 2 $B/examples/deadlock 2>/dev/full; test \$? -eq 1"
# Each of two ranks may keep 8 MiB: what comes last, too little to be kept before the end, goes beyond.
ordered="ulimit -f 16384; $L -n 2 --ordered sh -c 'head -c 8400000 /dev/zero | tr \"\\0\" x'"
check "ordered, more than may be kept: it is said" says "rank [01] has printed more than 8 MiB" bash -c "$ordered"
check "ordered, more than may be kept: status not 0" nonzero "$ordered >/dev/null 2>&1"
