#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test.sh test|all|long|JOB...: runs the jobs of make test, make test-all or make test-long (tests/jobs.sh lists them), or those
# that are named, by prove (perl), JOBS side by side: two more than there are processors, since many wait more than they
# compute. What measures time runs before, alone. The last line is the total:
#       N passed, N failed, N skipped
# TIMES=FILE keeps a line for each job there: seconds, seconds of processor time, its name, passed, failed, skipped.
set -u
cd "$(dirname "$0")/.." || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL # a make in a test is a user's, not a part of the one that runs the tests
export B=${BUILD:-build}
JOBS_WORK=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX") || exit 2
export JOBS_WORK
trap 'wait; rm -rf "$JOBS_WORK"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$JOBS_WORK"
: >"$JOBS_WORK/jobs"

# Of long sweeps a sample, of suites called *_long nothing: test-long has the whole.
if [ "${1:-}" = long ]; then export WHOLE=1; elif [ -z "${ALL:-}" ]; then export QUICK=1; fi
command -v prove >/dev/null || { echo "make test needs prove, which comes with perl: apt-get install perl" >&2; exit 2; }

# Whatever a suite may start or read, but for the suites themselves.
if [ -x "$B/learn" ]; then
    find "$B/launch" "$B/learn" "$B/examples" "$B/bench" "$B/tests" tests/wrong tests/right tests/mpi tests/job.sh -type f |
        grep -v -x -F -f <(printf "$B/%s\n" tests/*.c | sed 's/\.c$//') | LC_ALL=C sort >"$JOBS_WORK/files"
    # shellcheck disable=SC2046  # names without blanks
    { "$B/learn" stamp sum $(cat "$JOBS_WORK/files") && echo "${QUICK:-}"; } >"$JOBS_WORK/common" || rm "$JOBS_WORK/common"
fi

case ${1:?what? test, all, long, or the names of jobs} in
test | all | long) names=$(tests/jobs.sh "$1") || exit ;;
*) names=$(printf '%s\n' "$@") ;;
esac

# Failed tests by name, skipped ones with their reasons; without a summary of each group.
run() { # HOW_MANY NAME...
    local most=$1
    shift
    [ $# -eq 0 ] || prove -j "$most" --failures --directives --timer --exec tests/job.sh "$@"
}

start=$SECONDS
# shellcheck disable=SC2046  # names without blanks
run 1 $(grep '^alone/' <<<"$names")
status=$?
# shellcheck disable=SC2046
run "${JOBS:-$(($(nproc) + 2))}" $(grep -v '^alone/' <<<"$names") || status=1

LC_ALL=C sort -k1,1nr "$JOBS_WORK/jobs" >"$JOBS_WORK/times"
[ -z "${TIMES:-}" ] || cat "$JOBS_WORK/times" >>"$TIMES"
unchanged=0
if [ -e "$JOBS_WORK/unchanged" ]; then
    unchanged=$(awk '{ sum += $3 } END { print sum + 0 }' "$JOBS_WORK/unchanged")
    echo "-- $unchanged tests have not changed since they passed, and were not run again (ALL=1 runs them)"
fi
LC_ALL=C awk -v seconds=$((SECONDS - start)) '{ sum += $2 } END { printf "-- %d jobs in %d s, %d s of processor time\n", NR, seconds, sum }' "$JOBS_WORK/times"
awk -v unchanged=$unchanged '{ passed += $4; failed += $5; skipped += $6 }
    END { printf "%d passed, %d failed, %d skipped\n", passed + unchanged, failed, skipped }' "$JOBS_WORK/times"

[ "${1:-}" != test ] || [ ! -x "$B/learn" ] || "$B/learn" own || status=1
exit $status
