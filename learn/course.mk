# SPDX-License-Identifier: MIT
# The course, a part of the Makefile. build/learn holds the judges of all exercises; the ranks' side of a test is linked
# with a learner's code, when that is checked. An exercise is there as soon as it has a tests/exercises/NN_name.c.

COURSE   := $(BUILD)/course
CHECKS   ?= $(sort $(wildcard tests/exercises/[0-9K]*.c))
LEARN    := $(call objects,learn/*.c learn/*/*.c exercises/check/check_plan.c exercises/check/check_data.c $(CHECKS))
LEARN_LIBS := -ljansson -larchive -lm
RANKSIDE := $(patsubst %.c,$(COURSE)/obj/%.o,$(CHECKS) $(filter-out %/check_start.c %/check_forbid.c,$(wildcard exercises/check/*.c)))

$(BUILD)/course.h: tests/exercises
	@mkdir -p $(@D)
	@printf 'EXERCISE(check_%s)\n' $(notdir $(CHECKS:.c=)) >$@
$(OBJ)/learn/course/course.o: $(BUILD)/course.h

$(COURSE)/obj/%.o: SAN := address,undefined
$(RANKSIDE): override CFLAGS += -O0 -DCHECK_IN_A_RANK
DEVICE   := $(patsubst %,$(COURSE)/obj/exercises/check/check_%.o,opencl accesses)
$(DEVICE): SAN := # work-items have stacks of their own
$(DEVICE): override CFLAGS += -O2
$(COURSE)/obj/%.o: %.c | build/.setup-build $(BUILD)/build_id.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(COMPILE) -c $< -o $@

# The library in parts, so that an exercise can be linked without those that would give the answer away.
PARTS := p2p dtype collectives ring
$(COURSE)/dtype.a: $(patsubst %.c,$(COURSE)/obj/%.o,$(wildcard dtype/*.c))
$(COURSE)/p2p.a $(COURSE)/collectives.a $(COURSE)/ring.a: $(COURSE)/%.a: $(LIB_OBJ)
$(COURSE)/%.a:
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@.new && ar rcs $@.new $(filter $(OBJ)/$*/% $(COURSE)/obj/$*/%,$^) && mv $@.new $@

# What a rank is before it becomes the learner's program.
$(COURSE)/obj/guard: $(call objects,exercises/check/check_start.c exercises/check/check_forbid.c)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) $^ -o $@

$(BUILD)/learn: $(LEARN) $(LIB) | $(BUILD)/launch $(COURSE)/obj/guard $(RANKSIDE) $(PARTS:%=$(COURSE)/%.a)
	$(call say,LD,$@)
	$(Q)$(LINK) $(filter %.o,$^) $(LIB) $(LEARN_LIBS) -o $@

# Two suites know its insides; all suites of it need the program.
$(BUILD)/tests/learn $(BUILD)/tests/learn_archive: $(filter-out $(OBJ)/learn/main.o,$(LEARN))
$(BUILD)/tests/learn $(BUILD)/tests/learn_archive $(BUILD)/tests/fuzz: private LDFLAGS += -Wl,--no-as-needed $(LEARN_LIBS)
$(call programs,tests/learn*.c): | $(BUILD)/learn

-include $(wildcard $(COURSE)/obj/*/*.d $(COURSE)/obj/*/*/*.d)

# make test 08, make test ex=08: as EX=08. What names an exercise is a goal with nothing to do.
NAMES := $(filter-out all,$(if $(filter test hint see debug reset solution watch,$(firstword $(MAKECMDGOALS))),$(foreach goal,$(wordlist 2,9,$(MAKECMDGOALS)),$(if $(wildcard exercises/*$(goal)*),$(goal)))))
ifneq ($(strip $(NAMES)),)
EX := $(NAMES)
$(NAMES):
	@:
.PHONY: $(NAMES)
else ifneq ($(origin ex),undefined)
EX := $(ex)
endif

# The way through: the library's suites, the solutions, the learner's own work, the board. With EX=08: that exercise.
# A learner has been told what is wrong; "make: *** Error 1" adds nothing. On a terminal make ends by a signal that shells
# do not report; elsewhere with the status, as ever.
quietly = || { status=$$?; [ -t 2 ] && kill -PIPE $$PPID; exit $$status; }

ifeq ($(origin EX),undefined)
test: all build/.setup-test ## the library, the solutions, your exercises, the board; EX=08: one exercise
	@if [ -e build/.setup-test ]; then $(MAKE) suites; fi
	@tests/test.sh test
else ifeq ($(strip $(EX)),)
test: $(BUILD)/learn
	@$(BUILD)/learn list
	@echo 'make test: EX= is empty; which exercise? make test EX=08, or make test for everything' >&2; exit 2
else
test: $(BUILD)/learn
	@$(BUILD)/learn test $(EX) $(if $(V),--verbose) $(if $(TRACE),--trace $(TRACE)) $(quietly)
endif

list: ## the exercises
hint: ## EX=08: the next hint for it (number, name or part of it)
see: ## EX=08: the case that fails as a page for the browser, beside the solution's
debug: ## EX=08 RANK=1: the case that fails, with that rank in gdb
reset: ## EX=08: begin it again; what you wrote is kept
solution: ## EX=08: yours beside the solution, once it passes (or FORCE=1)
watch: ## checks an exercise whenever its file is saved
update: ## new pages and stubs after a pull; your files stay as they are
handin: ## WHO=ada: packs what you wrote into one file
check-course: ## stubs, solutions and wrong solutions: is the course sound?
list hint see debug reset solution watch update check-course: $(BUILD)/learn
	@$(BUILD)/learn $@ $(EX) $(if $(filter-out 0,$(FORCE)),--force) $(quietly)
see: $(BUILD)/replay
export RANK

# WHO=ada: whose work it is, if not that of the user who is logged in.
handin: export WHO := $(WHO)
handin: $(BUILD)/learn
	@$(BUILD)/learn handin $${WHO:+--name="$$WHO"} $(quietly)

.PHONY: test list hint see debug reset solution watch update handin check-course

# The learner's four functions in the real trainer (exercise 23).
$(BUILD)/capstone: $(wildcard exercises/23_resnet_trainer/*.c) $(TRAIN_LIB) $(LIB)
	$(call say,LD,$@)
	$(Q)$(COMPILE) $(CFLAGS) $(filter %.c,$^) $(TRAIN_LIB) $(LIB) -lOpenCL -lm -o $@

# Both train, and so need OpenCL: scripts/setup.sh has said so while building, and is asked again.
needs_opencl = sh scripts/setup.sh train; [ -e build/.setup-train ] || { echo 'make $@: it trains, and OpenCL is missing: see above' >&2; exit 1; }
capstone: all ## exercise 23 for real: trains with your four functions
	@$(needs_opencl)
	@$(MAKE) $(BUILD)/capstone && scripts/capstone.sh

# The learner's trainer as a program (exercise 37).
$(BUILD)/whole: $(wildcard exercises/37_whole_trainer/*.c) $(TRAIN_LIB) $(LIB)
	$(call say,LD,$@)
	$(Q)$(COMPILE) $(CFLAGS) $(filter %.c,$^) $(TRAIN_LIB) $(LIB) -lOpenCL -lm -o $@

whole: all ## exercise 37 for real: your trainer beside build/train, to the bit
	@$(needs_opencl)
	@$(MAKE) $(BUILD)/whole && scripts/whole.sh

pictures: all ## docs/pictures/*.svg: slides for the course, drawn from runs
	@scripts/slides.sh
.PHONY: capstone whole pictures
