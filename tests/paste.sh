#!/bin/bash
# SPDX-License-Identifier: MIT
#
# paste.sh PAGE...: every command that a page shows, typed in the order of the page in the top folder, as a reader
# would: each must be there and be called rightly. Commands are the lines indented by four blanks that begin with one of
# `commands`, up to a # with two blanks before it. A deadlock that is shown on purpose may end with 1; what is not found
# or called wrongly (2, 126, 127, or a usage message) is a failure, and so is one that takes more than two minutes.
# Prints a line for each page: ok PAGE (N commands), or FAIL and what the command said.
set -u
commands='make|build/[a-z_/]+|cc|cp|git archive|sh|tar|diff'
said=$(mktemp "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -f "$said"' EXIT
failed=0

# Commands that a page means for another machine, that never end by themselves, or that have tests of their own.
elsewhere() {
    case $1 in
    "make watch"* | "make demo-"* | "make lint" | "make install"* | "make plots"* | "make bench"* | "make test" | "make check-course" | *"/autograder"* | *'"$'*) return 0 ;;
    *PROGRAM* | *first.c* | *./first) return 0 ;;
    *"--data cifar-10-batches-bin"*) [ ! -d cifar-10-batches-bin ] && return 0 ;; # what the reader fetches, and we do not
    "git "*) ! git rev-parse --git-dir >/dev/null 2>&1 && return 0 ;;
    esac
    return 1
}

paste() { # COMMAND
    local status
    timeout -k 5 "${PASTE_SECONDS:-120}" bash -c "$1" </dev/null >"$said" 2>&1
    status=$?
    if [ $status -eq 2 ] && grep -q '^make: .* Error 1$' "$said"; then status=1; fi # make's way of passing on a 1
    if [ $status -le 1 ] && ! grep -q -E '^Usage: |No rule to make|command not found|^[^ ]*: .*No such file' "$said"; then return 0; fi
    echo "    $1    ended with $status:"
    head -n 20 "$said" | sed 's/^/        /'
    return 1
}

for page in "$@"; do
    count=0 wrong=0
    while IFS= read -r command; do
        elsewhere "$command" && continue
        count=$((count + 1))
        paste "$command" || wrong=$((wrong + 1))
    done < <(grep -E "^    (\\$ )?($commands)( |\$)" "$page" | sed -E 's/^    (\$ )?//; s/  +#.*//')
    if [ $wrong -eq 0 ]; then
        echo "ok $page ($count commands pasted)"
    else
        echo "FAIL $page: $wrong of $count commands"
        failed=1
    fi
done
exit $failed
