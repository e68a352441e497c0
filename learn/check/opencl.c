/* SPDX-License-Identifier: MIT */
/*
 * OpenCL C for a C compiler: what macros (exercises/check/opencl.h) cannot do. No line is added or taken away.
 *
 *      __local float part[64];     stays; a variable of the group
 *      __local float *p            float *p
 *      (float4)(0.0f)              float4_of(0.0f)
 *      v.x, v.s3                   v[0], v[3]
 */
#include <ctype.h>
#include <string.h>

#include "learn/check/build.h"

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_word(const char *at, const char *word)
{
    return learn_has_prefix(at, word) && !in_word(at[strlen(word)]);
}

/* What is declared behind `__local`: a pointer, or memory? */
static bool is_pointer(const char *at)
{
    return at[strcspn(at, "*;,)=([{")] == '*';
}

/* "(float4) (" */
static size_t vector_cast(const char *at, char name[9])
{
    int end = 0;
    if (*at != '(' || sscanf(at, "(%8[a-z0-9]) %n", name, &end) != 1 || !end || at[end] != '(') return 0;
    return strspn(name + strcspn(name, "0123456789"), "0123456789") && learn_has_prefix(name, "float") ? (size_t)end
                                                                                                       : 0;
}

/* ".x", ".s3"; which component */
static size_t component(const char *at, int *number)
{
    static const char names[] = "xyzw", digits[] = "0123456789abcdef";
    bool numbered = at[1] == 's' || at[1] == 'S';
    char c = numbered ? (char)tolower((unsigned char)at[2]) : at[1];
    const char *found = c ? strchr(numbered ? digits : names, c) : NULL;
    size_t length = numbered ? 3 : 2;
    if (*at != '.' || !found || in_word(at[length])) return 0;
    *number = (int)(found - (numbered ? digits : names));
    return length;
}

/* Can a component follow what ends here? Not in 1.x; in v1.x, a[0].x, f().x. */
static bool ends_operand(const char *text, const char *end)
{
    const char *at = end;
    while (at > text && in_word(at[-1])) at--;
    return at < end ? !isdigit((unsigned char)*at) : at > text && strchr("])", at[-1]);
}

char *learn_opencl_to_c(const char *text, const char *path)
{
    learn_text t = {0};
    learn_add(&t, "#line 1 \"%s\"\n", path);
    for (const char *at = text; *at;) {
        char name[9], before = at > text ? at[-1] : ' ';
        int number = 0;
        size_t length = vector_cast(at, name);
        if (length) {
            learn_add(&t, "%s_of", name);
        } else if (!in_word(before) && (is_word(at, "__local") || is_word(at, "local")) && is_pointer(at)) {
            length = strcspn(at, " \t\n");
        } else if (*at == '.' && ends_operand(text, at) && (length = component(at, &number))) {
            learn_add(&t, "[%d]", number);
        } else {
            length = 1;
            learn_add_bytes(&t, at, 1);
        }
        at += length;
    }
    return t.text;
}
