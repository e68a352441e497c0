/* SPDX-License-Identifier: MIT */
/* What the launcher found wrong in a world (docs/reports.md), field by field. */
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

const char *learn_field(const json_t *of, const char *key)
{
    const char *text = json_string_value(json_object_get(of, key));
    return text ? text : "";
}

bool learn_field_is(const json_t *of, const char *key, const char *value)
{
    return strcmp(learn_field(of, key), value) == 0;
}

int learn_field_number(const json_t *of, const char *key)
{
    const json_t *number = json_object_get(of, key);
    return json_is_integer(number) ? (int)json_integer_value(number) : -1;
}

const json_t *learn_place_with(const json_t *finding, const char *role)
{
    const json_t *place;
    for (size_t i = 0; (place = json_array_get(json_object_get(finding, "places"), i)); i++)
        if (learn_field_is(place, "role", role)) return place;
    return NULL;
}

bool learn_is_checkers(const json_t *place)
{
    const char *file = learn_field(place, "file"), *slash = strrchr(file, '/');
    return slash && strcmp(slash, "/check_rank.c") == 0;
}

void learn_add_call(learn_text *t, const json_t *place, bool with_line)
{
    learn_add(t, "%s", learn_field(place, "text"));
    if (with_line && *learn_field(place, "file"))
        learn_add(t, " at %s:%d", learn_field(place, "file"), learn_field_number(place, "line"));
}

void learn_note_line(learn_result *result, const learn_exercise *e, const char *path, int line)
{
    for (const char *const *file = e->check->files; *file; file++) {
        if (strcmp(basename(path), *file) != 0) continue;
        result->line = line;
        snprintf(result->file, sizeof result->file, "%s", *file);
    }
}

void learn_note_tools_line(learn_result *result, const learn_exercise *e, const char *place)
{
    size_t length = strcspn(place, ":");
    OWNED char *path = learn_format("%.*s", (int)length, place);
    if (place[length]) learn_note_line(result, e, path, atoi(place + length + 1));
}

void learn_note_place(learn_result *result, const learn_exercise *e, const json_t *place)
{
    learn_note_line(result, e, learn_field(place, "file"), learn_field_number(place, "line"));
}
