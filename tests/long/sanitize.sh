#!/bin/bash
# SPDX-License-Identifier: MIT
# sanitize.sh: tests/all/sanitize.sh with all of the sweeps.
exec "$(dirname "$0")/../all/sanitize.sh" WHOLE
