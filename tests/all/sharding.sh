#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sharding.sh: --shard gives the bits of the plain step: 8 ranks, and all three models, whose gradients are many pieces.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
T=$B/train
[ -x "$T" ] || { skip sharding "build/train is not built: OpenCL is missing"; exit 0; }

same_bits() { # RANKS MODEL
    local shard
    for shard in none optimizer gradients parameters; do
        "$T" --device cpu --quiet --ranks "$1" --model "$2" --train-limit 64 --test-limit 9 --batch 2 --steps 2 \
            --shard $shard --save "$work/$shard" || return 1
        cmp "$work/none" "$work/$shard" || return 1
    done
}

check "ResNet-20, 8 ranks: the same weights" same_bits 8 resnet20
for model in resnet18 resnet34; do
    for ranks in 1 2 3 4; do
        check "$model, $ranks rank(s): the same weights" same_bits $ranks $model
    done
done
