#!/bin/bash
# SPDX-License-Identifier: MIT
#
# course.sh: is the course sound, and would it be noticed if it were not? Then a few solutions, run again and again with
# ranks that are late at random; tests/long/course.sh does that with all of them.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
top=$PWD

check "the course is sound: stubs, solutions, mutants" "$B/learn" check-course

# A copy of the course that can be spoilt: what check-course reads is copied, the rest is the checkout's.
course=$work/course b=08_broadcast
fresh() {
    rm -rf "$course"
    mkdir -p "$course/tests" "$course/build/course"
    cp -r exercises solutions "$course"
    cp -r tests/exercises tests/mutants "$course/tests"
    for folder in p2p dtype collectives ring; do ln -s "$top/$folder" "$course/$folder"; done
    for part in "$B"/course/*.a "$B/course/obj"; do ln -s "$(realpath "$part")" "$course/build/course"; done
    ln -s "$(realpath "$B/launch")" "$course/build"
    cp "$B/learn" "$course/build"
    find "$course/tests/mutants/$b" -name '*.c' ! -name zeroes.c -delete # one is enough here
    (cd "$course" && build/learn cut all --write)
}

# noticed WORDS COMMAND: spoilt by the command, check-course of one exercise fails and says the words.
noticed() {
    fresh
    (cd "$course" && eval "$2") || return 1
    status 1 "$course/build/learn" check-course 08 >"$work/says"
    local got=$?
    [ $got -eq 0 ] && grep -q -F -- "$1" "$work/says" || { cat "$work/says"; echo "expected to see: $1"; return 1; }
}

# What check-course is made of: it is spoilt only when one of these has changed.
judges="tests/all/course.sh learn/*.[ch] learn/course/*.[ch] learn/check/*.[ch] exercises/check/check_choose.h"

noticing() { check "check-course notices $1" noticed "$2" "$3"; }

# The mutants of an exercise are one program, besides the stub's and the solution's; what cannot be a part of it, or crashes
# in it, concerns itself alone.
printf '#!/bin/bash\n[[ " $* " == *" -c "* ]] || echo >>"%s/links"\nexec %s "$@"\n' "$work" "${CC:-cc}" >"$work/cc"
chmod +x "$work/cc"
one_more() { # NAME WORDS SED: a mutant that expects these words
    { printf '// what: one more\n// expect: %s\n' "$2"; sed "1,4d; $3" zeroes.c; } >"$1.c"
}
odd() {
    one_more crashes "In line 11 of broadcast.c rank 0 uses a NULL pointer" 's/if (p2p_rank.*/*(char *)(bytes ? NULL : buf) = 0;/'
    one_more forbidden "Line 12 of broadcast.c uses coll_barrier" 's/P2P_OK/coll_barrier(comm)/; s/string.h/collectives\/collectives.h/'
    one_more lacks_it "There is no function my_broadcast" 's/my_broadcast/my_own/'
    one_more before_main "calls abort" "\$a void abort(void); __attribute__((constructor)) static void die(void) { abort(); }"
    echo 'int x' >not_c.c
}
unlinkable() {
    one_more unlinkable "There is no function nowhere" 's/return P2P_OK/p2p_err nowhere(void); return nowhere()/'
}
together() { # LINKS WORDS COMMAND
    fresh && cp "$top/tests/mutants/$b"/{counts_for_bytes,to_itself}.c "$course/tests/mutants/$b" && : >"$work/links"
    (cd "$course/tests/mutants/$b" && $3)
    (cd "$course" && CC=$work/cc build/learn check-course 08) >"$work/says"
    grep -q -F -- "$2" "$work/says" && [ "$(wc -l <"$work/links")" -eq "$1" ] && return
    cat "$work/says"
    echo "expected to see: $2, and $1 links, not $(wc -l <"$work/links")"
    return 1
}

check_that_it_notices() {
    fresh
    check "check-course has nothing against a fresh copy" "$course/build/learn" check-course 08
    noticing "a stub that was edited" "is not what is cut from the solution" "sed -i 's/TODO: the/TODO: a/' exercises/$b/broadcast.c"
    noticing "a stub that is the solution" "it has been started" "cp solutions/$b/*.c exercises/$b/"
    noticing "a missing stub" "is missing" "rm exercises/$b/broadcast.c"
    noticing "marks that do not match" "has no \"// END TODO\"" "sed -i '/END TODO/d' solutions/$b/broadcast.c"
    noticing "a solution without marks" "there is no \"// TODO\" in it" \
        "sed -i '/TODO\|stub:/d' solutions/$b/broadcast.c; cp solutions/$b/*.c exercises/$b/"
    noticing "a stub with a warning" "compiles with warnings" \
        "sed -i '/stub: (void)/d' solutions/$b/broadcast.c; build/learn cut 08 --write"
    noticing "a solution that is wrong" "does not pass" "sed -i 's/rank == root) continue/rank == 0) continue/' solutions/$b/broadcast.c"
    noticing "a mutant that survives" "survives" \
        "{ printf '// what: nothing\n// expect: anything\n'; cat solutions/$b/broadcast.c; } >tests/mutants/$b/right.c"
    noticing "a mutant that is killed with other words" "does not say \"out of the blue\"" \
        "sed -i '1a // expect: out of the blue' tests/mutants/$b/zeroes.c"
    noticing "a mutant that expects nothing" "has no \"// expect:\"" "sed -i '/expect:/d' tests/mutants/$b/zeroes.c"
    noticing "a mutant that does not say what it is" "has no \"// what:\"" "sed -i '/what:/d' tests/mutants/$b/zeroes.c"
    noticing "a mutant that does not compile" "because of the checker or the compiler" \
        "echo 'int x' >>tests/mutants/$b/zeroes.c; sed -i '1a // expect: compile' tests/mutants/$b/zeroes.c"
    noticing "no mutants" "there is no mutant" "rm tests/mutants/$b/*.c"
    noticing "a missing page" "README.md is missing" "rm exercises/$b/README.md"
    noticing "a missing hint" "has no [2]" "sed -i 's/^\[2\]/[two]/' tests/exercises/$b.hints"
    noticing "a stray file" "exercises/$b/notes.txt belongs to no exercise" "touch exercises/$b/notes.txt"
    noticing "a stray folder" "solutions/99_nothing belongs to no exercise" "mkdir solutions/99_nothing"
    noticing "a stray mutant" "tests/mutants/$b/zeroes.c~ belongs to no exercise" "touch tests/mutants/$b/zeroes.c~"
    noticing "a stray test" "tests/exercises/99_nothing.hints belongs to no exercise" "touch tests/exercises/99_nothing.hints"
    check "the mutants of an exercise are linked once" together 3 "3 of  3 mutants killed" :
    check "odd mutants do not concern the others" together 5 "7 of  8 mutants killed" odd
    check "a mutant that does not link does not concern the others" together 7 "4 of  4 mutants killed" unlinkable
    # shellcheck disable=SC2086  # a list of files
    [ "$failed" ] || keep_checked check-course $judges
}
# shellcheck disable=SC2086  # a list of files
if as_checked check-course $judges; then
    ok "check-course is as it was when it last noticed a spoilt course"
else
    check_that_it_notices
fi

for name in 03_deadlock 07_barrier 09_tree_broadcast 13_recursive_doubling 16_ring_all_reduce 26_sharded_parameters \
    30_one_f_one_b 32_experts 36_seven_mistakes; do
    check "10 runs of $name with random delays" "$B/learn" test $name --solution --runs 10 --delays
done

# Kernels that the tests find nothing against, on this machine's device: right and hundreds of times slower, and wrong.
kernel() { # SUM: of element i, in a kernel of K1
    cat >"$work/kernel.cl" <<END
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);
    float s = a[0];
    for (int k = 0; i < n && k < (n > 100000 ? 200 : 1); k++) s = s * 1.0000001f + 1e-9f * (k & 3);
    if (i < n) c[i] = $1;
}
END
}
rated() { # WORDS SUM
    kernel "$2"
    "$B/learn" test K1 --instead "$work/kernel.cl" --work "$work/built" | tr -s ' \n' ' ' >"$work/says"
    grep -E -- "$1" "$work/says" || { cat "$work/says"; echo "expected to see: $1"; return 1; }
}
if "$B/learn" test K1 --solution --work "$work/built" | grep -q "of the solution's speed"; then
    check "a kernel that is right and far too slow is passed, and gets little" \
        rated "K1_vector_add: passed.*[( ][0-9]%.*\(80% are enough\): [0-9]% of the points" "a[i] + b[i] + (s > 1e30f ? 1 : 0)"
    check "a kernel that is wrong on the device alone is told so" \
        rated "not yet.*on this machine's OpenCL device it is not: c.[0-9]+. is .*, and should be" "a[i] + b[i] + (n > 100000)"
else
    skip "kernels on a device" "there is none, or build/bench/rate is not built"
fi

# A checkout far down, and a build folder outside of it.
deep=$work/$(printf 'd%.0s' {1..200})/$(printf 'e%.0s' {1..200})/$(printf 'f%.0s' {1..200})/course
fresh && mkdir -p "$(dirname "$deep")" && cp -r "$course" "$deep"
check "the course works in a folder with a path of over 600 characters" sh -c "cd '$deep' && build/learn test 08 --solution"
cp -r "$course/build" "$work/elsewhere" && rm -r "$deep/build"
check "the course works with its build folder elsewhere" sh -c "cd '$deep' && '$work/elsewhere/learn' test 08 --solution"
