#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh check|install|uninstall DESTDIR PREFIX: what `make install` and `make uninstall` do; `check`: may this user
# write there? After an install
#       cc prog.c $(pkg-config --cflags --libs pairwise)        with #include "p2p/p2p.h"
#       pairwise-launch -n 4 ./a.out
# and where OpenCL is there, for kernels/kernels.h and trainer/trainer.h:
#       cc prog.c $(pkg-config --cflags --libs pairwise-train)
set -eu
cd "$(dirname "$0")/.."
B=${BUILD:-build}
action=$1 dest=$2 prefix=$3
version=$(awk '/^.define PAIRWISE_VERSION_[A-Z]* [0-9]/ { v = v d $3; d = "." } END { print v }' p2p/p2p.h)
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac # pkg-config files need a whole path

# The first folder on the way up from this one that exists.
existing() {
    at=$1
    while [ ! -e "$at" ]; do at=$(dirname "$at"); done
    echo "$at"
}

for folder in bin include lib/pkgconfig share/man/man1; do
    place=$(existing "$dest$prefix/$folder")
    [ -w "$place" ] && continue
    target=install
    [ "$action" = uninstall ] && target=uninstall
    echo "make $target: you may not write to $place" >&2
    echo "  try: make $target PREFIX=\$HOME/.local" >&2
    exit 1
done
[ "$action" = check ] && exit 0

install_file() { # MODE FILE TO
    install -D -m "$1" "$2" "$3"
    printf '  INST %s\n' "$3"
}

uninstall_file() {
    [ -e "$3" ] || return 0
    rm -f "$3"
    printf '  RM   %s\n' "$3"
}

put() { # MODE FILE TO
    "${action}_file" "$1" "$2" "$dest$prefix/$3"
}

for header in p2p/p2p.h p2p/p2p_layer.h dtype/dtype.h collectives/collectives.h ring/ring.h kernels/kernels.h \
    trainer/trainer.h; do
    put 644 "$header" "include/pairwise/$header"
done
put 644 "$B/libpairwise.a" lib/libpairwise.a
put 644 "$B/libpairwise_heap.o" lib/libpairwise_heap.o # mpicc's

# Whoever installs may be root: what is made for it lies in no folder that belongs to another user.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

put_page() { # NAME: its page of the manual, which lies in $made
    put 644 "$made/pairwise-$1.1" "share/man/man1/pairwise-$1.1"
}

page() { # NAME
    [ "$action" = uninstall ] || scripts/reference.sh man "$1" "pairwise-$1" "$version" >"$made/pairwise-$1.1"
    put_page "$1"
}

program() { # NAME
    put 755 "$B/$1" "bin/pairwise-$1"
    page "$1"
}

program launch
for mpi in openmpi mpich; do # the launchers for several hosts, where they are built
    [ "$action" = uninstall ] || [ -e "$B/launch-$mpi" ] || continue
    put 755 "$B/launch-$mpi" "bin/pairwise-launch-$mpi"
    echo ".so man1/pairwise-launch.1" >"$made/pairwise-launch-$mpi.1"
    put_page "launch-$mpi"
done
program replay

# MPI programs: the header in a folder of its own, which pairwise-mpicc names, and the two scripts with their places in them.
for header in mpi.h left_out.h accesses.specs; do
    put 644 "mpi/$header" "include/pairwise/mpi/$header"
done
for script in mpicc mpicxx mpirun; do
    case $script in mpicc) names=MPICC_CC:cc ;; *) names=MPICXX_CXX:c++ ;; esac
    source=mpi/$script.sh
    [ $script != mpicxx ] || source=mpi/mpicc.sh
    sed -e "s|@NAME@|$script|; s|@VARIABLE@|${names%:*}|; s|@CC@|${names#*:}|; s|MPICC_CC:-cc|${names%:*}:-${names#*:}|" -e "s|@INCLUDE@|$prefix/include/pairwise/mpi|; s|@LIB@|$prefix/lib/libpairwise.a|; s|@FLAGS@||" \
        -e "s|@LAUNCH@|$prefix/bin/pairwise-launch|" "$source" >"$made/$script"
    put 755 "$made/$script" "bin/pairwise-$script"
    page "$script"
done

put 755 "$B/libmpi_abi.so.1" lib/pairwise/libmpi_abi.so.1 # not beside that of another MPI

describe() { # NAME DESCRIPTION LIBS
    cat >"$made/$1.pc" <<END
prefix=$prefix

Name: $1
Description: $2
Version: $version
Cflags: -I\${prefix}/include/pairwise
Libs: -L\${prefix}/lib $3
END
    put 644 "$made/$1.pc" "lib/pkgconfig/$1.pc"
}

# For CMake: find_package(Pairwise), wherever the folder has been moved to.
cmake_files() {
    cat >"$made/PairwiseConfig.cmake" <<'END'
# Pairwise::pairwise, and Pairwise::train where the trainer is installed (it needs OpenCL).
get_filename_component(_pairwise_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET Pairwise::pairwise)
  add_library(Pairwise::pairwise STATIC IMPORTED)
  set_target_properties(Pairwise::pairwise PROPERTIES
    IMPORTED_LOCATION "${_pairwise_prefix}/lib/libpairwise.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${_pairwise_prefix}/include/pairwise")
  if(EXISTS "${_pairwise_prefix}/lib/libpairwise_train.a")
    add_library(Pairwise::train STATIC IMPORTED)
    set_target_properties(Pairwise::train PROPERTIES
      IMPORTED_LOCATION "${_pairwise_prefix}/lib/libpairwise_train.a"
      IMPORTED_LINK_INTERFACE_LANGUAGES C
      INTERFACE_INCLUDE_DIRECTORIES "${_pairwise_prefix}/include/pairwise"
      INTERFACE_LINK_LIBRARIES "Pairwise::pairwise;OpenCL;m")
  endif()
endif()
END
    cat >"$made/PairwiseConfigVersion.cmake" <<END
set(PACKAGE_VERSION "$version")
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
    put 644 "$made/PairwiseConfig.cmake" lib/cmake/Pairwise/PairwiseConfig.cmake
    put 644 "$made/PairwiseConfigVersion.cmake" lib/cmake/Pairwise/PairwiseConfigVersion.cmake
}
cmake_files

describe pairwise "Ranks and messages for learning and measuring distributed training" -lpairwise
if [ "$action" = uninstall ] || [ -e "$B/libpairwise_train.a" ]; then
    put 644 "$B/libpairwise_train.a" lib/libpairwise_train.a
    program train
    describe pairwise-train "OpenCL kernels and data-parallel training" "-lpairwise_train -lpairwise -lOpenCL -lm"
fi
if [ "$action" = uninstall ] && [ -d "$dest$prefix/include/pairwise" ]; then
    find "$dest$prefix/include/pairwise" "$dest$prefix/lib/pairwise" "$dest$prefix/lib/cmake/Pairwise" -depth -type d -empty -delete
fi
