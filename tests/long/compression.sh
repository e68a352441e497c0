#!/bin/bash
# SPDX-License-Identifier: MIT
#
# compression.sh: with 16 bits on the wire a ResNet-20 becomes as good as with 32, within a point: the mean of three
# seeds, four epochs of the built-in images. The last epoch has a tenth of the learning rate; before, two runs that differ
# in rounding only are several points apart. That the checkpoint between has what was not sent yet is tried as well.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
T=$B/train
[ -x "$T" ] || { skip compression "build/train is not built: OpenCL is missing"; exit 0; }

accuracy() { # SEED OPTIONS...
    local seed=$1
    shift
    rm -rf "$work/run"
    "$T" --ranks 2 --quiet --seed "$seed" --epochs 3 --out "$work/run" "$@" || return 1
    "$T" --ranks 2 --quiet --seed "$seed" --epochs 4 --lr 1e-4 --resume "$work/run" --out "$work/run" "$@" || return 1
    grep '"accuracy"' "$work/run/metrics.jsonl" | tail -n 1 | sed 's/.*"accuracy":\([0-9.e-]*\).*/\1/'
}

mean_of() {
    for seed in 0 1 2; do accuracy $seed "$@" || echo failed; done | tee -a "$work/each" | awk '{ sum += $1 } END { print sum / 3 }'
}

f32=$(mean_of --wire f32)
as_good() { # WITHIN OPTIONS...
    local within=$1 got
    shift
    got=$(mean_of "$@")
    echo "f32 $f32, $* $got; each: $(tr '\n' ' ' <"$work/each")"
    awk -v a="$got" -v b="$f32" -v within="$within" 'BEGIN { exit !(a > 0.5 && a > b - within) }'
}
check "with f16 the accuracy is within a point of that with f32" as_good 0.01 --wire f16
check "with bf16 it is, too" as_good 0.01 --wire bf16
