#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tour.sh: what `make tour` shows: four ranks say hello, pass a token round, and then wait for each other for ever,
# which Pairwise explains. The last one must fail (status 1), so that is what is checked.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${BUILD:-build}

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

show "$B/launch" -n 4 --tag "$B/examples/hello" || exit 1
show "$B/launch" -n 4 "$B/examples/ring_token" || exit 1
show "$B/launch" -n 2 "$B/examples/deadlock" 2>&1
status=$?
printf '\nThe deadlock ended with status %d, as it should (1): it was found, named and explained.\n' $status
[ $status -eq 1 ]
