# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# mpi.sh: for `make hosts`, tests and benches. Each MPI library has commands of its own name: mpirun.openmpi, mpicc.mpich and so
# on, as on Debian. Where there is only one library, without a suffix, that is taken.
#
#       mpi_kind MPICC     prints of which library it is the compiler: openmpi, mpich; nothing if of neither
#       mpi_names DIR      puts commands with the suffix there, and that folder on the path, if that is needed

mpi_kind() {
    if "$1" --showme >/dev/null 2>&1; then
        echo openmpi
    elif "$1" -show >/dev/null 2>&1; then
        echo mpich
    fi
}

mpi_names() {
    local mpi name
    command -v mpicc.openmpi mpicc.mpich >/dev/null && return
    mpi=$(mpi_kind mpicc)
    [ -n "$mpi" ] || return 0
    mkdir -p "$1"
    for name in mpicc mpirun; do # no links: these programs ask what they were called
        command -v $name >/dev/null && printf '#!/bin/sh\nexec %s "$@"\n' $name >"$1/$name.$mpi" && chmod +x "$1/$name.$mpi"
    done
    PATH=$1:$PATH
}
