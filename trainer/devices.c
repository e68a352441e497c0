/* SPDX-License-Identifier: MIT */
/* --device: which rank uses which device. Calls no function of OpenCL but kernel_list: this also runs before the ranks
 * are forked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "trainer/run.h"

/* Entry number `index` of "gpu:0,gpu:1,cpu"; false if there are fewer. */
static bool entry_of(const char *list, int index, char entry[TRAIN_DEVICE_NAME])
{
    for (; index > 0; index--) {
        list = strchr(list, ',');
        if (!list++) return false;
    }
    size_t length = strcspn(list, ",");
    if (length >= TRAIN_DEVICE_NAME) length = TRAIN_DEVICE_NAME - 1;
    memcpy(entry, list, length);
    entry[length] = '\0';
    return true;
}

static int entries_of(const char *list)
{
    int count = 1;
    for (; *list; list++) count += *list == ',';
    return count;
}

static bool is_device(const char *entry)
{
    if (strcmp(entry, "auto") == 0) return true;
    if (strncmp(entry, "cpu", 3) != 0 && strncmp(entry, "gpu", 3) != 0) return false;
    entry += 3;
    return !*entry || (*entry == ':' && entry[1] && strspn(entry + 1, "0123456789") == strlen(entry + 1));
}

/* Does the device exist? kernel_list takes time, so it is called only for devices that not every machine has. */
static p2p_err check_there(const char *entry, train_error *error)
{
    kernel_listing there;
    const char *number = strchr(entry, ':');
    if (strcmp(entry, "auto") == 0 || strcmp(entry, "cpu") == 0) return P2P_OK;
    if (kernel_list(&there)) return train__fail(error, P2P_ERR_SYS, "--device: %s", kernel_error_message(NULL));
    int count = *entry == 'c' ? there.cpus : there.gpus;
    if ((number ? strtol(number + 1, NULL, 10) : 0) < count) return P2P_OK;
    return train__fail(error, P2P_ERR_ARG, "--device: there is no %s: %s%s", entry,
                       there.cpus || there.gpus ? "there are " : "", there.text);
}

p2p_err train__check_devices(const char *list, int ranks, train_error *error)
{
    char entry[TRAIN_DEVICE_NAME];
    int count = entries_of(list);
    for (int i = 0; entry_of(list, i, entry); i++)
        if (!is_device(entry))
            return train__fail(
                error, P2P_ERR_ARG,
                "--device: \"%s\" is no device\n  try: auto, cpu, gpu, cpu:K, gpu:K, or a list of these, "
                "one for each rank",
                entry);
    if (count != 1 && count != ranks)
        return train__fail(error, P2P_ERR_ARG, "--device: %d devices for %d ranks; name one for all, or one for each",
                           count, ranks);
    p2p_err err = P2P_OK;
    for (int i = 0; !err && entry_of(list, i, entry); i++) err = check_there(entry, error);
    return err;
}

void train__device_of(const char *list, int rank, char entry[TRAIN_DEVICE_NAME])
{
    if (!entry_of(list, rank, entry)) entry_of(list, 0, entry);
}

/* A rank's share of the cores: of those on a CPU only, as far as their names tell. */
int train__cores_of(const char *list, int ranks)
{
    char entry[TRAIN_DEVICE_NAME];
    int sharing = 0;
    for (int rank = 0; rank < ranks; rank++) {
        train__device_of(list, rank, entry);
        sharing += strncmp(entry, "gpu", 3) != 0;
    }
    int share = sharing ? train__cores() / sharing : 1;
    return share > 0 ? share : 1;
}

/* ---- Once they are open ---- */

/* The device of a rank: -1 for a CPU, else the number of the GPU. */
static int64_t place_of(const train_runner *r)
{
    char entry[TRAIN_DEVICE_NAME];
    const char *spec = getenv("PAIRWISE_DEVICE");
    train__device_of(r->settings->device, r->rank, entry);
    if (strcmp(entry, "auto") != 0 || !spec) spec = entry;
    const char *number = strchr(spec, ':');
    if (r->network->info.is_cpu) return -1;
    return number ? strtol(number + 1, NULL, 10) : 0;
}

/* More ranks than devices: allowed, with one warning. */
p2p_err train__warn_devices(train_runner *r)
{
    int64_t mine = place_of(r), *all = calloc((size_t)r->size, sizeof *all);
    int on_cpu = 0, cores = train__cores();
    if (!all) return train__fail(r->error, P2P_ERR_NOMEM, "no memory");
    p2p_err err = train__comm(r->comm, r->error, coll_all_gather(r->comm, &mine, all, 1, DTYPE_I64));
    for (int rank = 0; rank < r->size && !err && r->rank == 0; rank++) {
        on_cpu += all[rank] < 0;
        for (int before = 0; before < rank && all[rank] >= 0; before++)
            if (all[before] == all[rank]) {
                fprintf(stderr, "train: warning: ranks %d and %d share gpu:%d and take turns\n", before, rank,
                        (int)all[rank]);
                break;
            }
    }
    if (on_cpu > cores)
        fprintf(stderr,
                "train: warning: %d ranks share %d core%s and take turns; they take at least %.1f GB of memory\n",
                on_cpu, cores, cores == 1 ? "" : "s", (double)train__least_memory(r->job) * r->size * 1e-9);
    free(all);
    return err;
}
