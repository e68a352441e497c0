/* SPDX-License-Identifier: MIT */
/*
 * What is said to a program that calls MPI's functions (mpi/): the same sentences, with MPI's names in them. A name is
 * replaced where it is a word of its own; what is not in the list stays.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "p2p/shared/words.h"

static const struct {
    const char *ours, *theirs;
} names[] = {{"p2p_init", "MPI_Init"},           {"p2p_finalize", "MPI_Finalize"},
             {"p2p_abort", "MPI_Abort"},         {"p2p_size", "MPI_Comm_size"},
             {"p2p_send", "MPI_Send"},           {"p2p_ssend", "MPI_Ssend"},
             {"p2p_recv", "MPI_Recv"},           {"p2p_sendrecv", "MPI_Sendrecv"},
             {"p2p_isend", "MPI_Isend"},         {"p2p_irecv", "MPI_Irecv"},
             {"p2p_wait", "MPI_Wait"},           {"p2p_wait_all", "MPI_Waitall"},
             {"p2p_wait_any", "MPI_Waitany"},    {"p2p_test", "MPI_Test"},
             {"p2p_cancel", "MPI_Cancel"},       {"p2p_probe", "MPI_Probe"},
             {"p2p_iprobe", "MPI_Iprobe"},       {"p2p_split", "MPI_Comm_split"},
             {"p2p_dup", "MPI_Comm_dup"},        {"p2p_free", "MPI_Comm_free"},
             {"p2p_test_all", "MPI_Testall"},    {"p2p_test_any", "MPI_Testany"},
             {"P2P_ANY_TAG", "MPI_ANY_TAG"},     {"P2P_ANY_SOURCE", "MPI_ANY_SOURCE"},
             {"P2P_UNDEFINED", "MPI_UNDEFINED"}, {"coll_all_reduce", "MPI_Allreduce"},
             {"coll_reduce", "MPI_Reduce"},      {"coll_broadcast", "MPI_Bcast"},
             {"coll_barrier", "MPI_Barrier"},    {"coll_scan", "MPI_Scan"}};

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The name that this word is to be replaced by; NULL: it stays. */
static const char *name_for(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].ours) == length && memcmp(names[i].ours, word, length) == 0) return names[i].theirs;
    return NULL;
}

bool p2p__is_mpi(const char *call)
{
    return strncmp(call, "MPI_", 4) == 0;
}

void p2p__words_of(const char *call, char *text, size_t bytes)
{
    char before[sizeof(p2p_words)];
    size_t used = 0;
    if (!p2p__is_mpi(call) || strlen(text) >= sizeof before) return;
    snprintf(before, sizeof before, "%s", text);
    for (const char *at = before; *at && used + 1 < bytes;) {
        size_t length = 0;
        while (is_letter(at[length])) length++;
        const char *name = length ? name_for(at, length) : NULL;
        if (!length) length = 1;
        size_t room = bytes - used;
        int more = name ? snprintf(text + used, room, "%s", name)
                        : snprintf(text + used, room, "%.*s", (int)length, at);
        used += more > 0 && (size_t)more < room ? (size_t)more : room - 1;
        at += length;
    }
    text[used < bytes ? used : bytes - 1] = '\0';
}
