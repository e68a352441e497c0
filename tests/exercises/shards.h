/* SPDX-License-Identifier: MIT */
/*
 * shards: the cases of 12, and by which wrong rule a shard was taken from another place, or put to one. A rule is checked
 * against every element of all ranks before it is named.
 *
 *      both sides   shards_length_of, shards_begin_of; shards_function_of, shards_words_of
 *      in learn     shards_explain_by_rule
 */
#ifndef PAIRWISE_TESTS_EXERCISES_SHARDS_H
#define PAIRWISE_TESTS_EXERCISES_SHARDS_H

#include "tests/exercises/made_of.h"

/* ---- Both sides: a case is a way to cut, and a function ---- */

enum function { SCATTER, GATHER, GATHER_LAST_FIRST, GATHER_IN_A_ROW, FUNCTIONS };
enum cut { EVEN, GROWING, HOLES, ALL_LAST, CUTS };

static const char *const shards_words[CUTS] = {[EVEN] = "shards as even as can be",
                                               [GROWING] = "shards of 8, 9, 10, ... elements",
                                               [HOLES] = "every other shard is empty",
                                               [ALL_LAST] = "only the last rank's shard is not empty"};

static inline const char *shards_words_of(enum cut cut, enum function function)
{
    if (function == GATHER_IN_A_ROW) return "called twice in a row";
    if (function != GATHER_LAST_FIRST) return shards_words[cut];
    return cut == EVEN ? "shards as even as can be, the last rank comes first"
                       : "shards of 8, 9, 10, ... elements, the last rank comes first";
}

static inline enum function shards_function_of(const check_case *c)
{
    return (enum function)(c->variant % FUNCTIONS);
}

/* How many elements rank q's shard has. */
static inline size_t shards_length_of(const check_case *c, int q)
{
    size_t n = (size_t)c->ranks, place = (size_t)q;
    switch (c->variant / FUNCTIONS) {
    case GROWING: return place + 8; /* no length is half, a quarter or an eighth of another */
    case HOLES: return q % 2 ? 0 : 3;
    case ALL_LAST: return q == c->ranks - 1 ? c->count : 0;
    default: return c->count / n + (place < c->count % n ? 1 : 0);
    }
}

static inline size_t shards_begin_of(const check_case *c, int q)
{
    size_t begin = 0;
    for (int before = 0; before < q; before++) begin += shards_length_of(c, before);
    return begin;
}

/* ---- Where a shard is taken from or put to, by wrong rules ---- */

enum rule { WITHOUT_ROOTS, BY_ITS_COUNT, BY_COUNT_0, BEHIND, AT_THE_BEGINNING, RULES };

static const struct {
    const char *key, *words;
} shards_rules[RULES] = {
    [WITHOUT_ROOTS] = {"offset.own", "That is as if rank %d's own shard, the root's, had no place in the whole: the "
                                     "pointer did not move on past it."},
    [BY_ITS_COUNT] = {"offset.product",
                      "That is q * counts[q], with q = %d: right only if all shards are equally long."},
    [BY_COUNT_0] = {"offset.product", "That is q * counts[0], with q = %d: right only if all shards are equally long."},
    [BEHIND] = {"offset.behind", "That is behind rank %d's shard: the pointer was moved on too early."},
    [AT_THE_BEGINNING] = {"offset.still", "That is so for all shards, rank %d's too: the pointer never moves on."}};

static inline size_t shards_by_rule(const check_case *c, enum rule rule, int q)
{
    switch (rule) {
    case WITHOUT_ROOTS: return shards_begin_of(c, q) - (c->root < q ? shards_length_of(c, c->root) : 0);
    case BY_ITS_COUNT: return (size_t)q * shards_length_of(c, q);
    case BY_COUNT_0: return (size_t)q * shards_length_of(c, 0);
    case BEHIND: return shards_begin_of(c, q + 1);
    default: return 0;
    }
}

/* Whose shards follow the rule; the others lie where they belong. */
enum who { ROOT_ALONE, OTHERS, EVERYONE, WHO };

static inline size_t shards_place_by(const check_case *c, enum rule rule, int q, enum who who)
{
    bool follows = who == EVERYONE || (who == ROOT_ALONE) == (q == c->root);
    return follows ? shards_by_rule(c, rule, q) : shards_begin_of(c, q);
}

static inline bool shards_scattered_by(const check_case *c, enum rule rule, enum who who)
{
    for (int q = 0; q < c->ranks; q++) {
        size_t from = shards_place_by(c, rule, q, who);
        if (shards_length_of(c, q) && from + shards_length_of(c, q) > shards_begin_of(c, c->ranks)) return false;
        for (size_t i = 0; i < shards_length_of(c, q); i++)
            if (check_element(c, q, "shard", i) != check_value(c, c->root, from + i)) return false;
    }
    return true;
}

/* Who wrote an element of the whole last, if shards came in the order of their ranks, and where it stood in the shard. */
static inline double shards_gathered_by(const check_case *c, enum rule rule, enum who who, size_t index)
{
    for (int q = c->ranks - 1; q >= 0; q--) {
        size_t to = shards_place_by(c, rule, q, who);
        if (shards_length_of(c, q) && to + shards_length_of(c, q) > shards_begin_of(c, c->ranks))
            return NAN; /* beyond the end */
        if (index >= to && index < to + shards_length_of(c, q)) return check_value(c, q, index - to);
    }
    return 0;
}

/* Have all shards that are not the root's own come? */
static inline bool shards_came(const check_case *c)
{
    bool scatter = shards_function_of(c) == SCATTER;
    for (int q = 0; q < c->ranks; q++) {
        int to = scatter ? q : c->root, from = scatter ? c->root : q;
        if (q != c->root && shards_length_of(c, q) && !check_traffic(c, to, from).messages_received) return false;
    }
    return true;
}

static inline bool shards_placed_by(const check_case *c, enum rule rule, enum who who)
{
    if (!shards_came(c)) return false;
    if (shards_function_of(c) == SCATTER) return shards_scattered_by(c, rule, who);
    for (size_t i = 0; i < shards_begin_of(c, c->ranks); i++)
        if (check_element(c, c->root, "whole", i) != shards_gathered_by(c, rule, who, i)) return false;
    return true;
}

/* Does one of the rules explain all there is? */
static inline bool shards_explain_by_rule(const check_case *c)
{
    const char *what = shards_function_of(c) == SCATTER ? "was taken from" : "was put to";
    for (int i = 0; i < WHO * RULES; i++) {
        enum rule rule = (enum rule)(i % RULES);
        enum who who = (enum who)(i / RULES);
        int q = 0;
        if (!shards_placed_by(c, rule, who)) continue;
        while (q < c->ranks - 1 &&
               (!shards_length_of(c, q) || shards_place_by(c, rule, q, who) == shards_begin_of(c, q)))
            q++;
        char rest[200];
        bool still = rule == WITHOUT_ROOTS && shards_placed_by(c, AT_THE_BEGINNING, who);
        snprintf(rest, sizeof rest, shards_rules[rule].words, rule == WITHOUT_ROOTS ? c->root : q);
        if (still)
            snprintf(rest, sizeof rest,
                     "Either rank %d's own shard, the root's, was left out in counting, or all start at the beginning.",
                     c->root);
        return !check_fail(c,
                           who == ROOT_ALONE ? "offset.copy"
                           : still           ? "offset.either"
                                             : shards_rules[rule].key,
                           "Rank %d's shard %s element %zu of the whole; it begins at element %zu. %s", q, what,
                           shards_place_by(c, rule, q, who), shards_begin_of(c, q),
                           who == ROOT_ALONE ? "It is the root's own, and lies behind those of the ranks below it."
                                             : rest);
    }
    return false;
}

#endif
