#!/bin/sh
# SPDX-License-Identifier: MIT
#
# setup.sh PURPOSE: check that the packages for PURPOSE are there, and install those that are missing (Debian and its
# derivatives).
#
#       build      a C compiler, Jansson (JSON), libarchive  (make)
#       train      OpenCL: headers, loader and a driver for CPUs    (kernels/, trainer/)
#       test       Criterion, prove             (make test)
#       lint       clang, clang-tidy, clang-format, cppcheck    (make lint, make format)
#       test-all   valgrind, strace, clang, oclgrind, chromium, gnuplot, Open MPI, MPICH    (make test-all)
#       plots      gnuplot                      (make plots; build/train --plot)
#       test-long  debootstrap, a compiler for aarch64 and qemu, ip, promtool    (make test-long)
#       check      install nothing, only list what is missing for all of these
#
# The Makefile calls it. With all in place it leaves the stamp build/.setup-PURPOSE and is not called again.
# It installs as root, or by a sudo that needs no password. Otherwise it prints the one command to paste, and never asks
# for a password; only `build` is an error then: the rest is built without.
set -u

# The library that programs with OpenCL are linked with, wherever this system keeps it.
loader() {
    for file in /usr/lib/libOpenCL.so /usr/lib64/libOpenCL.so /usr/lib/*/libOpenCL.so /usr/local/lib/libOpenCL.so; do
        [ -e "$file" ] && break
    done
    echo "$file"
}

# The runtime that programs of `make fuzz` are linked with, likewise.
fuzzer() {
    for file in /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a; do
        [ -e "$file" ] && break
    done
    echo "$file"
}

# On an aarch64 machine nothing is needed to run its programs.
cross() {
    [ "$(uname -m)" = aarch64 ] || echo "qemu-aarch64:qemu-user aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu" \
        "/usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross"
}

# Both MPI libraries, which stand side by side: mpirun and mpicc without a suffix are Open MPI's then (update-alternatives).
both_mpi() {
    echo "mpirun.openmpi:openmpi-bin mpicc.openmpi:libopenmpi-dev mpirun.mpich:mpich mpicc.mpich:libmpich-dev"
}

# What each purpose needs: a thing to find, and the package it comes in. A thing is a command, a file or a library.
needs() {
    case $1 in
    build) echo "cc:gcc ar:binutils /usr/include/stdio.h:libc6-dev /usr/include/jansson.h:libjansson-dev /usr/include/archive.h:libarchive-dev" ;;
    train) echo "/usr/include/CL/cl.h:opencl-headers $(loader):ocl-icd-opencl-dev /etc/OpenCL/vendors:pocl-opencl-icd" ;;
    test) echo "/usr/include/criterion/criterion.h:libcriterion-dev prove:perl" ;;
    lint) echo "clang:clang clang-tidy:clang-tidy clang-format:clang-format cppcheck:cppcheck" ;;
    test-all) echo "clang:clang valgrind:valgrind strace:strace pkg-config:pkg-config ps:procps prlimit:util-linux oclgrind:oclgrind chromium:chromium gnuplot:gnuplot-nox $(fuzzer):libclang-rt-dev $(both_mpi)" ;;
    plots) echo "gnuplot:gnuplot-nox" ;;
    test-long) echo "debootstrap:debootstrap ip:iproute2 $(cross)" ;;
    *) echo "setup.sh: no purpose called $1" >&2; exit 2 ;;
    esac
}

found() {
    case $1 in
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

missing() {
    for need in $(needs "$1"); do
        found "${need%%:*}" || printf '%s ' "${need##*:}"
    done
}

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@" >>"$log" 2>&1
}

# Package lists may be absent (a fresh container) or too old: then update and try once more.
install_packages() {
    echo "  installing $* (once; see $log)"
    apt install -y --no-install-recommends "$@" || { apt update && apt install -y --no-install-recommends "$@"; }
}

# How to become root: not needed, or by a sudo that asks for no password. A build never asks for one.
become_root() {
    as_root=
    [ "$(id -u)" -eq 0 ] && return 0
    as_root="sudo -n"
    command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null
}

# Prometheus' own checker of what --metrics writes, out of its package: that would start a service if it were installed.
# Without it that check is left out.
download_prometheus() { (cd build/tools/package && apt-get -qq download prometheus) >>"$log" 2>&1; }
fetch_promtool() {
    echo "  fetching promtool (once; into build/tools)"
    mkdir -p build/tools/package
    { download_prometheus || { become_root && apt update && download_prometheus; }; } &&
        dpkg-deb -x build/tools/package/prometheus_*.deb build/tools/package && mv build/tools/package/usr/bin/promtool build/tools
    rm -rf build/tools/package
}

# What to paste has all that `make test` needs, so that it is pasted once.
explain() {
    echo "  $purpose needs: ${packages% }" >&2
    case $purpose in
    train) echo "  without them everything but kernels/ and trainer/ is built and tested" >&2 ;;
    build) packages="$packages$(missing train)$(missing test)" ;;
    esac
    packages=${packages% }
    if command -v apt-get >/dev/null 2>&1; then
        echo "  paste this, then run make again:    sudo apt-get install -y --no-install-recommends $packages" >&2
    else
        echo "  (Debian's names; install your system's packages of the same kind, then run make again)" >&2
    fi
}

purpose=${1:-}
[ -n "$purpose" ] || { echo "setup.sh: which purpose? build, train, test, lint, test-all, plots, test-long or check" >&2; exit 2; }
if [ "$purpose" = check ]; then
    for purpose in build train test lint test-all plots test-long; do
        packages=$(missing $purpose)
        echo "$purpose: ${packages:-nothing is missing}"
    done
    exit 0
fi

needs "$purpose" >/dev/null || exit 2
mkdir -p build
log=build/setup.log
packages=$(missing "$purpose")
if [ -n "$packages" ] && command -v apt-get >/dev/null 2>&1 && become_root; then
    # shellcheck disable=SC2086  # a list of words
    install_packages $packages || tail -n 5 "$log" >&2
    packages=$(missing "$purpose")
fi
if [ "$purpose" = test-long ] && ! found promtool && ! found "$PWD/build/tools/promtool" && found dpkg-deb; then fetch_promtool; fi
if [ -z "$packages" ]; then
    touch "build/.setup-$purpose"
    exit 0
fi
explain
[ "$purpose" != build ]
