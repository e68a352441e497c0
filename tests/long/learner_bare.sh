#!/bin/bash
# SPDX-License-Identifier: MIT
#
# learner_bare.sh: a learner's first day on a Debian 12 with gcc and make and nothing else, as an ordinary user who may
# install nothing: make test, the board, hints, a wrong and a right answer, reset, solution, handin, watch; and every
# command that the pages show, pasted.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
name=learner-bare

[ "$(id -u)" -eq 0 ] || { skip $name "needs root, for debootstrap and chroot"; exit 0; }
have debootstrap || { skip $name "needs debootstrap"; exit 0; }
unshare --mount true 2>/dev/null || { skip $name "may not make a mount namespace here"; exit 0; }
git rev-parse --git-dir >/dev/null 2>&1 || { skip $name "not a git checkout"; exit 0; }

# The first mirror among this machine's sources that has bookworm's main part: deb822 files, then one-line files.
mirror() {
    awk '/^URIs:/ { uri = $2 } /^Suites:/ && / bookworm( |$)/ { print uri; exit }' /etc/apt/sources.list.d/*.sources 2>/dev/null
    sed -n 's/^deb \(\[[^]]*\] *\)\?\([^ ]*\) bookworm main.*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null
}
url=$(mirror | head -n 1)
[ -n "$url" ] || { skip $name "this machine's apt sources name no mirror for bookworm"; exit 0; }

root=$(realpath -m "$B/learner")
trap 'rm -rf "$work" "$root"' EXIT
rm -rf "$root"
mkdir -p "$B"

# In a mount namespace of its own, so that nothing stays mounted; its own processes too. The learner is user 1000.
inside() { # COMMAND
    # shellcheck disable=SC2016
    unshare --mount --pid --fork bash -c '
        mount --make-rprivate / && mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
        mount -t devpts devpts "$1/dev/pts" -o newinstance,ptmxmode=0666 &&
        exec env -i PATH=/usr/sbin:/usr/bin:/bin HOME=/home/learner LC_ALL=C chroot "$1" setpriv --reuid 1000 --regid 1000 \
            --clear-groups --no-new-privs env PATH=/usr/bin:/bin bash -c "cd ~/pairwise && $2"' inside "$root" "$1" </dev/null
}

make_bare() {
    debootstrap --variant=minbase --include=make,gcc,libc6-dev bookworm "$root" "$url" >"$work/bootstrap.log" 2>&1 || return 1
    mkdir -p "$root/home/learner/pairwise" "$root/dev/shm"
    git ls-files -co --exclude-standard -z | tar --null -T - -c | tar -x -C "$root/home/learner/pairwise" &&
        chown -R 1000:1000 "$root/home/learner"
}

echo "making a bare Debian with a compiler (minutes)"
if ! make_bare; then
    tail -n 3 "$work/bootstrap.log" | sed 's/^/    /'
    if grep -q -i -E 'retrieving|resolve|connect|Failed getting' "$work/bootstrap.log"; then
        skip $name "the mirror cannot be reached"
    else
        fail "$name: debootstrap"
    fi
    exit 0
fi

check "$name: the learner is nobody special, and there is no Criterion" inside "test \$(id -u) = 1000 && ! test -e /usr/include/criterion && ! touch /usr/x"
check "$name: the first exercise, before anything else" says "not started" inside "make test EX=00"
check "$name: make test" says "exercises: 0 of " inside "make test"
check "$name: make test, the second time: nothing is run again" says "not run again" inside "make test"
check "$name: the board" says "next  exercises/00_hello/README.md" inside "make list"
check "$name: a hint" says "hint 1 of 3" inside "make hint EX=08"
check "$name: and the next" says "hint 2 of 3" inside "make hint EX=08"
wrong() { ! inside "cp tests/mutants/08_broadcast/only_root_0.c exercises/08_broadcast/broadcast.c && make test EX=08"; }
check "$name: a wrong answer is explained" says "only the root" wrong
check "$name: the hint for it" says "what your last try says" inside "make hint"
right() { inside "cp solutions/08_broadcast/*.c exercises/08_broadcast/ && make test EX=08"; }
check "$name: a right answer passes" says "08_broadcast: passed" right
check "$name: the board knows" says "exercises: 1 of " inside "make list"
check "$name: the solution beside it" says "solutions/08_broadcast/broadcast.c" inside "make solution EX=08"
check "$name: to hand in" says "build/ada.tar" inside "make handin WHO=ada"
check "$name: graded, by an ordinary user" says "08_broadcast             right" inside "build/learn grade build/ada.tar"
check "$name: the stub again" says "your work is in .learn/old" inside "make reset EX=08"
every() { inside "for e in solutions/*; do cp \$e/*.c exercises/\${e#*/}/ || exit; done; make test"; }
check "$name: every solution, copied and tested" says "next  you have done them all" every
# make watch never ends by itself, so it is interrupted; `sleep` is the time in which a learner writes.
watch() {
    inside "(timeout -s INT 25 make watch >watched 2>&1 & sleep 3; echo >>exercises/08_broadcast/broadcast.c; wait); cat watched"
}
check "$name: make watch sees a file that is saved" says "08_broadcast: passed" watch
check "$name: the course is sound here too" says "killed: 100%" inside "for e in solutions/*; do make reset EX=\${e#*/} >/dev/null; done; make check-course"
inside "tests/paste.sh exercises/*/README.md README.md docs/teaching.md" | sed "s/^\(ok\|FAIL\) /&$name: /"
