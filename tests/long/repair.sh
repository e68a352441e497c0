#!/bin/bash
# SPDX-License-Identifier: MIT
#
# repair.sh: ranks of a training are killed, 200 in all (KILLS), up to 20 in a run (EACH) of 1200 images (IMAGES), of twice as
# many where runs end before a quarter of those is killed: each in turn, at random moments, every fourth in a save, in
# an evaluation or in a repair; on one host and on two. Every run ends with the bytes of the one that nobody disturbed, and none
# takes more than 300 s. From a kill to the next step that is finished: at most 2 s, the median 1 s; ten times as long fails, for
# other programs may run beside. The line of a step is written at the end of the next one, so the times are a step too long.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
T=$B/train
[ -x "$T" ] || { skip repair "build/train is not built: OpenCL is missing"; exit 0; }
kills=${KILLS:-200} each=${EACH:-20}
RANDOM=${SEED:-1}
images=${IMAGES:-1200} batch=16
metrics=$work/b/metrics.jsonl
exec {never}<> <(:)

pause() { read -rt "$1" -u "$never"; } # seconds; no process is started
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
goes_on() { kill -0 "$launcher" 2>/dev/null; }

pid_of() { # RANK: a launcher says "-" for a rank of another host
    local one pid job
    job=$(pgrep -P "$launcher") || return 1
    for one in $job $(pgrep -P "$job" -f "$B/launch"); do
        pid=$("$B/launch" --ranks-of "$one" 2>/dev/null | sed -n "$(($1 + 1))p")
        [[ $pid =~ ^[0-9]+$ ]] && { echo "$pid"; return 0; }
    done
    return 1
}

# ---- Moments ----

has_begun() { grep -q '^{"step"' "$metrics" 2>/dev/null; }
in_save() { # a temporary file is written
    local file
    for file in "$work"/b/.*.new; do [ "$file" -nt "$work/since" ] && return 0; done
    return 1
}
in_evaluation() { # the last step of an epoch has its line, and the epoch has none
    local line step
    line=$(tail -n 1 "$metrics" 2>/dev/null)
    [[ $line == '{"step":'* ]] || return 1
    step=${line#*:} step=${step%%,*}
    [ $((step % ((images + batch * ranks - 1) / (batch * ranks)))) -eq 0 ]
}
await() { # MOMENT
    : >"$work/since"
    while goes_on; do
        "$1" && return 0
        pause 0.002
    done
    return 1
}

# ---- A kill, and the next step ----

gone() { # PID
    [[ ! -e /proc/$1/stat || $(<"/proc/$1/stat") == *') Z '* ]] 2>/dev/null
}
# LLVM, which is in an OpenCL for CPUs, has handlers for SEGV, BUS and ABRT; they return from the first that comes from outside.
strike() { # PID
    local signal=${signals[RANDOM % 6]}
    generation=$(sed -n 's/^{"generation":\([0-9]*\).*/\1/p' "$metrics" 2>/dev/null | tail -n 1)
    gone "$1" && return 1
    until gone "$1"; do
        struck=$(now_ms)
        kill "-$signal" "$1" 2>/dev/null
        pause 0.005
    done
    killed=$((killed + 1)) left=$((left - 1))
}

# Once in a later generation a step has a line.
has_gone_on() {
    awk -F '[:,]' -v old="${generation:-0}" '/^{"generation"/ && $2 > old {later = 1} /^{"step"/ && later {found = 1}
        END {exit !found}' "$metrics"
}

# Until it has gone on, and how long that took. In a run that ends there may be no step any more.
measure() {
    until has_gone_on; do
        goes_on || return 0
        [ $(($(now_ms) - struck)) -lt 60000 ] || { echo "no step within a minute"; return 1; }
        pause 0.02
    done
    took+=($(($(now_ms) - struck)))
}

# Rank 0, 1, ... in turn; of those that are aimed at a moment every rank gets its turn as well. The first of a run may come before
# its first step; how long that takes is not measured.
kill_one() {
    local rank=$(((killed + killed / 4) % ranks)) first second timed moment=${moments[killed / 4 % 3]}
    [ "$left" -eq "$each" ] || await has_begun || return 0
    first=$(pid_of $rank) || { pause 0.1; return 0; }
    second=$(pid_of $(((rank + 1) % ranks))) || return 0
    if [ $((killed % 4)) -ne 3 ]; then
        pause "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
    elif [ "$moment" != in_repair ]; then
        await "$moment" || return 0
        aimed[$moment]=$((${aimed[$moment]:-0} + 1))
    fi
    has_begun && timed=1
    strike "$first" || return 0
    if [ $(((killed - 1) % 4)) -eq 3 ] && [ "$moment" = in_repair ]; then
        pause 0.05
        strike "$second" && aimed[$moment]=$((${aimed[$moment]:-0} + 1))
    fi
    [ -z "${timed:-}" ] || measure
}

disturb() { # HOSTS KILLS ARGS...
    local hosts=$1 left=$2 command=("$T") status=0
    shift 2
    [ "$hosts" -gt 1 ] && command=("$B/launch" -n "$ranks" --repair 1000 "$T")
    PAIRWISE_HOSTS=$hosts timeout -k 20 300 "${command[@]}" --repair 1000 "$@" --out "$work/b" >"$work/said" 2>&1 &
    launcher=$!
    while [ "$left" -gt 0 ] && goes_on && [ $status -eq 0 ]; do kill_one || status=1; done
    [ $status -eq 0 ] || kill $launcher
    wait $launcher && [ $status -eq 0 ]
}

same_weights() { # HOSTS KILLS ARGS...
    local hosts=$1 most=$2
    shift 2
    set -- --ranks "$ranks" --train-limit "$images" --test-limit 200 --batch $batch --quiet "$@"
    rm -rf "$work/a" "$work/b"
    timeout -k 20 300 "$T" "$@" --out "$work/a" || return 1
    disturb "$hosts" "$most" "$@" || { cat "$work/said"; return 1; }
    cmp "$work/a/model.safetensors" "$work/b/model.safetensors"
}

# ---- All of it ----

signals=(KILL KILL KILL SEGV BUS ABRT) # TERM and INT ask it to stop
moments=(in_save in_evaluation in_repair)
declare -A aimed
killed=0 run=0 took=() shards=(none optimizer gradients parameters)
while [ $killed -lt "$kills" ] && [ $run -lt 60 ]; do
    ranks=$((run % 2 ? 4 : 2)) worlds=(shm socket)
    export PAIRWISE_WORLD=${worlds[run / 2 % 2]}
    shard=${shards[(run + run / 4) % 4]} # with 2 and 4 ranks each
    hosts=$((run % 3 == 2 ? 2 : 1))
    check "run $run, hosts $hosts, ranks $ranks, --shard $shard" same_weights $hosts "$each" --epochs 3 \
        --save-every $((run % 3 ? 7 : 19)) --seed $run --shard "$shard"
    run=$((run + 1))
    [ $((killed * 4)) -ge $((run * each)) ] || [ "$images" -ge 9600 ] || images=$((images * 2))
done
check "$kills ranks were killed" [ $killed -ge "$kills" ]

in_time() { # MEDIAN MOST, in ms
    [ "$1" -lt 10000 ] && [ "$2" -lt 20000 ]
}
echo "$killed kills: ${aimed[in_save]:-0} in a save, ${aimed[in_evaluation]:-0} in an evaluation, ${aimed[in_repair]:-0} in a repair"
[ ${#took[@]} -gt 0 ] || { fail "no step came after a kill"; exit; }
mapfile -t sorted < <(printf '%s\n' "${took[@]}" | sort -n)
median=${sorted[${#sorted[@]} / 2]} most=${sorted[-1]}
check "from a kill to the next finished step: median $median ms, at most $most ms, of ${#took[@]}" in_time "$median" "$most"
