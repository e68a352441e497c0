#!/bin/sh
# SPDX-License-Identifier: MIT
# mpirun: the launcher, with the options that are usual for MPI.
launch=@LAUNCH@
name=${0##*/} prefix=
case $name in pairwise-*) prefix=pairwise- ;; esac

usage() {
    cat <<END
Usage: $name [OPTION]... PROGRAM [ARGS]...
Start an MPI program as N ranks on this machine, and explain what goes wrong.

  -np N, -n N, -c N     how many ranks (default: 1)
  -x NAME[=VALUE]       set a variable of the environment (all are handed on);
                        -genv NAME VALUE and -env NAME VALUE do as well
  -wdir DIR             start the ranks there (-wd, --wdir)
  --tag-output          prefix each line with its rank (-l, -prepend-rank)
  --timeout S           end the job after S seconds
  --help                this text

Options of the launcher (${prefix}launch --help) can be given as well:
--strict, --world shm, --report FILE. -H, --host, --hostfile, -machinefile and
-f may name this machine. -ppn and -npernode are how many ranks it has.
These change nothing here: --oversubscribe, --allow-run-as-root, --bind-to,
--map-by, --rank-by, --mca, -genvall, --report-bindings, --display-map, -q.
END
    exit "$1"
}

wrong() {
    echo "mpirun: $1" >&2
    exit 2
}

# Each host of a list ("a:4,b") has to be this machine.
only_here() {
    for host in $(echo "$1" | tr ',' ' '); do
        case ${host%%:*} in
        localhost | localhost.localdomain | 127.* | "$(uname -n)" | "$(uname -n | cut -d. -f1)") ;;
        *) wrong "this one starts ranks on this machine alone, and not on ${host%%:*}
  try: on several hosts, the mpirun of an MPI that is installed on them, with a launcher for each (docs/hosts.md)" ;;
        esac
    done
}

n=
each=
ordered=
# shellcheck disable=SC2163  # -x NAME=VALUE
while [ $# -gt 0 ]; do
    case $1 in
    -np | -n | -c | --np | --n) n=${2?mpirun: how many ranks?} && shift 2 ;;
    -ppn | --ppn | -perhost | -npernode | --npernode | -N) each=${2?mpirun: how many ranks?} && shift 2 ;;
    -H | -host | --host | -hosts | --hosts) only_here "${2?mpirun: which host?}" && shift 2 ;;
    -hostfile | --hostfile | -machinefile | --machinefile | -f)
        [ -r "${2?mpirun: which file?}" ] || wrong "the file of hosts $2 cannot be read"
        only_here "$(sed 's/#.*//; s/^[[:space:]]*//; s/[[:space:]].*//' "$2" | tr '\n' ',')" || exit
        shift 2
        ;;
    -x) case $2 in *=*) export "$2" ;; esac && shift 2 ;;
    -genv | --genv | -env | --env) export "${2?mpirun: which variable?}=${3?mpirun: which value?}" && shift 3 ;;
    -wdir | --wdir | -wd | --wd) cd "${2?mpirun: which folder?}" || exit 2; shift 2 ;;
    --oversubscribe | -oversubscribe | --allow-run-as-root | -q | --quiet) shift ;;
    -genvall | -envall | -genvnone | -envnone) shift ;;
    --report-bindings | -report-bindings | --display-map | -display-map | --display-allocation | -print-rank-map) shift ;;
    --bind-to | -bind-to | --map-by | -map-by | --rank-by | -rank-by | -genvlist | -envlist | -rmk | -launcher) shift 2 ;;
    --mca | -mca) shift 3 ;;
    --tag-output | -tag-output | -l | -prepend-rank | --prepend-rank) ordered="$ordered --tag" && shift ;;
    --help | -h) usage 0 ;;
    --world | --network | --timeout | --trace | --report | --debug | --wrap) ordered="$ordered $1 $2" && shift 2 ;;
    --) shift && break ;;
    -*) ordered="$ordered $1" && shift ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || usage 2 >&2
for word; do
    [ "$word" != : ] || wrong "several programs in one job (\":\") cannot be started
  try: one program, or a script, that chooses by the rank what it does"
done
# shellcheck disable=SC2086
exec "$launch" -n "${n:-${each:-1}}" $ordered "$@"
