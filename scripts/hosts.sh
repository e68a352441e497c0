#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hosts.sh new|again: the launchers for several hosts. `make hosts` makes one for each MPI library whose compiler there is: Debian
# calls it mpicc.openmpi and mpicc.mpich, where there is one library it is mpicc. `make` makes those again that there are, for
# a launcher of another build than its programs is of no use.
set -eu
B=${BUILD:-build}
mpis="openmpi mpich"

# shellcheck source=scripts/mpi.sh
. scripts/mpi.sh

compiler() { # MPI
    if [ -n "${MPICC:-}" ]; then
        if [ "$(mpi_kind "$MPICC")" = "$1" ]; then echo "$MPICC"; fi
    elif command -v "mpicc.$1" >/dev/null; then
        echo "mpicc.$1"
    elif [ "$(mpi_kind mpicc)" = "$1" ]; then
        echo mpicc
    fi
}

new() {
    found=
    for mpi in $mpis; do
        mpicc=$(compiler "$mpi")
        [ -n "$mpicc" ] || continue
        found=1
        "${MAKE:-make}" "$B/launch-$mpi" MPICC="$mpicc"
    done
    [ -n "$found" ] && return
    echo "there is no mpicc"
    echo "  try: apt-get install libopenmpi-dev (or libmpich-dev), then make hosts"
    exit 1
}

again() {
    for mpi in $mpis; do
        [ -e "$B/launch-$mpi" ] || continue
        mpicc=$(cat "$B/obj/$mpi/mpicc" 2>/dev/null || echo "mpicc.$mpi")
        command -v "$mpicc" >/dev/null || mpicc=$(compiler "$mpi")
        if [ -n "$mpicc" ]; then
            "${MAKE:-make}" -s "$B/launch-$mpi" MPICC="$mpicc"
        elif [ -n "$(find "$B/launch" -newer "$B/launch-$mpi")" ]; then
            echo "$B/launch-$mpi is of an earlier build, and its compiler is no longer there: removed"
            rm -f "$B/launch-$mpi"
        fi
    done
}

"$1"
