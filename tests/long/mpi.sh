#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mpi.sh: every right MPI program on 1 to 8 ranks, or those that it says it needs, in both worlds, with sends that wait and
# without; then the same programs as another MPI's compiler makes them, with the shared library of the standard ABI.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# Those that run on any number of ranks.
any=" collectives icollectives persistent later proxy "

silent() {
    "$@" >"$work/out" 2>&1 && ! grep -q pairwise "$work/out" && return
    cat "$work/out"
    return 1
}

for source in tests/mpi/right/*.c; do
    name=$(basename "$source" .c)
    ranks=$(sed -n 's|^// ranks: ||p' "$source")
    case $any in *" $name "*) ranks="1 2 3 5 8" ;; esac
    cc -g -DPAIRWISE_MPI_NO_LINES -Impi "$source" -L"$B" -l:libmpi_abi.so.1 -lm -o "$work/$name"
    for n in $ranks; do
        for world in socket shm; do
            for program in "$B/tests/mpi/right/$name" "$work/$name"; do
                check "$name, $n ranks, $world" silent env PAIRWISE_WORLD=$world timeout 120 "$B/launch" -n "$n" "$program"
                check "$name, $n ranks, $world, strict" \
                    silent env PAIRWISE_WORLD=$world timeout 120 "$B/launch" -n "$n" --strict "$program"
            done
        done
    done
done
