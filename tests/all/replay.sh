#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay.sh: the page, in a browser: it says what the trace says, steps forth and back, makes no request to the network,
# and reports no error. What it looks like is kept as pictures in $BUILD/replay. Traces that are cut short are refused.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
R=$B/replay.out
rm -rf "$R"
mkdir -p "$R"

# Headless, as root too, in a profile that is gone afterwards; whatever the browser wants for itself has no address.
browser() {
    timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --disable-extensions \
        --disable-domain-reliability --no-pings --host-resolver-rules="MAP * ~NOTFOUND" \
        --user-data-dir="$work/profile" --hide-scrollbars --enable-logging=stderr "$@"
}

# selftest PAGE: what the page found out about itself, as JSON, and what else the browser had to say.
selftest() {
    browser --window-size=1600,900 --log-net-log="$work/net.json" --dump-dom "file://$PWD/$1#selftest" \
        >"$work/dom" 2>"$work/console"
    sed -n 's/.*<pre id="selftest" hidden="">\(.*\)<\/pre>.*/\1/p' "$work/dom" >"$work/found"
    [ -s "$work/found" ] || { cat "$work/console"; echo "the page said nothing"; return 1; }
    cat "$work/found"
}

found() { # TEXT...: all of them in what the page said
    for text in "$@"; do
        grep -qF -- "$text" "$work/found" || { cat "$work/found"; echo "expected: $text"; return 1; }
    done
}

# Chromium's advice on reading canvases back, which only the selftest does, is no complaint.
silent() {
    ! grep 'CONSOLE' "$work/console" | grep -v 'willReadFrequently'
}

# What the browser asks for itself has no origin; whatever a page asks for has one.
asks_nobody() {
    grep -q '"logEventTypes"' "$work/net.json" && ! grep -oE '"initiator":"[^"]*"' "$work/net.json" | grep -v '"not an origin"'
}

asking_is_seen() {
    echo '<img src="http://example.invalid/x.png"><pre id="selftest" hidden="">{}</pre>' >"$work/asks.html"
    browser --log-net-log="$work/net.json" --dump-dom "file://$work/asks.html" >/dev/null 2>&1
    ! asks_nobody && ! refers_to_nothing "$work/asks.html"
}

refers_to_nothing() { # PAGE
    ! grep -nEi '(src|href|action)[[:space:]]*=[[:space:]]*"?(https?:|//)|@import|url\([^#]|fetch\(|XMLHttpRequest|WebSocket|import\(' "$1"
}

ready_in_time() { # in ten times the two seconds that it should take
    local ms
    ms=$(grep -o '"ready":[0-9]*' "$work/found" | tr -dc 0-9)
    echo "ready after $ms ms, frame $(grep -o '"frame":[0-9.]*' "$work/found")"
    [ "$ms" -lt 20000 ]
}

# On a small projector, and in a window that is too small for anything.
in_small_windows() { # NAME...
    local name size
    for name in "$@"; do
        for size in 1024,600 500,300; do
            browser --window-size=$size --dump-dom "file://$PWD/$R/$name.html#selftest" >"$work/dom" 2>"$work/console"
            grep -q '"stops":' "$work/dom" && silent || { echo "$name, $size"; return 1; }
        done
    done
}

# 420 pixels wide: no window of the browser is, but a frame can be; what the page found out is copied out of it.
narrow() { # NAME...
    local name
    for name in "$@"; do
        cat >"$work/narrow.html" <<END
<iframe id="frame" style="border: 0; width: 420px; height: 900px" src="file://$PWD/$R/$name.html#selftest"></iframe>
<pre id="found"></pre>
<script>
frame.onload = () => {
  const said = frame.contentDocument.getElementById('selftest').textContent;
  found.textContent = said + ' of ' + frame.contentWindow.innerWidth;
};
</script>
END
        browser --allow-file-access-from-files --dump-dom "file://$work/narrow.html" >"$work/dom" 2>"$work/console"
        grep -q '"out":0,.* of 420<' "$work/dom" && silent || { echo "$name: $(grep -o '"out":[0-9]*\|of [0-9]*<' "$work/dom" | tr '\n' ' ')"; return 1; }
    done
}

opens_moving() { selftest "$R/$1.html" && found '"opens":"moving"'; }

# The selftest's numbers against the file: messages are arrows that begin, received ones those that end.
arrows_equal() { # TRACE
    local sent received
    sent=$(grep -c '"ph":"s"' "$1") received=$(grep -c '"ph":"f"' "$1")
    found "\"messages\":$sent," "\"received\":$received,"
}

page() { # NAME ARGS...: a run with --trace, and its page
    local name=$1
    shift
    "$@" --trace "$R/$name.json" >"$work/out" 2>&1
    [ -s "$R/$name.json" ] || { cat "$work/out"; return 1; }
    "$B/replay" "$R/$name.json" -o "$R/$name.html" && refers_to_nothing "$R/$name.html"
}

picture() { # NAME HASH FILE
    browser --window-size=1600,900 --virtual-time-budget=2000 --screenshot="$R/$3.png" \
        "file://$PWD/$R/$1.html$2" >"$work/shot" 2>&1
    [ -s "$R/$3.png" ] || { cat "$work/shot"; return 1; }
}

in_browser() { # NAME EXPECTED...
    local name=$1
    shift
    selftest "$R/$name.html" && silent && asks_nobody && arrows_equal "$R/$name.json" && ready_in_time &&
        found '"matrix":"equal"' '"requests":[]' "$@"
}

in_both() { # NAME EXPECTED: of two traces
    selftest "$R/$1.html" && silent && asks_nobody && found "$2"
}

schedule() { # [1]: of the first order of a program with a race; else of the one that is wrong
    "$B/launch" --explore ${1:+"$1"} -n 4 --quiet "$B/examples/race" | tail -n 1
}

# Every step forward changes the picture, and the way back shows the same pictures.
all_change() { # STEPS
    found "\"steps\":{\"stops\":$1,\"changes\":$1,\"same\":true}" '"same":true}'
}

small() { [ "$(stat -c %s "$R/ring16.html")" -lt 2000000 ]; }

bench() { "$B/bench/all_reduce" --min 1M --max 1M --iters 1 --csv "$@"; }

smooth() { # a frame of a trace of two ranks and 20,000 messages; ten times what makes 30 a second, for the machine may be busy
    local frame
    frame=$(grep -o '"frame":[0-9]*' "$work/found" | tr -dc 0-9)
    echo "a frame takes $frame ms"
    [ "$frame" -lt 330 ]
}

# Each rank sends one message to the next one.
ring_of() { # RANKS
    awk -v n="$1" 'BEGIN {
        print "{\"traceEvents\":["
        for (r = 0; r < n; r++) {
            printf "{\"ph\":\"X\",\"name\":\"p2p_send\",\"cat\":\"call\",\"ts\":%d,\"dur\":9,\"tid\":%d,\"args\":{\"rank\":%d}},\n", r, 1024 * r, r
            printf "{\"ph\":\"s\",\"cat\":\"message\",\"id\":%d,\"ts\":%d,\"tid\":%d,\"args\":{\"rank\":%d,\"to\":%d,\"tag\":0,\"bytes\":8}},\n", r, r + 1, 1024 * r, r, (r + 1) % n
        }
        printf "{\"ph\":\"M\",\"name\":\"process_name\",\"args\":{}}],\"pairwise\":{\"ranks\":%d}}\n", n
    }'
}

page_of_ring() { ring_of "$1" >"$R/ring$1.json" && "$B/replay" "$R/ring$1.json" -o "$R/ring$1.html"; }

# Power of two or not; those that go through shared memory too.
every_algorithm() { # RANKS
    page "algorithms$1" bench --ranks "$1" --algorithm naive,tree,recursive-doubling,ring,one-shot,two-shot
}

# ---- The two pages of the README's command, and one of each kind ----

check "the page of a ring of 4 is made" page ring4 bench --ranks 4 --algorithm ring
check "the page of a ring of 16 is made" page ring16 bench --ranks 16 --algorithm ring
check "the page of a ring of 16: under 2 MB" small
check "the page of naive on a network is made" page naive bench --ranks 4 --algorithm naive --network 10GbE
check "the page of a deadlock is made" page deadlock "$B/launch" -n 4 --trace "$R/deadlock.json" "$B/examples/deadlock"
check "the page of a long run is made" page long "$B/bench/ping_pong" --world socket --min 8 --max 8 --iters 50000
check "the page of a training is made" page training "$B/train" --train-limit 64 --test-limit 8 --batch 8 --quiet
check "two traces, one page" "$B/replay" "$R/ring4.json" "$R/naive.json" -o "$R/two.html"
check "a trace of the first order" "$B/launch" --schedule "$(schedule 1)" -n 4 --trace "$R/first.json" "$B/examples/race"
check "a trace of the wrong order" status 1 "$B/launch" --schedule "$(schedule)" -n 4 --trace "$R/wrong.json" "$B/examples/race"
check "two orders, one page" "$B/replay" "$R/wrong.json" "$R/first.json" -o "$R/orders.html"
sed 's/,"chosen":[0-9-]*//; s/,"options":\[[0-9,]*\]//' "$R/first.json" >"$R/first_plain.json" # as a run without --schedule
sed 's/,"chosen":[0-9-]*//; s/,"options":\[[0-9,]*\]//' "$R/wrong.json" >"$R/wrong_plain.json"
check "two orders without notes, one page" "$B/replay" "$R/wrong_plain.json" "$R/first_plain.json" -o "$R/plain.html"
check "the same trace twice" "$B/replay" "$R/ring4.json" "$R/ring4.json" -o "$R/same.html"

check "the page of 400 ranks is made" page_of_ring 400
check "the page of all algorithms is made, 4 ranks" every_algorithm 4
check "the page of all algorithms is made, 5 ranks" every_algorithm 5

if ! have chromium; then
    skip "the pages in a browser" "no chromium"
else
    check "a ring of 4 in the browser" in_browser ring4 '"counters":"met"' '"formulas":"met"' '"buffers":"complete"'
    check "a ring of 4: 6 steps, there and back" all_change 6
    check "a ring of 16 in the browser" in_browser ring16 '"counters":"met"' '"buffers":"complete"'
    check "a ring of 16: 30 steps, there and back" all_change 30
    check "naive on a network in the browser" in_browser naive '"counters":"met"' '"buffers":"complete"'
    check "naive: 6 steps, there and back" all_change 6
    check "a deadlock in the browser" in_browser deadlock
    check "a deadlock is drawn as its cycle" grep -q '<svg viewBox' "$work/dom"
    check "a long run in the browser" in_browser long
    check "a long run: smooth" smooth
    check "two traces: the first difference" in_both two 'message 1 of rank 0: mine sends chunk 3, 256 KiB to rank 1'
    check "two orders: the first receive that took another's" in_both orders 'receive 1 of rank 0: mine takes the message of rank 2; the reference takes that of rank 1'
    check "two orders without notes: the same" in_both plain 'receive 1 of rank 0: mine takes the message of rank 2; the reference takes that of rank 1'
    check "the same trace twice: no difference" in_both same '"difference":"none"'
    check "400 ranks in the browser" in_both ring400 '"ranks":400,'
    check "400 ranks: all messages" found '"messages":400,'
    check "all algorithms, 4 ranks: what docs/collectives.md says" in_browser algorithms4 '"formulas":"met"'
    check "all algorithms, 5 ranks: what docs/collectives.md says" in_browser algorithms5 '"formulas":"met"'
    check "small windows" in_small_windows ring16 two deadlock training
    check "420 pixels: nothing sticks out" narrow ring16 two deadlock training
    check "a training opens on something that moves" opens_moving training
    check "a page that makes a request to the network would be found" asking_is_seen
    check "picture: a ring of 4" picture ring4 '#step=3' ring4
    check "picture: a ring of 4, dark, by the clock" picture ring4 '#dark&clock=0.6' ring4-dark
    check "picture: a ring of 16" picture ring16 '#step=17' ring16
    check "picture: naive" picture naive '#clock=0.5' naive
    check "picture: a deadlock" picture deadlock '' deadlock
    check "picture: two traces" picture two '' two
fi

# ---- Damage: see tests/trace_format.c for every byte ----

cut_is_refused() {
    local bytes cut
    bytes=$(stat -c %s "$R/ring4.json")
    for cut in 0 1 100 $((bytes / 3)) $((bytes / 2)) $((bytes - 100)) $((bytes - 3)); do
        head -c "$cut" "$R/ring4.json" >"$work/cut.json"
        status 1 "$B/replay" "$work/cut.json" -o "$work/cut.html" 2>"$work/said" || return 1
        [ ! -e "$work/cut.html" ] || { echo "a page was made of $cut bytes"; return 1; }
        grep -q "^replay: $work/cut.json: " "$work/said" || { cat "$work/said"; return 1; }
    done
    grep -q "cut short" "$work/said"
}

check "a trace cut short is refused" cut_is_refused
check "a trace that is not there: status 1" status 1 "$B/replay" "$work/none.json"
check "called wrongly: status 2" status 2 "$B/replay"
check "the trace is not overwritten: status 2" status 2 "$B/replay" "$R/ring4.json" -o "$R/ring4.json"
check "a page that cannot be written: status 1" status 1 "$B/replay" "$R/ring4.json" -o "$work/missing/x.html"
