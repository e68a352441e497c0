/* SPDX-License-Identifier: MIT */
/*
 * proxy: what simulations do: a Poisson equation on a square grid that is divided among the ranks of a Cartesian topology,
 * solved by conjugate gradients. Halos are exchanged by persistent requests, columns as vectors; the solution is known.
 */
// ranks: 4
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>

#undef NDEBUG

enum { SIDE = 48, WEST, EAST, NORTH, SOUTH };

static int rows, columns, top, left, stride; /* own part of the grid, which has a halo around it */
static MPI_Comm grid;

static int at(int row, int column)
{
    return (row + 1) * stride + column + 1;
}

/* From first to last of SIDE points, for part `part` of `parts`. */
static void divide(int part, int parts, int *first, int *count)
{
    *first = SIDE * part / parts;
    *count = SIDE * (part + 1) / parts - *first;
}

static void halo(double *x, MPI_Request requests[8])
{
    MPI_Datatype column;
    int west, east, north, south;
    MPI_Cart_shift(grid, 0, 1, &north, &south);
    MPI_Cart_shift(grid, 1, 1, &west, &east);
    MPI_Type_vector(rows, 1, stride, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Recv_init(&x[at(0, -1)], 1, column, west, EAST, grid, &requests[0]);
    MPI_Recv_init(&x[at(0, columns)], 1, column, east, WEST, grid, &requests[1]);
    MPI_Recv_init(&x[at(-1, 0)], columns, MPI_DOUBLE, north, SOUTH, grid, &requests[2]);
    MPI_Recv_init(&x[at(rows, 0)], columns, MPI_DOUBLE, south, NORTH, grid, &requests[3]);
    MPI_Send_init(&x[at(0, 0)], 1, column, west, WEST, grid, &requests[4]);
    MPI_Send_init(&x[at(0, columns - 1)], 1, column, east, EAST, grid, &requests[5]);
    MPI_Send_init(&x[at(0, 0)], columns, MPI_DOUBLE, north, NORTH, grid, &requests[6]);
    MPI_Send_init(&x[at(rows - 1, 0)], columns, MPI_DOUBLE, south, SOUTH, grid, &requests[7]);
    MPI_Type_free(&column); /* the requests keep it */
}

static double dot(const double *a, const double *b)
{
    double own = 0, all;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) own += a[at(i, k)] * b[at(i, k)];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    return all;
}

/* y = A x, of the five-point stencil */
static void apply(const double *x, double *y, MPI_Request requests[8])
{
    MPI_Startall(8, requests);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            y[at(i, k)] = 4 * x[at(i, k)] - x[at(i - 1, k)] - x[at(i + 1, k)] - x[at(i, k - 1)] - x[at(i, k + 1)];
}

static double solution(int row, int column)
{
    const double y = (double)(top + row) / SIDE, x = (double)(left + column) / SIDE;
    return y * y * (1 - x) + x;
}

/* The square of the greatest error of what conjugate gradients find, on all ranks. */
static double solve(int points)
{
    double *x = calloc(5 * (size_t)points, sizeof *x), *p = x + points, *r = p + points, *q = r + points,
           *wanted = q + points;
    double worst = 0, all;
    MPI_Request p_halo[8], wanted_halo[8];
    halo(p, p_halo);
    halo(wanted, wanted_halo);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) wanted[at(i, k)] = solution(i, k);
    apply(wanted, r, wanted_halo);
    for (int i = 0; i < points; i++) p[i] = r[i];
    double rr = dot(r, r);
    for (int step = 0; step < 20 * SIDE && rr > 1e-20; step++) {
        apply(p, q, p_halo);
        double alpha = rr / dot(p, q);
        for (int i = 0; i < points; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double next = dot(r, r), beta = next / rr;
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < columns; k++) p[at(i, k)] = r[at(i, k)] + beta * p[at(i, k)];
        rr = next;
    }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) {
            double off = x[at(i, k)] - wanted[at(i, k)];
            if (off * off > worst) worst = off * off;
        }
    for (int i = 0; i < 8; i++) {
        MPI_Request_free(&p_halo[i]);
        MPI_Request_free(&wanted_halo[i]);
    }
    free(x);
    MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, 0, grid);
    MPI_Bcast(&all, 1, MPI_DOUBLE, 0, grid);
    return all;
}

int main(int argc, char **argv)
{
    int size, rank, parts[2] = {0, 0}, coords[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, parts);
    MPI_Cart_create(MPI_COMM_WORLD, 2, parts, (const int[]){0, 0}, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    divide(coords[0], parts[0], &top, &rows);
    divide(coords[1], parts[1], &left, &columns);
    stride = columns + 2;
    assert(solve((rows + 2) * stride) < 1e-16);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
