#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh [-j N] SCRIPT...: run shell tests, N side by side (one unless told), show what they print one after the other, and
# total their "ok", "FAIL" and "skip" lines. A script that fails without saying so, or says nothing, counts as one failure.
# The last line is the total:
#       N passed, N failed, N skipped
set -u
cd "$(dirname "$0")/.." || exit 2
most=1
[ "${1:-}" != -j ] || { most=$2; shift 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'kill $pool $(cat "$work"/*.pid 2>/dev/null) 2>/dev/null; wait; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0 failed=0 skipped=0 number=0

# Signals that a background job ignores are as they were: tests send them.
one() { # SCRIPT FILE
    local start=$SECONDS
    env --default-signal=INT,QUIT "$1" >"$2" 2>&1 </dev/null &
    echo $! >"$2.pid"
    wait $!
    echo "$? $((SECONDS - start))" >"$2.status"
    rm "$2.pid"
}

all() {
    local number=0
    for script in "$@"; do
        [ "$(jobs -rp | wc -l)" -lt "$most" ] || wait -n
        number=$((number + 1))
        one "$script" "$work/$number" &
    done
    wait
}

# What it has said so far, and then every line as it comes.
show() { # FILE
    local pid
    until [ -s "$1.status" ] || [ -s "$1.pid" ]; do sleep 0.1; done
    pid=$(cat "$1.pid" 2>/dev/null)
    if [ "$pid" ]; then tail -n +1 -s 0.2 --pid="$pid" -f "$1"; else cat "$1"; fi
    until [ -s "$1.status" ]; do sleep 0.1; done
}

count() { grep -c "^$1 " "$out"; }

all "$@" &
pool=$!
for script in "$@"; do
    number=$((number + 1)) out=$work/$number
    printf '\n== %s\n' "$script"
    show "$out"
    read -r status seconds <"$out.status"
    fails=$(count FAIL)
    if [ "$fails" -eq 0 ] && { [ "$status" -ne 0 ] || ! grep -q -E '^(ok|skip) ' "$out"; }; then
        echo "FAIL $script (status $status)"
        fails=1
    fi
    passed=$((passed + $(count ok))) failed=$((failed + fails)) skipped=$((skipped + $(count skip)))
    echo "== $seconds s"
done

printf '\n%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]
