/* SPDX-License-Identifier: MIT */
/* The launchers of several hosts come together, before any rank is started: who has how many ranks, and that all have the same
 * build. Settings are compared in hosts_settings.c. */
#include "p2p/job/hosts.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "build_id.h"
#include "hosts_id.h"
#include "p2p/shared/words.h"

#define FIRST_MESSAGE_S 5.0
#define READY_S 60.0

static const char *name_of(const p2p_cluster *hosts, int host)
{
    return hosts->greetings[host].name;
}

/* When a process was started, in clock ticks since the system was; 0: it is not of this machine. */
static uint64_t started_at(pid_t pid)
{
    char path[40], stat[1000] = "";
    uint64_t ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const char *at = file && fgets(stat, sizeof stat, file) ? strrchr(stat, ')') : NULL; /* behind its name */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    if (at) ticks = strtoull(at, NULL, 10);
    if (file) fclose(file);
    return ticks;
}

static void name_machine(host_greeting *greeting)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file && !fgets(greeting->boot, sizeof greeting->boot, file)) greeting->boot[0] = 0;
    if (file) fclose(file);
    greeting->started = started_at(getpid());
    sched_getaffinity(0, sizeof greeting->cores, &greeting->cores);
}

/* A launcher that this one can see, and that may use the same cores. */
static bool shares_cores(const p2p_cluster *hosts, int host)
{
    const host_greeting *own = &hosts->greetings[hosts->own], *other = &hosts->greetings[host];
    return host == hosts->own || (memcmp(own->boot, other->boot, sizeof own->boot) == 0 && other->started &&
                                  started_at(other->pid) == other->started && CPU_EQUAL(&own->cores, &other->cores));
}

/* Who has how many ranks; all of the same build. */
static bool place_ranks(p2p_cluster *hosts, char *why, size_t why_bytes)
{
    int size = 0;
    hosts->map = (scoreboard_hosts){.count = hosts->count, .own = hosts->own};
    for (int h = 0; h < hosts->count; h++) {
        host_greeting *g = &hosts->greetings[h];
        g->build[sizeof g->build - 1] = g->rest[sizeof g->rest - 1] = g->name[sizeof g->name - 1] = 0;
        for (char *at = g->name; *at; at++)
            if ((unsigned char)*at <= ' ' || *at == 127) *at = '?'; /* it is printed */
        if (strcmp(g->build, P2P_BUILD_ID) != 0) {
            snprintf(why, why_bytes,
                     P2P_HOST " has Pairwise build %s, " P2P_HOST " has build %s" P2P_TRY
                              "the same installation on every host (make, then make hosts)",
                     h, g->name, g->build, hosts->own, name_of(hosts, hosts->own), P2P_BUILD_ID);
            return false;
        }
        if (strcmp(g->rest, P2P_HOSTS_ID) != 0) {
            snprintf(why, why_bytes,
                     P2P_HOST " has other collectives than " P2P_HOST ", or they are tuned otherwise" P2P_TRY
                              "the same installation on every host; behind make tune with its build/tuned_*.inc",
                     h, g->name, hosts->own, name_of(hosts, hosts->own));
            return false;
        }
        size += g->ranks > 0 && g->ranks <= P2P_MAX_RANKS ? g->ranks : P2P_MAX_RANKS + 1;
        hosts->map.beside += shares_cores(hosts, h);
        if (size > P2P_MAX_RANKS) {
            snprintf(why, why_bytes, "more than %d ranks on %d hosts" P2P_TRY "a smaller -n on each", P2P_MAX_RANKS,
                     hosts->count);
            return false;
        }
        hosts->map.first[h + 1] = (uint16_t)size;
    }
    hosts->first = hosts->map.first[hosts->own];
    hosts->ranks = hosts->greetings[hosts->own].ranks;
    return true;
}

p2p_cluster *p2p__hosts_join(const p2p_carrier *carrier, int own, int count, int ranks, char *why, size_t why_bytes)
{
    host_greeting greeting = {.ranks = ranks, .pid = getpid()};
    char missing[400];
    p2p_cluster *hosts = calloc(1, sizeof *hosts);
    why[0] = 0;
    if (!hosts) return NULL;
    *hosts = (p2p_cluster){.carrier = carrier, .own = own, .count = count, .spill.fd = -1};
    snprintf(greeting.build, sizeof greeting.build, "%s", P2P_BUILD_ID);
    snprintf(greeting.rest, sizeof greeting.rest, "%s", P2P_HOSTS_ID);
    gethostname(greeting.name, sizeof greeting.name - 1);
    name_machine(&greeting);
    hosts->cores = greeting.cores;
    hosts->greetings = calloc((size_t)count, sizeof greeting);
    if (hosts->greetings &&
        !carrier->exchange(&greeting, hosts->greetings, sizeof greeting, FIRST_MESSAGE_S, missing, sizeof missing))
        snprintf(why, why_bytes,
                 "hosts cannot reach each other through %s: %s" P2P_TRY "%s, a network that all hosts have",
                 carrier->name, missing, carrier->which_interface);
    else if (hosts->greetings && place_ranks(hosts, why, why_bytes))
        return hosts;
    free(hosts->greetings);
    free(hosts);
    return NULL;
}

/* mpirun binds what it starts to a core, or to a few: meant for one process, not for a launcher and its ranks. */
static void take_cores(int ranks)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) > ranks) return;
    memset(&cores, 0xff, sizeof cores); /* the system takes away those that this process may not have */
    sched_setaffinity(0, sizeof cores, &cores);
}

/* Launchers that share cores are hosts of a cluster that is tried on one machine. Where there are more ranks than cores each
 * takes a part of them for itself and its ranks, as a host has its own: what they wait for then comes from the same core,
 * whatever the system makes of processes that do nothing but let others run. Else only launchers stay in their parts: two on
 * one core carry half as much. */
static void divide_cores(p2p_cluster *hosts)
{
    const cpu_set_t all = hosts->cores;
    cpu_set_t own;
    int of_host[P2P_MAX_RANKS], cores = CPU_COUNT(&all), ranks = 0, first = 0, last = 0, number = 0, before = 0;
    for (int h = 0; h < hosts->count; h++) {
        of_host[h] = shares_cores(hosts, h) ? hosts->greetings[h].ranks : 0;
        ranks += of_host[h];
    }
    if (hosts->map.beside < 2 || ranks < 2) return;
    for (int h = 0; h < hosts->count; h++) { /* each as many of them as it has of the ranks */
        int from = before * cores / ranks, to = (before += of_host[h]) * cores / ranks;
        if (of_host[h] && from == to) return; /* one would have none */
        if (h == hosts->own) first = from, last = to;
    }
    CPU_ZERO(&own);
    for (size_t core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &all)) continue;
        if (number >= first && number < last) CPU_SET(core, &own);
        number++;
    }
    if (sched_setaffinity(0, sizeof own, &own) != 0 || ranks <= cores) return;
    hosts->cores = own;
    hosts->map.beside = 1;
}

p2p_cluster *p2p__hosts_open(int ranks, char *why, size_t why_bytes)
{
    int own, count, expected = p2p__hosts_expected(); /* before the library sets variables of its own */
    if (!p2p__carrier->open(&own, &count, why, why_bytes)) return NULL;
    if (count == 1 && expected > 1) {
        snprintf(
            why, why_bytes,
            "%d launchers were started, and %s sees one\n  try: srun --mpi=pmix, or the mpirun of the library that "
            "this launcher is built with",
            expected, p2p__carrier->name);
        return NULL;
    }
    take_cores(ranks);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* whatever started the launchers has ended, and the job with it */
    p2p_cluster *hosts = p2p__hosts_join(p2p__carrier, own, count, ranks, why, why_bytes);
    if (hosts) divide_cores(hosts);
    return hosts;
}

bool p2p__hosts_ready(p2p_cluster *hosts, bool ready)
{
    char missing[400];
    int own = ready, *all = calloc((size_t)hosts->count, sizeof own);
    bool told = all && hosts->carrier->exchange(&own, all, sizeof own, READY_S, missing, sizeof missing);
    for (int h = 0; told && h < hosts->count; h++) ready = ready && all[h];
    free(all);
    return told && ready;
}
