#!/bin/bash
# SPDX-License-Identifier: MIT
#
# expected_output.sh [UPDATE]: the failure that a page of 24 and up shows under "Expected output" is what learn prints for the
# wrong program that it speaks of, word for word; compilers may warn of other things. UPDATE: pages get what is printed.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# Of a text the failure, from "NAME: not yet" to "next": without what a compiler warns of, and blanks at ends of lines.
failure() { # NAME
    sed -n "/^ *$1: not yet/,/^ *next /p" | sed '/^ *the compiler warns/,/^ *$/d; s/ *$//'
}

# Puts FILE, four blanks further to the right, into the page in place of the failure.
put() { # NAME PAGE FILE
    sed 's/ *$//; s/^\(.\)/    \1/' "$3" >"$work/shifted"
    sed -i -e "/^ *$1: not yet/{r $work/shifted
N}" -e "/^ *$1: not yet/,/^ *next /d" "$2"
}

update=${1:-}
shows() { # NAME PROGRAM
    local page=exercises/$1/README.md
    "$B/learn" test "$1" --instead "$2" --work "$work/built" >"$work/printed"
    sed -n "/^$1: not yet/,/^ *next /p" "$work/printed" >"$work/failure"
    [ -z "$update" ] || put "$1" "$page" "$work/failure"
    failure "$1" <"$page" | sed 's/^    //' >"$work/shown"
    failure "$1" <"$work/failure" >"$work/is"
    [ -s "$work/is" ] && diff "$work/shown" "$work/is" && return
    echo "$page shows something else than learn test prints for $2: tests/all/expected_output.sh UPDATE mends it"
    return 1
}

while read -r name program; do
    case $program in
    stub) program=exercises/$name/${name#*_}.c ;;
    *) program=tests/mutants/$name/$program ;;
    esac
    check "$name: the page shows what is printed" shows "$name" "$program"
done <<'END'
24_accumulate sync_per_batch.c
25_sharded_optimizer gradient_from_0.c
26_sharded_parameters keeps_weights.c
27_tensor_parallel bias_n_times.c
28_attention_heads residual_n_times.c
29_pipeline passes_on_late.c
30_one_f_one_b all_forward.c
31_ring_attention out_not_shrunk.c
32_experts order_of_experts.c
33_hierarchical mean_of_means.c
34_half_on_the_wire no_feedback.c
35_survive own_step.c
36_seven_mistakes stub
37_whole_trainer own_scale.c
K1_vector_add no_guard.cl
K2_sum no_barrier_in_tree.cl
K3_matmul loads_again.cl
K4_conv no_columns.cl
K5_norm no_origin.cl
END
