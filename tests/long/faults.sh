#!/bin/bash
# SPDX-License-Identifier: MIT
# faults.sh: every fault, the slow ones too.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
"$B/tests/faultlab" --all --long
