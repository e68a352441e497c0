#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh: what `make demo` shows, in under a minute: ResNet-20 learns the built-in images on two ranks; then what it
# costs to add up its gradients, naive and by ring, measured here and on a virtual network; then where to go on.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${BUILD:-build}
gradients=272474
said=$(mktemp)
trap 'rm -f "$said"' EXIT
bytes=$((4 * gradients))

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

# A column of the bench's CSV for naive and for ring: "5460.5 1509.6".
column() { # NAME ARGS...
    local name=$1
    shift
    "$B/bench/all_reduce" --ranks 4 --algorithm naive,ring --min $bytes --max $bytes --seconds 4 --csv "$@" 2>>"$said" |
        LC_ALL=C awk -F, -v name="$name" 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i}
                                 NR > 1 {us[$at["algorithm"]] = $at[name]}
                                 END {print us["naive"], us["ring"]}'
}

row() { # WHERE NAIVE RING
    LC_ALL=C awk -v where="$1" -v naive="${2:-0}" -v ring="${3:-0}" 'BEGIN {
        if (naive <= 0 || ring <= 0) exit 1
        printf "    %-36s %6.0f us %6.0f us   the ring is %.1f times as fast\n", where, naive, ring, naive / ring}'
}

if [ ! -x "$B/train" ]; then
    echo "The trainer is not built, for OpenCL is missing: sh scripts/setup.sh train says what to install."
    echo "Here is what works without it:"
    exec scripts/tour.sh
fi

echo "ResNet-20 on two ranks: each has the whole network and half of the images, and they add up their gradients."
[ -d "${PAIRWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pairwise}" ] ||
    echo "(The first run compiles the kernels: some seconds before anything moves.)"
show "$B/train" --ranks 2 --train-limit 2048 --test-limit 512 --batch 32 --epochs 2 || exit 1

printf '\nTo add up its %d gradients (%s bytes) over 4 ranks, all-reduce takes:\n\n' $gradients $bytes
printf '    %-36s %9s %9s\n' '' naive ring
# shellcheck disable=SC2046  # two numbers
row "on this machine, $(nproc) cores, measured" $(column us_median) || exit 1
# shellcheck disable=SC2046
row "on a virtual 10 Gbit network" $(column virtual_us --network 10GbE) || exit 1
busy=$(sed -n 's/^note: other programs \(.*\) meanwhile.*/\1/p' "$said" | head -n 1)
[ -z "$busy" ] || printf '\n    Other programs %s meanwhile: what was measured here says little.\n' "$busy"

cat <<'END'

Naive sends everything to rank 0 and back: its links carry all the load. In the ring every rank sends 2(n-1)/n of the
buffer to its neighbour, all at the same time: that pays where every rank has a link of its own, and less on one machine.

Next:
    build/train --help                                  your own images, ResNet-18 and -34, other optimisers
    build/train --steps 10 --timeline                   where each step's time goes, by rank
    build/train --steps 20 --all-reduce none            what sync costs: the same without it
    build/bench/all_reduce --ranks 8 --network 10GbE    all algorithms, all sizes, and why
    make tour                                           ranks, messages, and a deadlock explained
    docs/parallelism.md                                 data, tensor and pipeline parallelism in three pictures
END
