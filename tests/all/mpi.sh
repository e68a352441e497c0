#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mpi.sh: mpicc and mpirun as people call them: C, C++, several files, a profiling layer, what is left out, leaks that only
# warn; the shared library of the standard ABI has all of its symbols.
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

cat >"$work/sum.c" <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d of %d: %d\n", rank, size, sum);
    MPI_Finalize();
    return 0;
}
END
# What a tool puts in front of every call.
cat >"$work/tool.c" <<'END'
#define PAIRWISE_MPI_NO_LINES
#include <mpi.h>
#include <stdio.h>

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code = PMPI_Allreduce(from, to, count, type, op, comm);
    printf("%d elements\n", count);
    return code;
}
END
printf '#include <mpi.h>\nint main(void) { MPI_Win w = MPI_WIN_NULL; MPI_Init(0, 0); MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); return MPI_Win_free(&w); }\n' >"$work/window.c"

cat >"$work/local.cpp" <<'END'
#include <mpi.h>
#include <vector>
static void start(MPI_Request *r)
{
    std::vector<double> x(40000);
    MPI_Isend(x.data(), 40000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, r);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) start(&r);
    std::vector<double> x(40000);
    if (rank == 1) MPI_Recv(x.data(), 40000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
END

check "mpicc: a C program" "$B/mpicc" -g -Wall -Werror "$work/sum.c" -o "$work/sum"
check "mpirun -np 4" says "3 of 4: 6" "$B/mpirun" -np 4 "$work/sum"
check "mpirun: options that are usual elsewhere" \
    says "1 of 2: 1" "$B/mpirun" --oversubscribe --bind-to none --mca btl self -n 2 "$work/sum"
check "mpicc -c, then linked" \
    sh -c "$B/mpicc -c $work/sum.c -o $work/sum.o && $B/mpicc $work/sum.o -o $work/sum2 && $B/mpirun -n 2 $work/sum2"
check "mpicc: a C++ program" \
    sh -c "$B/mpicxx -x c++ $work/sum.c -x none -o $work/sum3 && $B/mpirun -n 2 $work/sum3"
check "C++: a container that ends while a send has its memory: the line of the function that it ended in" \
    says "free() at $work/local.cpp:7: the program frees the memory that MPI_Isend at $work/local.cpp:6" sh -c \
    "$B/mpicxx -g $work/local.cpp -o $work/local && $B/mpirun -n 2 $work/local"
check "mpicc: a shared library" "$B/mpicc" -fPIC -shared "$work/sum.c" -o "$work/sum.so"
check "mpicc -show" says "libpairwise.a" "$B/mpicc" -show "$work/sum.c"
check "mpicc --help" says "Usage: mpicc" "$B/mpicc" --help
check "mpirun --help" says "Usage: mpirun" "$B/mpirun" --help
check "mpirun without a program" status 2 "$B/mpirun" -np 2
check "a profiling layer in front of MPI_Allreduce" \
    sh -c "$B/mpicc $work/sum.c $work/tool.c -o $work/tool && $B/mpirun -n 2 $work/tool | grep -q '1 elements'"
check "what is left out: the compiler warns" says "no one-sided communication" "$B/mpicc" "$work/window.c" -o "$work/window"
check "its call ends the job" says "MPI_Win_free() at $work/window.c:2: Pairwise's MPI has no one-sided" \
    "$B/launch" -n 1 "$work/window"
check "with an error" status 1 "$B/launch" -n 1 "$work/window"
check "with -Werror it does not compile" status 1 "$B/mpicc" -Werror "$work/window.c" -o "$work/window"
check "mpirun: an environment, a folder, this host" says "2 of 2" \
    "$B/mpirun" -np 2 -H localhost:2 -ppn 2 -genv ANSWER 42 -wdir "$work" sh -c "env | grep -q ^ANSWER=42 && [ -e sum.c ] && echo 2 of 2"
echo "localhost slots=4" >"$work/hosts"
check "mpirun: a file of hosts" says "1 of 2: 1" "$B/mpirun" --hostfile "$work/hosts" -np 2 "$work/sum"
check "mpirun: another host" says "not on far.example" "$B/mpirun" -H far.example -np 2 "$work/sum"
check "mpirun: several programs" says 'several programs in one job' "$B/mpirun" -np 1 "$work/sum" : -np 1 "$work/sum"
check "mpirun: no rank is started then" status 2 "$B/mpirun" -np 1 "$work/sum" : -np 1 "$work/sum"
for mpi in openmpi mpich; do
    have "mpicc.$mpi" || continue
    check "a program of $mpi" sh -c "mpicc.$mpi $work/sum.c -o $work/other"
    check "a program of $mpi is told to be one" says "was built for another MPI (libmpi" "$B/launch" -n 2 "$work/other"
done
check "leaks that only warn" sh -c "PAIRWISE_MPI_LEAKS=warn $B/launch -n 2 $B/tests/mpi/wrong/type_leak"
check "leaks end with an error" status 1 "$B/launch" -n 2 --strict "$B/tests/mpi/wrong/type_leak"
check "leaks are to end with an error" sh -c "PAIRWISE_MPI_LEAKS=error $B/launch -n 2 $B/tests/mpi/wrong/type_leak; [ \$? -eq 1 ]"
check "leaks of a world of one, without a launcher" says "note: rank 0: MPI_Finalize()" "$B/tests/mpi/wrong/type_leak"

abi() {
    make abi && nm -D --defined-only "$B/libmpi_abi.so.1" >"$work/symbols" && grep -q ' MPI_Win_create$' "$work/symbols" &&
        grep -q ' MPI_Send$' "$work/symbols" && grep -q ' PMPI_Send$' "$work/symbols" &&
        [ "$(grep -c ' MPI_' "$work/symbols")" -ge 664 ]
}
check "libmpi_abi.so.1 has every symbol of the standard ABI" abi
check "and none of a thread sanitizer" sh -c "! grep __tsan_ $work/symbols"

# As another MPI's compiler does it: no macros, the shared library.
foreign() { cc -g -DPAIRWISE_MPI_NO_LINES -Impi "tests/mpi/$1.c" -L"$B" -l:libmpi_abi.so.1 -o "$work/foreign"; }
check "a program for the standard ABI, compiled without our macros" foreign right/messages
check "it runs" "$B/launch" -n 3 "$work/foreign"
check "a wrong one" foreign wrong/recv_recv
line=$(sed -n '/line: receive/=' tests/mpi/wrong/recv_recv.c)
check "its line comes from its debug information" \
    says "MPI_Recv(source 1, tag 3) at tests/mpi/wrong/recv_recv.c:$line" "$B/launch" -n 2 "$work/foreign"

# Python, whose modules call the library: the line is that of the script, not one of the module.
cat >"$work/both.py" <<'END'
import ctypes

mpi, byte, world = ctypes.CDLL(None), ctypes.c_void_p(0x247), ctypes.c_void_p(0x101)
rank, data = ctypes.c_int(), ctypes.create_string_buffer(8)


def exchange(peer):
    mpi.MPI_Recv(data, 8, byte, peer, 3, world, None)
    mpi.MPI_Send(data, 8, byte, peer, 3, world)


mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
exchange(1 - rank.value)
mpi.MPI_Finalize()
END
if command -v python3 >/dev/null; then
    check "Python: the line of the script" \
        says "MPI_Recv(source 1, tag 3) at $work/both.py:8" "$B/launch" -n 2 python3 "$work/both.py"
fi

cat >"$work/called.cpp" <<'END'
#include <mpi.h>
#include <vector>
template <class Function, class... Arguments> void call(Function function, Arguments... arguments)
{
    function(arguments...);
}
int main(int argc, char **argv)
{
    int rank;
    std::vector<int> x(4);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    call(MPI_Recv, x.data(), 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
}
END
check "C++: a template that calls what it is given" \
    sh -c "MPICC_CC=c++ $B/mpicc -g -O2 $work/called.cpp -o $work/called"
check "its line comes from its debug information" \
    says "MPI_Recv(source 1, tag 0) at $work/called.cpp:5" "$B/launch" -n 2 "$work/called"

cat >"$work/atomic.cpp" <<'END'
#include <mpi.h>
#include <atomic>
#include <memory>
std::atomic<int> count{0};
std::atomic<bool> flag{false};
int main(int argc, char **argv)
{
    bool expected = false;
    MPI_Init(&argc, &argv);
    auto one = std::make_shared<int>(3);
    auto two = one;
    count += *two;
    bool swapped = flag.compare_exchange_strong(expected, true) && !flag.compare_exchange_weak(expected, true);
    MPI_Finalize();
    return swapped && count == 3 ? 0 : 1;
}
END
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    check "atomics of $compiler, where accesses are looked at" \
        sh -c "MPICC_CC=$compiler $B/mpicc $work/atomic.cpp -o $work/atomic && $B/launch -n 1 $work/atomic"
done

cat >"$work/polls.c" <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
    int flag = 0, x;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
END
check "ranks that only poll" "$B/mpicc" -g "$work/polls.c" -o "$work/polls"
check "they end" says "nothing has happened but polling" env PAIRWISE_POLLING=1 timeout 20 "$B/launch" -n 2 "$work/polls"

# A rank that has polled for a while, and then computes for longer than that, does not poll.
cat >"$work/computes.c" <<'END'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double start = MPI_Wtime();
    while (rank == 1 && MPI_Wtime() - start < 0.6) MPI_Iprobe(0, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    while (rank == 1 && MPI_Wtime() - start < 2.4) x++;
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
END
check "a rank that polls and then computes" "$B/mpicc" "$work/computes.c" -o "$work/computes"
check "does not poll" status 0 env PAIRWISE_POLLING=1 timeout 20 "$B/launch" -n 2 "$work/computes"

# A rank that dies is started again with --repair, but the others cannot call p2p_repair.
sed 's/MPI_Allreduce/if (rank == 1 \&\& argc > 1) raise(SIGKILL);\n    &/; s/#include <stdio.h>/&\n#include <signal.h>/' "$work/sum.c" >"$work/dies.c"
check "a program in which a rank dies" "$B/mpicc" -g "$work/dies.c" -o "$work/dies"
check "--repair does not go with it" says "a program of mpi.h does not go on after a death" "$B/launch" -n 3 --repair "$work/dies" now
