#!/bin/bash
# SPDX-License-Identifier: MIT
#
# reference.sh: prints docs/reference.md, made from what every program says with --help. `make reference` writes it.
# reference.sh man PROGRAM NAME VERSION: prints a program's page of the manual, under the name it is installed as.
# A program that is not built here (the trainer, without OpenCL) keeps the section that it has.
set -u
cd "$(dirname "$0")/.." || exit 2
B=${BUILD:-build}
export LC_ALL=C ARGP_HELP_FMT=rmargin=9999,opt-doc-col=40,dup-args-note=0

if [ "${1:-}" = man ]; then
    "$B/$2" --help | awk -v as=man -v name="$3" -v version="$4" -f scripts/help.awk
    exit
fi

section() { # PROGRAM [COMMAND]
    echo
    if [ -x "$B/$1" ]; then
        # shellcheck disable=SC2086  # two words
        "$B/"$* --help </dev/null | awk -v as=md -v name="build/$*" -f scripts/help.awk
    else
        sed -n "\\,^## build/$1\$,,\\,^## ,p" docs/reference.md | sed '$d' | sed '$d'
    fi
}

cat <<END
# Reference: every program, option and variable

This page is made from the programs' \`--help\` by \`make reference\`; do not edit it. Every program also has \`--help\`
(\`-?\`, \`-h\`), \`--usage\` and \`--version\` (\`-V\`). Sizes take K, M and G, powers of 1024. Installed, \`build/launch\` is
\`pairwise-launch\`, \`build/replay\` \`pairwise-replay\` and \`build/train\` \`pairwise-train\`, each with a page of the manual.

A variable with a value that is not valid is an error, and so is a name that begins with \`PAIRWISE_\` and is not below.
END
for program in launch train replay demo; do section $program; done
for source in bench/*.c; do section "${source%.c}"; done
section learn
for command in $("$B/learn" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do section learn "$command"; done
