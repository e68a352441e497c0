#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test.sh [course]: what `make test` runs, once everything is built: each Criterion suite, then every quick fault, in each
# world; with `course` also the solutions of the exercises, then what the learner has begun, and last the board.
# BUILD says which build, WORLDS which worlds; ONLY_WORLDS=1 leaves out suites that have nothing to do with them,
# ONLY_MESSAGES=1 also those of what is made of messages (programs, the network, traces, training). The total over all is a
# line of its own: N passed, N failed, N skipped.
#
# What has passed is stamped (build/learn stamp) and not run again as long as it and all it could start stay the same, byte
# by byte. ALL=1 runs everything. So do settings of Pairwise in the environment, which leave no stamps either.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${BUILD:-build}
log=$(mktemp "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -f "$log" "$log.common"' EXIT
passed=0 failed=0 skipped=0 unchanged=0 programs=0
course=$([ "${1:-}" = course ] && echo yes)
worlds=${WORLDS:-${PAIRWISE_WORLD:-socket shm}} first=${worlds%% *} last=${worlds##* }

stamps=
if [ -x "$B/learn" ] && ! env | grep -q '^PAIRWISE_'; then
    stamps=yes
    # Whatever a suite may start or read, but for the suites themselves.
    find "$B/launch" "$B/learn" "$B/examples" "$B/bench" "$B/tests" tests/wrong tests/right tests/test.sh -type f |
        grep -v -x -F -f <(printf "$B/%s\n" tests/*.c | sed 's/\.c$//') | LC_ALL=C sort >"$log"
    # shellcheck disable=SC2046  # names without blanks
    "$B/learn" stamp sum $(cat "$log") >"$log.common" || stamps=
fi

# A number for a program and all that it depends on; suites of the course depend on its sources as well.
inputs() {
    local more=
    case $1 in */learn*) more=$(find solutions exercises/exercises.h tests/exercises tests/mutants tests/learner tests/submissions -type f) ;; esac
    # shellcheck disable=SC2086  # names without blanks
    "$B/learn" stamp sum "$1" "$log.common" $more
}

# True if it was stamped with what it is now; the number of its tests is then counted.
is_unchanged() {
    local count
    [ -n "$stamps" ] || return 1
    sum=$(inputs "$1") && count=$("$B/learn" stamp fresh "${1#"$B"/}@$PAIRWISE_WORLD" "$sum") || return 1
    unchanged=$((unchanged + count)) programs=$((programs + 1))
}

keep() {
    if [ -n "$stamps" ] && [ -n "$sum" ]; then "$B/learn" stamp keep "${1#"$B"/}@$PAIRWISE_WORLD" "$sum" "$2"; fi
}

# Criterion's closing line: [====] Synthesis: Tested: 5 | Passing: 4 | Failing: 1 | Crashing: 0
field() { sed -n "s/.*Synthesis:.* $1: *\([0-9]*\).*/\1/p" "$log" | tail -n 1; }

# Since this second of the clock; not worth a line if short.
took() { [ $((SECONDS - $1)) -lt 2 ] || echo "== $((SECONDS - $1)) s"; }

suite() {
    local status good bad start sum=
    is_unchanged "$1" && return
    printf '%s\n' "-- $1 ($PAIRWISE_WORLD)"
    start=$SECONDS
    timeout -k 5 "${SUITE_SECONDS:-300}" "$1" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    took $start
    good=$(field Passing) bad=$(($(field Tested) - ${good:-0}))
    if [ "$status" -ne 0 ] && [ "$bad" -le 0 ]; then
        echo "$1 ended with status $status"
        bad=1
    fi
    [ "$bad" -eq 0 ] && keep "$1" "${good:-0}"
    passed=$((passed + ${good:-0})) failed=$((failed + bad))
}

# faultlab's closing line: 40 passed, 0 failed, 2 skipped
faults() {
    local status line start sum=
    is_unchanged "$B/tests/faultlab" && return
    printf '%s\n' "-- $B/tests/faultlab --all ($PAIRWISE_WORLD)"
    start=$SECONDS
    timeout -k 5 "${SUITE_SECONDS:-300}" "$B/tests/faultlab" --all 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    took $start
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 | tr -dc '0-9 ')
    # shellcheck disable=SC2086  # three numbers
    set -- ${line:-0 1 0}
    if [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; then
        echo "faultlab ended with status $status"
        set -- "$1" 1 "${3:-0}"
    fi
    [ "$2" -eq 0 ] && keep "$B/tests/faultlab" "$1"
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
}

# Its closing line: -- solutions: 18 right, 0 wrong, 0 unchanged since they were right
solutions() {
    "$B/learn" solutions | tee "$log"
    # shellcheck disable=SC2046  # three numbers
    set -- $(tail -n 1 "$log" | tr -dc '0-9 ')
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
}

# Those that have nothing to do with worlds, or choose one themselves, run once; with ONLY_WORLDS=1 not at all.
knows_no_world() {
    case ${1#tests/} in
    kernels* | learn* | dtype* | trace_format* | trainer_data* | trainer_files* | trainer_model*) ;;
    *) return 1 ;;
    esac
}

# What they compute is the same in each world, and takes long: with `course` or ONCE=1 in the last one only. For the others
# see all/worlds.sh.
is_long_in_each() {
    case ${1#tests/} in
    network* | trainer_golden* | trainer_program*) ;;
    *) return 1 ;;
    esac
}

is_made_of_messages() {
    case ${1#tests/} in
    bench* | network* | trace* | trainer*) ;;
    *) return 1 ;;
    esac
}

for PAIRWISE_WORLD in $worlds; do
    export PAIRWISE_WORLD
    for source in tests/*.c; do
        [ -e "$source" ] || continue
        program=$B/${source%.c} also=
        case $source in
        tests/kernels* | tests/trainer*) also=" and OpenCL (opencl-headers ocl-icd-opencl-dev pocl-opencl-icd)" ;;
        esac
        if knows_no_world "$source"; then
            if [ "$PAIRWISE_WORLD" != "$first" ] || [ -n "${ONLY_WORLDS:-}${ONLY_MESSAGES:-}" ]; then continue; fi
        fi
        if [ "$course${ONCE:-}" ] && [ -z "${ALL:-}" ] && is_long_in_each "$source" && [ "$PAIRWISE_WORLD" != "$last" ]; then continue; fi
        if [ -n "${ONLY_MESSAGES:-}" ] && is_made_of_messages "$source"; then continue; fi
        if [ -x "$program" ]; then
            suite "$program"
        else
            echo "-- $program: skipped, for it needs Criterion (package libcriterion-dev)$also"
            skipped=$((skipped + 1))
        fi
    done
    [ -x "$B/tests/faultlab" ] && faults
done
unset PAIRWISE_WORLD
[ $programs -gt 0 ] && echo "-- unchanged since they passed, and not run again: $unchanged tests in $programs programs (ALL=1 runs them)"
[ "$course" ] && solutions

echo "-- all of $B/tests"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
status=$?

if [ "$course" ]; then "$B/learn" own || status=1; fi
exit $status
