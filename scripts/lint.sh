#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lint.sh FILE...: clang-tidy (settings in .clang-tidy) and cppcheck over the C files; a finding of either is an error.
set -u
cd "$(dirname "$0")/.." || exit 2
export B=${BUILD:-build}
jobs=$(nproc)
status=0
sources=()
for file in "$@"; do
    case $file in *.c) sources+=("$file") ;; esac
done
for tool in clang-tidy cppcheck; do
    command -v $tool >/dev/null || { echo "lint needs $tool"; exit 1; }
done

# shellcheck disable=SC2317  # called by xargs
tidy() {
    clang-tidy --quiet --warnings-as-errors='*' "$@" -- -std=c11 -D_GNU_SOURCE -Wall -Wextra -I. -I"$B" 2>>"$B/clang-tidy.err"
}
export -f tidy

echo "== clang-tidy, ${#sources[@]} files"
: >"$B/clang-tidy.err"
printf '%s\0' "${sources[@]}" | xargs -0 -n 3 -P "$jobs" bash -c 'tidy "$@"' tidy || status=1
# Errors of the compiler kind (a missing header) go to the other stream, among lines that only count warnings.
grep -E 'error:|Error ' "$B/clang-tidy.err"

echo "== cppcheck"
cppcheck --quiet --error-exitcode=1 --std=c11 -j "$jobs" --inline-suppr --suppressions-list=.cppcheck \
    --enable=warning,performance,portability -D_GNU_SOURCE -D__linux__ \
    -D'Test(suite,name,...)=static void suite##_##name(void)' -I. -I"$B" "${sources[@]}" || status=1

[ $status -eq 0 ] && echo "lint: clean"
exit $status
