# SPDX-License-Identifier: MIT
"""schedules.py: what PyTorch's schedulers have in each of 1,000 steps, nine digits of it, for tests/trainer_recipes.c:

    python3 tests/trainer/schedules.py >tests/trainer/schedules.inc

Columns: CosineAnnealingLR(T_max=1000); OneCycleLR(max_lr=0.1, total_steps=1000), and its momentum;
MultiStepLR([300, 600, 900]); LinearLR(total_iters=100);
SequentialLR([LinearLR(total_iters=100), CosineAnnealingLR(900)], [100]);
ChainedScheduler([LinearLR(total_iters=100), MultiStepLR([300, 600, 900])]).
"""
import warnings

import torch
from torch.optim import lr_scheduler as lr

STEPS = 1000


def rates(make, key="lr"):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1, momentum=0.9)
    scheduler = make(optimizer)
    for step in range(1, STEPS + 1):
        yield optimizer.param_groups[0][key]
        optimizer.step()
        if step < STEPS:
            scheduler.step()


def warmed(optimizer):
    parts = [lr.LinearLR(optimizer, total_iters=100), lr.CosineAnnealingLR(optimizer, 900)]
    return lr.SequentialLR(optimizer, parts, [100])


def chained(optimizer):
    return lr.ChainedScheduler([lr.LinearLR(optimizer, total_iters=100), lr.MultiStepLR(optimizer, [300, 600, 900])])


def one_cycle(optimizer):
    return lr.OneCycleLR(optimizer, 0.1, total_steps=STEPS)


warnings.simplefilter("ignore")
columns = [
    rates(lambda o: lr.CosineAnnealingLR(o, STEPS)),
    rates(one_cycle),
    rates(one_cycle, "momentum"),
    rates(lambda o: lr.MultiStepLR(o, [300, 600, 900])),
    rates(lambda o: lr.LinearLR(o, total_iters=100)),
    rates(warmed),
    rates(chained),
]
print(f"/* SPDX-License-Identifier: MIT */\n/* PyTorch {torch.__version__.split('+')[0]}; made by schedules.py. */")
for row in zip(*columns):
    print("{" + ",".join(f"{x:.9g}" for x in row) + "},")
