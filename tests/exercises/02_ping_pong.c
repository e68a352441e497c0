/* SPDX-License-Identifier: MIT */
/*
 * The test of 02_ping_pong: on networks whose latency and bandwidth are known, so that there is one right answer; and
 * the fit once more on points that lie on no line.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exercises/check/check.h"
#include "exercises/exercises.h"

#pragma weak my_ping_pong
#pragma weak my_fit

enum { POINTS = 5, UNTOUCHED = -1 };
enum { TIME, BOTH, FIT }; /* variants: my_ping_pong alone; on all sizes, and then my_fit; my_fit alone */

/* Networks, and the numbers that are to be found. */
static const struct {
    const char *text, *shown;
    double latency, bandwidth;
} networks[] = {
    {"latency=10us,bandwidth=1G", "10 us, 1 GB/s", 10e-6, 1e9},
    {"latency=50us,bandwidth=125M", "50 us, 0.125 GB/s", 50e-6, 0.125e9},
};

static const size_t sizes[POINTS] = {0, 1024, 16384, 262144, 1048576};

/* For the fit alone: measurements as they are in life, a little off the line. */
static const double wobble[POINTS] = {3e-6, -4e-6, 9e-6, -40e-6, 30e-6};

static int network_of(const check_case *c)
{
    return c->network && strcmp(c->network, networks[1].text) == 0;
}

static double line(const check_case *c, size_t bytes)
{
    return networks[network_of(c)].latency + (double)bytes / networks[network_of(c)].bandwidth;
}

/* ---- Cases ---- */

static void add_time(check_plan *plan, size_t bytes, int rounds, const char *what)
{
    check_add(plan, (check_case){.call = "my_ping_pong",
                                 .count = bytes / sizeof(int32_t),
                                 .dtype = DTYPE_I32,
                                 .root = rounds,
                                 .variant = TIME,
                                 .what = what});
}

/* Many rounds first: with one, rounds + 1 is 2. An odd number: buffers that are exchanged twice are as they were. */
static void add_world(check_plan *plan, int ranks, bool strict, int network)
{
    check_world(plan, ranks, strict, networks[network].text);
    add_time(plan, 1024, 7, "7 rounds of 1,024 bytes");
    add_time(plan, 1024, 1, "1 round of 1,024 bytes");
    add_time(plan, 0, 1, "1 round of 0 bytes");
    add_time(plan, 1048576, 5, "5 rounds of 1 MiB");
}

static void add_fit(check_plan *plan, int network)
{
    check_world(plan, 2, false, networks[network].text);
    check_add(plan, (check_case){
                        .call = "my_ping_pong, then my_fit", .variant = BOTH, .what = "messages of 0 bytes to 1 MiB"});
}

static void cases(check_plan *plan)
{
    add_world(plan, 2, false, 0);
    add_world(plan, 2, true, 1);
    add_world(plan, 4, false, 1);
    check_world(plan, 1, false, NULL);
    check_add(plan, (check_case){.call = "my_fit", .variant = FIT, .what = "five points that lie on no line"});
    add_fit(plan, 0);
    add_fit(plan, 1);
}

/* ---- In a rank ---- */

static void run_time(p2p_comm *comm, const check_case *c)
{
    double seconds = UNTOUCHED;
    int32_t *buf = check_buffer(c, p2p_rank(comm), c->count, DTYPE_I32);

    check_report(c, "before", buf, c->count, DTYPE_I32);
    check_returned(c, my_ping_pong(comm, buf, c->count * sizeof *buf, c->root, &seconds));
    check_report(c, "buf", buf, c->count, DTYPE_I32);
    check_number(c, "seconds", seconds);
}

static void run_fit(p2p_comm *comm, const check_case *c)
{
    double seconds[POINTS] = {0}, latency = UNTOUCHED, bandwidth = UNTOUCHED;

    for (int i = 0; i < POINTS; i++) {
        seconds[i] = line(c, sizes[i]) + wobble[i];
        if (c->variant == FIT) continue;
        void *buf = check_buffer(c, p2p_rank(comm), sizes[i], DTYPE_U8);
        p2p_err err = my_ping_pong(comm, buf, sizes[i], 2, &seconds[i]);
        if (err) {
            check_returned(c, err);
            return;
        }
    }
    if (p2p_rank(comm) != 0) {
        check_returned(c, P2P_OK);
        return;
    }
    check_returned(c, my_fit(sizes, seconds, POINTS, &latency, &bandwidth));
    check_number(c, "latency", latency);
    check_number(c, "bandwidth", bandwidth);
}

static void run(p2p_comm *comm, const check_case *c)
{
    if (c->variant == TIME)
        run_time(comm, c);
    else
        run_fit(comm, c);
}

/* ---- In learn ---- */

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-4 * fabs(b);
}

static double want(const check_case *c, int rank, size_t index)
{
    return check_value(c, rank == 1 ? 0 : rank, index);
}

static bool judge_traffic(const check_case *c)
{
    uint64_t bytes = c->count * sizeof(int32_t), rounds = (uint64_t)c->root;

    for (int rank = 0; rank < c->ranks; rank++) {
        p2p_traffic sent = check_sent(c, rank);
        uint64_t messages = rank < 2 ? rounds : 0,
                 to_peer = rank < 2 ? check_traffic(c, rank, 1 - rank).messages_sent : 0;
        if (rank < 2 && sent.messages_sent + check_traffic(c, rank, rank).messages_sent > to_peer)
            return check_fail(
                c, "told",
                "Rank %d sent messages to another rank than %d: ping and pong go between 0 and 1, and all "
                "others have no part in it.",
                rank, 1 - rank);
        if (sent.messages_sent != messages)
            return check_fail(
                c, "messages", "Rank %d sent %llu message%s in %llu round%s; it should have sent %llu. %s", rank,
                (unsigned long long)sent.messages_sent, sent.messages_sent == 1 ? "" : "s", (unsigned long long)rounds,
                rounds == 1 ? "" : "s", (unsigned long long)messages,
                rank < 2 ? "In each round, rank 0 sends one and rank 1 sends one." : "Only 0 and 1 take part.");
        if (sent.bytes_sent != messages * bytes)
            return check_fail(c, "bytes", "Rank %d sent %llu bytes in %llu message%s; each should be %llu bytes long.",
                              rank, (unsigned long long)sent.bytes_sent, (unsigned long long)messages,
                              messages == 1 ? "" : "s", (unsigned long long)bytes);
    }
    return true;
}

static bool holds(const check_case *c, int rank, int source)
{
    for (size_t i = 0; i < c->count; i++)
        if (check_element(c, rank, "buf", i) != check_value(c, source, i)) return false;
    return c->count > 0;
}

static void say_values(const check_case *c)
{
    if (!judge_traffic(c)) return;
    if (holds(c, 0, 1))
        check_fail(c, "own_back",
                   "Rank 0 got back what rank 1 had at first, not what it had sent: rank 1 sent its own data%s.",
                   holds(c, 1, 0) ? ", before it had received ping"
                                  : ", and received ping into another buffer or not at all");
}

static void judge_time(const check_case *c)
{
    double right = line(c, c->count * sizeof(int32_t)), got = check_number_of(c, 0, "seconds");
    double rounds = c->root, ratio = got / right;
    const char *key = "time", *means = "Time all rounds together, and take from that what one message took.";

    if (!check_values(c, "values", "buf", "before", NULL, want)) {
        say_values(c);
        return;
    }
    if (!judge_traffic(c)) return;
    for (int rank = 1; rank < c->ranks; rank++) {
        if (check_number_of(c, rank, "seconds") == UNTOUCHED) continue;
        check_fail(c, "others", "Rank %d set *seconds; only rank 0 does, because only it sees whole rounds.", rank);
        return;
    }
    if (close_to(got, right)) return;
    if (got == UNTOUCHED) {
        check_fail(c, "unset", "Rank 0 did not set *seconds.");
        return;
    }
    if (close_to(ratio, 0.5))
        means = c->count ? "That is half of one message: is it divided by 2 twice?"
                         : "That is half of one message: is it divided by 2 twice, or do both messages of a round "
                           "travel at once? Rank 1 must answer only when ping has come.";
    if (ratio == 0) means = "That is nothing: in C, 1 / 2 of whole numbers is 0.";
    if (close_to(ratio, 4)) means = "That is two rounds, there and back twice: divide by 2, where you multiply.";
    if (close_to(ratio, 1e6)) key = "unit", means = "That is microseconds; seconds were asked for.";
    if (close_to(ratio, 1e3)) key = "unit", means = "That is milliseconds; seconds were asked for.";
    if (rounds > 1 && close_to(ratio, rounds / (rounds + 1)))
        means = "That is the time of all divided by 2 x (rounds + 1): the number of rounds is one too high.";
    if (rounds > 1 && close_to(ratio, rounds / (rounds - 1)))
        means = "That is the time of all divided by 2 x (rounds - 1): the number of rounds is one too low.";
    if (rounds > 1 && close_to(ratio, 2 * rounds / (rounds + 1)))
        means = "That is the time of all divided by rounds + 1: a round has two messages, which makes 2 x rounds.";
    if (rounds > 1 && close_to(ratio, 2 * rounds / (rounds - 1)))
        means = "That is the time of all divided by rounds - 1: a round has two messages, which makes 2 x rounds.";
    if (rounds > 1 && close_to(ratio, rounds * rounds))
        means =
            "That is the time of all multiplied by the number of rounds, not divided by it: in C, took / 2 * rounds "
            "is (took / 2) * rounds.";
    if (rounds > 1 && close_to(ratio, 4 * rounds * rounds))
        means = "That is the time of all multiplied by 2 x rounds, not divided by it.";
    if (close_to(ratio, 2)) means = "That is a whole round, there and back. One message is half of it.";
    if (close_to(ratio, 2 * rounds) && rounds > 1) means = "That is all rounds together: 2 x rounds messages.";
    if (close_to(ratio, rounds) && rounds > 2) means = "Divide by the number of rounds as well as by 2.";
    check_fail(c, key,
               "Rank 0 says that one message took %.3f us. On this network (latency %s) a message of %zu bytes takes "
               "%.3f us: yours is %.3g times that. %s",
               1e6 * got, networks[network_of(c)].shown, c->count * sizeof(int32_t), 1e6 * right, ratio, means);
}

/* Least squares, once more, of what my_fit was given. */
static void right_fit(const check_case *c, double *latency, double *bandwidth)
{
    double x = 0, y = 0, xy = 0, xx = 0;

    for (int i = 0; i < POINTS; i++) {
        x += (double)sizes[i] / POINTS;
        y += (line(c, sizes[i]) + (c->variant == FIT ? wobble[i] : 0)) / POINTS;
    }
    for (int i = 0; i < POINTS; i++) {
        double dx = (double)sizes[i] - x;
        xy += dx * (line(c, sizes[i]) + (c->variant == FIT ? wobble[i] : 0) - y);
        xx += dx * dx;
    }
    *latency = y - xy / xx * x;
    *bandwidth = xx / xy;
}

static double y_of(const check_case *c, int i)
{
    return line(c, sizes[i]) + (c->variant == FIT ? wobble[i] : 0);
}

/* What comes out for the bandwidth with x and y in the place of the means, and without the points before `from`. */
static double fit_about(const check_case *c, double x, double y, int from)
{
    double xy = 0, xx = 0;
    for (int i = from; i < POINTS; i++) {
        double dx = (double)sizes[i] - x;
        xy += dx * (y_of(c, i) - y);
        xx += dx * dx;
    }
    return xx / xy;
}

static double mean_y(const check_case *c)
{
    double y = 0;
    for (int i = 0; i < POINTS; i++) y += y_of(c, i) / POINTS;
    return y;
}

static double mean_x(void)
{
    double x = 0;
    for (int i = 0; i < POINTS; i++) x += (double)sizes[i] / POINTS;
    return x;
}

/* What may stand in the place of a mean. */
enum { MEAN, SUM, OTHERS, LAST, ZERO, CENTRES };

static const char *const centres[CENTRES] = {[SUM] = "the sum of all %s, and not their mean: divide by count",
                                             [OTHERS] = "the sum of all %s divided by count - 1: divide by count",
                                             [LAST] = "made of the last of the %s alone: += adds, = forgets",
                                             [ZERO] = "0: %s are taken relative to their mean"};

static double centre(double mean, double last, int which)
{
    const double of[CENTRES] = {mean, mean * POINTS, mean * POINTS / (POINTS - 1), last / POINTS, 0};
    return of[which];
}

/* Wrong means, or points left out in the sums, that make these numbers: in words. False: none of them does. */
static bool about_means(const check_case *c, double latency, double rate, char *words, size_t room)
{
    for (int code = 0; code < CENTRES * CENTRES * 2; code++) {
        int kind_x = code % CENTRES, kind_y = code / CENTRES % CENTRES, from = code / CENTRES / CENTRES;
        double x = centre(mean_x(), (double)sizes[POINTS - 1], kind_x),
               y = centre(mean_y(c), y_of(c, POINTS - 1), kind_y);
        bool line = close_to(latency, y - x / rate) || close_to(latency, mean_y(c) - mean_x() / rate);
        if (!code || !line || !close_to(rate, fit_about(c, x, y, from))) continue;
        size_t used = (size_t)snprintf(words, room, " That comes out if ");
        if (kind_x) used += (size_t)snprintf(words + used, room - used, "x is ");
        if (kind_x) used += (size_t)snprintf(words + used, room - used, centres[kind_x], "bytes");
        if (kind_y) used += (size_t)snprintf(words + used, room - used, kind_x ? "; and y is " : "y is ");
        if (kind_y) used += (size_t)snprintf(words + used, room - used, centres[kind_y], "seconds");
        if (from)
            used += (size_t)snprintf(words + used, room - used, "%sthe first point is left out in the sums",
                                     kind_x || kind_y ? "; and " : "");
        snprintf(words + used, room - used, ".");
        return true;
    }
    return false;
}

static void judge_fit(const check_case *c)
{
    double latency, bandwidth, ends = (line(c, sizes[POINTS - 1]) + wobble[POINTS - 1] - line(c, 0) - wobble[0]);
    double got = check_number_of(c, 0, "latency"), rate = check_number_of(c, 0, "bandwidth");
    double whole = fit_about(c, floor(mean_x()), mean_y(c), 0);
    const char *means = "", *key = "fit";
    char words[300];

    right_fit(c, &latency, &bandwidth);
    if (close_to(got, latency) && close_to(rate, bandwidth)) return;
    if (close_to(rate, (double)sizes[POINTS - 1] / ends) && c->variant == FIT) {
        key = "two_points";
        means = " That is the line through the first and the last point; the other three count as well.";
    } else if (got == UNTOUCHED || rate == UNTOUCHED) {
        key = "unset_fit";
        means = " At least one of them was not set.";
    } else if (close_to(rate, latency) || close_to(got, 1 / bandwidth)) {
        means = " Latency is where the line begins, bandwidth is 1 / slope: have the two changed places?";
    } else if (close_to(rate, 1 / bandwidth)) {
        key = "slope";
        means = " That is the slope, seconds a byte; bytes a second is 1 / slope.";
    } else if (close_to(got, line(c, 0) + (c->variant == FIT ? wobble[0] : 0))) {
        key = "intercept";
        means = " That latency is the first measurement. The line need not go through it: it is at y - slope x where "
                "bytes are 0.";
    } else if (close_to(rate, bandwidth) && close_to(got + latency, 2 * mean_y(c))) {
        key = "intercept";
        means = " That latency is y + slope x; where bytes are 0 the line is at y - slope x.";
    } else if (close_to(rate, fit_about(c, 0, 0, 0))) {
        key = "through_zero";
        means = " That is the slope of a line through 0; the bytes and seconds must be taken relative to their means.";
    } else if (about_means(c, got, rate, words, sizeof words)) {
        key = "means";
        means = words;
    } else if (close_to(got, latency) && (close_to(rate, 1e-9 * bandwidth) || close_to(rate, 1e-6 * bandwidth))) {
        key = "unit";
        means = " Bandwidth is in bytes a second, not in GB or MB a second.";
    } else if (close_to(rate, whole) && close_to(got, mean_y(c) - floor(mean_x()) / whole)) {
        key = "whole_mean";
        means = " That comes out if the mean of the bytes is rounded down to a whole number.";
    } else if (rate < 0) {
        means = " A bandwidth below 0: bytes[i] - x below 0 does not fit into a size_t.";
    } else if (got == 0) {
        means = " A line through 0 says that an empty message costs nothing. It does cost something: the latency.";
    }
    check_fail(c, key,
               "my_fit found latency %.4g us and bandwidth %.4g GB/s; it should have been %.4g us and %.4g GB/s.%s",
               1e6 * got, 1e-9 * rate, 1e6 * latency, 1e-9 * bandwidth, means);
}

static void judge(const check_case *c)
{
    if (c->variant == TIME)
        judge_time(c);
    else
        judge_fit(c);
}

static const char *const files[] = {"ping_pong.c", NULL};

const check_exercise check_02_ping_pong = {
    .name = "02_ping_pong",
    .idea = "what a message costs: latency and bandwidth",
    .call = "my_ping_pong",
    .files = files,
    .hands_on_errors = true,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .run = run,
    .judge = judge,
};
