#!/bin/bash
# SPDX-License-Identifier: MIT
# The pages: every link leads somewhere, and the tour leaves no file of p2p out.
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
