#!/bin/bash
# SPDX-License-Identifier: MIT
#
# random_programs.sh: 8,000 random programs, right and wrong, against the simulation of tests/p2p_random.c: no false
# alarm, no deadlock missed. And everything that can be done with buffers from p2p_alloc (tests/alloc_random.c).
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
check "random programs end as simulated" \
    env PAIRWISE_RANDOM_PROGRAMS=2000 timeout 3600 "$B/tests/p2p_random" --verbose
for world in socket shm; do
    check "buffers that come and go at random, $world" \
        env PAIRWISE_RANDOM_PROGRAMS=500 PAIRWISE_WORLD=$world timeout 3600 "$B/tests/alloc_random"
done
