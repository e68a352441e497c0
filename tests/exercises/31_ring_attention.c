/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 31: what each rank's queries get is what one rank with all keys gives them, also where exp alone
 * would overflow; which blocks were scored, what was sent to whom, how much memory there was at the same time, and on a
 * virtual network whether blocks travel while others are used.
 */
#include "exercises/exercises.h"
#include "p2p/p2p_layer.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/ways.h"

#pragma weak my_ring_attention

/* The last number of a key is added to its score as it is. */
enum { WIDTH = 4, LIKE = WIDTH - 1, MOST_TOKENS = 48, MOST_CALLS = 2 * CHECK_MAX_RANKS, SLACK = 256 };
enum { OF_KEYS = 0, OF_VALUES = 1000, OF_QUERIES = 2000 };
enum { MANY, SEVEN, THREE, HIGH, LOW, RISING, PEAK, VARIANTS };

#define SCORE_S 15e-6 /* a block as long as the others */

static const size_t tokens_in[VARIANTS] = {48, 7, 3, 10, 10, 10, 10};
static const char *const words[VARIANTS] = {"48 tokens",
                                            "7 tokens",
                                            "3 tokens",
                                            "10 tokens, scores near 2000",
                                            "10 tokens, scores near -2000",
                                            "10 tokens, scores near 1000 times the rank",
                                            "10 tokens, one score near 1000 in each block"};

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 4, 3, 8, 5, 1, 4};
    for (int i = 0; i < 7; i++) {
        check_world(plan, ranks[i], i == 6, i < 2 ? RING_NETWORK : NULL);
        for (int k = 0; k < VARIANTS; k++)
            check_add(plan, (check_case){.variant = k, .dtype = DTYPE_F64, .what = words[k]});
    }
}

static size_t tokens_of(const check_case *c)
{
    return tokens_in[c->variant];
}

static size_t length_of(const check_case *c, int rank)
{
    return ring_length(tokens_of(c), c->ranks, rank);
}

/* In each block one key that fits far better than the others: no rank can tell which from the first or the last one. */
static bool is_peak(const check_case *c, int rank, size_t token)
{
    return c->variant == PEAK && token == length_of(c, rank) / 2;
}

static double key_of(const check_case *c, int rank, size_t token, size_t w)
{
    if (w < LIKE) return check_value(c, rank, OF_KEYS + token * WIDTH + w) / 50;
    if (is_peak(c, rank, token)) return 1000;
    return c->variant == HIGH ? 2000 : c->variant == LOW ? -2000 : c->variant == RISING ? 1000.0 * rank : 0;
}

/* The last number of a value is above 0: a sum of these with infinite weights is infinite, and not inf - inf. */
static double value_of(const check_case *c, int rank, size_t token, size_t w)
{
    double value = check_value(c, rank, OF_VALUES + token * WIDTH + w) / 10;
    return w == LIKE ? fabs(value) + 1 : value;
}

static double score_of(const check_case *c, int rank, size_t query, const double key[WIDTH])
{
    double score = 0;
    for (size_t w = 0; w < LIKE; w++) score += check_value(c, rank, OF_QUERIES + query * WIDTH + w) / 50 * key[w];
    return score / sqrt(LIKE) + key[LIKE];
}

/* A number by which a block of keys is known again: of those of one key, which have 199 values each, no two have the same. */
static double mark_of(size_t count, const double *keys)
{
    static const double weights[WIDTH] = {1, 199, 199 * 199, 1};
    double mark = 0;
    for (size_t i = 0; i < count * WIDTH; i++) mark += keys[i] * weights[i % WIDTH] * (double)(i / WIDTH % 13 + 1);
    return mark;
}

/* No number, but one that is known again: what is computed from it is the same. */
static double before(void)
{
    const uint64_t bits = 0x7ff8000000c0ffeeULL;
    double nan;
    memcpy(&nan, &bits, sizeof nan);
    return nan;
}

/* ---- In a rank ---- */

typedef struct {
    p2p_comm *comm;
    const check_case *c;
    size_t calls;
    double counts[MOST_CALLS], marks[MOST_CALLS];
    const void *scored, *sent; /* first */
    const double *out;
    struct {
        const void *buf;
        size_t step;
    } last[2]; /* that has come, that was sent */
} sequence_self;

static sequence_self *watched;

static void on_message(bool sends, const void *buf, size_t bytes, int peer)
{
    (void)peer, (void)bytes;
    if (sends && !watched->sent) watched->sent = buf;
    if (check_under_way(buf) && watched->last[!sends].buf == buf && watched->last[!sends].step == watched->calls)
        check_number(watched->c, "one buffer", (double)watched->calls);
    watched->last[sends].buf = buf, watched->last[sends].step = watched->calls;
}

static void score(const my_sequence *sequence, size_t count, const double *keys, double *scores)
{
    sequence_self *self = sequence->self;
    const check_case *c = self->c;
    int rank = p2p_rank(self->comm);
    for (size_t i = 0; i < length_of(c, rank); i++)
        for (size_t j = 0; j < count; j++) scores[i * count + j] = score_of(c, rank, i, keys + j * WIDTH);
    if (!self->scored) self->scored = keys;
    if (self->calls == 1 && length_of(c, rank) && isinf(self->out[LIKE])) check_number(c, "infinite", self->out[LIKE]);
    if (self->calls < MOST_CALLS) {
        self->counts[self->calls] = (double)count;
        self->marks[self->calls++] = mark_of(count, keys);
    }
    double blocks = (double)count / ((double)tokens_of(c) / c->ranks);
    p2p_layer_compute(self->comm, (size_t)(SCORE_S * blocks * EXPECTED_REDUCE_RATE));
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t mine = length_of(c, rank), left;
    sequence_self self = {.comm = comm, .c = c};
    double *keys = check_buffer(c, -1, mine * WIDTH, DTYPE_F64), *values = check_buffer(c, -1, mine * WIDTH, DTYPE_F64);
    double *out = check_buffer(c, -1, mine * WIDTH, DTYPE_F64);
    for (size_t i = 0; i < mine * WIDTH; i++) {
        keys[i] = key_of(c, rank, i / WIDTH, i % WIDTH);
        values[i] = value_of(c, rank, i / WIDTH, i % WIDTH);
        out[i] = c->variant == MANY ? 1000 : before(); /* must not matter, whatever it is */
    }
    my_sequence sequence = {tokens_of(c), WIDTH, keys, values, score, &self};
    self.out = out;
    watched = &self;
    check_on_message = on_message;
    check_returned(c, my_ring_attention(comm, &sequence, out));
    check_on_message = NULL;
    if (self.sent && self.sent != self.scored) check_number(c, "sends another", 1);
    check_report(c, "out", out, mine * WIDTH, DTYPE_F64);
    check_report(c, "counts", self.counts, self.calls, DTYPE_F64);
    check_report(c, "marks", self.marks, self.calls, DTYPE_F64);
    check_number(c, "peak", (double)check_peak(&left));
    check_number(c, "left", (double)left);
}

/* ---- In learn: which blocks were scored ---- */

static bool is_block(const check_case *c, int owner, double count, double mark)
{
    double keys[MOST_TOKENS * WIDTH];
    size_t length = length_of(c, owner);
    for (size_t i = 0; i < length * WIDTH; i++) keys[i] = key_of(c, owner, i / WIDTH, i % WIDTH);
    return count == (double)length && fabs(mark - mark_of(length, keys)) < 1e-6;
}

/* Adds what was passed on first, if it is not what was scored first. */
static void explain_sent(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_number_of(c, rank, "sends another") == 1) {
            check_because(c, "here",
                          "What rank %d sends first lies in another buffer than the block that it scores first, and "
                          "both should be its own block.",
                          rank);
            return;
        }
}

/* Adds that in one step a block is received to what is sent, before that has ended. */
static void explain_one_buffer(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        double step = check_number_of(c, rank, "one buffer");
        if (isnan(step)) continue;
        check_because(c, "one_buffer",
                      "In step %.0f rank %d receives to the buffer that it sends from at the same time: here and next "
                      "are the same one then.",
                      step, rank);
        return;
    }
}

static bool say_no_block(const check_case *c, int rank, size_t call, double count, double mark)
{
    int owner = (rank - (int)call % c->ranks + c->ranks) % c->ranks;
    if (count == (double)tokens_of(c) && c->ranks > 1)
        return check_fail(c, "all",
                          "On rank %d score was called with all %.0f keys at once. No rank holds all of them: each "
                          "block is scored when it comes, and passed on.",
                          rank, count);
    if (count != (double)length_of(c, owner))
        return check_fail(
            c, "count",
            "Call %zu of score on rank %d is for %.0f keys. The block of rank %d, which is there then, has %zu.",
            call + 1, rank, count, owner, length_of(c, owner));
    if (mark == 0) {
        check_fail(
            c, "early",
            "Call %zu of score on rank %d has zeros for keys: nothing has come there yet, or nothing was put there.",
            call + 1, rank);
        explain_sent(c);
        return false;
    }
    return check_fail(c, "keys",
                      "Call %zu of score on rank %d has keys that are no rank's block. In a block %zu * %d numbers are "
                      "keys, and the values come behind them.",
                      call + 1, rank, length_of(c, owner), WIDTH);
}

static bool scored_on(const check_case *c, int rank)
{
    bool seen[CHECK_MAX_RANKS] = {false};
    size_t calls = check_elements(c, rank, "counts"), blocks = 0, scored = 0;
    for (int owner = 0; owner < c->ranks; owner++) blocks += length_of(c, owner) > 0;
    for (size_t call = 0; call < calls; call++) {
        double count = check_element(c, rank, "counts", call), mark = check_element(c, rank, "marks", call);
        int owner = 0;
        if (count == 0) continue;
        while (owner < c->ranks && !is_block(c, owner, count, mark)) owner++;
        if (owner == c->ranks) return say_no_block(c, rank, call, count, mark);
        scored++;
        if (!seen[owner]) {
            seen[owner] = true;
            continue;
        }
        return check_fail(
            c, "again",
            "Call %zu of score on rank %d has the keys of rank %d, for the second time. A block is used once on each "
            "rank: in the next step it is the right-hand neighbour's, and what has come from the left is here.",
            call + 1, rank, owner);
    }
    for (int owner = 0; owner < c->ranks && scored < blocks; owner++)
        if (length_of(c, owner) && !seen[owner])
            return check_fail(c, "few",
                              "Rank %d's queries have seen the keys of %zu of %zu blocks: score was called so many "
                              "times. The block of rank %d is missing.",
                              rank, scored, blocks, owner);
    return true;
}

static bool scored(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (length_of(c, rank) && !scored_on(c, rank)) return false;
    return true;
}

/* ---- What they got ---- */

enum {
    RIGHT,
    NOT_SHRUNK,
    OUT_NOT_SHRUNK,
    SUM_NOT_SHRUNK,
    SHRUNK_LATE,
    OLD_LARGEST,
    CUT,
    NOT_DIVIDED,
    DIVIDED_EACH,
    BLOCK_MEANS,
    BLOCK_SUMS,
    LAST_BLOCK,
    OWN_VALUES,
    KEYS_AS_VALUES,
    BY_TOKENS,
    BY_FIRST_SUM,
    NO_EXP,
    OF_BLOCK,
    SUM_BY_WIDTH,
    BY_COLUMNS,
    RUNNING,
    BY_MODULO,
    SUM_PLAIN,
    OUT_PLAIN,
    TURNED,
    OUT_SET,
    SUM_SET,
    BOTH_SET,
    OTHER_VALUES,
    OWN_BEGIN,
    LONGEST_BEGIN,
    EXP_TURNED,
    SUM_SHRUNK_EACH,
    OUT_SHRUNK_EACH,
    BOTH_SHRUNK_EACH,
    SHARED_LARGEST,
    WAYS,
    RULED /* by the rules below */
};

static const struct {
    const char *key, *words;
} ways[WAYS] = {
    [NOT_SHRUNK] = {"shrink.none",
                    "The largest score has grown from one block to the next, and what was summed up before "
                    "was left as it was: it is relative to the old one."},
    [OUT_NOT_SHRUNK] = {"shrink",
                        "The largest score has grown from one block to the next, and out was left as it was, though "
                        "the sum was multiplied by exp(old largest - new largest): both are relative to it."},
    [SUM_NOT_SHRUNK] = {"shrink",
                        "The largest score has grown from one block to the next, and the sum was left as it was, "
                        "though out was multiplied by exp(old largest - new largest): both are relative to it."},
    [SHRUNK_LATE] = {"late", "What this block adds was multiplied by exp(old largest - new largest) as well. It is "
                             "relative to the new one already: first what was there before, then add."},
    [OLD_LARGEST] = {"old", "What this block adds is relative to the largest score before this block, and should be to "
                            "the new one, with this block's in it: the old one is for what was there before."},
    [CUT] = {"cut", "Of a block that is longer than the rank's own only the beginning was used, as many numbers as the "
                    "own block has: the rest has not been sent, or was not kept."},
    [NOT_DIVIDED] =
        {"divide", "out is a sum of values, each times exp(score - largest), and was not divided by the sum of those."},
    [DIVIDED_EACH] =
        {"divide_each",
         "out was divided by the sum after each block: so earlier ones are divided again and again. Once, at the end."},
    [BLOCK_MEANS] = {"means", "Each block has a mean of its own, and the mean of these was taken: so each block counts "
                              "the same, however well its keys fit."},
    [BLOCK_SUMS] = {"means", "Each block has a mean of its own, and these were added up: the sum of all weights is "
                             "that over all blocks, not of one."},
    [LAST_BLOCK] = {"last", "Only the block that was used last is in out: it was set, and not added to; or the largest "
                            "score was not kept, and what was there is multiplied by exp(-INFINITY), which is 0."},
    [OWN_VALUES] =
        {"stay",
         "The keys went round, and the values did not: each key is followed by the value of a token of this rank."},
    [KEYS_AS_VALUES] = {"stay", "The mean of the keys was taken: in a block the values begin behind the keys, count * "
                                "width numbers from its beginning."},
    [BY_TOKENS] = {"divide",
                   "out was divided by the number of tokens, and should be by the sum of exp(score - largest)."},
    [BY_FIRST_SUM] = {"divide",
                      "Every query's out was divided by the sum of the first one: each query has a sum of its own."},
    [OF_BLOCK] = {"late", "What a block adds is relative to the largest score of the block, and not to the largest so "
                          "far: where an earlier block had a larger one, it counts too much."},
    [SUM_BY_WIDTH] = {"divide", "Each weight is in the sum as often as a value has numbers: it is added once for each "
                                "key, outside of the loop over the numbers."},
    [BY_COLUMNS] = {"values",
                    "Number w of value j was taken from values[w * count + j]: it lies at j * width + w, a value "
                    "behind the other."},
    [RUNNING] = {"running",
                 "In a block the largest score has grown from one key to the next, while weights were added: "
                 "those before are relative to the one before, and those behind to the new one."},
    [BY_MODULO] = {"divide", "out[k] was divided by sum[k % queries]. Of each query `width` numbers lie one behind the "
                             "other: out[k] belongs to query k / width."},
    [SUM_PLAIN] = {"plain", "The sum has exp(score) in it, and out has exp(score - largest): both are relative to the "
                            "largest score."},
    [OUT_PLAIN] = {"plain", "out has exp(score) in it, and the sum has exp(score - largest): both are relative to the "
                            "largest score."},
    [TURNED] = {"shrink", "The largest score has grown from one block to the next, and what was there before was "
                          "multiplied by exp(new largest - old largest): it has grown, and should shrink."},
    [OUT_SET] = {"set",
                 "Only the last key of the block that was used last is in out, which was set for each key, and not "
                 "added to (= for +=). The sum is right."},
    [SUM_SET] = {"set",
                 "Only the weight of the last key of the block that was used last is in the sum, which was set for "
                 "each key, and not added to (= for +=). out is right."},
    [BOTH_SET] = {"set", "Only the last key of the block that was used last is in out, and its weight in the sum: both "
                         "were set for each key, and not added to (= for +=)."},
    [OTHER_VALUES] = {"other_values",
                      "The scores are those of the keys of a block, and the values are those of the other "
                      "rank's block."},
    [OWN_BEGIN] = {"begin",
                   "The values of a block were taken from behind as many keys as this rank's own block has: they "
                   "begin behind as many as the block itself has."},
    [LONGEST_BEGIN] = {"begin",
                       "The values of a block were taken from behind as many keys as the longest block has: they "
                       "begin behind as many as the block itself has."},
    [EXP_TURNED] = {"exp_turned",
                    "Each weight is exp(largest - score), and should be exp(score - largest): so keys that fit "
                    "badly count most."},
    [SUM_SHRUNK_EACH] = {"shrink_each",
                         "The sum was multiplied by exp(old largest - new largest) once for each key of the "
                         "block, and should be once for each block. out is right."},
    [OUT_SHRUNK_EACH] = {"shrink_each", "out was multiplied by exp(old largest - new largest) once for each key of the "
                                        "block, and should be once for each block. The sum is right."},
    [BOTH_SHRUNK_EACH] = {"shrink_each",
                          "Sum and out were multiplied by exp(old largest - new largest) once for each key "
                          "of the block, and should be once for each block."},
    [SHARED_LARGEST] = {"shared",
                        "All queries share one largest score: each query's sum and out are relative to one that "
                        "other queries have made larger meanwhile."},
    [NO_EXP] = {"no_exp", "Each value was given its score for a weight, and should be given exp(score - largest)."}};

typedef struct {
    double largest, sum, out[WIDTH];
} query_state;

/* Of two ranks: is value j of the owner's block beyond what a block of this rank's length has? Before it lie all keys. */
static bool is_cut(const check_case *c, int way, int rank, int owner, size_t j)
{
    return way == CUT && c->ranks == 2 && length_of(c, owner) + j >= 2 * length_of(c, rank);
}

/* Where a score is taken from in a block's scores, and a number of a value in a block: so many times the numbers of the
 * query, the key and the number, and some more. */
typedef struct {
    size_t of_query, of_key, of_number, more;
} index_rule;

static struct {
    index_rule score, value;
} ruled;

static size_t index_by(index_rule rule, size_t i, size_t j, size_t w)
{
    return rule.of_query * i + rule.of_key * j + rule.of_number * w + rule.more;
}

static double ruled_score(const check_case *c, int rank, size_t query, int owner, size_t j)
{
    size_t count = length_of(c, owner), at = index_by(ruled.score, query, j, 0);
    double key[WIDTH];
    for (size_t w = 0; w < WIDTH; w++) key[w] = key_of(c, owner, at % count, w);
    return at < count * length_of(c, rank) ? score_of(c, rank, at / count, key) : NAN;
}

static double ruled_value(const check_case *c, size_t query, int owner, size_t j, size_t w)
{
    size_t keys = length_of(c, owner) * WIDTH, at = index_by(ruled.value, query, j, w);
    if (at < keys) return key_of(c, owner, at / WIDTH, at % WIDTH);
    return at < 2 * keys ? value_of(c, owner, (at - keys) / WIDTH, at % WIDTH) : NAN;
}

/* Of two ranks: number w of value j of a block whose values are looked for behind so many keys. Behind the block lies what calloc
 * has left. */
static double value_behind(const check_case *c, size_t keys, int owner, size_t j, size_t w)
{
    size_t at = (keys + j) * WIDTH + w, values = length_of(c, owner) * WIDTH;
    if (c->ranks != 2) return NAN;
    if (at < values) return key_of(c, owner, at / WIDTH, at % WIDTH);
    return at < 2 * values ? value_of(c, owner, (at - values) / WIDTH, at % WIDTH) : 0;
}

static double wrong_value(const check_case *c, int way, int rank, size_t query, int owner, size_t j, size_t w)
{
    size_t count = length_of(c, owner), by_columns = w * count + j;
    if (is_cut(c, way, rank, owner, j)) return 0;
    switch (way) {
    case RULED: return ruled_value(c, query, owner, j, w);
    case KEYS_AS_VALUES: return key_of(c, owner, j, w);
    case BY_COLUMNS: return value_of(c, owner, by_columns / WIDTH, by_columns % WIDTH);
    case OWN_VALUES: return value_of(c, rank, j % length_of(c, rank), w);
    case OTHER_VALUES: return c->ranks == 2 ? value_of(c, 1 - owner, j % length_of(c, 1 - owner), w) : NAN;
    case OWN_BEGIN: return value_behind(c, length_of(c, rank), owner, j, w);
    case LONGEST_BEGIN: return value_behind(c, length_of(c, 0), owner, j, w);
    default: return value_of(c, owner, j, w);
    }
}

/* What is left of the sum, or of out, before each key is added. */
static double kept_of(int way, bool sum, double shrink)
{
    if (way == BOTH_SET || way == (sum ? SUM_SET : OUT_SET)) return 0;
    return way == BOTH_SHRUNK_EACH || way == (sum ? SUM_SHRUNK_EACH : OUT_SHRUNK_EACH) ? shrink : 1;
}

/* A block more for one query. */
static void take_wrongly(const check_case *c, int way, int rank, size_t query, int owner, query_state *q)
{
    double scores[MOST_TOKENS], key[WIDTH], block = -INFINITY, running = q->largest, add = 0, more[WIDTH] = {0};
    size_t count = length_of(c, owner);
    if (!count) return;
    for (size_t j = 0; j < count; j++) {
        for (size_t w = 0; w < WIDTH; w++) key[w] = key_of(c, owner, j, w);
        scores[j] = way == RULED ? ruled_score(c, rank, query, owner, j) : score_of(c, rank, query, key);
        block = fmax(block, scores[j]);
    }
    double largest = fmax(q->largest, block), relative_to = way == OF_BLOCK                    ? block
                                                            : way == OLD_LARGEST && q->sum > 0 ? q->largest
                                                                                               : largest;
    bool begins = q->sum == 0;
    double shrink = way == NO_EXP                 ? 1
                    : way == TURNED && q->sum > 0 ? exp(largest - q->largest)
                                                  : exp(q->largest - largest),
           late = way == SHRUNK_LATE && q->sum > 0 ? shrink : 1;
    double sum_kept = kept_of(way, true, shrink), out_kept = kept_of(way, false, shrink);
    for (size_t j = 0; j < count; j++) {
        running = fmax(running, scores[j]);
        double weight = way == NO_EXP ? scores[j] : exp(scores[j] - (way == RUNNING ? running : relative_to));
        double plain = exp(scores[j]);
        if (way == EXP_TURNED) weight = exp(relative_to - scores[j]);
        q->sum *= sum_kept;
        add *= sum_kept;
        add += way == SUM_PLAIN ? plain : weight * (way == SUM_BY_WIDTH ? WIDTH : 1);
        if (way == OUT_PLAIN) weight = plain;
        for (size_t w = 0; w < WIDTH; w++) {
            q->out[w] *= out_kept;
            more[w] = more[w] * out_kept + weight * wrong_value(c, way, rank, query, owner, j, w);
        }
    }
    q->sum = q->sum * (sum_kept < 1 || (!begins && (way == NOT_SHRUNK || way == SUM_NOT_SHRUNK)) ? 1 : shrink) +
             add * late;
    for (size_t w = 0; w < WIDTH; w++)
        q->out[w] = q->out[w] *
                        (out_kept < 1 || (!begins && (way == NOT_SHRUNK || way == OUT_NOT_SHRUNK)) ? 1 : shrink) +
                    more[w] * late;
    for (size_t w = 0; w < WIDTH && way == DIVIDED_EACH; w++) q->out[w] /= q->sum;
    q->largest = largest;
}

/* The sum of all weights of a query, as it should be. */
static double sum_of(const check_case *c, int rank, size_t query)
{
    query_state q = {.largest = -INFINITY};
    for (int step = 0; step < c->ranks; step++)
        take_wrongly(c, RIGHT, rank, query, (rank - step + c->ranks) % c->ranks, &q);
    return q.sum;
}

/* One largest score, which goes from query to query and from block to block. */
static void compute_shared(const check_case *c, int rank, double *numbers)
{
    query_state q[MOST_TOKENS] = {{0}};
    double largest = -INFINITY;
    for (int step = 0; step < c->ranks; step++)
        for (size_t query = 0; query < length_of(c, rank); query++) {
            q[query].largest = largest;
            take_wrongly(c, RIGHT, rank, query, (rank - step + c->ranks) % c->ranks, &q[query]);
            largest = q[query].largest;
        }
    for (size_t i = 0; i < length_of(c, rank) * WIDTH; i++) numbers[i] = q[i / WIDTH].out[i % WIDTH] / q[i / WIDTH].sum;
}

static void compute(const check_case *c, int way, int rank, double *numbers)
{
    if (way == SHARED_LARGEST) {
        compute_shared(c, rank, numbers);
        return;
    }
    const query_state none = {.largest = -INFINITY};
    double first_sum = 0;
    for (size_t query = 0; query < length_of(c, rank); query++, numbers += WIDTH) {
        query_state q = none;
        size_t blocks = 0;
        for (int step = 0; step < c->ranks; step++) {
            int owner = (rank - step + c->ranks) % c->ranks;
            if (!length_of(c, owner)) continue;
            if (way == LAST_BLOCK || way == BLOCK_MEANS || way == BLOCK_SUMS) q = none;
            take_wrongly(c, way, rank, query, owner, &q);
            blocks++;
            for (size_t w = 0; w < WIDTH && (way == BLOCK_MEANS || way == BLOCK_SUMS); w++)
                numbers[w] += q.out[w] / q.sum;
        }
        if (!query) first_sum = q.sum;
        double by = way == BY_FIRST_SUM                         ? first_sum
                    : way == NOT_DIVIDED || way == DIVIDED_EACH ? 1
                    : way == BY_TOKENS                          ? (double)tokens_of(c)
                                                                : q.sum;
        for (size_t w = 0; w < WIDTH; w++) {
            if (way != BLOCK_MEANS && way != BLOCK_SUMS) numbers[w] = q.out[w] / by;
            if (way == BLOCK_MEANS) numbers[w] /= (double)blocks;
            if (way == BY_MODULO) numbers[w] *= q.sum / sum_of(c, rank, (query * WIDTH + w) % length_of(c, rank));
        }
    }
}

static size_t count_out(const check_case *c, int rank)
{
    return length_of(c, rank) * WIDTH;
}

static const ways_result out = {"out", count_out, WAYS, compute};

static bool is_before(double has)
{
    const double was = before();
    return memcmp(&has, &was, sizeof has) == 0;
}

/* ---- Which rule was it? ---- */

enum { FACTORS = 4 };

static void add_term(char *text, size_t room, const char *what, size_t times)
{
    size_t used = strlen(text);
    if (!times) return;
    snprintf(text + used, room - used, "%s%s%s", used ? " + " : "", what,
             times == 1       ? ""
             : times == WIDTH ? " * width"
                              : " * count");
}

static bool say_rule(const check_case *c, const index_rule *rule, const char *key, const char *format)
{
    char text[100] = "";
    size_t count = length_of(c, 0);
    snprintf(text, sizeof text, "%s",
             !rule->more           ? ""
             : rule->more == WIDTH ? "width"
             : rule->more == count ? "count"
                                   : "count * width");
    add_term(text, sizeof text, "i", rule->of_query);
    add_term(text, sizeof text, "j", rule->of_key);
    add_term(text, sizeof text, "w", rule->of_number);
    return !check_fail(c, key, format, *text ? text : "0");
}

/* Tries all of them, the score's while values are right, and the value's while scores are. */
static bool say_index(const check_case *c)
{
    const size_t count = length_of(c, 0), times[FACTORS] = {0, 1, WIDTH, count},
                 more[] = {0, WIDTH, count, count * WIDTH};
    const index_rule score = {count, 1, 0, 0}, value = {0, WIDTH, 1, count * WIDTH};
    if (length_of(c, c->ranks - 1) != count) return false;
    for (int code = 0; code < FACTORS * FACTORS; code++) {
        ruled.score = (index_rule){times[code % FACTORS], times[code / FACTORS], 0, 0};
        ruled.value = value;
        if (ways_is(&out, c, RULED, true))
            return say_rule(c, &ruled.score, "index.score",
                            "The score of query i and key j was taken from scores[%s]: it lies at i * count + j.");
    }
    ruled.score = score;
    for (int code = 0; code < FACTORS * FACTORS * FACTORS * FACTORS; code++) {
        ruled.value = (index_rule){times[code % FACTORS], times[code / FACTORS % FACTORS],
                                   times[code / FACTORS / FACTORS % FACTORS], more[code / FACTORS / FACTORS / FACTORS]};
        if (ways_is(&out, c, RULED, true))
            return say_rule(c, &ruled.value, "index.value",
                            "Number w of the value of key j was taken from number %s of its block: it lies at count * "
                            "width + j * width + w, behind all keys.");
    }
    return false;
}

/* What a rank has to send. */
static size_t bytes_to_send(const check_case *c, int rank)
{
    size_t next = length_of(c, (rank + 1) % c->ranks);
    return c->ranks > 1 ? (tokens_of(c) - next) * 2 * WIDTH * sizeof(double) : 0;
}

static bool say_too_few(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_sent(c, rank).bytes_sent < bytes_to_send(c, rank))
            return !check_fail(
                c, "bytes.few",
                "Rank %d sent %llu bytes; the blocks that it passes on have %zu: of each token a key and "
                "a value, %zu bytes.",
                rank, (unsigned long long)check_sent(c, rank).bytes_sent, bytes_to_send(c, rank),
                2 * WIDTH * sizeof(double));
    return false;
}

/* So many times what they should be are all numbers of a query; NAN: not all as many. */
static double times_of(const check_case *c, int rank, size_t query, const double *right)
{
    double by = check_element(c, rank, "out", query * WIDTH) / right[query * WIDTH];
    for (size_t k = query * WIDTH; k < (query + 1) * WIDTH; k++)
        if (!ways_near(check_element(c, rank, "out", k), right[k] * by)) return NAN;
    return by;
}

static bool say_times(const check_case *c, double by)
{
    double longest = (double)length_of(c, 0);
    return !check_fail(
        c, "times",
        "All numbers of out are %.4g times what they should be%s. What out is divided by is the sum, and nothing else.",
        by,
        ways_near(by * c->ranks, 1)               ? ", 1 / the number of ranks"
        : ways_near(by, c->ranks)                 ? ", the number of ranks"
        : ways_near(by * (double)tokens_of(c), 1) ? ", 1 / the number of tokens"
        : ways_near(by * longest, 1)              ? ", 1 / the number of tokens of a block"
        : ways_near(by * WIDTH, 1)                ? ", 1 / width"
                                                  : "");
}

/* Is each query's out right, and divided by a wrong sum? */
static bool say_sum(const check_case *c, int rank, size_t query)
{
    double by = NAN;
    bool same = true;
    for (int r = 0; r < c->ranks; r++) {
        double right[MOST_TOKENS * WIDTH] = {0};
        compute(c, RIGHT, r, right);
        for (size_t i = 0; i < length_of(c, r); i++) {
            double times = times_of(c, r, i, right);
            if (isnan(times)) return false;
            same &= isnan(by) ? r == rank && i == query : ways_near(times, by);
            if (r == rank && i == query) by = times;
        }
    }
    if (same) return say_times(c, by);
    double sum = sum_of(c, rank, query);
    for (size_t i = 0; i < length_of(c, rank); i++)
        if (ways_near(sum_of(c, rank, i), sum / by))
            return !check_fail(
                c, "sum.whose",
                "On rank %d out of query %zu was divided by the sum of query %zu: it would be right if it "
                "were divided by its own, %.4g, and not by %.4g.",
                rank, query, i, sum, sum / by);
    return !check_fail(
        c, "sum",
        "All numbers of query %zu on rank %d are %.4g times what they should be, and those of each other query are "
        "some other number of times: out is right, and the sum that it was divided by is %.4g, and should be %.4g.",
        query, rank, by, sum / by, sum);
}

static void explain_finite(const check_case *c, int rank, size_t query)
{
    if (say_too_few(c) || say_sum(c, rank, query)) return;
    if (!say_index(c) && length_of(c, 0) > length_of(c, c->ranks - 1))
        check_also(c, "Here blocks have different lengths, and where they had not it was right: is a block's own count "
                      "used for all of it, also for where its values begin?");
}

static void explain(const check_case *c)
{
    int rank, way = ways_find(&out, c);
    size_t first = ways_first(&out, c, &rank);
    double has = check_element(c, rank, "out", first);
    if (way >= 0)
        check_fail(c, ways[way].key, "%s", ways[way].words);
    else if (ways_is_float(&out, c))
        check_fail(c, "float", WAYS_FLOAT);
    else if (isfinite(has))
        explain_finite(c, rank, first / WIDTH);
    else if (is_before(has))
        check_fail(c, "before",
                   "Number %zu of out on rank %d is made of what was in out before: out does not begin with zeros. "
                   "exp(-INFINITY) "
                   "times that is 0 only if that was a number.",
                   first, rank);
    else if (c->variant < HIGH && !isnan(check_number_of(c, rank, "infinite")))
        check_fail(c, "infinite",
                   "Number %d of out is infinite on rank %d when its first block has been used, and in the end out is "
                   "not a number. The scores are near 0: exp(score - largest) is infinite where largest is still "
                   "-INFINITY, as it begins, and not the new one, with this block's scores in it. (A division by a "
                   "sum of 0 gives that, too.)",
                   LIKE, rank);
    else if (c->variant == RISING && c->ranks == 2 && rank == 1)
        check_fail(
            c, "falls",
            "Number %zu of out is not finite on rank 1, which has its own keys first, with scores near 1000, and "
            "then rank 0's, with scores near 0: exp(1000) is more than a double holds. The largest so far must "
            "not fall to that of the later block.",
            first);
    else if (c->variant == PEAK)
        check_fail(c, "exp.peak",
                   "Number %zu of out is not finite on rank %d. One score in each block is near 1000, in the middle of "
                   "it, and the others are near 0: exp(1000) is more than a double holds. The largest score was not "
                   "looked for among all of the block.",
                   first, rank);
    else if (c->variant == LOW)
        check_fail(c, "exp",
                   "Number %zu of out is not finite on rank %d: exp(-2000) is 0, and 0 / 0 is nothing. Only score - "
                   "largest is given to exp, and largest begins below any score, at -INFINITY.",
                   first, rank);
    else if (c->variant == HIGH || c->variant == RISING)
        check_fail(c, "exp",
                   "Number %zu of out is not finite on rank %d: exp(710) is more than a double holds. Only score - "
                   "largest, which is never above 0, is given to exp.",
                   first, rank);
    else
        check_fail(
            c, "nan",
            "Number %zu of out is not finite on rank %d: 0 / 0, or exp(INFINITY), or what was in out before, "
            "times anything. Does out begin with zeros? Is it the new largest that is subtracted from the scores, "
            "with this block's in it? The old one begins with -INFINITY.",
            first, rank);
}

/* ---- What was sent, how much memory there was, how long it took ---- */

static bool contract(const check_case *c)
{
    unsigned long long steps = (unsigned long long)c->ranks - 1;
    if (!ring_to_the_right(c)) return false;
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        size_t each = 2 * WIDTH * sizeof(double), most = bytes_to_send(c, rank);
        if (sent.messages_sent > steps)
            return check_fail(c, "messages",
                              "Rank %d sent %llu messages; n-1 = %llu are enough, one for each block but the one that "
                              "begins at its right-hand neighbour.%s",
                              rank, (unsigned long long)sent.messages_sent, steps,
                              sent.bytes_sent > most            ? " After the last step nobody needs what is here."
                              : sent.messages_sent == 2 * steps ? " Keys and values of a block are one message."
                                                                : "");
        if (sent.bytes_sent > most)
            return check_fail(c, "bytes",
                              "Rank %d sent %llu bytes; the blocks that it passes on have %zu, %zu for each token. "
                              "Blocks are not equally long.",
                              rank, (unsigned long long)sent.bytes_sent, most, each);
    }
    return true;
}

/* Three blocks, and what is computed from them. */
static bool memory(const check_case *c)
{
    size_t longest = length_of(c, 0), block = 2 * longest * WIDTH;
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t mine = length_of(c, rank), most = 3 * block + mine * (2 * longest + 2 + WIDTH);
        double peak = check_number_of(c, rank, "peak");
        if (!(peak > (double)(most * sizeof(double) + SLACK)) || check_number_of(c, rank, "left") > 0) continue;
        return check_fail(c, "kept",
                          "Rank %d had %.0f bytes of memory at the same time. A block, keys and values of %zu tokens, "
                          "has %zu; one that is used and one that comes, and the scores of one, are enough. All blocks "
                          "together have %zu: were they all there at once?",
                          rank, peak, longest, block * sizeof(double), tokens_of(c) * 2 * WIDTH * sizeof(double));
    }
    return true;
}

static void seconds(const check_case *c)
{
    double steps = c->ranks - 1, block = (double)tokens_of(c) / c->ranks * 2 * WIDTH * sizeof(double);
    double message = RING_LATENCY_S + block / RING_BANDWIDTH, took = expected_seconds(c);
    double plain = c->ranks * SCORE_S + steps * message, right = steps * fmax(message, SCORE_S) + SCORE_S;
    if (took <= 1.2 * right) return;
    check_slow(c, "slow", took / right,
               "It took %.0f us. Scoring %d blocks takes %d x %.0f us, passing on n-1 blocks %.0f x %.1f us: one after "
               "the other %.0f us, at the same time %.0f us.%s",
               1e6 * took, c->ranks, c->ranks, 1e6 * SCORE_S, steps, 1e6 * message, 1e6 * plain, 1e6 * right,
               took >= 0.98 * plain ? " Here a block travels while nothing is computed." : "");
}

static void judge(const check_case *c)
{
    if (!scored(c)) {
        explain_one_buffer(c);
    } else if (!ways_right(&out, c, NULL)) {
        explain(c);
        explain_one_buffer(c);
    } else if (contract(c) && memory(c) && c->network && c->variant == MANY) {
        seconds(c);
    }
}

static const char *const files[] = {"ring_attention.c", NULL};

const check_exercise check_31_ring_attention = {.name = "31_ring_attention",
                                                .idea = "queries stay, keys and values go round the ring",
                                                .call = "my_ring_attention",
                                                .files = files,
                                                .hands_on_errors = true,
                                                .waits_on_errors = true,
                                                .counts_memory = true,
                                                .library = CHECK_LIBRARY_ALL,
                                                .cases = cases,
                                                .run = run,
                                                .judge = judge};
