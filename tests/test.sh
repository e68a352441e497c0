#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test.sh [course]: what `make test` runs, once everything is built: each Criterion suite, then every quick fault, in
# each world; with `course` also the solutions of the exercises, then what the learner has begun, and last the list of
# exercises. BUILD says which build, WORLDS which worlds; ONLY_WORLDS=1 leaves out suites that have nothing to do with
# them, ONLY_MESSAGES=1 also those of what is made of messages (programs, the network, traces, training). The total over
# all is a line of its own: N passed, N failed, N skipped.
#
# What has passed is stamped (build/learn stamp) and not run again as long as it and all it could start stay the same,
# byte by byte. ALL=1 runs everything. So do settings of Pairwise in the environment, which leave no stamps either.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${BUILD:-build}
# Whatever a test leaves in the temporary folder goes with it, however the test ended. Graded code, which runs as
# another user, must be able to enter.
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX") || exit 2
trap 'kill $(cat "$work"/*.pid 2>/dev/null) 2>/dev/null; wait; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$work"
log=$work/log
export TMPDIR=$work/tmp
mkdir -m 1777 "$TMPDIR"
passed=0 failed=0 skipped=0 unchanged=0 failures=()
begun=0 jobs=() programs=() in_world=() sums=()
course=$([ "${1:-}" = course ] && echo yes)
[ -z "$course" ] || [ "${ALL:-}" ] || export QUICK=1 # of long sweeps a sample, of suites called *_long nothing; test-all has the whole
worlds=${WORLDS:-${PAIRWISE_WORLD:-socket shm}} first=${worlds%% *} last=${worlds##* }

stamps=
if [ -x "$B/learn" ] && ! env | grep -q '^PAIRWISE_'; then
    stamps=yes
    # Whatever a suite may start or read, but for the suites themselves.
    find "$B/launch" "$B/learn" "$B/examples" "$B/bench" "$B/tests" tests/wrong tests/right tests/mpi tests/test.sh -type f |
        grep -v -x -F -f <(printf "$B/%s\n" tests/*.c | sed 's/\.c$//') | LC_ALL=C sort >"$log"
    # shellcheck disable=SC2046  # names without blanks
    { "$B/learn" stamp sum $(cat "$log") && echo "${QUICK:-}"; } >"$log.common" || stamps=
fi

# A number for a program and all that it depends on; suites of the course depend on its sources as well.
inputs() {
    local more=
    case $1 in */learn*) more=$(find solutions exercises/exercises.h exercises/check tests/exercises tests/mutants tests/learner tests/submissions -type f) ;; esac
    # shellcheck disable=SC2086  # names without blanks
    "$B/learn" stamp sum "$1" "$log.common" $more
}

# True if it was stamped with what it is now; the number of its tests is then counted.
is_unchanged() {
    local count
    [ -n "$stamps" ] || return 1
    sum=$(inputs "$1") && count=$("$B/learn" stamp fresh "${1#"$B"/}@$PAIRWISE_WORLD" "$sum") || return 1
    unchanged=$((unchanged + count))
}

keep() {
    if [ -n "$stamps" ] && [ -n "$sum" ]; then "$B/learn" stamp keep "${1#"$B"/}@$PAIRWISE_WORLD" "$sum" "$2"; fi
}

# Of Criterion's report in the Test Anything Protocol, which is the same in every language:
#       ok - SUITE::TEST  (0.01s)
#       not ok - SUITE::TEST timed out (0.10s)
#       ok - SUITE::TEST  # SKIP REASON
count() { grep -c -E "$1" "$log.tap"; }

# One more failure, as the command that runs it alone.
failure() { failures+=("PAIRWISE_WORLD=$PAIRWISE_WORLD $*"); }

# So many seconds; nothing if they are few.
took() { [ "$1" -lt 2 ] || echo "== $1 s"; }

# A suite in the background, its output and its report in files of its own. Signals that a background job ignores are as
# they were: tests send them.
begin_suite() {
    local out=$log.$((begun + 1)) start=$SECONDS sum=
    is_unchanged "$1" && return
    begun=$((begun + 1))
    mkdir -m 1777 "$TMPDIR/$begun"
    {
        # Criterion aborts where /tmp has a socket with its process number that another user's killed suite left: once more.
        for _ in 1 2 3; do
            TMPDIR=$TMPDIR/$begun env --default-signal=INT,QUIT timeout -k 5 "${SUITE_SECONDS:-300}" "$1" ${QUICK:+--filter "!(*_long)/*"} --tap="$out.tap" >"$out" 2>&1 </dev/null &
            echo $! >"$out.pid"
            wait $!
            status=$?
            if [ $status -ne 134 ] || [ -e "$out.tap" ]; then break; fi
        done
        echo "$status $((SECONDS - start))" >"$out.new"
        mv "$out.new" "$out.status"
        rm -f "$out.pid"
    } &
    jobs[begun]=$! programs[begun]=$1 in_world[begun]=$PAIRWISE_WORLD sums[begun]=$sum
}

# One that has ended is shown and counted.
end_suite() {
    local status seconds good bad missing name sum=${sums[$1]} PAIRWISE_WORLD=${in_world[$1]} program=${programs[$1]} out=$log.$1
    jobs[$1]=
    printf '%s\n' "-- $program ($PAIRWISE_WORLD)"
    read -r status seconds 2>/dev/null <"$out.status" || status=1 seconds=0
    cat "$out"
    took "$seconds"
    rmdir "$TMPDIR/$1" 2>/dev/null
    # What a sample leaves to test-all is not counted as skipped.
    [ -z "${QUICK:-}" ] || sed -i '/_long::/d' "$out.tap" 2>/dev/null
    mv "$out.tap" "$log.tap" 2>/dev/null || : >"$log.tap"
    missing=$(count '^ok .*# SKIP') bad=$(count '^not ok ') good=$(($(count '^ok ') - missing))
    sed -n 's/^ok .*# SKIP //p' "$log.tap" | sort | uniq -c | sed 's/^ *\([0-9]*\)/-- skipped, \1 of them:/'
    while read -r _ _ _ name _; do failure "$program --filter ${name/::/\/}"; done < <(grep '^not ok ' "$log.tap")
    if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ $((good + missing)) -eq 0 ]; }; then
        failure "$program, which ran $good tests and ended with status $status"
        bad=1
    fi
    [ "$bad" -eq 0 ] && keep "$program" "$good"
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + missing))
}

has_ended() { [ -e "$log.$1.status" ] || ! kill -0 "${jobs[$1]}" 2>/dev/null; }

# Until no more than so many suites run.
run_down_to() {
    local i running
    while :; do
        running=()
        for ((i = 1; i <= begun; i++)); do
            [ "${jobs[i]}" ] || continue
            if has_ended $i; then end_suite $i; else running+=("${jobs[i]}"); fi
        done
        [ ${#running[@]} -gt "$1" ] || break
        wait -n "${running[@]}"
    done
}

# Many suites wait longer than they compute, so two run side by side; what measures time runs alone.
suite() {
    run_down_to 1
    begin_suite "$1"
}

# Faults wait more than they compute, so those of all worlds run beside the suites.
begin_faults() {
    local out=$log.$PAIRWISE_WORLD sum=
    is_unchanged "$B/tests/faultlab" && return
    echo "$sum" >"$out.sum"
    {
        timeout -k 5 "${SUITE_SECONDS:-900}" "$B/tests/faultlab" --all >"$out" 2>&1 </dev/null &
        echo $! >"$out.pid"
        wait $!
        echo $? >"$out.status"
        rm -f "$out.pid"
    } &
    echo $! >"$out.job"
}

# What they have said so far, and then every line as it comes.
show_faults() {
    local out=$log.$PAIRWISE_WORLD
    [ -e "$out.sum" ] || return
    printf '%s\n' "-- $B/tests/faultlab --all ($PAIRWISE_WORLD)"
    tail -n +1 -s 0.2 --pid="$(cat "$out.job")" -f "$out" | sed -u "s/^/$PAIRWISE_WORLD: /"
}

# faultlab's closing line: 40 passed, 0 failed, 2 skipped
end_faults() {
    local status line sum name out=$log.$PAIRWISE_WORLD
    [ -e "$out.status" ] || return
    sum=$(cat "$out.sum") status=$(cat "$out.status")
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$out" | tail -n 1 | tr -dc '0-9 ')
    # shellcheck disable=SC2086  # three numbers
    set -- ${line:-0 1 0}
    while read -r _ name _; do failure "$B/tests/faultlab ${name%:}"; done < <(grep '^FAIL ' "$out")
    if [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; then
        failure "$B/tests/faultlab, which ended with status $status"
        set -- "$1" 1 "${3:-0}"
    fi
    [ "$2" -eq 0 ] && keep "$B/tests/faultlab" "$1"
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0}))
}

begin_solutions() {
    env -u PAIRWISE_WORLD "$B/learn" solutions >"$log.solutions" 2>&1 &
    echo $! >"$log.solutions.pid"
}

# Its closing line: -- solutions: 18 right, 0 wrong, 0 unchanged since they were right
end_solutions() {
    wait "$(cat "$log.solutions.pid")"
    rm "$log.solutions.pid"
    cat "$log.solutions"
    # shellcheck disable=SC2046  # three numbers
    set -- $(tail -n 1 "$log.solutions" | tr -dc '0-9 ')
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1})) unchanged=$((unchanged + ${3:-0}))
    while read -r _ name; do failures+=("$name"); done < <(grep '^FAIL ' "$log.solutions")
}

# Those that have nothing to do with worlds, or choose one themselves, run once; with ONLY_WORLDS=1 not at all.
knows_no_world() {
    case ${1#tests/} in
    kernels* | learn* | dtype* | headers* | trace_format* | trainer_data* | trainer_files* | trainer_model*) ;;
    *) return 1 ;;
    esac
}

# What they compute is the same in each world, and takes long: with `course` or ONCE=1 in the last one only.
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

# What they test lies above the worlds, or in one place for all, so a sample (QUICK) has them in the last one only.
# OTHER_WORLDS=1 (all/worlds.sh) makes exactly the runs that `make test` leaves out.
is_left_to_other_worlds() {
    if [ "$PAIRWISE_WORLD" = "$last" ] || knows_no_world "$1"; then return 1; fi
    is_long_in_each "$1" && return
    case ${1#tests/} in
    bench* | blocks* | collectives* | contracts* | many_ranks* | mismatch* | replay* | ring* | trace* | trainer*) ;;
    alloc_random* | nonblocking* | operators* | p2p_alloc* | p2p_comm* | p2p_layer* | p2p_report* | p2p_wrong*) ;;
    scan* | shm_queue* | shm_ways*) ;;
    *) return 1 ;;
    esac
}

measures_time() {
    case ${1#tests/} in
    bench* | kernels_ladder* | p2p_cores* | p2p_scale*) ;;
    *) return 1 ;;
    esac
}

# Is this suite to run in this world?
is_wanted() {
    if [ -n "${OTHER_WORLDS:-}" ]; then
        is_left_to_other_worlds "$1"
        return
    fi
    if knows_no_world "$1" && { [ "$PAIRWISE_WORLD" != "$first" ] || [ -n "${ONLY_WORLDS:-}${ONLY_MESSAGES:-}" ]; }; then return 1; fi
    if [ -z "${ALL:-}" ] && [ "${QUICK:-}" ] && is_left_to_other_worlds "$1"; then return 1; fi
    if [ -z "${ALL:-}" ] && [ "${ONCE:-}" ] && is_long_in_each "$1" && [ "$PAIRWISE_WORLD" != "$last" ]; then return 1; fi
    [ -z "${ONLY_MESSAGES:-}" ] || ! is_made_of_messages "$1"
}

# All that is wanted, of those that measure time or of the others.
run_suites() {
    local source also pass
    for PAIRWISE_WORLD in $worlds; do
        export PAIRWISE_WORLD
        # The longest first, so that at the end none runs alone.
        for source in $(printf '%s\n' tests/{learn_commands,trainer_program,trace,trainer}.c tests/*.c | awk '!seen[$0]++'); do
            is_wanted "$source" || continue
            if measures_time "$source"; then pass=alone; else pass=together; fi
            [ "$1" = $pass ] || continue
            if [ -x "$B/${source%.c}" ]; then
                [ "$1" != alone ] || run_down_to 0
                suite "$B/${source%.c}"
                continue
            fi
            also=
            case $source in
            tests/kernels* | tests/trainer*) also=" and OpenCL (opencl-headers ocl-icd-opencl-dev pocl-opencl-icd)" ;;
            esac
            echo "-- $B/${source%.c}: skipped, for it needs Criterion (package libcriterion-dev)$also"
            skipped=$((skipped + 1))
        done
    done
    run_down_to 0
}

run_suites alone
fault_worlds=$([ ! -x "$B/tests/faultlab" ] || [ "${OTHER_WORLDS:-}" ] || echo "$worlds")
for PAIRWISE_WORLD in $fault_worlds; do begin_faults; done
run_suites together
[ "$course" ] && begin_solutions
for PAIRWISE_WORLD in $fault_worlds; do show_faults; done
for PAIRWISE_WORLD in $fault_worlds; do end_faults; done
unset PAIRWISE_WORLD
[ "$course" ] && end_solutions

left=$(cd "$TMPDIR" && find . -mindepth 1 -maxdepth 2)
if [ "$left" ]; then
    failures+=("left behind in the temporary folder: $(echo "$left" | head -n 5 | tr '\n' ' ')")
    failed=$((failed + 1))
fi

echo "-- all of $B/tests"
[ $unchanged -gt 0 ] && echo "-- $unchanged of them have not changed since they passed, and were not run again (ALL=1 runs them)"
[ $failed -eq 0 ] || printf -- '-- failed: %s\n' "${failures[@]}"
echo "$((passed + unchanged)) passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
status=$?

if [ "$course" ]; then "$B/learn" own || status=1; fi
exit $status
