/* SPDX-License-Identifier: MIT */
/*
 * Submissions that are equal, comments and white space apart. It says nothing about who had it from whom, and nothing of two
 * that differ in a name. What is not begun is left out, and short files are often equal by chance: somebody has to look.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "learn/grade/grading.h"

/* What is left of a text without comments and white space. Quotes are not looked into: "//" in a string ends the line for both. */
static size_t strip(const char *text, size_t bytes, char *to)
{
    size_t used = 0;
    for (const char *at = text, *end = text + bytes; at < end;) {
        if (end - at > 1 && at[0] == '/' && at[1] == '/') {
            while (at < end && *at != '\n') at++;
        } else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
            for (at += 2; at < end && !(at[-1] == '*' && *at == '/'); at++) continue;
            at += at < end;
        } else {
            if (!isspace((unsigned char)*at)) to[used++] = *at;
            at++;
        }
    }
    return used;
}

/* Of all files of an exercise; 0: there are none. */
static uint64_t hash_of(const learn_submission *s, const learn_exercise *e)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->files[i].e != e || !learn_is_file_of(e, s->files[i].name)) continue;
        OWNED char *stripped = learn_memory(s->files[i].bytes + 1);
        hash ^= learn_hash(learn_hash(0, s->files[i].name, strlen(s->files[i].name)), stripped,
                           strip(s->files[i].text, s->files[i].bytes, stripped));
    }
    return hash;
}

/* Every set of equal ones is printed where its first one stands. */
static void print_alike(const learn_class *class, const learn_exercise *e, const bool begun[], bool *said)
{
    OWNED uint64_t *hashes = learn_memory(class->count * sizeof *hashes);
    for (size_t i = 0; i < class->count; i++) hashes[i] = begun[i] ? hash_of(&class->submissions[i], e) : 0;
    for (size_t i = 0; i < class->count; i++) {
        bool any = false;
        for (size_t k = i + 1; hashes[i] && k < class->count; k++) {
            if (hashes[k] != hashes[i]) continue;
            if (!*said)
                puts("\nequal, comments and white space apart (which may be chance, where there is little to write):");
            *said = true;
            if (!any) printf("  %s  ", e->code), learn_print_plain(class->submissions[i].name, 0, 40);
            any = true;
            fputs(", ", stdout), learn_print_plain(class->submissions[k].name, 0, 40);
            hashes[k] = 0;
        }
        if (any) putchar('\n');
    }
}

void learn_print_alike(const learn_class *class, const json_t *grades)
{
    OWNED bool *begun = learn_memory(class->count * sizeof *begun);
    bool said = false;
    const size_t all = json_array_size(json_object_get(grades, "grades"));
    for (const learn_exercise *e = learn_course(NULL); e->check && class->count > 1; e++) {
        size_t row = 0;
        for (size_t i = 0; i < all && row < class->count;
             i++) { /* the grades of one exercise are in the order of submissions */
            const json_t *g = learn_grade_at(grades, i);
            if (strcmp(json_string_value(json_object_get(g, "exercise")), e->name) != 0) continue;
            const char *verdict = json_string_value(json_object_get(g, "verdict"));
            begun[row++] = strcmp(verdict, "right") == 0 || strcmp(verdict, "wrong") == 0;
        }
        if (row == class->count) print_alike(class, e, begun, &said);
    }
}
