#!/bin/bash
# SPDX-License-Identifier: MIT
#
# clang.sh: all of it compiles without a warning under clang too. Its warnings do not depend on optimising, which would take
# twice as long.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
have clang || { skip clang "clang is not installed"; exit 0; }
targets=all
[ -e build/.setup-test ] && targets="all suites"
# shellcheck disable=SC2086  # a list of targets
check "clang compiles everything ($targets)" make BUILD=build/clang CC=clang CFLAGS=-O0 $targets
