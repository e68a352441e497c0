/* SPDX-License-Identifier: MIT */
/* The test of exercise 27: two layers, cut by columns and by rows, give what the whole ones give on one rank. */
#include "exercises/exercises.h"
#include "tests/exercises/collects.h"
#include "tests/exercises/mixes.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/ways.h"

#pragma weak my_cut
#pragma weak my_tensor_forward
#pragma weak my_tensor_backward

enum { BATCH = 3, INPUTS = 4, OUTPUTS = 5, MOST_HIDDEN = 12, TENSORS = 4 };
enum { CUT, FORWARD, BACKWARD, FUNCTIONS };
/* Where a tensor's data begin. */
enum { OF_A = 100, OF_A_BIAS = 200, OF_B = 300, OF_B_BIAS = 400, OF_X = 500, OF_DY = 600 };

enum { IN_Y, IN_DX, IN_H, IN_DY, IN_X, IN_A, IN_A_BIAS, IN_B, IN_B_BIAS }; /* buffers */

static const char *const calls[FUNCTIONS] = {"my_cut", "my_tensor_forward", "my_tensor_backward"};

static void cases(check_plan *plan)
{
    static const int ranks[] = {2, 3, 1, 4, 5, 8};
    static const size_t hidden[] = {12, 7, 3};
    static const char *const words[] = {"12 hidden numbers", "7 hidden numbers", "3 hidden numbers"};
    for (int i = 0; i < 6; i++) {
        check_world(plan, ranks[i], i % 2 == 1, NULL);
        for (int k = 0; k < 3 * FUNCTIONS; k++)
            check_add(plan, (check_case){.variant = k / 3,
                                         .count = hidden[k % 3],
                                         .dtype = DTYPE_F64,
                                         .call = calls[k / 3],
                                         .what = words[k % 3]});
    }
}

/* ---- Data: of what is divided each rank knows its own part, of the rest all know all ---- */

static size_t hidden_of(const check_case *c, int rank)
{
    return ring_length(c->count, c->ranks, rank);
}

static double common(const check_case *c, size_t index)
{
    return check_common(c, index) / 50;
}

/* Column j of rank's part of a; element j of its bias; row j of its part of b. */
static double a_of(const check_case *c, int rank, size_t i, size_t j)
{
    return check_value(c, rank, OF_A + i * MOST_HIDDEN + j) / 50;
}

static double a_bias_of(const check_case *c, int rank, size_t j)
{
    return check_value(c, rank, OF_A_BIAS + j) / 50;
}

static double b_of(const check_case *c, int rank, size_t j, size_t k)
{
    return check_value(c, rank, OF_B + j * OUTPUTS + k) / 50;
}

static double h_of(const check_case *c, int rank, size_t row, size_t j)
{
    double sum = a_bias_of(c, rank, j);
    for (size_t i = 0; i < INPUTS; i++) sum += common(c, OF_X + row * INPUTS + i) * a_of(c, rank, i, j);
    return sum > 0 ? sum : 0;
}

/* ---- In a rank ---- */

static my_perceptron room_for(const check_case *c, size_t hidden)
{
    return (my_perceptron){.inputs = INPUTS,
                           .hidden = hidden,
                           .outputs = OUTPUTS,
                           .a = check_buffer(c, -1, INPUTS * hidden, DTYPE_F64),
                           .a_bias = check_buffer(c, -1, hidden, DTYPE_F64),
                           .b = check_buffer(c, -1, hidden * OUTPUTS, DTYPE_F64),
                           .b_bias = check_buffer(c, -1, OUTPUTS, DTYPE_F64)};
}

static void report(const check_case *c, const my_perceptron *p)
{
    check_report(c, "a", p->a, INPUTS * p->hidden, DTYPE_F64);
    check_report(c, "a_bias", p->a_bias, p->hidden, DTYPE_F64);
    check_report(c, "b", p->b, p->hidden * OUTPUTS, DTYPE_F64);
    check_report(c, "b_bias", p->b_bias, OUTPUTS, DTYPE_F64);
}

static void run_cut(const check_case *c, int rank)
{
    my_perceptron whole = room_for(c, c->count), part = room_for(c, hidden_of(c, rank));
    for (size_t i = 0; i < INPUTS * c->count; i++) whole.a[i] = common(c, OF_A + i);
    for (size_t i = 0; i < c->count; i++) whole.a_bias[i] = common(c, OF_A_BIAS + i);
    for (size_t i = 0; i < c->count * OUTPUTS; i++) whole.b[i] = common(c, OF_B + i);
    for (size_t i = 0; i < OUTPUTS; i++) whole.b_bias[i] = common(c, OF_B_BIAS + i);
    my_cut(&whole, ring_begin(c->count, c->ranks, rank), &part);
    report(c, &part);
}

static my_perceptron part_of(const check_case *c, int rank)
{
    my_perceptron part = room_for(c, hidden_of(c, rank));
    for (size_t j = 0; j < part.hidden; j++) {
        for (size_t i = 0; i < INPUTS; i++) part.a[i * part.hidden + j] = a_of(c, rank, i, j);
        part.a_bias[j] = a_bias_of(c, rank, j);
        for (size_t k = 0; k < OUTPUTS; k++) part.b[j * OUTPUTS + k] = b_of(c, rank, j, k);
    }
    for (size_t k = 0; k < OUTPUTS; k++) part.b_bias[k] = common(c, OF_B_BIAS + k);
    return part;
}

static void name_buffers(const check_case *c, const double *x, const double *h, const double *y, const double *dx,
                         const my_perceptron *gradient)
{
    collects_name(x, IN_X);
    collects_name(h, IN_H);
    collects_name(y, c->variant == FORWARD ? IN_Y : IN_DY);
    collects_name(dx, IN_DX);
    collects_name(gradient->a, IN_A);
    collects_name(gradient->a_bias, IN_A_BIAS);
    collects_name(gradient->b, IN_B);
    collects_name(gradient->b_bias, IN_B_BIAS);
}

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm);
    if (c->variant == CUT) {
        run_cut(c, rank);
        return;
    }
    my_perceptron part = part_of(c, rank), gradient = room_for(c, part.hidden);
    double *x = check_buffer(c, -1, BATCH * INPUTS, DTYPE_F64),
           *h = check_buffer(c, -1, BATCH * part.hidden, DTYPE_F64);
    double *y = check_buffer(c, -1, BATCH * OUTPUTS, DTYPE_F64), *dx = check_buffer(c, -1, BATCH * INPUTS, DTYPE_F64);
    for (size_t i = 0; i < BATCH * INPUTS; i++) x[i] = common(c, OF_X + i);
    collects_begin();
    name_buffers(c, x, h, y, dx, &gradient);
    if (c->variant == FORWARD) {
        check_returned(c, my_tensor_forward(comm, &part, BATCH, x, h, y));
        collects_report(c);
        check_report(c, "y", y, BATCH * OUTPUTS, DTYPE_F64);
        check_report(c, "h", h, BATCH * part.hidden, DTYPE_F64);
        return;
    }
    for (size_t i = 0; i < BATCH * part.hidden; i++) h[i] = h_of(c, rank, i / part.hidden, i % part.hidden);
    for (size_t i = 0; i < BATCH * OUTPUTS; i++) y[i] = common(c, OF_DY + i);
    check_returned(c, my_tensor_backward(comm, &part, BATCH, x, h, y, &gradient, dx));
    collects_report(c);
    check_report(c, "dx", dx, BATCH * INPUTS, DTYPE_F64);
    report(c, &gradient);
}

/* ---- In learn: the cut ---- */

enum { CUT_RIGHT, ROWS_OF_A, COLUMNS_OF_B, FROM_0, OWN_STRIDE, BY_NUMBERS, TRANSPOSED, READ_TRANSPOSED, CUT_WAYS };

static const char *const cut_words[CUT_WAYS] = {
    [ROWS_OF_A] =
        "One piece of the whole was copied. Rows lie one behind the other, so that is no column: of each row of "
        "a, part->hidden numbers from `first` on are needed, and the next row begins whole->hidden numbers on.",
    [COLUMNS_OF_B] = "b was cut by columns, as a is. It is cut by rows: row j of b is multiplied by hidden number j.",
    [FROM_0] = "Everything was taken from hidden number 0 on: this rank's begin at `first`.",
    [OWN_STRIDE] = "The rows of the whole were taken to be part->hidden numbers long: they are whole->hidden.",
    [BY_NUMBERS] =
        "This rank's rows were taken to begin `first` numbers from the beginning: they begin `first` rows from "
        "it, each of whole->outputs numbers.",
    [READ_TRANSPOSED] = "The whole was read as if it lay there transposed. It lies row by row: element [i][j] of a is "
                        "whole->a[i * whole->hidden + j], and element [j][k] of b is whole->b[j * whole->outputs + k].",
    [TRANSPOSED] = "It lies there transposed. Rows lie one behind the other in the part as well: element [i][j] is "
                   "part->a[i * part->hidden + j]."};

static size_t tensor_judged; /* 0: a, 1: a_bias, 2: b, 3: b_bias */
static const char *const tensors[TENSORS] = {"a", "a_bias", "b", "b_bias"};

static size_t count_tensor(const check_case *c, int rank)
{
    const size_t counts[] = {INPUTS * hidden_of(c, rank), hidden_of(c, rank), hidden_of(c, rank) * OUTPUTS, OUTPUTS};
    return counts[tensor_judged];
}

static size_t index_in_whole(const check_case *c, int way, int rank, size_t i)
{
    size_t hidden = hidden_of(c, rank), first = way == FROM_0 ? 0 : ring_begin(c->count, c->ranks, rank);
    if (tensor_judged == 3) return i;
    if (tensor_judged == 1) return first + i;
    if (tensor_judged == 2) {
        if (way == BY_NUMBERS) return first + i;
        if (way == READ_TRANSPOSED) return i % OUTPUTS * c->count + first + i / OUTPUTS;
        if (way != COLUMNS_OF_B) return first * OUTPUTS + i;
        return i / hidden * c->count + first + i % hidden;
    }
    if (way == READ_TRANSPOSED) return (first + i % hidden) * INPUTS + i / hidden;
    if (way == TRANSPOSED) return i % INPUTS * c->count + first + i / INPUTS;
    if (way == ROWS_OF_A) return first * INPUTS + i;
    return i / hidden * (way == OWN_STRIDE ? hidden : c->count) + first + i % hidden;
}

static void compute_cut(const check_case *c, int way, int rank, double *numbers)
{
    static const size_t begins[] = {OF_A, OF_A_BIAS, OF_B, OF_B_BIAS};
    for (size_t i = 0; i < count_tensor(c, rank); i++)
        numbers[i] = common(c, begins[tensor_judged] + index_in_whole(c, way, rank, i));
}

/* It is one piece of the whole, and begins at another place: says so. */
static bool explain_begin(const check_case *c, const ways_result *part, int rank)
{
    static const size_t begins[] = {OF_A, OF_A_BIAS, OF_B, OF_B_BIAS};
    const size_t all[] = {INPUTS * c->count, c->count, c->count * OUTPUTS, OUTPUTS};
    size_t count = part->count(c, rank), should = index_in_whole(c, CUT_RIGHT, rank, 0);
    for (size_t from = 0; from + count <= all[tensor_judged]; from++) {
        size_t i = 0;
        while (i < count && check_element(c, rank, part->name, i) == common(c, begins[tensor_judged] + from + i)) i++;
        if (i == count && count > 1)
            return !check_fail(
                c, "cut",
                "%s of rank %d's part is what begins at element %zu of the whole, and its first number is "
                "element %zu.",
                part->name, rank, from, should);
    }
    return false;
}

/* Is there a number with some bytes of what should be there, and zeros? None of the test's is as small as that. */
static bool in_pieces(const check_case *c, const ways_result *part, int rank)
{
    for (size_t i = 0; i < part->count(c, rank); i++) {
        double number = check_element(c, rank, part->name, i);
        if (number != 0 && fabs(number) < 1e-100) return true;
    }
    return false;
}

/* Right to begin with, and then as it was before: zero. */
static void explain_rest(const check_case *c, const ways_result *part)
{
    int rank;
    size_t right = ways_first(part, c, &rank), count = part->count(c, rank), i = right + 1;
    while (i < count && check_element(c, rank, part->name, i) == 0) i++;
    if (i == count && !right && check_element(c, rank, part->name, 0) == 0)
        check_fail(c, "cut", "%s of rank %d's part is as it was before: nothing was copied to it.", part->name, rank);
    else if (i == count && right)
        check_fail(c, "cut", "Only the first %zu of %zu numbers of %s have come to rank %d, the rest is as it was.%s",
                   right, count, part->name, rank,
                   right == count / sizeof(double) ? " That is an eighth: memcpy counts bytes, and a double has 8."
                                                   : "");
    else if (in_pieces(c, part, rank))
        check_fail(
            c, "cut",
            "Of numbers in %s of rank %d's part only some bytes have come. memcpy counts bytes, not numbers, and a "
            "double has 8: multiply by sizeof(double).",
            part->name, rank);
    else if (!explain_begin(c, part, rank))
        check_fail(c, "cut", "%s of rank %d's part is wrong from number %zu on.", part->name, rank, right);
}

static bool cut_is_right(const check_case *c)
{
    for (tensor_judged = 0; tensor_judged < TENSORS; tensor_judged++) {
        ways_result part = {tensors[tensor_judged], count_tensor, CUT_WAYS, compute_cut};
        if (ways_right(&part, c, NULL)) continue;
        int way = ways_find(&part, c);
        if (way >= 0) return check_fail(c, "cut", "In %s: %s", part.name, cut_words[way]);
        explain_rest(c, &part);
        return false;
    }
    return true;
}

/* ---- Forward ---- */

enum {
    RIGHT,
    BIAS_ON_0,
    BIAS_AGAIN,
    NO_BIAS,
    PART,
    PART_NO_BIAS,
    MEAN,
    MEAN_OF_ALL,
    HIDDEN_SUMMED,
    Y_OF_0,
    BIAS_BY_ROW,
    BIAS_BY_BATCH,
    BIAS_IN_BATCH,
    BIAS_ONLY,
    BIAS_WITH_HIDDEN,
    RELU_AT_END,
    FORWARD_WAYS
};

static const struct {
    const char *key, *words;
} forward_words[FORWARD_WAYS] = {
    [BIAS_AGAIN] = {"bias",
                    "b_bias is in y as often as there are ranks: each has added it to its part, before the parts "
                    "were added up."},
    [NO_BIAS] = {"no_bias", "b_bias is missing in y."},
    [PART] = {"part", "y has this rank's part of the sum only: what the other ranks' hidden numbers add to it is "
                      "missing."},
    [PART_NO_BIAS] = {"part", "y has this rank's part of the sum only, and b_bias is missing as well."},
    [MEAN] = {"mean", "The ranks' parts were averaged, not added up."},
    [MEAN_OF_ALL] = {"mean", "The ranks' parts were averaged, not added up, and b_bias is missing."},
    [BIAS_ON_0] = {"bias_on_0", "b_bias is in y on rank 0 only."},
    [BIAS_WITH_HIDDEN] = {"bias_on_0", "b_bias is missing in y on the ranks that have no hidden number of their own."},
    [RELU_AT_END] = {"relu", "What should be negative in y is 0: relu was applied to y as well. It is for the hidden "
                             "numbers only."},
    [HIDDEN_SUMMED] = {"hidden",
                       "The hidden numbers were added up over the ranks. But each rank has other ones, and has "
                       "them complete."},
    [BIAS_BY_ROW] = {"no_bias",
                     "b_bias[i / outputs] was added to y[i], the same to a whole row: there is a bias for each "
                     "output, i % outputs."},
    [BIAS_BY_BATCH] = {"no_bias",
                       "b_bias[i / batch] was added to y[i], as if y lay there by columns. It lies row by row, "
                       "outputs numbers each, so the bias of y[i] is that of i % outputs."},
    [BIAS_IN_BATCH] = {"no_bias", "b_bias[i % batch] was added to y[i]. A row of y has outputs numbers, not batch: the "
                                  "bias of y[i] is that of i % outputs."},
    [BIAS_ONLY] = {"bias_only", "y is b_bias, and nothing else: the sum was written over, not added to."},
    [Y_OF_0] = {"part", "Every rank's y is rank 0's part of the sum: it was copied, and not added up."}};

static double part_of_y(const check_case *c, int q, size_t row, size_t k)
{
    double sum = 0;
    for (size_t j = 0; j < hidden_of(c, q); j++) sum += h_of(c, q, row, j) * b_of(c, q, j, k);
    return sum;
}

/* Hidden number j of all ranks, added up, as if all had as many. */
static double hidden_summed(const check_case *c, size_t row, size_t k)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++)
        for (int other = 0; other < c->ranks; other++)
            for (size_t j = 0; j < hidden_of(c, q) && j < hidden_of(c, other); j++)
                sum += h_of(c, other, row, j) * b_of(c, q, j, k);
    return sum;
}

static void compute_y(const check_case *c, int way, int rank, double *y)
{
    for (size_t i = 0; i < BATCH * OUTPUTS; i++) {
        double all = 0, bias = common(c, OF_B_BIAS + i % OUTPUTS);
        for (int q = 0; q < c->ranks; q++) all += part_of_y(c, q, i / OUTPUTS, i % OUTPUTS);
        double part = part_of_y(c, rank, i / OUTPUTS, i % OUTPUTS);
        y[i] = all + bias;
        if (way == BIAS_BY_ROW) y[i] = all + common(c, OF_B_BIAS + i / OUTPUTS);
        if (way == BIAS_BY_BATCH) y[i] = all + common(c, OF_B_BIAS + i / BATCH);
        if (way == BIAS_IN_BATCH) y[i] = all + common(c, OF_B_BIAS + i % BATCH);
        if (way == BIAS_ONLY) y[i] = bias;
        if (way == BIAS_AGAIN) y[i] = all + c->ranks * bias;
        if (way == NO_BIAS || (way == BIAS_ON_0 && rank)) y[i] = all;
        if (way == BIAS_WITH_HIDDEN && !hidden_of(c, rank)) y[i] = all;
        if (way == RELU_AT_END && y[i] < 0) y[i] = 0;
        if (way == PART) y[i] = part + bias;
        if (way == PART_NO_BIAS) y[i] = part;
        if (way == Y_OF_0) y[i] = part_of_y(c, 0, i / OUTPUTS, i % OUTPUTS) + bias;
        if (way == MEAN) y[i] = all / c->ranks + bias;
        if (way == MEAN_OF_ALL) y[i] = all / c->ranks;
        if (way == HIDDEN_SUMMED) y[i] = hidden_summed(c, i / OUTPUTS, i % OUTPUTS) + bias;
    }
}

static size_t count_y(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return BATCH * OUTPUTS;
}

/* Behind what was said of y or dx: the beginning is right, as many numbers as something else has; or it is the part of a
 * sum, and something was sent. */
static void explain_sum(const ways_result *w, const check_case *c, size_t columns, bool is_part)
{
    size_t from = ways_judged.from, all = w->count(c, 0);
    const struct {
        size_t numbers;
        const char *words;
    } known[] = {{columns, "one row"},
                 {BATCH * INPUTS, "batch * inputs"},
                 {BATCH * OUTPUTS, "batch * outputs"},
                 {BATCH * hidden_of(c, 0), "batch * hidden"}};
    if (!from && is_part && check_sent(c, 0).messages_sent)
        check_also(c, "Messages were sent: was another buffer all-reduced, or %s before it was computed?", w->name);
    if (!from) {
        ways_explain_rest(w, c);
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (from == known[i].numbers) {
            check_also(c, "That is so from number %zu of %zu on; those before, %s, are right: %s has batch * %s.", from,
                       all, known[i].words, w->name, columns == OUTPUTS ? "outputs" : "inputs");
            return;
        }
    ways_explain_rest(w, c);
}

/* Of y: the sum, this rank's part, b_bias. */
static double part_of_mix(const check_case *c, int rank, size_t row, size_t i)
{
    double all = 0;
    if (row == 1) return part_of_y(c, rank, i / OUTPUTS, i % OUTPUTS);
    if (row == 2) return common(c, OF_B_BIAS + i % OUTPUTS);
    if (row == 3) return check_element(c, rank, "y", i);
    for (int q = 0; q < c->ranks; q++) all += part_of_y(c, q, i / OUTPUTS, i % OUTPUTS);
    return all;
}

static bool explain_mix(const check_case *c)
{
    static const char *const names[] = {"the sum of all ranks' parts", "this rank's own part", "b_bias"};
    static const double should[] = {1, 0, 1};
    const mixes y = {"y", names, should, 3, BATCH * OUTPUTS, part_of_mix};
    return c->ranks > 1 && mixes_explain(&y, c, 0, "values.mix");
}

/* Is it right but for what was added? That is the same in each row, or it is another thing. */
static void explain_bias(const check_case *c)
{
    double rest[BATCH * OUTPUTS];
    bool first_row = true;
    for (size_t i = 0; i < BATCH * OUTPUTS; i++) rest[i] = check_element(c, 0, "y", i) - part_of_mix(c, 0, 0, i);
    for (size_t i = OUTPUTS; i < BATCH * OUTPUTS; i++) first_row = first_row && fabs(rest[i]) < 1e-9;
    for (size_t i = 0; i < OUTPUTS && first_row; i++)
        first_row = ways_near(rest[i], c->ranks * common(c, OF_B_BIAS + i));
    if (first_row)
        check_fail(
            c, "bias",
            "b_bias is in the first row of y only, and there as often as there are ranks: it was added before the "
            "sum, and to the first outputs numbers of batch * outputs.");
}

static const char *const buffer_names[COLLECTS_NAMES] = {"y",
                                                         "dx",
                                                         "h",
                                                         "dy",
                                                         "x",
                                                         "the gradient of a",
                                                         "the gradient of a_bias",
                                                         "the gradient of b",
                                                         "the gradient of b_bias"};

/* Was the one all-reduce that of y, or of dx, all of it? */
static bool explain_calls(const check_case *c)
{
    int in = c->variant == FORWARD ? IN_Y : IN_DX;
    const collects_call all_reduce = {"coll_all_reduce", in, in, BATCH * (in == IN_Y ? OUTPUTS : INPUTS), OP_SUM};
    for (int rank = 0; rank < c->ranks; rank++)
        if (collects_explain(c, rank, &all_reduce, 1, buffer_names)) return true;
    return collects_extra(c, &all_reduce, 1, buffer_names);
}

/* What is between the layers: each rank's own, and complete. */
enum { H_SUMMED = 1, H_AVERAGED, H_OF_0, H_WAYS };

static void compute_h(const check_case *c, int way, int rank, double *h)
{
    size_t hidden = hidden_of(c, rank);
    for (size_t i = 0; i < BATCH * hidden; i++) {
        double sum = 0;
        for (int q = 0; q < c->ranks; q++)
            if (i % hidden < hidden_of(c, q)) sum += h_of(c, q, i / hidden, i % hidden);
        h[i] = h_of(c, way == H_OF_0 ? 0 : rank, i / hidden, i % hidden);
        if (way == H_SUMMED || way == H_AVERAGED) h[i] = sum / (way == H_AVERAGED ? c->ranks : 1);
    }
}

static size_t count_h(const check_case *c, int rank)
{
    return BATCH * hidden_of(c, rank);
}

static bool hidden_is_right(const check_case *c)
{
    static const ways_result h = {"h", count_h, H_WAYS, compute_h};
    static const char *const words[H_WAYS] = {[H_SUMMED] = "added up over the ranks",
                                              [H_AVERAGED] = "averaged over the ranks",
                                              [H_OF_0] = "copied from rank 0 to the others"};
    if (ways_right(&h, c, NULL)) return true;
    int way = ways_find(&h, c);
    if (way < 0)
        return check_fail(c, "hidden.left",
                          "y is right, and h is not: backward wants this rank's hidden numbers in it.");
    return check_fail(c, "hidden.left",
                      "y is right, but h was %s. Each rank has hidden numbers of its own, and has them complete: "
                      "backward wants them in h. Only y is a sum.",
                      words[way]);
}

static void judge_forward(const check_case *c)
{
    static const ways_result y = {"y", count_y, FORWARD_WAYS, compute_y};
    if (!ways_right(&y, c, NULL)) {
        int way = ways_is(&y, c, BIAS_WITH_HIDDEN, true) ? BIAS_WITH_HIDDEN : ways_find(&y, c);
        if ((way < 0 || way == PART || way == PART_NO_BIAS) && !ways_judged.from && explain_calls(c)) return;
        if (way < 0 && !explain_mix(c)) {
            ways_explain_bytes(c, BATCH * OUTPUTS);
            explain_bias(c);
            collects_list(c, buffer_names);
        }
        if (way < 0) return;
        check_fail(c, forward_words[way].key, "%s", forward_words[way].words);
        if (way != BIAS_ON_0 && way != BIAS_WITH_HIDDEN)
            explain_sum(&y, c, OUTPUTS, way == PART || way == PART_NO_BIAS);
    } else if (check_same_bits(c, "bits", "y") && hidden_is_right(c) &&
               !ways_one_all_reduce(c, BATCH * OUTPUTS, "That is all that forward needs: y.")) {
        collects_list(c, buffer_names);
    }
}

/* ---- Backward ---- */

enum { DX_PART = 1, DX_MEAN, DX_AGAIN, DX_OF_0, DX_WAYS };
enum { SUMMED = 1, ONLY_ON_0, DIVIDED, GRADIENT_WAYS };

static double dh_of(const check_case *c, int q, size_t row, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < OUTPUTS; k++) sum += common(c, OF_DY + row * OUTPUTS + k) * b_of(c, q, j, k);
    return h_of(c, q, row, j) > 0 ? sum : 0;
}

static void compute_dx(const check_case *c, int way, int rank, double *dx)
{
    for (size_t i = 0; i < BATCH * INPUTS; i++)
        for (int q = 0; q < c->ranks; q++) {
            double part = 0;
            for (size_t j = 0; j < hidden_of(c, q); j++) part += dh_of(c, q, i / INPUTS, j) * a_of(c, q, i % INPUTS, j);
            if (way == DX_AGAIN) part *= c->ranks;
            if ((way == DX_PART && q != rank) || (way == DX_OF_0 && q)) continue;
            dx[i] += part / (way == DX_MEAN ? c->ranks : 1);
        }
}

/* Number i of a rank's gradient of the tensor that is judged. */
static double gradient_of(const check_case *c, int rank, size_t i)
{
    size_t hidden = hidden_of(c, rank);
    double sum = 0;
    if (tensor_judged < 3 && i >= count_tensor(c, rank)) return 0;
    for (size_t row = 0; row < BATCH; row++) switch (tensor_judged) {
        case 0: sum += common(c, OF_X + row * INPUTS + i / hidden) * dh_of(c, rank, row, i % hidden); break;
        case 1: sum += dh_of(c, rank, row, i); break;
        case 2: sum += h_of(c, rank, row, i / OUTPUTS) * common(c, OF_DY + row * OUTPUTS + i % OUTPUTS); break;
        default: sum += common(c, OF_DY + row * OUTPUTS + i); break;
        }
    return sum;
}

static void compute_gradient(const check_case *c, int way, int rank, double *numbers)
{
    for (size_t i = 0; i < count_tensor(c, rank); i++)
        for (int q = 0; q < c->ranks; q++) {
            bool counts = way == SUMMED || q == rank;
            if (way == ONLY_ON_0 && rank) counts = false;
            if (counts) numbers[i] += gradient_of(c, q, i) / (way == DIVIDED ? c->ranks : 1);
        }
}

static bool gradients(const check_case *c)
{
    static const char *const words[] = {
        [SUMMED] =
            "was added up over the ranks. It was whole already: every rank has a part of the weights of its own, "
            "and all of b_bias, and has seen all examples",
        [ONLY_ON_0] = "is there on rank 0 only: every rank has b_bias, and changes it by itself",
        [DIVIDED] = "was divided by the number of ranks: nothing of it is counted twice"};
    for (tensor_judged = 0; tensor_judged < TENSORS; tensor_judged++) {
        ways_result gradient = {tensors[tensor_judged], count_tensor, GRADIENT_WAYS, compute_gradient};
        if (ways_right(&gradient, c, NULL)) continue;
        int way = ways_find(&gradient, c);
        if (way >= 0)
            check_fail(c, "gradient", "The gradient of %s %s.", gradient.name, words[way]);
        else
            check_also(c, "This is the gradient of %s.", gradient.name);
        return false;
    }
    return true;
}

static size_t count_dx(const check_case *c, int rank)
{
    (void)c, (void)rank;
    return BATCH * INPUTS;
}

static void judge_backward(const check_case *c)
{
    static const ways_result dx = {"dx", count_dx, DX_WAYS, compute_dx};
    if (!gradients(c)) return;
    if (!ways_right(&dx, c, NULL)) {
        int way = ways_find(&dx, c);
        if (way == DX_PART && !ways_judged.from && explain_calls(c)) return;
        if (way == DX_PART)
            check_fail(
                c, "dx",
                "dx has this rank's part of the sum only. x went into every rank's columns of a, so its gradient "
                "comes back from all of them: what was copied in forward is added up in backward.");
        if (way == DX_MEAN) check_fail(c, "mean", "The ranks' parts of dx were averaged, not added up.");
        if (way == DX_AGAIN)
            check_fail(c, "dx_again", "dx was all-reduced twice: what was whole was added up once more.");
        if (way == DX_OF_0)
            check_fail(c, "dx", "Every rank's dx is rank 0's part of the sum: copied, and not added up.");
        if (way < 0 && !explain_calls(c)) {
            ways_explain_bytes(c, BATCH * INPUTS);
            collects_list(c, buffer_names);
        } else if (way >= 0)
            explain_sum(&dx, c, INPUTS, way == DX_PART);
    } else if (check_same_bits(c, "bits", "dx") &&
               !ways_one_all_reduce(c, BATCH * INPUTS, "That is all that backward needs: dx.")) {
        collects_list(c, buffer_names);
    }
}

static void judge(const check_case *c)
{
    if (c->variant == CUT)
        cut_is_right(c);
    else if (c->variant == FORWARD)
        judge_forward(c);
    else
        judge_backward(c);
}

static const char *const files[] = {"tensor_parallel.c", NULL};

const check_exercise check_27_tensor_parallel = {.name = "27_tensor_parallel",
                                                 .idea = "two layers, cut by columns, then by rows",
                                                 .call = "my_tensor_forward",
                                                 .files = files,
                                                 .hands_on_errors = true,
                                                 .library = CHECK_LIBRARY_ALL,
                                                 .cases = cases,
                                                 .run = run,
                                                 .judge = judge};
