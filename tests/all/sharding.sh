#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sharding.sh [WHOLE]: --shard gives the bits of the plain step: 8 ranks, and all three models, whose gradients are many
# pieces; with WHOLE the large ones on 1 to 4 ranks.
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
for run in "2 resnet18" "3 resnet34" ${1:+"1 resnet18" "3 resnet18" "4 resnet18" "1 resnet34" "2 resnet34" "4 resnet34"}; do
    check "${run#* }, ${run% *} rank(s): the same weights" same_bits "${run% *}" "${run#* }"
done
