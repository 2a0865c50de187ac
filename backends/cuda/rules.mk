# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Built where a CUDA toolkit is, 13 or later: headers for their types, nvcc for the kernels.  The
# summary of scripts/probe says what is missing.  Libraries are opened at run time only.
cuda_root := $(firstword $(foreach r,$(CUDA_HOME) /usr/local/cuda,$(if $(wildcard $(r)/include/cuda.h),$(r))))
cuda_version := $(if $(cuda_root),$(shell sed -n 's/^.define CUDA_VERSION \([0-9]*\)...$$/\1/p' $(cuda_root)/include/cuda.h))
cuda_cupti := $(firstword $(wildcard $(cuda_root)/include/cupti.h $(cuda_root)/extras/CUPTI/include/cupti.h))
NVCC := $(wildcard $(cuda_root)/bin/nvcc)
ifneq ($(and $(filter-out 9 10 11 12,$(cuda_version)),$(cuda_cupti),$(NVCC),\
    $(wildcard $(cuda_root)/include/nvrtc.h),$(wildcard $(cuda_root)/include/cublasLt.h)),)
PLUGINS += cuda
cuda_RUNTIME_SRCS := $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS) backends/nvml.c
cuda_includes := -isystem $(cuda_root)/include -isystem $(cuda_root)/extras/CUPTI/include

# Machine code for each generation that this nvcc knows, PTX of the newest for what follows, and of
# the oldest for those between that are not listed (sm_87 and sm_110 of Jetson, whose code is their
# own): their driver compiles it.
nvcc_known := $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch))
nvcc_archs := $(filter $(nvcc_known),80 86 89 90 100 120)
# Contraction is off: what is fused says so, and bits do not depend on who compiled.
nvcc_as_text := $(firstword $(nvcc_archs)) $(lastword $(nvcc_archs))
NVCC_FLAGS := -O3 --fmad=false -std=c++17 \
    $(foreach a,$(nvcc_archs),-gencode arch=compute_$(a),code=sm_$(a)) \
    $(foreach a,$(nvcc_as_text),-gencode arch=compute_$(a),code=compute_$(a))
# Probes use what 9.0 alone has, which no other kernel does.
nvcc_flags_of = $(if $(filter %cuda_probe.cu,$(1)),$(subst _90,_90a,$(NVCC_FLAGS)),$(NVCC_FLAGS))

# Sanitized builds have the same kernels: those are made once, beside the builds.
cuda_made := $(if $(filter build build/%,$(BUILD)),build,$(BUILD))/cuda
cuda_CFLAGS := $(cuda_includes) -I$(cuda_made)

cuda_HASHED := $(sort $(wildcard backends/cuda/kernels/*.cu))
cuda_stems := $(patsubst backends/cuda/kernels/%.cu,%,$(cuda_HASHED))
cuda_fatbins := $(cuda_stems:%=$(cuda_made)/%.fatbin)
cuda_texts := $(cuda_stems:%=$(cuda_made)/%.text)
cuda_headers := $(wildcard backends/cuda/kernels/*.cuh backends/cuda/kernels/*.h)
cuda_sizes := $(BUILD)/gen/cuda_image_sizes.h

# What enters the hash of a .cu file beside its tokens: flags, and which nvcc this is.
nvcc_version := $(lastword $(shell $(NVCC) --version | grep -o 'V[0-9.]*'))
$(foreach f,$(cuda_HASHED),$(eval CFLAGS_$(f) := $(call nvcc_flags_of,$(f)) nvcc-$(nvcc_version)))

# What ptxas says of registers and spills is kept for the tests.
$(cuda_fatbins): $(cuda_made)/%.fatbin: backends/cuda/kernels/%.cu $(cuda_headers) $(NVCC) \
    backends/cuda/rules.mk
	@mkdir -p $(@D)
	$(call say,NVCC $@)
	$(Q)$(NVCC) -fatbin $(call nvcc_flags_of,$<) -Xptxas -v -I. $< -o $@ 2>$(@:.fatbin=.ptxas) || \
	    { cat $(@:.fatbin=.ptxas) >&2; exit 1; }

$(cuda_texts): $(cuda_made)/%.text: backends/cuda/kernels/%.cu $(cuda_headers) scripts/flatten
	@mkdir -p $(@D)
	$(Q)scripts/flatten $< >$@

$(cuda_sizes): $(cuda_fatbins)
	@mkdir -p $(@D)
	$(Q)for stem in $(cuda_stems:cuda_%=%); do \
	    echo "#define CUDA_IMAGE_SIZE_$$stem $$(stat -c %s $(cuda_made)/cuda_$$stem.fatbin)u"; \
	done >$@

$(BUILD)/plugin/cuda/backends/cuda/cuda_images.o: $(cuda_fatbins) $(cuda_texts) $(cuda_sizes)
$(BUILD)/syntax/backends/cuda/cuda_images.ok: $(cuda_sizes)
$(BUILD)/gen/cuda_source_hash.c: $(cuda_headers) $(cuda_sizes)

# The test of launches has a device of its own behind them.
$(BUILD)/tests/test_cuda_kernels: $(patsubst %.c,$(BUILD)/plugin/cuda/%.o, \
    $(wildcard backends/cuda/cuda_kernel_*.c backends/cuda/cuda_blaslt*.c) \
    $(addprefix backends/cuda/cuda_,rows.c images.c libraries.c)) $(BUILD)/plugin/cuda/source_hash.o
test_cuda_kernels_LIBS := $(BUILD)/lib/libassay.a
CFLAGS_tests/unit/test_cuda_kernels.c := $(cuda_includes) -DCUDA_MADE='"$(abspath $(cuda_made))"'
endif
