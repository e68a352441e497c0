# SPDX-License-Identifier: MIT
# For MPI programs: a compiler that knows where everything is, the launcher with mpirun's options, and the shared library
# of the standard ABI.

$(BUILD)/mpicc $(BUILD)/mpirun: $(BUILD)/%: mpi/%.sh $(LIB)
	@sed -e 's|@INCLUDE@|$(CURDIR)/mpi|; s|@LIB@|$(abspath $(LIB))|; s|@LAUNCH@|$(abspath $(BUILD)/launch)|; s|@FLAGS@|$(SANFLAGS)|' $< >$@ && chmod +x $@
$(BUILD)/mpirun: | $(BUILD)/launch

$(MPI_CASES): $(BUILD)/%: %.c mpi/mpi.h $(BUILD)/mpicc $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)MPICC_ACCESSES=$(if $(findstring accessed,$<),1,0) MPICC_CC='$(CC)' $(BUILD)/mpicc $(CFLAGS) -Wall -Wextra $(WERROR) $< -o $@

# no accesses.c: the names of its functions are those of a thread sanitizer, which a program may bring
PIC_OBJ := $(patsubst $(OBJ)/%,$(OBJ)/pic/%,$(filter-out $(OBJ)/mpi/accesses.o $(OBJ)/mpi/libc.o,$(LIB_OBJ)) $(OBJ)/mpi/stubs.o)
$(BUILD)/mpi_stubs.inc: mpi/left_out.h
	@mkdir -p $(@D)
	@sed -n 's/^#define MPI_\([A-Za-z_0-9]*\)(\.\.\.) .*/STUB(\1)/p' $< >$@
$(OBJ)/pic/mpi/stubs.o: $(BUILD)/mpi_stubs.inc
# lines.c follows the frames, which sibling calls would replace
$(filter $(OBJ)/mpi/% $(OBJ)/pic/mpi/%,$(LIB_OBJ) $(PIC_OBJ)): override CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls
$(OBJ)/pic/%.o: %.c $(BUILD)/build_id.h | build/.setup-build
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fPIC -c $< -o $@
abi: $(BUILD)/libmpi_abi.so.1 ## the shared library for programs that another MPI has compiled for the standard ABI
$(BUILD)/libmpi_abi.so.1: $(PIC_OBJ)
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) $^ -o $@
.PHONY: abi
-include $(wildcard $(OBJ)/pic/*/*.d $(OBJ)/pic/*/*/*.d)
