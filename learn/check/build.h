/* SPDX-License-Identifier: MIT */
/* build: what the files that make a program of the learner's files share. */
#ifndef PAIRWISE_LEARN_BUILD_H
#define PAIRWISE_LEARN_BUILD_H

#include "learn/inside.h"

/* ---- tools.c: a command line that grows; words are owned ---- */

enum { LEARN_WORDS = 512 };

typedef struct {
    char *words[LEARN_WORDS];
    size_t count;
} learn_tool;

extern const double learn_tool_seconds; /* that a tool may take */

void learn_tool_add(learn_tool *t, const char *format, ...) __attribute__((format(printf, 2, 3))); /* one word */
void learn_tool_add_words(learn_tool *t, const char *words); /* with blanks between them */
void learn_tool_add_compiler(learn_tool *t);                 /* $CC, or cc */
void learn_tool_free(learn_tool *t);

/* Run it; the line is empty afterwards. confine is told `step`. Did it exit with 0? */
bool learn_tool_run(learn_tool *t, enum learn_step step, const learn_options *options, learn_spawned *done);

/* ---- run.c: the words that make a rank: the guard, if it is guarded, and the program that was linked ---- */

void learn_add_rank(learn_tool *t, const learn_options *o, const char *program, bool guarded);

/* ---- compile.c: the steps of learn_compile; objects are added to a line for the linker ---- */

/* The learner's files; a mutant stands in for the first. */
bool learn_compile_own(const learn_exercise *e, const char *folder, const char *work, const learn_options *o,
                       learn_tool *link, learn_result *result);

/* In an object: the calls that check_calls.c, check_collectives.c and check_memory.c stand in for. more: further words for
 * objcopy. */
bool learn_intercept(const char *object, const char *more, const learn_options *options);

/* The solutions of earlier exercises that this one uses. */
bool learn_compile_used(const learn_exercise *e, learn_tool *link, learn_result *result);
bool learn_link_program(const learn_exercise *e, const learn_tool *objects, const char *program,
                        const learn_options *options, learn_result *result);

/* ---- opencl.c: a text in OpenCL C as a C compiler reads it; path: what it is called in messages. Free it. ---- */

char *learn_opencl_to_c(const char *text, const char *path);

/* ---- symbols.c: the stacks in what ranks of that program printed get functions and lines ---- */

void learn_symbolize(learn_text *text, const char *program, const learn_options *o);

/* The line of this file that lies at a place in the program, counted from its beginning, or that it was inlined into; 0: none. */
int learn_line_of(unsigned long place, const char *file, const char *program, const learn_options *o);

/* ---- complaints.c: what the compiler and the linker said ---- */

/* This file of the learner's does not compile. */
void learn_does_not_compile(const learn_spawned *done, const char *file, learn_result *result);
void learn_does_not_link(const learn_spawned *done, learn_result *result);
void learn_note_warnings(learn_result *result, const char *said);

/* ---- elf.c: the symbols of an object file or a program ---- */

typedef struct {
    const char *name; /* lives as long as the call */
    size_t bytes;
    bool defined, function, global, writable; /* global: or weak; writable: a variable that is not const */
} learn_symbol;

typedef void learn_symbol_visit(void *arg, const learn_symbol *symbol);

/* Visit all that have a name. False if the file has no symbol table, or what is no symbol table; some may have been visited. */
bool learn_each_symbol(const char *path, learn_symbol_visit *visit, void *arg);

/* ---- allowed.c ---- */

/* Do the learner's objects use only what the exercise allows? If not, result says what, and where. */
bool learn_only_uses_allowed(const learn_exercise *e, const learn_options *o, const learn_tool *objects,
                             learn_result *result);

/* Is every function there that the test calls? It names them weakly, so the linker does not mind. */
bool learn_nothing_missing(const learn_exercise *e, const char *program, learn_result *result);

/* ---- uncounted.c ---- */

/* Where memory is counted: is what is not counted, static variables and arrays on the stack, small? */
bool learn_counts_all(const learn_exercise *e, const learn_tool *objects, learn_result *result);

#endif
