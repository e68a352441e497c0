#!/bin/bash
# SPDX-License-Identifier: MIT
#
# course.sh [RUNS]: every solution again and again, with ranks that are late at random before every call: none may ever
# fail. 200 runs of each unless told. (What is run in every order otherwise, 36, is run in the order that delays make: an order
# that is played has no time in it. test and check-course play them all.)
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
runs=${1:-200}

for folder in solutions/*/; do
    name=$(basename "$folder")
    check "$runs runs of $name with random delays" "$B/learn" test "$name" --solution --runs "$runs" --delays
done
