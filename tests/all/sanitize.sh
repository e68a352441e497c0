#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sanitize.sh [WHOLE]: every suite and every fault again, under the address and undefined behaviour sanitizers; of long
# sweeps a sample, with WHOLE all.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
targets=all
[ -e build/.setup-test ] && targets="all suites"
# shellcheck disable=SC2086  # a list of targets
check "build with the sanitizers" make BUILD=build/asan SAN=address,undefined CFLAGS='-O1 -g' $targets
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 SUITE_SECONDS=1800
export LSAN_OPTIONS=suppressions=$PWD/tests/all/opencl.supp:print_suppressions=0
[ "${1:-}" = WHOLE ] || export QUICK=1
check "suites and faults under the sanitizers" env ONCE=1 BUILD=build/asan tests/test.sh
