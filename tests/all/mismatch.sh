#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mismatch.sh: every kind of disagreement between ranks, for 2 to 8 ranks: an error on all of them, every buffer
# untouched.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
export PAIRWISE_LONG=1
[ -x "$B/tests/mismatch" ] || { skip "mismatches, 2 to 8 ranks" "they need Criterion"; exit 0; }
check "mismatches, 2 to 8 ranks" "$B/tests/mismatch"
