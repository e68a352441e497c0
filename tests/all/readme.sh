#!/bin/bash
# SPDX-License-Identifier: MIT
#
# readme.sh: what the README says is true: its first program compiles and runs as told, the demo prints what is shown
# (in any order, for ranks come as they like), and every file it names is there.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# shellcheck disable=SC2016  # backquotes of Markdown
first_program() {
    sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$work/first.c"
    cc -I. "$work/first.c" "$B/libpairwise.a" -o "$work/first" &&
        says "rank 1 received 41" "$B/launch" -n 2 "$work/first"
}

# The lines of the block that begins with `$ build/launch ... hello`, up to the next heading.
demo_as_told() {
    sed -n '/^    \$ build\/launch .*hello$/,/^## /s/^    //p' README.md | sort >"$work/told"
    BUILD=$B scripts/demo.sh 2>&1 | sed "s|$B/|build/|" | grep -v '^$' | sort >"$work/shown"
    [ -s "$work/told" ] && diff "$work/told" "$work/shown"
}

files_named() {
    local file status=0
    for file in $(grep -oE '\]\([^)#]+\)' README.md | tr -d ']()' | grep -v '^http'); do
        [ -e "$file" ] || [ -e "p2p/$file" ] || { echo "no $file"; status=1; }
    done
    return $status
}

check "README: the first program" first_program
check "README: the demo" demo_as_told
check "README: the files it names" files_named
