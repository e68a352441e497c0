/* SPDX-License-Identifier: MIT */
/*
 * Grades in the formats of others. What a submission printed ends up in them: whatever it is, the files stay well-formed
 * (UTF-8, no control characters, everything quoted), and a spreadsheet takes no cell for a formula.
 *
 * exercism: github.com/exercism/docs, building/tooling/test-runners/interface.md. Gradescope: the specifications page of its
 * autograder documentation. Autolab: docs/lab.md and docs/features/formatted-feedback.md there. JUnit has no standard; this
 * is what Jenkins' schema allows.
 */
#include "learn/grade/formats.h"

#include <stdlib.h>
#include <string.h>

const char *learn_verdict_word(enum learn_verdict verdict)
{
    static const char *const words[] = {"right", "wrong", "not started", "not handed in"};
    return words[verdict];
}

/* ---- Characters ---- */

/* Bytes of the character that begins here in UTF-8, its number in *code; 0 if it is none. */
static size_t character(const unsigned char *at, unsigned *code)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *at < 0x80 ? 1 : (*at & 0xe0) == 0xc0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : (*at & 0xf8) == 0xf0 ? 4 : 0;
    if (length < 2) {
        *code = *at;
        return length;
    }
    *code = *at & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    bool half = *code >= 0xd800 && *code < 0xe000;
    return *code < least[length] || *code > 0x10ffff || half ? 0 : length;
}

/* Text as it is, but for what `quote` puts in the place of a character (NULL: nothing special); what is no character, or is
 * a control character other than tab and newline, becomes a question mark. */
static void add_quoted(learn_text *t, const char *text, const char *(*quote)(unsigned code))
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned code;
        size_t length = character(at, &code);
        bool bad = !length || (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7f && code < 0xa0) ||
                   code == 0xfffe || code == 0xffff;
        const char *instead = bad ? "?" : quote(code);
        if (instead)
            learn_add(t, "%s", instead);
        else
            learn_add_bytes(t, at, length);
        at += length ? length : 1;
    }
}

static const char *csv_quote(unsigned code)
{
    return code == '"' ? "\"\"" : NULL;
}

static const char *xml_quote(unsigned code)
{
    return code == '&' ? "&amp;" : code == '<' ? "&lt;" : code == '>' ? "&gt;" : code == '"' ? "&quot;" : NULL;
}

/* Tabs and newlines of an attribute would be read as blanks. */
static const char *attribute_quote(unsigned code)
{
    return code == '\n' ? "&#10;" : code == '\t' ? "&#9;" : xml_quote(code);
}

static const char *json_quote(unsigned code)
{
    return code == '"' ? "\\\"" : code == '\\' ? "\\\\" : code == '\n' ? "\\n" : code == '\t' ? "\\t" : NULL;
}

/* ---- CSV ---- */

static void cell(learn_text *t, const char *text)
{
    learn_add(t, "%s\"", t->used && t->text[t->used - 1] != '\n' ? "," : "");
    if (*text && strchr("=+-@\t", *text)) learn_add(t, "'");
    add_quoted(t, text, csv_quote);
    learn_add(t, "\"");
}

char *learn_csv(const learn_grades *grades)
{
    learn_text t = {0};
    learn_add(&t, "submission,exercise,points,most,verdict,kind,reason,ran,seconds,seed\r\n");
    for (size_t i = 0; i < grades->count; i++) {
        const learn_grade *g = &grades->grades[i];
        cell(&t, g->submission);
        cell(&t, g->e->name);
        learn_add(&t, ",%g,%g", g->points, g->most);
        cell(&t, learn_verdict_word(g->verdict));
        cell(&t, g->kind);
        cell(&t, g->reason);
        cell(&t, g->ran);
        learn_add(&t, ",%.1f,%llu\r\n", g->seconds, (unsigned long long)grades->seed);
    }
    return t.text;
}

/* ---- JUnit ---- */

static void attribute(learn_text *t, const char *name, const char *text)
{
    learn_add(t, " %s=\"", name);
    add_quoted(t, text, attribute_quote);
    learn_add(t, "\"");
}

/* What does not compile or cannot be run is an error there, what is wrong a failure. */
static bool is_error(const learn_grade *g)
{
    return g->verdict == LEARN_WRONG &&
           (strcmp(g->kind, "compile") == 0 || strcmp(g->kind, "link") == 0 || strcmp(g->kind, "checker") == 0);
}

static bool is_skipped(const learn_grade *g)
{
    return g->verdict == LEARN_UNTOUCHED || g->verdict == LEARN_MISSING;
}

static void junit_case(learn_text *t, const learn_grade *g)
{
    learn_add(t, "    <testcase");
    attribute(t, "name", g->e->name);
    attribute(t, "classname", g->submission);
    learn_add(t, " time=\"%.3f\"", g->seconds);
    if (g->verdict == LEARN_RIGHT) {
        learn_add(t, "/>\n");
    } else if (is_skipped(g)) {
        learn_add(t, "><skipped");
        attribute(t, "message", g->reason);
        learn_add(t, "/></testcase>\n");
    } else {
        const char *kind = is_error(g) ? "error" : "failure";
        learn_add(t, "><%s", kind);
        attribute(t, "type", g->kind);
        attribute(t, "message", g->reason);
        learn_add(t, ">");
        add_quoted(t, g->details, xml_quote);
        learn_add(t, "</%s></testcase>\n", kind);
    }
}

/* The grades from i on that are of one submission. */
static size_t end_of_submission(const learn_grades *grades, size_t i)
{
    size_t end = i;
    while (end < grades->count && strcmp(grades->grades[end].submission, grades->grades[i].submission) == 0) end++;
    return end;
}

static void junit_suite(learn_text *t, const learn_grades *grades, size_t from, size_t to)
{
    size_t failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
    for (size_t i = from; i < to; i++) {
        const learn_grade *g = &grades->grades[i];
        errors += is_error(g);
        failures += g->verdict == LEARN_WRONG && !is_error(g);
        skipped += is_skipped(g);
        seconds += g->seconds;
    }
    learn_add(t, "  <testsuite");
    attribute(t, "name", grades->grades[from].submission);
    learn_add(t, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n", to - from, failures,
              errors, skipped, seconds);
    learn_add(t, "    <properties><property name=\"seed\" value=\"%llu\"/></properties>\n",
              (unsigned long long)grades->seed);
    for (size_t i = from; i < to; i++) junit_case(t, &grades->grades[i]);
    learn_add(t, "  </testsuite>\n");
}

char *learn_junit(const learn_grades *grades)
{
    learn_text t = {0};
    learn_add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"Pairwise exercises\">\n");
    for (size_t i = 0; i < grades->count;) {
        size_t end = end_of_submission(grades, i);
        junit_suite(&t, grades, i, end);
        i = end;
    }
    learn_add(&t, "</testsuites>\n");
    return t.text;
}

/* ---- JSON ---- */

static void member(learn_text *t, const char *name, const char *text)
{
    learn_add(t, "\"%s\": \"", name);
    add_quoted(t, text, json_quote);
    learn_add(t, "\"");
}

static char *test_name(const learn_grades *grades, const learn_grade *g)
{
    return grades->submissions > 1 ? learn_format("%s/%s", g->submission, g->e->name) : learn_copy(g->e->name);
}

/* exercism shows 65,535 characters of a message at most. */
static char *message(const learn_grade *g)
{
    return learn_format("%.*s", 60000, *g->details ? g->details : g->reason);
}

static void exercism_test(learn_text *t, const learn_grades *grades, const learn_grade *g)
{
    char *name = test_name(grades, g), *text = message(g);
    learn_add(t, "    {");
    member(t, "name", name);
    learn_add(t, ", \"status\": \"%s\", ", g->verdict == LEARN_RIGHT ? "pass" : is_error(g) ? "error" : "fail");
    if (g->verdict == LEARN_RIGHT)
        learn_add(t, "\"message\": null, ");
    else
        member(t, "message", text), learn_add(t, ", ");
    member(t, "test_code", *g->ran ? g->ran : g->e->check->call);
    if (g->e->number > 0) learn_add(t, ", \"task_id\": %d", g->e->number);
    learn_add(t, "}");
    free(text);
    free(name);
}

static size_t count_verdict(const learn_grades *grades, bool (*is)(const learn_grade *g))
{
    size_t count = 0;
    for (size_t i = 0; i < grades->count; i++) count += is(&grades->grades[i]);
    return count;
}

static bool is_right(const learn_grade *g)
{
    return g->verdict == LEARN_RIGHT;
}

char *learn_exercism(const learn_grades *grades)
{
    learn_text t = {0};
    bool all_right = count_verdict(grades, is_right) == grades->count;
    bool all_errors = grades->count && count_verdict(grades, is_error) == grades->count;
    learn_add(&t, "{\n  \"version\": 3,\n  \"status\": \"%s\",\n  ",
              !grades->count || all_errors ? "error"
              : all_right                  ? "pass"
                                           : "fail");
    char *first = grades->count ? message(&grades->grades[0]) : learn_copy("There is no exercise in this submission.");
    if (all_errors || !grades->count)
        member(&t, "message", first);
    else
        learn_add(&t, "\"message\": null");
    learn_add(&t, ",\n  \"tests\": [\n");
    for (size_t i = 0; i < grades->count; i++) {
        exercism_test(&t, grades, &grades->grades[i]);
        learn_add(&t, "%s\n", i + 1 < grades->count ? "," : "");
    }
    learn_add(&t, "  ]\n}\n");
    free(first);
    return t.text;
}

static void gradescope_test(learn_text *t, const learn_grades *grades, const learn_grade *g)
{
    char *name = test_name(grades, g), *text = message(g);
    learn_add(t, "    {");
    member(t, "name", name);
    learn_add(
        t,
        ", \"number\": \"%02d\", \"score\": %g, \"max_score\": %g, \"status\": \"%s\", \"visibility\": \"visible\", ",
        g->e->number, g->points, g->most, g->verdict == LEARN_RIGHT ? "passed" : "failed");
    member(t, "output", g->verdict == LEARN_RIGHT ? "" : text);
    learn_add(t, ", \"tags\": [");
    learn_add(t, "\"%s\"", learn_verdict_word(g->verdict));
    learn_add(t, "]}");
    free(text);
    free(name);
}

char *learn_gradescope(const learn_grades *grades)
{
    learn_text t = {0};
    double seconds = 0;
    for (size_t i = 0; i < grades->count; i++) seconds += grades->grades[i].seconds;
    learn_add(&t, "{\n  \"execution_time\": %.0f,\n  ", seconds);
    member(&t, "output", grades->conditions);
    learn_add(&t, ",\n  \"stdout_visibility\": \"hidden\",\n  \"extra_data\": {\"seed\": \"%llu\"},\n",
              (unsigned long long)grades->seed);
    if (!grades->count) learn_add(&t, "  \"score\": 0,\n");
    learn_add(&t, "  \"tests\": [\n");
    for (size_t i = 0; i < grades->count; i++) {
        gradescope_test(&t, grades, &grades->grades[i]);
        learn_add(&t, "%s\n", i + 1 < grades->count ? "," : "");
    }
    learn_add(&t, "  ]\n}\n");
    return t.text;
}

char *learn_autolab(const learn_grades *grades)
{
    learn_text t = {0};
    learn_add(&t, "{\"scores\": {");
    for (size_t i = 0; i < grades->count; i++) {
        char *name = test_name(grades, &grades->grades[i]);
        learn_add(&t, "%s\"", i ? ", " : "");
        add_quoted(&t, name, json_quote);
        learn_add(&t, "\": %g", grades->grades[i].points);
        free(name);
    }
    learn_add(&t, "}}");
    return t.text;
}
