#!/bin/bash
# SPDX-License-Identifier: MIT
#
# repair.sh: ranks of a training are killed at random moments, 200 in all (KILLS); every run ends with the bytes of the one that
# nobody disturbed.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
T=$B/train
[ -x "$T" ] || { skip repair "build/train is not built: OpenCL is missing"; exit 0; }
kills=${KILLS:-200}
RANDOM=${SEED:-1}

# So many kills of $ranks ranks, about one in so many tenths of a second; the run is long enough for most of them.
disturb() { # RANKS KILLS ARGS...
    local ranks=$1 left=$2 launcher rank
    shift 2
    "$T" --repair 1000 "$@" --out "$work/b" >"$work/said" 2>&1 &
    launcher=$!
    while [ "$left" -gt 0 ] && kill -0 $launcher 2>/dev/null; do
        sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
        rank=$("$B/launch" --ranks-of $launcher 2>/dev/null | sed -n "$((RANDOM % ranks + 1))p")
        [ "${rank:--}" != - ] && kill "-${signals[RANDOM % 6]}" "$rank" 2>/dev/null && left=$((left - 1)) && killed=$((killed + 1))
    done
    wait $launcher
}

same_weights() { # RANKS KILLS ARGS...
    local ranks=$1 most=$2
    shift 2
    set -- --ranks "$ranks" --train-limit 1200 --test-limit 200 --batch 16 --quiet "$@"
    rm -rf "$work/a" "$work/b"
    "$T" "$@" --out "$work/a" || return 1
    disturb "$ranks" "$most" "$@" || { cat "$work/said"; return 1; }
    cmp "$work/a/model.safetensors" "$work/b/model.safetensors"
}

signals=(KILL KILL KILL SEGV BUS ABRT) # TERM and INT ask it to stop
killed=0 run=0 shards=(none optimizer gradients parameters)
while [ $killed -lt "$kills" ] && [ $run -lt 60 ]; do
    ranks=$((run % 2 ? 4 : 2)) world=$((run / 2 % 2))
    shard=${shards[(run + run / 4) % 4]} # with 2 and 4 ranks each
    check "run $run, $ranks ranks, --shard $shard" same_weights $ranks 20 --epochs 3 --save-every $((run % 3 ? 7 : 1000)) \
        --world "$([ $world = 0 ] && echo shm || echo socket)" --seed $run --shard "$shard"
    run=$((run + 1))
done
check "$kills ranks were killed" [ $killed -ge "$kills" ]
