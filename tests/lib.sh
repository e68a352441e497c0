# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
#
# lib.sh: what the shell tests share. A check prints one line, "ok NAME", "FAIL NAME" or "skip NAME (reason)";
# tests/job.sh counts those lines, so a script needs no totals of its own.
#
#       check NAME COMMAND...        ok if the command succeeds; its output is shown only if it does not
#       status WANT COMMAND...       for check: the command must exit with WANT
#       says TEXT COMMAND...         for check: the command's output (either stream) must contain TEXT
#       same COMMAND1 COMMAND2       for check: two command lines, equal output (in any order) and status
#       skip NAME REASON             cannot be run here
#       as_checked NAME FILE...      true if these files are as they were when what is called NAME was last found right
#       keep_checked NAME FILE...    it has been found right: tests/checked, which is a part of the checkout, keeps their sum
#
# What is as_checked is left to make test-long (WHOLE=1; ALL=1 does the same).

set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
B=${BUILD:-build}
unset MAKEFLAGS MFLAGS MAKELEVEL # a make in a test is a user's, not a part of the one that runs the tests
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Where a comma is the decimal point, awk does not read our numbers.
awk() { LC_ALL=C command awk "$@"; }

ok() { echo "ok $*"; }
skip() { echo "skip $1 ($2)"; }
fail() { echo "FAIL $*"; failed=yes; }
failed=

check() {
    local name=$1
    shift
    if "$@" >"$work/check" 2>&1; then
        ok "$name"
    else
        fail "$name (status $?): $*"
        # What failed, then the end of all that was said.
        grep -v -E '(^|: )ok |^  (CC|AR|LD) ' "$work/check" >"$work/said"
        { grep -A 12 -E '(^|: |\[)FAIL|^-- failed' "$work/said" | head -n 80; tail -n 120 "$work/said"; } | sed 's/^/    /'
    fi
}

status() {
    local want=$1 got
    shift
    "$@"
    got=$?
    [ "$got" -eq "$want" ] || { echo "status $got, expected $want"; return 1; }
}

says() {
    local text=$1
    shift
    "$@" >"$work/says" 2>&1
    grep -q -- "$text" "$work/says" || { cat "$work/says"; echo "expected to see: $text"; return 1; }
}

same() {
    local first second
    bash -c "$1" 2>"$work/err1" | sort >"$work/out1"
    first=${PIPESTATUS[0]}
    bash -c "$2" 2>"$work/err2" | sort >"$work/out2"
    second=${PIPESTATUS[0]}
    if [ "$first" -ne "$second" ]; then
        cat "$work/err1" "$work/err2"
        echo "status $first, then $second"
        return 1
    fi
    diff "$work/out1" "$work/out2"
}

# until a job has printed "ready" there, for 30 s at most
await_ready() { # FILE
    local i
    for i in $(seq 300); do grep -q ready "$1" && return; sleep 0.1; done
    return 1
}

sum_of() { cat "$@" | sha1sum | cut -c1-16; }
as_checked() {
    local name=$1
    shift
    [ -z "${ALL:-}${WHOLE:-}" ] && grep -q -x -F "$(sum_of "$@") $name" "$checked"
}
keep_checked() {
    local line name=$1
    shift
    line="$(sum_of "$@") $name"
    grep -q -x -F "$line" "$checked" && return
    { grep -v -F -- " $name" "$checked"; echo "$line"; } | LC_ALL=C sort -k2 >"$work/checked" && flock "$checked" cp "$work/checked" "$checked"
    [ "${CI:-}${told:-}" ] || echo "tests/checked is new: commit it"
    told=yes
}
checked=$PWD/tests/checked

have() { command -v "$1" >/dev/null 2>&1; }
