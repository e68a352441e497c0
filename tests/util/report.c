/* SPDX-License-Identifier: MIT */
#include "tests/util/report.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_text(const json_t *of, const char *key)
{
    return json_string_value(json_object_get(of, key)) != NULL;
}

static const char *text_of(const json_t *of, const char *key)
{
    return has_text(of, key) ? json_string_value(json_object_get(of, key)) : "";
}

static void put_ranks(FILE *to, const json_t *ranks)
{
    putc('[', to);
    for (size_t i = 0; i < json_array_size(ranks); i++)
        fprintf(to, "%s%lld", i ? "," : "", (long long)json_integer_value(json_array_get(ranks, i)));
    putc(']', to);
}

/* " tag 7"; null is any. */
static void put_number(FILE *to, const json_t *place, const char *key, const char *before, const char *after)
{
    const json_t *number = json_object_get(place, key);
    if (json_is_null(number)) fprintf(to, "%sany%s", before, after);
    if (json_is_integer(number)) fprintf(to, "%s%lld%s", before, (long long)json_integer_value(number), after);
}

static void put_place(FILE *to, const json_t *place)
{
    static const char *const texts[] = {"algorithm", "type", "operator", "state"};
    bool message = strcmp(text_of(place, "role"), "message") == 0;
    const char *file = text_of(place, "file"), *slash = strrchr(file, '/');
    put_number(to, place, "rank", "", "");
    fprintf(to, " %s", text_of(place, "role"));
    if (has_text(place, "call")) fprintf(to, " %s", text_of(place, "call"));
    put_number(to, place, "number", " #", "");
    if (*file) fprintf(to, " %s", slash ? slash + 1 : file);
    put_number(to, place, "line", *file ? ":" : " line ", "");
    put_number(to, place, "peer", message ? " from " : " peer ", "");
    put_number(to, place, "tag", " tag ", "");
    put_number(to, place, "bytes", " ", " bytes");
    put_number(to, place, "source", " source ", "");
    put_number(to, place, "count", " count ", "");
    put_number(to, place, "root", " root ", "");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (has_text(place, texts[i])) fprintf(to, " %s %s", texts[i], text_of(place, texts[i]));
    if (json_object_get(place, "waits_for")) fputs(" for ", to), put_ranks(to, json_object_get(place, "waits_for"));
    if (json_object_get(place, "waits_for_any"))
        fputs(" for any of ", to), put_ranks(to, json_object_get(place, "waits_for_any"));
    putc('\n', to);
}

static void put_finding(FILE *to, const json_t *finding)
{
    fputs(text_of(finding, "class"), to);
    if (has_text(finding, "reason")) fprintf(to, "/%s", text_of(finding, "reason"));
    if (has_text(finding, "argument")) fprintf(to, "/%s", text_of(finding, "argument"));
    putc(' ', to);
    put_ranks(to, json_object_get(finding, "ranks"));
    put_number(to, finding, "signal", " signal ", "");
    put_number(to, finding, "exit", " exit ", "");
    putc('\n', to);
    const json_t *places = json_object_get(finding, "places");
    for (size_t i = 0; i < json_array_size(places); i++) put_place(to, json_array_get(places, i));
}

static bool is_finding(const json_t *finding)
{
    return has_text(finding, "class") && has_text(finding, "text") &&
           json_is_array(json_object_get(finding, "ranks")) && json_is_array(json_object_get(finding, "places"));
}

static bool is_report(const json_t *all)
{
    const json_t *findings = json_object_get(all, "findings");
    if (json_integer_value(json_object_get(all, "version")) != 1 || !json_is_integer(json_object_get(all, "status")) ||
        !json_is_integer(json_object_get(all, "ranks")) || !json_is_array(findings))
        return false;
    for (size_t i = 0; i < json_array_size(findings); i++)
        if (!is_finding(json_array_get(findings, i))) return false;
    return true;
}

static char *lines_of(json_t *all, const json_error_t *error)
{
    char *lines = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&lines, &bytes);
    if (!to) return NULL;
    if (!all)
        fprintf(to, "no JSON: %s, line %d\n", error->text, error->line);
    else if (!is_report(all))
        fputs("no report\n", to);
    put_number(to, all, "status", "status ", "\n");
    const json_t *findings = json_object_get(all, "findings");
    for (size_t i = 0; i < json_array_size(findings); i++) put_finding(to, json_array_get(findings, i));
    fclose(to);
    json_decref(all);
    return lines;
}

char *report_lines(const char *path)
{
    json_error_t error;
    return lines_of(json_load_file(path, JSON_REJECT_DUPLICATES, &error), &error);
}

char *report_advice(const char *path)
{
    json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    const json_t *first = json_array_get(json_object_get(all, "findings"), 0);
    char *advice = has_text(first, "try") ? strdup(text_of(first, "try")) : NULL;
    json_decref(all);
    return advice;
}
