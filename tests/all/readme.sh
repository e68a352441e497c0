#!/bin/bash
# SPDX-License-Identifier: MIT
#
# readme.sh: what the README says is true: its first program compiles and runs as told, the tour prints what is shown
# (in any order, for ranks come as they like), the demo prints the lines that are shown, but for the numbers, and every
# file it names is there.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# shellcheck disable=SC2016  # backquotes of Markdown
first_program() {
    sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$work/first.c"
    cc -I. "$work/first.c" "$B/libpairwise.a" -o "$work/first" &&
        says "rank 1 received 41" "$B/launch" -n 2 "$work/first"
}

# The lines of the block that begins with `$ build/launch ... hello`, up to the next heading.
tour_as_told() {
    sed -n '/^    \$ build\/launch .*hello$/,/^## /s/^    //p' README.md | sort >"$work/told"
    BUILD=$B scripts/tour.sh 2>&1 | sed "s|$B/|build/|" | grep -v '^$' | sort >"$work/shown"
    [ -s "$work/told" ] && diff "$work/told" "$work/shown"
}

# The block that begins with `$ build/mpicc`, up to the next blank line: its two commands, and what they say.
mpi_as_told() {
    sed -n '/^    \$ build\/mpicc/,/^$/s/^    //p' README.md >"$work/told"
    sed -n 's/^\$ //p' "$work/told" | sed "s|build/|$B/|g" >"$work/commands"
    bash "$work/commands" >"$work/shown" 2>&1
    diff <(grep -v '^\$' "$work/told") "$work/shown"
}

# The lines of a block without their numbers, blanks and bars.
without_numbers() { sed -e "s|$B/|build/|" -e 's/[0-9][0-9.]*/N/g' -e 's/  */ /g' -e 's/^ //' | grep -v '^$' | sort -u; }

# Every line shown from `$ build/train` to the next heading is printed.
demo_as_told() {
    sed -n '/^    \$ build\/train --ranks/,/^## /s/^    //p' README.md | without_numbers >"$work/told"
    BUILD=$B scripts/demo.sh 2>&1 | without_numbers >"$work/shown"
    [ -s "$work/told" ] && [ -z "$(comm -23 "$work/told" "$work/shown" | tee /dev/stderr)" ]
}

files_named() {
    local file status=0
    for file in $(grep -oE '\]\([^)#]+\)' README.md | tr -d ']()' | grep -v '^http'); do
        [ -e "$file" ] || { echo "no $file"; status=1; }
    done
    return $status
}

is_short() { [ "$(wc -l <README.md)" -le 200 ]; }

check "README: at most 200 lines" is_short
check "README: the first program" first_program
check "README: the tour" tour_as_told
check "README: the MPI program" mpi_as_told
if [ -x "$B/train" ]; then
    check "README: the demo" demo_as_told
else
    skip "README: the demo" "build/train is not built: OpenCL is missing"
fi
# The first two commands of the README, and those that the workflow runs.
workflow_runs_them() {
    local command
    while IFS= read -r command; do
        grep -q -x -- "      - run: $command" .github/workflows/test.yml || { echo "the workflow lacks: $command"; return 1; }
    done < <(sed -n '/^## Two commands/,/^## /s/^    \(make .*\)/\1/p' README.md)
    [ "$(sed -n '/^## Two commands/,/^## /p' README.md | grep -c '^    make ')" -eq 2 ]
}

check "README: the files it names" files_named
check "README: two commands, and the workflow runs them" workflow_runs_them
