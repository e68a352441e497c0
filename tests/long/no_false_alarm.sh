#!/bin/bash
# SPDX-License-Identifier: MIT
# no_false_alarm.sh: the whole of tests/all/no_false_alarm.sh.
exec "$(dirname "$0")/../all/no_false_alarm.sh" "${1:-1000}"
