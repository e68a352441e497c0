# SPDX-License-Identifier: MIT
# ---------- deadlocks
case('''recv_recv deadlock 2,4 pair
int x = rank, y = 0;
W: MPI_Recv(&y, 1, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE); //!
W: MPI_Send(&x, 1, MPI_INT, peer, 1, COMM);
R: if (rank == 0) { MPI_Recv(&y, 1, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE); MPI_Send(&x, 1, MPI_INT, peer, 1, COMM); }
R: else { MPI_Send(&x, 1, MPI_INT, peer, 1, COMM); MPI_Recv(&y, 1, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE); }
''')
case('''ssend_ssend deadlock 2,3 pair
double x[10] = {0}, y[10];
W: MPI_Ssend(x, 10, MPI_DOUBLE, peer, 1, COMM); //!
W: MPI_Recv(y, 10, MPI_DOUBLE, peer, 1, COMM, MPI_STATUS_IGNORE);
R: MPI_Sendrecv(x, 10, MPI_DOUBLE, peer, 1, y, 10, MPI_DOUBLE, peer, 1, COMM, MPI_STATUS_IGNORE);
''')
case('''send_send_small buffering|deadlock 2,3 pair buf=buffering|deadlock|none strict=deadlock|buffering norw
int x = 1, y;
MPI_Send(&x, 1, MPI_INT, peer, 1, COMM); //!
MPI_Recv(&y, 1, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE);
'''.replace('norw','noright'))
case('''send_send_big deadlock|buffering 2,3 pair
enum { N = 100000 };
int *x = calloc(N, sizeof(int)), *y = calloc(N, sizeof(int));
W: MPI_Send(x, N, MPI_INT, peer, 1, COMM); //!
W: MPI_Recv(y, N, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE);
R: if (rank) { MPI_Send(x, N, MPI_INT, peer, 1, COMM); MPI_Recv(y, N, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE); }
R: else { MPI_Recv(y, N, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE); MPI_Send(x, N, MPI_INT, peer, 1, COMM); }
free(x); free(y);
''')
case('''ring_recv_first deadlock 3,5 all
int x = rank, y;
W: MPI_Recv(&y, 1, MPI_INT, prev, 0, COMM, MPI_STATUS_IGNORE); //!
W: MPI_Send(&x, 1, MPI_INT, next, 0, COMM);
R: MPI_Sendrecv(&x, 1, MPI_INT, next, 0, &y, 1, MPI_INT, prev, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''recv_never_sent deadlock 2,3 pair
int x = 5, y;
W: if (rank == 0) MPI_Recv(&y, 1, MPI_INT, 1, 9, COMM, MPI_STATUS_IGNORE); //!
R: if (rank == 0) MPI_Recv(&y, 1, MPI_INT, 1, 9, COMM, MPI_STATUS_IGNORE); else MPI_Send(&x, 1, MPI_INT, 0, 9, COMM);
(void)x;
''')
case('''tag_differs deadlock|lost_message 2,3 pair
int x = 5;
if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, COMM); //!
W: else MPI_Recv(&x, 1, MPI_INT, 0, 8, COMM, MPI_STATUS_IGNORE); //!
R: else MPI_Recv(&x, 1, MPI_INT, 0, 7, COMM, MPI_STATUS_IGNORE);
''')
case('''wrong_source deadlock|lost_message 3 all
int x = 5;
if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, COMM); //!
W: if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 2, 7, COMM, MPI_STATUS_IGNORE); //!
R: if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 7, COMM, MPI_STATUS_IGNORE);
''')
case('''irecv_wait_first deadlock 2,4 pair
int x = 5, y; MPI_Request r;
MPI_Irecv(&y, 1, MPI_INT, peer, 7, COMM, &r);
W: MPI_Wait(&r, MPI_STATUS_IGNORE); //!
MPI_Send(&x, 1, MPI_INT, peer, 7, COMM);
R: MPI_Wait(&r, MPI_STATUS_IGNORE);
''')
case('''waitall_before_send deadlock 3,4 all
int x = 5, y[2]; MPI_Request r[2];
MPI_Irecv(&y[0], 1, MPI_INT, prev, 7, COMM, &r[0]);
MPI_Irecv(&y[1], 1, MPI_INT, next, 8, COMM, &r[1]);
W: MPI_Waitall(2, r, MPI_STATUSES_IGNORE); //!
MPI_Send(&x, 1, MPI_INT, next, 7, COMM);
MPI_Send(&x, 1, MPI_INT, prev, 8, COMM);
R: MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
'''.replace('MPI_Send(&x, 1, MPI_INT, next, 7, COMM);\nMPI_Send(&x, 1, MPI_INT, prev, 8, COMM);','MPI_Request s[2];\nMPI_Isend(&x, 1, MPI_INT, next, 7, COMM, &s[0]);\nMPI_Isend(&x, 1, MPI_INT, prev, 8, COMM, &s[1]);')+'MPI_Waitall(2, s, MPI_STATUSES_IGNORE);\n')
case('''barrier_left_out deadlock|collective_mismatch 2,4 all
int x = rank;
W: if (rank != 0) MPI_Barrier(COMM); //!
R: MPI_Barrier(COMM);
(void)x;
''')
case('''bcast_left_out deadlock|collective_mismatch 2,5 all once
int x = rank;
W: if (rank != size - 1) MPI_Bcast(&x, 1, MPI_INT, 0, COMM); //!
R: MPI_Bcast(&x, 1, MPI_INT, 0, COMM);
''')
case('''recv_vs_barrier deadlock|collective_mismatch 2,3 pair
int x = 1;
W: if (rank == 0) { MPI_Recv(&x, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE); } //!
W: else { MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE); } //!
R: if (rank == 0) { MPI_Recv(&x, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE); }
R: else { MPI_Send(&x, 1, MPI_INT, 0, 0, COMM); }
''')
case('''send_after_barrier deadlock|collective_mismatch 2,3 all
int x = 1;
W: if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE); //!
R: if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, COMM, MPI_STATUS_IGNORE);
R: if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
MPI_Barrier(COMM); //!
W: if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
''')
case('''ssend_before_bcast deadlock|collective_mismatch 2,3 all
int x = 1, y = 0;
W: if (rank == 0) { MPI_Ssend(&x, 1, MPI_INT, 1, 0, COMM); } //!
W: MPI_Bcast(&y, 1, MPI_INT, 0, COMM); //!
W: if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
R: MPI_Bcast(&y, 1, MPI_INT, 0, COMM);
R: if (rank == 0) { MPI_Ssend(&x, 1, MPI_INT, 1, 0, COMM); }
R: if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''probe_never deadlock 2,3 pair
MPI_Status st; int x = 1;
W: if (rank == 0) MPI_Probe(1, 3, COMM, &st); //!
R: if (rank == 0) { MPI_Probe(1, 3, COMM, &st); MPI_Recv(&x, 1, MPI_INT, 1, 3, COMM, &st); } else MPI_Send(&x, 1, MPI_INT, 0, 3, COMM);
(void)st; (void)x;
''')
case('''iprobe_spin deadlock 2 pair once
MPI_Status st; int x = 1, flag = 0;
W: if (rank == 0) while (!flag) MPI_Iprobe(1, 3, COMM, &flag, &st); //!
R: if (rank == 0) { while (!flag) MPI_Iprobe(1, 3, COMM, &flag, &st); MPI_Recv(&x, 1, MPI_INT, 1, 3, COMM, &st); } else MPI_Send(&x, 1, MPI_INT, 0, 3, COMM);
(void)st; (void)x;
''')
case('''test_spin deadlock 2 pair once
MPI_Request r; int x = 1, flag = 0;
W: if (rank == 0) { MPI_Irecv(&x, 1, MPI_INT, 1, 3, COMM, &r); while (!flag) MPI_Test(&r, &flag, MPI_STATUS_IGNORE); } //!
R: if (rank == 0) { MPI_Irecv(&x, 1, MPI_INT, 1, 3, COMM, &r); while (!flag) MPI_Test(&r, &flag, MPI_STATUS_IGNORE); } else MPI_Send(&x, 1, MPI_INT, 0, 3, COMM);
''')
case('''any_source_short deadlock 3,4 all
int x = 1;
if (rank == 0) {
W: for (int i = 0; i < size; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, COMM, MPI_STATUS_IGNORE); //!
R: for (int i = 1; i < size; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, COMM, MPI_STATUS_IGNORE);
} else MPI_Send(&x, 1, MPI_INT, 0, 3, COMM);
''')
case('''self_send deadlock|buffering 2,3 all
int x = 1, y;
W: MPI_Ssend(&x, 1, MPI_INT, rank, 3, COMM); //!
W: MPI_Recv(&y, 1, MPI_INT, rank, 3, COMM, MPI_STATUS_IGNORE);
R: MPI_Sendrecv(&x, 1, MPI_INT, rank, 3, &y, 1, MPI_INT, rank, 3, COMM, MPI_STATUS_IGNORE);
''')
case('''comm_order deadlock|collective_mismatch|communicator_mismatch 2,3 all
MPI_Comm a, b;
MPI_Comm_dup(COMM, &a); MPI_Comm_dup(COMM, &b);
W: if (rank == 0) { MPI_Barrier(a); MPI_Barrier(b); } else { MPI_Barrier(b); MPI_Barrier(a); } //!
R: MPI_Barrier(a); MPI_Barrier(b);
MPI_Comm_free(&a); MPI_Comm_free(&b);
''')
case('''dup_vs_split collective_mismatch|deadlock 2,3 all
MPI_Comm a;
W: if (rank == 0) MPI_Comm_dup(COMM, &a); else MPI_Comm_split(COMM, 0, rank, &a); //!
R: MPI_Comm_dup(COMM, &a);
MPI_Comm_free(&a);
''')
case('''split_left_out deadlock|collective_mismatch 2,4 all once
MPI_Comm a = MPI_COMM_NULL;
W: if (rank > 0) MPI_Comm_split(COMM, 0, rank, &a); //!
R: MPI_Comm_split(COMM, rank ? 0 : MPI_UNDEFINED, rank, &a);
if (a != MPI_COMM_NULL) MPI_Comm_free(&a);
''')
case('''finalize_early deadlock 2 raw
int rank, x = 0; MPI_Init(&argc, &argv);
MPI_Comm_rank(MPI_COMM_WORLD, &rank);
W: if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //!
MPI_Finalize();
return x;
''')
case('''cycle_of_three deadlock 3,4 all
int x = 1, y;
if (rank < 3) {
int to = (rank + 1) % 3, from = (rank + 2) % 3;
W: MPI_Ssend(&x, 1, MPI_INT, to, 0, COMM); //!
W: MPI_Recv(&y, 1, MPI_INT, from, 0, COMM, MPI_STATUS_IGNORE);
R: if (rank == 0) { MPI_Ssend(&x, 1, MPI_INT, to, 0, COMM); MPI_Recv(&y, 1, MPI_INT, from, 0, COMM, MPI_STATUS_IGNORE); }
R: else { MPI_Recv(&y, 1, MPI_INT, from, 0, COMM, MPI_STATUS_IGNORE); MPI_Ssend(&x, 1, MPI_INT, to, 0, COMM); }
}
''')
case('''persistent_wait_first deadlock 2,3 pair
int x = 1, y; MPI_Request r, s;
MPI_Recv_init(&y, 1, MPI_INT, peer, 0, COMM, &r);
MPI_Ssend_init(&x, 1, MPI_INT, peer, 0, COMM, &s);
MPI_Start(&r);
W: MPI_Wait(&r, MPI_STATUS_IGNORE); //!
MPI_Start(&s);
R: MPI_Wait(&r, MPI_STATUS_IGNORE);
MPI_Wait(&s, MPI_STATUS_IGNORE);
MPI_Request_free(&r); MPI_Request_free(&s);
''')
# ---------- collectives
for a,b in [('MPI_Barrier(COMM)','MPI_Bcast(&x, 1, MPI_INT, 0, COMM)'),('MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, COMM)','MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, COMM)'),
            ('MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, COMM)','MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, COMM)'),('MPI_Allgather(&x, 1, MPI_INT, z, 1, MPI_INT, COMM)','MPI_Alltoall(z2, 1, MPI_INT, z, 1, MPI_INT, COMM)'),
            ('MPI_Gather(&x, 1, MPI_INT, z, 1, MPI_INT, 0, COMM)','MPI_Scatter(z2, 1, MPI_INT, &x, 1, MPI_INT, 0, COMM)')]:
    nm=a.split('(')[0][4:].lower()+'_vs_'+b.split('(')[0][4:].lower()
    case(f'''{nm} collective_mismatch 2,4 all
int x = rank, y = 0, z[16] = {{0}}, z2[16] = {{0}}; (void)y; (void)z; (void)z2;
W: if (rank % 2) {a}; else {b}; //!
R: {a}; {b};
''')
    case(f'''{nm}_order collective_mismatch 2,5 all
int x = rank, y = 0, z[16] = {{0}}, z2[16] = {{0}}; (void)y; (void)z; (void)z2;
W: if (rank == 0) {{ {a}; {b}; }} else {{ {b}; {a}; }} //!
R: {a}; {b};
''')
for coll,call in [('bcast','MPI_Bcast(x, C, T, ROOT, COMM)'),('reduce','MPI_Reduce(x, y, C, T, OP, ROOT, COMM)'),('gather','MPI_Gather(x, C, T, y, C, T, ROOT, COMM)'),('scatter','MPI_Scatter(x, C, T, y, C, T, ROOT, COMM)'),
   ('allreduce','MPI_Allreduce(x, y, C, T, OP, COMM)'),('scan','MPI_Scan(x, y, C, T, OP, COMM)'),('exscan','MPI_Exscan(x, y, C, T, OP, COMM)'),('allgather','MPI_Allgather(x, C, T, y, C, T, COMM)'),('alltoall','MPI_Alltoall(x, C, T, y, C, T, COMM)'),('reduce_scatter_block','MPI_Reduce_scatter_block(x, y, C, T, OP, COMM)')]:
  for non in ('','I'):
    k=call if not non else call.replace('MPI_','MPI_I',1).replace('MPI_I'+call[4],'MPI_I'+call[4].lower(),1)[:-1]+', &q)'
    pre='double x[64] = {0}, y[64] = {0}; (void)y;' + (' MPI_Request q;' if non else '')
    post='MPI_Wait(&q, MPI_STATUS_IGNORE); //!' if non else ''
    def put(c,t,op,root): return k.replace('ROOT',root).replace('OP',op).replace(' C,',f' {c},').replace(' T,',f' {t},')
    right=put('4','MPI_INT','MPI_SUM','0')
    vs=[('count',put('rank == 1 ? 5 : 4','MPI_INT','MPI_SUM','0'),'count_mismatch|truncation'),('type',put('4','rank == 1 ? MPI_FLOAT : MPI_INT','MPI_SUM','0'),'type_mismatch')]
    if 'ROOT' in call: vs.append(('root',put('4','MPI_INT','MPI_SUM','rank == 1 ? 1 : 0'),'root_mismatch'))
    if 'OP' in call: vs.append(('op',put('4','MPI_INT','rank == 1 ? MPI_MAX : MPI_SUM','0'),'operator_mismatch'))
    for v,w,cls in vs:
        case(f'''{non.lower()}{coll}_{v} {cls} 2,4 all
{pre}
W: {w}; //!
R: {right};
{post}
''')
    iv=[('negcount',put('-1','MPI_INT','MPI_SUM','0')),('nulltype',put('4','MPI_DATATYPE_NULL','MPI_SUM','0')),('nullcomm',right.replace('COMM','MPI_COMM_NULL'))]
    if 'ROOT' in call: iv+=[('bigroot',put('4','MPI_INT','MPI_SUM','size')),('negroot',put('4','MPI_INT','MPI_SUM','-5'))]
    if 'OP' in call: iv+=[('nullop',put('4','MPI_INT','MPI_OP_NULL','0')),('opfloat',put('4','MPI_DOUBLE','MPI_BAND','0'))]
    iv.append(('nullbuf',right.replace('(x','(NULL',1)))
    for v,w in iv:
        case(f'''{non.lower()}{coll}_{v} invalid_argument 2,3 all
{pre}
W: {w}; //!
R: {right};
{post}
''')
case('''ibcast_vs_bcast collective_mismatch 2,3 all
int x = 0; MPI_Request r;
W: if (rank == 0) MPI_Bcast(&x, 1, MPI_INT, 0, COMM); else { MPI_Ibcast(&x, 1, MPI_INT, 0, COMM, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); } //!
R: MPI_Ibcast(&x, 1, MPI_INT, 0, COMM, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); MPI_Bcast(&x, 1, MPI_INT, 0, COMM);
''')
case('''icoll_order collective_mismatch 2,3 all
int x = 0, y = 0, z = 0; MPI_Request r[2];
W: if (rank == 0) { MPI_Ibcast(&x, 1, MPI_INT, 0, COMM, &r[0]); MPI_Iallreduce(&y, &z, 1, MPI_INT, MPI_SUM, COMM, &r[1]); } //!
W: else { MPI_Iallreduce(&y, &z, 1, MPI_INT, MPI_SUM, COMM, &r[0]); MPI_Ibcast(&x, 1, MPI_INT, 0, COMM, &r[1]); } //!
R: MPI_Ibcast(&x, 1, MPI_INT, 0, COMM, &r[0]); MPI_Iallreduce(&y, &z, 1, MPI_INT, MPI_SUM, COMM, &r[1]);
MPI_Waitall(2, r, MPI_STATUSES_IGNORE); //!
''')
case('''gatherv_count count_mismatch|truncation 2,4 all
int x[8] = {0}, z[64], c[16], d[16];
for (int i = 0; i < size; i++) { c[i] = 2; d[i] = 4 * i; }
W: MPI_Gatherv(x, rank == 1 ? 3 : 2, MPI_INT, z, c, d, MPI_INT, 0, COMM); //!
R: MPI_Gatherv(x, 2, MPI_INT, z, c, d, MPI_INT, 0, COMM);
''')
case('''scatterv_count count_mismatch|truncation 2,4 all
int x[8] = {0}, z[64] = {0}, c[16], d[16];
for (int i = 0; i < size; i++) { c[i] = 3; d[i] = 4 * i; }
W: MPI_Scatterv(z, c, d, MPI_INT, x, rank == 1 ? 2 : 3, MPI_INT, 0, COMM); //!
R: MPI_Scatterv(z, c, d, MPI_INT, x, 3, MPI_INT, 0, COMM);
''')
case('''alltoallv_count count_mismatch|truncation 2,3 all
int x[64] = {0}, z[64] = {0}, c[16], d[16], e[16];
W: for (int i = 0; i < size; i++) { c[i] = 2; d[i] = 4 * i; e[i] = rank == 0 ? 3 : 2; }
R: for (int i = 0; i < size; i++) { c[i] = 2; d[i] = 4 * i; e[i] = 2; }
MPI_Alltoallv(x, c, d, MPI_INT, z, e, d, MPI_INT, COMM); //!
''')
case('''allgatherv_count count_mismatch|truncation 2,3 all
int x[64] = {0}, z[64] = {0}, d[16], e[16];
for (int i = 0; i < size; i++) { d[i] = 4 * i; e[i] = 2; }
W: if (rank == 0) e[1] = 1;
MPI_Allgatherv(x, 2, MPI_INT, z, e, d, MPI_INT, COMM); //!
''')
case('''gather_send_recv_type type_mismatch 2,3 all
int x[8] = {0}; double z[64];
W: MPI_Gather(x, 2, MPI_INT, z, 1, MPI_DOUBLE, 0, COMM); //!
R: MPI_Gather(x, 2, MPI_INT, z, 2, MPI_INT, 0, COMM);
''')
case('''bcast_counts_differ_type count_mismatch|type_mismatch|truncation 2,3 all
double x[8] = {0};
W: if (rank == 0) MPI_Bcast(x, 8, MPI_BYTE, 0, COMM); else MPI_Bcast(x, 1, MPI_DOUBLE, 0, COMM); //!
R: MPI_Bcast(x, 1, MPI_DOUBLE, 0, COMM);
''')
case('''user_op_differs operator_mismatch 2,3 all
TOP: static void f(void *a, void *b, int *n, MPI_Datatype *t) { (void)t; for (int i = 0; i < *n; i++) ((int *)b)[i] += ((int *)a)[i]; }
int x = 1, y = 0; MPI_Op o;
MPI_Op_create(f, 1, &o);
W: MPI_Allreduce(&x, &y, 1, MPI_INT, rank == 0 ? o : MPI_SUM, COMM); //!
R: MPI_Allreduce(&x, &y, 1, MPI_INT, o, COMM);
MPI_Op_free(&o);
''')
case('''split_leader_root root_mismatch|invalid_argument 4,5 all
MPI_Comm a; int ar, x = 0;
MPI_Comm_split(COMM, rank % 2, rank, &a); MPI_Comm_rank(a, &ar);
W: MPI_Bcast(&x, 1, MPI_INT, ar == 0 ? 0 : 1, a); //!
R: MPI_Bcast(&x, 1, MPI_INT, 0, a);
MPI_Comm_free(&a);
''')
case('''cart_mismatch collective_mismatch|count_mismatch|deadlock|invalid_argument 4 all
MPI_Comm a; int d1[2] = {2, 2}, p[2] = {0, 0};
W: if (rank == 0) MPI_Barrier(COMM); else MPI_Cart_create(COMM, 2, d1, p, 0, &a); //!
W: if (rank) MPI_Comm_free(&a);
R: MPI_Cart_create(COMM, 2, d1, p, 0, &a); MPI_Comm_free(&a); MPI_Barrier(COMM);
''')
# ---------- types in messages
for st,sc,rt,rc,ok in [('MPI_INT',2,'MPI_FLOAT',2,0),('MPI_INT',2,'MPI_DOUBLE',1,0),('MPI_LONG',1,'MPI_INT',2,0),('MPI_CHAR',8,'MPI_INT',2,0),('MPI_INT',2,'MPI_UNSIGNED',2,0),('MPI_FLOAT',2,'MPI_BYTE',8,0),('MPI_DOUBLE',1,'MPI_LONG',1,0),('MPI_DOUBLE',4,'MPI_INT',4,0),('MPI_INT',4,'MPI_DOUBLE',4,0)]:
    nm=f"type_{st[4:].lower()}_{rt[4:].lower()}"
    for how in ('blocking','nonblocking','sendrecv','persistent','probe','isend_recv'):
        if how=='blocking':
            w=[f'if (rank == 0) MPI_Send(x, {sc}, {st}, 1, 0, COMM); //!','W: else MPI_Recv(y, %d, %s, 0, 0, COMM, MPI_STATUS_IGNORE); //!'%(rc,rt),'R: else MPI_Recv(y, %d, %s, 0, 0, COMM, MPI_STATUS_IGNORE);'%(sc,st)]
        elif how=='nonblocking':
            w=['MPI_Request r;',f'if (rank == 0) MPI_Isend(x, {sc}, {st}, 1, 0, COMM, &r); //!','W: else MPI_Irecv(y, %d, %s, 0, 0, COMM, &r); //!'%(rc,rt),'R: else MPI_Irecv(y, %d, %s, 0, 0, COMM, &r);'%(sc,st),'MPI_Wait(&r, MPI_STATUS_IGNORE); //!']
        elif how=='sendrecv':
            w=['W: MPI_Sendrecv(x, %d, %s, peer, 0, y, %d, %s, peer, 0, COMM, MPI_STATUS_IGNORE); //!'%(sc,st,rc,rt),'R: MPI_Sendrecv(x, %d, %s, peer, 0, y, %d, %s, peer, 0, COMM, MPI_STATUS_IGNORE);'%(sc,st,sc,st)]
        elif how=='persistent':
            w=['MPI_Request r;',f'if (rank == 0) MPI_Send_init(x, {sc}, {st}, 1, 0, COMM, &r); //!','W: else MPI_Recv_init(y, %d, %s, 0, 0, COMM, &r); //!'%(rc,rt),'R: else MPI_Recv_init(y, %d, %s, 0, 0, COMM, &r);'%(sc,st),'MPI_Start(&r); //!','MPI_Wait(&r, MPI_STATUS_IGNORE); //!','MPI_Request_free(&r);']
        elif how=='probe':
            w=['MPI_Status s;',f'if (rank == 0) MPI_Send(x, {sc}, {st}, 1, 0, COMM); //!','else { MPI_Probe(0, MPI_ANY_TAG, COMM, &s);','W: MPI_Recv(y, %d, %s, s.MPI_SOURCE, s.MPI_TAG, COMM, MPI_STATUS_IGNORE); //!'%(rc,rt),'R: MPI_Recv(y, %d, %s, s.MPI_SOURCE, s.MPI_TAG, COMM, MPI_STATUS_IGNORE);'%(sc,st),'}']
        else:
            w=['MPI_Request r;',f'if (rank == 0) {{ MPI_Isend(x, {sc}, {st}, 1, 0, COMM, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); }} //!','W: else MPI_Recv(y, %d, %s, MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, MPI_STATUS_IGNORE); //!'%(rc,rt),'R: else MPI_Recv(y, %d, %s, 0, 0, COMM, MPI_STATUS_IGNORE);'%(sc,st)]
        if how!='blocking' and st+rt not in ('MPI_INTMPI_FLOAT','MPI_INTMPI_DOUBLE','MPI_DOUBLEMPI_INT'): continue
        case(f'{nm}_{how} type_mismatch 2,3 pair\ndouble x[8] = {{0}}, y[8];\n'+'\n'.join(w))
case('''type_struct type_mismatch 2,3 pair
struct s { int a; double b; } x[2] = {{0}}, y[2]; MPI_Datatype t, u; int bl[2] = {1, 1}; MPI_Aint d[2] = {offsetof(struct s, a), offsetof(struct s, b)};
MPI_Datatype k[2] = {MPI_INT, MPI_DOUBLE}, l[2] = {MPI_INT, MPI_DOUBLE};
W: l[1] = MPI_LONG;
MPI_Type_create_struct(2, bl, d, k, &t); MPI_Type_commit(&t);
MPI_Type_create_struct(2, bl, d, l, &u); MPI_Type_commit(&u);
if (rank == 0) MPI_Send(x, 2, t, 1, 0, COMM); //!
else MPI_Recv(y, 2, u, 0, 0, COMM, MPI_STATUS_IGNORE); //!
MPI_Type_free(&t); MPI_Type_free(&u);
''')
case('''type_vector type_mismatch 2,3 pair
double x[16] = {0}; float z[16]; MPI_Datatype t; double y[16];
MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &t); MPI_Type_commit(&t);
if (rank == 0) MPI_Send(x, 1, t, 1, 0, COMM); //!
W: else MPI_Recv(z, 6, MPI_FLOAT, 0, 0, COMM, MPI_STATUS_IGNORE); //!
R: else MPI_Recv(y, 3, MPI_DOUBLE, 0, 0, COMM, MPI_STATUS_IGNORE);
MPI_Type_free(&t); (void)y; (void)z;
''')
# ---------- truncation
for how,s,r in [('blocking','MPI_Send(x, 4, MPI_INT, 1, 0, COMM);','MPI_Recv(y, %d, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);'),('irecv','MPI_Send(x, 4, MPI_INT, 1, 0, COMM);','{ MPI_Request q; MPI_Irecv(y, %d, MPI_INT, 0, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),
   ('waitall','MPI_Ssend(x, 4, MPI_INT, 1, 0, COMM);','{ MPI_Request q[1]; MPI_Irecv(y, %d, MPI_INT, 0, 0, COMM, q); MPI_Waitall(1, q, MPI_STATUSES_IGNORE); }'),('any','MPI_Send(x, 4, MPI_INT, 1, 0, COMM);','MPI_Recv(y, %d, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, MPI_STATUS_IGNORE);'),
   ('persistent','MPI_Send(x, 4, MPI_INT, 1, 0, COMM);','{ MPI_Request q; MPI_Recv_init(y, %d, MPI_INT, 0, 0, COMM, &q); MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Request_free(&q); }')]:
    case(f'''trunc_{how} truncation 2,3 pair
int x[8] = {{0}}, y[8];
if (rank == 0) {s} //!
W: else {r%3} //!
R: else {r%5}
''')
case('''trunc_sendrecv truncation 2,4 pair
int x[8] = {0}, y[8];
W: MPI_Sendrecv(x, 4, MPI_INT, peer, 0, y, 2, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE); //!
R: MPI_Sendrecv(x, 4, MPI_INT, peer, 0, y, 4, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''trunc_big truncation 2,3 pair
enum { N = 50000 }; int *x = calloc(N, 4);
if (rank == 0) MPI_Send(x, N, MPI_INT, 1, 0, COMM); //!
W: else MPI_Recv(x, N - 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE); //!
R: else MPI_Recv(x, N, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
free(x);
''')
# ---------- invalid arguments
for nm,w in [('send_rank_big','MPI_Send(x, 1, MPI_INT, size, 0, COMM);'),('send_rank_neg','MPI_Send(x, 1, MPI_INT, -7, 0, COMM);'),('send_tag_neg','MPI_Send(x, 1, MPI_INT, peer, -3, COMM);'),('send_count_neg','MPI_Send(x, -1, MPI_INT, peer, 0, COMM);'),
   ('send_null_buf','MPI_Send(NULL, 3, MPI_INT, peer, 0, COMM);'),('send_null_type','MPI_Send(x, 1, MPI_DATATYPE_NULL, peer, 0, COMM);'),('send_null_comm','MPI_Send(x, 1, MPI_INT, peer, 0, MPI_COMM_NULL);'),('send_any_source','MPI_Send(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM);'),
   ('send_any_tag','MPI_Send(x, 1, MPI_INT, peer, MPI_ANY_TAG, COMM);'),('recv_rank_big','MPI_Recv(x, 1, MPI_INT, size + 3, 0, COMM, MPI_STATUS_IGNORE);'),('recv_count_neg','MPI_Recv(x, -4, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE);'),('recv_null_buf','MPI_Recv(NULL, 2, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE);'),
   ('recv_tag_neg','MPI_Recv(x, 1, MPI_INT, peer, -9, COMM, MPI_STATUS_IGNORE);'),('recv_null_type','MPI_Recv(x, 1, MPI_DATATYPE_NULL, peer, 0, COMM, MPI_STATUS_IGNORE);'),('recv_null_comm','MPI_Recv(x, 1, MPI_INT, peer, 0, MPI_COMM_NULL, MPI_STATUS_IGNORE);'),
   ('isend_rank_big','{ MPI_Request q; MPI_Isend(x, 1, MPI_INT, size, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),('irecv_tag_neg','{ MPI_Request q; MPI_Irecv(x, 1, MPI_INT, peer, -20, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),
   ('isend_null_buf','{ MPI_Request q; MPI_Isend(NULL, 1, MPI_INT, peer, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),('irecv_count_neg','{ MPI_Request q; MPI_Irecv(x, -1, MPI_INT, peer, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),
   ('irecv_null_comm','{ MPI_Request q; MPI_Irecv(x, 1, MPI_INT, peer, 0, MPI_COMM_NULL, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),('isend_null_type','{ MPI_Request q; MPI_Isend(x, 1, MPI_DATATYPE_NULL, peer, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),
   ('ssend_rank_big','MPI_Ssend(x, 1, MPI_INT, size, 0, COMM);'),('bsend_tag_neg','MPI_Bsend(x, 1, MPI_INT, peer, -1, COMM);'),('rsend_null','MPI_Rsend(NULL, 1, MPI_INT, peer, 0, COMM);'),
   ('send_init_rank','{ MPI_Request q; MPI_Send_init(x, 1, MPI_INT, size, 0, COMM, &q); MPI_Request_free(&q); }'),('recv_init_tag','{ MPI_Request q; MPI_Recv_init(x, 1, MPI_INT, peer, -5, COMM, &q); MPI_Request_free(&q); }'),
   ('probe_rank','{ MPI_Status s; MPI_Probe(size, 0, COMM, &s); }'),('iprobe_tag','{ MPI_Status s; int f; MPI_Iprobe(0, -8, COMM, &f, &s); }'),('sendrecv_rank','MPI_Sendrecv(x, 1, MPI_INT, size, 0, x + 4, 1, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE);'),
   ('send_count_overflow','MPI_Send(x, -2147483647, MPI_INT, peer, 0, COMM);'),('comm_size_null','{ int s; MPI_Comm_size(MPI_COMM_NULL, &s); }'),('comm_rank_null','{ int s; MPI_Comm_rank(MPI_COMM_NULL, &s); }'),('dup_null','{ MPI_Comm d; MPI_Comm_dup(MPI_COMM_NULL, &d); }'),
   ('free_null_comm','{ MPI_Comm d = MPI_COMM_NULL; MPI_Comm_free(&d); }'),('free_world','{ MPI_Comm d = MPI_COMM_WORLD; MPI_Comm_free(&d); }'),('type_free_null','{ MPI_Datatype d = MPI_DATATYPE_NULL; MPI_Type_free(&d); }'),('type_free_int','{ MPI_Datatype d = MPI_INT; MPI_Type_free(&d); }'),
   ('op_free_null','{ MPI_Op d = MPI_OP_NULL; MPI_Op_free(&d); }'),('op_free_sum','{ MPI_Op d = MPI_SUM; MPI_Op_free(&d); }'),('group_free_null','{ MPI_Group d = MPI_GROUP_NULL; MPI_Group_free(&d); }'),('request_free_null','{ MPI_Request d = MPI_REQUEST_NULL; MPI_Request_free(&d); }'),
   ('start_null','{ MPI_Request d = MPI_REQUEST_NULL; MPI_Start(&d); }'),('cancel_null','{ MPI_Request d = MPI_REQUEST_NULL; MPI_Cancel(&d); }'),('contig_neg','{ MPI_Datatype d; MPI_Type_contiguous(-1, MPI_INT, &d); }'),('vector_neg','{ MPI_Datatype d; MPI_Type_vector(-2, 1, 1, MPI_INT, &d); }'),
   ('type_size_null','{ int s; MPI_Type_size(MPI_DATATYPE_NULL, &s); }'),('commit_null','{ MPI_Datatype d = MPI_DATATYPE_NULL; MPI_Type_commit(&d); }'),('get_count_null','{ MPI_Status s = {0}; int n; MPI_Get_count(&s, MPI_DATATYPE_NULL, &n); }'),
   ('group_rank_null','{ int n; MPI_Group_rank(MPI_GROUP_NULL, &n); }'),('group_incl_rank','{ MPI_Group g, h; int rr[1] = {99}; MPI_Comm_group(COMM, &g); MPI_Group_incl(g, 1, rr, &h); }'),('group_incl_twice','{ MPI_Group g, h; int rr[2] = {0, 0}; MPI_Comm_group(COMM, &g); MPI_Group_incl(g, 2, rr, &h); }'),
   ('split_color_neg','{ MPI_Comm d; MPI_Comm_split(COMM, -4, 0, &d); }'),('cart_dims_big','{ MPI_Comm d; int dd[2] = {50, 50}, pp[2] = {0, 0}; MPI_Cart_create(COMM, 2, dd, pp, 0, &d); }'),('cart_rank_nocart','{ int cc[2] = {0, 0}, rr; MPI_Cart_rank(COMM, cc, &rr); }'),('cart_shift_nocart','{ int aa, bb; MPI_Cart_shift(COMM, 0, 1, &aa, &bb); }'),
   ('uncommitted','{ MPI_Datatype d; MPI_Type_contiguous(2, MPI_INT, &d); MPI_Send(x, 1, d, peer, 0, COMM); }'),('uncommitted_bcast','{ MPI_Datatype d; MPI_Type_contiguous(2, MPI_INT, &d); MPI_Bcast(x, 1, d, 0, COMM); }'),('uncommitted_irecv','{ MPI_Datatype d; MPI_Request q; MPI_Type_vector(2, 1, 2, MPI_INT, &d); MPI_Irecv(x, 1, d, peer, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }'),
   ('freed_type','{ MPI_Datatype d; MPI_Type_contiguous(2, MPI_INT, &d); MPI_Type_commit(&d); MPI_Datatype e = d; MPI_Type_free(&d); MPI_Send(x, 1, e, peer, 0, COMM); }'),('freed_type_null','{ MPI_Datatype d; MPI_Type_contiguous(2, MPI_INT, &d); MPI_Type_commit(&d); MPI_Type_free(&d); MPI_Send(x, 1, d, peer, 0, COMM); }'),
   ('freed_type_twice','{ MPI_Datatype d; MPI_Type_contiguous(2, MPI_INT, &d); MPI_Type_commit(&d); MPI_Datatype e = d; MPI_Type_free(&d); MPI_Type_free(&e); }'),('garbage_comm','{ int gg = 0; MPI_Comm d = (MPI_Comm)&gg; MPI_Send(x, 1, MPI_INT, peer, 0, d); }'),('garbage_type','{ int gg[400] = {0}; MPI_Datatype d = (MPI_Datatype)&gg[200]; MPI_Send(x, 1, d, peer, 0, COMM); }'),
   ('garbage_request','{ int gg[400] = {0}; MPI_Request d = (MPI_Request)&gg[200]; MPI_Wait(&d, MPI_STATUS_IGNORE); }'),('null_request_ptr','MPI_Isend(x, 1, MPI_INT, peer, 0, COMM, NULL);'),('waitall_neg','{ MPI_Request q[1]; MPI_Waitall(-1, q, MPI_STATUSES_IGNORE); }'),('waitall_null','MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE);'),
   ('op_garbage','{ int gg[400] = {0}; MPI_Op d = (MPI_Op)&gg[100]; int yy; MPI_Allreduce(x, &yy, 1, MPI_INT, d, COMM); }'),('minloc_int','{ int yy[4]; MPI_Allreduce(x, yy, 1, MPI_INT, MPI_MINLOC, COMM); }'),('get_elements_null','{ MPI_Status s = {0}; int n; MPI_Get_elements(&s, MPI_DATATYPE_NULL, &n); }'),
   ('struct_null_type','{ MPI_Datatype d, k[1] = {MPI_DATATYPE_NULL}; int b[1] = {1}; MPI_Aint o[1] = {0}; MPI_Type_create_struct(1, b, o, k, &d); }'),('indexed_neg','{ MPI_Datatype d; int b[2] = {1, -1}, o[2] = {0, 2}; MPI_Type_indexed(2, b, o, MPI_INT, &d); }'),('in_place_send','MPI_Send(MPI_IN_PLACE, 1, MPI_INT, peer, 0, COMM);'),
   ('pack_small','{ char pp[4]; int pos = 0; MPI_Pack(x, 4, MPI_INT, pp, 4, &pos, COMM); }'),('buffer_detach_none','{ void *b; int n; MPI_Buffer_detach(&b, &n); }'),('get_address_null','MPI_Comm_rank(COMM, NULL);'),('errhandler_null','MPI_Comm_set_errhandler(COMM, MPI_ERRHANDLER_NULL);')]:
    if nm=='buffer_detach_none': continue
    case(f'''arg_{nm} invalid_argument 2,3 pair
int x[8] = {{0}}; (void)x;
W: {w} //!
'''+('W: (void)0;\n'))
case('''bsend_no_buffer invalid_argument|refused|resource_leak|buffer_conflict 2,3 pair
int x = 0; MPI_Request q;
MPI_Irecv(&(int){0}, 1, MPI_INT, peer, 0, COMM, &q);
R: int s; MPI_Pack_size(1, MPI_INT, COMM, &s); s += MPI_BSEND_OVERHEAD; void *b = malloc(s); MPI_Buffer_attach(b, s);
MPI_Bsend(&x, 1, MPI_INT, peer, 0, COMM); //!
R: MPI_Buffer_detach(&b, &s); free(b);
MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''freed_comm invalid_argument 2,3 all
MPI_Comm d; int x = 0; MPI_Comm_dup(COMM, &d); MPI_Comm e = d;
W: MPI_Comm_free(&d);
MPI_Bcast(&x, 1, MPI_INT, 0, e); //!
R: MPI_Comm_free(&d);
''')
case('''freed_comm_send invalid_argument 2,3 all
MPI_Comm d; int x = 0, y; MPI_Comm_dup(COMM, &d); MPI_Comm e = d;
W: MPI_Comm_free(&d);
MPI_Sendrecv(&x, 1, MPI_INT, next, 0, &y, 1, MPI_INT, prev, 0, e, MPI_STATUS_IGNORE); //!
R: MPI_Comm_free(&d);
''')
case('''freed_comm_twice invalid_argument 2,3 all
MPI_Comm d; MPI_Comm_dup(COMM, &d); MPI_Comm e = d;
MPI_Comm_free(&d);
W: MPI_Comm_free(&e); //!
(void)e;
''')
case('''freed_op invalid_argument 2,3 all
TOP: static void f(void *a, void *b, int *n, MPI_Datatype *t) { (void)t; for (int i = 0; i < *n; i++) ((int *)b)[i] += ((int *)a)[i]; }
int x = 1, y = 0; MPI_Op o, p; MPI_Op_create(f, 1, &o); p = o;
W: MPI_Op_free(&o);
MPI_Allreduce(&x, &y, 1, MPI_INT, p, COMM); //!
R: MPI_Op_free(&o);
''')
case('''freed_group invalid_argument 2,3 all
MPI_Group g, h; int s; MPI_Comm_group(COMM, &g); h = g;
W: MPI_Group_free(&g);
MPI_Group_size(h, &s); //!
R: MPI_Group_free(&g);
''')
case('''not_member_comm invalid_argument 3,4 all
MPI_Comm d; int x = 0; MPI_Comm_split(COMM, rank < 2 ? 0 : MPI_UNDEFINED, 0, &d);
W: MPI_Bcast(&x, 1, MPI_INT, 0, d); //!
R: if (d != MPI_COMM_NULL) MPI_Bcast(&x, 1, MPI_INT, 0, d);
if (d != MPI_COMM_NULL) MPI_Comm_free(&d);
''')
# ---------- requests
case('''never_waited request_leak 2,3 pair
int x = 0; MPI_Request q;
if (rank == 0) {
MPI_Isend(&x, 1, MPI_INT, 1, 0, COMM, &q); //!
R: MPI_Wait(&q, MPI_STATUS_IGNORE);
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''never_waited_recv request_leak 2,3 pair
static int x; MPI_Request q;
if (rank == 0) {
MPI_Irecv(&x, 1, MPI_INT, 1, 0, COMM, &q); //!
R: MPI_Wait(&q, MPI_STATUS_IGNORE);
} else MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
''')
case('''overwritten_request request_leak 2,3 pair
int x[2] = {0}; MPI_Request q[2];
if (rank == 0) {
W: MPI_Isend(&x[0], 1, MPI_INT, 1, 0, COMM, &q[0]); MPI_Isend(&x[1], 1, MPI_INT, 1, 0, COMM, &q[0]); MPI_Wait(&q[0], MPI_STATUS_IGNORE); //!
R: MPI_Isend(&x[0], 1, MPI_INT, 1, 0, COMM, &q[0]); MPI_Isend(&x[1], 1, MPI_INT, 1, 0, COMM, &q[1]); MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
} else { MPI_Recv(x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE); MPI_Recv(x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE); }
''')
case('''never_waited_coll request_leak 2,3 all
static int x; MPI_Request q;
MPI_Ibcast(&x, 1, MPI_INT, 0, COMM, &q); //!
R: MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''never_waited_ibarrier request_leak 2,4 all
MPI_Request q;
MPI_Ibarrier(COMM, &q); //!
R: MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''never_waited_iallreduce request_leak 2,4 all
static int x, y; MPI_Request q;
MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, COMM, &q); //!
R: MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''test_once request_leak 2,3 pair once
static int x; MPI_Request q; int f;
if (rank == 0) {
MPI_Irecv(&x, 1, MPI_INT, 1, 0, COMM, &q); //!
MPI_Test(&q, &f, MPI_STATUS_IGNORE);
W: if (f) MPI_Abort(MPI_COMM_WORLD, 9);
R: if (!f) MPI_Wait(&q, MPI_STATUS_IGNORE);
MPI_Send(&x, 0, MPI_INT, 1, 5, COMM);
} else {
W: MPI_Recv(&x, 0, MPI_INT, 0, 5, COMM, MPI_STATUS_IGNORE); MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
R: MPI_Send(&x, 1, MPI_INT, 0, 0, COMM); MPI_Recv(&x, 0, MPI_INT, 0, 5, COMM, MPI_STATUS_IGNORE);
}
''')
case('''waited_copy_twice request_state 2,3 pair
int x = 0; MPI_Request q, p;
if (rank == 0) {
MPI_Isend(&x, 1, MPI_INT, 1, 0, COMM, &q); p = q;
MPI_Wait(&q, MPI_STATUS_IGNORE);
W: MPI_Wait(&p, MPI_STATUS_IGNORE); //!
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
(void)p;
''')
case('''waitall_same_twice request_state 2,3 pair
int x = 0; MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
if (rank == 0) {
MPI_Isend(&x, 1, MPI_INT, 1, 0, COMM, &q[0]);
W: q[1] = q[0];
MPI_Waitall(2, q, MPI_STATUSES_IGNORE); //!
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''freed_request_waited request_state|invalid_argument 2,3 pair
int x = 0; MPI_Request q, p;
if (rank == 0) {
MPI_Isend(&x, 1, MPI_INT, 1, 0, COMM, &q); p = q;
W: MPI_Request_free(&q);
MPI_Wait(&p, MPI_STATUS_IGNORE); //!
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''persistent_leak request_leak|resource_leak 2,3 pair
int x = 0; MPI_Request q;
if (rank == 0) {
MPI_Send_init(&x, 1, MPI_INT, 1, 0, COMM, &q); //!
MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE);
R: MPI_Request_free(&q);
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''persistent_never_started request_state|request_leak|deadlock 2,3 pair
int x = 0; MPI_Request q;
if (rank == 0) {
MPI_Send_init(&x, 1, MPI_INT, 1, 0, COMM, &q);
W: MPI_Wait(&q, MPI_STATUS_IGNORE); //!
R: MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE);
MPI_Request_free(&q);
R: } else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
W: } //!
''')
case('''persistent_recv_never_started request_state|lost_message|deadlock|request_leak 2,3 pair
int x = 0; MPI_Request q;
if (rank == 0) {
MPI_Recv_init(&x, 1, MPI_INT, 1, 0, COMM, &q);
R: MPI_Start(&q);
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
MPI_Request_free(&q);
} else MPI_Send(&x, 1, MPI_INT, 0, 0, COMM); //!
''')
case('''persistent_started_twice request_state 2,3 pair
int x = 0; MPI_Request q;
if (rank == 0) {
MPI_Send_init(&x, 1, MPI_INT, 1, 0, COMM, &q);
MPI_Start(&q);
W: MPI_Start(&q); //!
MPI_Wait(&q, MPI_STATUS_IGNORE);
MPI_Request_free(&q);
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''persistent_started_not_waited request_leak|request_state 2,3 pair
static int x; MPI_Request q;
if (rank == 0) {
MPI_Send_init(&x, 1, MPI_INT, 1, 0, COMM, &q); //!
MPI_Start(&q); //!
R: MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Request_free(&q);
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''start_nonpersistent request_state|invalid_argument 2,3 pair
int x = 0; MPI_Request q;
if (rank == 0) {
MPI_Isend(&x, 1, MPI_INT, 1, 0, COMM, &q);
W: MPI_Start(&q); //!
MPI_Wait(&q, MPI_STATUS_IGNORE);
} else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''request_uninit invalid_argument|request_state 2,3 pair
static char junk[64]; MPI_Request q; memset(&q, 0x5a, sizeof q); (void)junk;
W: MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
# ---------- buffers
def buf(nm,decl,post,wrongacc,end,cls='buffer_conflict',peerside='',n='2,3',kind='pair',opts=''):
    case(f'''{nm} {cls} {n} {kind} {opts}
{decl}
MPI_Request q;
{post}
W: {wrongacc} //!
{end}
R: {wrongacc}
''')
send0='if (rank == 0) {'
E0='MPI_Wait(&q, MPI_STATUS_IGNORE); //!'
accs_w={'assign':'x[0] = 42;','last':'x[N - 1] = 17;','incr':'x[1]++;','loop':'for (int i = 0; i < N; i++) x[i] = i + 3;','memset':'memset(x, 1, sizeof(int) * 2);','fn':'fill(x);','ptr':'{ int *pp = x + 2; *pp = 9; }','snprintf':'snprintf((char *)x, 8, "%s", "abc");'}
accs_r={'read':'sink = x[0];','readlast':'sink = x[N - 1];','readcond':'if (x[1] > 100000) printf("big\\n");','readloop':'for (int i = 0; i < N; i++) sink += x[i];','readfn':'sink = look(x);','readprint':'if (x[0] == 77777) printf("%d\\n", x[2]);'}
HELP='TOP: static volatile int sink;\nTOP: static void fill(int *p) { p[0] = 11; }\nTOP: static int look(const int *p) { return p[0] + p[1]; }\n'
for store,decl in [('stack','enum { N = 8 }; int x[N] = {0};'),('heap','enum { N = 1000 }; int *x = calloc(N, sizeof(int));'),('big','enum { N = 60000 }; int *x = calloc(N, sizeof(int));'),('static','enum { N = 16 }; static int x[N];')]:
    fr='free(x);' if 'calloc' in decl else ''
    for an,acc in list(accs_w.items())+list(accs_r.items()):
        if an in ('fn','ptr','incr','snprintf','readcond','readfn','readprint') and store in('static',): continue
        rd=an.startswith('read')
        for op in ('isend','irecv','issend','psend','precv'):
            recv=op in('irecv','precv')
            if rd and not recv: continue
            if op in('issend','psend','precv') and (an not in('assign','loop','read') ): continue
            begin={'isend':'MPI_Isend(x, N, MPI_INT, 1, 0, COMM, &q);','issend':'MPI_Issend(x, N, MPI_INT, 1, 0, COMM, &q);','irecv':'MPI_Irecv(x, N, MPI_INT, 1, 0, COMM, &q);','psend':'MPI_Send_init(x, N, MPI_INT, 1, 0, COMM, &q); MPI_Start(&q);','precv':'MPI_Recv_init(x, N, MPI_INT, 1, 0, COMM, &q); MPI_Start(&q);'}[op]
            other='MPI_Send(x, N, MPI_INT, 0, 0, COMM);' if recv else 'MPI_Recv(x, N, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);'
            pf=' MPI_Request_free(&q);' if op[0]=='p' else ''
            case(f'''buf_{op}_{an}_{store} buffer_conflict 2,3 pair
{HELP}{decl}
MPI_Request q; sink = 0; (void)fill; (void)look;
if (rank == 0) {{
{begin} //!
W: {acc} //!
MPI_Wait(&q, MPI_STATUS_IGNORE);{pf} //!
R: {acc}
}} else {other}
{fr}
''')
case('''buf_irecv_late_write buffer_conflict 2,3 pair
int x[8] = {0}; MPI_Request q; int f = 0;
if (rank == 0) {
MPI_Irecv(x, 8, MPI_INT, 1, 0, COMM, &q); //!
MPI_Recv(&f, 1, MPI_INT, 1, 1, COMM, MPI_STATUS_IGNORE);
W: x[3] = 99; //!
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
} else { MPI_Request p; MPI_Isend(x, 8, MPI_INT, 0, 0, COMM, &p); MPI_Send(&f, 1, MPI_INT, 0, 1, COMM); MPI_Wait(&p, MPI_STATUS_IGNORE); }
''')
case('''buf_isend_read_ok none 2,3 pair noright
int x[8] = {0}; MPI_Request q; int s = 0;
if (rank == 0) {
MPI_Isend(x, 8, MPI_INT, 1, 0, COMM, &q);
for (int i = 0; i < 8; i++) s += x[i];
if (s > 1000) printf("%d\\n", s);
MPI_Wait(&q, MPI_STATUS_IGNORE);
} else { MPI_Recv(x, 8, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE); }
''')
case('''buf_neighbours_ok none 2,3 pair noright
int x[9] = {0}; char c[16] = {0}; MPI_Request q, p;
MPI_Irecv(x + 1, 7, MPI_INT, peer, 0, COMM, &q); MPI_Irecv(c + 3, 5, MPI_CHAR, peer, 1, COMM, &p);
x[0] = 4; x[8] = 5; c[2] = 1; c[8] = 2; c[0] = x[0] + x[8];
MPI_Send(&(int[7]){0}, 7, MPI_INT, peer, 0, COMM); MPI_Send("abcd", 5, MPI_CHAR, peer, 1, COMM);
MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Wait(&p, MPI_STATUS_IGNORE);
x[1] = 3; c[3] = c[4];
''')
case('''buf_vector_gaps_ok none 2,3 pair noright
int x[16] = {0}, y[16] = {0}; MPI_Request q; MPI_Datatype t;
MPI_Type_vector(4, 1, 2, MPI_INT, &t); MPI_Type_commit(&t);
MPI_Irecv(x, 1, t, peer, 0, COMM, &q);
x[1] = 5; x[3] = x[1]; x[15] = 2;
MPI_Send(y, 1, t, peer, 0, COMM);
y[0] = 3; x[7] = y[0];
MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Type_free(&t);
''')
case('''buf_vector_write buffer_conflict 2,3 pair
int x[16] = {0}, y[16] = {0}; MPI_Request q; MPI_Datatype t;
MPI_Type_vector(4, 1, 2, MPI_INT, &t); MPI_Type_commit(&t);
MPI_Irecv(x, 1, t, peer, 0, COMM, &q); //!
W: x[2] = 5; //!
MPI_Send(y, 1, t, peer, 0, COMM);
MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Type_free(&t); //!
''')
case('''buf_vector_isend_write buffer_conflict 2,3 pair
int x[16] = {0}, y[16] = {0}; MPI_Request q; MPI_Datatype t;
MPI_Type_vector(4, 1, 2, MPI_INT, &t); MPI_Type_commit(&t);
MPI_Isend(x, 1, t, peer, 0, COMM, &q); //!
W: x[6] = 5; //!
MPI_Recv(y, 1, t, peer, 0, COMM, MPI_STATUS_IGNORE);
MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Type_free(&t); //!
''')
case('''buf_struct_write buffer_conflict 2,3 pair
struct s { char a; int b; double c; } x = {0}, y = {0}; MPI_Request q; MPI_Datatype t, k[2] = {MPI_INT, MPI_DOUBLE}; int bl[2] = {1, 1}; MPI_Aint d[2] = {offsetof(struct s, b), offsetof(struct s, c)};
MPI_Type_create_struct(2, bl, d, k, &t); MPI_Type_commit(&t);
MPI_Irecv(&x, 1, t, peer, 0, COMM, &q); //!
x.a = 4;
W: x.c = 5; //!
MPI_Send(&y, 1, t, peer, 0, COMM);
MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Type_free(&t); //!
''')
for cl,begin in [('ibcast','MPI_Ibcast(x, 4, MPI_INT, 0, COMM, &q);'),('iallreduce_send','MPI_Iallreduce(x, y, 4, MPI_INT, MPI_SUM, COMM, &q);'),('iallreduce_recv','MPI_Iallreduce(y, x, 4, MPI_INT, MPI_SUM, COMM, &q);'),('igather','MPI_Igather(x, 4, MPI_INT, z, 4, MPI_INT, 0, COMM, &q);'),('iscatter','MPI_Iscatter(z, 4, MPI_INT, x, 4, MPI_INT, 0, COMM, &q);'),('iallgather','MPI_Iallgather(x, 4, MPI_INT, z, 4, MPI_INT, COMM, &q);'),
  ('ialltoall','MPI_Ialltoall(x, 1, MPI_INT, z, 1, MPI_INT, COMM, &q);'),('ireduce','MPI_Ireduce(x, z, 4, MPI_INT, MPI_SUM, 0, COMM, &q);'),('iscan','MPI_Iscan(x, z, 4, MPI_INT, MPI_SUM, COMM, &q);')]:
    for an,acc in [('write','x[0] = 1234;'),('loop','for (int i = 0; i < 4; i++) x[i] = 99;')]:
        case(f'''buf_{cl}_{an} buffer_conflict 2,4 all
int x[8] = {{0}}, y[8] = {{0}}, z[64] = {{0}}; MPI_Request q; (void)y; (void)z;
{begin} //!
W: {acc} //!
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
R: {acc}
''')
for cl,begin,cond in [('ibcast','MPI_Ibcast(x, 4, MPI_INT, 0, COMM, &q);','rank == 1'),('iallreduce','MPI_Iallreduce(y, x, 4, MPI_INT, MPI_SUM, COMM, &q);','1'),('iallgather','MPI_Iallgather(y, 1, MPI_INT, x, 1, MPI_INT, COMM, &q);','rank == 0'),('iscatter','MPI_Iscatter(y, 1, MPI_INT, x, 1, MPI_INT, 0, COMM, &q);','rank == 1')]:
    case(f'''buf_{cl}_read buffer_conflict 2,4 all
TOP: static volatile int sink;
int x[8] = {{0}}, y[8] = {{0}}; MPI_Request q; (void)y;
{begin} //!
W: if ({cond}) sink = x[0]; //!
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
R: sink = x[0];
''')
case('''buf_iallreduce_big_write buffer_conflict 2,3 all
enum { N = 40000 }; float *x = calloc(N, 4), *y = calloc(N, 4); MPI_Request q;
MPI_Iallreduce(x, y, N, MPI_FLOAT, MPI_SUM, COMM, &q); //!
W: x[N / 2] = 3; //!
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
free(x); free(y);
''')
case('''overlap_irecv_irecv buffer_conflict 2,3 pair
int x[8] = {0}, y[8] = {0}; MPI_Request q[2];
MPI_Irecv(x, 4, MPI_INT, peer, 0, COMM, &q[0]); //!
W: MPI_Irecv(x + 3, 4, MPI_INT, peer, 1, COMM, &q[1]); //!
R: MPI_Irecv(x + 4, 4, MPI_INT, peer, 1, COMM, &q[1]);
MPI_Send(y, 4, MPI_INT, peer, 0, COMM); MPI_Send(y, 4, MPI_INT, peer, 1, COMM);
MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
''')
case('''overlap_isend_irecv buffer_conflict 2,3 pair
int x[8] = {0}; MPI_Request q[2];
MPI_Isend(x, 4, MPI_INT, peer, 0, COMM, &q[0]); //!
W: MPI_Irecv(x + 3, 4, MPI_INT, peer, 0, COMM, &q[1]); //!
R: MPI_Irecv(x + 4, 4, MPI_INT, peer, 0, COMM, &q[1]);
MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
''')
case('''overlap_irecv_send buffer_conflict 2,3 pair
int x[8] = {0}; MPI_Request q;
MPI_Irecv(x, 4, MPI_INT, peer, 0, COMM, &q); //!
W: MPI_Send(x, 4, MPI_INT, peer, 0, COMM); //!
R: MPI_Send(x + 4, 4, MPI_INT, peer, 0, COMM);
MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''overlap_isend_recv buffer_conflict 2,3 pair
int x[8] = {0}; MPI_Request q;
MPI_Isend(x, 4, MPI_INT, peer, 0, COMM, &q); //!
W: MPI_Recv(x, 4, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE); //!
R: MPI_Recv(x + 4, 4, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE);
MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''overlap_isend_isend_ok none 2,3 pair noright
int x[8] = {0}, y[8]; MPI_Request q[2];
MPI_Isend(x, 4, MPI_INT, peer, 0, COMM, &q[0]);
MPI_Isend(x, 4, MPI_INT, peer, 1, COMM, &q[1]);
MPI_Recv(y, 4, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE); MPI_Recv(y, 4, MPI_INT, peer, 1, COMM, MPI_STATUS_IGNORE);
MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
''')
case('''overlap_sendrecv buffer_conflict 2,3 pair
int x[8] = {0};
W: MPI_Sendrecv(x, 4, MPI_INT, peer, 0, x + 2, 4, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE); //!
R: MPI_Sendrecv(x, 4, MPI_INT, peer, 0, x + 4, 4, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE);
''')
for cn,w,r in [('allreduce','MPI_Allreduce(x, x, 4, MPI_INT, MPI_SUM, COMM);','MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_INT, MPI_SUM, COMM);'),('reduce','MPI_Reduce(x, x, 4, MPI_INT, MPI_SUM, 0, COMM);','MPI_Reduce(x, x + 16, 4, MPI_INT, MPI_SUM, 0, COMM);'),('gather','MPI_Gather(x, 2, MPI_INT, x, 2, MPI_INT, 0, COMM);','MPI_Gather(x + 32, 2, MPI_INT, x, 2, MPI_INT, 0, COMM);'),
   ('allgather','MPI_Allgather(x, 2, MPI_INT, x, 2, MPI_INT, COMM);','MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, 2, MPI_INT, COMM);'),('scatter','MPI_Scatter(x, 2, MPI_INT, x, 2, MPI_INT, 0, COMM);','MPI_Scatter(x, 2, MPI_INT, x + 32, 2, MPI_INT, 0, COMM);'),('alltoall','MPI_Alltoall(x, 2, MPI_INT, x, 2, MPI_INT, COMM);','MPI_Alltoall(x, 2, MPI_INT, x + 32, 2, MPI_INT, COMM);'),
   ('scan','MPI_Scan(x, x, 2, MPI_INT, MPI_SUM, COMM);','MPI_Scan(MPI_IN_PLACE, x, 2, MPI_INT, MPI_SUM, COMM);'),('alltoall_part','MPI_Alltoall(x, 2, MPI_INT, x + 1, 2, MPI_INT, COMM);','MPI_Alltoall(x, 2, MPI_INT, x + 32, 2, MPI_INT, COMM);'),('allgather_part','MPI_Allgather(x + 1, 2, MPI_INT, x, 2, MPI_INT, COMM);','MPI_Allgather(x + 32, 2, MPI_INT, x, 2, MPI_INT, COMM);')]:
    case(f'''alias_{cn} buffer_conflict|invalid_argument 2,4 all
int x[64] = {{0}};
W: {w} //!
R: {r}
''')
case('''overlap_bcast_irecv buffer_conflict 2,3 all
int x[8] = {0}, y = 0; MPI_Request q;
MPI_Irecv(x, 1, MPI_INT, prev, 0, COMM, &q); //!
W: MPI_Bcast(x, 4, MPI_INT, 0, COMM); //!
R: MPI_Bcast(x + 1, 4, MPI_INT, 0, COMM);
MPI_Send(&y, 1, MPI_INT, next, 0, COMM);
MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''overlap_icolls buffer_conflict 2,3 all
int x[8] = {0}, y[8] = {0}; MPI_Request q[2];
MPI_Iallreduce(y, x, 4, MPI_INT, MPI_SUM, COMM, &q[0]); //!
W: MPI_Iallreduce(y, x, 4, MPI_INT, MPI_SUM, COMM, &q[1]); //!
R: MPI_Iallreduce(y, x + 4, 4, MPI_INT, MPI_SUM, COMM, &q[1]);
MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
''')
# ---------- leaks
case('''leak_dup resource_leak 2,3 all
MPI_Comm d; MPI_Comm_dup(COMM, &d); //!
R: MPI_Comm_free(&d);
''')
case('''leak_split resource_leak 2,4 all
MPI_Comm d; MPI_Comm_split(COMM, rank % 2, 0, &d); //!
R: MPI_Comm_free(&d);
''')
case('''leak_cart resource_leak 4 all
MPI_Comm d; int n[2] = {2, 2}, p[2] = {1, 1}; MPI_Cart_create(COMM, 2, n, p, 0, &d); //!
R: MPI_Comm_free(&d);
''')
case('''leak_create resource_leak 2,3 all
MPI_Comm d; MPI_Group g; MPI_Comm_group(COMM, &g);
MPI_Comm_create(COMM, g, &d); //!
MPI_Group_free(&g);
R: MPI_Comm_free(&d);
''')
case('''leak_one_rank resource_leak 2,4 all
MPI_Datatype d; MPI_Type_contiguous(3, MPI_INT, &d); //!
MPI_Type_commit(&d);
W: if (rank) MPI_Type_free(&d);
R: MPI_Type_free(&d);
''')
for t,m in [('vector','MPI_Type_vector(2, 1, 3, MPI_INT, &d);'),('indexed','MPI_Type_indexed(1, (int[]){1}, (int[]){0}, MPI_INT, &d);'),('resized','MPI_Type_create_resized(MPI_INT, 0, 8, &d);'),('subarray','MPI_Type_create_subarray(1, (int[]){4}, (int[]){2}, (int[]){1}, MPI_ORDER_C, MPI_INT, &d);'),('tdup','MPI_Type_dup(MPI_INT, &d);'),('uncommitted','MPI_Type_contiguous(2, MPI_INT, &d);')]:
    case(f'''leak_type_{t} resource_leak 2,3 all
MPI_Datatype d; {m} //!
R: MPI_Type_free(&d);
''')
case('''leak_op resource_leak 2,3 all
TOP: static void f(void *a, void *b, int *n, MPI_Datatype *t) { (void)t; for (int i = 0; i < *n; i++) ((int *)b)[i] += ((int *)a)[i]; }
MPI_Op o; MPI_Op_create(f, 1, &o); //!
R: MPI_Op_free(&o);
''')
case('''leak_group resource_leak 2,3 all
MPI_Group g; MPI_Comm_group(COMM, &g); //!
R: MPI_Group_free(&g);
''')
case('''leak_group_incl resource_leak 2,3 all
MPI_Group g, h; MPI_Comm_group(COMM, &g);
MPI_Group_incl(g, 1, (int[]){0}, &h); //!
MPI_Group_free(&g);
R: MPI_Group_free(&h);
''')
case('''info_kept none 2,3 all noright
MPI_Info i; MPI_Info_create(&i);
''')
case('''leak_buffer resource_leak 2,3 all once
char *b = malloc(1000); MPI_Buffer_attach(b, 1000); //!
R: void *p; int n; MPI_Buffer_detach(&p, &n); free(p);
''')
case('''errhandler_kept none 2,3 all noright
TOP: static void h(MPI_Comm *c, int *e, ...) { (void)c; (void)e; }
MPI_Errhandler e; MPI_Comm_create_errhandler(h, &e);
''')
case('''lost_message lost_message 2,3 pair strict=deadlock|lost_message
int x = 0;
if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 4, COMM); //!
R: else MPI_Recv(&x, 1, MPI_INT, 0, 4, COMM, MPI_STATUS_IGNORE);
''')
case('''lost_isend lost_message|request_leak|deadlock 2,3 pair
static int x; MPI_Request q;
if (rank == 0) { MPI_Isend(&x, 1, MPI_INT, 1, 4, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); } //!
R: else MPI_Recv(&x, 1, MPI_INT, 0, 4, COMM, MPI_STATUS_IGNORE);
''')
case('''lost_second lost_message|deadlock 2,3 pair
int x = 0;
if (rank == 0) { MPI_Send(&x, 1, MPI_INT, 1, 4, COMM); MPI_Send(&x, 1, MPI_INT, 1, 4, COMM); } //!
else { MPI_Recv(&x, 1, MPI_INT, 0, 4, COMM, MPI_STATUS_IGNORE);
R: MPI_Recv(&x, 1, MPI_INT, 0, 4, COMM, MPI_STATUS_IGNORE);
}
''')
# ---------- order
for nm,call in [('comm_rank','MPI_Comm_rank(MPI_COMM_WORLD, &r);'),('send','MPI_Send(&r, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);'),('barrier','MPI_Barrier(MPI_COMM_WORLD);'),('type','{ MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t); }'),('irecv','{ MPI_Request q; MPI_Irecv(&r, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q); }'),('dup','{ MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c); }'),('allreduce','{ int s; MPI_Allreduce(&r, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }'),('finalize','MPI_Finalize();'),('opc','{ MPI_Op o; MPI_Op_create(0, 1, &o); }'),('group','{ MPI_Group g; MPI_Comm_group(MPI_COMM_WORLD, &g); }'),('wait','{ MPI_Request q = MPI_REQUEST_NULL; MPI_Wait(&q, MPI_STATUS_IGNORE); }')]:
    case(f'''before_init_{nm} call_order 2,3 raw
int r = 0; (void)r;
W: {call} //!
MPI_Init(&argc, &argv);
MPI_Finalize();
return 0;
''')
    case(f'''after_finalize_{nm} call_order 2,3 raw
int r = 0; (void)r;
MPI_Init(&argc, &argv);
MPI_Finalize();
W: {call} //!
return 0;
''')
case('''init_twice call_order 2,3 raw
MPI_Init(&argc, &argv);
W: MPI_Init(&argc, &argv); //!
MPI_Finalize();
return 0;
''')
case('''no_finalize call_order|death 2,3 raw
MPI_Init(&argc, &argv); //!
R: MPI_Finalize();
return 0;
''')
case('''no_finalize_one call_order|death|deadlock 2,3 raw
int r; MPI_Init(&argc, &argv); //!
MPI_Comm_rank(MPI_COMM_WORLD, &r); //!
W: if (r == 0) return 0;
MPI_Finalize(); //!
return 0;
''')
case('''exit_no_finalize call_order|death 2,3 raw
int r; MPI_Init(&argc, &argv); //!
MPI_Comm_rank(MPI_COMM_WORLD, &r); //!
W: exit(0);
MPI_Finalize();
return 0;
''')
case('''never_init call_order 2,3 raw
int r = 0;
R: MPI_Init(&argc, &argv);
MPI_Comm_rank(MPI_COMM_WORLD, &r); //!
R: MPI_Finalize();
return 0;
''')
# ---------- races
case('''race_any_then_named message_race|deadlock 3,4 all once
int x = rank, y = 0, z = 0;
if (rank == 0) {
for (int i = 1; i < 3; i++) {
W: if (i == 1) MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM, MPI_STATUS_IGNORE); else MPI_Recv(&z, 1, MPI_INT, 2, 0, COMM, MPI_STATUS_IGNORE); //!
R: MPI_Recv(&y, 1, MPI_INT, i, 0, COMM, MPI_STATUS_IGNORE);
} } else if (rank < 3) MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
(void)z;
''')
case('''race_specific_after message_race|deadlock 3,4 all once
int x = rank, y = 0; MPI_Status s;
if (rank == 0) {
W: MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, &s); //!
R: MPI_Recv(&y, 1, MPI_INT, 1, MPI_ANY_TAG, COMM, &s);
MPI_Recv(&y, 1, MPI_INT, 2, 0, COMM, MPI_STATUS_IGNORE); //!
} else if (rank < 3) MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
(void)s;
''')
case('''race_gather_ok none 3,4 all noright
int x = rank, y = 0, sum = 0;
if (rank == 0) for (int i = 1; i < size; i++) { MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM, MPI_STATUS_IGNORE); sum += y; }
else MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
MPI_Barrier(COMM);
(void)sum;
''')
case('''race_master_worker_ok none 3,4 all noright
int x = rank, y = 0; MPI_Status s;
if (rank == 0) for (int i = 1; i < size; i++) { MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, &s); MPI_Send(&y, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, COMM); }
else { MPI_Send(&x, 1, MPI_INT, 0, rank, COMM); MPI_Recv(&y, 1, MPI_INT, 0, rank, COMM, MPI_STATUS_IGNORE); }
MPI_Barrier(COMM);
''')

# ---------- matched probes, buffered and ready sends, cancelled receives
case('''mprobe_not_received lost_message|deadlock 2,3 pair strict=deadlock|lost_message
int x = 1; MPI_Message m; MPI_Status s;
if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, COMM); //!
else {
MPI_Mprobe(0, 0, COMM, &m, &s); //!
R: MPI_Mrecv(&x, 1, MPI_INT, &m, &s);
}
''')
case('''mrecv_twice invalid_argument|request_state 2,3 pair
int x = 1; MPI_Message m, k; MPI_Status s;
if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, COMM);
else {
MPI_Mprobe(0, 0, COMM, &m, &s); k = m;
MPI_Mrecv(&x, 1, MPI_INT, &m, &s);
W: MPI_Mrecv(&x, 1, MPI_INT, &k, &s); //!
(void)k;
}
''')
case('''mrecv_truncated truncation 2,3 pair
int x[4] = {0}; MPI_Message m; MPI_Status s;
if (rank == 0) MPI_Send(x, 4, MPI_INT, 1, 0, COMM); //!
else {
MPI_Mprobe(0, 0, COMM, &m, &s);
W: MPI_Mrecv(x, 2, MPI_INT, &m, &s); //!
R: MPI_Mrecv(x, 4, MPI_INT, &m, &s);
}
''')
case('''mrecv_type type_mismatch 2,3 pair
float x[4] = {0}; MPI_Message m; MPI_Status s; MPI_Request q;
if (rank == 0) MPI_Send(x, 4, MPI_FLOAT, 1, 0, COMM); //!
else {
MPI_Mprobe(0, 0, COMM, &m, &s);
W: MPI_Imrecv(x, 4, MPI_INT, &m, &q); MPI_Wait(&q, &s); //!
R: MPI_Imrecv(x, 4, MPI_FLOAT, &m, &q); MPI_Wait(&q, &s);
}
''')
case('''bsend_small_buffer invalid_argument|refused|buffer_conflict|resource_leak 2,3 pair
int x[64] = {0}; char *b = malloc(64 + MPI_BSEND_OVERHEAD); void *p; int n;
R: b = realloc(b, 4096);
MPI_Buffer_attach(b, 64 + MPI_BSEND_OVERHEAD
R: * 0 + 4000
);
MPI_Bsend(x, 64, MPI_INT, peer, 0, COMM); //!
MPI_Recv(x, 64, MPI_INT, peer, 0, COMM, MPI_STATUS_IGNORE);
MPI_Buffer_detach(&p, &n); free(b);
''')
case('''attach_twice buffer_conflict|invalid_argument|resource_leak|call_order 2,3 all once
char b[2000], c[2000]; void *p; int n;
MPI_Buffer_attach(b, 2000);
W: MPI_Buffer_attach(c, 2000); //!
MPI_Buffer_detach(&p, &n); (void)c;
''')
case('''cancelled_ok none 2,3 pair noright
int x = 0, flag; MPI_Request q; MPI_Status s;
MPI_Irecv(&x, 1, MPI_INT, peer, 5, COMM, &q);
MPI_Cancel(&q); MPI_Wait(&q, &s); MPI_Test_cancelled(&s, &flag);
if (!flag) MPI_Abort(COMM, 3);
''')
case('''cancelled_not_waited request_leak 2,3 pair
static int x; MPI_Request q;
MPI_Irecv(&x, 1, MPI_INT, peer, 5, COMM, &q); //!
MPI_Cancel(&q); //!
R: MPI_Wait(&q, MPI_STATUS_IGNORE);
''')
case('''rsend_ok none 2,3 pair noright
int x = 1, y = 0; MPI_Request q;
if (rank == 0) { MPI_Recv(&y, 0, MPI_INT, 1, 1, COMM, MPI_STATUS_IGNORE); MPI_Rsend(&x, 1, MPI_INT, 1, 0, COMM); }
else { MPI_Irecv(&y, 1, MPI_INT, 0, 0, COMM, &q); MPI_Send(&x, 0, MPI_INT, 0, 1, COMM); MPI_Wait(&q, MPI_STATUS_IGNORE); }
''')
# ---------- sets of requests
case('''waitany_negative invalid_argument 2,3 pair
MPI_Request q[1] = {MPI_REQUEST_NULL}; int i;
W: MPI_Waitany(-2, q, &i, MPI_STATUS_IGNORE); //!
R: MPI_Waitany(1, q, &i, MPI_STATUS_IGNORE);
''')
case('''testall_null invalid_argument 2,3 pair
MPI_Request q[1] = {MPI_REQUEST_NULL}; int f;
W: MPI_Testall(3, NULL, &f, MPI_STATUSES_IGNORE); //!
R: MPI_Testall(1, q, &f, MPI_STATUSES_IGNORE);
(void)q;
''')
case('''waitsome_rest_leaks request_leak 2,3 pair
static int x[2], y[2]; MPI_Request q[2]; int n, idx[2];
if (rank == 0) {
MPI_Irecv(&x[0], 1, MPI_INT, 1, 0, COMM, &q[0]); MPI_Irecv(&x[1], 1, MPI_INT, 1, 1, COMM, &q[1]); //!
MPI_Waitsome(1, q, &n, idx, MPI_STATUSES_IGNORE);
R: MPI_Waitsome(1, q + 1, &n, idx, MPI_STATUSES_IGNORE);
} else { MPI_Send(y, 1, MPI_INT, 0, 0, COMM); MPI_Send(y, 1, MPI_INT, 0, 1, COMM); }
''')
case('''startall_started request_state 2,3 pair
int x = 0, y; MPI_Request q[2];
MPI_Send_init(&x, 1, MPI_INT, peer, 0, COMM, &q[0]); MPI_Recv_init(&y, 1, MPI_INT, peer, 0, COMM, &q[1]);
W: MPI_Start(&q[1]); //!
MPI_Startall(2, q); //!
MPI_Waitall(2, q, MPI_STATUSES_IGNORE); MPI_Request_free(&q[0]); MPI_Request_free(&q[1]);
''')
case('''persistent_buffer buffer_conflict 2,3 pair
int x[4] = {0}; MPI_Request q;
if (rank == 0) {
MPI_Send_init(x, 4, MPI_INT, 1, 0, COMM, &q);
for (int i = 0; i < 2; i++) { MPI_Start(&q); //!
W: x[1] = i + 5; //!
MPI_Wait(&q, MPI_STATUS_IGNORE); } //!
MPI_Request_free(&q);
} else for (int i = 0; i < 2; i++) MPI_Recv(x, 4, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
''')
case('''persistent_bcast_leak request_leak|resource_leak 2,3 all
static int x; MPI_Request q;
MPI_Bcast_init(&x, 1, MPI_INT, 0, COMM, MPI_INFO_NULL, &q); //!
MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE);
R: MPI_Request_free(&q);
''')
case('''ibarrier_left_out deadlock|collective_mismatch 2,4 all once
MPI_Request q = MPI_REQUEST_NULL;
W: if (rank) MPI_Ibarrier(COMM, &q); //!
R: MPI_Ibarrier(COMM, &q);
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
case('''ibcast_then_recv deadlock|collective_mismatch 2,3 pair
int x = 0, y; MPI_Request q;
MPI_Irecv(&y, 1, MPI_INT, peer, 0, COMM, &q);
W: MPI_Wait(&q, MPI_STATUS_IGNORE); //!
R: MPI_Send(&x, 1, MPI_INT, peer, 0, COMM); MPI_Wait(&q, MPI_STATUS_IGNORE);
(void)x;
''')
# ---------- communicators, groups, topologies, attributes
case('''two_comms_cycle deadlock|collective_mismatch|communicator_mismatch 3 all
MPI_Comm a, b; int x = 0;
MPI_Comm_split(COMM, rank < 2 ? 0 : MPI_UNDEFINED, rank, &a); MPI_Comm_split(COMM, rank > 0 ? 0 : MPI_UNDEFINED, rank, &b);
W: if (rank == 0) { MPI_Barrier(a); MPI_Recv(&x, 1, MPI_INT, 2, 0, COMM, MPI_STATUS_IGNORE); } //!
W: if (rank == 1) { MPI_Barrier(b); MPI_Barrier(a); } //!
W: if (rank == 2) { MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE); MPI_Barrier(b); } //!
R: if (rank < 2) MPI_Barrier(a);
R: if (rank > 0) MPI_Barrier(b);
if (rank < 2) MPI_Comm_free(&a);
if (rank > 0) MPI_Comm_free(&b);
(void)x;
''')
case('''comm_create_groups collective_mismatch|deadlock|invalid_argument|communicator_mismatch|count_mismatch|type_mismatch 2,3 all
MPI_Comm d; MPI_Group g, h; MPI_Comm_group(COMM, &g);
W: MPI_Group_incl(g, 1, (int[]){rank}, &h); MPI_Comm_create(COMM, rank ? h : g, &d); //!
R: MPI_Group_incl(g, size, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, &h); MPI_Comm_create(COMM, h, &d);
if (d != MPI_COMM_NULL) MPI_Comm_free(&d);
MPI_Group_free(&g); MPI_Group_free(&h);
''')
case('''cart_rank_outside invalid_argument 2,3 all
MPI_Comm d; int dims[1] = {size}, per[1] = {0}, r; MPI_Cart_create(COMM, 1, dims, per, 0, &d);
W: MPI_Cart_rank(d, (int[]){size + 3}, &r); //!
R: MPI_Cart_rank(d, (int[]){size - 1}, &r);
MPI_Comm_free(&d);
''')
case('''cart_edges_ok none 2,4 all noright
MPI_Comm d; int dims[1] = {size}, per[1] = {0}, l, r, x = rank, y = -1; MPI_Cart_create(COMM, 1, dims, per, 0, &d);
MPI_Cart_shift(d, 0, 1, &l, &r);
MPI_Sendrecv(&x, 1, MPI_INT, r, 0, &y, 1, MPI_INT, l, 0, d, MPI_STATUS_IGNORE);
MPI_Comm_free(&d);
''')
case('''dims_negative invalid_argument 2,3 all
int dims[2] = {0, 0};
W: dims[1] = -1;
MPI_Dims_create(size, 2, dims); //!
''')
case('''keyval_invalid invalid_argument 2,3 all
void *v; int f, k = MPI_KEYVAL_INVALID;
R: k = MPI_TAG_UB;
MPI_Comm_get_attr(COMM, k, &v, &f); //!
''')
case('''group_translate_rank invalid_argument 2,3 all
MPI_Group g; int a[1] = {0}, b[1]; MPI_Comm_group(COMM, &g);
W: a[0] = size + 1;
MPI_Group_translate_ranks(g, 1, a, g, b); //!
MPI_Group_free(&g);
''')
case('''rank_of_other_comm invalid_argument 4 all
MPI_Comm a; int x = 0, ar, as; MPI_Comm_split(COMM, rank % 2, rank, &a); MPI_Comm_rank(a, &ar); MPI_Comm_size(a, &as);
W: MPI_Send(&x, 1, MPI_INT, (rank + 2) % 4, 0, a); //!
W: MPI_Recv(&x, 1, MPI_INT, 3, 0, a, MPI_STATUS_IGNORE); //!
R: MPI_Sendrecv_replace(&x, 1, MPI_INT, (ar + 1) % as, 0, (ar + 1) % as, 0, a, MPI_STATUS_IGNORE);
MPI_Comm_free(&a);
''')
case('''wrong_comm_message deadlock|lost_message 2,3 pair
int x = 0;
W: if (rank == 0) MPI_Ssend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); else MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE); //!
R: if (rank == 0) MPI_Ssend(&x, 1, MPI_INT, 1, 0, COMM); else MPI_Recv(&x, 1, MPI_INT, 0, 0, COMM, MPI_STATUS_IGNORE);
'''.replace('MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF','MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF'))
# ---------- collectives once more
case('''gatherv_overlap buffer_conflict|invalid_argument 3,4 all
int x[2] = {0}, y[64], c[8], d[8];
for (int i = 0; i < size; i++) { c[i] = 2;
W: d[i] = i; }
R: d[i] = 2 * i; }
MPI_Gatherv(x, 2, MPI_INT, y, c, d, MPI_INT, 0, COMM); //!
''')
case('''scatterv_null_counts invalid_argument 2,3 all
int x[64] = {0}, y[2], d[8] = {0, 2, 4, 6}, c[8] = {2, 2, 2, 2};
W: MPI_Scatterv(x, NULL, d, MPI_INT, y, 2, MPI_INT, 0, COMM); //!
R: MPI_Scatterv(x, c, d, MPI_INT, y, 2, MPI_INT, 0, COMM);
(void)c;
''')
case('''alltoallw_type type_mismatch 2,3 all
int x[16] = {0}, y[16], c[8], d[8]; MPI_Datatype s[8], r[8];
for (int i = 0; i < size; i++) { c[i] = 1; d[i] = 4 * i; s[i] = r[i] = MPI_INT; }
W: if (rank == 1) s[0] = MPI_FLOAT;
MPI_Alltoallw(x, c, d, s, y, c, d, r, COMM); //!
''')
case('''reduce_scatter_counts count_mismatch 2,3 all
int x[64] = {0}, y[64], c[8];
for (int i = 0; i < size; i++) c[i] = 2;
W: if (rank == 0) c[1] = 3;
MPI_Reduce_scatter(x, y, c, MPI_INT, MPI_SUM, COMM); //!
''')
case('''reduce_scatter_counts_swapped count_mismatch|collective_mismatch|truncation 2,3 all
int x[64] = {0}, y[64], c[8];
for (int i = 0; i < size; i++) c[i] = 2;
W: if (rank == 0) { c[0] = 1; c[1] = 3; }
MPI_Reduce_scatter(x, y, c, MPI_INT, MPI_SUM, COMM); //!
''')
case('''igatherv_type type_mismatch 2,3 all
int x[4] = {0}, y[64], c[8], d[8]; MPI_Request q;
for (int i = 0; i < size; i++) { c[i] = 2; d[i] = 2 * i; }
W: MPI_Igatherv(x, 2, rank == 1 ? MPI_FLOAT : MPI_INT, y, c, d, MPI_INT, 0, COMM, &q); //!
R: MPI_Igatherv(x, 2, MPI_INT, y, c, d, MPI_INT, 0, COMM, &q);
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
case('''ialltoallv_count count_mismatch|truncation 2,3 all
int x[64] = {0}, y[64], c[8], d[8]; MPI_Request q;
for (int i = 0; i < size; i++) { c[i] = 2; d[i] = 4 * i; }
W: if (rank == 0) c[1] = 3;
MPI_Ialltoallv(x, c, d, MPI_INT, y, c, d, MPI_INT, COMM, &q); //!
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
case('''reduce_in_place_not_root invalid_argument 2,3 all
int x = 1, y = 0; (void)y;
W: MPI_Reduce(rank == 1 ? MPI_IN_PLACE : &x, &y, 1, MPI_INT, MPI_SUM, 0, COMM); //!
R: MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &x, &y, 1, MPI_INT, MPI_SUM, 0, COMM);
''')
case('''bcast_in_place invalid_argument 2,3 all
int x = 1; (void)x;
W: MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, COMM); //!
R: MPI_Bcast(&x, 1, MPI_INT, 0, COMM);
''')
case('''exscan_vs_scan collective_mismatch 2,3 all
int x = 1, y = 0;
W: if (rank) MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, COMM); else MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, COMM); //!
R: MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, COMM);
''')
case('''loop_counts collective_mismatch|deadlock 2,4 all once
int x = 0;
W: for (int i = 0; i < 2 + (rank == 0); i++) MPI_Bcast(&x, 1, MPI_INT, 0, COMM); //!
R: for (int i = 0; i < 2; i++) MPI_Bcast(&x, 1, MPI_INT, 0, COMM);
''')
case('''by_data_ok none 2,4 all noright
int x = rank == 0 ? 3 : 0;
MPI_Bcast(&x, 1, MPI_INT, 0, COMM);
for (int i = 0; i < x; i++) MPI_Barrier(COMM);
''')
# ---------- types once more
case('''unpack_beyond invalid_argument|truncation 2,3 pair
char b[8] = {0}; int p = 0, y[4];
W: MPI_Unpack(b, 8, &p, y, 3, MPI_INT, COMM); //!
R: MPI_Unpack(b, 8, &p, y, 2, MPI_INT, COMM);
''')
case('''packed_ok none 2,3 pair noright
char b[64]; int p = 0, x = 4; double d = 2;
if (rank == 0) { MPI_Pack(&x, 1, MPI_INT, b, 64, &p, COMM); MPI_Pack(&d, 1, MPI_DOUBLE, b, 64, &p, COMM); MPI_Send(b, p, MPI_PACKED, 1, 0, COMM); }
else { struct { int a; double b; } s; MPI_Datatype t, k[2] = {MPI_INT, MPI_DOUBLE}; int bl[2] = {1, 1}; MPI_Aint o[2] = {0, 8};
MPI_Type_create_struct(2, bl, o, k, &t); MPI_Type_commit(&t); MPI_Recv(&s, 1, t, 0, 0, COMM, MPI_STATUS_IGNORE); MPI_Type_free(&t); if (s.a != 4 || s.b != 2) MPI_Abort(COMM, 5); }
''')
case('''overlapping_type buffer_conflict|invalid_argument 2,3 pair
int y[8]; MPI_Datatype t; int x[8] = {0};
W: MPI_Type_vector(3, 2, 1, MPI_INT, &t);
R: MPI_Type_vector(3, 2, 2, MPI_INT, &t);
MPI_Type_commit(&t);
if (rank == 0) MPI_Send(x, 6, MPI_INT, 1, 0, COMM);
else MPI_Recv(y, 1, t, 0, 0, COMM, MPI_STATUS_IGNORE); //!
MPI_Type_free(&t);
''')
case('''type_prefix_ok none 2,3 pair noright
int x[8] = {0}; MPI_Datatype t; MPI_Status s; int n;
MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t);
if (rank == 0) MPI_Send(x, 3, MPI_INT, 1, 0, COMM);
else { MPI_Recv(x, 4, t, 0, 0, COMM, &s); MPI_Get_count(&s, t, &n); if (n != MPI_UNDEFINED) MPI_Abort(COMM, 4); MPI_Get_elements(&s, t, &n); if (n != 3) MPI_Abort(COMM, 5); }
MPI_Type_free(&t);
''')
case('''type_freed_in_flight_ok none 2,3 pair noright
int x[4] = {0}, y[4]; MPI_Datatype t; MPI_Request q[2];
MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t);
MPI_Irecv(y, 2, t, peer, 0, COMM, &q[0]); MPI_Isend(x, 2, t, peer, 0, COMM, &q[1]);
MPI_Type_free(&t);
MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
''')
# ---------- races once more
case('''race_irecv message_race|deadlock 3,4 all once
int x = rank, y = 0, z = 0; MPI_Request q;
if (rank == 0) {
W: MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); //!
R: MPI_Irecv(&y, 1, MPI_INT, 1, 0, COMM, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);
MPI_Recv(&z, 1, MPI_INT, 2, 0, COMM, MPI_STATUS_IGNORE); //!
} else if (rank < 3) MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
''')
case('''race_both_irecv message_race|deadlock 3,4 all once
int x = rank, y = 0, z = 0; MPI_Request q[2];
if (rank == 0) {
W: MPI_Irecv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM, &q[0]); //!
R: MPI_Irecv(&y, 1, MPI_INT, 1, 0, COMM, &q[0]);
MPI_Irecv(&z, 1, MPI_INT, 2, 0, COMM, &q[1]); //!
MPI_Waitall(2, q, MPI_STATUSES_IGNORE); //!
} else if (rank < 3) MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
''')
case('''race_any_tag message_race|deadlock|truncation|type_mismatch 3,4 all once
int x = rank, y = 0;
if (rank == 0) {
W: MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, COMM, MPI_STATUS_IGNORE); //!
R: MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 1, COMM, MPI_STATUS_IGNORE);
MPI_Recv(&y, 1, MPI_INT, 2, 2, COMM, MPI_STATUS_IGNORE); //!
} else if (rank < 3) MPI_Send(&x, 1, MPI_INT, 0, rank, COMM);
''')
case('''race_work_ok none 3,4 all noright
int x = rank, y = 0; MPI_Status s;
if (rank == 0) {
for (int i = 1; i < size; i++) MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 1, COMM, MPI_STATUS_IGNORE);
for (int i = 1; i < size; i++) { MPI_Recv(&y, 1, MPI_INT, i, 2, COMM, &s); if (y != i) MPI_Abort(COMM, 7); }
} else { MPI_Send(&x, 1, MPI_INT, 0, 1, COMM); MPI_Send(&x, 1, MPI_INT, 0, 2, COMM); }
''')
case('''race_probe_ok none 3,4 all noright
int x = rank, y = 0; MPI_Status s;
if (rank == 0) for (int i = 1; i < size; i++) { MPI_Probe(MPI_ANY_SOURCE, 0, COMM, &s); MPI_Recv(&y, 1, MPI_INT, s.MPI_SOURCE, 0, COMM, MPI_STATUS_IGNORE); }
else MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
''')
case('''race_first_then_others_ok none 3,4 all noright
int x = rank, y = 0; MPI_Status s;
if (rank == 0) { MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM, &s);
for (int i = 1; i < size; i++) if (i != s.MPI_SOURCE) MPI_Recv(&y, 1, MPI_INT, i, 0, COMM, MPI_STATUS_IGNORE); }
else MPI_Send(&x, 1, MPI_INT, 0, 0, COMM);
''')
for call in ('gather(f, 1, MPI_FLOAT, y, 1, MPI_INT, 0, COMM, &q)','scatter(f, 1, MPI_FLOAT, y, 1, MPI_INT, 0, COMM, &q)','allgather(f, 1, MPI_FLOAT, y, 1, MPI_INT, COMM, &q)','alltoall(f, 1, MPI_FLOAT, y, 1, MPI_INT, COMM, &q)'):
    case(f'''i{call.split('(')[0]}_own_type type_mismatch 2,3 all
float f[16] = {{0}}; int y[16]; MPI_Request q; (void)f;
W: MPI_I{call}; //!
R: MPI_I{call.replace('(f','(&(int[16]){0}').replace('MPI_FLOAT','MPI_INT')};
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
for call in ('Gatherv(x, 2, rank == 1 ? T : MPI_INT, y, c, d, MPI_INT, 0, COMM','Scatterv(x, c, d, MPI_INT, y, 2, rank == 1 ? T : MPI_INT, 0, COMM','Alltoallv(x, c, d, rank == 1 ? T : MPI_INT, y, c, d, rank == 1 ? T : MPI_INT, COMM'):
    for non in (False, True):
        c = 'MPI_' + (f'I{call[0].lower()}{call[1:]}, &q)' if non else call + ')')
        case(f'''{c[4:].split('(')[0].lower()}_longer_type type_mismatch 2,3 all
double x[32] = {{0}}, y[32]; int c[8], d[8]; MPI_Request q = MPI_REQUEST_NULL;
for (int i = 0; i < size; i++) {{ c[i] = 2; d[i] = 2 * i; }}
W: {c.replace('T :', 'MPI_DOUBLE :')}; //!
R: {c.replace('T :', 'MPI_INT :')};
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
case('''ialltoallw_type type_mismatch 2,3 all
int x[16] = {0}, y[16], c[8], d[8]; MPI_Datatype s[8], r[8]; MPI_Request q;
for (int i = 0; i < size; i++) { c[i] = 1; d[i] = 4 * i; s[i] = r[i] = MPI_INT; }
W: if (rank == 1) s[0] = MPI_FLOAT;
MPI_Ialltoallw(x, c, d, s, y, c, d, r, COMM, &q); //!
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
case('''create_group_left_out deadlock|collective_mismatch 2,3 all once
MPI_Group g; MPI_Comm d = MPI_COMM_NULL; MPI_Comm_group(COMM, &g);
W: if (rank) MPI_Comm_create_group(COMM, g, 3, &d); //!
R: MPI_Comm_create_group(COMM, g, 3, &d);
if (d != MPI_COMM_NULL) MPI_Comm_free(&d);
MPI_Group_free(&g);
''')
case('''igatherv_short count_mismatch|truncation 2,3 all
int x[4] = {0}, y[64], c[8], d[8]; MPI_Request q;
for (int i = 0; i < size; i++) { c[i] = 2; d[i] = 2 * i; }
W: MPI_Igatherv(x, rank == 1 ? 1 : 2, MPI_INT, y, c, d, MPI_INT, 0, COMM, &q); //!
R: MPI_Igatherv(x, 2, MPI_INT, y, c, d, MPI_INT, 0, COMM, &q);
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
case('''iscatterv_type type_mismatch 2,3 all
int x[64] = {0}, y[4], c[8], d[8]; MPI_Request q;
for (int i = 0; i < size; i++) { c[i] = 2; d[i] = 2 * i; }
W: MPI_Iscatterv(x, c, d, MPI_INT, y, 2, rank == 1 ? MPI_FLOAT : MPI_INT, 0, COMM, &q); //!
R: MPI_Iscatterv(x, c, d, MPI_INT, y, 2, MPI_INT, 0, COMM, &q);
MPI_Wait(&q, MPI_STATUS_IGNORE); //!
''')
case('''race_lengths message_race|truncation 3,4 all once
int x[4] = {0}, y[4]; MPI_Status s;
if (rank == 0) {
W: MPI_Recv(y, 1, MPI_INT, MPI_ANY_SOURCE, 0, COMM, &s); //!
R: MPI_Recv(y, 4, MPI_INT, MPI_ANY_SOURCE, 0, COMM, &s);
MPI_Recv(y, 4, MPI_INT, MPI_ANY_SOURCE, 0, COMM, &s); //!
} else if (rank < 3) MPI_Send(x, rank == 1 ? 1 : 4, MPI_INT, 0, 0, COMM);
''')
