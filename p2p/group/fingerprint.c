/* SPDX-License-Identifier: MIT */
/* Fingerprints: what a rank thinks a collective is, as a number to compare (a hash) and in words for the case that they
 * differ. Making either costs more than a short collective may, so both are kept for the calls made last. */
#include "p2p/group/internal.h"

#include <string.h>

#include "p2p/shared/words.h"

/* ---- As a number ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++) hash = mix(hash, (unsigned char)*text);
    return mix(hash, 0x100);
}

static uint64_t hash_of(const p2p_fingerprint *what)
{
    uint64_t hash = mix_text(1, what->operation);
    hash = mix_text(hash, what->algorithm);
    hash = mix_text(hash, what->dtype);
    hash = mix_text(hash, what->op);
    return mix(mix(hash, what->count), (uint64_t)what->root);
}

static bool same_call(const p2p_fingerprint *a, const p2p_fingerprint *b)
{
    return a->operation == b->operation && a->algorithm == b->algorithm && a->count == b->count &&
           a->dtype == b->dtype && a->op == b->op && a->root == b->root;
}

static void know(p2p_known *known, const p2p_fingerprint *what, const char *file)
{
    *known = (p2p_known){*what, file, hash_of(what), {.shape = SHAPE_COLLECTIVE}};
    scoreboard_call *shown = &known->shown;
    p2p__copy_text(shown->name, sizeof shown->name, what->operation);
    p2p__copy_text(shown->file, sizeof shown->file, file);
    p2p__copy_text(shown->what.algorithm, sizeof shown->what.algorithm, what->algorithm);
    p2p__copy_text(shown->what.dtype, sizeof shown->what.dtype, what->dtype);
    p2p__copy_text(shown->what.op, sizeof shown->what.op, what->op);
    shown->what.count = what->count;
    shown->what.root = what->root;
}

/* Programs make a few calls in turn, again and again. */
void p2p__show_collective(p2p_engine *engine, const p2p_fingerprint *what, uint64_t number)
{
    scoreboard_call *call = &engine->row->call;
    uint64_t place = mix(mix(mix(1, (uintptr_t)what->operation), (uintptr_t)engine->call_file), what->count);
    p2p_known *known = &engine->known[place % KNOWN_CALLS];
    if (!known->hash || !same_call(what, &known->what) || engine->call_file != known->file)
        know(known, what, engine->call_file);
    engine->shown = known;
    call->number = number;
    call->what = known->shown.what;
}

/* ---- In words ---- */

static size_t word_of(uint32_t context, uint64_t number)
{
    return (context / 2 * SCOREBOARD_SLOTS + number % SCOREBOARD_SLOTS) % SCOREBOARD_WORDS;
}

scoreboard_call *p2p__words_place(p2p_engine *engine, uint32_t context, uint64_t in_lines)
{
    return &engine->row->words[word_of(context, in_lines)];
}

void p2p__put_words(const p2p_engine *engine, uint32_t context, uint64_t in_lines, uint64_t number,
                    scoreboard_call *words)
{
    *words = engine->shown->shown;
    words->context = context;
    words->number = number;
    words->in_lines = in_lines;
    words->line = engine->call_line;
}

/* ---- A difference ---- */

/* The first in which they differ; an algorithm may follow from all of them. */
static int class_of(const scoreboard_call *a, const scoreboard_call *b)
{
    if (strcmp(a->name, b->name) != 0) return CLASS_COLLECTIVE_MISMATCH;
    if (strcmp(a->what.dtype, b->what.dtype) != 0) return CLASS_TYPE_MISMATCH;
    if (strcmp(a->what.op, b->what.op) != 0) return CLASS_OPERATOR_MISMATCH;
    if (a->what.root != b->what.root) return CLASS_ROOT_MISMATCH;
    if (a->what.count != b->what.count) return CLASS_COUNT_MISMATCH;
    return strcmp(a->what.algorithm, b->what.algorithm) != 0 ? CLASS_ALGORITHM_MISMATCH : CLASS_COLLECTIVE_MISMATCH;
}

const char *p2p__difference(const scoreboard *b, const int ranks[2], const scoreboard_call calls[2], uint64_t in_lines,
                            p2p_finding *f, p2p_words *w)
{
    bool known = true; /* neither rank has said something else there since */
    for (int k = 0; k < 2; k++) known = known && calls[k].context == calls[0].context && calls[k].in_lines == in_lines;
    f->what = (p2p_diagnosis){.class = known ? class_of(&calls[0], &calls[1]) : CLASS_COLLECTIVE_MISMATCH};
    for (int k = 0; k < 2; k++) {
        const scoreboard_call unknown = {
            .shape = SHAPE_COLLECTIVE, .number = calls[k].number, .what = {.count = UINT64_MAX, .root = -1}};
        p2p__finding_add(f, ROLE_CALL, ranks[k], known ? &calls[k] : &unknown);
        p2p__set_add(&f->what.ranks, ranks[k]);
    }
    p2p__finding_hosts(b, f);
    return p2p__words_mismatch(w, f);
}

/* The lower rank first, so that the words do not depend on who noticed. */
void p2p__show_difference(p2p_engine *engine, int other, uint32_t context, uint64_t number)
{
    size_t i = word_of(context, number);
    const int ranks[] = {other < engine->rank ? other : engine->rank, other < engine->rank ? engine->rank : other};
    scoreboard_call calls[2];
    p2p_finding f = {.count = 0};
    p2p_words w = {.used = 0};
    for (int k = 0; k < 2; k++) {
        calls[k] = p2p__call_copy(&engine->scoreboard->rows[ranks[k]].words[i]);
        if (calls[k].context != context) calls[k].in_lines = 0;
    }
    const p2p_blame blame = {.advice = p2p__difference(engine->scoreboard, ranks, calls, number, &f, &w)};
    engine->drafts = 0;
    p2p__draft(engine, &f);
    p2p__publish(engine->row, engine->rank, &blame, NULL, w.text, engine->drafts);
}
