#!/bin/bash
# SPDX-License-Identifier: MIT
#
# metrics.sh: Prometheus' own checker has nothing to say about what --metrics writes: of a short run, of two hosts, of a
# training, of ranks that die.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
PATH=$PATH:$PWD/build/tools # where scripts/setup.sh puts it
have promtool || { skip metrics "promtool is not there (sh scripts/setup.sh test-long fetches it)"; exit 0; }

promtool_is_content() { # STATUS COMMAND...: which ends so, and writes $work/m.prom
    local want=$1
    shift
    rm -f "$work/m.prom"
    status "$want" "$@" || return 1
    [ -s "$work/m.prom" ] || return 1
    promtool check metrics <"$work/m.prom" >"$work/said" 2>&1 && [ ! -s "$work/said" ] && return 0
    cat "$work/said"
    return 1
}

printf 'a_total 1\n' >"$work/bad"
check "promtool finds what is wrong" status 3 promtool check metrics <"$work/bad"
check "a short run" promtool_is_content 0 "$B/launch" -n 4 --metrics "$work/m.prom" "$B/tests/right/actor"
check "collectives" promtool_is_content 0 "$B/launch" -n 4 --metrics "$work/m.prom" "$B/tests/right/allreduce_check"
check "two hosts" promtool_is_content 0 env PAIRWISE_HOSTS=2 "$B/launch" -n 4 --metrics "$work/m.prom" "$B/tests/right/groups"
check "a death" promtool_is_content 7 "$B/launch" -n 3 --metrics "$work/m.prom" "$B/tests/right/actor" leave 1 7
check "a deadlock" promtool_is_content 1 "$B/launch" -n 3 --metrics "$work/m.prom" "$B/tests/right/actor" deadlock
if [ -x "$B/train" ]; then
    check "a training" promtool_is_content 0 "$B/launch" -n 2 --metrics "$work/m.prom" "$B/train" --train-limit 64 --test-limit 8 \
        --batch 8 --steps 3 --quiet --out "$work/run"
fi
