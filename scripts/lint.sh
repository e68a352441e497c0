#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lint.sh [PART...] [FILE...]: looks at the C files of the project, or at these. The parts:
#
#       format      clang-format would change nothing
#       clang       clang compiles each file without a warning, with the warnings of the Makefile
#       tidy        clang-tidy's checks of the syntax tree (settings in .clang-tidy)
#       cppcheck    cppcheck
#       analyzer    clang's analyzer, which takes ten times as long as all others together: on what has changed since it was
#                   last found clean. What it found clean is in scripts/analyzed: for each file a number that changes with it
#                   and its headers (scripts/sums.pl). The file is part of the checkout, so commit it with what you change.
#                   (ANALYZED: another file.)
#
# ALL=1 analyses every file, as make test-long does. Prints "ok PART" or "FAIL PART" for each.
set -u
cd "$(dirname "$0")/.." || exit 2
unset MAKEFLAGS MFLAGS MAKELEVEL
export B=${BUILD:-build}
analyzed=${ANALYZED:-scripts/analyzed}
jobs=$(nproc)
all_parts=(format clang tidy cppcheck analyzer)
parts=() files=()
for word; do
    case " ${all_parts[*]} " in *" $word "*) parts+=("$word") ;; *) files+=("$word") ;; esac
done
[ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")
# shellcheck disable=SC2207  # names without blanks
[ ${#files[@]} -gt 0 ] || files=($(make -s --no-print-directory lint-files))
for tool in clang-format clang clang-tidy cppcheck; do
    command -v $tool >/dev/null || { echo "lint needs $tool: make build/.setup-lint"; exit 1; }
done

# MPI programs are compiled as mpicc does it, and some are wrong on purpose.
only() { printf '%s\n' "${files[@]}" | grep -E "$1"; } # PATTERN
ours() { only '\.c$' | grep -v '^tests/mpi/'; }
programs() { only '^tests/mpi/.*\.c$'; }
export flags="-std=c11 -D_GNU_SOURCE -I. -I$B"
many() { xargs -r -P "$jobs" -n "$1" "${@:2}"; } # FILES_AT_ONCE COMMAND...

format() { only '\.([ch]|cl)$' | many 40 clang-format --dry-run -Werror || { echo "try: make format"; return 1; }; }

clang_warns() {
    # shellcheck disable=SC2086  # options
    ours | many 40 clang -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror $flags
}

# CHECKS OPTION...: what is found, but for how many warnings are not shown; what cannot be compiled is a finding.
tidy_with() {
    # shellcheck disable=SC2016,SC2086  # a script; options
    many 20 bash -c 'clang-tidy --quiet --checks="$0" --warnings-as-errors="*" "$@" -- '"$flags ${*:2}" "$1" 2>&1 |
        grep -v -E 'warnings? (generated|treated)' | tee "$said" | head -n 200
    ! grep -q -E 'error:|Error ' "$said"
}
tidy() {
    local status=0
    ours | tidy_with "-clang-analyzer-*" -Wall -Wextra || status=1
    programs | tidy_with "-clang-analyzer-*" -Impi || status=1
    return $status
}

cppcheck_() {
    mkdir -p "$B/lint/cppcheck" # It remembers there what it found in which file.
    only '\.c$' | xargs -r cppcheck -q --error-exitcode=1 --std=c11 -j "$jobs" --cppcheck-build-dir="$B/lint/cppcheck" --inline-suppr \
        --suppressions-list=.cppcheck --enable=warning,performance,portability -D_GNU_SOURCE -D__linux__ \
        -D'Test(suite,name,...)=static void suite##_##name(void)' -D'TestSuite(...)=' -I. -I"$B"
}

# One file: its sum is kept if nothing is found.
analyse() { # SUM FILE
    local options="-Wall -Wextra" said
    [[ $2 == tests/mpi/* ]] && options=-Impi
    # shellcheck disable=SC2086  # options
    said=$(clang-tidy --quiet --checks='-bugprone-*,-performance-*,-misc-*,-readability-*' --warnings-as-errors='*' "$2" -- $flags $options 2>&1) &&
        ! grep -q -E 'error:|Error ' <<<"$said" && echo "$1 $2" >>"$clean" && return
    printf '%s\n' "$said"
    return 1
}
export -f analyse

analyzer() {
    local status=0 count
    only '\.c$' | xargs -r scripts/sums.pl | LC_ALL=C sort -k2 >"$said.sums"
    if [ "${ALL:-}${WHOLE:-}" ]; then cp "$said.sums" "$said.new"; else grep -v -x -F -f "$analyzed" "$said.sums" >"$said.new"; fi
    count=$(wc -l <"$said.new")
    echo "$count files to analyse"
    export clean=$said.clean
    : >"$clean"
    many 2 bash -c 'analyse "$@"' analyse <"$said.new" || status=1
    # What was found clean, now or before, and still is what it was.
    if [ "$count" -gt 0 ]; then
        sort -u "$analyzed" "$clean" | LC_ALL=C sort -k2 >"$said.known"
        cut -d' ' -f2 "$said.known" | sort -u | xargs -r scripts/sums.pl | grep -x -F -f - "$said.known" >"$said.kept"
        cp "$said.kept" "$analyzed"
        [ "${CI:-}" ] || echo "$analyzed is new: commit it"
    fi
    return $status
}

export said
said=$(mktemp "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -f "$said"*' EXIT
status=0
for part in "${parts[@]}"; do
    case $part in clang) check=clang_warns ;; cppcheck) check=cppcheck_ ;; *) check=$part ;; esac
    if $check; then echo "ok $part"; else echo "FAIL $part"; status=1; fi
done
[ $status -eq 0 ] && echo "lint: clean"
exit $status
