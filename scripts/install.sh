#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh DESTDIR PREFIX VERSION HEADER...: what `make install` does. Afterwards
#       cc prog.c $(pkg-config --cflags --libs pairwise)        with #include "p2p/p2p.h"
#       pairwise-launch -n 4 ./a.out
# and where OpenCL is there, for kernels/kernels.h and trainer/trainer.h:
#       cc prog.c $(pkg-config --cflags --libs pairwise-train)
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

describe() { # NAME DESCRIPTION LIBS
    cat >"$B/$1.pc" <<END
prefix=$prefix

Name: $1
Description: $2
Version: $version
Cflags: -I\${prefix}/include/pairwise
Libs: -L\${prefix}/lib $3
END
    put 644 "$B/$1.pc" "lib/pkgconfig/$1.pc"
}

describe pairwise "Ranks and messages for learning and measuring distributed training" -lpairwise
if [ -e "$B/libpairwise_train.a" ]; then
    put 644 "$B/libpairwise_train.a" lib/libpairwise_train.a
    put 755 "$B/train" bin/pairwise-train
    describe pairwise-train "OpenCL kernels and data-parallel training" "-lpairwise_train -lpairwise -lOpenCL -lm"
fi
