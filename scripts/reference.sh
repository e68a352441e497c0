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
    # shellcheck disable=SC2093
    (exec -a "$3" "$B/$2" --help) | awk -v as=man -v name="$3" -v version="$4" -f scripts/help.awk
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
(\`-?\`, \`-h\`), and all but \`build/learn\` without a command and \`build/bench/mpi\` have \`--usage\` and \`-V\`. Sizes take K, M and G, powers of 1024. Installed, \`build/launch\` is
\`pairwise-launch\`, \`build/replay\` \`pairwise-replay\` and \`build/train\` \`pairwise-train\`, each with a page of the manual.

A variable with a value that is not valid is an error, and so is a name that begins with \`PAIRWISE_\` and is not below (but
a few that are for the project's own tests).

For every job, whatever program starts it:

- Standard input goes to rank 0.
- A rank writes to a socket, and the launcher prints whole lines. No other process can open that socket through
  \`/proc\`, nor can the rank: write to descriptor 2, do not open \`/dev/stderr\`. Root, a debugger and other programs on
  the same terminal can still write to the terminal.
- \`--ordered\` keeps up to 1 GiB of output, or what \`ulimit -f\` allows; each rank has the same share. What goes
  beyond is dropped, with a message and exit status 1.
- \`--trace FILE\` replaces a file of that name; a link is refused.
- No rank is left behind: not after a crash, not after Ctrl-C, not after a \`kill -9\` of the launcher.
- A rank that writes over the memory that all ranks share ends the job with a message; it does not end the launcher.
END
for program in launch train replay demo; do section $program; done
for source in bench/*.c; do section "${source%.c}"; done
section learn
for command in $("$B/learn" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do section learn "$command"; done
