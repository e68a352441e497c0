#!/bin/bash
# SPDX-License-Identifier: MIT
#
# train.sh: training, ours next to PyTorch's DistributedDataParallel over Gloo, the same models, in turn in one run.
# Images a second without starting up: of ours from the difference of two runs of different length, whole commands by the
# wall clock; of PyTorch, which may compile for longer than that difference, by its own clock, behind as many steps as the
# shorter run has. Medians of the rounds; ours/theirs: above 1, ours is faster. GFLOP/s count
# useful work only: taps inside the image, however either side computes them.
#
#       bench/peers/train.sh                        after make; about ten minutes
#       OURS="--all-reduce auto" bench/peers/train.sh    more options for build/train
#       THEIRS="--fused --bucket-views" PYTHON=venv/bin/python bench/peers/train.sh
#                                                   these options for train_torch.py; another PyTorch
#       ROUNDS=5 MODELS="resnet34" RANKS=2 BATCH=64 DATA=cifar-10-batches-bin bench/peers/train.sh
#
# Without THEIRS, PyTorch runs in the way that is its fastest for the model: before the rounds, each is tried once (plain; with
# the fused AdamW and gradients in buckets; as well channels_last, torch.compile, both). The table names it.
#
# Status 1 if a program failed. Skipped, saying so, where PyTorch (Debian: python3-torch python3-torchvision) is not
# installed.
set -u
cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C # where a comma is the decimal point, awk and sort do not read our numbers
B=${BUILD:-build}
rounds=${ROUNDS:-3} models=${MODELS:-resnet20 resnet18 resnet34} ranks=${RANKS:-2} batch=${BATCH:-64} data=${DATA:-}
python=${PYTHON:-/usr/bin/python3} limit=${LIMIT:-300}
work=$(mktemp -d "${TMPDIR:-/tmp}/pairwise.XXXXXX")
trap 'rm -rf "$work"' EXIT

# shellcheck source=bench/peers/machine.sh
source bench/peers/machine.sh
declare -A way_of # options of train_torch.py, by model

progress() { [ -t 2 ] && printf '\r\033[K%s' "$*" >&2; }

[ -x "$B/train" ] || { echo "# training: skipped, $B/train is not built (it needs OpenCL)"; exit 0; }
if ! "$python" -c 'import torch, torchvision' 2>/dev/null; then
    echo "# PyTorch: skipped, not installed (Debian: apt-get install python3-torch python3-torchvision)"
    exit 0
fi

# How many steps the two runs have: a few seconds between them.
steps() {
    case $1 in
    resnet20) echo 5 45 ;;
    resnet18) echo 2 6 ;;
    *) echo 3 18 ;;
    esac
}

run() {
    local who=$1 model=$2 count=$3
    # shellcheck disable=SC2086  # several options, or none
    case $who in
    ours) timeout -k 5 "$limit" "$B/train" --ranks "$ranks" --model "$model" --batch "$batch" --steps "$count" --epochs 1000 --augment 0 \
        --test-limit "$ranks" ${data:+--data "$data"} ${OURS:-} --out "$work/out" --overwrite --quiet ;;
    torch) timeout -k 5 "$limit" "$python" bench/peers/train_torch.py --ranks "$ranks" --model "$model" --batch "$batch" --steps "$count" \
        ${data:+--data "$data"} ${way_of[$model]} "${@:4}" ;;
    esac
}

# The wall-clock seconds of one run, or the end of everything.
timed() {
    local from to
    from=$(date +%s.%N)
    "$@" >"$work/log" 2>&1 || { progress ""; echo "$* failed:"; tail -n 20 "$work/log"; exit 1; } >&2
    to=$(date +%s.%N)
    echo "$from $to" | awk '{ print $2 - $1 }'
}

images_a_second() {
    local who=$1 model=$2 few many short long
    read -r few many <<<"$(steps "$model")"
    progress "$model: $who"
    if [ "$who" = torch ]; then
        timed run torch "$model" $((many - few)) --warmup "$few" >/dev/null || return 1
        awk '$1 == "images" { printf "%.1f\n", $2 / $4 }' "$work/log"
        return
    fi
    short=$(timed run "$who" "$model" "$few") && long=$(timed run "$who" "$model" "$many") || return 1
    awk -v n=$(((many - few) * batch * ranks)) -v t="$short" -v u="$long" 'BEGIN { printf "%.1f\n", n / (u - t) }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Useful operations of an image and step, in 10^9 (build/bench/train says them).
work_of() {
    case $1 in
    resnet20) echo 0.2224 ;;
    resnet18) echo 2.8882 ;;
    resnet34) echo 0.2423 ;;
    esac
}

# ---- PyTorch at its fastest ----

# Of --fused --compile: fused+compile
name_of() {
    local name=${1//--/}
    name=${name// /+}
    echo "${name:-plain}"
}

# try MODEL OPTIONS: its images a second, behind steps that do not count, in which it may compile; "" if it fails.
try() {
    local few many rate status why
    read -r few many <<<"$(steps "$1")"
    way_of[$1]=$2
    progress "$1: PyTorch, $(name_of "$2")"
    run torch "$1" $(((many - few + 1) / 2)) --warmup "$few" >"$work/log" 2>&1
    status=$?
    rate=$(awk '$1 == "images" && $4 > 0 { print $2 / $4 }' "$work/log")
    echo "$rate"
    [ -z "$rate" ] || return
    why=$(grep Error "$work/log" | tail -n 1)
    [ $status -ne 124 ] || why="more than $limit seconds, which is LIMIT"
    { progress ""; echo "# PyTorch, $1: $(name_of "$2") skipped: $(cut -c 1-120 <<<"${why:-$(tail -n 1 "$work/log")}")"; } >&2
}

# fastest MODEL: prints its options.
fastest() {
    local base="--fused --bucket-views" way rate best=0 found=
    for way in "" "$base" "$base --channels-last" "$base --compile" "$base --channels-last --compile"; do
        [ -n "$base" ] || way=${way#--fused --bucket-views} way=${way# }
        rate=$(try "$1" "$way")
        [ -n "$rate" ] || [ "$way" != "$base" ] || base=
        if [ -n "$rate" ] && awk -v a="$rate" -v b="$best" 'BEGIN { exit !(a > b) }'; then best=$rate found=$way; fi
    done
    echo "$found"
}

for model in $models; do
    [ -n "${THEIRS+set}" ] && way_of[$model]=$THEIRS || way_of[$model]=$(fastest "$model")
done

# ---- In turn ----

run ours resnet20 1 >/dev/null 2>&1 # kernels are built once
for ((round = 1; round <= rounds; round++)); do
    for model in $models; do
        for who in ours torch; do
            images_a_second $who "$model" >"$work/one" || exit 1
            cat "$work/one" >>"$work/$who.$model"
        done
    done
done
progress ""
machine_line "$B"
echo "# PyTorch $("$python" -c 'import torch; print(torch.__version__)')"
echo "# training, $ranks ranks x $batch images a step on $(nproc) cores, AdamW, f32; medians of $rounds rounds in turn"
printf '# %-10s %14s %16s %14s %16s %12s  %s\n' model 'ours images/s' 'PyTorch images/s' 'ours GFLOP/s' 'PyTorch GFLOP/s' \
    'ours/theirs' 'PyTorch with'
for model in $models; do
    ours=$(median <"$work/ours.$model") theirs=$(median <"$work/torch.$model")
    ratio=$(paste "$work/ours.$model" "$work/torch.$model" | awk '{ print $1 / $2 }' | median)
    awk -v m="$model" -v a="$ours" -v b="$theirs" -v w="$(work_of "$model")" -v r="$ratio" -v way="$(name_of "${way_of[$model]}")" \
        'BEGIN { printf "  %-10s %14.1f %16.1f %14.1f %16.1f %12.2f  %s\n", m, a, b, a * w, b * w, r, way }'
done
