#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pages.sh [PAGE...]: every command that the README, the pages of the exercises, of teachers and demos show works when it
# is pasted: in a copy of this checkout, so that a learner's work and hints are not touched. Of pages those that differ from
# what was last found right (tests/checked); in test-long all, and the one whose commands measure, some for half a minute.
# PAGE: these instead.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
if [ $# -eq 0 ]; then
    for page in exercises/*/README.md README.md docs/teaching.md docs/demos.md ${WHOLE:+docs/benches.md}; do
        as_checked "$page" "$page" || set -- "$@" "$page"
    done
fi
[ $# -gt 0 ] || { ok "no page has changed since its commands were last found right"; exit 0; }
mkdir "$work/copy"
git ls-files -co --exclude-standard -z 2>/dev/null | tar --null -T - -c 2>/dev/null | tar -x -C "$work/copy"
[ -e "$work/copy/Makefile" ] || cp -a . "$work/copy/" # not a git checkout
rm -rf "$work/copy/build" && mkdir "$work/copy/build"
find "$B" -mindepth 1 -maxdepth 1 ! -name asan ! -name clang ! -name tsan -exec cp -a -t "$work/copy/build" {} +
cp -a build/.setup-* "$work/copy/build/" 2>/dev/null
cd "$work/copy" || exit 2
export BUILD=build
build/learn cut all -w >/dev/null # pages are read before anything is written
make >/dev/null 2>&1 # its answers are no part of a page
# Programs of pages that a learner has to write first are shown with what the page asks for.
tests/paste.sh "$@" | tee "$work/pasted"
status=${PIPESTATUS[0]}
sed -n 's/^ok \([^ ]*\) .*/\1/p' "$work/pasted" | while read -r page; do keep_checked "$page" "$page"; done
exit "$status"
