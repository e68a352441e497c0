# SPDX-License-Identifier: MIT
#
# table.awk: one bench at one number of ranks, from lines "bench who ranks bytes median". Variables: bench, n, peers (a
# list of words), cores. Ours beside each peer, ours/theirs, and the geometric means that claims are made of.

$1 == bench && $3 == n {
    if (!($4 in seen)) { seen[$4] = 1; sizes[++size_count] = $4 }
    key = $2 SUBSEP $4
    value[key, ++count[key]] = $5
}

function median(who, bytes,    key, i, j, swap, m) {
    key = who SUBSEP bytes
    m = count[key]
    for (i = 2; i <= m; i++)
        for (j = i; j > 1 && value[key, j] < value[key, j - 1]; j--) {
            swap = value[key, j]; value[key, j] = value[key, j - 1]; value[key, j - 1] = swap
        }
    if (m == 0) return 0
    return m % 2 ? value[key, (m + 1) / 2] : (value[key, m / 2] + value[key, m / 2 + 1]) / 2
}

function width(word, least) {
    return length(word) > least ? length(word) : least
}

function class_of(bytes) {
    return bytes <= 4096 ? 1 : bytes <= 1048576 ? 2 : 3
}

END {
    peer_count = split(peers, peer, " ")
    shared = n > cores ? ": MORE RANKS THAN CORES" : ": a core for each rank"
    printf "#\n# %s, %d ranks on %d cores%s\n# %10s %12s", bench, n, cores, shared, "bytes", "ours"
    for (p = 1; p <= peer_count; p++) printf " %*s", width(peer[p], 12), peer[p]
    for (p = 1; p <= peer_count; p++) printf " %*s", width("ours/" peer[p], 14), "ours/" peer[p]
    printf "\n"
    for (i = 1; i <= size_count; i++) {
        bytes = sizes[i]
        ours = median("ours", bytes)
        best = 0
        printf "  %10d %12.2f", bytes, ours
        for (p = 1; p <= peer_count; p++) {
            theirs[p] = median(peer[p], bytes)
            if (theirs[p] > 0 && (best == 0 || theirs[p] < best)) best = theirs[p]
            if (theirs[p] > 0) printf " %*.2f", width(peer[p], 12), theirs[p]; else printf " %*s", width(peer[p], 12), "-"
        }
        for (p = 1; p <= peer_count; p++)
            if (theirs[p] > 0 && ours > 0) printf " %*.2f", width("ours/" peer[p], 14), ours / theirs[p]
            else printf " %*s", width("ours/" peer[p], 14), "-"
        printf "\n"
        if (best > 0 && ours > 0) { c = class_of(bytes); logs[c] += log(best / ours); rows[c]++ }
    }
    split("up to 4 KiB|to 1 MiB|above", name, "|")
    printf "# times as fast as the best peer, geometric mean:"
    for (c = 1; c <= 3; c++) if (rows[c]) printf "  %s x%.2f", name[c], exp(logs[c] / rows[c])
    printf "\n"
}
