#!/bin/bash
# SPDX-License-Identifier: MIT
#
# repair.sh: ranks of a training are killed at random moments, 200 in all (KILLS), on one host and on two; every run ends with the
# bytes of the one that nobody disturbed.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
T=$B/train
[ -x "$T" ] || { skip repair "build/train is not built: OpenCL is missing"; exit 0; }
kills=${KILLS:-200}
RANDOM=${SEED:-1}

# Processes of its ranks, on all hosts: each leads a group.
ranks_there() { ps -eo pid=,pgid=,args= | awk -v out="$work/b" '$1 == $2 && index($0, out) { print $1 }'; }

# So many kills, about one a second; the run is long enough for most of them.
disturb() { # HOSTS RANKS KILLS ARGS...
    local hosts=$1 ranks=$2 left=$3 launcher rank there command=("$T")
    shift 3
    [ "$hosts" -gt 1 ] && command=("$B/launch" -n "$ranks" --repair 1000 "$T")
    PAIRWISE_HOSTS=$hosts "${command[@]}" --repair 1000 "$@" --out "$work/b" >"$work/said" 2>&1 &
    launcher=$!
    while [ "$left" -gt 0 ] && kill -0 $launcher 2>/dev/null; do
        sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
        mapfile -t there < <(ranks_there)
        [ ${#there[@]} -gt 0 ] || continue
        rank=${there[RANDOM % ${#there[@]}]}
        kill "-${signals[RANDOM % 6]}" "$rank" 2>/dev/null && left=$((left - 1)) && killed=$((killed + 1))
    done
    wait $launcher
}

same_weights() { # HOSTS RANKS KILLS ARGS...
    local hosts=$1 ranks=$2 most=$3
    shift 3
    set -- --ranks "$ranks" --train-limit 1200 --test-limit 200 --batch 16 --quiet "$@"
    rm -rf "$work/a" "$work/b"
    "$T" "$@" --out "$work/a" || return 1
    disturb "$hosts" "$ranks" "$most" "$@" || { cat "$work/said"; return 1; }
    cmp "$work/a/model.safetensors" "$work/b/model.safetensors"
}

signals=(KILL KILL KILL SEGV BUS ABRT) # TERM and INT ask it to stop
killed=0 run=0 shards=(none optimizer gradients parameters)
while [ $killed -lt "$kills" ] && [ $run -lt 60 ]; do
    ranks=$((run % 2 ? 4 : 2)) worlds=(shm socket)
    export PAIRWISE_WORLD=${worlds[run / 2 % 2]}
    shard=${shards[(run + run / 4) % 4]} # with 2 and 4 ranks each
    hosts=$((run % 3 == 2 ? 2 : 1))
    check "run $run, hosts $hosts, ranks $ranks, --shard $shard" same_weights $hosts $ranks 20 --epochs 3 --save-every $((run % 3 ? 7 : 1000)) \
        --seed $run --shard "$shard"
    run=$((run + 1))
done
check "$kills ranks were killed" [ $killed -ge "$kills" ]
