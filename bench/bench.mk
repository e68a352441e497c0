# SPDX-License-Identifier: MIT
# What measures, a part of the Makefile.

bench: all ## a message beside a bare socketpair; how soon a death is known; what waiting costs
	@$(BUILD)/bench/ping_pong --world raw,socket,shm && $(BUILD)/bench/death && $(BUILD)/bench/idle && $(BUILD)/bench/waiting
plots: all build/.setup-plots ## all-reduce by each algorithm, and what more ranks cost, drawn (two minutes)
	@bench/plots/plots.sh
tune: all ## measures which all-reduce is the fastest here, and keeps it (three minutes)
	@WRITE=$(or $(WRITE),0) scripts/tune.sh && $(MAKE) all
bench-peers: all $(BUILD)/obj/no_mpi.a ## beside every MPI that is found, and PyTorch, where it is installed (15 minutes)
	@bench/peers/peers.sh && bench/peers/train.sh
bench-hosts: all hosts ## two hosts of namespaces beside Open MPI, one link (as root, ten minutes)
	@bench/peers/hosts.sh

.PHONY: bench plots tune bench-peers bench-hosts
