#!/bin/sh
# SPDX-License-Identifier: MIT
# mpicc, and as mpicxx with the compiler of C++: compile and link an MPI program for Pairwise.
include=@INCLUDE@
lib=@LIB@
flags="@FLAGS@"
cc=${MPICC_CC:-cc}
name=${0##*/} prefix=
case $name in pairwise-*) prefix=pairwise- ;; esac

usage() {
    cat <<END
Usage: $name [OPTION]... FILE...
Compile and link an MPI program for Pairwise. Takes the options of the compiler,
and hands them to it.

  -show, --show, -showme   print the command instead of running it
  --showme:compile         print what it adds to compile
  --showme:link            print what it adds to link
  --help                   this text (the compiler's: $name -v --help)

Without optimisation (none, -O, -O1, -Og) accesses to buffers of pending
operations are found, with lines. MPICC_ACCESSES=1: with any optimisation;
MPICC_ACCESSES=0: never. @VARIABLE@ is the compiler to use (default: @CC@).
${prefix}mpicc compiles C; ${prefix}mpicxx, or ${prefix}mpic++, C++ that uses the C functions.
Run the program with ${prefix}mpirun -np N PROGRAM.
END
    exit 0
}

link=yes
heap=${lib%.a}_heap.o
show=
case $flags in *-fsanitize=*) accesses=never ;; *) accesses=yes ;; esac
for arg; do
    case $arg in
    --help) [ $# -eq 1 ] && usage ;;
    -show | --show | -showme | --showme) show=yes ;;
    --showme:compile | -showme:compile | -compile_info) echo "-I$include" && exit 0 ;;
    --showme:link | -showme:link | -link_info) echo "$lib" && exit 0 ;;
    -O | -O0 | -O1 | -Og) [ "$accesses" = never ] || accesses=yes ;;
    -O*) [ "$accesses" = never ] || accesses= ;;
    -fsanitize=*) accesses=never ;;
    -shared) accesses=never ;;
    -static | -r) heap= ;;
    -c | -S | -E | -M | -MM | -fsyntax-only) link= ;;
    esac
done
[ $# -gt 0 ] || usage
[ "$accesses" = never ] || case ${MPICC_ACCESSES:-} in 0) accesses=never ;; 1) accesses=yes ;; esac

# Without -show among them, in their order.
count=$#
while [ "$count" -gt 0 ]; do
    arg=$1
    shift
    count=$((count - 1))
    case $arg in
    -show | --show | -showme | --showme) ;;
    *) set -- "$@" "$arg" ;;
    esac
done
# shellcheck disable=SC2086  # words: flags
set -- "$@" -I"$include" $flags
# Calls of mpi/accesses.c's functions; the driver is not told, for it would link a library that has them as well.
if [ "$accesses" = yes ]; then
    case $($cc --version 2>/dev/null) in
    *clang*) set -- -g1 -Xclang -fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0 "$@" ;;
    *"Free Software Foundation"*) set -- -g1 -specs="$include/accesses.specs" "$@" ;;
    esac
fi
# shellcheck disable=SC2086  # words: the compiler may have options
set -- $cc "$@"
if [ "$link" ]; then
    [ "$accesses" = yes ] && [ "$heap" ] && set -- "$@" "$heap"
    set -- "$@" "$lib"
    if [ "$accesses" = yes ]; then # mpi/libc.c
        for name in memcpy memmove memset memcmp strlen strcmp strcpy fwrite puts printf fprintf; do
            set -- "$@" "-Wl,--wrap=$name"
        done
    fi
fi
if [ "$show" ]; then echo "$@"; else exec "$@"; fi
