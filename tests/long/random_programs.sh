#!/bin/bash
# SPDX-License-Identifier: MIT
#
# random_programs.sh: 8,000 random programs, right and wrong, against the simulation of tests/p2p_random.c: no false
# alarm, no deadlock missed.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
check "random programs end as simulated" \
    env PAIRWISE_RANDOM_PROGRAMS=2000 timeout 3600 "$B/tests/p2p_random" --verbose
