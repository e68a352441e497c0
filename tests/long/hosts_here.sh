#!/bin/bash
# SPDX-License-Identifier: MIT
# hosts_here.sh: tests/all/hosts.sh with two and with three hosts in each world.
exec "$(dirname "$0")/../all/hosts.sh" WHOLE
