#!/bin/bash
# SPDX-License-Identifier: MIT
#
# short_writes.sh [ONLY_WORLDS]: fault 17. With the smallest buffers nearly every write and read is a short one; nothing
# may change. The suites of messages and collectives, of long sweeps a sample, in all worlds; with ONLY_WORLDS every
# suite to which worlds mean something, whole.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
[ "${1:-}" = ONLY_WORLDS ] || export QUICK=1
check "suites and faults with PAIRWISE_SNDBUF=1" env ALL=1 "${1:-ONLY_MESSAGES}=1" PAIRWISE_SNDBUF=1 tests/test.sh
