/* SPDX-License-Identifier: MIT */
#include "tests/trainer/golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool golden_here(void)
{
    return access(GOLDEN_INIT, R_OK) == 0 && access(GOLDEN_FOLDER "/expected.json", R_OK) == 0 &&
           access(GOLDEN_DATA "/test_batch.bin", R_OK) == 0;
}

static char *whole_file(const char *path)
{
    size_t used = 0, room = 1 << 20;
    char *text = malloc(room);
    FILE *file = fopen(path, "re");
    if (file && text) used = fread(text, 1, room - 1, file);
    if (file) fclose(file);
    if (text) text[used] = '\0';
    return text;
}

/* Behind "name": in text. */
static const char *behind(const char *text, const char *name)
{
    char quoted[80];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = text ? strstr(text, quoted) : NULL;
    return at ? at + strlen(quoted) : NULL;
}

size_t golden_numbers(const char *section, const char *key, double *numbers, size_t room)
{
    char *text = whole_file(GOLDEN_FOLDER "/expected.json");
    const char *at = section ? behind(text, section) : text;
    size_t count = 0;
    int depth = 0;
    for (at = behind(at, key); at && *at && count < room;) {
        char *end;
        double value = strtod(at, &end);
        if (*at == '[') depth++;
        if (*at == ']' && --depth == 0) break;
        if (end != at && *at != ' ' && *at != '\n') numbers[count++] = value;
        at = end != at && *at != ' ' && *at != '\n' ? end : at + 1;
    }
    free(text);
    return count;
}

double golden_number(const char *section, const char *key, const char *name)
{
    char *text = whole_file(GOLDEN_FOLDER "/expected.json");
    const char *at = behind(behind(behind(text, section), key), name);
    double value = at ? strtod(at, NULL) : NAN;
    free(text);
    return value;
}
