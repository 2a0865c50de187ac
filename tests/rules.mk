# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# tests/unit/test_<module>.c is one program each; tests/support/*.c is linked into all of them.
# Those of kernels that this machine cannot compile are left out.
unit_srcs    := $(filter-out $(if $(filter cuda,$(PLUGINS)),,tests/unit/test_cuda_kernels.c), \
                  $(sort $(wildcard tests/unit/test_*.c)))
support_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard tests/support/*.c)))
test_objs    := $(patsubst %.c,$(BUILD)/obj/%.o,$(unit_srcs)) $(support_objs)
UNIT_TESTS   := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(unit_srcs))
CLI_TESTS    := $(sort $(wildcard tests/cli/*.sh))
# tests/support/quick_marks.c stands between the tests and Check.
TEST_LIBS    := -Wl,--wrap=_mark_point $(call pkg,--libs,check mpfr) -lgmp

$(UNIT_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(support_objs) \
    $(BUILD)/lib/libassay-tool.a $(BUILD)/lib/libassay.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $($*_LIBS) $(TEST_LIBS) $(TOOL_LIBS) $(LIB_LIBS) -o $@

# Kernels that misbehave on purpose: one plug-in, never installed, found by tests in
# $$ASSAY_BUILD/tests/plugins.
PLUGINS += villains
villains_DIR := tests/villains
villains_OUT := $(BUILD)/tests/plugins
villains_RUNTIME_SRCS = $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)
# Kernels with many variants, likewise.
PLUGINS += many
many_DIR := tests/many
many_OUT := $(BUILD)/tests/many
many_RUNTIME_SRCS = $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)
# The scripted backend as of a device elsewhere, likewise.
PLUGINS += far
far_DIR := backends/fake
far_OUT := $(BUILD)/tests/far
far_CFLAGS := -DFAKE_FAR
far_RUNTIME_SRCS = $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)
# A backend that breaks one rule of conform/ at a time, by the name in ASSAY_CROOKED; likewise.
PLUGINS += crooked
crooked_DIR := tests/crooked
crooked_OUT := $(BUILD)/tests/crooked
crooked_SRCS := $(sort $(wildcard tests/crooked/*.c)) tests/support/judge_host.c
crooked_RUNTIME_SRCS = $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)

# Villains on a GPU: the host side of backend cuda, and kernels of their own; likewise.  How they are
# run there is in tests/gpu/cuda-villains.sh.
cuda_host := activity device digest driver error event judge libraries life measure memory module peer pinned nvrtc plugin probe \
    queue staging transfer
ifneq ($(filter cuda,$(PLUGINS)),)
PLUGINS += cuda_villains
cuda_villains_DIR := tests/cuda_villains
cuda_villains_OUT := $(BUILD)/tests/cuda_villains
cuda_villains_SRCS := $(sort $(wildcard tests/cuda_villains/*.c)) $(cuda_host:%=backends/cuda/cuda_%.c) \
    backends/cuda/cuda_images.c
$(BUILD)/plugin/cuda_villains/backends/cuda/cuda_images.o: $(cuda_fatbins) $(cuda_texts) $(cuda_sizes)
cuda_villains_HASHED := tests/cuda_villains/cuda_villains_kernels.cu
cuda_villains_CFLAGS := $(cuda_includes) -I$(cuda_made)
cuda_villains_RUNTIME_SRCS = $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS) backends/nvml.c
CFLAGS_$(cuda_villains_HASHED) := $(NVCC_FLAGS) nvcc-$(nvcc_version)
cuda_villains_image := $(cuda_made)/cuda_villains_kernels.fatbin
$(cuda_villains_image): $(cuda_villains_HASHED) $(NVCC) backends/cuda/rules.mk
	@mkdir -p $(@D)
	$(call say,NVCC $@)
	$(Q)$(NVCC) -fatbin $(NVCC_FLAGS) $< -o $@
$(BUILD)/plugin/cuda_villains/tests/cuda_villains/cuda_villains.o: $(cuda_villains_image)
endif

.PHONY: unit-tests cli-tests tests test-plugins valgrind-tests
test-plugins: # its parts are known only after the plug-in rules, see Makefile
# Two tests install: the man pages must not be made by both at once.
tests: default $(UNIT_TESTS) test-plugins $(BUILD)/man/assay.1
	@scripts/run-tests --build $(BUILD) $(UNIT_TESTS) $(CLI_TESTS)
unit-tests: default $(UNIT_TESTS) test-plugins
	@scripts/run-tests --build $(BUILD) $(UNIT_TESTS)
cli-tests: default test-plugins $(BUILD)/tests/test_html $(BUILD)/man/assay.1
	@scripts/run-tests --build $(BUILD) $(CLI_TESTS)
valgrind-tests: default $(UNIT_TESTS) test-plugins
	@scripts/valgrind-tests $(UNIT_TESTS)

# Plug-ins of the loader's test: one source, one object for each -DPLUG_<name>.
PLUGS      := alpha beta plain foreign short broken misnamed badname ctor hangs opens named old cut newer
PLUG_FILES := $(PLUGS:%=$(BUILD)/tests/loader/assay_%.so)
$(PLUG_FILES): $(BUILD)/tests/loader/assay_%.so: tests/plugins/plug.c backends/plugin.map \
    $(BUILD)/gen/flags.txt $(wildcard include/assay/*) | $(GEN_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -DPLUG_$* -shared \
	    $(LDFLAGS_ALL) -Wl,--build-id=sha1 -Wl,--version-script=backends/plugin.map $< -o $@
test-plugins: $(PLUG_FILES)
$(BUILD)/tests/test_plugin $(BUILD)/tests/test_worker: | $(PLUG_FILES)

# Plug-ins for tests of selection, likewise by -DSELECT_<name>.
SELECT_PLUGS := absent bare card_a card_b hidden host_a host_b oracle vk
SELECT_FILES := $(SELECT_PLUGS:%=$(BUILD)/tests/select/assay_%.so)
$(SELECT_FILES): $(BUILD)/tests/select/assay_%.so: tests/plugins/select_plug.c backends/plugin.map \
    $(BUILD)/gen/flags.txt $(wildcard include/assay/*) | $(GEN_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -DSELECT_$* -shared \
	    $(LDFLAGS_ALL) -Wl,--build-id=sha1 -Wl,--version-script=backends/plugin.map $< -o $@
test-plugins: $(SELECT_FILES)
$(BUILD)/tests/test_select $(BUILD)/tests/test_select_engines: | $(SELECT_FILES)

# A library of names that those behind plug-ins have too.
SHADOW := $(BUILD)/tests/loader/shadow.so
$(SHADOW): tests/plugins/shadow.c $(BUILD)/gen/flags.txt | $(GEN_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -shared $(LDFLAGS_ALL) $< -o $@
test-plugins: $(SHADOW)
$(BUILD)/tests/test_rivals: | $(SHADOW)

# A Vulkan loader between the backend and the real one, for calls that are to fail and for promises.
VULKAN_BETWEEN := $(BUILD)/tests/fake_vulkan/between.so
ifneq ($(filter vulkan,$(PLUGINS)),)
$(VULKAN_BETWEEN): tests/fake_vulkan/vulkan_between.c $(BUILD)/gen/flags.txt | $(GEN_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) -shared $(LDFLAGS_ALL) -Wl,--build-id=sha1 $< -o $@ -ldl
test-plugins: $(VULKAN_BETWEEN)
$(BUILD)/tests/test_vulkan_lost $(BUILD)/tests/test_vulkan_vectors: | $(VULKAN_BETWEEN)
else
$(BUILD)/syntax/tests/fake_vulkan/%.ok: tests/fake_vulkan/%.c
	@mkdir -p $(@D)
	@touch $@
endif

# Backend cuda on a scripted driver: its host side, without its kernels, is linked into the tests;
# driver, CUPTI and NVML are one shared object that they open.
cuda_test_root := $(firstword $(foreach r,$(CUDA_HOME) /usr/local/cuda,$(if $(wildcard $(r)/include/cuda.h),$(r))))
ifneq ($(cuda_test_root),)
cuda_test_flags := -isystem $(cuda_test_root)/include -isystem $(cuda_test_root)/extras/CUPTI/include
cuda_host_objs  := $(cuda_host:%=$(BUILD)/obj/backends/cuda/cuda_%.o) $(BUILD)/obj/backends/nvml.o
cuda_stage_objs := $(patsubst %,$(BUILD)/obj/tests/fake_cuda/fake_cuda_%.o,rows stage)
$(cuda_host_objs) $(cuda_stage_objs): CPPFLAGS_ALL += $(cuda_test_flags) -DASSAY_SOURCE_COUNT=1
cuda_tests := $(patsubst %,$(BUILD)/tests/%,test_cuda test_cuda_judge test_cuda_launch test_cuda_measure test_cuda_probe)
$(cuda_tests): $(cuda_host_objs) $(cuda_stage_objs)
# The library once more: what these objects need of it comes behind them.
test_cuda_LIBS := $(BUILD)/lib/libassay.a
test_cuda_launch_LIBS := $(test_cuda_LIBS)
test_cuda_measure_LIBS := $(test_cuda_LIBS)
test_cuda_probe_LIBS := $(test_cuda_LIBS)
test_cuda_judge_LIBS := $(test_cuda_LIBS)
test_objs += $(cuda_host_objs) $(cuda_stage_objs)

FAKE_CUDA := $(BUILD)/tests/fake_cuda/libfake_cuda.so
$(FAKE_CUDA): $(patsubst %,tests/fake_cuda/fake_cuda_%.c,cupti judge memory nvml probe script shown stream villains) \
    tests/support/judge_host.c $(wildcard tests/fake_cuda/*.h) $(BUILD)/gen/flags.txt | $(GEN_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(CFLAGS_ALL)) $(cuda_test_flags) -shared $(LDFLAGS_ALL) \
	    -Wl,-soname,libfake_cuda.so -Wl,--build-id=sha1 $(filter %.c,$^) -o $@
test-plugins: $(FAKE_CUDA)
$(cuda_tests) $(BUILD)/tests/test_vulkan_sensors: | $(FAKE_CUDA)
$(foreach f,$(wildcard tests/fake_cuda/*.c),$(eval CFLAGS_$(f) := $(cuda_test_flags)))
else
# Without the headers there is nothing that lint could look at.
$(BUILD)/syntax/tests/fake_cuda/%.ok: tests/fake_cuda/%.c
	@mkdir -p $(@D)
	@touch $@
endif
