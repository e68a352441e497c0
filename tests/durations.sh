#!/bin/bash
# SPDX-License-Identifier: MIT
#
# durations.sh: runs the jobs of make test and of make test-all, all of them, and writes how long each took to tests/durations,
# by which tests/jobs.sh puts the longest first.
set -u
cd "$(dirname "$0")/.." || exit 2
times=$(mktemp "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -f "$times"' EXIT
export ALL=1 QUICK=1 TIMES=$times
tests/test.sh test && tests/test.sh all || exit
{
    echo "# Seconds that a job (tests/jobs.sh) took beside others; make durations writes this anew."
    LC_ALL=C awk '{ print $1, $3 }' "$times" | LC_ALL=C sort -k1,1nr
} >tests/durations
