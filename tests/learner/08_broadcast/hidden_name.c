/* SPDX-License-Identifier: MIT */
// what: hides a name it may not use behind 8,192 that are defined nowhere, and not needed
// expect: uses p2p__report_leaks, which is a part of Pairwise that is not for use outside of it.
#include "exercises/exercises.h"

/* clang-format off */
#define LONG "_long_enough_that_a_list_of_them_all_is_cut_off_in_the_middle_of_it_however_many_bytes_of_it_are_kept_at_either_end_of_it"
#define ONE(n) __asm__(".weak " #n LONG "\n.pushsection .data\n" \
                       ".quad " #n LONG "\n.popsection\n");
#define FOUR(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3)
#define SIXTEEN(n) FOUR(n##0) FOUR(n##1) FOUR(n##2) FOUR(n##3)
#define SIXTY_FOUR(n) SIXTEEN(n##0) SIXTEEN(n##1) SIXTEEN(n##2) SIXTEEN(n##3)
#define THOUSAND(n) SIXTY_FOUR(n##00) SIXTY_FOUR(n##01) SIXTY_FOUR(n##02) SIXTY_FOUR(n##03) \
                    SIXTY_FOUR(n##10) SIXTY_FOUR(n##11) SIXTY_FOUR(n##12) SIXTY_FOUR(n##13) \
                    SIXTY_FOUR(n##20) SIXTY_FOUR(n##21) SIXTY_FOUR(n##22) SIXTY_FOUR(n##23) \
                    SIXTY_FOUR(n##30) SIXTY_FOUR(n##31) SIXTY_FOUR(n##32) SIXTY_FOUR(n##33)
THOUSAND(a) THOUSAND(b) THOUSAND(c) THOUSAND(d)
 THOUSAND(w) THOUSAND(x) THOUSAND(y) THOUSAND(z)
    /* clang-format on */

    p2p_err p2p__report_leaks(p2p_comm *world);

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    return p2p__report_leaks(comm);
}
