#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sharding.sh [WHOLE]: --shard gives the bits of the plain step: all three models, of which the gradients of the large ones
# are many pieces; with WHOLE each of them on 1, 2, 3, 4 and 8 ranks.
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

# In each test-all one number of ranks for each model; with WHOLE the other twelve.
runs=("8 resnet20" "2 resnet18" "3 resnet34")
if [ -n "${1:-}" ]; then
    for model in resnet20 resnet18 resnet34; do
        for ranks in 1 2 3 4 8; do
            [[ " ${runs[*]} " == *" $ranks $model "* ]] || runs+=("$ranks $model")
        done
    done
fi
for run in "${runs[@]}"; do
    check "${run#* }, ${run% *} rank(s): the same weights" same_bits "${run% *}" "${run#* }"
done
