#!/bin/bash
# SPDX-License-Identifier: MIT
#
# peers.sh: bench/peers finds the MPI libraries on the path and in PEERS, each once, names versions, and says what it leaves out;
# training takes the fastest of PyTorch's ways that it can. With a library and a PyTorch that are made here: what is measured is
# no test's business.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# A compiler and an mpirun of a library that has no ranks: the benches' programs as scripts.
# library FOLDER SUFFIX WHAT-IT-SAYS
library() {
    mkdir -p "$1"
    cat >"$1/program$2" <<SCRIPT
#!/bin/sh
case \$1 in
--version) printf '%s\n' "$3"; exit ;;
--start) exit ;;
esac
printf 'library,ranks,bytes,us_min,us_median,us_p99,wrong\nx,2,8,1,1,1,0\n'
SCRIPT
    cat >"$1/mpicc$2" <<SCRIPT
#!/bin/sh
while [ "\$1" != -o ]; do shift; done
cp "$1/program$2" "\$2" && chmod +x "\$2"
SCRIPT
    cat >"$1/mpirun$2" <<SCRIPT
#!/bin/sh
echo "\$0 \$I_MPI_THREAD_YIELD \$*" >>"$work/started"
while [ "\$1" != -n ]; do shift; done
shift 2
exec "\$@"
SCRIPT
    chmod +x "$1/mpicc$2" "$1/mpirun$2"
}

peers() ( # the path has no other MPI
    mkdir -p "$work/tools"
    for command in bash sh env awk sed grep head cut date uname lscpu nproc timeout mktemp rm mv cp cat chmod mkdir dirname; do
        ln -sf "$(type -P "$command")" "$work/tools/$command"
    done
    : >"$work/started"

    PATH=$work/open:$work/intel:$work/tools PEERS=$work/first ROUNDS=1 RANKS=$many MAX=8 SECONDS_EACH=1 BUILD=$B bench/peers/peers.sh >"$work/table"
    cat "$work/table"
)

found_once() {
    peers || return 1
    [ "$(grep -c '^# mpich5: ' "$work/table")" = 2 ] && grep -q '^# mpich5: MPICH Version: 5.0.2, .*/first/bin/mpirun$' "$work/table" &&
        grep -q '^# openmpi4: Open MPI v4.1.4, ' "$work/table" && grep -q '^# intelmpi2021: Intel(R) MPI Library 2021.18' "$work/table" &&
        grep -q 'ours/mpich5 *ours/openmpi4 *ours/intelmpi2021$' "$work/table" && ! grep -q 'mpich5.0.2\|openmpi4+' "$work/table"
}
past_the_cores() { # MPICH spins; Open MPI is told; Intel's yields, and only then
    grep -q '^# mpich5: left out with .* ranks' "$work/table" && ! grep -q "first/bin/mpirun .*-n $many " "$work/started" &&
        grep -q "open/mpirun.openmpi  --oversubscribe -n $many " "$work/started" &&
        grep -q "intel/mpirun 2 -n $many " "$work/started" && grep -q 'intel/mpirun 0 -n 2 ' "$work/started"
}
versions() {
    grep -q "^# .*, $(nproc) cores; ours: Pairwise [0-9.]*, build " "$work/table" && grep -q 'MORE RANKS THAN CORES' "$work/table"
}
none() { PATH=$work/tools PEERS='' BUILD=$B RANKS=2 bench/peers/peers.sh; }

many=$(($(nproc) + 1))
if [ -e "$B/obj/no_mpi.a" ] || make "$B/obj/no_mpi.a" >/dev/null; then
    mpich='mpich 5.0.2
MPICH Version:      5.0.2
MPICH ABI: 17:2:5'
    library "$work/first/bin" "" "$mpich"
    library "$work/open" .openmpi 'openmpi 4.1.4
Open MPI v4.1.4, package: Debian OpenMPI'
    library "$work/open" "" "$mpich"
    library "$work/intel" "" 'intelmpi 2021.18.1
Intel(R) MPI Library 2021.18.1 for Linux* OS'
    check "each MPI library is found once, on the path and in PEERS" found_once
    check "with more ranks than cores each has what it needs, or is left out" past_the_cores
    check "the processor and our own version are named" versions
    check "without any MPI it says what to install" says "no MPI was found: skipped" none
fi

# A PyTorch whose fused AdamW is the faster, channels_last the slower, and which cannot compile.
torch() {
    cat >"$work/python" <<'SCRIPT'
#!/bin/sh
case $* in
*print*) echo 9.8.7 ;;
*import*) ;;
*--compile*) printf 'SomeError: no compiler\nW: more\n'; exit 1 ;;
*--channels-last*) echo "images 100 seconds 4.0" ;;
*--fused*) echo "images 100 seconds 1.0" ;;
*) echo "images 100 seconds 2.0" ;;
esac
SCRIPT
    chmod +x "$work/python"
    PYTHON=$work/python MODELS=resnet20 ROUNDS=1 BATCH=2 bench/peers/train.sh >"$work/table" 2>&1
    cat "$work/table"
    grep -q '^# PyTorch, resnet20: .*+compile skipped: SomeError: no compiler' "$work/table" && grep -q '^# PyTorch 9.8.7' "$work/table" &&
        grep -q '^  resnet20 .* 100.0 .*  fused+bucket-views$' "$work/table"
}
if [ -x "$B/train" ]; then
    check "PyTorch is measured in the fastest way that it can" torch
else
    skip "PyTorch is measured in the fastest way that it can" "needs OpenCL"
fi
