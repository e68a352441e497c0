#!/bin/bash
# SPDX-License-Identifier: MIT
#
# strict.sh [MOST]: the right programs with every send waiting for its receive, on 1 to MOST ranks (8 unless told), say
# what they say with buffering: none of them needs it.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

sweep() { # PROGRAM
    local n
    for ((n = 1; n <= most; n++)); do
        same "timeout 60 $B/launch -n $n $1" "timeout 60 $B/launch -n $n --strict $1" || { echo "on $n ranks"; return 1; }
    done
}

most=${1:-8}
for program in "$B"/examples/hello "$B"/examples/ring_token "$B"/tests/right/*; do
    [ "${program##*/}" = patient ] || check "strict, 1 to $most ranks: ${program##*/}" sweep "$program"
done
