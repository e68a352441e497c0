/* SPDX-License-Identifier: MIT */
/*
 * actor: ranks that do what the command line says; for the tests of launch (tests/p2p_launch.c).
 *
 *      actor lines COUNT LENGTH     each rank prints COUNT lines of LENGTH characters
 *      actor both                   each rank writes a line to stdout and one to stderr
 *      actor unfinished             each rank's last line has no end
 *      actor exit RANK CODE         RANK ends with CODE, after finalize
 *      actor leave RANK CODE        RANK ends with CODE before finalize, the others wait for it
 *      actor kill RANK SIGNAL       RANK kills itself, the others wait for it
 *      actor dies RANK              RANK says what time it is and is killed, the others how long ago when they are told
 *      actor abort RANK STATUS      RANK calls p2p_abort
 *      actor mistake                rank 1 makes an error that ends the job
 *      actor deadlock               every rank waits for the next one
 *      actor busy                   rank 0 prints "ready", then all sit outside of Pairwise for ever
 *      actor held                   rank 0 prints "ready" and sits outside of Pairwise for ever, the others wait for it
 *      actor cat                    rank 0 copies its input, the others say how much they could read
 *      actor bar                    rank 0 prints "half\r", waits for its input to end, prints "done"
 *      actor flood BYTES            rank 0 prints BYTES bytes, the others exchange messages
 *      actor clogged BYTES          rank 0 prints BYTES bytes, ranks 1 and 2 deadlock
 *      actor orphan                 each rank leaves a child behind
 *      actor terminal               is the job's output a terminal?
 *      actor twice                  a second launch inside of this one
 *      actor                        three short lines
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "p2p/p2p.h"

static p2p_comm *world;
static int rank, size, first, second; /* first, second: the arguments */

static void wait_for(int source)
{
    int got;

    p2p_recv(world, &got, sizeof got, source, 0, P2P_STATUS_IGNORE);
}

static int lines(void)
{
    for (int i = 0; i < first; i++) {
        printf("rank %d line %d ", rank, i);
        for (int j = 0; j < second; j++) putchar('a' + (rank + i + j) % 26);
        putchar('\n');
    }
    return 0;
}

static int both(void)
{
    printf("out of %d\n", rank);
    fprintf(stderr, "err of %d\n", rank);
    return 0;
}

static int unfinished(void)
{
    printf("start %d\nend %d", rank, rank);
    return 0;
}

static int exit_with(void)
{
    return rank == first ? second : 0;
}

static int leave(void)
{
    if (rank == first) exit(second);
    wait_for(first);
    return 0;
}

static int kill_itself(void)
{
    if (rank == first) {
        signal(second, SIG_DFL); /* sanitizers catch some */
        raise(second);
    }
    wait_for(first);
    return 0;
}

static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at); /* of this machine, also where its hosts are namespaces */
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static int dies(void)
{
    double died = now();

    p2p_set_errors(world, P2P_ERRORS_RETURN);
    for (int q = 0; rank == first && q < size; q++)
        if (q != rank) p2p_send(world, &died, sizeof died, q, 1);
    if (rank == first) raise(SIGKILL);
    p2p_recv(world, &died, sizeof died, first, 1, P2P_STATUS_IGNORE);
    p2p_err err = p2p_recv(world, &died, sizeof died, first, 1, P2P_STATUS_IGNORE);
    printf("rank %d knew it after %.3f s: %s\n", rank, now() - died, p2p_strerror(err));
    return 1;
}

static int abort_job(void)
{
    if (rank == first) p2p_abort(world, second);
    wait_for(first);
    return 0;
}

static int mistake(void)
{
    if (rank == 1) p2p_send(world, &rank, sizeof rank, 4242, 0);
    wait_for(1);
    return 0;
}

static int deadlock(void)
{
    wait_for((rank + 1) % size);
    return 0;
}

static int busy(void)
{
    if (rank == 0) printf("ready\n");
    while (pause()) continue;
    return 0;
}

static int held(void)
{
    if (rank == 0) return busy();
    wait_for(0);
    return 0;
}

static int cat(void)
{
    char text[4096];
    size_t got, total = 0;

    while ((got = fread(text, 1, sizeof text, stdin)) > 0) {
        total += got;
        if (rank == 0) fwrite(text, 1, got, stdout);
    }
    if (rank > 0) printf("rank %d read %zu bytes\n", rank, total);
    return 0;
}

static int bar(void)
{
    if (rank > 0) return 0;
    printf("half\r");
    fflush(stdout);
    while (getchar() != EOF) continue;
    printf("done\n");
    return 0;
}

static void print_bytes(int count)
{
    for (int i = 1; i <= count; i++) putchar(i % 64 == 0 ? '\n' : 'x');
}

static int flood(void)
{
    static char buf[1 << 20];

    if (rank == 0) print_bytes(first);
    for (int i = 0; rank > 0 && i < 100; i++)
        p2p_sendrecv(world, buf, sizeof buf / 2, 3 - rank, 1, buf + sizeof buf / 2, sizeof buf / 2, 3 - rank, 1, NULL);
    if (rank == 1) fprintf(stderr, "exchanged\n");
    return 0;
}

static int clogged(void)
{
    if (rank == 0) print_bytes(first);
    if (rank > 0) wait_for(3 - rank);
    return 0;
}

static int orphan(void)
{
    fflush(stdout);
    if (fork() == 0)
        for (;;) pause();
    return 0;
}

static int terminal(void)
{
    if (rank == 0) printf("terminal %d\n", p2p_is_terminal(world));
    return 0;
}

static int nothing(p2p_comm *inner, void *arg)
{
    (void)inner, (void)arg;
    return 0;
}

static int twice(void)
{
    p2p_err err = p2p_launch(2, nothing, NULL, NULL);

    if (rank == 0) printf("inner launch: %s\n", p2p_strerror(err));
    return err ? 3 : 0;
}

static const struct {
    const char *name;
    int (*act)(void);
} acts[] = {
    {"lines", lines},       {"both", both},       {"unfinished", unfinished},
    {"exit", exit_with},    {"leave", leave},     {"kill", kill_itself},
    {"abort", abort_job},   {"mistake", mistake}, {"busy", busy},
    {"deadlock", deadlock}, {"cat", cat},         {"bar", bar},
    {"flood", flood},       {"clogged", clogged}, {"orphan", orphan},
    {"terminal", terminal}, {"twice", twice},     {"held", held},
    {"dies", dies},
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "lines";
    int code = 2;

    first = argc > 2 ? atoi(argv[2]) : 3;
    second = argc > 3 ? atoi(argv[3]) : 20;
    p2p_init(&world);
    rank = p2p_rank(world);
    size = p2p_size(world);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, name) == 0) code = acts[i].act();
    p2p_finalize(world);
    return code;
}
