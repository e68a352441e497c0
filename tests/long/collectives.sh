#!/bin/bash
# SPDX-License-Identifier: MIT
#
# collectives.sh: the whole sweeps of which `make test` runs samples: 1 to 64 ranks, counts over 2^31, every type and
# operator, buffered and strict; and some counts with up to 1,024 ranks.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
export PAIRWISE_LONG=1
for suite in collectives blocks mismatch trace; do
    [ -x "$B/tests/$suite" ] || { skip "$suite, whole" "it needs Criterion"; continue; }
    check "$suite, whole" "$B/tests/$suite"
done
for world in socket shm; do
    [ -x "$B/tests/many_ranks" ] || { skip "up to 1,024 ranks, $world" "it needs Criterion"; continue; }
    check "up to 1,024 ranks, $world" env PAIRWISE_WORLD="$world" "$B/tests/many_ranks"
done
