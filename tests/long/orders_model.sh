#!/bin/bash
# SPDX-License-Identifier: MIT
#
# orders_model.sh [PROGRAMS]: random MPI programs with polls, all orders of each against a model (orders_model.py); thousands take
# twenty minutes.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
check "orders of random programs with polls" python3 "$(dirname "$0")/orders_model.py" "$B" 1 "${1:-200}"
