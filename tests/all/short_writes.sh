#!/bin/bash
# SPDX-License-Identifier: MIT
#
# short_writes.sh: fault 17. With the smallest socket buffers nearly every write and read is a short one; nothing may change.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
check "suites and faults with PAIRWISE_SNDBUF=1" env ONLY_WORLDS=1 PAIRWISE_SNDBUF=1 tests/test.sh
