#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test.sh: what `make test` runs, once everything is built: each Criterion suite, then every quick fault, in each world.
# BUILD says which build, WORLDS which worlds; the last line is the total over all of them.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${BUILD:-build}
log=$(mktemp "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

# Criterion's closing line: [====] Synthesis: Tested: 5 | Passing: 4 | Failing: 1 | Crashing: 0
field() { sed -n "s/.*Synthesis:.* $1: *\([0-9]*\).*/\1/p" "$log" | tail -n 1; }

suite() {
    local status good bad
    printf '%s\n' "-- $1 ($PAIRWISE_WORLD)"
    timeout -k 5 "${SUITE_SECONDS:-300}" "$1" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    good=$(field Passing) bad=$(($(field Tested) - ${good:-0}))
    if [ "$status" -ne 0 ] && [ "$bad" -le 0 ]; then
        echo "$1 ended with status $status"
        bad=1
    fi
    passed=$((passed + ${good:-0})) failed=$((failed + bad))
}

# faultlab's closing line: 40 passed, 0 failed, 2 skipped
faults() {
    local status line
    printf '%s\n' "-- $B/tests/faultlab --all ($PAIRWISE_WORLD)"
    timeout -k 5 "${SUITE_SECONDS:-300}" "$B/tests/faultlab" --all 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 | tr -dc '0-9 ')
    # shellcheck disable=SC2086  # three numbers
    set -- ${line:-0 1 0}
    if [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; then
        echo "faultlab ended with status $status"
        set -- "$1" 1 "${3:-0}"
    fi
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
}

for PAIRWISE_WORLD in ${WORLDS:-socket shm}; do
    export PAIRWISE_WORLD
    for source in tests/*.c; do
        [ -e "$source" ] || continue
        program=$B/${source%.c}
        if [ -x "$program" ]; then
            suite "$program"
        else
            echo "-- $program: skipped, for it needs Criterion (package libcriterion-dev)"
            skipped=$((skipped + 1))
        fi
    done
    [ -x "$B/tests/faultlab" ] && faults
done

echo "-- all of $B/tests"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
