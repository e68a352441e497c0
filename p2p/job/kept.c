/* SPDX-License-Identifier: MIT */
/* Memory of ranks that outlives their processes (p2p_keep): a memory file for each rank and name, made when it is first
 * asked for, which every process of that rank is sent. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "p2p/job/launch.h"

#define LOOK_FROM (UINT64_C(16) << 20) /* before taking so much, see how much there is */

typedef struct p2p_kept_memory {
    struct p2p_kept_memory *next;
    char name[SCOREBOARD_NAME];
    uint64_t bytes;
    int fd;
    bool sent; /* to a process of the rank */
} kept_memory;

/* NULL and errno if there can be none. */
static kept_memory *new_memory(p2p_rank_process *process, const char *name, uint64_t bytes)
{
    int count = 0, saved;
    for (kept_memory *at = process->kept; at; at = at->next) count++;
    bool possible = bytes && bytes <= INT64_MAX && (bytes < LOOK_FROM || bytes <= p2p__memory_left());
    kept_memory *made = calloc(1, sizeof *made);
    errno = count < SCOREBOARD_KEPT ? ENOMEM : E2BIG; /* of names */
    if (!made || !possible || count == SCOREBOARD_KEPT) goto fail;
    *made = (kept_memory){process->kept, "", bytes, memfd_create("pairwise-kept", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                          false};
    memcpy(made->name, name, sizeof made->name);
    if (made->fd < 0) goto fail;
    if (TEMP_FAILURE_RETRY(fallocate(made->fd, 0, 0, (off_t)bytes)) == 0 &&
        fcntl(made->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return process->kept = made;
    saved = errno;
    close(made->fd);
    errno = saved;
fail:
    saved = errno;
    free(made);
    errno = saved;
    return NULL;
}

void p2p__kept_asked(p2p_job *job, int rank)
{
    p2p_rank_process *process = &job->ranks[rank];
    scoreboard_keep *asked = &job->scoreboard->rows[rank].keep;
    char name[SCOREBOARD_NAME];
    memcpy(name, asked->name, sizeof name);
    name[sizeof name - 1] = 0;
    uint64_t bytes = asked->bytes;
    process->keeps = false;
    if (job->broken) return; /* it has an error by now, and asks again after p2p_repair */
    kept_memory *kept = process->kept;
    while (kept && strcmp(kept->name, name) != 0) kept = kept->next;
    int answer = kept && kept->sent;
    bool differs = kept && kept->bytes != bytes;
    if (differs) {
        asked->bytes = kept->bytes;
        answer = -EEXIST;
    } else if (!kept) {
        kept = new_memory(process, name, bytes);
        if (!kept) answer = errno ? -errno : -ENOMEM;
    }
    const control_message message = {CONTROL_KEPT, rank, answer};
    bool sent = p2p__tell_rank(job, rank, message, kept && !differs ? kept->fd : -1);
    if (sent && kept && !differs) kept->sent = true;
    if (sent || errno == EPIPE || errno == ECONNRESET) return;
    process->keeps = true;
    if (answer == -EEXIST) asked->bytes = bytes; /* it is asked once more */
}

void p2p__kept_close(p2p_job *job)
{
    for (int i = 0; i < job->size; i++)
        for (kept_memory *kept = job->ranks[i].kept, *next; kept; kept = next) {
            next = kept->next;
            close(kept->fd);
            free(kept);
        }
}
