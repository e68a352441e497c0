#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rooms.sh: in p2p/ and in learn/ a file includes nothing of a room above its own, and in p2p/ calls nothing of one; learn/
# and tests/ share only exercises/check/; at most three files include each other; collectives have one frame.
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
check "p2p: what is of the library includes nothing of the folders above it" \
    eval '! grep -rn --include="*.[ch]" --exclude=machine.c "#include \"[^\"]*/" p2p | grep -v "#include \"p2p/"'
check "learn: no include points upward" downward learn explain check course grade
check "learn and what stands around a learner's code include nothing of tests/" \
    eval '! grep -rn "#include \"tests/" learn exercises'
check "what is linked with a learner's code includes nothing of learn/" \
    eval '! grep -rn "#include \"learn/" exercises tests/exercises tests/learner'

# No object of one room calls what another one above it defines, but for what a header lists as upcalls.
calls_downward() { # FOLDER HEADER-OF-UPCALLS ROOMS..., from below
    local folder=$1 header=$2 objects
    shift 2
    objects=$(printf "$B/obj/%s\n" "$folder"/*/*.c | sed 's/c$/o/')
    # shellcheck disable=SC2086  # names without blanks
    nm -A -g $objects | awk -v rooms="$*" -v header="$header" '
        BEGIN {
            for (n = split(rooms, list, " "); n > 0; n--) level[list[n]] = n
            while ((getline line <header) > 0) upcalls = upcalls line
        }
        { split($1, path, ":"); n = split(path[1], part, "/"); at = level[part[n - 1]] }
        $(NF - 1) != "U" { defined[$NF] = at }
        $(NF - 1) == "U" { lacks[path[1] " " $NF] = at }
        END {
            for (what in lacks) {
                split(what, word, " ")
                if (defined[word[2]] > lacks[what] && index(upcalls, word[2] "(") == 0) { print what; wrong = 1 }
            }
            exit wrong
        }'
}

check "p2p: no call goes upward but the upcalls of world.h" \
    calls_downward p2p p2p/world/world.h shared trace world message group deadlock job

# Files of which each reaches the other by includes (x.c and x.h are one) are a circle: at most of three.
circles() { # FOLDER
    grep -r -o '^#include "[^"]*"' "$1" --include='*.[ch]' | sed 's/:#include "/ /; s/"$//; s/\.[ch]\b//g' |
        awk '$1 != $2 { to[$1] = to[$1] " " $2 }
            function reach(from, at, list, n, i) { # everything that `from` includes, by way of `at`
                n = split(to[at], list, " ")
                for (i = 1; i <= n; i++) if (!((from, list[i]) in seen)) { seen[from, list[i]] = 1; reach(from, list[i]) }
            }
            END {
                for (file in to) reach(file, file)
                for (file in to) {
                    size = 0
                    for (other in to) size += ((file, other) in seen) && ((other, file) in seen)
                    if (size > 3) { print file " lies in a circle of " size; wrong = 1 }
                }
                exit wrong
            }'
}

for folder in p2p learn kernels trainer; do
    check "$folder: no circle of more than three files" circles $folder
done

# Arguments, agreement and the end of every collective, those of the ring included, lie in one file.
one_frame() { [ "$(grep -l 'p2p_layer_begin(\|p2p_layer_refuse' ring/*.c collectives/*.c)" = ring/frame.c ]; }
check "ring and collectives: one frame" one_frame
check "ring: includes nothing of the collectives" eval '! grep -n "#include \"collectives" ring/*.[ch]'
