# SPDX-License-Identifier: MIT
"""run.py BUILD FOLDER [PATTERN]: compiles the programs of gen.py in FOLDER and runs each in both worlds, with sends that may
be buffered and with --strict. Prints those that were missed, misnamed or accused. FLAGS: for the compiler (-g unless told);
JOBS: at once (2); WORLDS: socket,shm unless told."""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import time

BUILD, FOLDER = sys.argv[1:3]
PATTERN = sys.argv[3] if len(sys.argv) > 3 else '*'
FLAGS = os.environ.get('FLAGS', '-g').split()
MODES = [(world, strict) for world in os.environ.get('WORLDS', 'socket,shm').split(',') for strict in (False, True)]
SLOW = 15  # seconds


def environment(**more):
    env = dict(os.environ, **more)
    env['PATH'] = env['PATH'].replace('/usr/lib/ccache:', '')  # it loses line numbers
    return env


def judge(meta, strict, result, report):
    """What is wrong with a run, or ''."""
    _, classes, in_strict, buffered, marks = meta
    other = in_strict if strict else buffered
    want = (classes if other == '-' else other).split('|')
    try:
        with open(report, encoding='utf-8') as file:
            findings = json.load(file)['findings']
    except (OSError, ValueError) as error:
        return f'no report: {error}'
    got = [f['class'] for f in findings]
    said = f'got {got}, status {result.returncode}: {result.stderr[:400]}'
    if 'none' in want and not findings:
        return f'FALSE ALARM {said}' if result.returncode or 'pairwise:' in result.stderr else ''
    if not set(want) & set(got):
        return f'FALSE ALARM {said}' if want == ['none'] else f'MISSED {want}, {said}'
    lines = [place.get('line') for f in findings if f['class'] in want for place in f.get('places', [])]
    if marks and not set(lines) & {int(m) for m in marks.split(',')}:
        return f'LINE {marks} wanted, {lines} {said}'
    notes = all(f.get('note') for f in findings)
    return '' if bool(result.returncode) != notes else f'STATUS {result.returncode}'


def run(exe, meta, world, strict):
    report = f'{exe}.{world}.{strict}.json'
    command = [f'{BUILD}/launch', '-n', meta[0], '--report', report] + ['--strict'] * strict + [exe]
    began = time.time()
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                                env=environment(PAIRWISE_WORLD=world), errors='replace')
    except subprocess.TimeoutExpired:
        return 'HANGS'
    wrong = judge(meta, strict, result, report)
    if os.path.exists(report):
        os.remove(report)
    return wrong if time.time() - began < SLOW else f'SLOW {wrong}'


def try_program(source):
    with open(source, encoding='utf-8') as file:
        meta = file.read().split('//META ')[1].strip('\n').split('\t')
    exe = source[:-2]
    result = subprocess.run([f'{BUILD}/mpicc', *FLAGS, '-w', source, '-o', exe], capture_output=True, text=True,
                            env=environment())
    if result.returncode:
        return [f'does not compile: {result.stderr[:300]}']
    wrong = [(world, strict, run(exe, meta, world, strict)) for world, strict in MODES]
    os.remove(exe)
    return [f'{world}{" strict" * strict} {text}' for world, strict, text in wrong if text]


sources = sorted(glob.glob(f'{FOLDER}/{PATTERN}.c'))
bad = 0
with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS', '2'))) as executor:
    for source, texts in zip(sources, executor.map(try_program, sources)):
        bad += len(texts)
        for text in texts:
            print('##', os.path.basename(source), text, flush=True)
print(f'{len(sources)} programs, {bad} bad of {len(MODES) * len(sources)} runs')
sys.exit(bad > 0)
