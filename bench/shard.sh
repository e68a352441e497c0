#!/bin/bash
# SPDX-License-Identifier: MIT
#
# shard.sh: images a second with each --shard, beside the plain step. A round takes all four in turn, and the next round
# begins with another one. Each is the difference of two runs of different length, whole commands by the wall clock, so
# that starting up costs nothing; the first steps, in which pages are counted, are in both. The ratio is the median of
# the rounds' ratios to the plain step of the same round. Other programs should not run meanwhile.
#
#       bench/shard.sh                              after make; ResNet-34, two ranks, some minutes
#       ROUNDS=9 MODEL=resnet20 RANKS=2 BATCH=64 DATA=cifar-10-batches-bin bench/shard.sh
#       STEPS="4 24" OPTIONS="--wire f16" bench/shard.sh    the steps of the two runs; more options for build/train
#
# Status 1 if a program failed.
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C # where a comma is the decimal point, awk and sort do not read our numbers
B=${BUILD:-build}
rounds=${ROUNDS:-5} model=${MODEL:-resnet34} ranks=${RANKS:-2} batch=${BATCH:-64} data=${DATA:-} limit=${LIMIT:-600}
shards=(none optimizer gradients parameters)
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT

progress() { [ -t 2 ] && printf '\r\033[K%s' "$*" >&2; }

[ -x "$B/train" ] || { echo "# sharding: skipped, $B/train is not built (it needs OpenCL)"; exit 0; }

usual_steps() {
    case $model in
    resnet20) echo 5 45 ;;
    resnet18) echo 4 8 ;;
    *) echo 4 20 ;;
    esac
}
read -r few many <<<"${STEPS:-$(usual_steps)}"
if [ "$few" -lt 1 ] || [ "$many" -le "$few" ]; then
    echo "STEPS: two numbers, the second the larger one" >&2
    exit 2
fi

# The wall-clock seconds of one run.
seconds() { # SHARD STEPS
    local from to
    from=$(date +%s.%N)
    # shellcheck disable=SC2086  # several options, or none
    timeout -k 5 "$limit" "$B/train" --device cpu --ranks "$ranks" --model "$model" --batch "$batch" --shard "$1" --steps "$2" \
        --epochs 1000 --test-limit "$ranks" --quiet ${data:+--data "$data"} ${OPTIONS:-} >"$work/log" 2>&1 ||
        { progress ""; echo "--shard $1 failed:"; tail -n 20 "$work/log"; return 1; } >&2
    to=$(date +%s.%N)
    echo "$from $to" | awk '{ print $2 - $1 }'
}

images_a_second() { # SHARD
    local short long
    short=$(seconds "$1" "$few") && long=$(seconds "$1" "$many") || return 1
    awk -v n=$(((many - few) * batch * ranks)) -v t="$short" -v u="$long" \
        'BEGIN { if (u <= t) exit 1; printf "%.2f\n", n / (u - t) }' && return
    progress ""
    echo "--shard $1: $few steps took $short s, $many took $long: other programs run, or STEPS are too few" >&2
    return 1
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

seconds none 1 >/dev/null || exit 1 # kernels are built once
for ((round = 0; round < rounds; round++)); do
    for ((i = 0; i < ${#shards[@]}; i++)); do
        shard=${shards[(round + i) % ${#shards[@]}]}
        progress "round $((round + 1)) of $rounds: $shard"
        images_a_second "$shard" >>"$work/$shard" || exit 1
    done
done
progress ""
echo "# --shard: $model, $ranks ranks x $batch images a step on $(nproc) cores, adamw, f32; medians of $rounds rounds in turn"
printf '# %-12s %10s %16s\n' shard images/s 'ratio to none'
for shard in "${shards[@]}"; do
    ratio=$(paste "$work/$shard" "$work/none" | awk '{ print $1 / $2 }' | median)
    awk -v s="$shard" -v a="$(median <"$work/$shard")" -v r="$ratio" 'BEGIN { printf "  %-12s %10.1f %16.2f\n", s, a, r }'
done
