#!/bin/bash
# SPDX-License-Identifier: MIT
#
# crash_sweep.sh: fault 2 in full, half a minute: every rank of 2 to 5 is killed at its every frame of an all-reduce, by
# every algorithm; and a sample of the same where links take a few bytes at a time. Then fault 60 in full.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
[ -x "$B/tests/faultlab" ] || { skip "crash sweep" "$B/tests/faultlab is not built"; exit 0; }

check "crash sweep, all of it" timeout 600 "$B/tests/faultlab" crash-sweep-all
check "crash sweep, a sample with the smallest links" env PAIRWISE_SNDBUF=1 timeout 60 "$B/tests/faultlab" crash-sweep
check "1,000 steps of collectives with random delays" timeout 600 "$B/tests/faultlab" soak-seq-all
