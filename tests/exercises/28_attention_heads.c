/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 28: attention whose heads are on several ranks gives what one rank with all heads gives, with
 * all tokens everywhere, and with the tokens cut as well; who computed which head, and who normed how many tokens, is
 * counted.
 */
#include "exercises/exercises.h"
#include "tests/exercises/collects.h"
#include "tests/exercises/mixes.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/ways.h"

#pragma weak my_attention_heads
#pragma weak my_attention_tokens

enum { WIDTH = 6, HEAD = 2, WEIGHTS = WIDTH * HEAD, MOST_TOKENS = 8, MOST_HEADS = 8, MOST_CALLS = 4 * MOST_HEADS };
enum { NUMBERS = MOST_TOKENS * WIDTH, OF_X = 1, OF_WEIGHTS = 1000 };
enum { LEFT_IN_Y = 1000 }; /* what y has before */
enum { HEADS, TOKENS };
enum { SIZES = 3 };

enum { OF_NORM, TO_HEADS, OF_HEADS, IN_Y, IN_X }; /* buffers */

static const size_t tokens_in[SIZES] = {8, 7, 3}, heads_in[SIZES] = {8, 5, 2};
static const char *const words[SIZES] = {"8 tokens, 8 heads", "7 tokens, 5 heads", "3 tokens, 2 heads"};

static void cases(check_plan *plan)
{
    static const char *const calls[] = {"my_attention_heads", "my_attention_tokens"};
    static const int ranks[] = {2, 3, 1, 4, 5, 8};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2 == 1, NULL);
        for (int k = 0; k < 2 * SIZES; k++)
            check_add(plan, (check_case){
                                .variant = k, .dtype = DTYPE_F64, .call = calls[k / SIZES], .what = words[k % SIZES]});
    }
}

static bool is_cut(const check_case *c)
{
    return c->variant / SIZES == TOKENS;
}

static size_t tokens_of(const check_case *c)
{
    return tokens_in[c->variant % SIZES];
}

static size_t heads_of(const check_case *c)
{
    return heads_in[c->variant % SIZES];
}

/* Number i of x: of the whole, or of its owner's part, which no other rank knows. */
static double x_of(const check_case *c, size_t i)
{
    if (!is_cut(c)) return check_common(c, OF_X + i) / 30;
    return check_value(c, ring_owner(tokens_of(c), c->ranks, i / WIDTH), OF_X + i) / 30;
}

/* ---- One head: softmax(q k / sqrt(d)) v, and back to the width ---- */

static double weight_of(const check_case *c, size_t head, size_t matrix, size_t i)
{
    int owner = ring_owner(heads_of(c), c->ranks, head);
    return check_value(c, owner, OF_WEIGHTS + (head * 4 + matrix) * WEIGHTS + i) / 100;
}

static void project(const check_case *c, size_t head, size_t matrix, const double *x, double to[][HEAD])
{
    for (size_t t = 0; t < tokens_of(c); t++)
        for (size_t d = 0; d < HEAD; d++) {
            to[t][d] = 0;
            for (size_t w = 0; w < WIDTH; w++) to[t][d] += x[t * WIDTH + w] * weight_of(c, head, matrix, w * HEAD + d);
        }
}

/* What token t gets: a mean of v by the likeness of its q to each k. */
static void attend(const check_case *c, const double q[HEAD], double k[][HEAD], double v[][HEAD], double got[HEAD])
{
    double all = 0;
    for (size_t d = 0; d < HEAD; d++) got[d] = 0;
    for (size_t t = 0; t < tokens_of(c); t++) {
        double score = 0;
        for (size_t d = 0; d < HEAD; d++) score += q[d] * k[t][d];
        score = exp(score / sqrt(HEAD));
        all += score;
        for (size_t d = 0; d < HEAD; d++) got[d] += score * v[t][d];
    }
    for (size_t d = 0; d < HEAD; d++) got[d] /= all;
}

static void head_of(const check_case *c, size_t head, const double *x, double *out)
{
    double q[MOST_TOKENS][HEAD], k[MOST_TOKENS][HEAD], v[MOST_TOKENS][HEAD], got[HEAD];
    project(c, head, 0, x, q);
    project(c, head, 1, x, k);
    project(c, head, 2, x, v);
    for (size_t t = 0; t < tokens_of(c); t++) {
        attend(c, q[t], k, v, got);
        for (size_t w = 0; w < WIDTH; w++)
            for (size_t d = 0; d < HEAD; d++) out[t * WIDTH + w] += got[d] * weight_of(c, head, 3, d * WIDTH + w);
    }
}

static void norm_of(size_t count, const double *x, double *out)
{
    for (size_t t = 0; t < count; t++, x += WIDTH, out += WIDTH) {
        double mean = 0, square = 0;
        for (size_t w = 0; w < WIDTH; w++) mean += x[w] / WIDTH;
        for (size_t w = 0; w < WIDTH; w++) square += (x[w] - mean) * (x[w] - mean) / WIDTH;
        for (size_t w = 0; w < WIDTH; w++) out[w] = (x[w] - mean) / sqrt(square + 1e-5);
    }
}

/* ---- In a rank ---- */

typedef struct {
    const check_case *c;
    int rank;
    double heads[MOST_CALLS];
    size_t count, normed, same,
        other;                   /* same: add_head calls whose x is their out; other: norms of another buffer than x */
    const double *x, *normed_at; /* normed_at: what norm has set */
    size_t unnormed;             /* add_head calls that read something else */
} attention_self;

static void norm(const my_attention *attention, size_t count, const double *x, double *out)
{
    attention_self *self = attention->self;
    self->normed += count;
    self->other += x != self->x;
    self->normed_at = out;
    collects_name(out, OF_NORM);
    norm_of(count, x, out);
}

static void add_head(const my_attention *attention, size_t head, const double *x, double *out)
{
    attention_self *self = attention->self;
    if (self->count < MOST_CALLS) self->heads[self->count++] = (double)head;
    self->same += x == out;
    self->unnormed += x != self->normed_at;
    collects_name(x, TO_HEADS);
    collects_name(out, OF_HEADS);
    if (head < attention->heads && ring_owner(attention->heads, self->c->ranks, head) == self->rank)
        head_of(self->c, head, x, out);
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    size_t tokens = tokens_of(c), mine = is_cut(c) ? ring_length(tokens, c->ranks, rank) : tokens;
    size_t first = is_cut(c) ? ring_begin(tokens, c->ranks, rank) : 0;
    attention_self self = {.c = c, .rank = rank};
    my_attention attention = {tokens, WIDTH, heads_of(c), norm, add_head, &self};
    double *x = check_buffer(c, -1, mine * WIDTH, DTYPE_F64), *y = check_buffer(c, -1, mine * WIDTH, DTYPE_F64);
    for (size_t i = 0; i < mine * WIDTH; i++) x[i] = x_of(c, first * WIDTH + i), y[i] = LEFT_IN_Y;
    self.x = x;
    collects_begin();
    collects_name(x, IN_X);
    collects_name(y, IN_Y);
    check_returned(c, (is_cut(c) ? my_attention_tokens : my_attention_heads)(comm, &attention, x, y));
    collects_report(c);
    check_report(c, "y", y, mine * WIDTH, DTYPE_F64);
    check_report(c, "heads", self.heads, self.count, DTYPE_F64);
    check_number(c, "normed", (double)self.normed);
    check_number(c, "same", (double)self.same);
    check_number(c, "other", (double)self.other);
    check_number(c, "unnormed", (double)self.unnormed);
}

/* ---- In learn ---- */

static bool heads(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t first = ring_begin(heads_of(c), c->ranks, rank), length = ring_length(heads_of(c), c->ranks, rank);
        size_t made = check_elements(c, rank, "heads");
        for (size_t i = 0; i < made; i++) {
            double head = check_element(c, rank, "heads", i);
            if (head >= (double)first && head < (double)(first + length)) continue;
            return check_fail(
                c, "heads",
                "Rank %d called add_head for head %.0f, %s. Heads are dealt out as chunks are: of %zu, rank "
                "%d has %zu, from %zu on.",
                rank, head, head < (double)heads_of(c) ? "whose weights are on another rank" : "which does not exist",
                heads_of(c), rank, length, first);
        }
        bool rounded = made == heads_of(c) / (size_t)c->ranks,
             to_length = made == (length > first ? length - first : 0);
        if (made != length)
            return check_fail(c, "heads", "Rank %d called add_head %zu times; of %zu heads it has %zu, from %zu on.%s",
                              rank, made, heads_of(c), length, first,
                              rounded ? " That is heads / n, rounded down: the first heads mod n ranks have one more."
                              : rank && to_length
                                  ? " Does the loop begin at first, and end at length, not first + length?"
                                  : "");
    }
    return true;
}

enum {
    RIGHT,
    RESIDUAL_AGAIN,
    NO_RESIDUAL,
    PART,
    PART_NO_RESIDUAL,
    MEAN,
    NO_NORM,
    NORMED_RESIDUAL,
    NORM_AGAIN,
    ROWS_FROM_0,
    NOT_ZEROED,
    NORM_IN_SUM,
    NORM_SUMMED,
    NORM_ONLY,
    X_ONLY,
    NOT_PUT,
    X_AT_0,
    NOT_GATHERED,
    NOT_GATHERED_0,
    WAYS
};

static const struct {
    const char *key, *words;
} ways[WAYS] = {
    [RESIDUAL_AGAIN] = {"residual",
                        "x is in y as often as there are ranks: each has added it before the sum was made."},
    [NO_RESIDUAL] = {"no_residual", "x is missing: y is x plus what the heads make of it."},
    [PART] = {"part", "y has what this rank's heads make of x only; those of the other ranks are missing."},
    [PART_NO_RESIDUAL] = {"part",
                          "y has what this rank's heads make of x only; those of the others, and x, are missing."},
    [MEAN] = {"mean", "What the ranks' heads make of x was averaged, not added up."},
    [NO_NORM] = {"no_norm", "The heads were given x itself, and not its norm."},
    [NORMED_RESIDUAL] = {"normed", "What is added to the heads' result is the norm of x, and should be x itself."},
    [NORM_AGAIN] = {"norm_again", "The heads were given the norm of the norm."},
    [ROWS_FROM_0] = {"rows", "Only rank 0 has the sum for its own tokens: the others have taken it from the beginning, "
                             "where the first tokens' are."},
    [NOT_ZEROED] = {"not_zeroed", "What the heads make was added to what was in y before: each number is larger by "
                                  "that, once for each rank."},
    [NORM_IN_SUM] = {"residual",
                     "The norm of x is in the sum as often as there are ranks. The sum is that of the heads; "
                     "x itself is added after it."},
    [NORM_SUMMED] = {"summed",
                     "What was added up over the ranks is the norm of x, and not what the heads make of it: the "
                     "wrong buffer was sent."},
    [NORM_ONLY] = {"not_put",
                   "y is x and the norm of x, and what the heads make of it is not there: did their sum come to "
                   "another buffer?"},
    [X_ONLY] = {"not_put",
                "y is x, and nothing of what the heads make of it: did their sum come to another buffer, or was "
                "it written over?"},
    [NOT_PUT] = {"not_put",
                 "x was added to what y had before, and what the heads make is not there: did their sum come to "
                 "another buffer?"},
    [X_AT_0] = {"residual.place", "Each rank has added its x to the beginning of what it sends, where the first rank's "
                                  "tokens lie. It belongs to this rank's tokens: add it to what comes back."},
    [NOT_GATHERED] = {"gather", "The heads were given this rank's tokens only, and zeros for all others: the tokens of "
                                "the other ranks have not come."},
    [NOT_GATHERED_0] = {"gather",
                        "The heads were given this rank's tokens only, as if they were the first ones, and zeros "
                        "for all others: the tokens of the other ranks have not come."}};

/* What the heads of one rank, or of all (-1), add. */
static void heads_result(const check_case *c, int way, int rank, double *out)
{
    double x[NUMBERS];
    size_t numbers = tokens_of(c) * WIDTH;
    for (size_t i = 0; i < numbers; i++) x[i] = x_of(c, i), out[i] = 0;
    if (way != NO_NORM) norm_of(tokens_of(c), x, x);
    if (way == NORM_AGAIN) norm_of(tokens_of(c), x, x);
    for (size_t head = 0; head < heads_of(c); head++)
        if (rank < 0 || ring_owner(heads_of(c), c->ranks, head) == rank) head_of(c, head, x, out);
}

/* What lies at a place of the whole, if each rank has put its own tokens of x to the beginning. */
static double x_at_0(const check_case *c, size_t place)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) {
        size_t first = ring_begin(tokens_of(c), c->ranks, q) * WIDTH;
        if (place < ring_length(tokens_of(c), c->ranks, q) * WIDTH) sum += x_of(c, first + place);
    }
    return sum;
}

/* What the heads add, if those of each rank are given its own tokens only. */
static void heads_of_own(const check_case *c, bool at_0, double *out)
{
    memset(out, 0, NUMBERS * sizeof *out);
    for (int q = 0; q < c->ranks; q++) {
        double x[NUMBERS] = {0};
        size_t first = ring_begin(tokens_of(c), c->ranks, q), length = ring_length(tokens_of(c), c->ranks, q);
        double *own = x + (at_0 ? 0 : first * WIDTH);
        for (size_t i = 0; i < length * WIDTH; i++) own[i] = x_of(c, first * WIDTH + i);
        norm_of(length, own, own);
        for (size_t head = 0; head < heads_of(c); head++)
            if (ring_owner(heads_of(c), c->ranks, head) == q) head_of(c, head, x, out);
    }
}

static void compute(const check_case *c, int way, int rank, double *y)
{
    double out[NUMBERS], x[NUMBERS], normed[NUMBERS];
    size_t tokens = tokens_of(c), first = is_cut(c) ? ring_begin(tokens, c->ranks, rank) : 0;
    size_t mine = is_cut(c) ? ring_length(tokens, c->ranks, rank) : tokens;
    bool part = way == PART || way == PART_NO_RESIDUAL;
    heads_result(c, way, part ? rank : -1, out);
    if (is_cut(c) && (way == NOT_GATHERED || way == NOT_GATHERED_0)) heads_of_own(c, way == NOT_GATHERED_0, out);
    for (size_t i = 0; i < mine * WIDTH; i++) x[i] = x_of(c, first * WIDTH + i);
    norm_of(mine, x, normed);
    if (way == NORMED_RESIDUAL) memcpy(x, normed, sizeof x);
    for (size_t i = 0; i < mine * WIDTH; i++) {
        double times = way == RESIDUAL_AGAIN ? c->ranks : way == NO_RESIDUAL || way == PART_NO_RESIDUAL ? 0 : 1;
        y[i] = out[(way == ROWS_FROM_0 ? 0 : first * WIDTH) + i] / (way == MEAN ? c->ranks : 1) + times * x[i];
        if (way == NORM_IN_SUM) y[i] += c->ranks * normed[i];
        if (way == NORM_SUMMED) y[i] = c->ranks * normed[i] + x[i];
        if (way == NORM_ONLY) y[i] = normed[i] + x[i];
        if (way == X_ONLY) y[i] = x[i];
        if (way == NOT_PUT) y[i] = LEFT_IN_Y + x[i];
        if (way == X_AT_0 && is_cut(c)) y[i] += x_at_0(c, first * WIDTH + i) - x[i];
        if (way == NOT_ZEROED) y[i] += LEFT_IN_Y * c->ranks;
    }
}

static size_t count_y(const check_case *c, int rank)
{
    return (is_cut(c) ? ring_length(tokens_of(c), c->ranks, rank) : tokens_of(c)) * WIDTH;
}

/* An all-gather and a reduce-scatter, and the norm of one's own tokens. */
static bool contract(const check_case *c)
{
    unsigned long long most = 2 * ((unsigned long long)c->ranks - 1);
    size_t least = ring_length(tokens_of(c), c->ranks, c->ranks - 1);
    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        double normed = check_number_of(c, rank, "normed");
        size_t mine = ring_length(tokens_of(c), c->ranks, rank),
               bytes = 2 * (tokens_of(c) - least) * WIDTH * sizeof(double);
        if (normed > (double)mine)
            return check_fail(
                c, "norm",
                "Rank %d has normed %.0f tokens; %zu are its own. Each token is normed by itself, so each "
                "rank norms its own, before they are gathered.",
                rank, normed, mine);
        if (sent.messages_sent > most || sent.bytes_sent > bytes)
            return check_fail(
                c, "messages",
                "Rank %d sent %llu messages, %llu bytes. One all-gather and one reduce-scatter of %zu tokens "
                "are n-1 messages each, %llu together, and at most %zu bytes.",
                rank, (unsigned long long)sent.messages_sent, (unsigned long long)sent.bytes_sent, tokens_of(c), most,
                bytes);
    }
    return true;
}

/* Where the tokens are cut: has each rank normed its own, at least? */
static bool all_normed(const check_case *c)
{
    for (int rank = 0; rank < c->ranks && is_cut(c); rank++) {
        double normed = check_number_of(c, rank, "normed");
        size_t mine = ring_length(tokens_of(c), c->ranks, rank);
        if (normed >= (double)mine) continue;
        size_t even = tokens_of(c) / (size_t)c->ranks;
        bool rounded = normed == (double)even;
        if (!(normed > 0) && !rounded)
            return check_fail(c, "no_norm",
                              "Rank %d has not called norm for any token: the heads are to be given the norm of x, and "
                              "each rank norms its own %zu tokens.",
                              rank, mine);
        bool by_heads = normed == (double)ring_length(heads_of(c), c->ranks, rank);
        return check_fail(
            c, rounded ? "norm_few.rounded" : "norm_few", "Rank %d has normed %.0f tokens; %zu are its own. %s", rank,
            normed, mine,
            rounded && by_heads
                ? "So many heads it has, too: was ring_chunk asked with the number of heads, and not of "
                  "tokens? Or is it tokens / n, rounded down: the first tokens mod n ranks have one more."
            : rounded ? "That is tokens / n, rounded down: the first tokens mod n ranks have one more."
                      : "norm is told a number of tokens; counts for a collective are numbers, width times as many.");
    }
    return true;
}

/* add_head has read what it has written. */
static bool in_one_buffer(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_number_of(c, rank, "same") > 0)
            return !check_fail(c, "same",
                               "On rank %d add_head was given the same buffer for what it reads and for what it adds "
                               "to: the second head reads what the first has written.",
                               rank);
    return false;
}

static bool norm_of_other(const check_case *c)
{
    return check_number_of(c, 0, "other") > 0 &&
           !check_fail(c, "norm_other", "norm was given another buffer than x: y is x + heads(norm(x)).");
}

static const char *const buffer_names[COLLECTS_NAMES] = {"the buffer that norm sets", "the buffer that add_head reads",
                                                         "the buffer that add_head adds to", "y", "x"};

/* What a rank should call; how many they are. */
static size_t needed_calls(const check_case *c, int rank, collects_call calls[2])
{
    size_t mine = count_y(c, rank);
    calls[0] = is_cut(c) ? (collects_call){"coll_all_gatherv", OF_NORM, TO_HEADS, mine, OP_SUM}
                         : (collects_call){"coll_all_reduce", OF_HEADS, OF_HEADS, mine, OP_SUM};
    calls[1] = (collects_call){"coll_reduce_scatterv", OF_HEADS, IN_Y, mine, OP_SUM};
    return is_cut(c) ? 2 : 1;
}

static bool explain_calls(const check_case *c)
{
    collects_call calls[2];
    for (int rank = 0; rank < c->ranks; rank++) {
        size_t count = needed_calls(c, rank, calls);
        if (collects_explain(c, rank, calls, count, buffer_names)) return true;
    }
    return collects_extra(c, calls, is_cut(c) ? 2 : 1, buffer_names);
}

/* Of y: what all heads make, what this rank's make, x, its norm. */
static double part_of_mix(const check_case *c, int rank, size_t row, size_t i)
{
    double out[NUMBERS] = {0}, x[NUMBERS] = {0};
    size_t first = is_cut(c) ? ring_begin(tokens_of(c), c->ranks, rank) * WIDTH : 0;
    for (size_t k = 0; k < tokens_of(c) * WIDTH; k++) x[k] = x_of(c, k);
    norm_of(tokens_of(c), x, out);
    if (row < 2) heads_result(c, RIGHT, row ? rank : -1, out);
    return row == 4 ? check_element(c, rank, "y", i) : (row == 2 ? x : out)[first + i];
}

/* Where all tokens are there, the heads read what norm has set. */
static bool heads_of_other(const check_case *c)
{
    return !is_cut(c) && check_number_of(c, 0, "normed") > 0 && check_number_of(c, 0, "unnormed") > 0 &&
           !check_fail(c, "exchanged",
                       "add_head was given another buffer to read than the one that norm has set: are the two buffers "
                       "exchanged?");
}

static bool explain_mix(const check_case *c)
{
    static const char *const names[] = {"what all ranks' heads make", "what this rank's heads make", "x",
                                        "the norm of x"};
    static const double should[] = {1, 0, 1, 0};
    const mixes y = {"y", names, should, 4, count_y(c, 0), part_of_mix};
    return c->ranks > 1 && mixes_explain(&y, c, 0, "values.mix");
}

/* Of two collectives that were told tokens where they count numbers. */
static void explain_bytes(const check_case *c)
{
    unsigned long long sent = 0, all = 2 * (uint64_t)(c->ranks - 1) * tokens_of(c) * WIDTH * sizeof(double);
    if (!is_cut(c)) ways_explain_bytes(c, tokens_of(c) * WIDTH);
    if (!is_cut(c)) return;
    for (int rank = 0; rank < c->ranks; rank++) sent += check_sent(c, rank).bytes_sent;
    if (sent == all / WIDTH)
        check_fail(
            c, "counts",
            "All ranks together sent %llu bytes; an all-gather and a reduce-scatter of %zu tokens are %llu, width "
            "times as many. Counts and offsets are numbers, and not tokens.",
            sent, tokens_of(c), all);
}

static void judge(const check_case *c)
{
    static const ways_result y = {"y", count_y, WAYS, compute};
    if (!heads(c) || !all_normed(c)) return;
    if (!ways_right(&y, c, NULL)) {
        int way = ways_find(&y, c);
        bool vague = way < 0 || strcmp(ways[way].key, "part") == 0 || strcmp(ways[way].key, "not_put") == 0 ||
                     strcmp(ways[way].key, "summed") == 0;
        if (in_one_buffer(c) || (vague && (norm_of_other(c) || heads_of_other(c) || explain_calls(c)))) return;
        if (way < 0 && !explain_mix(c)) {
            explain_bytes(c);
            collects_list(c, buffer_names);
        }
        if (way < 0) return;
        check_fail(c, ways[way].key, "%s", ways[way].words);
        if (way == RESIDUAL_AGAIN && is_cut(c)) check_also(c, "Or before the sum, and once more after it.");
        if (way != ROWS_FROM_0) ways_explain_rest(&y, c);
    } else if (is_cut(c) ? !contract(c)
                         : check_same_bits(c, "bits", "y") &&
                               !ways_one_all_reduce(c, tokens_of(c) * WIDTH,
                                                    "That is all that there is to send: the sum over the heads.")) {
        collects_list(c, buffer_names);
    }
}

static const char *const files[] = {"attention_heads.c", NULL};

const check_exercise check_28_attention_heads = {.name = "28_attention_heads",
                                                 .idea = "heads are dealt out, and between them the tokens",
                                                 .call = "my_attention_heads",
                                                 .files = files,
                                                 .hands_on_errors = true,
                                                 .library = CHECK_LIBRARY_ALL,
                                                 .cases = cases,
                                                 .run = run,
                                                 .judge = judge};
