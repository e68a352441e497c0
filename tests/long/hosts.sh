#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hosts.sh: three hosts made of network namespaces (scripts/namespaces.sh), under each MPI library: what is between them can be
# cut, and what runs on one can be killed or stopped; and the suites, between three of them.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/hosts.sh
source tests/hosts.sh
# shellcheck source=scripts/namespaces.sh
source scripts/namespaces.sh

hosts=(pw1 pw2 pw3)
trap 'namespaces_remove; rm -rf "$work"' EXIT

# So many launchers, one a host, with so many ranks each.
on_hosts() { # HOSTS RANKS PROGRAM...
    local count=$1 ranks=$2
    shift 2
    namespaces_run "$count" 1 "$PWD/$B/launch" -n "$ranks" "$@"
}

as_on_one_host() { # PROGRAM: the same output of six ranks, in any order
    on_hosts 3 2 "$PWD/$B/tests/right/$1" | sort >"$work/three" || return 1
    "$B/launch" -n 6 "$B/tests/right/$1" | sort | diff "$work/three" -
}

# ---- Something happens to a job of two ranks a host ----

# Processes of an executable whose name begins so, on a host.
of_host() { ip netns pids "$1" | while read -r pid; do [[ $(readlink "/proc/$pid/exe") == */$2* ]] && echo "$pid"; done; }
none_left() { # nor soon
    local left
    for _ in $(seq 30); do
        left=$(for host in "${hosts[@]}"; do of_host "$host" actor; of_host "$host" launch-; done)
        [ -z "$left" ] && return 0
        sleep 0.1
    done
    echo "left: $left"
    return 1
}
after() { # TEXT SECONDS COMMAND...: once all ranks are there; then the job ends in time, with a line that matches, and no success
    local text=$1 seconds=$2 job status begun
    shift 2
    : >"$work/said"
    namespaces_run 3 1 env PAIRWISE_HOST_TIMEOUT="${host_timeout:-10}" "$PWD/$B/launch" -n 2 "$PWD/$B/tests/right/actor" busy >"$work/said" 2>&1 &
    job=$!
    await_ready "$work/said"
    begun=$(date +%s)
    "$@"
    wait $job
    status=$?
    cat "$work/said"
    echo "status $status, $(($(date +%s) - begun)) s"
    grep -q -E "$text" "$work/said" && [ $status -ne 0 ] && [ $(($(date +%s) - begun)) -le "$seconds" ] && none_left
}
kill_ranks() { for host in "${hosts[@]}"; do of_host "$host" actor | tail -n 1; done | xargs kill -9; }
to_launcher() { of_host "$1" launch- | xargs kill "$2"; }

# Two hosts that cannot reach each other, though mpirun reaches both (what one sends to the other goes to nobody): they are
# named before any rank starts, with what to try. Where a connection is refused Open MPI ends the job itself, and names both.
cannot_reach() {
    local who='[12]'
    [ "$MPI" = mpich ] && who='[012]' # whoever says so first: mpirun ends the others then
    ip -n pw2 neigh replace 10.97.0.3 lladdr 02:00:00:00:00:99 dev eth0 nud permanent || return 1
    on_hosts 3 1 "$PWD/$B/examples/hello" >"$work/no_way" 2>&1
    cat "$work/no_way"
    grep -q "cannot reach each other through .*: host $who (pw.*) has no answer from host .*[12]" "$work/no_way" &&
        grep -q 'try: mpirun .*if.* NAME' "$work/no_way" && ! grep -q 'hello from' "$work/no_way"
}

# ---- Suites of programs: mpirun starts each ----

between_launchers() { # SUITE [OPTION...]
    HOSTS=3 NAMESPACES="${namespaces[*]}" WORK=$work TEST_PATIENCE=6 with_mpirun "$@"
}
two_by_two() { MPI=$MPI HOSTS=2 NAMESPACES="${namespaces[*]}" WORK=$work tests/launch_hosts.sh -n 4 "$@"; }

# ---- Suites: their launchers are forked here, and a relay on each host carries what they tell each other (tests/relay) ----

sent() { cat /sys/class/net/pw[123]/statistics/rx_bytes; } # by each host, over its link

relays_begin() {
    rm -rf "$work/relays"
    mkdir "$work/relays"
    chmod 711 "$work" # tests have users of their own
    sent >"$work/sent"
    LIMIT=20000 namespaces_run 3 1 "$PWD/$B/tests/relay-$MPI" "$work/relays" >"$work/relayed" 2>&1 &
    relays=$!
    for _ in $(seq 300); do [ "$(grep -c listens "$work/relayed")" -eq 3 ] && return 0; sleep 0.1; done
    cat "$work/relayed"
    return 1
}

# They end well, and what they say they have carried has gone over the links.
relays_end() {
    local status
    touch "$work/relays/stop"
    wait "$relays"
    status=$?
    cat "$work/relayed"
    echo "status $status"
    sed -n 's/.*relay [012]: .* packets, \([0-9]*\) bytes.*/&=\1/p' "$work/relayed" | sort | sed 's/.*=//' >"$work/carried"
    sent | paste "$work/sent" - "$work/carried" | awk '{ print "host", NR - 1, "has sent", $2 - $1, "bytes; its relay", $3 }
        $3 == 0 || $2 - $1 < $3 { wrong = 1 } END { exit wrong || NR != 3 }' && [ $status -eq 0 ]
}

between_hosts() { # COMMAND...: two hosts at least, of jobs of two ranks, must have sent something meanwhile
    sent >"$work/before"
    PAIRWISE_HOSTS=3 PAIRWISE_HOSTS_THROUGH="$work/relays" QUICK=1 "$@" || return 1
    sent | paste "$work/before" - | awk '{ print "host", NR - 1, "has sent", $2 - $1, "bytes" }
        $2 - $1 > 10000 { many++ } END { exit many < 2 || NR != 3 }'
}

for MPI in openmpi mpich; do
    namespaces_make "${hosts[@]}" >"$work/why" || { skip "$MPI, hosts of namespaces" "$(cat "$work/why")"; continue; }
    check "make $B/launch-$MPI" make -s "$B/launch-$MPI"
    for world in socket shm; do
        export PAIRWISE_WORLD=$world
        check "$MPI, $world: the token goes round three hosts" says 'it has been at 6 of 6 ranks' on_hosts 3 2 "$PWD/$B/examples/ring_token"
        check "$MPI, $world: a deadlock" says 'wait for each other' on_hosts 3 1 "$PWD/$B/tests/right/actor" deadlock
        check "$MPI, $world: a death" status 7 on_hosts 3 2 "$PWD/$B/tests/right/actor" leave 5 7
        for program in groups all_to_all; do # not allreduce_check: by host its sums round in another order
            check "$MPI, $world: $program, as on one host" as_on_one_host "$program"
        done
        check "$MPI, $world: a rank of every host is killed" after 'rank [0-5] was killed by signal 9' 15 kill_ranks
    done
    for kind in "${!disagreements[@]}"; do
        check "$MPI: ranks disagree between hosts, $kind" disagrees "$kind" two_by_two
    done
    check "$MPI: a death is known on all hosts" death_is_known two_by_two
    for world in socket shm; do # the launchers are those of mpirun, one a host
        export PAIRWISE_WORLD=$world
        check "$MPI, $world: the wrong programs, and the right MPI programs, between three hosts" between_launchers p2p_wrong
    done
    check "$MPI: what the launcher does, between three hosts" between_launchers p2p_launch --filter "$same_through_mpirun"
    check "make $B/tests/relay-$MPI" make -s "$B/tests/relay-$MPI"
    check "$MPI: a relay on each host" relays_begin
    for world in socket shm; do
        export PAIRWISE_WORLD=$world
        for suite in "${suites[@]}"; do
            check "$MPI, $world: $suite between three hosts" between_hosts timeout -k 5 900 "$B/tests/$suite" ${parts[$suite]:+--filter "${parts[$suite]}"}
        done
        # shellcheck disable=SC2046
        check "$MPI, $world: faults between three hosts" between_hosts run_faults $(faults 3)
        for fault in $(faults 3); do
            check "$MPI, $world: $fault between three hosts" as_ended "$fault"
        done
    done
    check "$MPI: relays end, and all that they carried went from host to host" relays_end
    check "$MPI: a launcher is killed" after '(on node pw2|AT 10.97.0.2)' 10 to_launcher pw2 -KILL
    host_timeout=3 check "$MPI: one is stopped" after 'nothing has been heard of host 1 \(pw2\) for 3 s' 20 to_launcher pw2 -STOP
    # Open MPI's mpirun would wait for minutes for the host that is cut off.
    MCA="--mca btl tcp,self --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3" \
        check "$MPI: a link is cut" after 'nothing has been heard of host 2 \(pw3\) for 10 s' 40 ip link set pw3 down
    ip link set pw3 up
    check "$MPI: two hosts that cannot reach each other" cannot_reach
done
