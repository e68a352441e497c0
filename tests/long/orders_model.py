#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""orders_model.py BUILD SEED COUNT: random MPI programs with polls; what launch --explore sees in all their orders is what a model of
MPI allows, no more and no less. In the model a message that was sent may be seen by any poll from then on, and by all after one."""
import os, random, subprocess, sys, tempfile

build, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def program(rng, size):
    """In the order of one run that ends: nobody receives what was not sent before."""
    lists, waiting = [[] for _ in range(size)], {}
    for step in range(rng.randint(5, 9)):
        who = rng.randrange(size)
        other = rng.choice([q for q in range(size) if q != who])
        kind = rng.choice("sspppr")
        if kind == "r" and not waiting.get((other, who)):
            kind = "s"
        if kind == "s":
            waiting[other, who] = waiting.get((other, who), 0)
            waiting[who, other] = waiting.get((who, other), 0) + 1
        if kind == "r":
            waiting[other, who] -= 1
        lists[who].append(kind + str(other))
    for (source, to), left in sorted(waiting.items()):
        lists[to] += [f"r{source}"] * left
    for one in lists:  # from any source where all that comes is received at the end anyway
        tail = len(one)
        while tail and one[tail - 1][0] == "r":
            tail -= 1
        if rng.random() < 0.7:
            one[tail:] = ["ra"] * (len(one) - tail)
    return lists


def outcomes(lists):
    size, found, known = len(lists), set(), set()

    def go(places, sent, seen, told):
        state = (places, tuple(sorted(sent.items())), seen, told)
        if state in known:
            return
        known.add(state)
        if all(places[r] == len(lists[r]) for r in range(size)):
            found.add(" ".join(told))
            return
        for r in range(size):
            if places[r] == len(lists[r]):
                continue
            kind, peer = lists[r][places[r]]
            after = places[:r] + (places[r] + 1,) + places[r + 1:]
            say = lambda word: told[:r] + (told[r] + word,) + told[r + 1:]
            if kind == "s":
                go(after, {**sent, (r, int(peer)): sent.get((r, int(peer)), 0) + 1}, seen, told)
            elif kind == "p":
                way = (int(peer), r)
                if sent.get(way, 0):
                    go(after, sent, seen | {way}, say("y"))
                if way not in seen:
                    go(after, sent, seen, say("n"))
            else:
                for source in range(size) if peer == "a" else [int(peer)]:
                    way = (source, r)
                    if sent.get(way, 0):
                        go(after, {**sent, way: sent[way] - 1}, seen - {way}, say(str(source)))

    go((0,) * size, {}, frozenset(), ("",) * size)
    return found


bad = bounded = 0
for number in range(seed, seed + count):
    rng = random.Random(number)
    size = rng.choice([2, 3, 3])
    lists = program(rng, size)
    out = tempfile.mktemp()
    words = ["".join(one) or "-" for one in lists]
    run = subprocess.run([f"{build}/launch", "--explore=3000", "-n", str(size), f"{build}/tests/mpi/right/polls", *words],
                         env={**os.environ, "OUT": out}, capture_output=True, text=True)
    seen = {line.rstrip("\n") for line in open(out)} if os.path.exists(out) else set()
    if os.path.exists(out):
        os.remove(out)
    expected, limited = outcomes(lists), "bounded" in run.stdout or run.returncode == 3
    bounded += limited
    if run.returncode not in (0, 3) or not seen <= expected or (seen != expected and not limited):
        bad += 1
        print(f"program {number}: {' '.join(words)}: status {run.returncode}; seen only by the search: "
              f"{sorted(seen - expected)}; only by the model: {sorted(expected - seen)}")
print(f"{count} programs, {bounded} bounded, {bad} wrong")
sys.exit(bad > 0)
