#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tune.sh: measures which all-reduce is the fastest here, by world, hosts, ranks and bytes, prints the table that the plain
# name chooses from, and writes it to $BUILD/tuned_choices.inc, which is compiled in instead of collectives/choices.inc.
# And from how many bytes on a message is faster in one copy, where each rank has a core: $BUILD/tuned_direct.inc.
# Build again afterwards. About three minutes, best with nothing else running.
#
#       scripts/tune.sh
#       WRITE=1 scripts/tune.sh         writes collectives/choices.inc, the table of builds that have none of their own
#       RANKS="2 4" MAX=1M SECONDS_EACH=5 OUT=/dev/null scripts/tune.sh
#
# A row stays as long as no other algorithm is faster by more than a tenth: so the table is short, and the next run
# gives the same.
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C # where a comma is the decimal point, awk and sort do not read our numbers
B=${BUILD:-build}
ranks=${RANKS:-2 4 8} max=${MAX:-16M} each=${SECONDS_EACH:-15}
out=${OUT:-$B/tuned_choices.inc}
[ "${WRITE:-0}" = 0 ] || out=collectives/choices.inc
work=$(mktemp "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -f "$work" "$work.table"' EXIT
[ -x "$B/bench/all_reduce" ] || { echo "$B/bench/all_reduce is missing: make builds it"; exit 2; }

measure() {
    local world=$1 algorithms=$2 n
    for n in $ranks; do
        [ -t 2 ] && printf '\r\033[K%s, %s ranks' "$world" "$n" >&2
        "$B/bench/all_reduce" --world "$world" --ranks "$n" --algorithm "$algorithms" --max "$max" --factor 4 \
            --seconds "$each" --csv >>"$work" || exit 1
    done
}

# Ranks of two hosts: those of two launchers on this machine.
measure_hosts() {
    local n
    for n in $ranks; do
        [ "$n" -gt 2 ] || continue
        [ -t 2 ] && printf '\r\033[Khosts, %s ranks' "$n" >&2
        PAIRWISE_HOSTS=2 "$B/launch" -n "$n" --world shm "$B/bench/all_reduce" --algorithm "$1" --max "$max" --factor 4 \
            --seconds "$each" --csv | sed 's/^shm,/hosts,/' >>"$work"
        [ "${PIPESTATUS[0]}" = 0 ] || exit 1
    done
}

# The default of 128 KiB, unless at that size the queue is faster by more than a tenth, and so on up; or one copy at half of it,
# and so on down. What goes through the queue may be written straight to its receive, up to 64 KiB: not so with 0 for never.
measure_direct() {
    local direct
    for direct in 1G 1; do
        PAIRWISE_DIRECT=$direct "$B/bench/ping_pong" --world shm --min 16K --max 512K --factor 2 --iters "$1" --csv |
            sed -n "s/^shm,/$direct,/p"
    done | awk -f scripts/tune_direct.awk
}

measure socket naive,tree,recursive-doubling,ring
measure shm tree,recursive-doubling,ring,one-shot,two-shot
measure_hosts tree,recursive-doubling,ring,leaders,hierarchical
[ -t 2 ] && printf '\r\033[K' >&2
if [ "$out" = "$B/tuned_choices.inc" ] && [ "$(nproc)" -gt 1 ] && [ -x "$B/bench/ping_pong" ]; then
    direct=$(measure_direct $((each * 85))) || exit 1
    echo "$direct" | tee "$B/tuned_direct.inc"
fi

# What was measured with 4 ranks holds from 3 on: between two numbers the nearer one counts, the larger of two as near.
awk -F, -v cores="$(nproc)" '
    $1 == "world" { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
        cell = $at["world"] " " $at["ranks"] " " $at["bytes"]
        if (!(cell in names)) cells[++count] = cell
        names[cell] = names[cell] " " $at["algorithm"]
        us[cell, $at["algorithm"]] = $at["us_median"]
    }
    function row(world, ranks, bytes, name) {
        printf "{\"all_reduce\", %s, %d, %d, \"%s\", %d},\n", world == "shm" ? "true" : "false", ranks, bytes, name,
            world == "hosts" ? 2 : 0
    }
    END {
        print "/* SPDX-License-Identifier: MIT */"
        print "/* Which all-reduce is the fastest: rows of the table in choose.c, measured by scripts/tune.sh on " cores " cores. */"
        for (i = 1; i <= count; i++) {
            split(cells[i], key, " ")
            n = split(names[cells[i]], name, " ")
            best = name[1]
            for (k = 2; k <= n; k++) if (us[cells[i], name[k]] < us[cells[i], best]) best = name[k]
            if (key[1] != world || key[2] != ranks) {
                from = key[1] != world ? 1 : int((ranks + key[2] + 1) / 2)
                world = key[1]; ranks = key[2]; last = ""; bytes = 0
            } else bytes = key[3]
            if (last != "" && us[cells[i], best] * 1.1 > us[cells[i], last]) continue
            if (best == last) continue
            row(world, from, bytes, best)
            last = best
        }
    }' "$work" >"$work.table"
cat "$work.table"
cat "$work.table" >"$out" || exit 1
rm -f "$work.table"
[ "${WRITE:-0}" = 0 ] || rm -f "$B/tuned_choices.inc" # or the old table would still be taken
echo "written to $out, which make compiles in"
