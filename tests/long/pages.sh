#!/bin/bash
# SPDX-License-Identifier: MIT
# pages.sh: tests/all/pages.sh for the page whose commands measure, some for half a minute.
exec "$(dirname "$0")/../all/pages.sh" docs/benches.md
