#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demos.sh: the demos for a class, as plain text and on a terminal of their own; each leaves its page, takes less than a
# minute at normal speed, and gives the terminal back as it was.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
D=$B/demo

plain() { # NAME TEXT...: without a terminal; no escape sequences
    local name=$1
    shift
    rm -f "$B/demos/$name.html"
    timeout 60 "$D" "$name" >"$work/out" 2>"$work/err" </dev/null || { cat "$work/out" "$work/err"; return 1; }
    for text in "$@"; do
        grep -qF -- "$text" "$work/out" || { cat "$work/out"; echo "expected: $text"; return 1; }
    done
    ! grep -q "$(printf '\033')" "$work/out" && [ -s "$B/demos/$name.html" ]
}

# On a terminal: it is drawn on, the cursor is hidden and shown again.
drawn() { # NAME ARGS...
    TERM=xterm-256color LC_ALL=C.UTF-8 timeout 60 script -qec "$D $*" "$work/typed" >/dev/null </dev/null ||
        { cat "$work/typed"; return 1; }
    local frames hide show
    frames=$(grep -o "$(printf '\033')\[H" "$work/typed" | wc -l)
    hide=$(grep -c "$(printf '\033')\[?25l" "$work/typed") show=$(grep -c "$(printf '\033')\[?25h" "$work/typed")
    echo "$frames frames, cursor hidden $hide and shown $show times"
    [ "$frames" -gt 5 ] && [ "$hide" -eq 1 ] && [ "$show" -eq 1 ]
}

under_a_minute() { drawn "$1" --speed normal; } # drawn has the limit

check "demo-ring in plain text" plain ring "step 6 of 6" "every chunk is complete everywhere"
check "demo-naive in plain text" plain naive "step 10 of 10: rank 0 -> rank 5" "10 MiB went through rank 0"
check "demo-race in plain text" plain race "naive           14               56 MiB     95.07 ms  1.00x" "12.76 ms  7.45x"
# A size in columns and rows; what is printed beside the pages fits it.
sized() { TERM=xterm timeout 60 script -qec "stty cols $1 rows $2; $D ring --speed fast" /dev/null </dev/null; }
fits() { for name in ring naive race; do "$D" $name | awk 'length > 80' | grep . && return 1; done; true; }
check "plain text fits 80 columns" fits
if have script; then
    check "a terminal that is too small is told" says "demo: it needs a terminal of 80 x 24 characters, and this one has 60 x 20" sized 60 20
fi
check "demo-deadlock in plain text" plain deadlock "deadlock: ranks 0, 3, 2 and 1 wait for each other" "as it should"
kernels_are_named() { # on empty caches: what is compiled is said before the first number
    env -u POCL_CACHE_DIR PAIRWISE_CACHE="$work/empty" timeout 300 "$D" train >"$work/out" 2>&1 </dev/null ||
        { cat "$work/out"; return 1; }
    grep -q '^kernels, compiled once .* of ' "$work/out" || { cat "$work/out"; return 1; }
}
[ ! -x "$B/train" ] || check "demo-train says what is compiled" kernels_are_named
[ -x "$B/train" ] || check "demo-train without a trainer says so" says "without the trainer" "$D" train
check "RANKS, SPEED and STEP from the environment" env RANKS=5 SPEED=fast STEP=1 timeout 60 "$D" ring
check "too many ranks: status 2" status 2 "$D" ring --ranks 99
check "called wrongly: status 2" status 2 "$D" nonsense
check "a speed that there is not is named" says "demo: the speed is slow, normal or fast" env SPEED=x "$D" ring
if have script; then
    for name in ring naive race deadlock; do
        check "demo-$name on a terminal, under a minute" under_a_minute "$name"
    done
    check "demo-ring, step by step, ended with q" bash -c "echo q | TERM=xterm timeout 20 script -qec '$D ring --step' /dev/null >/dev/null"
else
    skip "the demos on a terminal" "no script"
fi
