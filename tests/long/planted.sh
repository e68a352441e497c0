#!/bin/bash
# SPDX-License-Identifier: MIT
#
# planted.sh [NUMBER...]: does the gate find what it should? Faults are planted one at a time, in a copy of the checkout: each line
# of tests/planted changes a line of a file, and names the jobs (tests/jobs.sh) of make test-all that find it. A fault is found if
# one of the jobs fails, or if it cannot be built. NUMBER: only the faults of these lines.
#
#       JOB[,JOB...] @ FILE @ what perl does to each line of it @ what is wrong then
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
list=$PWD/tests/planted tree=$work/tree
export CI=1 QUICK=1 # samples, as in the gate
unset WHOLE

german=$(locale -a 2>/dev/null | grep -i -m 1 '^de_DE.utf')

copy() {
    mkdir -p "$tree" && git ls-files -co --exclude-standard -z | xargs -0 tar -c | tar -x -C "$tree" && cp -a build "$tree" &&
        rm -rf "$tree"/build/{,asan/}{mpicc,mpirun,course/work} && make -s -C "$tree" all suites asan
}

# What has to be built for a job: of what suites start, the programs of these folders.
programs() { printf 'build/%s\n' "$@" | sed 's/\.c$//'; }
targets() { # JOB
    local kind suite
    IFS=/ read -r kind _ suite <<<"$1"
    case $kind/$suite in
    lint/*) return ;;
    tests/*) echo all suites ;;
    asan/*)
        echo BUILD=build/asan SAN=address,undefined CFLAGS=-O1 build/asan/launch "build/asan/tests/${suite/#faults*/faultlab}"
        [ "$suite" != p2p_wrong ] || programs tests/mpi/{right,wrong}/*.c | sed 's|^build/|build/asan/|'
        ;;
    */faults*) echo build/launch build/tests/faultlab ;;
    */learn* | solutions/*) echo build/learn build/launch ;;
    */trainer_program | */bench*) echo all ;;
    */p2p_wrong) programs tests/mpi/{right,wrong}/*.c ;;
    esac
    [[ $kind == asan || $kind == tests || $suite == faults* ]] || programs launch replay "tests/$suite" tests/{right,wrong}/*.c examples/*.c
}

# True if a job finds it; $work/found has which one and what it said.
finds() { # JOB...
    local job locale
    for job; do
        # shellcheck disable=SC2046  # names of targets
        if [[ $job != lint/* ]] && ! make -s -C "$tree" $(targets "$job") >"$work/said" 2>&1; then
            echo "the compiler" >"$work/found"
            return 0
        fi
        # What make test runs, the gate runs in German.
        locale=
        [[ $job == asan/* || $job == tests/* ]] || locale=$german
        if ! env -C "$tree" ${locale:+LC_ALL="$locale"} timeout 900 tests/job.sh "$job" >"$work/tap" 2>"$work/said"; then
            { echo "$job: $(grep -m 1 '^not ok ' "$work/tap")"; } >"$work/found"
            return 0
        fi
    done
    return 1
}

planted() { # JOBS FILE CHANGE
    local status
    cp -p "$tree/$2" "$work/before" || return 1
    perl -pi -e "$3" "$tree/$2" || return 1
    if cmp -s "$tree/$2" "$work/before"; then
        echo "nothing is changed by $3: the line is not there any more"
        return 1
    fi
    finds ${1//,/ }
    status=$?
    cp "$work/before" "$tree/$2"
    return $status
}

check "a copy of the checkout is built" copy
number=0
while IFS='@' read -r jobs file change what; do
    [[ $jobs != \#* ]] && [ "$what" ] || continue
    number=$((number + 1))
    [ $# -eq 0 ] || [[ " $* " == *" $number "* ]] || continue
    read -r file <<<"$file"
    if planted "$(tr -d ' ' <<<"$jobs")" "$file" "$change" >"$work/why" 2>&1; then
        ok "$number, $file:$what: found by $(cat "$work/found")"
    else
        fail "$number, $file:$what: not found by $jobs $(cat "$work/why")"
    fi
done <"$list"
