/* SPDX-License-Identifier: MIT */
/*
 * The settings of a job must be the same on all hosts: ranks of one could not take part in what those of another do. Each
 * launcher sends the others its values, in one order, and how they were given to it; a difference is told as the user wrote it:
 *
 *      settings differ: host 0 (a) has PAIRWISE_EAGER=1K, host 1 (b) has PAIRWISE_EAGER=2K
 *      settings differ: host 1 (b) has --explain, host 0 (a) has not
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/job/hosts.h"

#define SETTINGS_S 30.0
#define SETTINGS 32

typedef struct {
    char value[160]; /* is compared */
    char given[240]; /* "--network 10GbE", "PAIRWISE_EAGER=1K"; "": it is what it is without */
} setting;

typedef struct {
    setting all[SETTINGS];
    uint32_t count;
} setting_list;

/* One more. By `option` with `argument` ("": it takes none; NULL: it was not given), or else by a variable; one of the names may
 * be NULL. Then its value. */
__attribute__((format(printf, 5, 6))) static void put(setting_list *list, const char *option, const char *argument,
                                                      const char *variable, const char *format, ...)
{
    setting *s = &list->all[list->count++];
    const char *text = variable ? getenv(variable) : NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(s->value, sizeof s->value, format, args);
    va_end(args);
    if (option && argument)
        snprintf(s->given, sizeof s->given, "%s%s%s", option, *argument ? " " : "", argument);
    else if (text)
        snprintf(s->given, sizeof s->given, "%s=%s", variable, text);
}

static void put_number(setting_list *list, const char *variable, uint64_t value)
{
    put(list, NULL, NULL, variable, "%llu", (unsigned long long)value);
}

/* An option without an argument, or with a file that is host 0's business. */
static void put_flag(setting_list *list, const char *option, const char *variable, bool by_option, bool value)
{
    put(list, option, by_option ? "" : NULL, variable, "%d", value);
}

/* All that ranks, or launchers, of two hosts have to agree on; PAIRWISE_DEVICE and PAIRWISE_CACHE may differ. */
static void describe(const p2p_plan *plan, setting_list *list)
{
    const p2p_config *c = &plan->config;
    const p2p_options *o = &plan->options;
    const p2p_network *n = &c->network;
    const char *leaks = getenv("PAIRWISE_MPI_LEAKS");
    char repair[16], limit[32];
    bool traced = c->trace_room > 0;
    snprintf(repair, sizeof repair, "%d", o->repair);
    snprintf(limit, sizeof limit, "%g", o->timeout_s);
    put(list, "--world", o->world, "PAIRWISE_WORLD", "%s", c->world);
    put(list, "--network", o->network, "PAIRWISE_NETWORK", "%d %a %a %a %d %d %a %d %a %d", n->on, n->latency_s,
        n->bandwidth, n->reduce, n->slow_from, n->slow_to, n->slow_factor, n->straggler, n->straggler_factor, n->hosts);
    put_flag(list, "--strict", "PAIRWISE_STRICT", o->strict, c->strict);
    put_flag(list, "--tag", NULL, o->tag_output, o->tag_output);
    put_flag(list, "--ordered", NULL, o->ordered_output, o->ordered_output);
    put(list, "--timeout", o->timeout_s > 0 ? limit : NULL, NULL, "%a", o->timeout_s);
    put(list, "--repair", o->repair ? repair : NULL, NULL, "%d", o->repair);
    put_flag(list, "--explain", "PAIRWISE_EXPLAIN", o->explain, c->explain);
    put_flag(list, "--trace", "PAIRWISE_TRACE", traced && !getenv("PAIRWISE_TRACE"), traced);
    put_flag(list, "--report", NULL, c->reports, c->reports);
    put_flag(list, "--metrics", NULL, c->metrics, c->metrics);
    put_flag(list, "--record", NULL, c->record, c->record);
    put_number(list, "PAIRWISE_TRACE_ROOM", c->trace_room);
    put_number(list, "PAIRWISE_EAGER", c->eager);
    put_number(list, "PAIRWISE_UNEXP_MAX", c->unexpected_max);
    put_number(list, "PAIRWISE_DIRECT", c->direct);
    put_number(list, "PAIRWISE_SNDBUF", c->sndbuf);
    put_number(list, "PAIRWISE_WAIT", (uint64_t)c->wait);
    put_number(list, "PAIRWISE_TIMEOUT", c->timeout_ns);
    put_number(list, "PAIRWISE_POLLING", c->polling_ns);
    put_number(list, "PAIRWISE_HOST_TIMEOUT", c->host_timeout_ns);
    put_number(list, "PAIRWISE_DEBUG", c->debug);
    put_number(list, "PAIRWISE_CRC", c->crc);
    put_number(list, "PAIRWISE_CHECK", c->check);
    put(list, NULL, NULL, "PAIRWISE_MPI_LEAKS", "%s", leaks ? leaks : "default");
}

static void say_difference(const p2p_cluster *hosts, int a, const setting *of_a, int b, const setting *of_b, char *why,
                           size_t why_bytes)
{
    if (!of_a->given[0]) { /* first the one that was given it */
        const setting *other = of_a;
        int host = a;
        of_a = of_b, a = b;
        of_b = other, b = host;
    }
    snprintf(
        why, why_bytes,
        "settings differ: " P2P_HOST " has %.239s, " P2P_HOST " has %s%.239s" P2P_TRY
        "the same options to every launcher; environment variables reach other hosts by mpirun -x NAME (Open MPI), "
        "-genv NAME VALUE (MPICH)",
        a, hosts->greetings[a].name, of_a->given, b, hosts->greetings[b].name, of_b->given[0] ? "" : "not",
        of_b->given);
}

bool p2p__hosts_agree(p2p_cluster *hosts, const p2p_plan *plan, char *why, size_t why_bytes)
{
    setting_list *own = calloc(1, sizeof *own), *all = calloc((size_t)hosts->count, sizeof *all);
    bool same = own && all;
    if (same) {
        describe(plan, own);
        same = hosts->carrier->exchange(own, all, sizeof *own, SETTINGS_S, why, why_bytes);
    } else {
        snprintf(why, why_bytes, "no memory to compare the settings of %d hosts", hosts->count);
    }
    for (int h = 0; same && h < hosts->count; h++)
        for (uint32_t i = 0; same && i < own->count; i++) {
            setting *other = &all[h].all[i];
            other->value[sizeof other->value - 1] = other->given[sizeof other->given - 1] = 0;
            same = strcmp(own->all[i].value, other->value) == 0;
            if (!same) say_difference(hosts, hosts->own, &own->all[i], h, other, why, why_bytes);
        }
    free(own);
    free(all);
    return same;
}
