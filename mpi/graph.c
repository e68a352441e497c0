/* SPDX-License-Identifier: MIT */
/* Graph topologies (MPI 5.0, 8.5.3 and 8.5.4): who is whose neighbour is kept, and given back; ranks stay where they are. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

struct mpi__graph {
    int topology;     /* MPI_GRAPH: of all nodes; MPI_DIST_GRAPH: of this rank */
    int nodes, edges; /* or: edges in, edges out */
    bool weighted;
    /* MPI_GRAPH: where the neighbours of each node end, and the neighbours. MPI_DIST_GRAPH: sources, destinations, and the
     * weights of either. */
    int *first, *second, *first_weights, *second_weights, room[];
};

static mpi__graph *graph_new(int topology, int nodes, int edges)
{
    size_t numbers = 2 * ((size_t)nodes + (size_t)edges);
    mpi__graph *g = calloc(1, sizeof *g + numbers * sizeof *g->room);
    if (!g) return NULL;
    *g = (mpi__graph){.topology = topology, .nodes = nodes, .edges = edges};
    g->first = g->room;
    g->second = g->first + nodes;
    g->first_weights = g->second + edges;
    g->second_weights = g->first_weights + nodes;
    return g;
}

int mpi__graph_copy(mpi__comm *to, const mpi__comm *from)
{
    const mpi__graph *g = from->graph;
    if (!g) return MPI_SUCCESS;
    to->graph = graph_new(g->topology, g->nodes, g->edges);
    if (!to->graph) return MPI_ERR_NO_MEM;
    to->graph->weighted = g->weighted;
    memcpy(to->graph->room, g->room, 2 * ((size_t)g->nodes + (size_t)g->edges) * sizeof *g->room);
    return MPI_SUCCESS;
}

int mpi__graph_topology(const mpi__comm *comm)
{
    return comm->graph ? comm->graph->topology : MPI_UNDEFINED;
}

/* A communicator of c's first `ranks` ranks, which have given the same if their colours are the same. */
static int make(mpi__comm *c, const char *name, int ranks, int colour, MPI_Comm *handle)
{
    const char *file;
    int line;
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    p2p__here(file, line);
    return mpi__split_alike(c, name, c->rank < ranks ? colour : MPI_UNDEFINED, c->rank, ranks,
                            "not all ranks have given this graph" MPI__TRY "the same index and edges on all ranks",
                            handle);
}

/* ---- The same graph on all ranks ---- */

static int check_graph(mpi__comm *c, int nodes, const int index[], const int edges[])
{
    if (nodes < 0 || nodes > c->size)
        return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "%d nodes are impossible: there are %d ranks", nodes,
                          c->size);
    for (int i = 0; i < nodes; i++)
        if (index[i] < (i ? index[i - 1] : 0))
            return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "index[%d] is %d: indices never fall", i, index[i]);
    for (int i = 0; nodes && i < index[nodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nodes)
            return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "edge %d leads to node %d, which is not in [0,%d)", i,
                              edges[i], nodes);
    return MPI_SUCCESS;
}

static int colour_of(int nodes, const int index[], const int edges[])
{
    uint32_t colour = 1;
    for (int i = 0; i < nodes; i++) colour = colour * 40503 + (uint32_t)index[i];
    for (int i = 0; nodes && i < index[nodes - 1]; i++) colour = colour * 40503 + (uint32_t)edges[i];
    return (int)(colour & INT_MAX);
}

API(Graph_create)
(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm *comm_graph)
{
    mpi__comm *c;
    (void)reorder;
    int code = mpi__begin(&c, comm_old, &(p2p_layer_call){.name = "MPI_Graph_create"});
    if (!code) code = mpi__place(c, comm_graph, "comm_graph");
    if (code) return code;
    code = check_graph(c, nnodes, index, edges);
    if (code) return mpi__end(c, code);
    code = make(c, "MPI_Graph_create", nnodes, colour_of(nnodes, index, edges), comm_graph);
    if (code || *comm_graph == MPI_COMM_NULL) return code;
    int count = nnodes ? index[nnodes - 1] : 0;
    mpi__graph *g = mpi__comm_of(*comm_graph)->graph = graph_new(MPI_GRAPH, nnodes, count);
    if (!g) return MPI_ERR_NO_MEM;
    memcpy(g->first, index, (size_t)nnodes * sizeof *index);
    if (count) memcpy(g->second, edges, (size_t)count * sizeof *edges);
    return MPI_SUCCESS;
}

static int begin(const char *name, MPI_Comm comm, int topology, mpi__comm **c)
{
    int code = mpi__begin(c, comm, &(p2p_layer_call){.name = name});
    if (code || mpi__graph_topology(*c) == topology) return code;
    return mpi__end(*c, mpi__wrong(*c, MPI_ERR_TOPOLOGY, P2P_ARGUMENT_COMMUNICATOR, "%s",
                                   topology == MPI_GRAPH ? "the communicator is none of MPI_Graph_create"
                                                         : "the communicator is none of MPI_Dist_graph_create"));
}

API(Graphdims_get)(MPI_Comm comm, int *nnodes, int *nedges)
{
    mpi__comm *c;
    int code = begin("MPI_Graphdims_get", comm, MPI_GRAPH, &c);
    if (!code) code = mpi__place(c, nnodes, "nnodes");
    if (!code) code = mpi__place(c, nedges, "nedges");
    if (code) return code;
    *nnodes = c->graph->nodes;
    *nedges = c->graph->edges;
    return mpi__end(c, MPI_SUCCESS);
}

API(Graph_get)(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
{
    mpi__comm *c;
    int code = begin("MPI_Graph_get", comm, MPI_GRAPH, &c);
    if (!code && maxindex > 0) code = mpi__place(c, index, "index");
    if (!code && maxedges > 0) code = mpi__place(c, edges, "edges");
    if (code) return code;
    for (int i = 0; i < c->graph->nodes && i < maxindex; i++) index[i] = c->graph->first[i];
    for (int i = 0; i < c->graph->edges && i < maxedges; i++) edges[i] = c->graph->second[i];
    return mpi__end(c, MPI_SUCCESS);
}

/* The neighbours of a rank, of which *count is how many; or an error. */
static int neighbours(mpi__comm *c, int rank, const int **list, int *count)
{
    const mpi__graph *g = c->graph;
    if (rank < 0 || rank >= g->nodes) return mpi__check_peer(c, rank < 0 ? -9 : rank, 0, false);
    int from = rank ? g->first[rank - 1] : 0;
    *list = g->second + from;
    *count = g->first[rank] - from;
    return MPI_SUCCESS;
}

API(Graph_neighbors_count)(MPI_Comm comm, int rank, int *nneighbors)
{
    mpi__comm *c;
    const int *list;
    int code = begin("MPI_Graph_neighbors_count", comm, MPI_GRAPH, &c);
    if (!code) code = mpi__place(c, nneighbors, "nneighbors");
    return code ? code : mpi__end(c, neighbours(c, rank, &list, nneighbors));
}

API(Graph_neighbors)(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    mpi__comm *c;
    const int *list = NULL;
    int count = 0, code = begin("MPI_Graph_neighbors", comm, MPI_GRAPH, &c);
    if (!code && maxneighbors > 0) code = mpi__place(c, neighbors, "neighbors");
    if (code) return code;
    code = neighbours(c, rank, &list, &count);
    for (int i = 0; !code && i < count && i < maxneighbors; i++) neighbors[i] = list[i];
    return mpi__end(c, code);
}

API(Graph_map)(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
    mpi__comm *c;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Graph_map"});
    if (!code) code = mpi__place(c, newrank, "newrank");
    if (code) return code;
    code = check_graph(c, nnodes, index, edges);
    if (!code) *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    return mpi__end(c, code);
}

/* ---- Each rank knows its own part ---- */

static int check_ranks(mpi__comm *c, int count, const int ranks[])
{
    if (count < 0) return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_COUNT, "a count of %d is negative", count);
    for (int i = 0; i < count; i++)
        if (ranks[i] < 0 || ranks[i] >= c->size) return mpi__check_peer(c, ranks[i] < 0 ? -9 : ranks[i], 0, false);
    return MPI_SUCCESS;
}

API(Dist_graph_create_adjacent)
(MPI_Comm comm_old, int indegree, const int sources[], const int *sourceweights, int outdegree,
 const int destinations[], const int *destweights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    mpi__comm *c;
    (void)info, (void)reorder;
    int code = mpi__begin(&c, comm_old, &(p2p_layer_call){.name = "MPI_Dist_graph_create_adjacent"});
    if (!code) code = mpi__place(c, comm_dist_graph, "comm_dist_graph");
    if (code) return code;
    code = check_ranks(c, indegree, sources);
    if (!code) code = check_ranks(c, outdegree, destinations);
    if (code) return mpi__end(c, code);
    code = make(c, "MPI_Dist_graph_create_adjacent", c->size, 0, comm_dist_graph);
    if (code) return code;
    mpi__graph *g = mpi__comm_of(*comm_dist_graph)->graph = graph_new(MPI_DIST_GRAPH, indegree, outdegree);
    if (!g) return MPI_ERR_NO_MEM;
    g->weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;
    for (int i = 0; i < indegree; i++) {
        g->first[i] = sources[i];
        if (g->weighted) g->first_weights[i] = sourceweights[i];
    }
    for (int i = 0; i < outdegree; i++) {
        g->second[i] = destinations[i];
        if (g->weighted) g->second_weights[i] = destweights[i];
    }
    return MPI_SUCCESS;
}

typedef struct {
    int source, destination, weight;
} edge;

enum { NUMBERS = sizeof(edge) / sizeof(int) };

/* What all ranks have told, in the order of ranks: *count edges, to be freed. */
static edge *gather(MPI_Comm comm, const edge *own, int own_count, int *count)
{
    const mpi__comm *c = mpi__comm_of(comm);
    int *counts = malloc(2 * (size_t)c->size * sizeof *counts), numbers = own_count * NUMBERS, all = 0;
    edge *edges = NULL;
    if (counts && PMPI_Allgather(&numbers, 1, MPI_INT, counts, 1, MPI_INT, comm) == MPI_SUCCESS) {
        int *places = counts + c->size;
        for (int i = 0; i < c->size; i++) {
            places[i] = all;
            all += counts[i];
        }
        edges = malloc(((size_t)all / NUMBERS + 1) * sizeof *edges);
        if (edges && PMPI_Allgatherv(own, numbers, MPI_INT, edges, counts, places, MPI_INT, comm) != MPI_SUCCESS) {
            free(edges);
            edges = NULL;
        }
    }
    free(counts);
    *count = all / NUMBERS;
    return edges;
}

/* Those that begin or end here. */
static mpi__graph *own_part(const edge *edges, int count, int rank)
{
    int in = 0, out = 0;
    for (int i = 0; i < count; i++) {
        in += edges[i].destination == rank;
        out += edges[i].source == rank;
    }
    mpi__graph *g = graph_new(MPI_DIST_GRAPH, in, out);
    in = out = 0;
    for (int i = 0; g && i < count; i++) {
        if (edges[i].destination == rank) {
            g->first[in] = edges[i].source;
            g->first_weights[in++] = edges[i].weight;
        }
        if (edges[i].source == rank) {
            g->second[out] = edges[i].destination;
            g->second_weights[out++] = edges[i].weight;
        }
    }
    return g;
}

API(Dist_graph_create)
(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[], const int *weights,
 MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    mpi__comm *c;
    (void)info, (void)reorder;
    int count = 0, all = 0, code = mpi__begin(&c, comm_old, &(p2p_layer_call){.name = "MPI_Dist_graph_create"});
    if (!code) code = mpi__place(c, comm_dist_graph, "comm_dist_graph");
    if (code) return code;
    code = check_ranks(c, n, sources);
    for (int i = 0; !code && i < n; i++) count += degrees[i];
    if (!code) code = check_ranks(c, count, destinations);
    edge *own = code ? NULL : malloc(((size_t)count + 1) * sizeof *own);
    if (!code && !own) code = mpi__no_memory(c);
    if (code) return mpi__end(c, code);
    for (int i = 0, k = 0; i < n; i++)
        for (int d = 0; d < degrees[i]; d++, k++)
            own[k] = (edge){sources[i], destinations[k], weights != MPI_UNWEIGHTED ? weights[k] : 1};
    code = make(c, "MPI_Dist_graph_create", c->size, 0, comm_dist_graph);
    edge *edges = code ? NULL : gather(*comm_dist_graph, own, count, &all);
    free(own);
    if (!edges) return code ? code : MPI_ERR_NO_MEM;
    mpi__comm *made = mpi__comm_of(*comm_dist_graph);
    made->graph = own_part(edges, all, made->rank);
    free(edges);
    if (!made->graph) return MPI_ERR_NO_MEM;
    made->graph->weighted = weights != MPI_UNWEIGHTED;
    return MPI_SUCCESS;
}

API(Dist_graph_neighbors_count)(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    mpi__comm *c;
    int code = begin("MPI_Dist_graph_neighbors_count", comm, MPI_DIST_GRAPH, &c);
    if (!code) code = mpi__place(c, indegree, "indegree");
    if (!code) code = mpi__place(c, outdegree, "outdegree");
    if (!code) code = mpi__place(c, weighted, "weighted");
    if (code) return code;
    *indegree = c->graph->nodes;
    *outdegree = c->graph->edges;
    *weighted = c->graph->weighted;
    return mpi__end(c, MPI_SUCCESS);
}

API(Dist_graph_neighbors)
(MPI_Comm comm, int maxindegree, int sources[], int *sourceweights, int maxoutdegree, int destinations[],
 int *destweights)
{
    mpi__comm *c;
    int code = begin("MPI_Dist_graph_neighbors", comm, MPI_DIST_GRAPH, &c);
    if (!code && maxindegree > 0) code = mpi__place(c, sources, "sources");
    if (!code && maxoutdegree > 0) code = mpi__place(c, destinations, "destinations");
    if (code) return code;
    const mpi__graph *g = c->graph;
    for (int i = 0; i < g->nodes && i < maxindegree; i++) {
        sources[i] = g->first[i];
        if (g->weighted && sourceweights != MPI_UNWEIGHTED) sourceweights[i] = g->first_weights[i];
    }
    for (int i = 0; i < g->edges && i < maxoutdegree; i++) {
        destinations[i] = g->second[i];
        if (g->weighted && destweights != MPI_UNWEIGHTED) destweights[i] = g->second_weights[i];
    }
    return mpi__end(c, MPI_SUCCESS);
}
