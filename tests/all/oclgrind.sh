#!/bin/bash
# SPDX-License-Identifier: MIT
#
# oclgrind.sh: the suites of kernels on a simulated device that watches every access: outside a buffer, and two
# work-items at the same place. Small cases only, for it is slow.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
have oclgrind || { skip oclgrind "oclgrind is not installed"; exit 0; }
[ -x "$B/tests/kernels_layers" ] || { skip oclgrind "the suites of kernels are not built (OpenCL and Criterion)"; exit 0; }
export PAIRWISE_KERNEL_SAMPLES=1 PAIRWISE_CACHE="$work/cache"

# The suite passes, and the simulator reports nothing.
watched() {
    oclgrind --data-races --log "$work/log" timeout 600 "$@" || return 1
    [ ! -s "$work/log" ] || { head -n 40 "$work/log"; return 1; }
}

for lanes in 1 4; do
    check "oclgrind: layers, $lanes lanes" watched env PAIRWISE_KERNEL_LANES=$lanes "$B/tests/kernels_layers" -j1
done
check "oclgrind: vectors" watched "$B/tests/kernels_vectors" -j1
