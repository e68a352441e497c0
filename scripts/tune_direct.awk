# SPDX-License-Identifier: MIT
#
# tune_direct.awk: of lines "PAIRWISE_DIRECT,bytes,us_min,us_median,...", first all through the queue (1G), then all in one copy (1),
# by size, each twice the one before: from how many bytes on one copy is worth a try, as a line of C: 128 KiB, or less.
BEGIN { FS = "," }
$1 == "1G" { size[++n] = $2; queue[$2] = $4; if ($2 == 131072) at = n }
$1 == "1" { copy[$2] = $4 }
END {
    if (!at || !copy[size[n]]) exit 1
    for (i = at; i > 1 && copy[size[i - 1]] * 1.1 < queue[size[i - 1]];) i--
    printf "#define DIRECT_FROM_ALONE ((size_t)%d << 10)\n", size[i] / 1024
}
