#!/bin/bash
# SPDX-License-Identifier: MIT
# sharding.sh: tests/all/sharding.sh with all numbers of ranks.
exec "$(dirname "$0")/../all/sharding.sh" WHOLE
