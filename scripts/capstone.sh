#!/bin/bash
# SPDX-License-Identifier: MIT
#
# capstone.sh: exercise 23 for real. Trains ResNet-20 three times on two ranks: with the learner's four functions, with
# the library's, and through the wrapper, and compares the losses step by step. Status 1 if they differ, or a run fails.
#
#       make capstone                 about a minute
#       STEPS=40 RANKS=2 make capstone
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C # where a comma is the decimal point, awk and sort do not read our numbers
B=${BUILD:-build}
steps=${STEPS:-24} ranks=${RANKS:-2} tests=${TESTS:-512}
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The same run in every way but one; its losses to $work/NAME, and its accuracy at the end.
run() {
    local name=$1
    shift
    echo "training with $name ..."
    "$@" --ranks "$ranks" --model resnet20 --batch 32 --steps "$steps" --epochs 1 --overlap 0 --test-limit "$tests" --quiet \
        --out "$work/$name" || { echo "$name ended with status $?"; exit 1; }
    sed -n 's/.*"step":\([0-9]*\),.*"loss":\([-+0-9.e]*\),.*/\1 \2/p' "$work/$name/metrics.jsonl" >"$work/$name.loss"
    sed -n 's/.*"accuracy":\([0-9.e-]*\).*/\1/p' "$work/$name/metrics.jsonl" | tail -n 1 >"$work/$name.accuracy"
    [ -s "$work/$name.loss" ] || { echo "$name has left no losses"; exit 1; }
}

run yours "$B/capstone"
run library "$B/train"
run wrapper "$B/train" --wrapper

printf '\n%8s %12s %12s %12s\n' step yours library wrapper
paste "$work/yours.loss" "$work/library.loss" "$work/wrapper.loss" |
    awk -v steps="$steps" '$1 == 1 || $1 % 8 == 0 || $1 == steps { printf "%8d %12.6f %12.6f %12.6f\n", $1, $2, $4, $6 }'
for other in library wrapper; do
    first=$(paste "$work/yours.loss" "$work/$other.loss" | awk '$2 != $4 { print $1; exit }')
    [ -z "$first" ] || { echo "Yours and the $other's differ from step $first on: which of the four does something else?"; exit 1; }
done
if ! cmp -s "$work/yours.accuracy" "$work/library.accuracy"; then
    echo "The losses agree, the accuracy does not: $(cat "$work/yours.accuracy"), and it should be $(cat "$work/library.accuracy")."
    echo "Look at my_share_of_images and my_whole_score."
    exit 1
fi
awk '{ printf "test accuracy %.1f%%, three times: your four functions train this network.\n", 100 * $1 }' "$work/yours.accuracy"
