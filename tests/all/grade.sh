#!/bin/bash
# SPDX-License-Identifier: MIT
#
# grade.sh: tests/submissions graded: each gets the expected result, in every sandbox that is possible here; no process
# outlives it; the files for other programs are as those expect.
#
#       as we are             root: a user for each, namespaces, control groups; else a namespace of users
#       an ordinary user      (if we are root) namespaces by way of a namespace of users
#       root in a container   without CAP_SYS_ADMIN there are no namespaces: users, Landlock
#       nobody in a container neither root nor namespaces: Landlock alone
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
learn=$PWD/$B/learn
"$learn" test 10 --solution >/dev/null # something that peeking could find

# What each deserves: the first words of the line that grade prints, by submission and exercise.
expected="
asking 08_broadcast wrong
crashing 08_broadcast wrong
flooding 08_broadcast wrong
foreign_sockets 08_broadcast wrong
foreign_table 08_broadcast wrong
forging 08_broadcast wrong
forking 08_broadcast wrong
hanging 08_broadcast wrong
hanging 10_reduce wrong
hoarding 08_broadcast wrong
including 08_broadcast wrong
including 10_reduce wrong
killing 08_broadcast wrong
lingering 08_broadcast wrong
looking 08_broadcast wrong
memfd 08_broadcast wrong
not_compiling 08_broadcast wrong
not_started 08_broadcast not started
peeking 08_broadcast wrong
peeking 10_reduce wrong
reading 08_broadcast wrong
right 08_broadcast right
right 10_reduce right
stealing 08_broadcast wrong
writing 08_broadcast wrong
wrong 08_broadcast wrong"

# Lines such as "wrong 08_broadcast wrong reason ...": each expected one must begin one of those that were printed.
as_deserved() { # OUTPUT
    local line status=0
    while read -r line; do
        [ -z "$line" ] || tr -s ' ' <"$1" | grep -q "^$line" || { echo "expected: $line"; status=1; }
    done <<<"$expected"
    [ $status -eq 0 ] || cat "$1"
    return $status
}

reason() { # OUTPUT SUBMISSION WORDS
    tr -s ' ' <"$1" | grep "^$2 08_broadcast" | grep -q "$3" || { grep "^$2" "$1"; echo "expected to see: $3"; return 1; }
}

# Each run has a folder for temporary files of its own, so that what is found is its own. No process of a submission is
# left: they run a program called ranks in it.
no_process_left() { # FOLDER
    local left
    left=$(pgrep -f "$1/pairwise-grade.*/ranks") || return 0
    # shellcheck disable=SC2086  # several numbers
    ps -o pid,ppid,user,etime,args -p $left
    return 1
}

# The name of a control group has the number of the process that made it.
no_groups_left() {
    local group number status=0
    while read -r group; do
        number=${group##*pairwise-grade-}
        kill -0 "${number%-*}" 2>/dev/null || { echo "$group"; status=1; }
    done < <(find /sys/fs/cgroup -maxdepth 6 -name 'pairwise-grade-*' 2>/dev/null)
    return $status
}

nothing_left() { # FOLDER
    [ -z "$(ls -A "$1")" ] || { ls -A "$1"; return 1; }
}

grade() { # NAME COMMAND...: grade everything with this command in front; everything is as it should be
    local name=$1 tmp=$open/tmp.$RANDOM out
    shift
    out=$work/$name
    mkdir -m 1777 "$tmp"
    # shellcheck disable=SC2086  # several words
    TMPDIR=$tmp PIPELINE_TOKEN=hunter2 "$@" "$learn" grade "$folder" --seed 5 --limit 10 --jobs 2 $formats >"$out" 2>&1
    check "grade, $name: ends with 0, whatever the grades" test $? -eq 0
    check "grade, $name: each as it deserves" as_deserved "$out"
    check "grade, $name: the compiler's words" reason "$out" not_compiling "does not compile"
    check "grade, $name: no process is left" no_process_left "$tmp"
    check "grade, $name: no folder is left" nothing_left "$tmp"
    check "grade, $name: no control group is left" no_groups_left
}

# How fast memory is taken depends on the machine: alone, and with time enough.
hoarding() { # NAME COMMAND...
    local out=$work/$1.hoarding tmp=$open/tmp.$RANDOM
    shift
    mkdir -m 1777 "$tmp"
    TMPDIR=$tmp "$@" "$learn" grade "$folder/hoarding" --exercise 8 --seed 5 --limit 120 >"$out" 2>&1
    reason "$out" hoarding "all the memory that is allowed"
}

the_wild() { # NAME COMMAND...: what those who go wild are told
    check "grade, $1: the crash names its line" reason "$work/$1" crashing "line 10 of broadcast.c"
    check "grade, $1: the exit is seen" reason "$work/$1" forging "exit"
    check "grade, $1: the flood is seen" reason "$work/$1" flooding "64 MiB"
    check "grade, $1: too much memory is the reason given" hoarding "$@"
}

open=$(mktemp -d /tmp/pairwise.XXXXXX)
trap 'rm -rf "$work" "$open"' EXIT
chmod 755 "$open"
folder=$PWD/tests/submissions

# ---- As we are, with all formats ----

formats="--csv $work/out.csv --junit $work/out.xml --json $work/out.json --gradescope $work/gs.json --grades $work/all.json --autolab"
grade as_we_are env
the_wild as_we_are env
formats=
check "grade: a process is the reason given" reason "$work/as_we_are" forking "starts a process"

# What is mounted below a folder is as it is: not to be written to.
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs tmpfs /opt 2>/dev/null; then
    # shellcheck disable=SC2016
    below() {
        unshare -m sh -c 'mount -t tmpfs tmpfs /opt && mkdir /opt/pairwise-below && mount -t tmpfs -o mode=1777 tmpfs /opt/pairwise-below &&
            "$@"' sh "$learn" grade tests/submissions/writing --seed 5 | tr -s ' ' | grep -q "^writing 08_broadcast wrong"
    }
    check "grade: nothing is written to a mount below a folder that is read only" below
else
    skip "grade: a mount below a folder that is read only" "needs root and mounts"
fi

# One submission sees no other, wherever the class lies: also below what every submission reads.
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs tmpfs /opt 2>/dev/null; then
    # shellcheck disable=SC2016
    beside() {
        unshare -m sh -c 'mount -t tmpfs tmpfs /opt && mkdir -p /opt/class/eve/08_broadcast && cp -r tests/submissions/right /opt/class/ada &&
            chmod -R a+rX /opt && echo "#include \"/opt/class/ada/08_broadcast/broadcast.c\"" >/opt/class/eve/08_broadcast/broadcast.c &&
            "$0" grade /opt/class --exercise 08 && "$0" grade /opt/class/eve --exercise 08' "$learn" | tr -s ' ' >"$work/beside"
        [ "$(grep -c '^eve 08_broadcast wrong' "$work/beside")" -eq 2 ] && grep -q "^ada 08_broadcast right" "$work/beside" && return
        cat "$work/beside"
        return 1
    }
    check "grade: a class below /opt is not read" beside
else
    skip "grade: a class below /opt is not read" "needs root and mounts"
fi

# ---- The formats ----

if have python3; then
    cat >"$work/formats.py" <<'PYTHON'
import csv, json, sys, xml.etree.ElementTree as tree

folder = sys.argv[1]
rows = list(csv.DictReader(open(folder + "/out.csv", newline="")))
right = {(r["submission"], r["exercise"]) for r in rows if r["verdict"] == "right"}
assert right == {("right", "08_broadcast"), ("right", "10_reduce")}, right
handed_in = len({r["submission"] for r in rows})
assert len(rows) == 2 * handed_in and all(r["seed"] == "5" for r in rows), len(rows)
assert all((r["points"] == "1") == (r["verdict"] == "right") for r in rows)
assert all(r["reason"] for r in rows if r["verdict"] == "wrong")

suites = tree.parse(folder + "/out.xml").getroot()
assert suites.tag == "testsuites" and len(suites) == handed_in, len(suites)
for suite in suites:
    cases = suite.findall("testcase")
    count = lambda kind: str(sum(len(c.findall(kind)) for c in cases))
    assert suite.get("tests") == str(len(cases)) == "2", suite.get("name")
    for kind, attribute in ("failure", "failures"), ("error", "errors"), ("skipped", "skipped"):
        assert suite.get(attribute) == count(kind), (suite.get("name"), kind)
    float(suite.get("time"))
    for case in cases:
        passed = not list(case)
        assert passed == ((suite.get("name"), case.get("name")) in right), case.get("name")
        assert passed or list(case)[0].get("message")

every = json.load(open(folder + "/all.json"))
assert every["version"] == 1 and every["seed"] == "5" and every["submissions"] == handed_in
assert {(g["submission"], g["exercise"]) for g in every["grades"] if g["verdict"] == "right"} == right
assert all(bool(g["kind"]) == (g["verdict"] == "wrong") for g in every["grades"])

exercism = json.load(open(folder + "/out.json"))
assert exercism["version"] == 3 and exercism["status"] == "fail" and exercism["message"] is None
assert len(exercism["tests"]) == 2 * handed_in
for test in exercism["tests"]:
    assert test["status"] in ("pass", "fail", "error") and test["name"] and test["test_code"]
    assert (test["message"] is None) == (test["status"] == "pass") and len(test["message"] or "") < 65536
    assert test["task_id"] in (8, 10)

scope = json.load(open(folder + "/gs.json"))
assert "score" not in scope and scope["stdout_visibility"] == "hidden" and scope["execution_time"] > 0
assert sum(t["score"] for t in scope["tests"]) == 2 and sum(t["max_score"] for t in scope["tests"]) == 2 * handed_in
assert {t["status"] for t in scope["tests"]} == {"passed", "failed"}

last = open(folder + "/as_we_are").read().splitlines()[-1]
scores = json.loads(last)["scores"]
assert len(scores) == 2 * handed_in and sum(scores.values()) == 2 and scores["right/08_broadcast"] == 1, last
PYTHON
    check "grade: CSV, JUnit, exercism, Gradescope, Autolab as those expect" python3 "$work/formats.py" "$work"
    # One submission alone is what exercism, Gradescope and Autolab know.
    one() {
        "$learn" grade tests/submissions/right --seed 5 --json "$work/one.json" --autolab >"$work/one" &&
            [ "$(tail -n 1 "$work/one")" = '{"scores": {"08_broadcast": 1, "10_reduce": 1}}' ] &&
            python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["status"] == "pass" and r["message"] is None and [t["name"] for t in r["tests"]] == ["08_broadcast", "10_reduce"]' "$work/one.json"
    }
    check "grade: one submission, its tests without its name" one
    broken() {
        "$learn" grade tests/submissions/not_compiling --json "$work/broken.json" >/dev/null &&
            python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["status"] == "error" and "does not compile" in r["message"]' "$work/broken.json"
    }
    check "grade: what does not compile is an error to exercism, with a message" broken
    # Names and outputs that a format could take for its own.
    odd() {
        mkdir -p "$work/odd/=1+1<&\"ü/08_broadcast" &&
            printf '#error <b>&amp;]]> "\\n \033[31m \377\n' >"$work/odd/=1+1<&\"ü/08_broadcast/broadcast.c" &&
            "$learn" grade "$work/odd" --csv "$work/odd.csv" --junit "$work/odd.xml" --json "$work/odd.json" --gradescope "$work/odd.gs" --autolab >"$work/odd.out" &&
            ! grep -q "$(printf '\033')" "$work/odd.out" &&
            python3 - "$work" <<'PYTHON'
import csv, json, sys, xml.etree.ElementTree as tree
folder, name = sys.argv[1], '=1+1<&"ü'
row = list(csv.DictReader(open(folder + "/odd.csv", newline="", encoding="utf-8")))[0]
assert row["submission"] == "'" + name and "<b>" in row["reason"], row
suite = tree.parse(folder + "/odd.xml").getroot()[0]
assert suite.get("name") == name and "\033" not in tree.tostring(suite, encoding="unicode")
json.load(open(folder + "/odd.json", encoding="utf-8")), json.load(open(folder + "/odd.gs", encoding="utf-8"))
PYTHON
    }
    check "grade: odd names and odd output break no format" odd
else
    skip "grade: CSV, JUnit, exercism, Gradescope, Autolab" "needs python3"
fi
if have xmllint; then
    check "grade: xmllint reads the JUnit file" xmllint --noout "$work/out.xml"
else
    skip "grade: xmllint" "needs xmllint"
fi
check "grade: a file that cannot be written is said, and ends with 1" status 1 "$learn" grade tests/submissions/wrong --csv "$work/nowhere/out.csv"

# ---- Interrupted ----

mkdir "$open/interrupted"
interrupted() {
    local pid
    TMPDIR=$open/interrupted "$learn" grade tests/submissions/hanging --seed 5 >"$work/interrupted" 2>&1 &
    pid=$!
    for _ in $(seq 300); do pgrep -f "$open/interrupted/.*/ranks" >/dev/null && break; sleep 0.1; done
    kill "-$1" $pid
    wait $pid
}
check "grade: interrupted, it ends at once" status 143 interrupted TERM
check "grade: interrupted, it says so" grep -q "interrupted; nothing was written" "$work/interrupted"
check "grade: interrupted, no process is left" no_process_left "$open/interrupted"
check "grade: interrupted, no folder is left" nothing_left "$open/interrupted"
check "grade: killed" status 137 interrupted KILL
# A grader that is killed cannot wait for its children: the kernel ends them a little later.
soon_no_process_left() {
    for _ in $(seq 100); do no_process_left "$1" >/dev/null && return; sleep 0.1; done
    no_process_left "$1"
}
check "grade: killed, no process is left" soon_no_process_left "$open/interrupted"
check "grade: the next one removes what a killed one left" env TMPDIR="$open/interrupted" "$learn" grade tests/submissions/not_started
check "grade: killed, no folder is left" nothing_left "$open/interrupted"
check "grade: killed, no control group is left" no_groups_left

# ---- Every solution: what an exercise needs is there in the sandbox ----

solutions() { # NAME FOLDER OPTION...: with this command in front ($before), all of it is right, however fast kernels are
    local out=$work/solutions.$1
    # shellcheck disable=SC2086  # several words
    $before "$learn" grade "$2" --jobs "$(nproc)" "${@:3}" >"$out" 2>&1 &&
        grep -q ' right ' "$out" && awk '$2 ~ /^[0-9K][0-9]_/ && $3 != "right" { bad = 1 } END { exit bad }' "$out" && return
    cat "$out"
    return 1
}
before=
check "grade: every solution is right in the sandbox" solutions all solutions

# ---- Kernels: on a device they are machine code in the process that runs them ----

# What they deserve, where there is a device; without one their speed is no part of the grade.
fakes() { # NAME: with this command in front ($before)
    local out=$work/fakes.$1 k
    # shellcheck disable=SC2086  # several words
    $before "$learn" grade "${folder%/*}/kernels_handed_in" --jobs 2 >"$out" 2>&1 || return
    for k in K1_vector_add K2_sum K5_norm; do tr -s ' ' <"$out" | grep -q "^faking $k wrong .* device" || { cat "$out"; return 1; }; done
}
if "$learn" test K1 --solution --work "$work/K1" | grep -q "of the solution's speed" && [ "$(uname -m)" = x86_64 ]; then
    device=yes
    check "grade: kernels that write the verdict, plant links, look for the solution get nothing" fakes as_we_are
else
    device=
    skip "grade: kernels that write the verdict" "there is no device, or it is no x86"
fi

# ---- With fewer rights ----

if [ "$(id -u)" -eq 0 ] && have setpriv; then
    # A copy that others can read, for this checkout may lie where they cannot.
    mkdir -p "$open/build/course"
    cp -r exercises solutions tests p2p dtype collectives ring trainer kernels "$open/"
    cp "$B/learn" "$B/launch" "$open/build/"
    [ ! -x "$B/bench/rate" ] || { mkdir "$open/build/bench" && cp "$B/bench/rate" "$open/build/bench/"; }
    cp -r "$B/course/obj" "$B"/course/*.a "$open/build/course/"
    chmod -R a+rX "$open"
    learn=$open/build/learn folder=$open/tests/submissions

    chown -R nobody "$open"
    grade ordinary_user setpriv --reuid nobody --regid nogroup --clear-groups
    the_wild ordinary_user setpriv --reuid nobody --regid nogroup --clear-groups
    check "grade, ordinary_user: it says that submissions run as the same user" grep -q "run as you" "$work/ordinary_user"
    before="setpriv --reuid nobody --regid nogroup --clear-groups"
    check "grade, ordinary_user: what needs more than others is right" solutions ordinary_user "$open/solutions" --exercise 00 --exercise 23 \
        --exercise 35 --exercise 36 --exercise 37 --exercise K1
    [ -z "$device" ] || check "grade, ordinary_user: kernels get nothing that they should not" fakes ordinary_user

    grade root_in_a_container setpriv --bounding-set=-sys_admin,-sys_resource --inh-caps=-sys_admin,-sys_resource
    the_wild root_in_a_container setpriv --bounding-set=-sys_admin,-sys_resource --inh-caps=-sys_admin,-sys_resource
    check "grade, root_in_a_container: it says first what is lacking" sh -c "head -n 1 '$work/root_in_a_container' | grep -q 'Missing here: .*namespaces of'"

    # shellcheck disable=SC2016
    grade nobody_in_a_container setpriv --reuid nobody --regid nogroup --clear-groups unshare --user --map-root-user sh -c \
        'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"' sh
    check "grade, nobody_in_a_container: it says first what is lacking" sh -c "head -n 1 '$work/nobody_in_a_container' | grep -q 'Missing here: .*namespaces of'"
else
    skip "grade: with fewer rights" "needs root and setpriv"
fi
