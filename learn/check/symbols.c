/* SPDX-License-Identifier: MIT */
/*
 * Stacks that ranks print hold addresses; addr2line, which comes with every compiler, knows the functions and lines:
 *
 *      "    #3 0x5581  (build/course/work/08_broadcast/ranks+0x91d3)"
 *      "    #3 in my_broadcast broadcast.c:17"
 *
 * The sanitizers could do that themselves, but in each rank, slowly, and some by starting a process, which is forbidden.
 */
#include <stdlib.h>
#include <string.h>

#include "learn/check/build.h"

enum { MOST = LEARN_WORDS - 8 };

/* The address in our program that a line of a stack holds; NULL if it is another line or another program. */
static const char *address_in(const char *line, size_t length)
{
    static const char mark[] = "/ranks+0x";
    const char *found = strstr(line, mark), *number = strstr(line, " #");
    if (!found || found >= line + length || !number || number > found) return NULL;
    return found + strlen("/ranks+");
}

/* What addr2line said of one address: "0x91d3: take at p2p/message/recv.c:94", then " (inlined by) ..." lines. Each becomes a
 * frame of its own. Returns what comes after it. */
static const char *add_frames(learn_text *t, const char *before, int before_bytes, const char *said)
{
    bool first = true;
    while (*said && (first || strncmp(said, " (inlined by) ", 14) == 0)) {
        size_t length = strcspn(said, "\n");
        const char *name = first ? strstr(said, ": ") : said + 12, *at = name ? strstr(name, " at ") : NULL;
        if (at && at < said + length)
            learn_add(t, "%.*s in %.*s %.*s\n", before_bytes, before, (int)(at - name - 2), name + 2,
                      (int)(said + length - at - 4), at + 4);
        said = learn_next_line(said);
        first = false;
    }
    return said;
}

void learn_symbolize(learn_text *text, const char *program, const learn_options *o)
{
    learn_tool t = {.count = 0};
    OWNED_SPAWNED done = {0};
    learn_text better = {0};
    learn_tool_add_words(&t, "addr2line -a -f -i -p -e");
    learn_tool_add(&t, "%s", program);
    const size_t before = t.count;
    for (const char *at = learn_string(text); *at && t.count < MOST; at = learn_next_line(at)) {
        const char *address = address_in(at, strcspn(at, "\n"));
        if (address) learn_tool_add(&t, "%.*s", (int)strcspn(address, ")\n"), address);
    }
    if (t.count == before) {
        learn_tool_free(&t);
        return;
    }
    learn_tool_run(&t, LEARN_LINK, o, &done);
    const char *said = learn_string(&done.out), *next;
    for (const char *at = learn_string(text); *at; at = next) { /* the text again, with frames where addresses were */
        next = learn_next_line(at);
        const char *number = *said && address_in(at, strcspn(at, "\n")) ? strstr(at, " #") : NULL;
        if (number)
            said = add_frames(&better, at, (int)(number + 2 + strspn(number + 2, "0123456789") - at), said);
        else
            learn_add_bytes(&better, at, (size_t)(next - at));
    }
    learn_text_free(text);
    *text = better;
}

int learn_line_of(unsigned long place, const char *file, const char *program, const learn_options *o)
{
    learn_tool t = {.count = 0};
    OWNED_SPAWNED done = {0};
    size_t length = strlen(file);
    learn_tool_add_words(&t, "addr2line -i -s -e");
    learn_tool_add(&t, "%s", program);
    learn_tool_add(&t, "0x%lx", place);
    learn_tool_run(&t, LEARN_LINK, o, &done);
    for (const char *at = learn_string(&done.out); *at; at = learn_next_line(at))
        if (learn_has_prefix(at, file) && at[length] == ':') return atoi(at + length + 1);
    return 0;
}
