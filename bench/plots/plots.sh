#!/bin/bash
# SPDX-License-Identifier: MIT
#
# plots.sh: measure and draw all-reduce by naive, tree, doubling and ring for 2, 4 and 8 ranks: here, and on a virtual
# network; points are measured, lines are the model's. And what more ranks cost, up to 1,024. Leaves
# build/plots/all_reduce_*.svg, growth.svg and the same as .png, and the figures as .csv.
#
#       bench/plots/plots.sh                          after make; about two minutes
#       NETWORK=100GbE SECONDS_EACH=30 RANKS=2,8,32 bench/plots/plots.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${BUILD:-build}
out=$B/plots network=${NETWORK:-10GbE} each=${SECONDS_EACH:-15}

if ! command -v gnuplot >/dev/null 2>&1; then
    echo "plots need gnuplot" >&2
    echo "  paste this, then try again:    sudo apt-get install -y --no-install-recommends gnuplot-nox" >&2
    exit 1
fi
[ -x "$B/bench/all_reduce" ] || { echo "$B/bench/all_reduce is missing: make builds it" >&2; exit 2; }
mkdir -p "$out" || exit 1

# measure NAME RANKS OPTION...
measure() {
    local name=$1 n=$2
    shift 2
    "$B/bench/all_reduce" --ranks "$n" --algorithm naive,tree,recursive-doubling,ring --min 16 --max 16M --factor 4 --csv \
        --model "$out/$name-$n.csv" "$@" >"$out/all.csv" || exit 1
    rm -f "$out/all.csv"
}

# draw NAME SCRIPT SIZE DATA CAPTION
draw() {
    local format term
    for format in svg png; do
        case $format in
        svg) term="svg size $3 background rgb 'white' font 'sans,13'" ;;
        png) term="pngcairo size $3 font 'sans,11'" ;;
        esac
        gnuplot -e "term=\"$term\"; output='$out/$1.$format'; data='$4'; caption=\"$5\"" "bench/plots/$2.gp" || exit 1
        echo "$out/$1.$format"
    done
}

for n in 2 4 8; do
    measure measured $n --seconds "$each"
    measure virtual $n --network "$network"
done
draw all_reduce_measured all_reduce 1500,900 "$out/measured-" \
    "all-reduce here, $(nproc) cores, world ${PAIRWISE_WORLD:-shm}, f32 sum: points measured, lines predicted"
draw all_reduce_virtual all_reduce 1500,900 "$out/virtual-" \
    "all-reduce on a virtual network, $network, f32 sum: points virtual time, lines predicted"

"$B/bench/growth" ${RANKS:+--ranks "$RANKS"} --csv >"$out/growth.csv" ||
    [ "$(wc -l <"$out/growth.csv")" -gt 1 ] || exit 1 # a machine may refuse so many ranks: what it has measured is drawn
draw growth growth 1500,420 "$out/growth.csv" "more ranks, $(nproc) cores, world ${PAIRWISE_WORLD:-shm}"
