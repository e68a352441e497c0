#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tools.sh: lint refuses what format would change, and a finding, and analyses once what is clean; tune prints its table,
# compiles it in, and leaves the checkout as it was.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

inputs="tests/all/tools.sh scripts/lint.sh scripts/sums.pl scripts/tune.sh scripts/tune_direct.awk .clang-tidy .clang-format .cppcheck collectives/choose.c bench/all_reduce.c bench/ping_pong.c"
# shellcheck disable=SC2086  # a list of files
as_checked tools $inputs && { ok "lint and tune are as they were when they were last found right"; exit 0; }

lint_of() { # TEXT: lint a file with this in it
    mkdir -p "$B/linted"
    printf '%s\n' "$1" >"$B/linted/one.c"
    scripts/lint.sh "$B/linted/one.c"
}

fine='int one(void);

int one(void)
{
    return 1;
}'
analyses_once() { # the second time there is nothing to analyse
    says "^1 files to analyse" lint_of "${fine/one(void);/once(void);}" && says "^0 files to analyse" lint_of "${fine/one(void);/once(void);}"
}
export ANALYZED=$work/analyzed
touch "$ANALYZED"

if have clang-tidy && have clang-format && have cppcheck; then
    rm -rf "$B/linted"
    check "lint of a file that is fine" says "lint: clean" lint_of "$fine"
    check "lint analyses a file once" analyses_once
    check "lint refuses what format would change" says "clang-format-violations" status 1 lint_of "${fine/    return/  return}"
    check "lint refuses what the analyzer finds" says "error:" status 1 lint_of "${fine/return 1/int *at = 0; return *at}"
    check "lint refuses a warning of clang" says "Wshadow" status 1 lint_of "${fine/return 1/int at = 1; { int at = 2; (void)at; } return at}"
    rm -rf "$B/linted"
else
    skip "lint" "needs clang-tidy, clang-format and cppcheck"
fi

# In a build folder of its own, so that this one keeps its table.
tuned() {
    local before after own
    own=$work/own
    mkdir -p "$own/bench" && ln -s "$(realpath "$B/bench/all_reduce")" "$(realpath "$B/bench/ping_pong")" "$own/bench" || return 1
    before=$(git status --porcelain 2>/dev/null)
    BUILD=$own RANKS=2 MAX=4K SECONDS_EACH=1 scripts/tune.sh >"$work/said" || return 1
    after=$(git status --porcelain 2>/dev/null)
    [ "$before" = "$after" ] && grep -q '"all_reduce", true, 1, 0' "$work/said" &&
        grep -q '"all_reduce", false, 1, 0' "$own/tuned_choices.inc" &&
        { [ "$(nproc)" = 1 ] || grep -Eq '^#define DIRECT_FROM_ALONE \(\(size_t\)[1-9][0-9]+ << 10\)$' "$own/tuned_direct.inc"; }
}
# As measured elsewhere: both alike at the default; one copy the faster down to 32 KiB, but not at 16; the queue, from 16 to 256 KiB.
direct_from() { # WANT QUEUE... -- COPY...: times by size from 16 KiB on
    local want=$1 how=1G bytes=16384 us
    shift
    for us in "$@"; do
        if [ "$us" = -- ]; then how=1 bytes=16384; continue; fi
        echo "$how,$bytes,0,$us,9"
        bytes=$((2 * bytes))
    done | awk -f scripts/tune_direct.awk | grep -Fx "#define DIRECT_FROM_ALONE ((size_t)$want << 10)"
}
compiled_in() { # a table that no measurement gives
    printf '{"all_reduce", false, 1, 77, "naive"},\n{"all_reduce", true, 1, 0, "naive"},\n' >"$work/tuned_choices.inc"
    printf '#define DIRECT_FROM_ALONE 76543\n' >"$work/tuned_direct.inc"
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -I"$B" -I"$work" -E collectives/choose.c | grep -q '1, 77, "naive"' &&
        ${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -I"$B" -I"$work" -E p2p/message/engine.c | grep -c 76543 >"$work/said"
}
check "tune prints its table and changes no file of the checkout" tuned
check "where both are alike within a tenth, tune keeps the default" direct_from 128 4 7 14 20 30 60 -- 3.8 6.6 13.5 21 31 50
check "tune finds one copy the faster from 32 KiB on" direct_from 32 4 7 14 20 30 60 -- 3.9 5 8 12 20 40
check "where the queue is the faster, ranks find out themselves: tune keeps the default" direct_from 128 1 2 5 9 18 40 -- 3 4 8 12 22 41
check "a table that was tuned is compiled in" compiled_in
# shellcheck disable=SC2086  # a list of files
[ "$failed" ] || keep_checked tools $inputs
