#!/bin/bash
# SPDX-License-Identifier: MIT
#
# jobs.sh test|all|long: the names of the jobs that make test, test-all and test-long consist of, one a line; those that took
# longest when tests/durations was written come first, so that at the end none runs alone. tests/job.sh runs one by its name.
#
#       plain/WORLD/SUITE       a suite, in a world (none: it does not ask for one)
#       alone/WORLD/SUITE       likewise, of a suite that measures time: nothing runs beside it
#       asan/WORLD/SUITE        built with the address and undefined behaviour sanitizers
#       short/WORLD/SUITE       with the smallest buffers, so that nearly every write and read is a short one
#       2hosts/WORLD/SUITE      on two launchers, as on two hosts; 3hosts: on three
#       lint/PART               format, clang, tidy, cppcheck or analyzer (scripts/lint.sh)
#       solutions               the solutions of the exercises
#       tests/all/NAME.sh       a script
#
# SUITE is a Criterion suite (tests/SUITE.c) or faults, faults-1, faults-2 (faultlab, all of it or a half). The second line of a
# suite says where it runs:
#
#       // worlds: each|last|none; WORD; WORD...
#
#       each            what it tests differs by world: plainly in both, and under the sanitizers in shm
#       last            what it tests lies above the worlds: plainly in shm, and under the sanitizers in socket
#       none            it has nothing to do with worlds: plainly and under the sanitizers once
#       alone           it measures time
#       plain           not under the sanitizers: it starts programs whose code other suites run there
#       short writes    also with the smallest buffers
#       3 hosts         also on three hosts of sockets; 2 hosts: on two that share memory; hosts: in test-long on both
#
# make test runs what is plain, test-all the rest of the above, test-long everything in each world, and the whole of sweeps.
set -u
cd "$(dirname "$0")/.." || exit 2
worlds=${WORLDS:-socket shm} last=${WORLDS:-shm} first=${WORLDS:-socket}
last=${last##* } first=${first%% *}

tags() { sed -n '2s|^// worlds: ||p' "tests/$1.c"; } # SUITE
has() { [[ "; $tags;" == *"; $1;"* ]]; }              # WORD: is it one of the words of $tags?

# In which worlds a suite runs plainly, or under the sanitizers.
plainly() {
    case $tags in
    each*) echo "$worlds" ;;
    last*) echo "$last" ;;
    none*) echo none ;;
    *) echo "tests/$suite.c: its second line does not say in which worlds it runs" >&2; exit 2 ;;
    esac
}
sanitized() {
    case $tags in
    each*) echo "$last" ;;
    last*) echo "$first" ;;
    none*) echo none ;;
    esac
}

# KIND WORLD...: one line for each world.
in_worlds() {
    local kind=$1 world
    shift
    for world; do echo "$kind/$world/$suite"; done
}

jobs_of_suite() { # PURPOSE
    local kind=plain
    has alone && kind=alone
    # shellcheck disable=SC2046,SC2086  # lists of worlds
    case $1 in
    test) in_worlds $kind $(plainly) ;;
    all)
        has plain || in_worlds asan $(sanitized)
        has "short writes" && in_worlds short $worlds
        has "3 hosts" && in_worlds 3hosts socket
        has "2 hosts" && in_worlds 2hosts shm
        ;;
    long)
        case $tags in none*) in_worlds $kind none && in_worlds asan none ;; *) in_worlds $kind $worlds && in_worlds asan $worlds ;; esac
        [[ $tags == none* ]] || in_worlds short $worlds
        if [[ $tags == *hosts* ]]; then in_worlds 3hosts $worlds && in_worlds 2hosts $worlds; fi
        ;;
    esac
    return 0
}

jobs() { # PURPOSE
    local suite tags
    for suite in tests/*.c; do
        suite=${suite#tests/} suite=${suite%.c} tags=
        tags=$(tags "$suite")
        jobs_of_suite "$1" || exit
    done
    # Most faults wait more than they compute: two halves side by side.
    for suite in faults-1 faults-2; do
        # shellcheck disable=SC2086  # lists of worlds
        case $1 in
        test) in_worlds plain $worlds ;;
        all) in_worlds asan $last && in_worlds 2hosts shm ;;
        long) for kind in plain asan short 2hosts 3hosts; do in_worlds $kind $worlds; done ;;
        esac
    done
    suite=faults
    # shellcheck disable=SC2086
    case $1 in
    test) echo solutions ;;
    all) in_worlds short $worlds && printf '%s\n' tests/all/*.sh lint/{format,clang,tidy,cppcheck,analyzer} ;;
    long) printf '%s\n' tests/long/*.sh lint/analyzer && grep -l as_checked tests/all/*.sh ;;
    esac
}

# What is not in the list of durations is new: it comes first.
names=$(jobs "${1:?for which purpose: test, all or long?}") || exit
LC_ALL=C awk 'NR == FNR { seconds[$2] = $1 + 0; next }
    { print ($1 in seconds ? seconds[$1] : 1e6), $1 }' tests/durations - <<<"$names" | sort -k1,1nr -k2 | cut -d' ' -f2
