#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make.sh: make as a user calls it: help fits a terminal, an empty EX= is an error, an installation that may not be
# written is refused before anything is built, and no password is ever asked for.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

fits() { # COMMAND...: on 80 columns, where there is no terminal
    ! "$@" | awk -v what="$*" 'length > 80 { print what ": " $0 }' | grep .
}
check "make help fits 80 columns" fits make help
for program in launch replay demo learn mpicc mpirun bench/all_reduce bench/ping_pong; do
    check "$program --help likewise" fits "$B/$program" --help
done
check "the tables of bench/all_reduce likewise" fits "$B/bench/all_reduce" --max 64 --iters 2
check "on two hosts likewise" fits "$B/bench/all_reduce" --max 64 --iters 2 --network 10GbE,hosts=2
check "the board likewise" fits "$B/learn" list
check "an explanation likewise" fits "$B/learn" test 08 --instead tests/mutants/08_broadcast/zeroes.c --work "$work/built"
check "make test EX= is an error" says "EX= is empty; which exercise" status 2 make test EX=
check "and shows the exercises" says "  08  broadcast " status 2 make test EX=
check "EX= of the environment likewise" says "EX= is empty" status 2 env EX= make test

# ---- Exercises ----

first_exercise() { says "^00_hello: " make "$@"; }
check "make test 00 is make test EX=00" first_exercise test 00
check "make test hello likewise" first_exercise test hello
check "make test ex=00 likewise" first_exercise test ex=00
check "make handin of somebody with an apostrophe" says "learn handin: no exercise has been begun\|o_brien.tar" make handin WHO="o'brien"
if have script; then
    shows_progress() { script -qec "$B/learn test 01 --solution" /dev/null >"$work/shown" && grep -q "running, 2 of " "$work/shown"; }
    check "a terminal sees how far a check is" shows_progress
fi
check "and nothing else does" sh -c "! '$B/learn' test 01 --solution 2>&1 | grep 'running, '"

# ---- An ordinary user ----

ordinary() {
    if [ "$(id -u)" -eq 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi
}
# shellcheck disable=SC2016  # a text
may_not() { says 'try: make install PREFIX=$HOME/.local' status 1 ordinary scripts/install.sh check "" "$work/theirs"; }
mkdir -m 755 "$work/theirs"
[ "$(id -u)" -eq 0 ] || chmod 555 "$work/theirs"
chmod 755 "$work"
if ordinary test -r scripts/install.sh 2>/dev/null; then
    check "install where this user may not write: told of PREFIX" may_not
else
    skip "install where this user may not write" "an ordinary user may not read this folder"
fi

# scripts/setup.sh where no compiler is found, as a user whose sudo wants a password, on a terminal: the commands here
# are all that there are.
tools=$work/tools
mkdir "$tools"
for tool in sh env mkdir touch tail cat uname; do ln -s "$(command -v $tool)" "$tools"; done
printf '#!/bin/sh\necho 1000\n' >"$tools/id"
# shellcheck disable=SC2016  # a script
printf '#!/bin/sh\n[ "$1" = -n ] && exit 1\necho asked >>%s/asked\nexit 1\n' "$work" >"$tools/sudo"
printf '#!/bin/sh\necho installed >>%s/asked\n' "$work" >"$tools/apt-get"
chmod +x "$tools"/*
without_compiler() { # on a terminal
    (cd "$work" && PATH=$tools "$(command -v script)" -qec "sh $top/scripts/setup.sh build" /dev/null)
}
never_asks() { without_compiler; [ ! -e "$work/asked" ]; }
top=$PWD
if have script; then
    check "no compiler: told the command to paste" says "sudo apt-get install -y --no-install-recommends gcc binutils" status 1 without_compiler
    check "and no password is asked for" never_asks
else
    skip "no compiler" "needs script (package bsdutils)"
fi
