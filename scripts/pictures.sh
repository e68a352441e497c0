#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pictures.sh: the pictures of docs/demos.md, from runs made now: docs/pictures/*.png. Needs chromium.
set -eu
cd "$(dirname "$0")/.."
B=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p docs/pictures

shot() { # PAGE HASH PICTURE
    chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --host-resolver-rules="MAP * ~NOTFOUND" \
        --user-data-dir="$work/profile" --hide-scrollbars --window-size=1100,640 --virtual-time-budget=2000 \
        --screenshot="docs/pictures/$3.png" "file://$PWD/$B/demos/$1.html$2" 2>"$work/said"
    [ -s "docs/pictures/$3.png" ] || { cat "$work/said"; exit 1; }
    echo "docs/pictures/$3.png"
}

for demo in ring naive race deadlock; do "$B/demo" "$demo" >/dev/null; done
"$B/bench/all_reduce" --ranks 6 --algorithm ring --min 1M --max 1M --iters 1 --csv --trace "$work/ring.json" >/dev/null
"$B/replay" "$B/demos/naive.json" "$work/ring.json" -t "naive beside ring" -o "$B/demos/two.html" >/dev/null
shot ring '#step=3' ring
shot naive '#step=4' naive
shot race '#clock=0.5' race
shot deadlock '' deadlock
shot two '#step=1' two
