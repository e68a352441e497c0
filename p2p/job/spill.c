/* SPDX-License-Identifier: MIT */
#include "p2p/job/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_IN_MEMORY ((size_t)64 << 20) /* where no temporary file can be had */

void p2p__spill_init(p2p_spill *spill, int streams)
{
    *spill = (p2p_spill){.fd = -1, .share = SPILL_MOST / (size_t)streams};
}

void p2p__spill_free(p2p_spill *spill)
{
    if (spill->fd >= 0) close(spill->fd);
    spill->fd = -1;
}

static bool open_spill(p2p_spill *spill)
{
    const char *folder = getenv("TMPDIR");
    char name[4096];
    if (!folder || !*folder) folder = "/tmp";
    spill->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->fd < 0 && (size_t)snprintf(name, sizeof name, "%s/pairwise.XXXXXX", folder) < sizeof name) {
        spill->fd = mkostemp(name, O_CLOEXEC);
        if (spill->fd >= 0) unlink(name);
    }
    if (spill->fd >= 0) return true;
    spill->fd = memfd_create("pairwise-output", MFD_CLOEXEC);
    spill->share /= SPILL_MOST / MOST_IN_MEMORY;
    return spill->fd >= 0;
}

static bool make_room(p2p_kept *kept)
{
    if (kept->count < kept->room) return true;
    size_t room = kept->room ? 2 * kept->room : 16;
    p2p_piece *grown = realloc(kept->pieces, room * sizeof *grown);
    if (!grown) return false;
    kept->pieces = grown;
    kept->room = room;
    return true;
}

static int write_all(int fd, const char *bytes, size_t count, off_t at)
{
    for (size_t done = 0; done < count;) {
        ssize_t written = pwrite(fd, bytes + done, count - done, at + (off_t)done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : EIO;
        done += (size_t)written;
    }
    return 0;
}

int p2p__spill_keep(p2p_spill *spill, p2p_kept *kept, const char *bytes, size_t count)
{
    if (spill->fd < 0 && !open_spill(spill)) return errno;
    if (count > spill->share || kept->bytes > spill->share - count) return EDQUOT;
    if (!make_room(kept)) return ENOMEM;
    int failed = write_all(spill->fd, bytes, count, spill->end);
    if (failed) return failed;
    kept->pieces[kept->count++] = (p2p_piece){spill->end, count};
    kept->bytes += count;
    spill->end += (off_t)count;
    return 0;
}

size_t p2p__spill_take(const p2p_spill *spill, p2p_kept *kept, char *bytes, size_t room)
{
    ssize_t got = 0;
    if (kept->next < kept->count) {
        p2p_piece *piece = &kept->pieces[kept->next];
        do got = pread(spill->fd, bytes, piece->length < room ? piece->length : room, piece->at);
        while (got < 0 && errno == EINTR);
        if (got > 0) {
            piece->at += got;
            piece->length -= (size_t)got;
            if (!piece->length) kept->next++;
            return (size_t)got;
        }
    }
    free(kept->pieces);
    *kept = (p2p_kept){.bytes = kept->bytes};
    return 0;
}
