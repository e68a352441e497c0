#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tensorboard.py RUN... : metrics.jsonl of each run of build/train as a file that TensorBoard reads, beside it.

      scripts/tensorboard.py runs/a runs/b && tensorboard --logdir runs

Needs Python alone. What it writes are records of TensorFlow's (length, data, a checksum of each) with an Event in each, in
the encoding of protocol buffers: wall_time = 1, step = 2, summary = 5; in that value = 1; in that tag = 1, simple_value = 2.
A run that goes on is written anew: the file has always the same name.
"""
import json
import os
import struct
import sys

NAME = "events.out.tfevents.pairwise"
OF_STEPS = ("loss", "lr", "fwd_ms", "bwd_ms", "sync_ms", "opt_ms", "images_per_s")
OF_EPOCHS = ("accuracy", "train_loss", "test_loss", "epoch_ms", "eval_ms")


def crc_table():
    """CRC-32C (Castagnoli), a byte at a time."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def checksum(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + checksum(length) + data + checksum(data)


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def event(time, step, body):
    return record(b"\x09" + struct.pack("<d", time) + b"\x10" + varint(step) + body)


def scalar(tag, value):
    return field(5, field(1, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)))


def events_of(line, step, time):
    """Those of a line; its step: an epoch's is that of the last step before it."""
    is_step = "loss" in line
    step = line.get("step", step)
    names = [("train/", OF_STEPS), ("epoch/", OF_EPOCHS)][not is_step]
    values = [(names[0] + key, line[key]) for key in names[1] if isinstance(line.get(key), (int, float))]
    return step, b"".join(event(time, step, scalar(tag, value)) for tag, value in values)


def convert(run):
    source = os.path.join(run, "metrics.jsonl")
    with open(source) as metrics:
        lines = [json.loads(line) for line in metrics if line.strip()]
    time, step = os.path.getmtime(source), 0
    out = event(time, 0, field(3, b"brain.Event:2"))
    for line in lines:
        step, more = events_of(line, step, time)
        out += more
    target = os.path.join(run, NAME)
    with open(target + ".new", "wb") as file:
        file.write(out)
    os.replace(target + ".new", target)
    print(f"{target}: {len(lines)} lines; tensorboard --logdir {run}")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2
    for run in sys.argv[1:]:
        try:
            convert(run)
        except (OSError, ValueError) as error:
            print(f"tensorboard.py: {run}: {error}\n  try: the folder that build/train --out was given", file=sys.stderr)
            return 1
    return 0


sys.exit(main())
