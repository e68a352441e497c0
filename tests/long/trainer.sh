#!/bin/bash
# SPDX-License-Identifier: MIT
#
# trainer.sh: ResNet-34 learns real images (which are not part of the checkout): 36% within 3 epochs of 10,000; and
# tests/all/trainer.sh with more starts.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
T=$B/train
images=../shared/data/cifar-10-batches-bin
[ -x "$T" ] || { skip trainer "build/train is not built: OpenCL is missing"; exit 0; }
[ -r "$images/test_batch.bin" ] || { skip trainer "no images beside the checkout"; exit 0; }

learns() {
    "$T" --ranks 2 --batch 64 --model resnet34 --data "$images" --epochs 3 --augment 0 --quiet --out "$work/34" || return 1
    grep '"accuracy"' "$work/34/metrics.jsonl"
    grep '"accuracy"' "$work/34/metrics.jsonl" | sed 's/.*"accuracy":\([0-9.e-]*\).*/\1/' |
        awk '$1 >= 0.36 {fine = 1} END {exit !fine}'
}
check "ResNet-34 learns real images: 36% within 3 epochs" learns
tests/all/trainer.sh WHOLE
