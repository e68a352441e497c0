#!/bin/bash
# SPDX-License-Identifier: MIT
#
# job.sh JOB: runs one job of tests/jobs.sh and prints what `prove` reads, the Test Anything Protocol: a line for each test,
# then how many there were. What a job that failed has said goes to standard error, with the command that runs it alone.
#
# What has passed is stamped (build/learn stamp) and not run again as long as it and all that it could start stay the same,
# byte by byte. ALL=1 runs everything. So do settings of Pairwise in the environment, which leave no stamps either.
#
# JOBS_WORK: a folder that tests/test.sh has made; without it the job has one of its own.
set -u
cd "$(dirname "$0")/.." || exit 2
job=${1:?which job? tests/jobs.sh lists them}
B=${BUILD:-build}
IFS=/ read -r kind world suite <<<"$job"

work=${JOBS_WORK:-}
if [ -z "$work" ]; then
    work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX") || exit 2
    chmod 755 "$work"
fi
own=$work/${job//\//-}
# Whatever a test leaves in the temporary folder goes with it, however the test ended. Graded code, which runs as another
# user, must be able to enter.
mkdir -p "$own" && mkdir -m 1777 "$own/tmp" || exit 2
child=
trap 'kill ${child:+$child} 2>/dev/null; wait; rm -rf "$own"; [ "${JOBS_WORK:-}" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export TMPDIR=$own/tmp
out=$own/out tap=$own/tap again=()

# ---- What has not changed since it passed ----

# A number for the suite and all that it depends on; suites of the course depend on its sources as well. Nothing where a job
# keeps no stamps.
sum() {
    local program=$B/tests/$suite more=
    [ "$kind" = plain ] || [ "$kind" = alone ] || return
    [ -e "$work/common" ] && ! env | grep -q '^PAIRWISE_' || return
    [[ $suite == faults* ]] && program=$B/tests/faultlab
    case $suite in learn*) more=$(find solutions exercises/exercises.h exercises/check tests/exercises tests/mutants tests/learner tests/submissions -type f) ;; esac
    # shellcheck disable=SC2086  # names without blanks
    "$B/learn" stamp sum "$program" "$work/common" $more
}

# ---- Running ----

# So many seconds, the command in the background, so that a signal is seen at once.
timed() { # SECONDS COMMAND...
    # Signals that a background job ignores are as they were: tests send them.
    env --default-signal=INT,QUIT timeout -k 5 "$@" >>"$out" 2>&1 </dev/null &
    child=$!
    wait $child
    local status=$?
    child=
    return $status
}

# Of what tests/hosts.sh knows about faults and suites on several hosts.
on_hosts() (
    work=$own
    # shellcheck source=tests/hosts.sh
    source tests/hosts.sh
    "$@"
)

# Criterion's report says "ok - SUITE::TEST  # SKIP test was skipped" of tests that the filter left out.
run_suite() { # SECONDS
    local program=$B/tests/$suite filter status
    if [ ! -x "$program" ]; then
        echo "1..0 # SKIP $program is not built: it needs Criterion$([[ $suite == kernels* || $suite == trainer* ]] && echo ' and OpenCL'), see docs/install.md"
        exit 0
    fi
    again=("$program" --filter)
    filter=${QUICK:+!(*_long)/*}
    [[ $kind != *hosts ]] || filter=$(on_hosts part_of "$suite" "$filter")
    # Criterion aborts where /tmp has a socket with its process number that another user's killed suite left: once more.
    for _ in 1 2 3; do
        timed "$1" "$program" ${filter:+--filter "$filter"} --tap="$own/report"
        status=$?
        if [ $status -ne 134 ] || [ -e "$own/report" ]; then break; fi
    done
    grep -E '^(not )?ok ' "$own/report" 2>/dev/null | { if [ "$filter" ]; then grep -v '# SKIP test was skipped$'; else cat; fi; } >"$tap"
    return $status
}

# Lines "ok NAME", "FAIL NAME" and "skip NAME (reason)".
from_lines() { sed -n -E 's/^ok (.*)/ok - \1/p; s/^FAIL (.*)/not ok - \1/p; s/^skip (.*) \((.*)\)$/ok - \1 # SKIP \2/p; s/^skip (.*): (.*)$/ok - \1 # SKIP \2/p' "$out" | tr -d '\r' >"$tap"; }

# What writes of one byte can break in a fault: what is in flight when a rank dies, floods, lengths.
short_faults="flood flood-bound partial-frame send-then-die trunc order"

run_faults() { # SECONDS
    local faults=--all status
    [[ $suite != faults-* ]] || faults="--all --half ${suite#faults-}"
    [ -z "${WHOLE:-}" ] || faults+=" --long"
    again=("$B/tests/faultlab")
    case $kind in
    short) [ -z "${QUICK:-}" ] || faults=$short_faults ;;
    *hosts) faults=$(on_hosts faults "$PAIRWISE_HOSTS" | awk -v half="${suite#faults-}" 'NR % 2 == half % 2') ;;
    esac
    # shellcheck disable=SC2086  # a list of names
    timed "$1" "$B/tests/faultlab" $faults
    status=$?
    from_lines
    return $status
}

# Its closing line: -- solutions: 18 right, 0 wrong, 0 unchanged since they were right
run_solutions() {
    local status right wrong unchanged
    again=("$B/learn" solutions)
    timed 1800 "$B/learn" solutions
    status=$?
    read -r right wrong unchanged < <(tail -n 1 "$out" | tr -dc '0-9 ')
    { yes "ok - a solution is right" | head -n $((${right:-0} + ${unchanged:-0})); sed -n 's/^FAIL /not ok - /p' "$out"; } >"$tap"
    [ "${wrong:-1}" -eq 0 ] && return $status
    return 1
}

run_script() { # FILE...
    again=("$@")
    timed 3600 "$@"
    local status=$?
    from_lines
    return $status
}

run() {
    [ "$world" = none ] || export PAIRWISE_WORLD=$world
    case $kind in
    plain | alone) ;;
    asan)
        B=build/asan
        export BUILD=$B ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
        export LSAN_OPTIONS=suppressions=$PWD/tests/opencl.supp:print_suppressions=0
        ;;
    short) export PAIRWISE_SNDBUF=1 ;;
    2hosts | 3hosts) export PAIRWISE_HOSTS=${kind%hosts} ;;
    solutions) unset PAIRWISE_WORLD && run_solutions; return ;;
    lint) unset PAIRWISE_WORLD && run_script scripts/lint.sh "$world" ${suite:+"$suite"}; return ;;
    tests) unset PAIRWISE_WORLD && run_script "$job"; return ;;
    *) echo "$0: there is no job $job; tests/jobs.sh lists them" >&2; exit 2 ;;
    esac
    if [[ $suite == faults* ]]; then run_faults 3600; else run_suite 1800; fi
}

# ---- What is said of it ----

count() { grep -c -E "$1" "$tap"; }

# The settings that a job adds to the environment, and its command.
how_to_repeat() {
    env | grep -E '^(PAIRWISE_(WORLD|SNDBUF|HOSTS)|BUILD)=' | sort | tr '\n' ' '
    echo "${again[*]}$(sed -n -E 's/^not ok - (.*)::(\S*).*/ \1\/\2/p; s/^not ok - (\S*).*/ \1/p' "$tap" | head -n 1)"
}

sum=
[ -z "${ALL:-}${WHOLE:-}" ] && sum=$(sum)
if [ "$sum" ] && known=$("$B/learn" stamp fresh "$suite@$world" "$sum"); then
    echo "$job unchanged $known" >>"$work/unchanged"
    echo "1..0 # SKIP not run again: unchanged since it passed (ALL=1 runs it)"
    exit 0
fi

: >"$out" && : >"$tap"
TIMEFORMAT='%R %U %S'
{ time { run 2>&3; status=$?; }; } 3>&2 2>"$own/time"
# A script starts programs of others (mpirun), which may leave what they like.
left=$([ "$kind" = tests ] || (cd "$own/tmp" && find . -mindepth 1 -maxdepth 2 | head -n 5 | tr '\n' ' '))
[ -z "$left" ] || echo "not ok - left behind in the temporary folder: $left" >>"$tap"
bad=$(count '^not ok ')
if [ "$bad" -eq 0 ] && { [ $status -ne 0 ] || [ ! -s "$tap" ]; }; then
    echo "not ok - $job ended with status $status after $(count '^ok ') tests" >>"$tap"
    bad=1
fi
[ "$bad" -eq 0 ] && [ "$sum" ] && "$B/learn" stamp keep "$suite@$world" "$sum" "$(count '^ok ')"
if [ "$bad" -gt 0 ]; then
    printf -- '\n-- %s, %d failed. Again: %s\n' "$job" "$bad" "$(how_to_repeat)"
    tail -n 300 "$out"
    grep '^not ok ' "$tap"
fi >&2
skipped=$(count '^ok .*# SKIP')
tr , . <"$own/time" | LC_ALL=C awk -v said="$job $(($(count '^ok ') - skipped)) $bad $skipped" '{ printf "%.1f %.1f %s\n", $1, $2 + $3, said }' >>"$work/jobs"
cat "$tap"
echo "1..$(wc -l <"$tap")"
[ "$bad" -eq 0 ]
