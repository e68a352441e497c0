#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rooms.sh: in p2p/ and in learn/ a file includes nothing of a room above its own; collectives have one frame.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# The number of a room in the list, from below; what lies in the folder itself is below all rooms.
level() { # ROOM ROOMS...
    local room=$1 at=0
    shift
    for name in "$@"; do
        at=$((at + 1))
        [ "$name" = "$room" ] && break
    done
    [ $# -gt 0 ] && [ "$name" = "$room" ] && echo $at
}

downward() { # FOLDER ROOMS..., from below
    local folder=$1 file room other line status=0
    shift
    for file in "$folder"/*/*.[ch]; do
        room=$(basename "$(dirname "$file")")
        [ -n "$(level "$room" "$@")" ] || { echo "$file: no room is called $room"; return 1; }
        while read -r line; do
            other=${line#*"\"$folder/"}
            other=${other%%/*}
            [ "$(level "$other" "$@")" -le "$(level "$room" "$@")" ] || { echo "$file: $line points upward"; status=1; }
        done < <(grep "^#include \"$folder/.*/" "$file")
    done
    return $status
}

check "p2p: no include points upward" downward p2p shared trace world message group deadlock job
check "learn: no include points upward" downward learn explain check course grade

# Arguments, agreement and the end of every collective, those of the ring included, lie in one file.
one_frame() { [ "$(grep -l 'p2p_layer_begin(\|p2p_layer_refuse' ring/*.c collectives/*.c)" = ring/frame.c ]; }
check "ring and collectives: one frame" one_frame
check "ring: includes nothing of the collectives" eval '! grep -n "#include \"collectives" ring/*.[ch]'
