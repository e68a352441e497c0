#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hosts.sh: two hosts made of network namespaces, joined by veth: ours next to Open MPI over the same link, in turn in one run.
# Both hosts share the cores of this machine, which Open MPI does not know: it is measured as it is, and leaving its core to
# others while it waits (openmpi-yield: mpi_yield_when_idle); the better of both is what ours is compared with.
# Half a round trip with one rank a host, all-reduce with two and with four, by size; medians of the rounds' medians, and
# ours/theirs: below 1, ours is faster. Then, with links held to 1 Gbit/s, 4 ranks a host: hierarchical all-reduce, the flat ring
# numbered host by host, and the ring dealt out; and the bytes that left a host, which the formulas say.
#
#       bench/peers/hosts.sh                      as root, after make and make hosts
#       ROUNDS=3 RANKS=2 MAX=1M SECONDS_EACH=2 bench/peers/hosts.sh
#
# Status 1 if any element was wrong, a program failed, or other bytes left a host. Processes that share cores wait for each
# other: compare ratios.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C # where a comma is the decimal point, awk and sort do not read our numbers
B=$PWD/${BUILD:-build}
rounds=${ROUNDS:-5} ranks=${RANKS:-2 4} min=${MIN:-8} max=${MAX:-16M} factor=${FACTOR:-8} each=${SECONDS_EACH:-5}
export PAIRWISE_WORLD=${PAIRWISE_WORLD:-shm} LIMIT=${LIMIT:-120}
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
failed=0
: >"$work/all"
# shellcheck source=scripts/namespaces.sh
source scripts/namespaces.sh
# shellcheck source=scripts/mpi.sh
source scripts/mpi.sh
mpi_names "$work/mpi"
trap 'namespaces_remove; rm -rf "$work"' EXIT
namespaces_make pwb1 pwb2 >"$work/why" || { echo "# skipped: $(cat "$work/why")"; exit 0; }

compile() {
    local util="bench/util/loop.c bench/util/elements.c bench/util/sizes.c bench/util/stats.c"
    # shellcheck disable=SC2086  # a list of words
    mpicc.openmpi -std=c11 -D_GNU_SOURCE -O2 -I. "bench/peers/$1_mpi.c" $util "$B/obj/no_mpi.a" -o "$work/$1_openmpi"
}

# note BENCH WHO RANKS COMMAND...: CSV with columns named bytes, us_median and perhaps algorithm
note() {
    local bench=$1 who=$2 n=$3
    shift 3
    if ! "$@" >"$work/csv" 2>"$work/err"; then
        echo "# $bench, $n ranks: $who failed"
        head -n 5 "$work/err" | sed 's/^/#     /'
        failed=1
    fi
    awk -F, -v bench="$bench" -v who="$who" -v n="$n" '
        /us_median/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        NF > 3 && at["bytes"] { print bench, (who == "each" ? $at["algorithm"] : who), n, $at["bytes"], $at["us_median"] }' \
        "$work/csv" >>"$work/all"
}

ours() { # RANKS-A-HOST BENCH OPTIONS...
    local ranks=$1 bench=$2
    shift 2
    namespaces_run 2 1 "$B/launch" -n "$ranks" "$B/bench/$bench" --world "$PAIRWISE_WORLD" --csv "$@"
}

# BENCH RANKS-A-HOST MCA OPTIONS...
theirs() {
    local bench=$1 ranks=$2 options=$3
    shift 3
    for yield in 0 1; do
        # shellcheck disable=SC2034  # of namespaces_run
        MCA="$options --mca mpi_yield_when_idle $yield" \
            note "$bench" "openmpi$([ $yield = 1 ] && echo -yield)" $((2 * ranks)) namespaces_run 2 "$ranks" "$work/${bench}_openmpi" "$@"
    done
}

one_round() {
    note ping_pong ours 2 ours 1 ping_pong --min "$min" --max "$max" --factor "$factor"
    theirs ping_pong 1 "--mca btl tcp,self" "$min" "$max" "$factor"
    for n in $ranks; do
        note all_reduce ours $((2 * n)) ours "$n" all_reduce --algorithm auto --min "$min" --max "$max" --factor "$factor" --seconds "$each"
        # processes of one host may use its memory
        theirs all_reduce "$n" "--mca btl tcp,vader,self" --min "$min" --max "$max" --factor "$factor" --seconds "$each"
    done
}

table() {
    awk -v bench="$1" -v n="$2" -v peers="$3" -v cores="$(nproc)" -f bench/peers/table.awk "$work/all"
}

# Both directions of both hosts.
hold_to_1_gbit() {
    for host in "${namespaces[@]}"; do
        tc qdisc replace dev "$host" root tbf rate 1gbit burst 256kb latency 50ms &&
            tc -n "$host" qdisc replace dev eth0 root tbf rate 1gbit burst 256kb latency 50ms || return 1
    done
}

# Of 16 MiB, 2 x 4 ranks: ours is hierarchical, of which 2(H-1)/H leave a host; of the ring 2(n-1)/n, dealt out 4 times that.
held() {
    local deal times
    for ((round = 1; round <= rounds; round++)); do
        for deal in "" --deal; do
            times=$([ "$deal" ] && echo 4 || echo 1)
            # shellcheck disable=SC2086  # a word, or none
            ours 4 all_reduce --algorithm ring,hierarchical $deal --min 16M --max 16M --seconds "$each" >"$work/csv" 2>"$work/err" ||
                { head -n 5 "$work/err"; return 1; }
            awk -F, -v ring="ring${deal:+-dealt}" -v times="$times" '
                /us_median/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
                NF > 3 {
                    own = $at["algorithm"] == "hierarchical"
                    want = own ? $at["bytes"] : $at["bytes"] / 8 * 14 * times
                    print "held", (own ? "ours" : ring), 8, $at["bytes"], $at["us_median"]
                    if ($at["max_bytes_left_host"] == want) next
                    print "# " $at["algorithm"] ": " $at["max_bytes_left_host"] " bytes left a host, not " want >"/dev/stderr"
                    wrong = 1
                }
                END { exit wrong }' "$work/csv" >>"$work/all" || return 1
        done
    done
    table held 8 "ring ring-dealt"
}

compile ping_pong && compile all_reduce || exit 2
for ((round = 1; round <= rounds; round++)); do one_round; done
echo "# microseconds, the median of $rounds rounds in turn; world $PAIRWISE_WORLD; load average $(cut -d' ' -f1 /proc/loadavg)"
echo "# ours/theirs: below 1, ours is faster"
table ping_pong 2 "openmpi openmpi-yield"
for n in $ranks; do table all_reduce $((2 * n)) "openmpi openmpi-yield"; done
if hold_to_1_gbit; then
    echo "# links held to 1 Gbit/s, 2 x 4 ranks, 16 MiB; load average $(cut -d' ' -f1 /proc/loadavg)"
    held || failed=1
else
    echo "# links cannot be held to 1 Gbit/s here (tc, tbf)"
fi
exit $failed
