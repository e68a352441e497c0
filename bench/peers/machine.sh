# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# machine.sh: what the figures of peers.sh and train.sh belong to.
#
#       machine_line BUILD      the processor, how many cores may be used, and which build of ours

machine_line() {
    local processor
    processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | grep -v '^-$' | head -n 1)
    echo "# ${processor:-$(uname -m)}, $(nproc) cores; ours: $("$1/launch" --version)"
}
