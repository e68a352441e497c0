#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh DESTDIR PREFIX VERSION HEADER...: what `make install` does. Afterwards
#       cc prog.c $(pkg-config --cflags --libs pairwise)        with #include "p2p/p2p.h"
#       pairwise-launch -n 4 ./a.out
set -eu
cd "$(dirname "$0")/.."
B=${BUILD:-build}
dest=$1 prefix=$2 version=$3
shift 3

put() { # MODE FILE TO
    install -D -m "$1" "$2" "$dest$prefix/$3"
    printf '  INST %s\n' "$dest$prefix/$3"
}

for header in "$@"; do
    put 644 "$header" "include/pairwise/$header"
done
put 644 "$B/libpairwise.a" lib/libpairwise.a
put 755 "$B/launch" bin/pairwise-launch
put 755 "$B/replay" bin/pairwise-replay

cat >"$B/pairwise.pc" <<END
prefix=$prefix

Name: pairwise
Description: Ranks and messages for learning and measuring distributed training
Version: $version
Cflags: -I\${prefix}/include/pairwise
Libs: -L\${prefix}/lib -lpairwise
END
put 644 "$B/pairwise.pc" lib/pkgconfig/pairwise.pc
