/* SPDX-License-Identifier: MIT */
/*
 * collectives: operations that all ranks of a communicator take part in.
 *
 * Every rank calls the same function with the same count, type, operator and root, in the same order. Before anything
 * is written, the ranks agree that it is so: a difference is P2P_ERR_MISMATCH on every rank, with both sides named and
 * every buffer untouched. Arguments that are wrong by themselves (P2P_ERR_ARG, P2P_ERR_RANK) are found before anything
 * is sent, and the communicator is as before.
 *
 *      wait              coll_barrier
 *      one to all        coll_broadcast, coll_scatter, coll_scatterv
 *      all to one        coll_reduce, coll_gather, coll_gatherv
 *      all to all        coll_all_reduce, coll_all_gather, coll_all_gatherv, coll_reduce_scatter, coll_reduce_scatterv,
 *                        coll_all_to_all, coll_all_to_allv
 *      prefixes          coll_scan, coll_exscan
 *      without waiting   coll_ibarrier, coll_ibroadcast, coll_iall_reduce, coll_iall_gather, coll_ireduce_scatter,
 *                        coll_igatherv, coll_iscatterv, coll_iall_gatherv, coll_iall_to_allv, coll_ireduce, coll_iscan,
 *                        coll_iexscan, coll_ireduce_scatterv
 *      by algorithm      coll_naive_..., coll_tree_..., coll_recursive_doubling_..., coll_one_shot_..., coll_two_shot_...,
 *                        coll_leaders_all_reduce, coll_hierarchical_all_reduce; and the ring in ring/ring.h
 *      which one         coll_choices, coll_choose, coll_choose_on_hosts, coll_choose_placed
 *
 * Counts are elements. Buffers hold elements of `dtype`, aligned for it; they may be NULL when the count is 0, and the
 * send and the receive buffer of one call must not overlap. Any number of ranks, any root, any count. The results are
 * the same bits on all ranks and in every run, for a given algorithm, number of ranks and count; what each operation
 * makes of two elements is defined to the bit in dtype/dtype.h, the order of the elements in each algorithm's file.
 * Operators are those of dtype/dtype.h, or a program's own (op_make). With one that does not commute the parts are
 * combined in rank order, whatever the brackets: by coll_all_reduce, coll_reduce and the scans, and by the naive, tree,
 * recursive doubling, one-shot and two-shot algorithms, but for coll_tree_reduce with another root than 0. That, the
 * ring, leaders, hierarchical and all reduce-scatters are P2P_ERR_ARG then: they combine in another order. After an error
 * in the middle of a collective its outputs are undefined, but for P2P_ERR_MISMATCH.
 */
#ifndef PAIRWISE_COLLECTIVES_H
#define PAIRWISE_COLLECTIVES_H

#include "dtype/dtype.h"
#include "p2p/p2p.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns on no rank before every rank has called it. Dissemination: ceil(log2 n) rounds of empty messages
 * (Hensgen, Finkel and Manber 1988); none in the shm world without a virtual network. */
p2p_err coll_barrier(p2p_comm *comm);

/* ---- The plain names pick an algorithm by the number of ranks, hosts and bytes: see coll_choices. ---- */

/* What root has in buf comes to every rank's buf. */
p2p_err coll_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);

/* buf[i] at root becomes the combination of every rank's buf[i]. The other ranks' buffers are only read. */
p2p_err coll_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root);

/* In place: buf[i] becomes the combination of every rank's buf[i], on every rank, the same bits. */
p2p_err coll_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* In place: buf[i] on rank r becomes the combination of buf[i] of the ranks 0 to r; exscan: of the ranks 0 to r - 1,
 * and rank 0's buffer stays as it is (MPI leaves it undefined). A mean is that of the ranks which are combined.
 * Strictly in rank order, ((x0 + x1) + x2) + ...: a chain of n - 1 steps, one message of the whole buffer from each
 * rank to the next. */
p2p_err coll_scan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);
p2p_err coll_exscan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* ---- Blocks: a buffer of n * count elements has a block for each rank, in rank order. ---- */

/* Block q of root's send goes to recv on rank q. send matters at root only. One message to each rank. */
p2p_err coll_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root);

/* send of rank q goes to block q of root's recv. recv matters at root only. One message from each rank. */
p2p_err coll_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root);

/* send of rank q goes to block q of every rank's recv. Round the ring: n - 1 steps of one block. */
p2p_err coll_all_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype);

/* recv on rank q becomes the combination of every rank's block q of send; send is only read. Round the ring: n - 1
 * steps of one block. */
p2p_err coll_reduce_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                            enum op op);

/* Block q of rank r's send goes to block r of rank q's recv. Pairwise exchange: n - 1 steps of one block. */
p2p_err coll_all_to_all(p2p_comm *comm, const void *send, void *recv, size_t count_per_pair, enum dtype dtype);

/* ---- Blocks of any length: block q has counts[q] elements and begins at element offsets[q], both arrays [n]. Elements
 *      between blocks are left alone; blocks that receive must not overlap. A block whose length is another on the
 *      sender's side is P2P_ERR_MISMATCH on the rank that receives it; the contents of its blocks are then undefined.
 *      ---- */

/* send, counts and offsets matter at root only; recv_count is this rank's counts[rank]. */
p2p_err coll_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[], void *recv,
                      size_t recv_count, enum dtype dtype, int root);

/* recv, counts and offsets matter at root only; send_count is this rank's counts[rank]. */
p2p_err coll_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                     const size_t offsets[], enum dtype dtype, int root);

/* Every rank knows all counts; send_count is counts[rank]. Offsets may differ between ranks. */
p2p_err coll_all_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                         const size_t offsets[], enum dtype dtype);

/* As coll_reduce_scatter: every rank knows all counts, recv_count is counts[rank]; send has a block for each rank,
 * offsets may differ between ranks. */
p2p_err coll_reduce_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[],
                             void *recv, size_t recv_count, enum dtype dtype, enum op op);

/* send_counts[q] on rank r is recv_counts[r] on rank q. */
p2p_err coll_all_to_allv(p2p_comm *comm, const void *send, const size_t send_counts[], const size_t send_offsets[],
                         void *recv, const size_t recv_counts[], const size_t recv_offsets[], enum dtype dtype);

/* ---- Without waiting: each begins what its namesake does, with the same arguments and results, and returns. It moves on
 *      inside p2p_wait, p2p_test and every other call that waits; *request ends like any other (p2p_wait and its kin), when
 *      every rank has begun the same, and this rank's part is done. Until then buf and recv belong to the library, and send
 *      must not be changed. Several may be in flight, beside any other traffic; all ranks begin their collectives, of both
 *      kinds, in the same order. A difference between ranks is P2P_ERR_MISMATCH here or of the request, with every buffer
 *      untouched; after any other error of the request its outputs are undefined. When it begins with an error, *request is
 *      not set, and nothing is under way. A schedule of steps: Hoefler, Lumsdaine and Rehm 2007. ---- */

/* Dissemination: ceil(log2 n) rounds of empty messages. */
p2p_err coll_ibarrier(p2p_comm *comm, p2p_request *request);

/* The binomial tree of coll_tree_broadcast. */
p2p_err coll_ibroadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root, p2p_request *request);

/* Always the ring: ring_iall_reduce, with its bits. */
p2p_err coll_iall_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request);

/* Round the ring, as their namesakes, with their bits. */
p2p_err coll_iall_gather(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                         p2p_request *request);
p2p_err coll_ireduce_scatter(p2p_comm *comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype,
                             enum op op, p2p_request *request);

/* Blocks of any length go straight to where they belong, as in the pairwise exchange. A block that is shorter than its
 * receiver expects is not noticed; one that is longer is P2P_ERR_TRUNCATE. */
p2p_err coll_igatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                      const size_t offsets[], enum dtype dtype, int root, p2p_request *request);
p2p_err coll_iscatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[], void *recv,
                       size_t recv_count, enum dtype dtype, int root, p2p_request *request);
p2p_err coll_iall_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                          const size_t offsets[], enum dtype dtype, p2p_request *request);
p2p_err coll_iall_to_allv(p2p_comm *comm, const void *send, const size_t send_counts[], const size_t send_offsets[],
                          void *recv, const size_t recv_counts[], const size_t recv_offsets[], enum dtype dtype,
                          p2p_request *request);

/* Strictly in rank order, for every operator: coll_naive_reduce, coll_naive_all_reduce, coll_scan, coll_exscan, with
 * their bits. In coll_ireduce_scatterv every rank receives the blocks of its own part. */
p2p_err coll_ireduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root,
                     p2p_request *request);
p2p_err coll_naive_iall_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op,
                               p2p_request *request);
p2p_err coll_iscan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request);
p2p_err coll_iexscan(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request);
p2p_err coll_ireduce_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[],
                              void *recv, size_t recv_count, enum dtype dtype, enum op op, p2p_request *request);

/* ---- By algorithm. Arguments as their plain twins. ---- */

/* The root sends to every rank, or receives from every rank, in rank order: n - 1 messages of the whole buffer. The
 * reduce combines strictly in rank order, ((x0 + x1) + x2) + ..., whatever the root. The all-reduce reduces to rank 0
 * and broadcasts from there. */
p2p_err coll_naive_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);
p2p_err coll_naive_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root);
p2p_err coll_naive_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* A binomial tree: ceil(log2 n) rounds of the whole buffer; the reduce climbs it, the all-reduce climbs to rank 0 and
 * comes down again (Thakur, Rabenseifner and Gropp 2005). */
p2p_err coll_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);
p2p_err coll_tree_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root);
p2p_err coll_tree_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* Every rank exchanges the whole buffer with the rank 1, 2, 4, ... further on: log2 n rounds, and two more if n is not
 * a power of two (Thakur, Rabenseifner and Gropp 2005). */
p2p_err coll_recursive_doubling_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* Without messages, where ranks share memory (the shm world, no virtual network); one-shot up to 4 KiB also where they
 * live on several hosts of it; elsewhere, within another collective, and for a type of one's own whose elements are longer than
 * the memory that these work in (8 KiB always fit for up to 64 ranks), P2P_ERR_ARG. One-shot: each rank, or the root of a
 * reduce, combines the whole buffers of all. Two-shot: each combines one slice of all buffers (short ones, with three
 * ranks or more on a core: whoever comes), and copies the others; in place if the buffers are from p2p_alloc. Both
 * strictly in rank order, as naive. */
p2p_err coll_one_shot_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root);
p2p_err coll_one_shot_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);
p2p_err coll_two_shot_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* For ranks on several hosts and short buffers: a tree to the lowest rank of each host, recursive doubling of those, and the
 * tree down again. So many messages leave a host as if it were one rank (Karonis et al. 2000). */
p2p_err coll_leaders_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* The same for long ones: reduce-scatter within each host, a ring of hosts for each slice, all-gather within each
 * host. 2(H-1)/H of the buffer leaves a host, for H hosts, however many ranks are on each and however they are numbered. */
p2p_err coll_hierarchical_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* ---- What the plain names choose ---- */

/* From so many ranks and so many bytes of the buffer on (until a later row that applies): this algorithm. */
typedef struct {
    const char *operation; /* "broadcast", "reduce", "all_reduce" */
    bool shared;           /* only where ranks share memory: in the shm world, without a virtual network */
    int ranks;
    size_t bytes;
    const char *algorithm; /* "naive", "tree", "recursive-doubling", "ring", "one-shot", "two-shot", "leaders" ... */
    int hosts;             /* only where ranks live on so many hosts or more, and several of them on one; 0: anywhere */
    size_t most;           /* and no more bytes than these; 0: any number */
} coll_choice;

/* The whole table, in the order in which it is read: of the rows of an operation, the last that applies counts. */
const coll_choice *coll_choices(size_t *rows);

/* The algorithm that coll_<operation> takes; NULL if there is no such operation. shared: do the ranks share memory?
 * Where the operator does not commute, tree instead of the ring, leaders and hierarchical, and naive instead of a tree
 * with another root than 0. */
const char *coll_choose(const char *operation, bool shared, int ranks, size_t bytes);

/* The same for ranks that live on so many hosts (p2p_hosts), by messages alone; and as it is. shared: do those of each host
 * share memory? */
const char *coll_choose_on_hosts(const char *operation, int hosts, int ranks, size_t bytes);
const char *coll_choose_placed(const char *operation, bool shared, int hosts, int ranks, size_t bytes);

/* ---- Names of earlier versions ---- */

#define coll_doubling_all_reduce coll_recursive_doubling_all_reduce
#define coll_flat_all_reduce coll_one_shot_all_reduce
#define coll_direct_all_reduce coll_two_shot_all_reduce

/* ---- Whose line: see the end of p2p/p2p.h. ---- */

#ifndef P2P_NO_LINES
#define coll_barrier(...) (P2P_HERE, coll_barrier(__VA_ARGS__))
#define coll_broadcast(...) (P2P_HERE, coll_broadcast(__VA_ARGS__))
#define coll_reduce(...) (P2P_HERE, coll_reduce(__VA_ARGS__))
#define coll_all_reduce(...) (P2P_HERE, coll_all_reduce(__VA_ARGS__))
#define coll_scatter(...) (P2P_HERE, coll_scatter(__VA_ARGS__))
#define coll_gather(...) (P2P_HERE, coll_gather(__VA_ARGS__))
#define coll_all_gather(...) (P2P_HERE, coll_all_gather(__VA_ARGS__))
#define coll_reduce_scatter(...) (P2P_HERE, coll_reduce_scatter(__VA_ARGS__))
#define coll_all_to_all(...) (P2P_HERE, coll_all_to_all(__VA_ARGS__))
#define coll_scatterv(...) (P2P_HERE, coll_scatterv(__VA_ARGS__))
#define coll_gatherv(...) (P2P_HERE, coll_gatherv(__VA_ARGS__))
#define coll_all_gatherv(...) (P2P_HERE, coll_all_gatherv(__VA_ARGS__))
#define coll_all_to_allv(...) (P2P_HERE, coll_all_to_allv(__VA_ARGS__))
#define coll_scan(...) (P2P_HERE, coll_scan(__VA_ARGS__))
#define coll_exscan(...) (P2P_HERE, coll_exscan(__VA_ARGS__))
#define coll_reduce_scatterv(...) (P2P_HERE, coll_reduce_scatterv(__VA_ARGS__))
#define coll_ibarrier(...) (P2P_HERE, coll_ibarrier(__VA_ARGS__))
#define coll_ibroadcast(...) (P2P_HERE, coll_ibroadcast(__VA_ARGS__))
#define coll_iall_reduce(...) (P2P_HERE, coll_iall_reduce(__VA_ARGS__))
#define coll_iall_gather(...) (P2P_HERE, coll_iall_gather(__VA_ARGS__))
#define coll_ireduce_scatter(...) (P2P_HERE, coll_ireduce_scatter(__VA_ARGS__))
#define coll_igatherv(...) (P2P_HERE, coll_igatherv(__VA_ARGS__))
#define coll_iscatterv(...) (P2P_HERE, coll_iscatterv(__VA_ARGS__))
#define coll_iall_gatherv(...) (P2P_HERE, coll_iall_gatherv(__VA_ARGS__))
#define coll_iall_to_allv(...) (P2P_HERE, coll_iall_to_allv(__VA_ARGS__))
#define coll_ireduce(...) (P2P_HERE, coll_ireduce(__VA_ARGS__))
#define coll_naive_iall_reduce(...) (P2P_HERE, coll_naive_iall_reduce(__VA_ARGS__))
#define coll_iscan(...) (P2P_HERE, coll_iscan(__VA_ARGS__))
#define coll_iexscan(...) (P2P_HERE, coll_iexscan(__VA_ARGS__))
#define coll_ireduce_scatterv(...) (P2P_HERE, coll_ireduce_scatterv(__VA_ARGS__))
#define coll_naive_broadcast(...) (P2P_HERE, coll_naive_broadcast(__VA_ARGS__))
#define coll_naive_reduce(...) (P2P_HERE, coll_naive_reduce(__VA_ARGS__))
#define coll_naive_all_reduce(...) (P2P_HERE, coll_naive_all_reduce(__VA_ARGS__))
#define coll_tree_broadcast(...) (P2P_HERE, coll_tree_broadcast(__VA_ARGS__))
#define coll_tree_reduce(...) (P2P_HERE, coll_tree_reduce(__VA_ARGS__))
#define coll_tree_all_reduce(...) (P2P_HERE, coll_tree_all_reduce(__VA_ARGS__))
#define coll_recursive_doubling_all_reduce(...) (P2P_HERE, coll_recursive_doubling_all_reduce(__VA_ARGS__))
#define coll_one_shot_reduce(...) (P2P_HERE, coll_one_shot_reduce(__VA_ARGS__))
#define coll_one_shot_all_reduce(...) (P2P_HERE, coll_one_shot_all_reduce(__VA_ARGS__))
#define coll_leaders_all_reduce(...) (P2P_HERE, coll_leaders_all_reduce(__VA_ARGS__))
#define coll_hierarchical_all_reduce(...) (P2P_HERE, coll_hierarchical_all_reduce(__VA_ARGS__))
#define coll_two_shot_all_reduce(...) (P2P_HERE, coll_two_shot_all_reduce(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
