/* SPDX-License-Identifier: MIT */
/* Cartesian topologies: ranks as the places of a grid, in row-major order (MPI 5.0, 8.5). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

void mpi__cart_free(mpi__comm *comm)
{
    if (comm->cart) free(comm->cart->sizes);
    free(comm->cart);
    comm->cart = NULL;
}

static mpi__cart *cart_new(int dimensions)
{
    mpi__cart *cart = calloc(1, sizeof *cart);
    int *numbers = calloc(3 * (size_t)dimensions + 1, sizeof *numbers);
    if (!cart || !numbers) {
        free(cart);
        free(numbers);
        return NULL;
    }
    cart->dimensions = dimensions;
    cart->sizes = numbers;
    cart->periodic = numbers + dimensions;
    cart->coords = numbers + 2 * dimensions;
    return cart;
}

static void find_coords(const mpi__cart *cart, int rank, int coords[])
{
    for (int i = cart->dimensions; i-- > 0; rank /= cart->sizes[i]) coords[i] = rank % cart->sizes[i];
}

static int rank_at(const mpi__cart *cart, const int coords[])
{
    int rank = 0;
    for (int i = 0; i < cart->dimensions; i++) {
        int size = cart->sizes[i], at = coords[i];
        if (cart->periodic[i]) at = (at % size + size) % size;
        if (at < 0 || at >= size) return MPI_PROC_NULL;
        rank = rank * size + at;
    }
    return rank;
}

int mpi__cart_copy(mpi__comm *to, const mpi__comm *from)
{
    if (!from->cart) return MPI_SUCCESS;
    to->cart = cart_new(from->cart->dimensions);
    if (!to->cart) return MPI_ERR_NO_MEM;
    memcpy(to->cart->sizes, from->cart->sizes, 3 * (size_t)from->cart->dimensions * sizeof *from->cart->sizes);
    return MPI_SUCCESS;
}

static int begin(const char *name, MPI_Comm comm, mpi__comm **c)
{
    int code = mpi__begin(c, comm, &(p2p_layer_call){.name = name});
    if (code || (*c)->cart) return code;
    return mpi__end(*c, mpi__wrong(*c, MPI_ERR_TOPOLOGY, P2P_ARGUMENT_COMMUNICATOR,
                                   "the communicator has no Cartesian topology" MPI__TRY "one of MPI_Cart_create"));
}

/* A colour that differs where grids do. */
static int colour_of(int ndims, const int dims[], const int periods[])
{
    uint32_t colour = 1;
    for (int i = 0; i < ndims; i++) colour = colour * 40503 + 2 * (uint32_t)dims[i] + (periods[i] != 0);
    return (int)(colour & INT_MAX);
}

API(Cart_create)
(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *comm_cart)
{
    mpi__comm *c;
    int places = 1, rank, code = mpi__begin(&c, comm_old, &(p2p_layer_call){.name = "MPI_Cart_create"});
    const char *file;
    int line;
    (void)reorder;
    if (!code) code = mpi__place(c, comm_cart, "comm_cart");
    if (code) return code;
    if (ndims < 0) code = mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "%d dimensions are impossible", ndims);
    for (int i = 0; i < ndims && !code; i++) {
        if (dims[i] <= 0)
            code = mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "dimension %d has size %d", i, dims[i]);
        else
            places *= dims[i];
    }
    if (!code && places > c->size)
        code = mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "the grid has %d places, but there are %d ranks", places,
                          c->size);
    if (code) return mpi__end(c, code);
    rank = c->rank;
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    p2p__here(file, line);
    code = mpi__split_alike(
        c, "MPI_Cart_create", rank < places ? colour_of(ndims, dims, periods) : MPI_UNDEFINED, rank, places,
        "not all ranks have given this grid" MPI__TRY "the same dimensions and periods on all ranks", comm_cart);
    if (code || *comm_cart == MPI_COMM_NULL) return code;
    mpi__comm *made = mpi__comm_of(*comm_cart);
    made->cart = cart_new(ndims);
    if (!made->cart) return MPI_ERR_NO_MEM;
    for (int i = 0; i < ndims; i++) {
        made->cart->sizes[i] = dims[i];
        made->cart->periodic[i] = periods[i] != 0;
    }
    find_coords(made->cart, made->rank, made->cart->coords);
    return MPI_SUCCESS;
}

API(Cart_coords)(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    mpi__comm *c;
    int code = begin("MPI_Cart_coords", comm, &c);
    if (code) return code;
    if (rank < 0 || rank >= c->size) return mpi__end(c, mpi__check_peer(c, rank < 0 ? -9 : rank, 0, false));
    if (maxdims < c->cart->dimensions)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "room for %d coordinates, but there are %d",
                                      maxdims, c->cart->dimensions));
    code = c->cart->dimensions ? mpi__check_pointer(c, coords, "coords") : MPI_SUCCESS;
    if (!code) find_coords(c->cart, rank, coords);
    return mpi__end(c, code);
}

API(Cart_rank)(MPI_Comm comm, const int coords[], int *rank)
{
    mpi__comm *c;
    int code = begin("MPI_Cart_rank", comm, &c);
    if (!code) code = mpi__place(c, rank, "rank");
    if (code) return code;
    *rank = rank_at(c->cart, coords);
    if (*rank == MPI_PROC_NULL)
        code = mpi__wrong(c, MPI_ERR_RANK, P2P_ARGUMENT_RANK, "these coordinates are outside of the grid");
    return mpi__end(c, code);
}

API(Cart_shift)(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    mpi__comm *c;
    int code = begin("MPI_Cart_shift", comm, &c);
    if (!code) code = mpi__place(c, rank_source, "rank_source");
    if (!code) code = mpi__place(c, rank_dest, "rank_dest");
    if (code) return code;
    if (direction < 0 || direction >= c->cart->dimensions)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "direction %d is not in [0,%d)", direction,
                                      c->cart->dimensions));
    int *at = c->cart->coords, own = at[direction];
    at[direction] = own + disp;
    *rank_dest = rank_at(c->cart, at);
    at[direction] = own - disp;
    *rank_source = rank_at(c->cart, at);
    at[direction] = own;
    return mpi__end(c, MPI_SUCCESS);
}

/* The part of the grid that this rank is in: its colour, which differs where remain_dims does too, and this rank's place. */
typedef struct {
    int dimensions, places, colour, key;
} part;

static part find_part(const mpi__cart *cart, const int remain_dims[])
{
    part p = {.places = 1};
    uint32_t which = 0, all = 1, colour = 0;
    for (int i = 0; i < cart->dimensions; i++) {
        bool remains = remain_dims[i] != 0;
        uint32_t size = (uint32_t)cart->sizes[i], at = (uint32_t)cart->coords[i];
        if (remains) p.key = p.key * cart->sizes[i] + cart->coords[i];
        if (!remains) colour = colour * size + at;
        p.dimensions += remains;
        p.places *= remains ? cart->sizes[i] : 1;
        which = 2 * which + remains;
        all *= size;
    }
    p.colour = (int)((colour + which * all) & INT_MAX);
    return p;
}

API(Cart_sub)(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    mpi__comm *c;
    int code = begin("MPI_Cart_sub", comm, &c), line;
    const char *file;
    if (!code) code = mpi__place(c, newcomm, "newcomm");
    if (code) return code;
    const mpi__cart *cart = c->cart;
    const part p = find_part(cart, remain_dims);
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    p2p__here(file, line);
    code = mpi__split_alike(c, "MPI_Cart_sub", p.colour, p.key, p.places,
                            "not all ranks of this grid have given these remain_dims" MPI__TRY "the same on all ranks",
                            newcomm);
    if (code) return code;
    mpi__comm *made = mpi__comm_of(*newcomm);
    made->cart = cart_new(p.dimensions);
    if (!made->cart) return MPI_ERR_NO_MEM;
    for (int i = 0, k = 0; i < cart->dimensions; i++) {
        if (!remain_dims[i]) continue;
        made->cart->sizes[k] = cart->sizes[i];
        made->cart->periodic[k] = cart->periodic[i];
        made->cart->coords[k++] = cart->coords[i];
    }
    return MPI_SUCCESS;
}

API(Cart_get)(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    mpi__comm *c;
    int code = begin("MPI_Cart_get", comm, &c);
    if (!code && maxdims > 0) code = mpi__place(c, dims, "dims");
    if (!code && maxdims > 0) code = mpi__place(c, periods, "periods");
    if (!code && maxdims > 0) code = mpi__place(c, coords, "coords");
    if (code) return code;
    for (int i = 0; i < c->cart->dimensions && i < maxdims; i++) {
        dims[i] = c->cart->sizes[i];
        periods[i] = c->cart->periodic[i];
        coords[i] = c->cart->coords[i];
    }
    return mpi__end(c, MPI_SUCCESS);
}

API(Cart_map)(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    mpi__comm *c;
    int places = 1, code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Cart_map"});
    (void)periods;
    if (!code) code = mpi__place(c, newrank, "newrank");
    if (code) return code;
    for (int i = 0; i < ndims; i++) places *= dims[i];
    *newrank = c->rank < places ? c->rank : MPI_UNDEFINED;
    return mpi__end(c, MPI_SUCCESS);
}

API(Cartdim_get)(MPI_Comm comm, int *ndims)
{
    mpi__comm *c;
    int code = begin("MPI_Cartdim_get", comm, &c);
    if (!code) code = mpi__place(c, ndims, "ndims");
    if (code) return code;
    *ndims = c->cart->dimensions;
    return mpi__end(c, MPI_SUCCESS);
}

API(Topo_test)(MPI_Comm comm, int *status)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Topo_test"});
    if (!code) code = mpi__place(c, status, "status");
    if (code) return code;
    *status = c->cart ? MPI_CART : mpi__graph_topology(c);
    return mpi__end(c, MPI_SUCCESS);
}

/* ---- Dimensions as close to each other as possible ---- */

enum { DIMENSIONS_MOST = 32, DIVISORS_MOST = 1536 /* that a number below 2^31 has */ };

typedef struct {
    int count, divisors[DIVISORS_MOST], found; /* ascending */
    int at[DIMENSIONS_MOST], best[DIMENSIONS_MOST];
    long long spread; /* of the best: its largest less its smallest */
} division;

static void find_divisors(division *d, int nodes)
{
    d->found = 0;
    for (int i = 1; i <= nodes / i; i++)
        if (nodes % i == 0) d->divisors[d->found++] = i;
    for (int i = d->found; i-- > 0;)
        if (nodes / d->divisors[i] != d->divisors[i]) d->divisors[d->found++] = nodes / d->divisors[i];
}

/* Is base to this power more than the limit? */
static bool exceeds(long long base, int power, long long limit)
{
    long long product = 1;
    while (power-- > 0 && product <= limit) product *= base;
    return product > limit;
}

/* All non-increasing divisions of `rest` into sizes k and following, but for those that cannot be better than the best. */
static void divide_rest(division *d, int k, int rest)
{
    int left = d->count - k;
    if (left == 0 && rest == 1) {
        d->spread = d->at[0] - d->at[d->count - 1];
        memcpy(d->best, d->at, sizeof d->best);
    }
    for (int i = 0; i < d->found && left; i++) {
        int size = d->divisors[i];
        if (k && size > d->at[k - 1]) break;
        if (rest % size || (!exceeds(size, left, rest - 1LL))) continue; /* what follows is not larger */
        long long lowest = (k ? d->at[0] : size) - d->spread + 1;
        if (lowest > 0 && exceeds(lowest, left, rest)) break; /* what follows has one below that */
        d->at[k] = size;
        divide_rest(d, k + 1, rest / size);
    }
}

static void divide(int nodes, int count, int sizes[])
{
    division d = {.count = count, .spread = (long long)INT_MAX + 1};
    find_divisors(&d, nodes);
    divide_rest(&d, 0, nodes);
    memcpy(sizes, d.best, (size_t)count * sizeof *sizes);
}

API(Dims_create)(int nnodes, int ndims, int dims[])
{
    mpi__comm *c;
    int open = 0, sizes[DIMENSIONS_MOST] = {0}, code = mpi__begin_local(&c, "MPI_Dims_create");
    if (!code && ndims > 0) code = mpi__place(c, dims, "dims");
    if (code) return code;
    long long fixed = 1;
    if (ndims < 0 || ndims > DIMENSIONS_MOST || nnodes < 1)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "%d places in %d dimensions are impossible",
                                      nnodes, ndims));
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return mpi__end(c, mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "dimension %d has size %d", i, dims[i]));
        if (dims[i])
            fixed = fixed > nnodes ? fixed : fixed * dims[i];
        else
            open++;
    }
    if (nnodes % fixed || (!open && fixed != nnodes))
        return mpi__end(c, mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER,
                                      "%d places are no multiple of the %lld that are given", nnodes, fixed));
    if (open) divide((int)(nnodes / fixed), open, sizes);
    for (int i = 0, k = 0; i < ndims; i++)
        if (!dims[i]) dims[i] = sizes[k++];
    return mpi__end(c, MPI_SUCCESS);
}
