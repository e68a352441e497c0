/* SPDX-License-Identifier: MIT */
/* The test of exercise K4: the convolution, up to the border, and each pixel that is loaded serves CHANNELS planes. */
#include "exercises/kernels.h"
#include "tests/exercises/device.h"

#pragma weak my_conv

static const device_size sizes[] = {
    {{1, 4, 4, 8}, {4, 4}, DEVICE_FORWARD, "1 channel to 4, 4 x 8, groups of 4 x 4"},
    {{3, 8, 6, 5}, {4, 2}, DEVICE_FORWARD, "3 channels to 8, 6 x 5, groups of 4 x 2"},
    {{2, 6, 5, 7}, {4, 4}, DEVICE_BACKWARD, "2 channels to 6, 5 x 7, groups of 4 x 4, the last work-items first"},
    {{2, 1, 3, 3}, {1, 1}, DEVICE_FORWARD, "2 channels to 1, 3 x 3, groups of 1"},
    {{1, 5, 1, 1}, {2, 2}, DEVICE_FORWARD, "1 channel to 5, 1 x 1, groups of 2 x 2"},
    {{4, 9, 7, 17}, {8, 2}, DEVICE_SHUFFLED, "4 channels to 9, 7 x 17, groups of 8 x 2, work-items in any order"},
};

static void call(float *const at[])
{
    const work_argument *is = device_now()->arguments;
    my_conv(at[0], at[1], at[2], (int)is[3].count, (int)is[4].count, (int)is[5].count, (int)is[6].count);
}

static const device_test test = {
    .sizes = sizes, .count = sizeof sizes / sizeof *sizes, .describe = work_conv, .call = call};

static void cases(check_plan *plan)
{
    device_add(plan, &test);
}

static void run(p2p_comm *comm, const check_case *c)
{
    (void)comm;
    device_case(&test, c);
}

/* ---- In learn ---- */

typedef enum {
    FLIPPED,
    TURNED,
    NO_SHIFT,
    NO_ROW_SHIFT,
    NO_COLUMN_SHIFT,
    LAST_CHANNEL,
    FIRST_CHANNEL,
    CLAMPED,
    WRAPPED,
    SAME_WEIGHTS,
    FIRST_WEIGHTS,
    ONE_PLANE,
    LAST_ONLY,
    SWAPPED,
    TAP_FIRST,
    BY_HEIGHT,
    TO_THE_FIRST_OUTSIDE, /* break for continue: in one loop over the taps; in that over columns, rows, and both */
    TO_A_COLUMN_OUTSIDE,
    TO_A_ROW_OUTSIDE,
    TO_ANY_OUTSIDE,
    WAYS,
    WITHOUT_EDGES = WAYS, /* and above: which rows and columns of in were left out */
    TOP = 1,
    LEFT = 2,
    BOTTOM = 4,
    RIGHT = 8,
    ALL_WAYS = WITHOUT_EDGES + 16
} way;

static const struct {
    const char *key, *words;
} said[WAYS] = {
    [FLIPPED] = {"taps", "The taps were used in the opposite order: tap 0 is that of the pixel above on the left."},
    [TURNED] = {"taps", "Rows and columns of the taps were exchanged: tap / 3 is the row, tap % 3 the column."},
    [NO_SHIFT] = {"taps", "The taps lie one row and one column too far: the middle one, tap 4, is the pixel itself."},
    [NO_ROW_SHIFT] = {"taps",
                      "The taps lie one row too far: their rows are y - 1 to y + 1, those of tap 0 to 2 above."},
    [NO_COLUMN_SHIFT] = {"taps",
                         "The taps lie one column too far: their columns are x - 1 to x + 1, those of taps 0, 3 "
                         "and 6 on the left."},
    [LAST_CHANNEL] = {"channels",
                      "Only the last input channel is in the sums: they begin with 0 once, before the first."},
    [FIRST_CHANNEL] = {"channels", "Only the first input channel is in the sums."},
    [CLAMPED] = {"border", "Outside the picture the nearest pixel was taken. Zeros are outside."},
    [WRAPPED] = {"border", "A row's end goes on in the next row: the column must be inside, too, not only the place in "
                           "the plane."},
    [SAME_WEIGHTS] = {"weights", "All outputs have the weights of the first one of their work-item."},
    [FIRST_WEIGHTS] = {"weights", "All work-items have the weights of outputs 0 to 3: they are those of first + o."},
    [ONE_PLANE] = {"channels", "All channels were read from plane 0 of in: channel c begins at c * height * width."},
    [LAST_ONLY] = {"channels", "Only the last product is in each sum: it is set, where it should be added to."},
    [SWAPPED] = {"weights",
                 "Weights were read with channels and outputs exchanged: those of output o and channel c begin "
                 "at (o * channels + c) * 9."},
    [TAP_FIRST] = {"weights",
                   "Weights were read as if those of all channels of a tap lay side by side: it is the 9 taps of a "
                   "channel that do, tap t of output o and channel c is at (o * channels + c) * 9 + t."},
    [BY_HEIGHT] = {"rows", "in was read as if its rows were height long: a row has width pixels."},
    [TO_THE_FIRST_OUTSIDE] = {"border.ends", "At the first tap that is outside the loop over the taps ends, so those "
                                             "behind it that are inside are lost. Such a tap is left out: continue, "
                                             "not break."},
    [TO_A_COLUMN_OUTSIDE] = {"border.ends", "At a tap whose column is outside the loop over the columns ends: on the "
                                            "left border the two behind it, which are inside, are lost. Such a tap is "
                                            "left out: continue, not break."},
    [TO_A_ROW_OUTSIDE] = {"border.ends", "At a row of taps that is outside the loop over the rows ends: on the upper "
                                         "border the two below it, which are inside, are lost. Such a row is left out: "
                                         "continue, not break."},
    [TO_ANY_OUTSIDE] = {"border.ends",
                        "At a row or a column of taps that is outside its loop ends: on the upper and on the left "
                        "border those behind it, which are inside, are lost. They are left out: continue, not break."}};

/* Is a tap not reached, since a loop has ended at one that is outside? */
static bool is_lost(const check_case *c, way how, size_t y, size_t x, size_t tap)
{
    const size_t *s = sizes[c->variant].n;
    bool left = x == 0, right = x + 1 == s[3], above = y == 0, below = y + 1 == s[2];
    size_t row = tap / 3, column = tap % 3;
    bool by_column = left || (right && column == 2), by_row = above || (below && row == 2);
    switch (how) {
    case TO_THE_FIRST_OUTSIDE: return above || left || (right && tap >= 2) || (below && tap >= 6);
    case TO_A_COLUMN_OUTSIDE: return by_column;
    case TO_A_ROW_OUTSIDE: return by_row;
    case TO_ANY_OUTSIDE: return by_column || by_row;
    default: return false;
    }
}

/* The pixel that a tap means, in one of these ways; 0 outside. */
static double pixel_at(const check_case *c, way how, size_t channel, size_t y, size_t x, size_t tap)
{
    const size_t *s = sizes[c->variant].n;
    long height = (long)s[2], width = (long)s[3], down = how != NO_SHIFT && how != NO_ROW_SHIFT,
         right = how != NO_SHIFT && how != NO_COLUMN_SHIFT;
    long row = (long)y + (long)(tap / 3) - down, column = (long)x + (long)(tap % 3) - right;
    if (how == TURNED) row = (long)y + (long)(tap % 3) - 1, column = (long)x + (long)(tap / 3) - 1;
    long place = row * width + column;
    if (how == CLAMPED) {
        row = row < 0 ? 0 : row >= height ? height - 1 : row;
        column = column < 0 ? 0 : column >= width ? width - 1 : column;
        place = row * width + column;
    }
    bool inside = row >= 0 && row < height && column >= 0 && column < width;
    if (how > WITHOUT_EDGES) {
        unsigned out = (unsigned)(how - WITHOUT_EDGES);
        inside &= !(out & TOP && row == 0) && !(out & LEFT && column == 0) && !(out & BOTTOM && row + 1 == height) &&
                  !(out & RIGHT && column + 1 == width);
    }
    if (how == BY_HEIGHT)
        return inside ? device_value(&test, c, 0, (channel * s[2] + (size_t)row) * s[2] + (size_t)column) : 0;
    if (is_lost(c, how, y, x, tap)) return 0;
    if (how == WRAPPED) inside = place >= 0 && place < height * width;
    return inside ? device_value(&test, c, 0, channel * s[2] * s[3] + (size_t)place) : 0;
}

static double at_way(const check_case *c, way how, size_t o, size_t y, size_t x)
{
    const size_t *s = sizes[c->variant].n;
    double sum = 0;
    for (size_t t = how == LAST_CHANNEL ? (s[0] - 1) * 9 : 0; t < (how == FIRST_CHANNEL ? 1 : s[0]) * 9; t++) {
        size_t from = how == SAME_WEIGHTS    ? o / CHANNELS * CHANNELS
                      : how == FIRST_WEIGHTS ? o % CHANNELS
                                             : o,
               tap = how == FLIPPED ? 8 - t % 9 : t % 9;
        size_t weight = how == SWAPPED     ? (t / 9 * s[1] + o) * 9 + tap
                        : how == TAP_FIRST ? (o * 9 + tap) * s[0] + t / 9
                                           : (from * s[0] + t / 9) * 9 + tap;
        double product = pixel_at(c, how, how == ONE_PLANE ? 0 : t / 9, y, x, t % 9) *
                         device_value(&test, c, 1, weight);
        if (how == LAST_ONLY && product != 0) sum = 0;
        sum += product;
    }
    return sum;
}

static bool is_way(const check_case *c, way how)
{
    const size_t *s = sizes[c->variant].n;
    for (size_t e = 0; e < s[1] * s[2] * s[3]; e++)
        if (check_element(c, 0, "out", e) != at_way(c, how, e / (s[2] * s[3]), e / s[3] % s[2], e % s[3])) return false;
    return true;
}

/* Nothing was written where the picture ends, and everywhere else something was. */
static bool leaves_out_the_border(const check_case *c)
{
    const size_t *s = sizes[c->variant].n;
    for (size_t e = 0; e < s[1] * s[2] * s[3]; e++) {
        size_t y = e / s[3] % s[2], x = e % s[3];
        bool border = y == 0 || x == 0 || y + 1 == s[2] || x + 1 == s[3];
        if (device_is_unwritten(c, e) != border) return false;
    }
    return s[2] > 2 && s[3] > 2;
}

/* Pixels at an edge of in were taken to be outside. */
static bool explain_edges(const check_case *c)
{
    for (int how = WITHOUT_EDGES + 1; how < ALL_WAYS; how++) {
        unsigned out = (unsigned)(how - WITHOUT_EDGES);
        if (!is_way(c, (way)how)) continue;
        return !check_fail(c, "border.edge",
                           "Pixels at an edge of in were left out, as if they were outside:%s%s%s%s of each channel. "
                           "Rows 0 to height - "
                           "1 and columns 0 to width - 1 are inside.",
                           out & TOP ? " row 0," : "", out & LEFT ? " column 0," : "",
                           out & BOTTOM ? " row height - 1," : "", out & RIGHT ? " column width - 1," : "");
    }
    return false;
}

static void explain(const check_case *c)
{
    const size_t *s = sizes[c->variant].n;
    size_t wrong = 0, inner = 0, first = 0, zeros = 0, plane = s[2] * s[3];
    for (int how = 0; how < WAYS; how++)
        if (is_way(c, (way)how)) {
            check_fail(c, said[how].key, "%s", said[how].words);
            return;
        }
    if (explain_edges(c)) return;
    if (leaves_out_the_border(c)) {
        check_fail(
            c, "border",
            "The pixels on the border were not written. Some of their taps are outside, and count as zeros: what "
            "is left is a sum as well.");
        return;
    }
    if (device_unwritten(c)) return;
    for (size_t e = s[1] * plane; e-- > 0;) {
        size_t y = e / s[3] % s[2], x = e % s[3];
        double is = check_element(c, 0, "out", e);
        zeros += is == 0;
        if (is == device_want[e]) continue;
        wrong++;
        first = e;
        inner += y > 0 && x > 0 && y + 1 < s[2] && x + 1 < s[3];
    }
    if (zeros == s[1] * plane)
        check_fail(c, "nothing", "out is all zeros: nothing was added up.");
    else if (!inner && s[2] > 2 && s[3] > 2)
        check_fail(
            c, "border",
            "All pixels inside are right, and %zu on the border are wrong: the first is (%zu, %zu) of plane %zu. "
            "Outside there are zeros.",
            wrong, first / s[3] % s[2], first % s[3], first / plane);
    else
        check_fail(c, "values", "%zu of %zu elements are wrong; the first is pixel (%zu, %zu) of plane %zu.", wrong,
                   s[1] * plane, first / s[3] % s[2], first % s[3], first / plane);
}

static void contract(const check_case *c)
{
    const size_t *s = sizes[c->variant].n;
    size_t tiles = (s[1] + CHANNELS - 1) / CHANNELS;
    double reads = device_count(c, 0, DEVICE_READS), most = (double)(tiles * s[0] * s[2] * s[3] * 9);
    if (reads > most)
        check_fail(c, "reuse",
                   "in was read %.0f times; %.0f are enough: a pixel that is loaded serves %d output planes, from a "
                   "register.",
                   reads, most, CHANNELS);
}

static void judge(const check_case *c)
{
    if (!device_is_fine(&test, c)) return;
    if (device_values(&test, c))
        contract(c);
    else
        explain(c);
}

static const char *const files[] = {"conv.cl", NULL};

const check_exercise check_K4_conv = {.name = "K4_conv",
                                      .idea = "a rung of the ladder: a pixel that is loaded serves four channels",
                                      .call = "my_conv",
                                      .files = files,
                                      .library = CHECK_LIBRARY_P2P,
                                      .opencl = true,
                                      .cases = cases,
                                      .run = run,
                                      .judge = judge};
