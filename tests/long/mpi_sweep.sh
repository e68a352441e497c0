#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mpi_sweep.sh: wrong and right MPI programs by the thousand, each class of mistake in many shapes (tests/mpi/sweep): every
# wrong one is found with its class and a right line, no right one is accused, in both worlds, with sends that wait and with buffered ones.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
command -v python3 >/dev/null || { skip mpi_sweep "python3 is not installed"; exit 0; }
for shape in plain dup split; do
    python3 tests/mpi/sweep/gen.py "$work/$shape" "$shape"
    check "MPI programs, $shape" python3 tests/mpi/sweep/run.py "$B" "$work/$shape"
    rm -rf "${work:?}/$shape"
done
