#!/bin/sh
# SPDX-License-Identifier: MIT
# mpirun: the launcher, with the options that are usual for MPI.
launch=@LAUNCH@

usage() {
    cat <<END
Usage: mpirun [OPTION]... PROGRAM [ARGS]...
Start an MPI program as N ranks on this machine, and explain what goes wrong.

  -np N, -n N, -c N     how many ranks (default: 1)
  -x NAME[=VALUE]       set a variable of the environment (all are handed on)
  --tag-output          prefix each line of output with the rank
  --timeout S           end the job after S seconds
  --help                this text

Options of the launcher (launch --help) can be given as well: --strict, --world shm, --report FILE.
These change nothing here: --oversubscribe, --allow-run-as-root, --bind-to, --map-by, -q.
END
    exit "$1"
}

n=1
ordered=
# shellcheck disable=SC2163  # -x NAME=VALUE
while [ $# -gt 0 ]; do
    case $1 in
    -np | -n | -c | --np | --n) n=${2?mpirun: how many ranks?} && shift 2 ;;
    -x) case $2 in *=*) export "$2" ;; esac && shift 2 ;;
    --oversubscribe | -oversubscribe | --allow-run-as-root | -q | --quiet) shift ;;
    --bind-to | -bind-to | --map-by | -map-by | --mca | -mca) [ "$1" = --mca ] || [ "$1" = -mca ] && shift; shift 2 ;;
    --tag-output | -tag-output | -l) ordered="$ordered --tag" && shift ;;
    --help | -h) usage 0 ;;
    --world | --network | --timeout | --trace | --report | --debug | --wrap) ordered="$ordered $1 $2" && shift 2 ;;
    --) shift && break ;;
    -*) ordered="$ordered $1" && shift ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || usage 2 >&2
# shellcheck disable=SC2086
exec "$launch" -n "$n" $ordered "$@"
