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
check "install into a prefix" make install PREFIX="$prefix"
check "compile outside with pkg-config" compile
check "run with the installed launcher" says "at 3 of 3 ranks" "$prefix/bin/pairwise-launch" -n 3 "$work/prog"
check "install with DESTDIR" make install PREFIX=/usr DESTDIR="$work/dest"
check "DESTDIR has the files, PREFIX the paths" \
    sh -c "test -x '$work/dest/usr/bin/pairwise-launch' && grep -qx prefix=/usr '$work/dest/usr/lib/pkgconfig/pairwise.pc'"
