#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch's side of the training comparison: the same three models, DistributedDataParallel over Gloo on CPUs.

    bench/peers/train_torch.py --model resnet34 --ranks 2 --batch 64 --steps 10

Prints one line when done: "images N seconds S", S from before the first step that counts to after the last, slowest rank.
What starting up, and compiling, takes is in --warmup steps before those (train.sh does that).
Needs python3-torch and python3-torchvision (Debian's packages). Images are the CIFAR-10 records of --data, or noise.
"""
import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torchvision


class Block(nn.Module):
    """Two 3x3 convolutions and a shortcut, which is a 1x1 convolution where shapes change."""

    def __init__(self, into, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(into, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or into != out:
            self.downsample = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + (self.downsample(x) if self.downsample else x))


def cifar_resnet20():
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    into = 16
    for width in (16, 32, 64):
        for i in range(3):
            layers.append(Block(into, width, 2 if width != 16 and i == 0 else 1))
            into = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def resnet18():
    model = torchvision.models.resnet18(num_classes=10)
    model.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.maxpool = nn.Identity()
    return model


MODELS = {
    "resnet20": cifar_resnet20,
    "resnet18": resnet18,
    "resnet34": lambda: torchvision.models.resnet34(num_classes=10),
}


def images_of(path, count):
    """(count, 3, 32, 32), normalised, and labels; CIFAR-10's binary records in file order, again from the start if few."""
    if not path:
        return torch.randn(count, 3, 32, 32), torch.randint(0, 10, (count,))
    names = sorted(n for n in os.listdir(path) if n.startswith("data_batch_") and n.endswith(".bin"))
    raw = b"".join(open(os.path.join(path, n), "rb").read() for n in names)
    records = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(-1, 3073)
    records = records[torch.arange(count) % len(records)]
    mean = torch.tensor([0.4914, 0.4822, 0.4465]).view(3, 1, 1)
    std = torch.tensor([0.2470, 0.2435, 0.2616]).view(3, 1, 1)
    return (records[:, 1:].reshape(-1, 3, 32, 32).float() / 255 - mean) / std, records[:, 0].long()


def rank_main(rank, args, seconds):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=args.ranks)
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    layout = torch.channels_last if args.channels_last else torch.contiguous_format
    model = MODELS[args.model]().to(memory_format=layout)
    if args.sync:
        model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=args.bucket_views)
    fused = {"fused": True} if args.fused else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2, **fused)
    if args.compile:
        model = torch.compile(model)
    images, labels = images_of(args.data, 4 * args.batch * args.ranks)
    images = images.to(memory_format=layout)
    images, labels = images[rank :: args.ranks], labels[rank :: args.ranks]
    for step in range(args.warmup + args.steps):
        if step == args.warmup:
            dist.barrier()
            begin = time.perf_counter()
        first = step % 4 * args.batch
        optimizer.zero_grad(set_to_none=True)
        out = model(images[first : first + args.batch])
        nn.functional.cross_entropy(out, labels[first : first + args.batch]).backward()
        optimizer.step()
    dist.barrier()
    if rank == 0:
        seconds.value = time.perf_counter() - begin
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(MODELS), default="resnet34")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64, help="images a rank and step")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=0, help="steps before that are not counted")
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--data", help="folder with CIFAR-10's data_batch_*.bin (default: noise)")
    parser.add_argument("--no-sync", dest="sync", action="store_false", help="without DistributedDataParallel")
    parser.add_argument("--fused", action="store_true", help="the fused AdamW (PyTorch 2.4 or newer, on CPUs)")
    parser.add_argument("--bucket-views", action="store_true", help="gradients lie in DistributedDataParallel's buckets")
    parser.add_argument("--channels-last", action="store_true", help="images and weights as NHWC")
    parser.add_argument("--compile", action="store_true", help="torch.compile (PyTorch 2.0 or newer)")
    parser.add_argument("--port", type=int, default=29511)
    args = parser.parse_args()
    seconds = mp.get_context("spawn").Value("d", 0.0)
    mp.spawn(rank_main, (args, seconds), nprocs=args.ranks)
    print(f"images {args.steps * args.batch * args.ranks} seconds {seconds.value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
