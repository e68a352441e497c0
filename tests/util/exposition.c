/* SPDX-License-Identifier: MIT */
/* After Prometheus, "Exposition formats", text format 0.0.4, and the rules of `promtool check metrics`. */
#include "tests/util/exposition.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAMILIES = 200, LONGEST = 200 };

/* Where in the text the checker is: the family whose samples come now, and the histogram whose buckets do. */
typedef struct {
    const char *text, *end, *at;
    int line;
    char families[MOST_FAMILIES][LONGEST], type[LONGEST];
    int family_count;
    bool has_type;
    char series[2 * LONGEST]; /* of the histogram: its labels without le */
    double limit, below;      /* of the last bucket */
    bool closed, summed;      /* +Inf has come; the sum */
} checker;

static char wrong[1000];

__attribute__((format(printf, 2, 3))) static bool fail(const checker *c, const char *format, ...)
{
    va_list args;
    int used = snprintf(wrong, sizeof wrong, "line %d: ", c->line);

    va_start(args, format);
    vsnprintf(wrong + used, sizeof wrong - (size_t)used, format, args);
    va_end(args);
    return false;
}

static size_t name_length(const char *at, bool colons)
{
    size_t length = 0;

    while (isalnum((unsigned char)at[length]) || at[length] == '_' || (colons && at[length] == ':')) length++;
    return isdigit((unsigned char)at[0]) ? 0 : length;
}

/* A name and the blank behind it. */
static bool take_name(checker *c, char name[LONGEST])
{
    size_t length = name_length(c->at, true);

    if (!length || length >= LONGEST) return fail(c, "no metric's name at \"%.20s\"", c->at);
    snprintf(name, LONGEST, "%.*s", (int)length, c->at);
    c->at += length;
    return true;
}

static const char *family_name(const checker *c)
{
    return c->families[c->family_count - 1];
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), last = strlen(end);

    return length >= last && strcmp(name + length - last, end) == 0;
}

/* A histogram that has begun is whole. */
static bool histogram_is_whole(checker *c)
{
    if (c->series[0]) return fail(c, "the histogram before, {%s}, has no count", c->series);
    return true;
}

/* ---- Comments ---- */

static bool begin_family(checker *c, const char *name)
{
    for (int i = 0; i < c->family_count; i++)
        if (strcmp(c->families[i], name) == 0) return fail(c, "the family %s comes twice", name);
    if (c->family_count == MOST_FAMILIES) return fail(c, "too many families for this checker");
    snprintf(c->families[c->family_count++], sizeof *c->families, "%s", name);
    c->has_type = false;
    return histogram_is_whole(c);
}

/* # HELP name text, with \\ and \n; then # TYPE name type. */
static bool check_comment(checker *c, const char *line_end)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    char name[LONGEST];
    bool known = false, help = strncmp(c->at, "# HELP ", 7) == 0;

    if (!help && strncmp(c->at, "# TYPE ", 7) != 0) return fail(c, "a comment that is no HELP and no TYPE");
    c->at += 7;
    if (!take_name(c, name)) return false;
    if (*c->at++ != ' ') return fail(c, "no blank behind the name");
    if (help) {
        for (; c->at < line_end; c->at++)
            if (*c->at == '\\' && *++c->at != '\\' && *c->at != 'n') return fail(c, "a wrong escape in the help");
        return begin_family(c, name);
    }
    if (!c->family_count || strcmp(family_name(c), name) != 0)
        return fail(c, "the type of %s comes without help", name);
    if (c->has_type) return fail(c, "a second type");
    snprintf(c->type, sizeof c->type, "%.*s", (int)(line_end - c->at), c->at);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) known |= strcmp(types[i], c->type) == 0;
    c->has_type = true;
    if (!known) return fail(c, "there is no type %s", c->type);
    if ((strcmp(c->type, "counter") == 0) != ends_with(name, "_total"))
        return fail(c, "%s: counters, and only those, end in _total", name);
    return true;
}

/* ---- Samples ---- */

/* A label, its value between quotes, in which \\, \" and \n are the only escapes. */
static bool check_label(checker *c, char *series, char *limit)
{
    size_t name = name_length(c->at, false);
    const char *label = c->at;
    bool is_limit = name == 2 && strncmp(label, "le", 2) == 0;

    if (!name || strncmp(label, "__", 2) == 0) return fail(c, "no label's name at \"%.20s\"", label);
    c->at += name;
    if (*c->at++ != '=' || *c->at++ != '"') return fail(c, "a label without =\"");
    const char *value = c->at;
    for (; *c->at != '"'; c->at++) {
        if ((unsigned char)*c->at < ' ' || (unsigned char)*c->at > '~') return fail(c, "a character that is not ASCII");
        if (*c->at == '\\' && !strchr("\\\"n", *++c->at)) return fail(c, "a wrong escape");
    }
    if (is_limit)
        snprintf(limit, LONGEST, "%.*s", (int)(c->at - value), value);
    else
        snprintf(series + strlen(series), LONGEST - strlen(series), "%.*s,", (int)(c->at - label + 1), label);
    c->at++;
    return true;
}

static bool check_labels(checker *c, char *series, char *limit)
{
    if (*c->at != '{') return true;
    do {
        c->at++;
        if (!check_label(c, series, limit)) return false;
    } while (*c->at == ',');
    return *c->at++ == '}' || fail(c, "labels without }");
}

static bool take_value(checker *c, const char *line_end, double *value)
{
    char *end;

    if (*c->at++ != ' ') return fail(c, "no blank before the value");
    *value = strtod(c->at, &end);
    if (end == c->at || end != line_end || isspace((unsigned char)*c->at))
        return fail(c, "no number, or more than one");
    bool sign = *c->at == '+' || *c->at == '-', special = isalpha((unsigned char)c->at[sign]); /* not as in 1e-05 */
    if (special && strncmp(c->at, "NaN\n", 4) != 0 && strncmp(c->at + 1, "Inf\n", 4) != 0)
        return fail(c, "a number that Go does not read");
    return true;
}

/* Of one set of labels: buckets, their limits growing, their counts not shrinking, up to +Inf; the sum; the count. */
static bool check_histogram(checker *c, const char *name, const char *series, const char *limit, double value)
{
    const char *part = name + strlen(family_name(c));
    double at = strtod(limit, NULL);

    if (strcmp(part, "_bucket") == 0) {
        if (!limit[0] || isnan(at)) return fail(c, "a bucket without a limit");
        if (!c->series[0]) {
            snprintf(c->series, sizeof c->series, "%s", series);
            c->limit = -INFINITY, c->below = 0, c->closed = c->summed = false;
        }
        if (strcmp(c->series, series) != 0) return fail(c, "{%s} inside of {%s}", series, c->series);
        if (at <= c->limit || value < c->below) return fail(c, "buckets are not in order");
        c->limit = at, c->below = value, c->closed = strcmp(limit, "+Inf") == 0;
        return true;
    }
    if (limit[0] || strcmp(c->series, series) != 0) return fail(c, "%s of no histogram", name);
    if (strcmp(part, "_sum") == 0) {
        c->summed = true;
        return true;
    }
    if (strcmp(part, "_count") != 0 || !c->closed || !c->summed) return fail(c, "%s: no +Inf, or no sum before", name);
    c->series[0] = 0;
    return value == c->below || fail(c, "the count is %g, the last bucket has %g", value, c->below);
}

static bool check_sample(checker *c, const char *line_end)
{
    const char *line = c->at;
    char name[LONGEST], series[LONGEST] = "", limit[LONGEST] = "", again[3 * LONGEST];
    double value = 0;

    if (!take_name(c, name) || !check_labels(c, series, limit)) return false;
    size_t length = (size_t)(c->at - line);
    if (!take_value(c, line_end, &value)) return false;
    if (!c->family_count || !c->has_type) return fail(c, "%s has no type", name);
    snprintf(again, sizeof again, "\n%.*s ", (int)length, line);
    if (strstr(line_end, again)) return fail(c, "%.*s comes twice", (int)length, line);
    if (strcmp(c->type, "histogram") == 0)
        return strncmp(name, family_name(c), strlen(family_name(c))) == 0
                   ? check_histogram(c, name, series, limit, value)
                   : fail(c, "%s is not of the family %s", name, family_name(c));
    if (strcmp(name, family_name(c)) != 0) return fail(c, "%s is not of the family %s", name, family_name(c));
    if (strcmp(c->type, "counter") == 0 && !(value >= 0 && isfinite(value))) return fail(c, "a counter of %g", value);
    return true;
}

const char *exposition_wrong(const char *text, size_t bytes)
{
    static checker c;

    c = (checker){.text = text, .end = text + bytes, .at = text};
    if (!bytes || text[bytes - 1] != '\n') return "the last line does not end";
    if (strlen(text) != bytes) return "there is a NUL in it";
    while (c.at < c.end) {
        const char *line_end = strchr(c.at, '\n');
        c.line++;
        if (*c.at == '#' ? !check_comment(&c, line_end) : !check_sample(&c, line_end)) return wrong;
        c.at = line_end + 1;
    }
    return histogram_is_whole(&c) ? NULL : wrong;
}

/* ---- What it says ---- */

double exposition_value(const char *text, const char *series)
{
    size_t length = strlen(series);

    for (const char *at = text; (at = strstr(at, series)); at += length)
        if ((at == text || at[-1] == '\n') && at[length] == ' ') return strtod(at + length, NULL);
    return NAN;
}

double exposition_sum(const char *text, const char *name)
{
    double sum = 0;
    size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, name)); at += length)
        if ((at == text || at[-1] == '\n') && at[length] == '{') sum += strtod(strchr(at, '}') + 1, NULL);
    return sum;
}
