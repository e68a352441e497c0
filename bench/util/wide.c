/* SPDX-License-Identifier: MIT */
#include "bench/util/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char further[] = "#     "; /* begins each line of a note behind its first */

int wide_columns(void)
{
    enum { USUAL = 80 };
    struct winsize size;
    const char *set = getenv("COLUMNS");
    int columns = set ? atoi(set) : 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) columns = size.ws_col;
    return columns > 0 ? columns : USUAL;
}

/* Up to the last blank that is within the width, and behind what the line begins with; all, if there is none. */
static size_t first_part(const char *line, size_t length, size_t width)
{
    size_t at = width < length ? width : length;
    if (at == length) return length;
    while (at > sizeof further && line[at] != ' ') at--;
    return at > sizeof further ? at : length;
}

static void print_note(const char *line, size_t length, size_t width)
{
    size_t part = first_part(line, length, width);
    printf("%.*s\n", (int)part, line);
    while (part < length) {
        line += part, length -= part;
        while (length && *line == ' ') line++, length--;
        part = length + sizeof further - 1 <= width ? length : first_part(line, length, width - (sizeof further - 1));
        printf("%s%.*s\n", further, (int)part, line);
    }
}

void wide_print(const char *text)
{
    size_t width = (size_t)wide_columns();
    for (const char *next; *text; text = next) {
        size_t length = strcspn(text, "\n");
        next = text + length + (text[length] == '\n');
        if (*text == '#' && length > width)
            print_note(text, length, width);
        else
            printf("%.*s\n", (int)length, text);
    }
}
