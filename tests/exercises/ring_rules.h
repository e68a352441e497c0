/* SPDX-License-Identifier: MIT */
/*
 * ring_rules: which chunk a rank sends in a step of the ring, and to which chunk what comes belongs: for the tests of 14 and 15.
 * Steps and direction are known from what was sent. For the two numbers the rules that learners write are run through, on
 * paper: a wrong one is named if it leads to all that every rank has, and no other does.
 *
 *      chunk = of_rank * r + of_step * s + plus, counted round the ring
 *
 *      in learn     ring_rules_explain
 */
#ifndef PAIRWISE_TESTS_EXERCISES_RING_RULES_H
#define PAIRWISE_TESTS_EXERCISES_RING_RULES_H

#include "tests/exercises/ring_contract.h"

enum { RING_RULES_RANKS = 5, RING_RULES = 30, RING_LOOK = 3 };

typedef struct {
    int of_rank, of_step, plus;
} ring_rule;

/* How a lap went: what is sent in a step, where what comes is put, and whether that is added. */
typedef struct {
    ring_rule out, in;
    bool adds, stale; /* stale: always sent as it was in the beginning */
    int steps, right; /* 1: each sends to its right-hand neighbour, -1: to the left */
} ring_lap;

/* What stands at each place of each rank: so many times what rank q had in chunk k. */
typedef struct {
    double of[RING_RULES_RANKS][RING_RULES_RANKS][RING_RULES_RANKS][RING_RULES_RANKS]; /* rank, place, q, k */
} ring_paper;

static inline ring_rule ring_rule_number(int i)
{
    return (ring_rule){.of_rank = 1 - i / 15, .of_step = i / 5 % 3 - 1, .plus = 2 - i % 5};
}

static inline int ring_chunk_by(ring_rule rule, int r, int s, int n)
{
    int chunk = (rule.of_rank * r + rule.of_step * s + rule.plus) % n;
    return chunk < 0 ? chunk + n : chunk;
}

static inline void ring_step_on_paper(ring_paper *paper, const ring_paper *sent, const ring_lap *lap, int s, int n)
{
    const ring_paper before = *paper, from_here = *sent;
    for (int r = 0; r < n; r++) {
        int from = (r - lap->right + n) % n, out = ring_chunk_by(lap->out, from, s, n),
            in = ring_chunk_by(lap->in, r, s, n);
        for (int q = 0; q < n; q++)
            for (int k = 0; k < n; k++)
                paper->of[r][in][q][k] = from_here.of[from][out][q][k] + (lap->adds ? before.of[r][in][q][k] : 0);
    }
}

static inline void ring_on_paper(ring_paper *paper, const ring_lap *lap, int n)
{
    memset(paper, 0, sizeof *paper);
    for (int r = 0; r < n; r++)
        for (int k = 0; k < n; k++) paper->of[r][k][r][k] = 1;
    const ring_paper beginning = *paper;
    for (int s = 0; s < lap->steps; s++) ring_step_on_paper(paper, lap->stale ? &beginning : paper, lap, s, n);
}

/* Is it what the ranks have? The first elements of each chunk are enough. All chunks are equally long. */
static inline bool ring_is_on_paper(const check_case *c, const ring_paper *paper)
{
    size_t each = c->count / (size_t)c->ranks;
    for (int r = 0; r < c->ranks; r++)
        for (int place = 0; place < c->ranks; place++)
            for (size_t i = 0; i < RING_LOOK && i < each; i++) {
                double sum = 0;
                for (int q = 0; q < c->ranks; q++)
                    for (int k = 0; k < c->ranks; k++)
                        if (paper->of[r][place][q][k] != 0)
                            sum += paper->of[r][place][q][k] * check_value(c, q, (size_t)k * each + i);
                if (check_element(c, r, "buf", (size_t)place * each + i) != sum) return false;
            }
    return true;
}

static inline bool ring_leads_there(const check_case *c, const ring_lap *lap)
{
    ring_paper paper;
    ring_on_paper(&paper, lap, c->ranks);
    return ring_is_on_paper(c, &paper);
}

/* Do two rules mean the same chunk for all ranks in all steps? */
static inline bool ring_same_rule(ring_rule a, ring_rule b, int steps, int n)
{
    for (int r = 0; r < n; r++)
        for (int s = 0; s < steps; s++)
            if (ring_chunk_by(a, r, s, n) != ring_chunk_by(b, r, s, n)) return false;
    return true;
}

/* Are the numbers right, and what becomes of a chunk is not? */
static inline bool ring_only_combines_wrongly(const check_case *c, const ring_lap *made)
{
    ring_lap stale = *made, other = *made;
    stale.stale = true, other.adds = !made->adds;
    return ring_leads_there(c, &stale) || ring_leads_there(c, &other);
}

/* How many steps each rank made, and to which side; false if they differ. */
static inline bool ring_lap_made(const check_case *c, ring_lap *lap)
{
    int n = c->ranks;
    lap->steps = (int)check_sent(c, 0).messages_sent;
    lap->right = check_traffic(c, 0, 1).messages_sent ? 1 : -1;
    for (int r = 0; r < n; r++) {
        int to = (r + lap->right + n) % n;
        if (check_sent(c, r).messages_sent != (uint64_t)lap->steps ||
            check_traffic(c, r, to).messages_sent != (uint64_t)lap->steps || check_traffic(c, r, r).messages_sent)
            return false;
    }
    return lap->steps > 0 && lap->steps <= 2 * n;
}

/* The rules that lead to what is there, as few of them wrong as possible: `wrong` becomes them. False if there are none, or
 * several. */
static inline bool ring_find_rules(const check_case *c, const ring_lap *right, int mistakes, ring_lap *wrong)
{
    ring_lap tried = *wrong;
    int found = 0, n = c->ranks, steps = wrong->steps;
    for (int code = 0; code < RING_RULES * RING_RULES; code++) {
        tried.out = ring_rule_number(code / RING_RULES), tried.in = ring_rule_number(code % RING_RULES);
        bool out_wrong = !ring_same_rule(tried.out, right->out, steps, n),
             in_wrong = !ring_same_rule(tried.in, right->in, steps, n);
        if (out_wrong + in_wrong != mistakes || !ring_leads_there(c, &tried)) continue;
        if (found++ &&
            (!ring_same_rule(tried.out, wrong->out, steps, n) || !ring_same_rule(tried.in, wrong->in, steps, n)))
            return false;
        if (found == 1) *wrong = tried;
    }
    return found > 0;
}

/* " In step 0 rank 0 sends chunk 1, and should send chunk 0": where a rule first differs. */
static inline void ring_tell_rule(const check_case *c, const char *does, ring_rule wrong, ring_rule right, int steps)
{
    for (int s = 0; s < steps; s++)
        for (int r = 0; r < c->ranks; r++) {
            int has = ring_chunk_by(wrong, r, s, c->ranks), should = ring_chunk_by(right, r, s, c->ranks);
            if (has == should) continue;
            check_also(c, "In step %d rank %d %s chunk %d; it should be chunk %d.", s, r, does, has, should);
            return;
        }
}

/* If the numbers of chunks, or the direction, are what is wrong: say so. `right` holds the two rules and whether it adds. */
static inline bool ring_rules_explain(const check_case *c, const ring_lap *right)
{
    ring_lap made = *right;
    int n = c->ranks, mistakes = 0;
    if (n < 2 || n > RING_RULES_RANKS || c->count % (size_t)n || !c->count) return false;
    if (right->adds && c->op != OP_SUM) return false;
    if (!ring_lap_made(c, &made) || ring_only_combines_wrongly(c, &made)) return false;
    while (mistakes <= 2 && !ring_find_rules(c, right, mistakes, &made)) mistakes++;
    if (mistakes > 2 || (!mistakes && (made.right == 1 || n == 2))) return false;
    check_fail(c, mistakes ? "numbers" : "direction",
               mistakes
                   ? "The numbers of the chunks are not those of the ring."
                   : "The numbers of the chunks are those of a ring that goes to the right; yours goes to the left.");
    if (n > 2 && made.right < 0) check_also(c, "Rank 0 sends to rank %d; its right-hand neighbour is rank 1.", n - 1);
    ring_tell_rule(c, "sends", made.out, right->out, made.steps);
    ring_tell_rule(c, "puts what comes to", made.in, right->in, made.steps);
    return true;
}

#endif
