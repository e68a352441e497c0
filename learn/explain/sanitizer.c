/* SPDX-License-Identifier: MIT */
/* A report of AddressSanitizer or UndefinedBehaviorSanitizer, thirty lines, as one sentence with the learner's line in it. */
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

#define DIVISOR "Which number is 0 here? A count may be 0, and there may be fewer elements than ranks."

/* What it says, which kind of failure that is, what we say (after "Rank 2 "), and what we ask. %s: "writes" or "reads". */
typedef struct {
    const char *theirs, *key, *ours, *ask;
} kind;

static const kind kinds[] = {
    {"-buffer-overflow", "overrun", "%s beyond the end of a buffer", ""},
    {"-buffer-underflow", "overrun", "%s before the beginning of a buffer", ""},
    {"heap-use-after-free", "overrun.freed", "%s memory that has been freed", ""},
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
    {"", "crash", "breaks a rule of C", ""}, /* anything else */
};

static const kind *kind_of(const char *text)
{
    const kind *k = kinds;
    while (!strstr(text, k->theirs)) k++;
    return k;
}

/* The frames of one report: "    #2 0x5581 in p2p_recv p2p/message/recv.c:120". */
typedef struct {
    char place[128]; /* of the learner's innermost frame */
    char inside[64]; /* the Pairwise function it had called, or "" */
    char given[64];  /* or that of the test which the exercise gives it */
} stack;

/* dtype/reduce.c is not the learner's reduce.c. */
static bool is_own_file(const learn_exercise *e, const char *place)
{
    static const char *const folders[] = {"p2p", "dtype", "collectives", "ring", "exercises"};
    const char *base = basename(place);
    size_t before = base > place ? (size_t)(base - place) - 1 : 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if (before >= length && strncmp(place + before - length, folders[i], length) == 0) return false;
    }
    for (const char *const *file = e->check->files; *file; file++)
        if (learn_has_prefix(base, *file) && base[strlen(*file)] == ':') return true;
    return false;
}

/* The name by which a learner calls a function of the test: in stages.h stages_forward is `forward`. */
static void note_given(stack *s, const char *function, const char *place)
{
    const char *base = basename(place);
    size_t stem = strcspn(base, ".");
    if (!strstr(place, "tests/exercises/")) return;
    bool prefixed = strncmp(function, base, stem) == 0 && function[stem] == '_';
    snprintf(s->given, sizeof s->given, "%s", function + (prefixed ? stem + 1 : 0));
}

/* The first stack behind line `from`; it ends where frames end. */
static stack read_stack(const learn_remains *r, size_t from)
{
    static const char *const public[] = {"p2p_", "dtype_", "coll_", "ring_"};
    stack s = {.place = ""};
    bool begun = false;
    for (size_t i = from; i < r->count; i++) {
        char function[64], place[128] = "";
        int number;
        const char *text = r->lines[i].text;
        if (r->lines[i].rank != r->lines[from].rank) continue;
        if (sscanf(text, " #%d in %63s %127s", &number, function, place) < 2) {
            if (begun && i > from && !*text) break;
            continue;
        }
        begun = true;
        if (is_own_file(r->w->e, place)) {
            snprintf(s.place, sizeof s.place, "%s", basename(place));
            return s;
        }
        note_given(&s, function, place);
        for (size_t k = 0; k < sizeof public / sizeof *public && !strstr(function, "__"); k++)
            if (learn_has_prefix(function, public[k])) memcpy(s.inside, function, sizeof s.inside);
    }
    *s.given = '\0'; /* no line of the learner's has called it */
    return s;
}

/* What was read or written, and of what: "0x602000000050 is located 0 bytes to the right of 20-byte region". *size and
 * *region become the bytes of both, 0 where it does not say. */
static void add_access(learn_text *t, const kind *k, const learn_remains *r, size_t line, unsigned long *size,
                       unsigned long *region)
{
    int rank = r->lines[line].rank;
    size_t at = line, region_at = line, variable_at = line;
    const char *access = learn_find_line(r, rank, " of size ", &at),
               *bytes = learn_find_line(r, rank, "-byte region", &region_at),
               *variable = learn_find_line(r, rank, "<== Memory access at", &variable_at);
    bool writes = access && strstr(r->lines[at].text, "WRITE");
    learn_add(t, "%s%s", writes ? "writes" : "reads", k->ours + strlen("%s"));
    if (strstr(k->ours, "buffer") && bytes) {
        while (bytes > r->lines[region_at].text && bytes[-1] >= '0' && bytes[-1] <= '9') bytes--;
        if (sscanf(bytes, "%lu", region) == 1) learn_add(t, " of %lu byte%s", *region, *region == 1 ? "" : "s");
    } else if (strstr(k->ours, "buffer")) {
        const char *name = variable ? strchr(r->lines[variable_at].text, '\'') : NULL;
        if (name) learn_add(t, ", %.*s", (int)(strcspn(name + 1, "'")) + 2, name);
    }
    if (access && sscanf(access, " of size %lu", size) == 1)
        learn_add(t, " (%lu byte%s at once)", *size, *size == 1 ? "" : "s");
}

/* The learner's line that has allocated the buffer; 0: it is not the learner's. */
static int line_of_room(const learn_remains *r, size_t line)
{
    if (!learn_find_line(r, r->lines[line].rank, "allocated by thread", &line)) return 0;
    stack s = read_stack(r, line);
    const char *colon = strchr(s.place, ':');
    return colon ? atoi(colon + 1) : 0;
}

/* Of an overrun: where, and of a copy, in what way. */
static const char *key_of(const kind *k, const stack *s, int room, unsigned long size, unsigned long region)
{
    enum { ELEMENTS = 16 }; /* more than one */
    if (strcmp(k->key, "overrun") != 0) return k->key;
    if (*s->inside) return "overrun.call";
    if (room) return "overrun.room";
    if (*s->given) return "overrun.given";
    if (size <= ELEMENTS) return k->key;
    if (!region) return "overrun.variable";
    return size > region ? "overrun.long" : "overrun.place";
}

/* What was found in this line. Of undefined behaviour: "broadcast.c:12:9: runtime error: signed integer overflow: ..." */
static void say_finding(const learn_remains *r, size_t line, learn_result *result)
{
    int rank = r->lines[line].rank;
    const char *text = r->lines[line].text, *error = strstr(text, "runtime error: ");
    const kind *k = kind_of(error ? error + strlen("runtime error: ") : text);
    stack s = {.place = ""};
    unsigned long size = 0, region = 0;
    OWNED_TEXT broke = {0};
    if (error) {
        error += strlen("runtime error: ");
        const char *slash = strrchr(text, '/'), *place = slash && slash < error ? slash + 1 : text;
        snprintf(s.place, sizeof s.place, "%.*s", (int)(error - text), place);
    }
    if (!error || !is_own_file(r->w->e, s.place)) s = read_stack(r, line);
    learn_note_tools_line(result, r->w->e, s.place);
    if (result->line)
        learn_add(&broke, "In line %d of %s rank %d ", result->line, result->file, rank);
    else
        learn_add(&broke, "Rank %d ", rank);
    if (!error && learn_has_prefix(k->ours, "%s"))
        add_access(&broke, k, r, line, &size, &region);
    else
        learn_add(&broke, "%s", k->ours);
    if (error || !*k->theirs) learn_add(&broke, ": %s", error ? error : text);
    if (error) {
        learn_fail(result, k->key, "", "%s.%s%s", learn_string(&broke), *k->ask ? " " : "", k->ask);
        return;
    }
    int room = strstr(k->ours, "buffer") ? line_of_room(r, line) : 0;
    const char *key = key_of(k, &s, room, size, region);
    bool fits = strcmp(key, "overrun.place") == 0 && strstr(k->ours, "beyond");
    if (room) learn_add(&broke, ", which was allocated in line %d", room);
    if (*s.inside)
        learn_add(&broke, ", in %s", s.inside);
    else if (*s.given)
        learn_add(&broke, ", in %s, which is given", s.given);
    learn_fail(result, key, "", "%s.%s%s%s", learn_string(&broke), *k->ask ? " " : "", k->ask,
               fits ? " From its beginning on as many would fit." : "");
}

bool learn_say_sanitizer(const learn_remains *r, int dead, learn_result *result)
{
    static const char *const marks[] = {"ERROR: AddressSanitizer", "==AddressSanitizer: ",  "==AddressSanitizer ",
                                        "==check== a new process", "==check== a signal to", "mmap_limit_mb",
                                        "runtime error: "};
    for (int any = dead < 0; any < 2; any++)
        for (size_t i = 0; i < r->count; i++) {
            bool marked = false;
            for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
                marked |= strstr(r->lines[i].text, marks[k]) != NULL;
            if (!marked || r->lines[i].rank < 0 || (!any && r->lines[i].rank != dead)) continue;
            say_finding(r, i, result);
            return true;
        }
    return false;
}

bool learn_place_at(const learn_remains *r, size_t line, learn_result *result, char *place, size_t bytes)
{
    stack s = read_stack(r, line);
    s.place[strcspn(s.place, " ")] = '\0';
    learn_note_tools_line(result, r->w->e, s.place);
    snprintf(place, bytes, "%s", s.place);
    return *place;
}
