#!/bin/bash
# SPDX-License-Identifier: MIT
#
# valgrind.sh: each rank of the examples and right programs, MPI's too, under valgrind: no bad access, no uninitialised byte
# sent, nothing lost.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
have valgrind || { skip valgrind "valgrind is not installed"; exit 0; }
wrap="valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite"
for program in "$B"/examples/hello "$B"/examples/ring_token "$B"/tests/right/*; do
    [ -x "$program" ] || continue
    check "valgrind: $(basename "$program")" timeout 120 "$B/launch" -n 3 --wrap "$wrap" "$program"
done
for source in tests/mpi/right/*.c; do
    program=$B/tests/mpi/right/$(basename "$source" .c)
    # shellcheck disable=SC2046  # settings, or none
    check "valgrind: MPI, $(basename "$program")" env $(sed -n 's|^// environment: ||p' "$source") \
        timeout 240 "$B/launch" -n "$(sed -n 's|^// ranks: ||p' "$source")" --wrap "$wrap" "$program"
done
