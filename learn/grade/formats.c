/* SPDX-License-Identifier: MIT */
/*
 * Grades as JSON, and from that in the formats of others. What a submission printed ends up in them: whatever it is, the files
 * stay well-formed (UTF-8, no control characters, everything quoted), and a spreadsheet takes no cell for a formula.
 *
 * exercism: github.com/exercism/docs, building/tooling/test-runners/interface.md. Gradescope: the specifications page of its
 * autograder documentation. Autolab: docs/lab.md and docs/features/formatted-feedback.md there. JUnit has no standard; this
 * is what Jenkins' schema allows.
 */
#include "learn/grade/formats.h"

#include <math.h>
#include <string.h>

#include "learn/explain/autopsy.h"
#include "p2p/shared/json.h"

json_t *learn_json_text(const char *bytes, size_t most)
{
    OWNED_TEXT t = {0};
    const unsigned char *begin = (const unsigned char *)bytes;
    for (const unsigned char *at = begin; *at && (size_t)(at - begin) < most;) {
        size_t length = p2p__utf8_length(at);
        bool bad = !length || (*at < 0x20 && *at != '\t' && *at != '\n') || *at == 0x7f ||
                   (*at == 0xc2 && at[1] < 0xa0) || (*at == 0xef && at[1] == 0xbf && at[2] >= 0xbe);
        learn_add_bytes(&t, bad ? (const unsigned char *)"?" : at, bad ? 1 : length);
        at += length ? length : 1;
    }
    return json_string(learn_string(&t));
}

const json_t *learn_grade_at(const json_t *all, size_t i)
{
    return json_array_get(json_object_get(all, "grades"), i);
}

static double real_at(const json_t *g, const char *key)
{
    return json_number_value(json_object_get(g, key));
}

enum learn_verdict learn_verdict_of(const json_t *g)
{
    if (learn_field_is(g, "verdict", "right")) return LEARN_RIGHT;
    if (!learn_field_is(g, "verdict", "wrong")) return LEARN_SKIPPED;
    return learn_field_is(g, "kind", "compile") || learn_field_is(g, "kind", "link") ||
                   learn_field_is(g, "kind", "checker")
               ? LEARN_ERROR
               : LEARN_FAILURE;
}

typedef struct {
    size_t count, of[LEARN_SKIPPED + 1];
    double seconds;
} tally;

/* Of the grades from there on that are of one submission; of all, if it is NULL. */
static tally count_up(const json_t *all, size_t from, const char *submission)
{
    tally t = {0};
    const json_t *g;
    for (size_t i = from; (g = learn_grade_at(all, i)); i++) {
        if (submission && !learn_field_is(g, "submission", submission)) break;
        t.count++;
        t.of[learn_verdict_of(g)]++;
        t.seconds += real_at(g, "seconds");
    }
    return t;
}

/* ---- CSV and XML ---- */

/* quotes: pairs of a character and what is put in its place. */
static void add_quoted(learn_text *t, const char *text, const char *const quotes[][2])
{
    for (; *text; text++) {
        size_t i = 0;
        while (quotes[i][0] && *quotes[i][0] != *text) i++;
        if (quotes[i][0])
            learn_add(t, "%s", quotes[i][1]);
        else
            learn_add_bytes(t, text, 1);
    }
}

static void cell(learn_text *t, const char *text)
{
    static const char *const quotes[][2] = {{"\"", "\"\""}, {NULL, NULL}};
    learn_add(t, "%s\"", t->used && t->text[t->used - 1] != '\n' ? "," : "");
    if (*text && strchr("=+-@\t", *text)) learn_add(t, "'");
    add_quoted(t, text, quotes);
    learn_add(t, "\"");
}

char *learn_csv(const json_t *all)
{
    learn_text t = {0};
    const json_t *g;
    learn_add(&t, "submission,exercise,points,most,verdict,kind,reason,ran,seconds,seed\r\n");
    for (size_t i = 0; (g = learn_grade_at(all, i)); i++) {
        static const char *const texts[] = {"verdict", "kind", "reason", "ran"};
        cell(&t, learn_field(g, "submission"));
        cell(&t, learn_field(g, "exercise"));
        learn_add(&t, ",%g,%g", real_at(g, "points"), real_at(g, "most"));
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) cell(&t, learn_field(g, texts[k]));
        learn_add(&t, ",%.1f,%s\r\n", real_at(g, "seconds"), learn_field(all, "seed"));
    }
    return t.text;
}

/* The first two for attributes alone, of which they would be read as blanks. */
static const char *const in_xml[][2] = {{"\n", "&#10;"}, {"\t", "&#9;"},   {"&", "&amp;"}, {"<", "&lt;"},
                                        {">", "&gt;"},   {"\"", "&quot;"}, {NULL, NULL}};

static void attribute(learn_text *t, const char *name, const char *text)
{
    learn_add(t, " %s=\"", name);
    add_quoted(t, text, in_xml);
    learn_add(t, "\"");
}

static void junit_case(learn_text *t, const json_t *g)
{
    static const char *const kinds[] = {"", "failure", "error", "skipped"};
    enum learn_verdict verdict = learn_verdict_of(g);
    learn_add(t, "    <testcase");
    attribute(t, "name", learn_field(g, "exercise"));
    attribute(t, "classname", learn_field(g, "submission"));
    learn_add(t, " time=\"%.3f\">", real_at(g, "seconds"));
    if (verdict != LEARN_RIGHT) {
        learn_add(t, "<%s", kinds[verdict]);
        if (verdict != LEARN_SKIPPED) attribute(t, "type", learn_field(g, "kind"));
        attribute(t, "message", learn_field(g, "reason"));
        learn_add(t, ">");
        if (verdict != LEARN_SKIPPED) add_quoted(t, learn_field(g, "details"), in_xml + 2);
        learn_add(t, "</%s>", kinds[verdict]);
    }
    learn_add(t, "</testcase>\n");
}

char *learn_junit(const json_t *all)
{
    learn_text t = {0};
    const json_t *g;
    learn_add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"Pairwise exercises\">\n");
    for (size_t at = 0, end; (g = learn_grade_at(all, at)); at = end) {
        const char *submission = learn_field(g, "submission");
        const tally s = count_up(all, at, submission);
        learn_add(&t, "  <testsuite");
        attribute(&t, "name", submission);
        learn_add(&t, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n", s.count,
                  s.of[LEARN_FAILURE], s.of[LEARN_ERROR], s.of[LEARN_SKIPPED], s.seconds);
        learn_add(&t, "    <properties><property name=\"seed\" value=\"%s\"/></properties>\n",
                  learn_field(all, "seed"));
        end = at + s.count;
        for (size_t i = at; i < end; i++) junit_case(&t, learn_grade_at(all, i));
        learn_add(&t, "  </testsuite>\n");
    }
    learn_add(&t, "</testsuites>\n");
    return t.text;
}

/* ---- JSON of others ---- */

static json_t *test_name(const json_t *all, const json_t *g)
{
    if (json_integer_value(json_object_get(all, "submissions")) < 2) return json_string(learn_field(g, "exercise"));
    return json_sprintf("%s/%s", learn_field(g, "submission"), learn_field(g, "exercise"));
}

/* exercism shows 65,535 characters of a message at most. */
static json_t *message(const json_t *g)
{
    const char *details = learn_field(g, "details");
    return learn_json_text(*details ? details : learn_field(g, "reason"), 60000);
}

static char *dumped(json_t *json, size_t flags)
{
    char *text = json_dumps(json, flags);
    json_decref(json);
    return text ? text : learn_copy("");
}

char *learn_exercism(const json_t *all)
{
    static const char *const statuses[] = {"pass", "fail", "error", "fail"};
    const tally t = count_up(all, 0, NULL);
    bool broken = t.of[LEARN_ERROR] == t.count, right = t.of[LEARN_RIGHT] == t.count;
    json_t *tests = json_array();
    const json_t *g;
    for (size_t i = 0; (g = learn_grade_at(all, i)); i++) {
        const char *ran = learn_field(g, "ran");
        enum learn_verdict verdict = learn_verdict_of(g);
        json_t *test = json_pack("{so ss so ss}", "name", test_name(all, g), "status", statuses[verdict], "message",
                                 verdict == LEARN_RIGHT ? json_null() : message(g), "test_code",
                                 *ran ? ran : learn_field(g, "call"));
        json_t *number = json_object_get(g, "number");
        if (json_integer_value(number) > 0) json_object_set(test, "task_id", number);
        json_array_append_new(tests, test);
    }
    json_t *why = !t.count ? json_string("There is no exercise in this submission.")
                  : broken ? message(learn_grade_at(all, 0))
                           : json_null();
    return dumped(json_pack("{si ss so so}", "version", 3, "status",
                            statuses[broken  ? LEARN_ERROR
                                     : right ? LEARN_RIGHT
                                             : LEARN_FAILURE],
                            "message", why, "tests", tests),
                  JSON_INDENT(2));
}

char *learn_gradescope(const json_t *all)
{
    const tally t = count_up(all, 0, NULL);
    json_t *tests = json_array();
    const json_t *g;
    for (size_t i = 0; (g = learn_grade_at(all, i)); i++) {
        bool right = learn_verdict_of(g) == LEARN_RIGHT;
        json_array_append_new(
            tests, json_pack("{so so sO sO ss ss so s[s]}", "name", test_name(all, g), "number",
                             json_string(learn_field(g, "code")), "score", json_object_get(g, "points"), "max_score",
                             json_object_get(g, "most"), "status", right ? "passed" : "failed", "visibility", "visible",
                             "output", right ? json_string("") : message(g), "tags", learn_field(g, "verdict")));
    }
    json_t *results = json_pack("{sI ss ss s{ss} so}", "execution_time", (json_int_t)llround(t.seconds), "output",
                                learn_field(all, "conditions"), "stdout_visibility", "hidden", "extra_data", "seed",
                                learn_field(all, "seed"), "tests", tests);
    if (!t.count) json_object_set_new(results, "score", json_integer(0));
    return dumped(results, JSON_INDENT(2));
}

char *learn_autolab(const json_t *all)
{
    json_t *scores = json_object();
    const json_t *g;
    for (size_t i = 0; (g = learn_grade_at(all, i)); i++) {
        json_t *name = test_name(all, g);
        json_object_set(scores, json_string_value(name), json_object_get(g, "points"));
        json_decref(name);
    }
    return dumped(json_pack("{so}", "scores", scores), 0);
}

char *learn_all_grades(const json_t *all)
{
    return dumped(json_deep_copy(all), JSON_INDENT(2) | JSON_REAL_PRECISION(12));
}
