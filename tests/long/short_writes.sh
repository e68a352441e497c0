#!/bin/bash
# SPDX-License-Identifier: MIT
# short_writes.sh: tests/all/short_writes.sh with programs, the network, traces and training as well.
exec "$(dirname "$0")/../all/short_writes.sh" ONLY_WORLDS
