#!/bin/bash
# SPDX-License-Identifier: MIT
#
# no_false_alarm.sh [RUNS]: run the programs of tests/right with random delays, buffered and strict in turn. None has
# a mistake, so any complaint, any exit status but 0, any other checksum than the one before is an error of Pairwise.
# 60 runs unless told; tests/long runs 1,000.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
runs=${1:-60}
programs=(ring pairs master_worker wait_any_server groups polling circles late all_to_all allreduce_check)
sizes=(2 3 4 5 8)
declare -A checksums

# run N OPTIONS PROGRAM SEED: one run; says what is wrong with it
run() {
    local key="$3 on $1 ranks" status
    # shellcheck disable=SC2086  # OPTIONS may be none
    timeout -k 5 60 "$B/launch" -n "$1" $2 "$B/tests/right/$3" "$4" >"$work/out" 2>"$work/err"
    status=$?
    [ $status -eq 0 ] || { echo "$key, $2, seed $4: status $status"; cat "$work/err"; return 1; }
    [ ! -s "$work/err" ] || { echo "$key, $2, seed $4 complained:"; cat "$work/err"; return 1; }
    : "${checksums[$key]:=$(<"$work/out")}"
    [ "${checksums[$key]}" = "$(<"$work/out")" ] ||
        { echo "$key, $2, seed $4: $(<"$work/out"), expected ${checksums[$key]}"; return 1; }
    [[ ${checksums[$key]} == checksum* ]] || { echo "$key: no checksum"; return 1; }
}

# Every program with every size before any twice.
many() {
    local i program size strict
    for ((i = 0; i < runs; i++)); do
        program=${programs[i % ${#programs[@]}]}
        size=${sizes[i / ${#programs[@]} % ${#sizes[@]}]}
        strict=$([ $((i / ${#programs[@]} % 2)) -eq 1 ] && echo --strict)
        run "$size" "$strict" "$program" $((1000 + i)) || return 1
    done
}

check "no false alarm in $runs runs of right programs with random delays" many
check "no false alarm while one rank computes for more than a second" run 3 "" patient 1
