# SPDX-License-Identifier: MIT
# The launchers for several hosts, one for each MPI library; `make hosts`. A part of the Makefile.

# Where several are installed mpicc has a suffix (Debian); where there is one, MPICC=mpicc, with the name of what it is.
$(OBJ)/%/carrier.o: p2p/job/mpi/carrier.c p2p/job/carrier.h p2p/shared/words.h
	@mkdir -p $(@D)
	$(call say,MPI,$@)
	$(Q)$(or $(MPICC),mpicc.$*) -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -Wno-stringop-overflow $(SANFLAGS) -I. -c $< -o $@
.PRECIOUS: $(OBJ)/%/carrier.o
# The library without mpi/, whose MPI_Init and all others would take the place of those of the MPI that is installed.
NO_MPI := $(OBJ)/no_mpi.a
$(NO_MPI): $(filter-out $(OBJ)/mpi/%,$(LIB_OBJ))
	$(call say,AR,$@)
	$(Q)rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@
$(BUILD)/launch-%: $(OBJ)/%/carrier.o $(LAUNCHER) $(NO_MPI)
	$(call say,LD,$@)
	$(Q)$(or $(MPICC),mpicc.$*) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $^ -o $@
	@echo $(or $(MPICC),mpicc.$*) >$(OBJ)/$*/mpicc
# For suites between hosts (tests/long/hosts.sh).
$(BUILD)/tests/relay-%: $(OBJ)/%/carrier.o $(OBJ)/tests/relay/relay.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(or $(MPICC),mpicc.$*) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $^ -o $@

hosts: all ## the launchers for several hosts: Open MPI's, MPICH's, whichever are installed
	@+scripts/hosts.sh new
.PHONY: hosts
