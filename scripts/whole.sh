#!/bin/bash
# SPDX-License-Identifier: MIT
#
# whole.sh: exercise 37 for real. Trains ResNet-20 twice, with the learner's program and with build/train, and compares the
# files of weights, byte by byte, and the number of test images that are right. Status 1 if they differ, or a run fails.
#
#       make whole                    about a minute
#       RANKS=3 IMAGES=300 make whole
set -u
cd "$(dirname "$0")/.." || exit 2
B=${BUILD:-build}
ranks=${RANKS:-2} images=${IMAGES:-500} tests=${TESTS:-250} batch=${BATCH:-32} epochs=${EPOCHS:-2}
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT

echo "training with yours ..."
"$B/launch" -n "$ranks" "$B/whole" "$work/yours" "$images" "$tests" "$batch" "$epochs" >"$work/score" ||
    { echo "yours ended with status $?"; exit 1; }
echo "training with build/train ..."
"$B/train" --ranks "$ranks" --model resnet20 --train-limit "$images" --test-limit "$tests" --batch "$batch" \
    --epochs "$epochs" --save "$work/train" --out "$work/out" --quiet || { echo "build/train ended with status $?"; exit 1; }
[ -s "$work/yours" ] || { echo "Yours has not saved its weights."; exit 1; }
yours=$(cat "$work/score")
train=$(sed -n 's/.*"correct":\([0-9]*\),"total":\([0-9]*\).*/\1 of \2/p' "$work/out/metrics.jsonl" | tail -n 1)
if ! cmp -s "$work/yours" "$work/train"; then
    echo "The weights are not the same. The test, make test EX=37, asks for each part by itself."
    exit 1
fi
[ "$yours" = "$train" ] || { echo "The weights are the same, the score is not: $yours, and it should be $train."; exit 1; }
echo "$yours test images right, and $(wc -c <"$work/yours") bytes of weights, twice the same: this is a trainer."
