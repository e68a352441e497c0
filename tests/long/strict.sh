#!/bin/bash
# SPDX-License-Identifier: MIT
# strict.sh: tests/all/strict.sh on up to 16 ranks.
exec "$(dirname "$0")/../all/strict.sh" 16
