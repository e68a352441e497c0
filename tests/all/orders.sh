#!/bin/bash
# SPDX-License-Identifier: MIT
#
# orders.sh: what launch --explore takes longer for: one order of 720, played again a hundred times; a thousand orders in a
# minute; right programs of any kind in many orders, in both worlds. Its counts are in tests/orders.c.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
programs=(right/ring right/pairs right/groups right/circles right/late right/all_to_all right/allreduce_check
    right/master_worker right/wait_any_server mpi/right/messages mpi/right/persistent mpi/right/collectives
    mpi/right/icollectives mpi/right/communicators)

# one_of_720 WORLD: found, named, and played again
one_of_720() {
    local launch=("$B/launch" --world "$1") schedule i
    "${launch[@]}" --explore -n 7 "$B/tests/right/orders" last >"$work/told" 2>&1 && return 1
    grep -q '^order 720 of this program is wrong' "$work/told" || { cat "$work/told"; return 1; }
    grep -q 'deadlock: ' "$work/told" || return 1
    schedule=$(tail -n 1 "$work/told")
    for ((i = 0; i < 100; i++)); do
        "${launch[@]}" --schedule "$schedule" -n 7 "$B/tests/right/orders" last >"$work/again" 2>&1 && return 1
        grep -q 'deadlock: ' "$work/again" || { cat "$work/again"; return 1; }
    done
}

# 6! / (2! 2! 2!) and 8! / (2! 2! 2! 2!) = 2520, of which a thousand
thousand() {
    local start=$SECONDS
    status 0 "$B/launch" --explore -n 4 "$B/tests/right/orders" gather 2 || return 1
    status 3 "$B/launch" --explore=1000 -n 5 "$B/tests/right/orders" gather 2 || return 1
    echo "$((SECONDS - start)) s"
    [ $((SECONDS - start)) -lt 60 ]
}

# right WORLD PROGRAM: no order is wrong of the first ones; 0: all, 3: there are more
right() {
    "$B/launch" --world "$1" --explore=40 -n 3 "$B/tests/$2" || [ $? -eq 3 ]
}

# One of them never ends: that is found without --timeout.
endless() {
    status 1 "$B/launch" --explore -n 3 "$B/tests/right/orders" spins >"$work/endless" || return 1
    grep -q 'the time limit of 10 s is over' "$work/endless" || { cat "$work/endless"; return 1; }
}

# as_many_as_chance RANKS SEED: the search finds the orders that random runs find, and no others
as_many_as_chance() {
    local program=("$B/tests/right/orders" random "$2") all found
    all=$("$B/launch" --explore -n "$1" "${program[@]}" | grep -o '^all [0-9]*')
    found=$("$B/launch" --explore=500 --seed 1 -n "$1" "${program[@]}" | grep -o '[0-9]* orders:')
    echo "$all, at random $found"
    [ -n "$all" ] && [ "${all#all }" = "${found% orders:}" ]
}

for seed in 1 7 9 16; do check "all orders of a random program, $seed" as_many_as_chance 3 $seed; done
check "all orders of a random program of 4 ranks" as_many_as_chance 4 5
for world in socket shm; do
    check "$world: a deadlock in one order of 720, and 100 times again" one_of_720 $world
    for program in "${programs[@]}"; do check "$world: $program in many orders" right $world "$program"; done
done
check "a thousand orders in a minute" thousand
check "an order that does not end" endless
