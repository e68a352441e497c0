#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz.sh PROGRAMS SECONDS NAME...: runs libFuzzer's programs one after the other, each for so long, from the corpus in
# tests/fuzz/corpus/NAME and from what earlier runs found of use (PROGRAMS/NAME.corpus). What makes a reader fail lies
# in PROGRAMS/NAME.found; mend the reader, and keep the file in the corpus.
set -u
cd "$(dirname "$0")/../.." || exit 2
programs=${1:?usage: fuzz.sh PROGRAMS SECONDS NAME...} seconds=${2:?}
shift 2
status=0
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/all/opencl.supp:print_suppressions=0

for name in "$@"; do
    own=$programs/$name.corpus found=$programs/$name.found log=$programs/$name.log
    mkdir -p "$own" "$found" "tests/fuzz/corpus/$name"
    dictionary=tests/fuzz/corpus/$name.dict
    "$programs/$name" "$own" "tests/fuzz/corpus/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2500 \
        -max_len=20000 -artifact_prefix="$found/" ${dictionary:+$([ -e "$dictionary" ] && echo "-dict=$dictionary")} \
        -print_final_stats=1 >"$log" 2>&1
    ended=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    printf '%-12s %9s inputs in %d s, %s\n' "$name" "${runs:-?}" "$seconds" \
        "$([ $ended -eq 0 ] && echo "nothing found" || echo "FOUND SOMETHING: $log, $found/")"
    [ $ended -eq 0 ] || status=1
done
exit $status
