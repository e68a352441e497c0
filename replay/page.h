/* SPDX-License-Identifier: MIT */
/* page: the HTML page: what is always in it (replay/page/), and the traces as data. */
#ifndef PAIRWISE_REPLAY_PAGE_H
#define PAIRWISE_REPLAY_PAGE_H

#include <stdio.h>

#include "replay/trace.h"

/* Write the page for one or two traces; the second may be NULL. folder: where source files are looked for; NULL: here.
 * Returns how many files were left out that are there and must not be shown. Write errors are left to ferror. */
size_t replay_page(FILE *file, const replay_trace *mine, const replay_trace *reference, const char *title,
                   const char *folder);

/* ---- picture.c ---- */

/* A trace as an SVG. False if there is nothing to be seen in it. */
bool replay_picture(FILE *file, const replay_trace *trace, const char *title);

/* ---- data.c ---- */

/* A trace as one JSON object, short enough to travel in a page. */
void replay_data(FILE *file, const replay_trace *trace);

/* A text in quotes; nothing in it can end the script it stands in. */
void replay_put_text(FILE *file, const char *text);

/* ---- source.c ---- */

/* The lines that the traces name, and those around them: {"file": {"12": "text", ...}, ...}. Files that are not found
 * are left out, and those that are no sources (.c, .h, .py and the like, regular, up to 4 MiB) or whose name has ".."
 * in it or leads, links resolved, out of the folder: returns how many of the latter. */
size_t replay_sources(FILE *file, const replay_trace *const traces[], size_t count, const char *folder);

#endif
