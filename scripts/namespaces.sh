# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2015,SC2086,SC2154
#
# namespaces.sh: hosts made of network namespaces and a bridge, as root, for tests/long/hosts.sh and bench/peers/hosts.sh. Each
# has a network and a name of its own; mpirun runs on the first and reaches the others through an agent instead of ssh.
# `work` is a folder for the agent; MPI is openmpi, or mpich.
#
#       namespaces_make HOST...      or says why not; namespaces_remove takes them away, with all that runs there
#       namespaces_run COUNT RANKS PROGRAM...      on the first COUNT of them, RANKS processes on each

MPI=${MPI:-openmpi}

namespaces_remove() {
    for host in "${namespaces[@]}"; do
        ip netns pids "$host" 2>/dev/null | xargs -r kill -9
        ip link del "$host" # or it stays for a while
        ip netns del "$host"
    done
    ip link del pwbridge
} 2>/dev/null

namespaces_make() {
    local number=0
    : >"$work/names"
    namespaces=("$@")
    [ "$(id -u)" -eq 0 ] || { echo "needs root"; return 1; }
    command -v ip >/dev/null || { echo "needs ip (Debian: apt-get install iproute2)"; return 1; }
    command -v "mpirun.$MPI" >/dev/null || { echo "mpirun.$MPI is not installed"; return 1; }
    namespaces_remove
    ip link add pwbridge type bridge 2>/dev/null && ip link set pwbridge up || { echo "no network namespaces here"; return 1; }
    for host in "${namespaces[@]}"; do
        number=$((number + 1))
        echo "10.97.0.$number $host" >>"$work/names"
        ip netns add "$host" && ip link add "$host" type veth peer name eth0 netns "$host" &&
            ip link set "$host" master pwbridge up && ip -n "$host" addr add "10.97.0.$number/24" dev eth0 &&
            ip -n "$host" link set eth0 up && ip -n "$host" link set lo up || { echo "the namespaces cannot be made"; return 1; }
    done
    # What mpirun takes for ssh: [OPTION...] HOST COMMAND...
    cat >"$work/agent" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$(awk -v "host=\$1" '\$1 == host || \$2 == host { print \$2 }' "$work/names")
shift
exec ip netns exec "\$host" unshare --uts sh -c "hostname \$host; \$*"
END
    chmod +x "$work/agent"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

namespaces_run() {
    local count=$1 ranks=$2 list options
    shift 2
    if [ $MPI = openmpi ]; then
        list=$(printf ",%s:$ranks" "${namespaces[@]:0:count}")
        options="--mca plm_rsh_agent $work/agent --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0
            ${MCA---mca btl tcp,self} --oversubscribe --host ${list#,} --map-by ppr:$ranks:node -x PAIRWISE_WORLD"
    else
        list=$(printf ",10.97.0.%s" $(seq "$count"))
        # not by the memory that these hosts really share
        options="-launcher ssh -launcher-exec $work/agent -iface eth0 -hosts ${list#,} -ppn $ranks
            -genv UCX_TLS tcp,self -genv FI_PROVIDER tcp"
    fi
    # shellcheck disable=SC2016
    timeout -k 5 "${LIMIT:-60}" ip netns exec "${namespaces[0]}" unshare --uts sh -c 'hostname "$0"; exec "$@"' "${namespaces[0]}" \
        "mpirun.$MPI" $options -np $((count * ranks)) "$@"
}
