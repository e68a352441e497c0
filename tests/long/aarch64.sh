#!/bin/bash
# SPDX-License-Identifier: MIT
#
# aarch64.sh: as on an Apple laptop's Linux: everything but training is built for aarch64, warnings as errors, and the
# examples, message and collective suites run under qemu-user in both worlds. Criterion for aarch64 is unpacked into
# $BUILD/aarch64; nothing is installed.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
A=$B/aarch64 name=aarch64
compiler=aarch64-linux-gnu-gcc
have $compiler && have qemu-aarch64 || { skip $name "needs $compiler and qemu-aarch64: scripts/setup.sh test-long"; exit 0; }
mkdir -p "$A/apt" "$A/sysroot" "$A/lib"
top=$(realpath "$A")
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu

# apt with lists, cache and a record of installed packages of its own: what the suites need, unpacked.
fetch_criterion() {
    [ -e "$A/lib/libjansson.so" ] && return 0
    mkdir -p "$A"/apt/{state/lists/partial,cache/archives/partial}
    : >"$A/apt/state/status"
    local apt=(timeout 600 apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$top/apt/state"
        -o Dir::State::status="$top/apt/state/status" -o Dir::Cache="$top/apt/cache" -o APT::Sandbox::User=root)
    "${apt[@]}" update && "${apt[@]}" -y --no-install-recommends --download-only install libcriterion-dev libjansson-dev || return 1
    for package in "$A"/apt/cache/archives/*.deb; do dpkg -x "$package" "$A/sysroot" || return 1; done
    cp -d "$A"/sysroot/usr/lib/aarch64-linux-gnu/lib{criterion,jansson}.so* "$A/lib"
}

suites=()
if fetch_criterion >"$work/apt" 2>&1; then
    export QEMU_LD_PREFIX=$top/sysroot
    for suite in p2p_messages p2p_requests p2p_waiting p2p_comm p2p_layer p2p_alloc shm_queue collectives blocks ring dtype; do
        suites+=("$A/tests/$suite")
    done
else
    tail -n 2 "$work/apt" | sed 's/^/    /'
    skip "$name: suites" "Criterion for arm64 cannot be had here"
fi

cross() { # TARGET...
    make BUILD="$A" CC=$compiler HAS_TRAIN= CFLAGS="-O2 -g -idirafter $top/sysroot/usr/include" \
        LDFLAGS="-rdynamic $top/exec.o -L$top/lib -Wl,--unresolved-symbols=ignore-in-shared-libs" "$@"
}

programs() { # FOLDER...: those made of one file each
    for source in "${@/%//*.c}"; do
        # shellcheck disable=SC2086  # a pattern
        for file in $source; do echo "$A/${file%.c}"; done
    done
}

compile_solutions() {
    for file in solutions/*/*.c; do
        $compiler -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I. -Iexercises -I"$A" -c "$file" -o /dev/null || return 1
    done
}

check "$name: what starts programs under qemu" $compiler -std=c11 -D_GNU_SOURCE -O2 -c tests/long/aarch64_exec.c -o "$A/exec.o"
# shellcheck disable=SC2046  # lists of words
check "$name: everything is compiled" cross "$A/libpairwise.a" "$A/launch" "$A/replay" "$A/bench/all_reduce" \
    $(programs examples tests/right tests/wrong) "${suites[@]}"
check "$name: solutions are compiled" compile_solutions

launch() { timeout 300 qemu-aarch64 "$A/launch" "$@"; }
for world in socket shm; do
    check "$name: ring_token, $world" says "it has been at 4 of 4 ranks" launch -n 4 --world $world "$A/examples/ring_token"
    check "$name: deadlock, $world" says "ranks 0 and 1 wait for each other" launch -n 2 --world $world "$A/examples/deadlock"
    check "$name: all-reduce, $world" says "# wrong elements: 0" timeout 300 qemu-aarch64 "$A/bench/all_reduce" --ranks 4 \
        --world $world --min 4 --max 1M --factor 16 --iters 3 --warmup 1
    check "$name: all-reduce of allreduce_check, $world" launch -n 3 --world $world "$A/tests/right/allreduce_check"
    for suite in "${suites[@]}"; do
        check "$name: $(basename "$suite"), $world" env PAIRWISE_WORLD=$world TEST_PATIENCE=10 timeout 3600 \
            qemu-aarch64 "$suite"
    done
done
