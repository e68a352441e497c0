#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh SCRIPT...: run shell tests one after the other and total their "ok", "FAIL" and "skip" lines.
# A script that fails without saying so, or says nothing, counts as one failure. The last line is the total:
#       N passed, N failed, N skipped
set -u
cd "$(dirname "$0")/.." || exit 2
log=$(mktemp "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

count() { grep -c "^$1 " "$log"; }

for script in "$@"; do
    printf '\n== %s\n' "$script"
    start=$SECONDS
    "$script" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    fails=$(count FAIL)
    if [ "$fails" -eq 0 ] && { [ "$status" -ne 0 ] || ! grep -q -E '^(ok|skip) ' "$log"; }; then
        echo "FAIL $script (status $status)"
        fails=1
    fi
    passed=$((passed + $(count ok))) failed=$((failed + fails)) skipped=$((skipped + $(count skip)))
    echo "== $((SECONDS - start)) s"
done

printf '\n%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]
