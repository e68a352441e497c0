/* SPDX-License-Identifier: MIT */
/* A report of AddressSanitizer or UndefinedBehaviorSanitizer, thirty lines, as one sentence with the learner's line in it. */
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

#define DIVISOR "Which number is 0 here? A count may be 0, and there may be fewer elements than ranks."

/* What it says, which kind of failure that is, what we say (after "Rank 2 "), and what we ask. %s: "writes" or "reads". */
static const struct {
    const char *theirs, *key, *ours, *ask;
} kinds[] = {
    {"-buffer-overflow", "overrun", "%s beyond the end of a buffer", ""},
    {"-buffer-underflow", "overrun", "%s before the beginning of a buffer", ""},
    {"heap-use-after-free", "overrun", "%s memory that has been freed", ""},
    {"stack-use-after-return", "overrun", "%s a variable of a function that has returned", ""},
    {"stack-use-after-scope", "overrun", "%s a variable after the end of its block", ""},
    {"use-after-poison", "overrun", "%s memory that is not its own", ""},
    {"negative-size-param", "overrun", "copies a negative number of bytes", ""},
    {"param-overlap", "overrun", "copies between places that overlap", "memmove may do that, memcpy may not."},
    {"double-free", "crash", "frees the same memory twice", ""},
    {"attempting free on address which was not malloc", "crash", "frees memory that is not from malloc", ""},
    {"requested allocation size", "crash", "asks for more memory than a rank may have",
     "Is the size a negative number?"},
    {"calloc parameters overflow", "crash", "asks for more memory than there can be", "Is the size a negative number?"},
    {"mmap_limit_mb", "crash", "takes more memory than a rank may have",
     "Is there a malloc in a loop that never ends?"},
    {"failed to allocate", "checker", "gets no room for AddressSanitizer, which finds overruns",
     "Is memory limited here? ulimit -v unlimited."},
    {"out-of-memory", "crash", "takes more memory than there is", "Is there a malloc in a loop that never ends?"},
    {"stack-overflow", "crash", "fills its stack",
     "Does a function call itself without end, or is an array in it too large?"},
    {"FPE on", "crash", "divides by zero", DIVISOR},
    {"ABRT on", "crash", "calls abort", "Does an assert fail?"},
    {"BUS on", "crash", "uses a pointer that leads nowhere", "Was it ever set?"},
    {"SEGV on unknown address 0x00000000", "crash", "uses a NULL pointer", ""},
    {"SEGV on", "crash", "uses a pointer that leads nowhere", "Was it ever set?"},
    {"a signal to another process", "crash", "sends a signal to another process", "An exercise needs no kill."},
    {"a new process was asked for", "crash", "starts a process",
     "The ranks are all the processes that an exercise needs."},
    /* Undefined behaviour */
    {"null pointer", "crash", "uses a NULL pointer", ""},
    {"division by zero", "crash", "divides by zero", DIVISOR},
    {"signed integer overflow", "overflow", "breaks a rule of C", "Count elements and bytes in size_t."},
    {"out of bounds for type", "overrun.index", "uses an index that its array has not", ""},
    {"misaligned", "misaligned", "uses a pointer that does not lie where its type may lie",
     "A pointer to char counts bytes: element i lies i * dtype_size(dtype) bytes further on."},
    {"insufficient space", "overrun", "uses memory beyond the end of an object", ""},
};

static const int kinds_count = sizeof kinds / sizeof *kinds;

static int kind_of(const char *text)
{
    int i = 0;
    while (i < kinds_count && !strstr(text, kinds[i].theirs)) i++;
    return i;
}

/* The frames of one report: "    #2 0x5581 in p2p_recv p2p/message/recv.c:120". */
typedef struct {
    char function[64], place[128]; /* of the learner's innermost frame */
    char inside[64];               /* the Pairwise function it had called, or "" */
} stack;

/* dtype/reduce.c is not the learner's reduce.c. */
static bool in_our_folder(const char *place, const char *slash)
{
    static const char *const folders[] = {"p2p", "dtype", "collectives", "ring", "exercises"};
    for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if ((size_t)(slash - place) >= length && strncmp(slash - length, folders[i], length) == 0) return true;
    }
    return false;
}

static bool is_own_file(const learn_exercise *e, const char *place)
{
    const char *slash = strrchr(place, '/'), *base = slash ? slash + 1 : place;
    if (in_our_folder(place, slash)) return false;
    for (const char *const *file = e->check->files; *file; file++)
        if (strncmp(base, *file, strlen(*file)) == 0 && base[strlen(*file)] == ':') return true;
    return false;
}

static bool is_public(const char *function)
{
    return (strncmp(function, "p2p_", 4) == 0 || strncmp(function, "dtype_", 6) == 0 ||
            strncmp(function, "coll_", 5) == 0 || strncmp(function, "ring_", 5) == 0) &&
           !strstr(function, "__");
}

static bool read_frame(const char *text, char *function, char *place)
{
    int number;
    place[0] = '\0';
    return sscanf(text, " #%d in %63s %127s", &number, function, place) >= 2;
}

/* The first stack behind line `from`; it ends where frames end. */
static stack read_stack(const learn_remains *r, size_t from)
{
    stack s = {.function = ""};
    bool begun = false;
    int rank = r->lines[from].rank;
    for (size_t i = from; i < r->count; i++) {
        char function[64], place[128];
        if (r->lines[i].rank != rank) continue;
        if (!read_frame(r->lines[i].text, function, place)) {
            if (begun && i > from && !*r->lines[i].text) break;
            continue;
        }
        begun = true;
        if (is_own_file(r->w->e, place)) {
            memcpy(s.function, function, sizeof s.function);
            const char *slash = strrchr(place, '/');
            snprintf(s.place, sizeof s.place, "%s", slash ? slash + 1 : place);
            return s;
        }
        if (is_public(function)) memcpy(s.inside, function, sizeof s.inside);
    }
    return s;
}

static void add_where(learn_text *t, const stack *s, learn_result *result, const learn_exercise *e, int rank)
{
    learn_note_tools_line(result, e, s->place);
    if (result->line)
        learn_add(t, "In line %d of %s rank %d ", result->line, result->file, rank);
    else
        learn_add(t, "Rank %d ", rank);
}

/* "0x602000000050 is located 0 bytes to the right of 20-byte region" */
static void add_region(learn_text *t, const learn_remains *r, size_t from, int rank)
{
    size_t i = from;
    unsigned long size;
    const char *region = learn_find_line(r, rank, "-byte region", &i);
    if (region) {
        while (region > r->lines[i].text && region[-1] >= '0' && region[-1] <= '9') region--;
        if (sscanf(region, "%lu", &size) == 1) learn_add(t, " of %lu byte%s", size, size == 1 ? "" : "s");
        return;
    }
    i = from;
    const char *variable = learn_find_line(r, rank, "<== Memory access at", &i);
    const char *name = variable ? strchr(r->lines[i].text, '\'') : NULL;
    if (name) learn_add(t, ", %.*s", (int)(strcspn(name + 1, "'")) + 2, name);
}

static void add_access(learn_text *t, int kind, const learn_remains *r, size_t from, int rank)
{
    size_t i = from;
    unsigned long size = 0;
    const char *access = learn_find_line(r, rank, " of size ", &i), *ours = kinds[kind].ours;
    bool writes = access && strstr(r->lines[i].text, "WRITE");
    if (!strstr(ours, "%s")) {
        learn_add(t, "%s", ours);
        return;
    }
    learn_add(t, "%s%s", writes ? "writes" : "reads", ours + strlen("%s"));
    if (strstr(ours, "buffer")) add_region(t, r, from, rank);
    if (access && sscanf(access, " of size %lu", &size) == 1)
        learn_add(t, " (%lu byte%s at once)", size, size == 1 ? "" : "s");
}

static void add_question(learn_text *t, int kind)
{
    if (kind < kinds_count && *kinds[kind].ask) learn_add(t, " %s", kinds[kind].ask);
}

static bool say_address(const learn_remains *r, size_t line, learn_result *result)
{
    int rank = r->lines[line].rank, kind = kind_of(r->lines[line].text);
    stack s = read_stack(r, line);
    learn_text broke = {0};
    add_where(&broke, &s, result, r->w->e, rank);
    if (kind < kinds_count)
        add_access(&broke, kind, r, line, rank);
    else
        learn_add(&broke, "breaks a rule of C: %s", r->lines[line].text);
    if (*s.inside) learn_add(&broke, ", in %s", s.inside);
    learn_add(&broke, ".");
    add_question(&broke, kind);
    learn_fail(result, kind < kinds_count ? kinds[kind].key : "crash", "", "%s", learn_string(&broke));
    learn_text_free(&broke);
    return true;
}

/* broadcast.c:12:9: runtime error: signed integer overflow: ... */
static bool say_undefined(const learn_remains *r, size_t line, learn_result *result)
{
    const char *text = r->lines[line].text, *error = strstr(text, "runtime error: ") + strlen("runtime error: ");
    stack s = {.function = ""};
    const char *slash = strrchr(text, '/');
    int kind = kind_of(error);
    snprintf(s.place, sizeof s.place, "%.*s", (int)(error - text), slash && slash < error ? slash + 1 : text);
    if (!is_own_file(r->w->e, s.place)) s = read_stack(r, line);
    learn_text broke = {0};
    add_where(&broke, &s, result, r->w->e, r->lines[line].rank);
    learn_add(&broke, "%s: %s.", kind < kinds_count ? kinds[kind].ours : "breaks a rule of C", error);
    add_question(&broke, kind);
    learn_fail(result, kind < kinds_count ? kinds[kind].key : "crash", "", "%s", learn_string(&broke));
    learn_text_free(&broke);
    return true;
}

static bool say_report_of(const learn_remains *r, int rank, learn_result *result)
{
    for (size_t i = 0; i < r->count; i++) {
        const char *text = r->lines[i].text;
        if (r->lines[i].rank < 0 || (rank >= 0 && r->lines[i].rank != rank)) continue;
        if (strstr(text, "ERROR: AddressSanitizer") || strstr(text, "==AddressSanitizer: ") ||
            strstr(text, "==AddressSanitizer ") || strstr(text, "==check== a new process") ||
            strstr(text, "==check== a signal to") || strstr(text, "mmap_limit_mb"))
            return say_address(r, i, result);
        if (strstr(text, "runtime error: ")) return say_undefined(r, i, result);
    }
    return false;
}

bool learn_say_sanitizer(const learn_remains *r, int dead, learn_result *result)
{
    return (dead >= 0 && say_report_of(r, dead, result)) || say_report_of(r, -1, result);
}

bool learn_place_of(const learn_remains *r, int rank, const char *mark, learn_result *result, char *place, size_t bytes)
{
    size_t line = 0;
    return learn_find_line(r, rank, mark, &line) && learn_place_at(r, line, result, place, bytes);
}

bool learn_place_at(const learn_remains *r, size_t line, learn_result *result, char *place, size_t bytes)
{
    stack s = read_stack(r, line);
    s.place[strcspn(s.place, " ")] = '\0';
    learn_note_tools_line(result, r->w->e, s.place);
    snprintf(place, bytes, "%s", s.place);
    return *place;
}
