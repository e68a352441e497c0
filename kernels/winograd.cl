/* SPDX-License-Identifier: MIT */
/*
 * winograd: Winograd's algorithm along one axis, F(4, 3), as in Lavin and Gray, "Fast algorithms for convolutional
 * neural networks" (2016). conv_winograd.cl convolves with it, conv_weight_winograd.cl goes back by weight.
 *
 * F(2, 3), which is shorter: two results of three weights from four inputs take six products. Four are enough:
 *
 *      p0 = (d0 - d2) g0                       y0 = d0 g0 + d1 g1 + d2 g2 = p0 + p1 + p2
 *      p1 = (d1 + d2) (g0 + g1 + g2) / 2       y1 = d1 g0 + d2 g1 + d3 g2 = p1 - p2 - p3
 *      p2 = (d2 - d1) (g0 - g1 + g2) / 2
 *      p3 = (d1 - d3) g2
 *
 * Where that comes from: a product of two polynomials, of 3 and 2 coefficients, has 4, so its values at 4 points
 * determine it, and a value takes one multiplication. The points here are 0, 1, -1 and infinity (the last coefficient).
 * A convolution is such a product with its matrices transposed, so it takes as many.
 *
 * F(4, 3) is used here: four results from six inputs by 6 products instead of 12, with the points 0, a, -a, b, -b and
 * infinity. With a = 1 and b = 2, as in the paper, rounding errors are eight times those of the plain sum; with
 * a = 1 / sqrt 2 and b = sqrt 2 about twice, for the numbers in the matrices are nearer to 1 (Alam and others,
 * "Winograd convolution for deep neural networks: efficient point selection", 2022). y = A^T [(G g) * (B^T d)]:
 *
 *      B^T, a row for each point             G, a row for each point           A^T, a column for each point
 *      1   0  -5/2   0    1   0                     1   0    0                 1   1     1    1    1   0
 *      0 -2a   -2    a    1   0              -2/3 ( 1   a   1/2 )              0   a    -a    b   -b   0
 *      0  2a   -2   -a    1   0              -2/3 ( 1  -a   1/2 )              0  1/2  1/2    2    2   0
 *      0 -b/2 -1/2   b    1   0               1/6 ( 1   b    2  )              0  a/2 -a/2   2b  -2b   1
 *      0  b/2 -1/2  -b    1   0               1/6 ( 1  -b    2  )
 *      0   1    0  -5/2   0   1                     0   0    1
 *
 * A point p: in A^T 1, p, p^2, p^3. In B^T the coefficients of the polynomial that is 0 at all other points, for a
 * x (x + a) (x^2 - b^2), for infinity 0 at all. In G 1, p, p^2, divided by that polynomial's value at p: 1, -3/2, 6.
 */
#define ROW_PLACES 6 /* places of a row of a tile */
#define STEP 4       /* results of a row */
#define PLACES (ROW_PLACES * ROW_PLACES)

#define POINT_A 0.70710678f /* 1 / sqrt 2 */
#define POINT_B 1.41421356f

inline int tiles_along(int side)
{
    return (side + STEP - 1) / STEP;
}

/* A tile: where its first result is. */
typedef struct {
    int block, row, column;
} corner;

inline corner find_tile(int tile, int height, int width)
{
    const int across = tiles_along(width), tiles = tiles_along(height) * across;

    return (corner){tile / tiles, tile % tiles / across * STEP, tile % across * STEP};
}

/* Two of the six places of six inputs: `points` 0 are those of 0 and infinity (places 0 and 5), 1 those of a and -a
 * (1 and 2), 2 those of b and -b (3 and 4), which differ in the sign of their odd part. */
inline void input_places(vec *first, vec *second, const vec d[ROW_PLACES], int points)
{
    if (points == 0) {
        *first = MULTIPLY_ADD(d[2], (vec)-2.5f, d[0] + d[4]);
        *second = MULTIPLY_ADD(d[3], (vec)-2.5f, d[1] + d[5]);
    } else {
        const vec square = points == 1 ? -2.0f : -0.5f, point = points == 1 ? POINT_A : POINT_B;
        const vec even = MULTIPLY_ADD(d[2], square, d[4]), odd = MULTIPLY_ADD(d[1], square, d[3]);
        *first = MULTIPLY_ADD(odd, point, even);
        *second = MULTIPLY_ADD(odd, -point, even);
    }
}

/* All six. */
inline void transform_inputs(vec to[ROW_PLACES], const vec d[ROW_PLACES])
{
    input_places(&to[0], &to[5], d, 0);
    input_places(&to[1], &to[2], d, 1);
    input_places(&to[3], &to[4], d, 2);
}

/* Of TILE channels side by side, so that the compiler can use vectors. */
typedef struct {
    float at[TILE];
} filters;

#define EACH for (int t = 0; t < TILE; t++)

/* The six places of three weights. */
inline void transform_weights(filters to[ROW_PLACES], const filters a, const filters b, const filters c)
{
    EACH
    {
        const float even = (a.at[t] + c.at[t] * 0.5f) * (-2.0f / 3), odd = b.at[t] * (POINT_A * -2 / 3);
        const float far_even = (a.at[t] + c.at[t] * 2.0f) / 6, far_odd = b.at[t] * (POINT_B / 6);
        to[0].at[t] = a.at[t];
        to[1].at[t] = even + odd;
        to[2].at[t] = even - odd;
        to[3].at[t] = far_even + far_odd;
        to[4].at[t] = far_even - far_odd;
        to[5].at[t] = c.at[t];
    }
}

/* The four results of six places. */
inline void transform_results(vec to[STEP], const vec m[ROW_PLACES])
{
    const vec even = m[1] + m[2], odd = (m[1] - m[2]) * POINT_A, far_even = m[3] + m[4],
              far_odd = (m[3] - m[4]) * POINT_B;

    to[0] = m[0] + even + far_even;
    to[1] = odd + far_odd;
    to[2] = MULTIPLY_ADD(even, (vec)0.5f, far_even * 2.0f);
    to[3] = MULTIPLY_ADD(odd, (vec)0.5f, MULTIPLY_ADD(far_odd, (vec)2.0f, m[5]));
}

/* ---- By weight: A and G^T, where A^T and G were ---- */

/* Two of the six places of the gradients of four results. */
inline void gradient_places(vec *first, vec *second, const vec e[STEP], int points)
{
    if (points == 0) {
        *first = e[0];
        *second = e[3];
    } else {
        const vec square = points == 1 ? 0.5f : 2.0f, point = points == 1 ? POINT_A : POINT_B;
        const vec even = MULTIPLY_ADD(e[2], square, e[0]), odd = MULTIPLY_ADD(e[3], square, e[1]);
        *first = MULTIPLY_ADD(odd, point, even);
        *second = MULTIPLY_ADD(odd, -point, even);
    }
}

/* All six. */
inline void transform_gradients(vec to[ROW_PLACES], const vec e[STEP])
{
    gradient_places(&to[0], &to[5], e, 0);
    gradient_places(&to[1], &to[2], e, 1);
    gradient_places(&to[3], &to[4], e, 2);
}

/* The gradients of three weights from six places. */
inline void transform_sums(vec to[3], const vec u[ROW_PLACES])
{
    const vec even = u[1] + u[2], odd = u[1] - u[2], far_even = u[3] + u[4], far_odd = u[3] - u[4];

    to[0] = u[0] - even * (2.0f / 3) + far_even / 6;
    to[1] = far_odd * (POINT_B / 6) - odd * (POINT_A * 2 / 3);
    to[2] = (far_even - even) / 3 + u[5];
}
