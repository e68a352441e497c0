#!/bin/bash
# SPDX-License-Identifier: MIT
#
# peers.sh: ours next to Open MPI and MPICH, whichever are installed, in turn in one run: half a round trip, and
# all-reduce in place (f32, sum), by size. Medians of the rounds' medians, and ours/theirs: below 1, ours is faster.
#
#       bench/peers/peers.sh                      after make; about seven minutes
#       ROUNDS=3 RANKS="2 4" MAX=1M SECONDS_EACH=5 PAIRWISE_WORLD=socket bench/peers/peers.sh
#
# Status 1 if any element was wrong or a program failed; what is not installed is skipped, and said so.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${BUILD:-build}
rounds=${ROUNDS:-5} ranks=${RANKS:-2 4 8} min=${MIN:-8} max=${MAX:-16M} factor=${FACTOR:-8} each=${SECONDS_EACH:-3}
limit=${LIMIT:-120} # seconds, for one program: MPICH with more ranks than cores can take for ever
cores=$(nproc) world=${PAIRWISE_WORLD:-shm}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
: >"$work/all"

say() { printf '%s\n' "$*"; }

progress() { [ -t 2 ] && printf '\r\033[K%s' "$*" >&2; }

# ---- The peers: their compiler, and how they start n ranks ----

compiler() { echo "mpicc.$1"; }

launcher() {
    case $1 in
    openmpi) echo "mpirun.openmpi $([ "$2" -gt "$cores" ] && echo --oversubscribe) -n $2" ;;
    mpich) echo "mpiexec.mpich -n $2" ;;
    esac
}

package() {
    case $1 in
    openmpi) echo "openmpi-bin libopenmpi-dev" ;;
    mpich) echo "mpich libmpich-dev" ;;
    esac
}

have() { command -v "$1" >/dev/null 2>&1; }

compile() {
    local util="bench/util/loop.c bench/util/elements.c bench/util/sizes.c bench/util/stats.c" program
    mkdir -p "$B/bench/peers"
    for program in all_reduce ping_pong; do
        # shellcheck disable=SC2086  # a list of words
        "$(compiler "$1")" -std=c11 -D_GNU_SOURCE -O2 -I. "bench/peers/${program}_mpi.c" $util "$B/obj/no_mpi.a" \
            -o "$B/bench/peers/${program}_$1" || return 1
    done
}

find_peers() {
    local peer launch
    peers=
    for peer in openmpi mpich; do
        launch=$(launcher $peer 1)
        if ! have "$(compiler $peer)" || ! have "${launch%% *}"; then
            say "# $peer: skipped, not installed (Debian: apt-get install $(package $peer))"
        elif compile $peer; then
            peers="$peers $peer"
        else
            say "# $peer: skipped, its $(compiler $peer) could not compile bench/peers"
            failed=1
        fi
    done
}

# ---- Running: every program leaves "bench who ranks bytes median" lines in $work/all ----

# note BENCH WHO RANKS COMMAND...: CSV with columns named bytes, us_median and perhaps wrong
note() {
    local bench=$1 who=$2 n=$3 status
    shift 3
    progress "$bench, $n ranks: $who"
    timeout -k 5 "$limit" "$@" >"$work/csv" 2>"$work/err"
    status=$?
    awk -F, -v bench="$bench" -v who="$who" -v n="$n" '
        /us_median/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        at["bytes"] { print bench, who, n, $at["bytes"], $at["us_median"] }' "$work/csv" >>"$work/all"
    [ $status -eq 0 ] && return
    progress ""
    say "# $bench, $n ranks: $who ended with status $status$([ $status -eq 124 ] && echo ' (took too long)')"
    head -n 5 "$work/err" | sed 's/^/#     /'
    failed=1
}

# 16M is 16777216
bytes_of() {
    case $1 in
    *K) echo $((${1%K} << 10)) ;;
    *M) echo $((${1%M} << 20)) ;;
    *G) echo $((${1%G} << 30)) ;;
    *) echo "$1" ;;
    esac
}

our_ping_pong() {
    local bytes last
    last=$(bytes_of "$max")
    for ((bytes = $(bytes_of "$min"); bytes <= last; bytes *= factor)); do
        note ping_pong ours 2 "$B/bench/ping_pong" --world "$world" --min $bytes --max $bytes \
            --iters $((bytes < 65536 ? 5000 : bytes < 4194304 ? 200 : 20)) --csv
    done
}

one_round() {
    local peer n
    our_ping_pong
    for peer in $peers; do
        # shellcheck disable=SC2046  # a list of words
        note ping_pong "$peer" 2 $(launcher "$peer" 2) "$B/bench/peers/ping_pong_$peer" "$min" "$max" "$factor"
    done
    for n in $ranks; do
        note all_reduce ours "$n" "$B/bench/all_reduce" --ranks "$n" --world "$world" --algorithm auto --min "$min" --max "$max" \
            --factor "$factor" --seconds "$each" --csv
        for peer in $peers; do
            # shellcheck disable=SC2046
            note all_reduce "$peer" "$n" $(launcher "$peer" "$n") "$B/bench/peers/all_reduce_$peer" --min "$min" \
                --max "$max" --factor "$factor" --seconds "$each"
        done
    done
}

# ---- The table ----

table() {
    awk -v bench="$1" -v n="$2" -v peers="$peers" -v cores="$cores" -f bench/peers/table.awk "$work/all"
}

for program in all_reduce ping_pong; do
    [ -x "$B/bench/$program" ] || { say "$B/bench/$program is missing: make builds it"; exit 2; }
done
find_peers
[ -n "$peers" ] || { say "# no peer is installed: nothing to compare with"; exit $failed; }
before=$(cut -d' ' -f1 /proc/loadavg)
for ((round = 1; round <= rounds; round++)); do one_round; done
progress ""
say "# microseconds, the median of $rounds rounds in turn; world $world"
say "# ours/theirs: below 1, ours is faster"
say "# load average before: $before (other programs; with any at all, run it again when there are none)"
table ping_pong 2
for n in $ranks; do table all_reduce "$n"; done
exit $failed
