#!/bin/bash
# SPDX-License-Identifier: MIT
#
# slides.sh [FOLDER]: a picture for each exercise from 22 on whose test has a virtual network, where every run is the same:
# docs/pictures/NN_name.svg (FOLDER/NN_name.svg), drawn from a run of its solution on four ranks; and one each of an overlap
# and a pipeline as learners first write them.
set -eu
cd "$(dirname "$0")/.."
B=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT
pictures=${1:-docs/pictures}
mkdir -p "$pictures"

draw() { # EXERCISE PICTURE TITLE WHAT...
    local exercise=$1 picture=$pictures/$2.svg title=$3
    shift 3
    "$B/learn" test "$exercise" --ranks 4 --trace "$work/trace.json" --work "$work/built" "$@" >"$work/said" || true
    "$B/replay" "$work/trace.json" -o "$picture" -t "$title" >/dev/null || { cat "$work/said"; exit 1; }
    rm "$work/trace.json"
    echo "$picture"
}

draw 22 22_overlap "22: each layer's gradient is on its way while the next one is computed" --solution
draw 22 22_at_the_end "22: sent when all layers are computed" --instead tests/mutants/22_overlap/starts_at_the_end.c
draw 29 29_pipeline "29: eight micro-batches through four stages" --solution
draw 29 29_at_the_end "29: a stage that passes on late: most of the time is bubble" \
    --instead tests/mutants/29_pipeline/passes_on_late.c
draw 30 30_one_f_one_b "30: one forward, one backward: the same bubble, less that is kept" --solution
draw 31 31_ring_attention "31: a block is used while the next one comes" --solution
draw 32 32_experts "32: counts, tokens, and back" --solution
draw 33 33_hierarchical "33: up, round the leaders, down" --solution
