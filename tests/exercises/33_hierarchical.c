/* SPDX-License-Identifier: MIT */
/*
 * The test of exercise 33: the mean over ranks that live on hosts, the same bits on all of them, with the bytes counted
 * that leave a host.
 */
#include "exercises/exercises.h"
#include "tests/exercises/host_talk.h"
#include "tests/exercises/ring_contract.h"
#include "tests/exercises/ways.h"

#pragma weak my_hierarchical_mean

enum { UNEVEN, SIDE_BY_SIDE, ONE_NUMBER, IN_TURN, LOPSIDED, MIXED, EMPTY, ONE_HOST, ALONE, VARIANTS };
enum { MOST = 8, WORDS = 60 }; /* ranks */

/* Which host a rank lives on; numbers below n, some of which no host has. */
static int host_of(int variant, int n, int rank)
{
    static const int mixed[MOST] = {1, 0, 0, 2, 0, 1, 0, 2};
    switch (variant) {
    case UNEVEN: return n > 1 && rank == n - 1;
    case IN_TURN: return rank % ((n + 1) / 2);
    case LOPSIDED: return rank ? 0 : n - 1;
    case MIXED: return n > 1 ? mixed[rank] : 0;
    case ONE_HOST: return n - 1;
    case ALONE: return n - 1 - rank;
    default: return rank / 2;
    }
}

static const char *words_of(int variant, int n)
{
    static char words[MOST + 1][VARIANTS][WORDS];
    char *text = words[n][variant];
    int used = snprintf(text, WORDS, "hosts");
    for (int rank = 0; rank < n; rank++)
        used += snprintf(text + used, (size_t)(WORDS - used), " %d", host_of(variant, n, rank));
    return text;
}

static void cases(check_plan *plan)
{
    static const int ranks[] = {4, 2, 3, 8, 5, 1, 4};
    static const size_t counts[VARIANTS] = {24, 24, 1, 7, 10, 13, 0, 5, 11};
    for (int i = 0; i < 7; i++) {
        check_world(plan, ranks[i], i == 6, i < 6 && ranks[i] % 4 == 0 ? RING_NETWORK : NULL);
        for (int k = 0; k < VARIANTS; k++) {
            int variant = i == 6 ? VARIANTS - 1 - k : k; /* the last case is tried again with calls that fail */
            check_add(plan, (check_case){.variant = variant,
                                         .count = counts[variant],
                                         .dtype = DTYPE_F64,
                                         .what = words_of(variant, ranks[i]),
                                         .shows = CHECK_SHOW_COUNT});
        }
    }
}

static double part_of(const check_case *c, int rank, size_t i)
{
    bool rounds = c->variant == IN_TURN || c->variant == ALONE;
    return rounds ? check_fraction(c, rank, i) : check_value(c, rank, i);
}

/* ---- In a rank ---- */

static void run(p2p_comm *comm, const check_case *c)
{
    int rank = p2p_rank(comm), *hosts = check_buffer(c, -1, (size_t)c->ranks, DTYPE_I32);
    double *buf = check_buffer(c, -1, c->count, DTYPE_F64);
    for (int q = 0; q < c->ranks; q++) hosts[q] = host_of(c->variant, c->ranks, q);
    for (size_t i = 0; i < c->count; i++) buf[i] = part_of(c, rank, i);
    check_report(c, "before", buf, c->count, DTYPE_F64);
    host_talk_begin(c, buf);
    check_returned(c, my_hierarchical_mean(comm, hosts, buf, c->count));
    host_talk_end();
    check_report(c, "buf", buf, c->count, DTYPE_F64);
}

/* ---- In learn: hosts ---- */

static bool same_host(const check_case *c, int a, int b)
{
    return host_of(c->variant, c->ranks, a) == host_of(c->variant, c->ranks, b);
}

static int leader_of(const check_case *c, int rank)
{
    int first = 0;
    while (!same_host(c, first, rank)) first++;
    return first;
}

static int ranks_on(const check_case *c, int rank)
{
    int count = 0;
    for (int q = 0; q < c->ranks; q++) count += same_host(c, q, rank);
    return count;
}

static int hosts_in(const check_case *c)
{
    int count = 1; /* rank 0 leads its own */
    for (int q = 1; q < c->ranks; q++) count += leader_of(c, q) == q;
    return count;
}

/* Adds whose messages go to or come from another rank than they should. */
static void explain_talk(const check_case *c)
{
    int hosts[CHECK_MAX_RANKS], highest = 0;
    for (int rank = 0; rank < c->ranks; rank++) {
        hosts[rank] = host_of(c->variant, c->ranks, rank);
        if (hosts[rank] > highest) highest = hosts[rank];
    }
    host_talk t = {c, hosts, highest >= hosts_in(c)};
    host_talk_explain(&t);
}

/* ---- Values ---- */

enum {
    RIGHT,
    DOWN_SUM, /* those in which leaders are right come first */
    DOWN_DIVIDED,
    DOWN_EARLY,
    DOWN_EARLY_DIVIDED,
    NOT_DOWN,
    NOT_DOWN_DIVIDED,
    SUM,
    HOST_MEANS,
    HOSTS_SUM,
    OWN_SUM,
    OWN_MEAN,
    OWN_OVER_ALL,
    BY_HOSTS,
    BY_OWN,
    TWICE,
    LEADERS,
    LEADERS_MEAN,
    BEGINNING,
    WAYS
};

static const struct {
    const char *key, *words;
} ways[WAYS] = {
    [SUM] = {"divide", "The sum was not divided by the number of ranks."},
    [HOST_MEANS] = {"weights", "The mean of the hosts' means was taken: a host counts as much as any other, however "
                               "many ranks it has. Each rank counts the same."},
    [HOSTS_SUM] = {"weights", "Each host's mean was taken, and these were added up."},
    [OWN_SUM] = {"alone", "Each rank has the sum over its own host: nothing of the others has come."},
    [OWN_MEAN] = {"alone", "Each rank has the mean over its own host: nothing of the others has come."},
    [OWN_OVER_ALL] = {"alone", "Each rank has the sum over its own host, divided by the number of all ranks: nothing "
                               "of the other hosts has come."},
    [BY_HOSTS] = {"divide", "The sum over all ranks was divided by the number of hosts."},
    [BY_OWN] = {"divide", "The sum over all ranks was divided by the number of ranks on the own host."},
    [TWICE] = {"divided_twice", "The sum was divided by the number of ranks twice."},
    [LEADERS] =
        {"leaders",
         "Only the leaders' own numbers are in it: what the other ranks of each host have was not added up first."},
    [LEADERS_MEAN] = {"leaders", "Only the leaders' own numbers are in it, divided by the number of hosts: what the "
                                 "other ranks of each host have was not added up first."},
    [NOT_DOWN] = {"down", "Only the first rank of each host is right: the others have what they had before."},
    [NOT_DOWN_DIVIDED] = {"down", "Only the first rank of each host is right: the others have what they had before, "
                                  "divided by the number of ranks."},
    [BEGINNING] = {"chunk",
                   "In the ring each chunk was sent from the beginning of buf: chunk `out` begins at out_first."},
    [DOWN_EARLY] = {"down_early", "Only the first rank of each host is right: the others have the sum over their own "
                                  "host, which was handed out before it went round."},
    [DOWN_EARLY_DIVIDED] = {"down_early",
                            "Only the first rank of each host is right: the others have the sum over their own "
                            "host, divided by the number of ranks. It was handed out before it went round."},
    [DOWN_SUM] = {"divide", "Only the first rank of each host is right: the others have the sum, which was handed out "
                            "before it was divided."},
    [DOWN_DIVIDED] = {"divided_twice", "Only the first rank of each host is right: the others have divided what it has "
                                       "sent by the number of ranks once more."}};

static double sum_over(const check_case *c, size_t i, int way, int rank)
{
    double sum = 0;
    for (int q = 0; q < c->ranks; q++) {
        bool counts = way == LEADERS || way == LEADERS_MEAN                      ? leader_of(c, q) == q
                      : way == OWN_SUM || way == OWN_MEAN || way == OWN_OVER_ALL ? same_host(c, q, rank)
                                                                                 : true;
        double weight = way == HOST_MEANS || way == HOSTS_SUM ? 1.0 / ranks_on(c, q) : 1;
        if (counts) sum += weight * part_of(c, q, i);
    }
    return sum;
}

/* A step of the ring, in which what is sent lies at the beginning of buf: parts are those of the leaders. */
static void step_from_beginning(const check_case *c, int hosts, double *parts, int step, bool scatter)
{
    double *sent = malloc((size_t)hosts * (c->count + 1) * sizeof *sent);
    if (!sent) abort();
    memcpy(sent, parts, (size_t)hosts * c->count * sizeof *sent);
    for (int place = 0; place < hosts; place++) {
        int in = (place - step - 1 - scatter + 2 * hosts) % hosts, left = (place + hosts - 1) % hosts;
        size_t first = ring_begin(c->count, hosts, in), length = ring_length(c->count, hosts, in);
        double *own = parts + (size_t)place * c->count + first, *theirs = sent + (size_t)left * c->count;
        for (size_t i = 0; i < length; i++) own[i] = (scatter ? own[i] : 0) + theirs[i];
    }
    free(sent);
}

/* So it comes out on a rank. */
static void from_beginning(const check_case *c, int rank, double *buf)
{
    int hosts = hosts_in(c), mine = 0, place = 0;
    double *parts = calloc((size_t)hosts * (c->count + 1), sizeof *parts);
    if (!parts) abort();
    for (int q = 0; q < c->ranks; q++) {
        if (leader_of(c, q) != q) continue;
        if (q == leader_of(c, rank)) mine = place;
        for (size_t i = 0; i < c->count; i++) parts[(size_t)place * c->count + i] = sum_over(c, i, OWN_SUM, q);
        place++;
    }
    for (int step = 0; step < 2 * (hosts - 1); step++)
        step_from_beginning(c, hosts, parts, step % (hosts - 1), step < hosts - 1);
    for (size_t i = 0; i < c->count; i++) buf[i] = parts[(size_t)mine * c->count + i] / c->ranks;
    free(parts);
}

static void compute(const check_case *c, int way, int rank, double *buf)
{
    if (way == BEGINNING) {
        from_beginning(c, rank, buf);
        return;
    }
    double n = c->ranks, hosts = hosts_in(c), own = ranks_on(c, rank);
    bool leads = leader_of(c, rank) == rank;
    const double by[WAYS] = {[RIGHT] = n,
                             [SUM] = 1,
                             [HOST_MEANS] = hosts,
                             [HOSTS_SUM] = 1,
                             [OWN_SUM] = 1,
                             [OWN_MEAN] = own,
                             [OWN_OVER_ALL] = n,
                             [BY_HOSTS] = hosts,
                             [BY_OWN] = own,
                             [TWICE] = n * n,
                             [LEADERS] = n,
                             [LEADERS_MEAN] = hosts,
                             [NOT_DOWN] = n,
                             [DOWN_EARLY] = n,
                             [DOWN_EARLY_DIVIDED] = n,
                             [NOT_DOWN_DIVIDED] = n,
                             [DOWN_DIVIDED] = leads ? n : n * n,
                             [DOWN_SUM] = leads ? n : 1};
    for (size_t i = 0; i < c->count; i++) {
        buf[i] = sum_over(c, i, way, rank) / by[way];
        if (!leads && way == DOWN_EARLY) buf[i] = sum_over(c, i, OWN_SUM, rank);
        if (!leads && way == DOWN_EARLY_DIVIDED) buf[i] = sum_over(c, i, OWN_SUM, rank) / n;
        if (!leads && way == NOT_DOWN) buf[i] = part_of(c, rank, i);
        if (!leads && way == NOT_DOWN_DIVIDED) buf[i] = part_of(c, rank, i) / n;
    }
}

static size_t count_buf(const check_case *c, int rank)
{
    (void)rank;
    return c->count;
}

static const ways_result mean = {"buf", count_buf, WAYS, compute};

/* What has come to a leader from another of its host and is missing, or its own: was something received over it? */
static bool say_lost(const made_of *m)
{
    const check_case *c = m->c;
    made_of_mix mix;
    if (!made_of_weights(m, &mix)) return false;
    for (int q = 0; q < c->ranks; q++) {
        int leader = leader_of(c, q), last = -1;
        if (mix.of[q] != 0) continue;
        int came = host_talk_received(c, leader, q);
        for (int other = leader + 1; other < c->ranks; other++) {
            int k = host_talk_received(c, leader, other);
            if (!same_host(c, other, leader) || k < 0 || other == q) continue;
            if (q == leader && host_talk_fact(c, leader, "at", k) == 0)
                return !check_fail(c, "over",
                                   "What rank %d had is missing: what rank %d sends is received to its buf, over it, "
                                   "and not to room.",
                                   leader, other);
            if (q != leader && k == came + 1 && host_talk_fact(c, leader, "same", k) == 1) last = other;
        }
        if (q != leader && came >= 0 && last >= 0 && mix.of[last] != 0)
            return !check_fail(c, "room",
                               "What rank %d had is missing. It has come to rank %d, and then what rank %d had was "
                               "received to the same place before it was added.",
                               q, leader, last);
    }
    return false;
}

/* What leaders had is in it twice, and all else once. */
static bool say_leaders_twice(const made_of *m)
{
    const check_case *c = m->c;
    made_of_mix mix;
    bool some = false;
    if (!made_of_weights(m, &mix)) return false;
    for (int q = 0; q < c->ranks; q++) {
        bool leads = leader_of(c, q) == q;
        if (fabs(mix.of[q] * c->ranks - (leads ? 2 : 1)) > 1e-4) return false;
        some |= !leads;
    }
    return some &&
           !check_fail(c, "own_twice",
                       "What the first rank of each host had is in the mean twice, and what all others had once: a "
                       "leader's own numbers are in buf from the beginning, and are not to be added to it.");
}

/* As many are added as live on the host, and one of them more than once: another's is missing for it. */
static bool say_room(const made_of *m)
{
    const check_case *c = m->c;
    made_of_mix mix;
    if (!made_of_weights(m, &mix)) return false;
    for (int leader = 0; leader < c->ranks; leader++) {
        double all = 0;
        int twice = -1, none = -1;
        if (leader_of(c, leader) != leader || fabs(mix.of[leader] * c->ranks - 1) > 1e-4) continue;
        for (int q = leader + 1; q < c->ranks; q++) {
            if (!same_host(c, q, leader)) continue;
            all += mix.of[q] * c->ranks - 1;
            if (mix.of[q] * c->ranks > 1.5) twice = q;
            if (mix.of[q] == 0) none = q;
        }
        if (twice < 0 || none < 0 || fabs(all) > 1e-4 || !check_traffic(c, leader, none).messages_received) continue;
        return !check_fail(c, "room",
                           "On rank %d what rank %d had was added %.0f times, and what rank %d had not at all, though "
                           "it has come: both were received to the same place before either was added.",
                           leader, twice, mix.of[twice] * c->ranks, none);
    }
    return false;
}

/* No leader has sent another one anything. */
static void say_none_round(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int peer = 0; peer < c->ranks; peer++)
            if (!same_host(c, rank, peer) && check_traffic(c, rank, peer).messages_sent) return;
    check_also(c, "No rank has sent anything to another host. Either no leader calls add_round_ring, or `leaders` has "
                  "one rank only, or there is a mistake in step.");
}

static void explain(const check_case *c)
{
    int rank, way = ways_find(&mean, c);
    if (way >= 0) {
        check_fail(c, ways_judged.from ? "beginning" : ways[way].key, "%s", ways[way].words);
        if (ways_judged.from && ways_judged.from + 1 == c->count)
            check_because(c, "beginning.last",
                          "So it is with the last number of %zu only; those before are right. Does a loop end one too "
                          "early?",
                          c->count);
        else if (ways_judged.from)
            check_also(c, "That is so from number %zu of %zu on; those before are right.%s", ways_judged.from, c->count,
                       ways_judged.from == c->count / sizeof(double)
                           ? " That is an eighth: messages count bytes, and a double has 8."
                           : "");
        else if (way == OWN_SUM || way == OWN_MEAN || way == OWN_OVER_ALL)
            say_none_round(c);
        return;
    }
    if (ways_is_float(&mean, c)) {
        check_fail(c, "float", WAYS_FLOAT);
        return;
    }
    ways_first(&mean, c, &rank);
    made_of m = {c, rank, "", "buf", 0, c->count, DTYPE_F64, OP_MEAN, part_of};
    if (say_room(&m) || say_leaders_twice(&m) || say_lost(&m)) return;
    made_of_explain(&m);
    explain_talk(c);
}

/* ---- What leaves a host ---- */

static bool none_to_itself(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        if (check_traffic(c, rank, rank).messages_sent)
            return check_fail(c, "self",
                              "Rank %d sent a message to itself. What the first rank of a host has is where it should "
                              "be: only the others are sent to and received from.",
                              rank);
    return true;
}

/* Only leaders send to other hosts, and to leaders. */
static bool only_leaders(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int peer = 0; peer < c->ranks; peer++) {
            unsigned long long sent = check_traffic(c, rank, peer).messages_sent;
            if (!sent || same_host(c, rank, peer)) continue;
            int who = leader_of(c, rank) != rank ? rank : peer;
            if (leader_of(c, who) == who) continue;
            return check_fail(c, "leaves",
                              "Rank %d, on host %d, sent %llu message%s to rank %d, on host %d. Between hosts only "
                              "their leaders talk, the first rank of each: rank %d for rank %d.",
                              rank, host_of(c->variant, c->ranks, rank), sent, sent == 1 ? "" : "s", peer,
                              host_of(c->variant, c->ranks, peer), leader_of(c, who), who);
        }
    return true;
}

/* Of a host's sum 2(h-1)/h, but for the rounding of chunks. */
static bool bytes_out(const check_case *c)
{
    int h = hosts_in(c);
    unsigned long long steps = 2 * ((unsigned long long)h - 1),
                       each = c->count / (size_t)h + (c->count % (size_t)h > 0);
    for (int rank = 0; rank < c->ranks; rank++) {
        unsigned long long bytes = 0, messages = 0, most = steps * each * sizeof(double);
        if (leader_of(c, rank) != rank) continue;
        for (int peer = 0; peer < c->ranks; peer++) {
            if (same_host(c, rank, peer)) continue;
            bytes += check_traffic(c, rank, peer).bytes_sent;
            messages += check_traffic(c, rank, peer).messages_sent;
        }
        if (bytes <= most && messages <= steps) continue;
        return check_fail(c, "bytes",
                          "%llu bytes left host %d, in %llu messages. A ring of %d hosts sends 2(h-1) = %llu chunks of "
                          "%llu numbers: %llu bytes.%s",
                          bytes, host_of(c->variant, c->ranks, rank), messages, h, steps, each, most,
                          bytes == ((unsigned long long)h - 1) * c->count * sizeof(double)
                              ? " These are as many as if the whole had gone to each other host."
                              : "");
    }
    return true;
}

/* Within a host: one message up, one down. */
static bool within(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++)
        for (int peer = 0; peer < c->ranks; peer++) {
            unsigned long long sent = check_traffic(c, rank, peer).messages_sent;
            bool leads = leader_of(c, rank) == rank || leader_of(c, peer) == peer;
            if (rank == peer || !same_host(c, rank, peer) || sent <= (leads ? 1 : 0)) continue;
            return check_fail(c, "inside", "Rank %d sent %llu message%s to rank %d, on the same host. %s", rank, sent,
                              sent == 1 ? "" : "s", peer,
                              leads ? "One up and one down are enough."
                                    : "Within a host each rank talks to the host's leader only.");
        }
    return true;
}

static void seconds(const check_case *c)
{
    int h = hosts_in(c), most = 0;
    for (int rank = 0; rank < c->ranks; rank++) most = ranks_on(c, rank) > most ? ranks_on(c, rank) : most;
    double bytes = (double)(c->count * sizeof(double)), took = expected_seconds(c);
    double inside = 2 * (most - 1) * (RING_LATENCY_S + bytes / RING_BANDWIDTH);
    double between = 2 * (h - 1) * (RING_LATENCY_S + bytes / h / RING_BANDWIDTH);
    if (took <= 1.2 * (inside + between)) return;
    check_slow(c, "slow", took / (inside + between),
               "It took %.1f us. Up and down in a host of %d ranks takes %.1f us, round %d hosts %.1f us, together "
               "%.1f us. Yours took %.2g times as long: does a leader wait for its neighbour before it sends?",
               1e6 * took, most, 1e6 * inside, h, 1e6 * between, 1e6 * (inside + between), took / (inside + between));
}

static void judge(const check_case *c)
{
    if (!ways_right(&mean, c, "before"))
        explain(c);
    else if (check_same_bits(c, "bits", "buf") && none_to_itself(c) && only_leaders(c) && bytes_out(c) && within(c) &&
             c->network && c->variant == SIDE_BY_SIDE)
        seconds(c);
}

static const char *const files[] = {"hierarchical.c", NULL};
static const char *const uses[] = {"14_ring_reduce_scatter", NULL};

const check_exercise check_33_hierarchical = {.name = "33_hierarchical",
                                              .idea = "what leaves a host is sent once for all its ranks",
                                              .call = "my_hierarchical_mean",
                                              .files = files,
                                              .uses = uses,
                                              .hands_on_errors = true,
                                              .library = CHECK_LIBRARY_P2P,
                                              .cases = cases,
                                              .run = run,
                                              .judge = judge,
                                              .judge_ended = explain_talk};
