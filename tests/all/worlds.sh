#!/bin/bash
# SPDX-License-Identifier: MIT
#
# worlds.sh: the suites that `make test` and the sanitizers run in the world `shm` only, in the world `socket`.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
for suite in network trainer_golden trainer_program; do
    if [ -x "$B/tests/$suite" ]; then
        check "$suite, socket" env PAIRWISE_WORLD=socket timeout 300 "$B/tests/$suite"
    else
        skip "$suite, socket" "it needs Criterion"
    fi
done
