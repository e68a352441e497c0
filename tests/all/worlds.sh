#!/bin/bash
# SPDX-License-Identifier: MIT
#
# worlds.sh: the suites that `make test` runs in the last world only, in the others.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
check "suites that make test runs in one world, in the others" env OTHER_WORLDS=1 tests/test.sh
