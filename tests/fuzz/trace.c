/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "replay/page.h"
#include "tests/fuzz/fuzz.h"

FUZZ(trace)
{
    char why[600];
    replay_trace trace;
    if (!replay_read_text((const char *)bytes, count, "it", &trace, why, sizeof why)) return 0;
    FILE *page = fopen("/dev/null", "we");
    if (page) replay_data(page, &trace);
    if (page) replay_sources(page, (const replay_trace *const[]){&trace}, 1, NULL);
    if (page) fclose(page);
    replay_free(&trace);
    return 0;
}
