# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# hosts.sh: what runs unchanged on several hosts, for tests/all/hosts.sh and tests/long/hosts.sh, after lib.sh.

# Suites. Not among them: those that count what one launcher may have, or say (p2p_launch, p2p_scale), ask on which core a rank of
# the same machine runs (p2p_cores), or have hosts of their own (hosts, network, status).
suites=(p2p_messages p2p_requests p2p_comm p2p_layer p2p_report p2p_random p2p_wrong p2p_alloc p2p_waiting mismatch nonblocking ring contracts
    collectives trace metrics record trainer_sync)
# Faults that are of one machine:
not_here='^(read-refused|write-refused|write-late|write-death|read-breaks' # a rank copies out of another's memory, or into it
not_here+='|stale-half|stop-mid-copy'                                      # or does so for longer than the other waits
not_here+='|meet-withdrawn|stale-view'                                     # or reads it in place, in a collective
not_here+='|scoreboard-garbage-end' # what is written to the scoreboard of one host does not reach the others
not_here+='|fuzz-frame'             # in shm a launcher finds the frame that no rank sends, not the rank that gets it
not_here+='|repair-asks'            # a rank is given kept memory until its own launcher has heard of a death
not_here+='|fork-fails)$'           # which fork it is that fails

as_ended() { # FAULT: what it said, and its status
    cat "$work/$1"
    return "$(cat "$work/$1.status")"
}

# Most of a fault is waiting: three at a time. Settings are in the environment.
run_faults() { # FAULT...
    printf '%s\n' "$@" | xargs -P 3 -I{} sh -c "'$B/tests/faultlab' {} >'$work/{}' 2>&1; echo \$? >'$work/{}.status'"
}

faults() { "$B/tests/faultlab" --list | grep -v '(long)' | cut -d' ' -f1 | grep -v -E "$not_here"; }
