#!/bin/bash
# SPDX-License-Identifier: MIT
#
# words.sh: no program reads sentences. With every sentence about a finding reworded (in capitals), and another word before
# what to try, reports have the same classes, ranks, lines and advice, and learners' mistakes are of the same kinds.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$PWD tree=$work/tree
learners="wrong_tag nobody_sends never_waited_for never_received too_short no_such_rank both_receive finalizes leaves_at_once kills_itself"

# Texts with a blank in them, but for conversions of printf and escapes.
reword() {
    perl -pi -e 'next if /^#include/; s{"((?:[^"\\]|\\.)*)"}{my $t = $1;
        $t =~ s/(%[-#0 +.*\d]*(?:ll|l|z)?[a-zA-Z%])|(\\.)|([a-z]+)/defined $3 ? uc $3 : $&/ge if $t =~ m{ };
        "\"$t\""}ge' "$@"
}

reworded_tree() (
    mkdir -p "$tree/build" && git ls-files -z | grep -zv '^tests/trainer' | xargs -0 tar -c | tar -x -C "$tree" &&
        cp "$here"/build/.setup-* "$tree/build" && cd "$tree" && reword p2p/shared/words*.[ch] p2p/message/causes.h &&
            sed -i '/define P2P_TRY/s/TRY: /PERHAPS: /' p2p/shared/words.h &&
        make BUILD=build CFLAGS='-O0 -g' build/learn build/launch build/examples/deadlock build/tests/p2p_report
)

kinds() ( # CHECKOUT: the kind of each learner's mistake
    cd "$1" && "$1/$B/learn" grade "$work/class" --exercise 08 --seed 5 --grades "$work/grades" >/dev/null &&
        grep -E '"(submission|kind)"' "$work/grades"
)

same_kinds() {
    for learner in $learners; do
        mkdir -p "$work/class/$learner/08_broadcast"
        cp "tests/learner/08_broadcast/$learner.c" "$work/class/$learner/08_broadcast/broadcast.c"
    done
    kinds "$here" >"$work/before" && B=build kinds "$tree" >"$work/after" && grep -q deadlock "$work/before" &&
        diff "$work/before" "$work/after"
}

capitals() (
    cd "$tree" && build/launch -n 2 build/examples/deadlock 2>&1 | grep 'WAIT FOR EACH OTHER'
)

# What is searched for a text is no sentence: the environment, /proc, the launcher's variable; a page's own marks, paths;
# whose functions a call's name belongs to; a schedule.
readers() {
    grep -lE '\<(strstr|strcasestr|strncmp|sscanf)\(' p2p/*/*.[ch] replay/*.[ch] demo/*.[ch]
}
searched="demo/main.c demo/run.c demo/train.c p2p/job/launch_main.c p2p/job/machine.c p2p/job/schedule.c p2p/message/init.c \
p2p/message/request.c p2p/shared/cgroup.c p2p/shared/cli.c p2p/shared/config.c p2p/shared/process.c p2p/shared/words_mpi.c replay/page.c replay/source.c"

check "sentences are not searched" eval '[ "$(readers | sort | xargs)" = "$searched" ]'
check "other words are built" reworded_tree
check "they are printed" capitals
check "reports are the same" env -C "$tree" build/tests/p2p_report
check "learners' mistakes are of the same kinds" same_kinds
