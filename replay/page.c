/* SPDX-License-Identifier: MIT */
/*
 * Putting the page together. Its parts are files of their own in replay/page/, made part of this program by the
 * assembler; page.html says, in lines of their own, where the others belong.
 */
#include "replay/page.h"

#include <string.h>

#define PART(name, path)                         \
    __asm__(".section .rodata\n"                 \
            ".global replay__" #name "\n"        \
            "replay__" #name ":\n"               \
            ".incbin \"replay/page/" path "\"\n" \
            ".byte 0\n"                          \
            ".previous\n");                      \
    extern const char replay__##name[];

PART(page_html, "page.html")
PART(style_css, "style.css")
PART(model_js, "model.js")
PART(steps_js, "steps.js")
PART(buffers_js, "buffers.js")
PART(formulas_js, "formulas.js")
PART(compare_js, "compare.js")
PART(canvas_js, "canvas.js")
PART(diagram_js, "diagram.js")
PART(arrows_js, "arrows.js")
PART(chunks_js, "chunks.js")
PART(panels_js, "panels.js")
PART(ending_js, "ending.js")
PART(player_js, "player.js")
PART(selftest_js, "selftest.js")

static size_t put_data(FILE *file, const replay_trace *mine, const replay_trace *reference, const char *title,
                       const char *folder)
{
    const replay_trace *traces[] = {mine, reference};
    size_t count = reference ? 2 : 1;
    fputs("{\"title\":", file);
    replay_put_text(file, title);
    fputs(",\"traces\":[\n", file);
    for (size_t i = 0; i < count; i++) {
        if (i) fputs(",\n", file);
        replay_data(file, traces[i]);
    }
    fputs("],\n\"sources\":", file);
    size_t refused = replay_sources(file, traces, count, folder);
    fputs("}\n", file);
    return refused;
}

static void put_script(FILE *file)
{
    const char *const parts[] = {replay__model_js,   replay__steps_js,  replay__buffers_js, replay__formulas_js,
                                 replay__compare_js, replay__canvas_js, replay__diagram_js, replay__arrows_js,
                                 replay__chunks_js,  replay__panels_js, replay__ending_js,  replay__player_js,
                                 replay__selftest_js};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) fputs(parts[i], file);
}

size_t replay_page(FILE *file, const replay_trace *mine, const replay_trace *reference, const char *title,
                   const char *folder)
{
    size_t refused = 0;
    for (const char *line = replay__page_html, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        if (strncmp(line, "@style@", 7) == 0)
            fputs(replay__style_css, file);
        else if (strncmp(line, "@data@", 6) == 0)
            refused = put_data(file, mine, reference, title, folder);
        else if (strncmp(line, "@script@", 8) == 0)
            put_script(file);
        else
            fwrite(line, 1, (size_t)(next - line), file);
    }
    return refused;
}
