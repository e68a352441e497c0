# SPDX-License-Identifier: MIT
# For MPI programs: a compiler that knows where everything is, the launcher with mpirun's options, and the shared library
# of the standard ABI.

$(BUILD)/mpicc: mpi/mpicc.sh
$(BUILD)/mpicxx $(BUILD)/mpic++: mpi/mpicc.sh
$(BUILD)/mpirun: mpi/mpirun.sh
$(addprefix $(BUILD)/,mpicc mpicxx mpic++ mpirun): $(LIB)
	@sed -e 's|@NAME@|$(@F)|; s|@VARIABLE@|$(if $(filter %mpicc,$@),MPICC_CC,MPICXX_CXX)|; s|@CC@|$(if $(filter %mpicc,$@),cc,c++)|$(if $(filter %mpicc,$@),,; s|MPICC_CC:-cc|MPICXX_CXX:-c++|)' -e 's|@INCLUDE@|$(CURDIR)/mpi|; s|@LIB@|$(abspath $(LIB))|; s|@LAUNCH@|$(abspath $(BUILD)/launch)|; s|@FLAGS@|$(SANFLAGS)|' $(filter %.sh,$^) >$@ && chmod +x $@
$(BUILD)/mpirun: | $(BUILD)/launch

$(MPI_CASES): $(BUILD)/%: %.c mpi/mpi.h $(BUILD)/mpicc $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)MPICC_ACCESSES=$(if $(findstring accessed,$<),1,0) MPICC_CC='$(CC)' $(BUILD)/mpicc $(CFLAGS) -Wall -Wextra $(WERROR) $< -o $@

# What mpicc links in front of the C library's malloc; no part of the library, whose other programs shall not find it, and so
# not among its objects either.
HEAP := $(BUILD)/libpairwise_heap.o
$(HEAP): override CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls
$(HEAP): mpi/heap.c $(wildcard mpi/*.h p2p/*.h) | build/.setup-build $(BUILD)/build_id.h
	$(call say,CC,$<)
	$(Q)$(COMPILE) -c $< -o $@
$(BUILD)/mpicc $(MPI_CASES): $(HEAP)

# no accesses.c, no atomics.c: the names of their functions are those of a thread sanitizer, which a program may bring
ABI_OBJ := $(filter-out $(OBJ)/mpi/accesses.o $(OBJ)/mpi/atomics.o $(OBJ)/mpi/libc.o,$(LIB_OBJ)) $(OBJ)/mpi/stubs.o
# Compiled once for both libraries: a program's linker turns what -fPIC looks up in tables back into plain addresses. Objects
# that were compiled with other options here cannot be linked into a shared library.
$(ABI_OBJ): override CFLAGS += -fPIC -fno-semantic-interposition -ftls-model=initial-exec
$(ABI_OBJ): mpi/mpi.mk
$(BUILD)/mpi_stubs.inc: mpi/left_out.h
	@mkdir -p $(@D)
	@sed -n 's/^#define MPI_\([A-Za-z_0-9]*\)(\.\.\.) .*/STUB(\1)/p' $< >$@
$(OBJ)/mpi/stubs.o: $(BUILD)/mpi_stubs.inc
# lines.c follows the frames, which sibling calls would replace
$(call objects,mpi/*.c): override CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls
abi: $(BUILD)/libmpi_abi.so.1 ## the shared library for programs that another MPI has compiled for the standard ABI
$(BUILD)/libmpi_abi.so.1: $(ABI_OBJ)
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) $^ -o $@
.PHONY: abi
