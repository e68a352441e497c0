#!/bin/bash
# SPDX-License-Identifier: MIT
# The pages: every link leads somewhere, the tour leaves no file of p2p out, and the reference is what --help says.
. "$(dirname "$0")/../lib.sh"

# Relative links of a page: ](path) and ](path#place).
links() { grep -o '](\([^)#:]*\)[^):]*)' "$1" | sed 's/^](//; s/[#)].*//' | sort -u; }

lead_somewhere() {
    local page dead=0
    for page in $(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*'); do
        for link in $(links "$page"); do
            [ -e "$(dirname "$page")/$link" ] || { echo "$page: no $link"; dead=1; }
        done
    done
    return $dead
}

all_named() {
    local source missing=0
    for source in p2p/*/*.c; do
        grep -q "($(printf '../%s' "$source"))" docs/tour.md || { echo "docs/tour.md says nothing of $source"; missing=1; }
    done
    return $missing
}

check "every link of every page leads somewhere" lead_somewhere
check "docs/tour.md names every file of p2p" all_named

reference_is_current() { scripts/reference.sh | diff docs/reference.md - || { echo "run: make reference"; return 1; }; }
check "docs/reference.md has what --help says (or run: make reference)" reference_is_current

# A slide is drawn from a run on a virtual network: the same bytes each time.
slides_are_current() {
    local slide
    scripts/slides.sh "$work/slides" || return 1
    for slide in "$work"/slides/*.svg; do
        cmp "$slide" "docs/pictures/${slide##*/}" || { echo "run: make pictures"; return 1; }
    done
}
check "docs/pictures/*.svg are what make pictures draws" slides_are_current

# A page of the manual has every option of its program.
manual_is_whole() {
    local option
    scripts/reference.sh man launch pairwise-launch 1.2.3 >"$work/launch.1"
    for option in $("$B/launch" --help | grep -oE '^ +(-., )?(--[a-z-]+|PAIRWISE_[A-Z_]+)' | grep -oE -e '(--[a-z-]+|PAIRWISE.*)'); do
        grep -q -F -- "${option//-/\\-}" "$work/launch.1" || { echo "nothing of $option"; return 1; }
    done
    grep -q 'Pairwise 1.2.3' "$work/launch.1"
}
check "the manual has every option" manual_is_whole

packages_named() {
    local package missing=0
    for package in $(sed -n '/^cross()/,/^}/p; /^needs()/,/^}/p' scripts/setup.sh | grep -oE ':[a-z][a-z0-9+-]+' | tr -d :); do
        grep -q -w -- "$package" docs/install.md || { echo "docs/install.md says nothing of $package"; missing=1; }
    done
    return $missing
}
check "docs/install.md has every package that make installs" packages_named
