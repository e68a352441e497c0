#!/bin/bash
# SPDX-License-Identifier: MIT
#
# slides.sh: a picture for each exercise from 24 on in which time or messages have a shape: docs/pictures/NN_name.svg, drawn
# from a run of its solution on four ranks, on the virtual network; and one of a pipeline as learners first write it.
set -eu
cd "$(dirname "$0")/.."
B=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p docs/pictures

draw() { # EXERCISE PICTURE TITLE WHAT...
    local exercise=$1 picture=docs/pictures/$2.svg title=$3
    shift 3
    "$B/learn" test "$exercise" --ranks 4 --trace "$work/trace.json" --work "$work/built" "$@" >"$work/said" || true
    "$B/replay" "$work/trace.json" -o "$picture" -t "$title" >/dev/null || { cat "$work/said"; exit 1; }
    rm "$work/trace.json"
    echo "$picture"
}

draw 29 29_pipeline "29: eight micro-batches through four stages" --solution
draw 29 29_at_the_end "29: a stage that passes on late: most of the time is bubble" \
    --instead tests/mutants/29_pipeline/passes_on_late.c
draw 30 30_one_f_one_b "30: one forward, one backward: the same bubble, less that is kept" --solution
draw 31 31_ring_attention "31: a block is used while the next one comes" --solution
draw 32 32_experts "32: counts, tokens, and back" --solution
draw 33 33_hierarchical "33: up, round the leaders, down" --solution
