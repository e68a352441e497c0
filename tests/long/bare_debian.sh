#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bare_debian.sh: a Debian 12 with nothing but make, in a folder; in it, the README's two commands as root, who may
# install what is missing, and before that as an ordinary user who may not and must be told what to paste.
# The packages come from where this machine's own come from.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
name=bare-debian

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

root=$(realpath -m "$B/bare")
trap 'rm -rf "$work" "$root"' EXIT
rm -rf "$root"
mkdir -p "$B"

inside() { # USER COMMAND: in a mount namespace of its own, so that nothing stays mounted; its own processes too
    # shellcheck disable=SC2016
    unshare --mount --pid --fork bash -c '
        mount --make-rprivate / && mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
        mount -t devpts devpts "$1/dev/pts" -o newinstance,ptmxmode=0666 &&
        exec env -i PATH="$PATH" HOME=/tmp chroot "$1" su "$2" -s /bin/bash -c "cd /pairwise && $3"' inside "$root" "$1" "$2" </dev/null
}

make_bare() {
    debootstrap --variant=minbase --include=make bookworm "$root" "$url" >"$work/bootstrap.log" 2>&1 || return 1
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null
    mkdir -p "$root/pairwise" "$root/dev/shm"
    git ls-files -co --exclude-standard -z | tar --null -T - -c | tar -x -C "$root/pairwise" &&
    chown -R nobody "$root/pairwise"
}

echo "making a bare Debian (minutes)"
if ! make_bare; then
    tail -n 3 "$work/bootstrap.log" | sed 's/^/    /'
    if grep -q -i -E 'retrieving|resolve|connect|Failed getting' "$work/bootstrap.log"; then
        skip $name "the mirror cannot be reached"
    else
        fail "$name: debootstrap"
    fi
    exit 0
fi

refused() { ! inside nobody "make"; }
check "$name: no compiler, an ordinary user: told the command to paste" says "apt-get install -y" refused
check "$name: make test EX=00" says "00_hello: not started" inside root "make test EX=00"
check "$name: make test" inside root "make test"
check "$name: make test, the second time installs nothing" says "failed" inside root "make test"
check "$name: make demo" says "deadlock" inside root "make demo"
check "$name: without Criterion" inside root "apt-get -qq remove -y libcriterion-dev && make clean && chown -R nobody ."
check "$name: make test by an ordinary user, without Criterion: the faults run all the same" inside nobody "make test"
check "$name: and it says what is missing" says "needs Criterion" inside nobody "make test"
