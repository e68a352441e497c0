#!/bin/bash
# SPDX-License-Identifier: MIT
#
# install.sh: after `make install`, a program outside this folder compiles with what pkg-config says, and runs.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
have pkg-config || { skip install "pkg-config is not installed"; exit 0; }
prefix=$work/prefix
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
compile() {
    cp examples/ring_token.c "$work/prog.c"
    # shellcheck disable=SC2046  # words
    (cd "$work" && cc prog.c $(pkg-config --cflags --libs pairwise) -o prog)
}
if have mpicc || have mpicc.openmpi || have mpicc.mpich; then check "make hosts" make hosts; fi
rm -rf "${B:?}"/man "$B"/installed "$B"/pairwise*.pc # of an earlier version
check "install into a prefix" make install PREFIX="$prefix"
check "root leaves nothing in the folder of the build that another user could not replace" \
    sh -c "[ ! -e $B/man ] && [ ! -e $B/installed ] && [ ! -e $B/pairwise.pc ]"
check "compile outside with pkg-config" compile
check "pkg-config's version is the launcher's" \
    says "Pairwise $(pkg-config --modversion pairwise), build " "$prefix/bin/pairwise-launch" --version
# The launchers of make hosts are found beside it: mpirun of the library starts the installed one, in a folder of another name.
source scripts/mpi.sh
mpi_names "$work/mpi"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in openmpi mpich; do
    if ! have "mpicc.$mpi" || ! have "mpirun.$mpi"; then
        skip "the installed launcher on two hosts, $mpi" "not installed"
        continue
    fi
    # shellcheck disable=SC2046  # a word, or none
    check "the installed launcher on two hosts, $mpi" says "at 4 of 4 ranks" timeout -k 5 60 "mpirun.$mpi" \
        $([ $mpi = openmpi ] && echo --oversubscribe) -np 2 "$prefix/bin/pairwise-launch" -n 2 "$work/prog"
done
check "run with the installed launcher" says "at 3 of 3 ranks" "$prefix/bin/pairwise-launch" -n 3 "$work/prog"
check "an MPI program with the installed mpicc" "$prefix/bin/pairwise-mpicc" -g tests/mpi/wrong/read_accessed.c -o "$work/mpi_prog"
check "is told what it does to buffers" says "the program reads the buffer" "$prefix/bin/pairwise-mpirun" -np 2 "$work/mpi_prog"

# with_cmake NAME SOURCE PACKAGE TARGET OPTIONS...: a project that links TARGET is built as $work/NAME.
with_cmake() {
    local name=$1 folder=$work/cmake.$1
    mkdir "$folder" && cp "$2" "$folder/prog.c"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(prog C)' "find_package($3 REQUIRED)" \
        'add_executable(prog prog.c)' "target_link_libraries(prog $4)" >"$folder/CMakeLists.txt"
    shift 4
    cmake -S "$folder" -B "$folder/b" "$@" && cmake --build "$folder/b" && mv "$folder/b/prog" "$work/$name"
}
if have cmake; then
    check "CMake: find_package(Pairwise)" \
        with_cmake found examples/ring_token.c Pairwise Pairwise::pairwise -DCMAKE_PREFIX_PATH="$prefix"
    check "its program runs" says "at 3 of 3 ranks" "$prefix/bin/pairwise-launch" -n 3 "$work/found"
    check "CMake: mpicc as the compiler" with_cmake compiler tests/mpi/wrong/read_accessed.c MPI MPI::MPI_C \
        -DCMAKE_C_COMPILER="$prefix/bin/pairwise-mpicc"
    check "accesses are looked at" says "the program reads the buffer" "$B/launch" -n 2 "$work/compiler"
    check "CMake: mpicc for find_package(MPI)" with_cmake asked tests/mpi/wrong/recv_recv.c MPI MPI::MPI_C \
        -DMPI_C_COMPILER="$prefix/bin/pairwise-mpicc"
    check "its program is explained" says "deadlock: ranks 0 and 1" "$B/launch" -n 2 "$work/asked"
else
    skip "CMake" "not installed"
fi
if [ -e "$prefix/lib/libpairwise_train.a" ]; then
    cat >"$work/net.c" <<'END'
#include <stdio.h>

#include "kernels/kernels.h"
#include "trainer/trainer.h"

int main(void)
{
    train_error error = {0};
    train_model *model = NULL;
    if (train_build(train_describe("resnet20"), &model, &error)) return 1;
    printf("%zu parameters\n", model->parameters);
    train_free(model);
    return 0;
}
END
    # shellcheck disable=SC2046  # words
    check "compile a program that trains" \
        cc "$work/net.c" $(pkg-config --cflags --libs pairwise-train) -o "$work/net"
    check "it finds its model" says "272474 parameters" "$work/net"
    check "the installed trainer" says "Usage: pairwise-train" "$prefix/bin/pairwise-train" --help
fi
check "a page of the manual for each program" \
    sh -c "for program in '$prefix'/bin/*; do test -s '$prefix/share/man/man1/'\${program##*/}.1 || exit 1; done"
check "install with DESTDIR" make install PREFIX=/usr DESTDIR="$work/dest"
check "DESTDIR has the files, PREFIX the paths" \
    sh -c "test -x '$work/dest/usr/bin/pairwise-launch' && grep -qx prefix=/usr '$work/dest/usr/lib/pkgconfig/pairwise.pc'"
check "uninstall takes away every file" make uninstall PREFIX="$prefix"
check "nothing is left" sh -c "[ -z \"\$(find '$prefix' ! -type d)\" ] && [ ! -e '$prefix/include/pairwise' ]"
check "install into a relative prefix" make install PREFIX=build/here
check "its pkg-config file has the whole path" grep -qx "prefix=$PWD/build/here" build/here/lib/pkgconfig/pairwise.pc
rm -rf build/here
