#!/bin/bash
# SPDX-License-Identifier: MIT
#
# launch_hosts.sh -n RANKS OPTION... PROGRAM...: what suites take for build/launch (TEST_LAUNCHER): the ranks are divided among
# launchers that mpirun starts, as evenly as they can be. So a suite runs unchanged, but with the launcher that is linked with MPI.
#
#       MPI=openmpi|mpich HOSTS=2 TEST_LAUNCHER=tests/launch_hosts.sh build/tests/p2p_wrong
#       NAMESPACES="pw1 pw2" WORK=DIR      and each of them on a host of its own, which scripts/namespaces.sh has made there
set -u
if [ "$1" = --share ]; then # mpirun has started this: launch_hosts.sh --share LAUNCHER RANKS OPTION... PROGRAM...
    launcher=$2 ranks=$3
    shift 3
    number=${OMPI_COMM_WORLD_RANK:-$PMI_RANK} count=${OMPI_COMM_WORLD_SIZE:-$PMI_SIZE}
    export TEST_HOSTS=$count # for programs that ask how many there are
    exec "$launcher" -n $((ranks / count + (number < ranks % count))) "$@"
fi
self=$(realpath "$0")
B=$(cd "$(dirname "$self")/.." && realpath "${BUILD:-build}")
if [ "$1" != -n ] || [ "$2" -le 1 ]; then exec "$B/launch" "$@"; fi
ranks=$2 hosts=$((${HOSTS:-2} < $2 ? ${HOSTS:-2} : $2))
shift 2
command=("$self" --share "$B/launch" "$ranks" "$@")
if [ "${NAMESPACES:-}" ]; then
    # shellcheck disable=SC2153  # of the caller
    work=$WORK
    # shellcheck source=scripts/namespaces.sh
    source "$(dirname "$self")/../scripts/namespaces.sh"
    read -ra namespaces <<<"$NAMESPACES"
    namespaces_run "$hosts" 1 "${command[@]}"
    exit
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
options=$([ "$MPI" = openmpi ] && echo --oversubscribe)
# shellcheck disable=SC2086  # a word, or none
exec "mpirun.$MPI" $options -np "$hosts" "${command[@]}"
