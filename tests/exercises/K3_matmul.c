/* SPDX-License-Identifier: MIT */
/* The test of exercise K3: the product, for sizes that no tile divides, and each element that is loaded serves TILE products. */
#include "exercises/kernels.h"
#include "tests/exercises/device.h"

#pragma weak my_matmul

static const device_size sizes[] = {
    {{16, 16, 16}, {4, 4}, DEVICE_FORWARD, "16 x 16 times 16 x 16, groups of 4 x 4"},
    {{8, 24, 5}, {2, 2}, DEVICE_FORWARD, "8 x 5 times 5 x 24, groups of 2 x 2"},
    {{13, 7, 9}, {2, 2}, DEVICE_FORWARD, "13 x 9 times 9 x 7, groups of 2 x 2"},
    {{13, 7, 9}, {4, 2}, DEVICE_BACKWARD, "13 x 9 times 9 x 7, groups of 4 x 2, the last work-items first"},
    {{1, 1, 1}, {1, 1}, DEVICE_FORWARD, "1 x 1 times 1 x 1, groups of 1"},
    {{3, 30, 17}, {8, 1}, DEVICE_SHUFFLED, "3 x 17 times 17 x 30, groups of 8 x 1, work-items in any order"},
    {{30, 3, 17}, {1, 8}, DEVICE_SHUFFLED, "30 x 17 times 17 x 3, groups of 1 x 8, work-items in any order"},
};

static void call(float *const at[])
{
    const work_argument *is = device_now()->arguments;
    my_matmul(at[0], at[1], at[2], (int)is[3].count, (int)is[4].count, (int)is[5].count);
}

static const device_test test = {
    .sizes = sizes, .count = sizeof sizes / sizeof *sizes, .describe = work_matmul, .call = call};

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

/* Ways to be wrong: the sum over p of what is read at two places. */
typedef enum {
    A_TRANSPOSED,
    B_TRANSPOSED,
    C_TRANSPOSED,
    FIRST_STEP,
    NO_LAST_STEP,
    LAST_STEP,
    PRODUCT_OF_SUMS,
    A_STRIDE,
    B_STRIDE,
    LEFT_ONLY,
    RIGHT_ONLY,
    NO_FIRST_STEP,
    FIRST_COLUMN,
    FIRST_ROW,
    TURNED,
    WAYS
} way;

static const struct {
    const char *key, *words;
} said[WAYS] = {
    [A_TRANSPOSED] = {"stride", "a was read as if it were its transpose: element (i, p) lies at a[i * k + p]."},
    [B_TRANSPOSED] = {"stride", "b was read as if it were its transpose: element (p, j) lies at b[p * n + j]."},
    [C_TRANSPOSED] = {"stride", "c is the transpose of what it should be: element (i, j) belongs in c[i * n + j]."},
    [FIRST_STEP] = {"steps", "Only the first of the k steps is in c."},
    [NO_LAST_STEP] = {"steps", "The last of the k steps is missing in c."},
    [LAST_STEP] =
        {"steps",
         "Only the last of the k steps is in c: the sums begin again in each, or are set instead of added to."},
    [A_STRIDE] = {"stride", "Rows of a were taken to be n long: they are k long, element (i, p) lies at a[i * k + p]."},
    [B_STRIDE] = {"stride", "Rows of b were taken to be k long: they are n long, element (p, j) lies at b[p * n + j]."},
    [LEFT_ONLY] = {"tile", "In a tile the row's number was taken for both: sum[i][j] belongs to left[i] and right[j]."},
    [RIGHT_ONLY] = {"tile",
                    "In a tile the column's number was taken for both: sum[i][j] belongs to left[i] and right[j]."},
    [NO_FIRST_STEP] = {"steps", "The first of the k steps is missing in c."},
    [FIRST_COLUMN] = {"tile", "All columns of a tile are its first one: b was read at the same column for each j."},
    [FIRST_ROW] = {"tile", "All rows of a tile are its first one: a was read in the same row for each i."},
    [TURNED] = {"tile",
                "Within a tile rows and columns are exchanged: sum[i][j] belongs in row row + i, column column + j."},
    [PRODUCT_OF_SUMS] = {"steps", "Each element is the product of two sums, where it should be the sum of products."}};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static double at_way(const check_case *c, way how, size_t i, size_t j)
{
    const size_t *s = sizes[c->variant].n, m = s[0], n = s[1], k = s[2];
    double sum = 0, left = 0, right = 0;
    size_t first = how == LAST_STEP       ? k - 1
                   : how == NO_FIRST_STEP ? 1
                                          : 0,
           end = how == FIRST_STEP     ? 1
                 : how == NO_LAST_STEP ? k - 1
                                       : k;
    if (how == C_TRANSPOSED) {
        size_t place = i * n + j;
        i = place % m;
        j = place / m;
    }
    size_t top = i / TILE * TILE, side = j / TILE * TILE;
    size_t row = how == RIGHT_ONLY || how == TURNED ? least(top + j % TILE, m - 1)
                 : how == FIRST_ROW                 ? top
                                                    : i,
           column = how == LEFT_ONLY || how == TURNED ? least(side + i % TILE, n - 1)
                    : how == FIRST_COLUMN             ? side
                                                      : j;
    for (size_t p = first; p < end; p++) {
        size_t at_a = how == A_TRANSPOSED ? p * m + row : row * (how == A_STRIDE ? n : k) + p;
        size_t at_b = how == B_TRANSPOSED ? column * k + p : p * (how == B_STRIDE ? k : n) + column;
        double a = device_value(&test, c, 0, at_a), b = device_value(&test, c, 1, at_b);
        sum += a * b;
        left += a;
        right += b;
    }
    return how == PRODUCT_OF_SUMS ? left * right : sum;
}

static bool is_way(const check_case *c, way how)
{
    const size_t *s = sizes[c->variant].n;
    for (size_t e = 0; e < s[0] * s[1]; e++)
        if (check_element(c, 0, "c", e) != at_way(c, how, e / s[1], e % s[1])) return false;
    return true;
}

/* How many elements belong to tiles that reach over the edge, if those and no other were not written. */
static size_t over_the_edge(const check_case *c)
{
    const size_t *s = sizes[c->variant].n;
    size_t left_out = 0;
    for (size_t e = 0; e < s[0] * s[1]; e++) {
        bool whole = (e / s[1] / TILE + 1) * TILE <= s[0] && (e % s[1] / TILE + 1) * TILE <= s[1];
        if (device_is_unwritten(c, e) == whole) return 0;
        left_out += !whole;
    }
    return left_out;
}

/* Is only part of each tile right? Where are the wrong ones? */
static void explain(const check_case *c)
{
    const size_t *s = sizes[c->variant].n;
    size_t wrong = 0, inside = 0, first = 0, zeros = 0, left_out = over_the_edge(c);
    for (int how = 0; how < WAYS; how++)
        if (is_way(c, (way)how)) {
            check_fail(c, said[how].key, "%s", said[how].words);
            return;
        }
    if (left_out) {
        check_fail(c, "tail",
                   "%zu of %zu elements of c were not written: all those of tiles that reach over the edge, and no "
                   "other. What is inside of such a tile counts.",
                   left_out, s[0] * s[1]);
        return;
    }
    if (device_unwritten(c)) return;
    for (size_t e = s[0] * s[1]; e-- > 0;) {
        double is = check_element(c, 0, "c", e);
        zeros += is == 0;
        if (is == device_want[e]) continue;
        wrong++;
        first = e;
        inside += (e / s[1] / TILE + 1) * TILE <= s[0] && (e % s[1] / TILE + 1) * TILE <= s[1];
    }
    if (zeros == s[0] * s[1])
        check_fail(c, "nothing", "c is all zeros: nothing was added up.");
    else if (!inside)
        check_fail(
            c, "edge",
            "All whole tiles are right, and %zu elements of those that reach over the edge are wrong: the first is "
            "(%zu, %zu) of %zu x %zu.",
            wrong, first / s[1], first % s[1], s[0], s[1]);
    else
        check_fail(c, "tile",
                   "%zu of %zu elements are wrong; the first is (%zu, %zu), which is (%zu, %zu) of its tile.", wrong,
                   s[0] * s[1], first / s[1], first % s[1], first / s[1] % TILE, first % s[1] % TILE);
}

static void contract(const check_case *c)
{
    static const char *const names[] = {"a", "b"};
    const size_t *s = sizes[c->variant].n;
    double items = (double)(device_now()->global[0] * device_now()->global[1]), most = items * TILE * (double)s[2];
    for (int i = 0; i < 2; i++) {
        double reads = device_count(c, i, DEVICE_READS);
        if (reads <= most) continue;
        check_fail(c, "reuse",
                   "%s was read %.0f times; %.0f are enough: in each step a tile needs %d elements of it, and each of "
                   "them serves %d products, from a register.",
                   names[i], reads, most, TILE, TILE);
        return;
    }
}

/* Behind the end of a, where a[i * n + p] lies. */
static bool a_is_read_by_n(const check_case *c)
{
    const size_t *s = sizes[c->variant].n;
    size_t at = (size_t)fmax(device_fact(c, DEVICE_ELEMENT), 0);
    return (int)device_fact(c, DEVICE_KIND) == DEVICE_BOUNDS && (int)device_fact(c, DEVICE_BUFFER) == 0 &&
           s[1] > s[2] && at >= s[0] * s[2] && at / s[1] < s[0] && at % s[1] < s[2];
}

/* Has the work-item's tile an element at this place, if rows of c are taken to be so long? */
static bool has_at(int item, int group, size_t stride, size_t place)
{
    const work *w = device_now();
    size_t groups = w->global[0] / w->local[0], i = (size_t)item, g = (size_t)group;
    size_t column = (g % groups * w->local[0] + i % w->local[0]) * TILE,
           row = (g / groups * w->local[1] + i / w->local[0]) * TILE;
    for (size_t k = 0; k < (size_t)TILE * TILE; k++)
        if ((row + k / TILE) * stride + column + k % TILE == place) return true;
    return false;
}

/* Two work-items write c where it is both theirs if rows are k long. */
static bool c_is_written_by_k(const check_case *c)
{
    const size_t *s = sizes[c->variant].n;
    size_t place = (size_t)fmax(device_fact(c, DEVICE_ELEMENT), 0);
    return (int)device_fact(c, DEVICE_KIND) == DEVICE_RACE && (int)device_fact(c, DEVICE_BUFFER) == 2 && s[1] != s[2] &&
           has_at((int)device_fact(c, DEVICE_ITEM), (int)device_fact(c, DEVICE_GROUP_OF), s[2], place) &&
           has_at((int)device_fact(c, DEVICE_OTHER_ITEM), (int)device_fact(c, DEVICE_OTHER_GROUP), s[2], place);
}

static void judge(const check_case *c)
{
    if (!device_is_fine(&test, c)) {
        if (c_is_written_by_k(c))
            check_also(c,
                       "Were rows of c taken to be k = %zu long? They are n = %zu long: element (i, j) lies at "
                       "c[i * n + j].",
                       sizes[c->variant].n[2], sizes[c->variant].n[1]);
        if (a_is_read_by_n(c))
            check_also(c,
                       "Were rows of a taken to be n = %zu long? They are k = %zu long: element (i, p) lies at "
                       "a[i * k + p].",
                       sizes[c->variant].n[1], sizes[c->variant].n[2]);
        return;
    }
    if (device_values(&test, c))
        contract(c);
    else
        explain(c);
}

static const char *const files[] = {"matmul.cl", NULL};

const check_exercise check_K3_matmul = {.name = "K3_matmul",
                                        .idea = "tiles in registers: what is loaded serves several products",
                                        .call = "my_matmul",
                                        .files = files,
                                        .library = CHECK_LIBRARY_P2P,
                                        .opencl = true,
                                        .cases = cases,
                                        .run = run,
                                        .judge = judge};
