# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
#
# hosts.sh: what runs unchanged on several hosts, for tests/all/hosts*.sh and tests/long/hosts.sh, after lib.sh.

# shellcheck source=scripts/mpi.sh
source scripts/mpi.sh
mpi_names "$work/mpi"

# Suites whose second line has "hosts" in it. Not among them: those that ask on which core a rank of the same machine runs
# (p2p_cores), or have hosts of their own (hosts, network, status).
mapfile -t suites < <(awk 'FNR == 2 && /worlds: .*hosts/ { sub(/.*\//, "", FILENAME); sub(/\.c$/, "", FILENAME); print FILENAME }' tests/*.c)
# Those of which a part is left out: what counts the descriptors, or the memory, of one launcher.
declare -A parts=([p2p_launch]='p2p/!(a_job_too_large_for_the_machine_is_refused|*_long)' [p2p_scale]='p2p/!(all_to_all_*)')
part_of() { echo "${parts[$1]:-$2}"; } # SUITE FILTER: as a filter, which is FILTER where nothing is left out

# Faults that are of one machine:
not_here='^(read-refused|write-refused|write-late|write-death|read-breaks' # a rank copies out of another's memory, or into it
not_here+='|stale-half|stop-mid-copy'                                      # or does so for longer than the other waits
not_here+='|meet-withdrawn|stale-view'                                     # or reads it in place, in a collective
not_here+='|group-limit'            # how much memory each host's ranks need
not_here+='|scoreboard-garbage-end' # what is written to the scoreboard of one host does not reach the others
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

faults() { # HOSTS: of $world: in shm a launcher finds the frame that no rank sends, not the rank that gets it
    local not_now=$not_here
    [ "$world" = shm ] && not_now+='|^fuzz-frame$'
    [ "$1" -gt 2 ] && not_now+='|^read-death$' # where a rank must share memory with another one, of three
    "$B/tests/faultlab" --list | grep -v '(long)' | cut -d' ' -f1 | grep -v -E "$not_now"
}

# ---- Under an MPI library ----

# A suite whose jobs are programs, each started by mpirun. Of p2p_launch not what mpirun does in its own way: it waits where its
# output is not read, mixes the lines of hosts, and has statuses of its own for signals and for a wrong command line.
with_mpirun() { # SUITE [OPTION...]
    local suite=$1
    shift
    MPI=$MPI TEST_LAUNCHER=$PWD/tests/launch_hosts.sh timeout -k 5 900 "$B/tests/$suite" -j4 "$@"
}
same_through_mpirun='p2p/@(input_*|launch_gives_*|launch_leaves_*|launch_refuses_*|status_12[47]_*'
same_through_mpirun+='|status_of_*|a_program_*|wrap_*|what_ranks_*|bad_settings_*)'

# Ways in which the last of four ranks can disagree with the others (tests/right/disagree), and what is said of both sides.
declare -A disagreements=(
    [count]='count 40000 .* count 40003' [broadcast]='count 40000 .* count 20000' [op]='op sum .* op max' [root]='root 0 .* root 3'
    [dtype]='dtype f32 .* dtype i32' [kind]='in coll_all_reduce #1 .* in coll_broadcast #1'
    [order]='in coll_all_reduce #1 .* in coll_barrier #1' [algorithm]='in coll_tree_all_reduce #1 .* in ring_all_reduce #1'
    [missing]='for something that can never come')
# Every rank is told, but one that has ended, and no buffer is written. COMMAND starts two launchers of two ranks.
disagrees() { # KIND COMMAND...
    local kind=$1 told=4
    shift
    [ "$kind" = missing ] && told=3
    "$@" --ordered "$PWD/$B/tests/right/disagree" "$kind" >"$work/told" 2>"$work/also"
    status=$?
    cat "$work/told" "$work/also"
    [ "$(grep -cE "^rank [0-3]: untouched: .*${disagreements[$kind]}" "$work/told")" -eq $told ] && [ $status -eq 1 ]
}

# A rank is killed: all others are told within 0.2 s, of which ten times are allowed. COMMAND starts two launchers of two ranks.
death_is_known() { # COMMAND...
    "$@" --ordered "$PWD/$B/tests/right/actor" dies 3 >"$work/knew" 2>"$work/also"
    status=$?
    cat "$work/knew" "$work/also"
    [ $status -eq 137 ] &&
        awk '/^rank [0-2] knew it after .* a rank has died or left$/ { told++; if ($6 > 2) late = 1 } END { exit late || told != 3 }' "$work/knew"
}
