#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hosts.sh: several hosts as they are started by the MPI libraries that are installed, several launchers of this machine. (Suites
# on launchers that this machine forks are jobs of their own: tests/jobs.sh.)
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/hosts.sh
source tests/hosts.sh

# ---- Launchers that this machine forks ----

# Two launchers that print to one pipe, faster than it is read.
whole_lines() {
    local broken
    broken=$(PAIRWISE_HOSTS=2 "$B/launch" -n 4 "$B/tests/right/actor" lines 5000 61 | cat | grep -vcE '^rank [0-9] line [0-9]+ [a-z]{61}$')
    echo "$broken lines of two or of none"
    [ "$broken" -eq 0 ]
}
check "lines come out whole" whole_lines

# ---- MPI libraries ----

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# So many launchers, each with so many ranks; what mpirun adds to a failure is left out.
on_hosts() { # MPI HOSTS RANKS PROGRAM...
    local mpi=$1 hosts=$2 ranks=$3 options=
    shift 3
    [ "$mpi" = openmpi ] && options=--oversubscribe
    timeout -k 5 60 "mpirun.$mpi" $options -np "$hosts" "$B/launch" -n "$ranks" "$@"
}

# The same output of four ranks, as it is (cat) or in any order (sort).
as_on_one_host() { # MPI FILTER PROGRAM...
    local mpi=$1 filter=$2
    shift 2
    on_hosts "$mpi" 2 2 "$@" | $filter >"$work/two" || return 1
    "$B/launch" -n 4 "$@" | $filter | diff "$work/two" -
}

# Launchers with nothing to do. The bar is 1 % of a core each (docs/hosts.md); ten times that are allowed, on a busy machine too.
ticks() { for pid in $(pgrep -x "launch-$1"); do grep -q "$work" "/proc/$pid/cmdline" && cat "/proc/$pid/stat"; done | awk '{ sum += $14 + $15 } END { print sum + 0 }'; }
idle() { # MPI
    local job before after
    rm -f "$work/idle"
    on_hosts "$1" 2 1 --timeout 8 --report "$work/report" "$B/tests/right/actor" busy >"$work/idle" 2>&1 &
    job=$!
    await_ready "$work/idle"
    sleep 1
    before=$(ticks "$1")
    sleep 4
    after=$(ticks "$1")
    wait $job
    echo "$((after - before)) hundredths of a second in 4 s, of two launchers"
    [ "$before" -gt 0 ] && [ $((after - before)) -le 80 ]
}

# The clock of the second host shows 5000 s more: each message arrives after it was sent, and within 100 s.
one_clock() { # MPI
    local command=("$B/launch" -n 2 --trace "$work/two.json" "$B/examples/ring_token") options=
    [ "$1" = openmpi ] && options=--oversubscribe
    timeout -k 5 60 "mpirun.$1" $options -np 1 "${command[@]}" : -np 1 unshare --time --monotonic 5000 "${command[@]}" || return 1
    awk -F'[:,]' '/^[{]"ph":"[sf]"/ { for (i = 1; i < NF; i++) value[$i] = $(i + 1); id = value["\"id\""]; at = value["\"ts\""]
                                     if (!(id in first)) { first[id] = at; next }
                                     took = at - first[id]; if (value["{\"ph\""] == "\"s\"") took = -took
                                     print "message", id, "took", took, "us"; count++; if (took < 0 || took > 1e8) wrong = 1 }
                  END { exit wrong || count != 4 }' "$work/two.json"
}

# A library whose MPI_Isend fails on launcher 1, once a rank there has begun: the job ends with a sentence, and at once.
cat >"$work/failing.c" <<'END'
#include <mpi.h>
#include <unistd.h>
int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 1 && access("FLAG", F_OK) == 0 ? MPI_ERR_OTHER : PMPI_Isend(buf, count, type, dest, tag, comm, request);
}
END
sed -i "s#FLAG#$work/flag#" "$work/failing.c"
failing() { # MPI
    local begun
    begun=$(date +%s)
    rm -f "$work/flag"
    "mpicc.$1" -shared -fPIC -o "$work/failing.so" "$work/failing.c" || return 1
    # shellcheck disable=SC2016
    LD_PRELOAD="$work/failing.so" on_hosts "$1" 2 1 sh -c 'touch $0; LD_PRELOAD= exec "$@"' "$work/flag" "$B/tests/right/actor" busy >"$work/failed" 2>&1
    cat "$work/failed"
    [ $(($(date +%s) - begun)) -lt 9 ] && grep -q 'the launcher of host 0 (.*) cannot be reached any more: MPI_Isend: ' "$work/failed"
}

# A message that is lost between hosts: the report of the first one has the line that sent it, on the second.
cat >"$work/lost.c" <<'END'
#include "p2p/p2p.h"
int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    if (p2p_rank(world) == 1) p2p_send(world, "x", 1, 0, 0);
    p2p_finalize(world);
}
END
lost_has_sender() { # MPI
    rm -f "$work/lost.json"
    ${CC:-cc} -I. "$work/lost.c" "$B/libpairwise.a" -o "$work/lost" || return 1
    on_hosts "$1" 2 1 --report "$work/lost.json" "$work/lost"
    cat "$work/lost.json"
    grep -q '"rank":1,"host":1,.*"role":"other",.*"call":"p2p_send","file":".*lost.c","line":6' "$work/lost.json"
}

# One launcher has an option, or a variable, that the other has not: named before any rank starts.
settings_differ() { # MPI
    local options=
    [ "$1" = openmpi ] && options=--oversubscribe
    says 'settings differ: host 0 (.*) has --explain, host 1 (.*) has not' timeout -k 5 60 "mpirun.$1" $options \
        -np 1 "$B/launch" -n 1 --explain "$B/examples/hello" : -np 1 "$B/launch" -n 1 "$B/examples/hello" || return 1
    says 'settings differ: host 1 (.*) has PAIRWISE_EAGER=1K, host 0 (.*) has not' timeout -k 5 60 "mpirun.$1" $options \
        -np 1 "$B/launch" -n 1 "$B/examples/hello" : -np 1 env PAIRWISE_EAGER=1K "$B/launch" -n 1 "$B/examples/hello"
}

# A program that one host lacks.
program_missing() { # MPI
    local options=
    [ "$1" = openmpi ] && options=--oversubscribe
    says 'host 1 (.*): cannot start ./nonexistent: ' timeout -k 5 60 "mpirun.$1" $options \
        -np 1 "$B/launch" -n 1 "$B/examples/hello" : -np 1 "$B/launch" -n 1 ./nonexistent
}

# The launcher is older than what it is made of: make, with which make install begins, makes it again.
made_again() { # MPI
    touch -d 2000-01-01 "$B/launch-$1"
    make -s all || return 1
    [ "$(date -r "$B/launch-$1" +%Y)" -gt 2000 ]
}

# Tables of make tune on one host only.
tuned_elsewhere() { # MPI
    local options= text
    [ "$1" = openmpi ] && options=--oversubscribe
    text=$(sed -n 's/.*"\(.*\)"/\1/p' "$B/hosts_id.h")
    sed "s/$text/$(echo "$text" | tr 0-9 1-90)/" "$B/launch-$1" >"$work/other-$1" # an id is as long as before
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$work/other-$1" >"$work/other"
    chmod +x "$work/other-$1" "$work/other"
    says 'host . (.*) has other collectives than host . (.*), or they are tuned otherwise' timeout -k 5 60 "mpirun.$1" $options \
        -np 1 "$B/launch" -n 1 "$B/examples/hello" : -np 1 "$work/other" -n 1 "$B/examples/hello"
}

# mpirun is told to end: so do all ranks, and that is no success. (MPICH's mpirun may say it was, whatever launchers do.) What
# launchers say then goes to a file of its own: mpirun may end before it has passed it on.
mkdir "$work/aside"
printf '#!/bin/sh\nexec "%s" "$@" 2>>"%s"\n' "$B/launch" "$work/said" >"$work/aside/launch"
chmod +x "$work/aside/launch"
signalled() { # MPI
    local program=$B/tests/right/actor job status
    rm -f "$work/said" "$work/signalled" # that of the library before is ready already
    B=$work/aside on_hosts "$1" 2 1 "$program" busy >"$work/signalled" 2>&1 &
    job=$!
    await_ready "$work/signalled"
    pkill -TERM -P $job
    wait $job
    status=$?
    cat "$work/signalled" "$work/said"
    echo "status $status"
    grep -q 'Terminated: ending all ranks' "$work/said" && { [ "$1" = mpich ] || [ $status -ne 0 ]; }
}

for mpi in openmpi mpich; do
    if ! have "mpicc.$mpi" || ! have "mpirun.$mpi"; then
        skip "$mpi" "not installed"
        continue
    fi
    check "$mpi: make hosts" make -s "$B/launch-$mpi"
    check "$mpi: hello" says '^\[3\] hello from rank 3 of 4' on_hosts $mpi 2 2 --tag "$B/examples/hello"
    check "$mpi: a right MPI program" on_hosts $mpi 2 2 "$B/tests/mpi/right/messages"
    check "$mpi: a wrong one" says 'ranks 0 and 1 wait for each other' on_hosts $mpi 2 1 "$B/tests/mpi/wrong/recv_recv"
    for world in socket shm; do
        export PAIRWISE_WORLD=$world
        check "$mpi, $world: the token goes round" says 'it has been at 6 of 6 ranks' on_hosts $mpi 3 2 "$B/examples/ring_token"
        check "$mpi, $world: a deadlock is found" says 'ranks 0 and 1 wait for each other' on_hosts $mpi 2 1 "$B/examples/deadlock"
        check "$mpi, $world: and is exit status 1" status 1 on_hosts $mpi 2 1 "$B/examples/deadlock"
        programs="groups all_to_all master_worker wait_any_server"
        [ $world = socket ] && programs+=" allreduce_check" # where ranks share memory they round in another order
        for program in $programs; do
            check "$mpi, $world: $program, as on one host" as_on_one_host $mpi sort "$B/tests/right/$program"
        done
        check "$mpi, $world: a death, and its status" status 7 on_hosts $mpi 2 2 "$B/tests/right/actor" leave 3 7
        check "$mpi, $world: p2p_abort" status 9 on_hosts $mpi 2 2 "$B/tests/right/actor" abort 2 9
        check "$mpi, $world: the time limit" status 124 on_hosts $mpi 2 1 --timeout 1 "$B/tests/right/actor" busy
    done
    unset PAIRWISE_WORLD
    check "$mpi: launchers that have nothing to do" idle $mpi
    if unshare --time --monotonic 5000 true 2>/dev/null; then
        check "$mpi: a trace has one clock" one_clock $mpi
    else
        skip "$mpi: a trace has one clock" "a clock of its own needs root, and unshare of util-linux"
    fi
    check "$mpi: a call of MPI's that fails" failing $mpi
    check "$mpi: a lost message has its sender in the report" lost_has_sender $mpi
    check "$mpi: settings that differ" settings_differ $mpi
    check "$mpi: a program that one host lacks" program_missing $mpi
    check "$mpi: another make tune" tuned_elsewhere $mpi
    check "$mpi: make makes it again" made_again $mpi
    check "$mpi: a signal ends all hosts" signalled $mpi
    check "$mpi: output rank by rank" as_on_one_host $mpi cat --ordered "$B/tests/right/actor" lines 50 20
done

# make hosts: a compiler for each library, by the name that Debian gives it, or as mpicc. The compilers here say what they are of.
compilers() { # NAME=KIND...: what would be made, with which
    local word
    rm -rf "$work/compilers"
    mkdir "$work/compilers"
    for word; do
        printf '#!/bin/sh\n[ "$1" = %s ]\n' "$([ "${word#*=}" = openmpi ] && echo --showme || echo -show)" >"$work/compilers/${word%=*}"
    done
    for word in sh cat; do ln -s "$(command -v $word)" "$work/compilers/$word"; done
    chmod +x "$work/compilers"/mpicc*
    printf '#!/bin/sh\necho "$@"\n' >"$work/compilers/make"
    chmod +x "$work/compilers/make"
    PATH=$work/compilers MAKE=make BUILD=b sh scripts/hosts.sh new
}
check "make hosts: mpicc of Open MPI" says '^b/launch-openmpi MPICC=mpicc$' compilers mpicc=openmpi
check "make hosts: mpicc beside mpicc.openmpi" says '^b/launch-mpich MPICC=mpicc$' compilers mpicc.openmpi=openmpi mpicc=mpich
check "make hosts: mpicc.openmpi beside mpicc" says '^b/launch-openmpi MPICC=mpicc.openmpi$' compilers mpicc.openmpi=openmpi mpicc=mpich
check "make hosts: mpicc.mpich" says '^b/launch-mpich MPICC=mpicc.mpich$' compilers mpicc.mpich=mpich

# Where no launcher for them is built, that is said.
cp "$B/launch" "$work/launch"
check "without make hosts: an error that says so" says 'try: make hosts' env OMPI_COMM_WORLD_SIZE=2 "$work/launch" -n 2 "$B/examples/hello"

# Started by srun, as its variables say, by a library that does not see the others, or not with it: one job of two, never two jobs.
if have mpicc.openmpi; then
    make -s hosts
    for variables in SLURM_STEP_NUM_TASKS=2 OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=2 "SLURM_STEP_NUM_TASKS=2 PMIX_RANK=0"; do
        # shellcheck disable=SC2086
        check "$variables, and no others" says '2 launchers were started, and .* sees one' env $variables "$B/launch" -n 1 "$B/examples/hello"
    done
    for variables in SLURM_STEP_NUM_TASKS=1 "PMIX_RANK=0 SLURM_STEP_NUM_TASKS=1" "SLURM_NTASKS=4 SLURM_JOB_ID=1" PMI_SIZE=1; do # sbatch, salloc, one task
        # shellcheck disable=SC2086
        check "$variables: a job of its own" says 'hello from rank 1 of 2' env $variables "$B/launch" -n 2 "$B/examples/hello"
    done
fi
