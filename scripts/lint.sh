#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lint.sh FILE...: checks that clang-format would change nothing, and that clang-tidy (settings in .clang-tidy) and
# cppcheck find nothing in the C files. A file that is clean is stamped, with all that it includes, and not checked
# again; ALL=1 checks every file.
set -u
cd "$(dirname "$0")/.." || exit 2
export B=${BUILD:-build}
export stamps=$B/lint
jobs=$(nproc)
status=0
sources=() formatted=()
for file in "$@"; do
    case $file in *.c) sources+=("$file") ;; esac
    case $file in *.[ch] | *.cl) formatted+=("$file") ;; esac
done
for tool in clang-format clang-tidy cppcheck; do
    command -v $tool >/dev/null || { echo "lint needs $tool"; exit 1; }
done
mkdir -p "$stamps/cppcheck"

# Where a file looks for headers: MPI programs as mpicc has it.
folders_of() {
    echo "-I. -I$B"
    case $1 in tests/mpi/*) echo -Impi ;; esac
}

# A number for a file, what it includes, and how it is looked at.
number_of() {
    local includes
    # shellcheck disable=SC2046  # options
    includes=$(cc -MM -MG -std=c11 -D_GNU_SOURCE $(folders_of "$1") "$1" 2>/dev/null | sed 's/^[^:]*://; s/\\$//')
    # shellcheck disable=SC2086  # a list of files
    cat .clang-tidy scripts/lint.sh $includes 2>/dev/null | cksum
}

tidy() {
    local stamp=$stamps/${1//\//-} number said
    number=$(number_of "$1")
    [ -z "${ALL:-}" ] && [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$number" ] && return 0
    echo "  TIDY $1"
    # shellcheck disable=SC2046  # options
    said=$(clang-tidy --quiet --warnings-as-errors='*' "$1" -- -std=c11 -D_GNU_SOURCE -Wall -Wextra $(folders_of "$1") 2>&1) &&
        ! grep -q -E 'error:|Error ' <<<"$said" && echo "$number" >"$stamp" && return 0
    printf '%s\n' "$said"
    return 1
}
export -f folders_of number_of tidy

echo "== clang-format, ${#formatted[@]} files"
printf '%s\0' "${formatted[@]}" | xargs -0 -n 20 -P "$jobs" clang-format --dry-run -Werror || { status=1; echo "try: make format"; }

echo "== clang-tidy, ${#sources[@]} files; those that have changed since they were clean:"
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'tidy "$@"' tidy || status=1

# Its own folder remembers what it found in which file.
echo "== cppcheck, ${#sources[@]} files"
[ -z "${ALL:-}" ] || rm -f "$stamps"/cppcheck/*
cppcheck --error-exitcode=1 --std=c11 -j "$jobs" --cppcheck-build-dir="$stamps/cppcheck" --inline-suppr \
    --suppressions-list=.cppcheck --enable=warning,performance,portability -D_GNU_SOURCE -D__linux__ \
    -D'Test(suite,name,...)=static void suite##_##name(void)' -D'TestSuite(...)=' -I. -I"$B" "${sources[@]}" |
    awk '/files checked/ && $4 + 0 >= shown + 10 { shown = $4 + 0; print "  " $0; fflush() }'
[ "${PIPESTATUS[0]}" -eq 0 ] || status=1

[ $status -eq 0 ] && echo "lint: clean"
exit $status
