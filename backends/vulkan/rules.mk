# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Built where glslc and vulkan.h are; scripts/probe says why not. The loader is opened at run time.
# Slots of memory are our own; what host_queue.c and host_fault.c do with them stays as it is.
GLSLC ?= glslc
# Its libraries compile, too, and come in packages of their own.
vulkan_glslc := $(shell $(GLSLC) --version 2>/dev/null | tr -cs '[:alnum:].' _ | sed 's/_Target.*//')
vulkan_header := $(wildcard $(addsuffix /vulkan/vulkan.h,/usr/include /usr/local/include))
ifneq ($(and $(vulkan_glslc),$(vulkan_header)),)
PLUGINS += vulkan
vulkan_RUNTIME_SRCS := $(PLUGIN_RUNTIME_SRCS) $(filter-out runtime/host_memory.c,$(HOST_RUNTIME_SRCS)) backends/nvml.c
vulkan_HASHED := $(sort $(wildcard backends/vulkan/*.comp))
GLSLC_FLAGS := -O --target-env=vulkan1.2 -fshader-stage=compute

# Types are those of vulkan_types.glsl: shader, op, definitions.
vulkan_buffer_f32 := F32s
vulkan_buffer_f16 := F16s
vulkan_buffer_bf16 := BF16s
vulkan_types := f32 f16 bf16
vulkan_from = -DX=$(vulkan_buffer_$(1)) -DGET=get_$(1)
vulkan_to = -DY=$(vulkan_buffer_$(1)) -DPUT=put_$(1)
# Elements of a vector: 16 bytes of the wider type.
vulkan_lanes = -DLANES=$(if $(filter f32,$(1) $(2)),4,8) -DGET_LANES=get_lanes_$(1) -DPUT_LANES=put_lanes_$(2)
vulkan_narrow = $(if $(filter-out f32,$(1)),-DNARROW)
# Another compiler, of whatever date its file is, compiles all anew.
unused := $(call stamp,vulkan_glslc.txt,$(vulkan_glslc) $(GLSLC_FLAGS))
define vulkan_shader
vulkan_spirv += $$(BUILD)/gen/vulkan/$(1).h
vulkan_defined_$(2) += $(1):$(3)
$$(BUILD)/gen/vulkan/$(1).h: backends/vulkan/$(2).comp $$(wildcard backends/vulkan/*.glsl) backends/vulkan/rules.mk \
    $$(BUILD)/gen/vulkan_glslc.txt
	@mkdir -p $$(@D)
	$$(call say,GLSL $$@)
	$$(Q)$$(GLSLC) $$(GLSLC_FLAGS) -mfmt=c $(3) $$< -o $$@.words
	@{ echo 'static const uint32_t $(1)[] ='; cat $$@.words; echo ';'; } >$$@ && rm $$@.words
endef
vulkan_spirv :=
$(foreach op,add relu exp gelu softmax layer_norm rms_norm sum_reduce,$(foreach t,$(vulkan_types),$(eval \
    $(call vulkan_shader,$(op)_$(t),vulkan_$(op),$(call vulkan_from,$(t)) $(call vulkan_to,$(t)) $(call vulkan_narrow,$(t)) \
        $(call vulkan_lanes,$(t),$(t))))))
$(foreach f,$(vulkan_types),$(foreach t,$(vulkan_types),$(eval \
    $(call vulkan_shader,cast_$(f)_$(t),vulkan_cast,$(call vulkan_from,$(f)) $(call vulkan_to,$(t)) \
        $(call vulkan_narrow,$(f) $(t)) $(call vulkan_lanes,$(f),$(t)) $(if $(filter $(f),$(t)),-DSAME)))))
$(eval $(call vulkan_shader,matmul_f32,vulkan_matmul,))
$(foreach p,empty copy fma shared specialized,$(eval $(call vulkan_shader,probe_$(p),vulkan_probe_$(p),)))
# What enters the hash of a shader beside its tokens: who compiles it, how, and for which types.
$(foreach f,$(vulkan_HASHED),$(eval CFLAGS_$(f) := \
    $(GLSLC_FLAGS) glslc-$(vulkan_glslc) $(strip $(vulkan_defined_$(basename $(notdir $(f)))))))

$(BUILD)/plugin/vulkan/backends/vulkan/vulkan_shaders.o $(BUILD)/gen/vulkan_source_hash.c \
    $(BUILD)/syntax/backends/vulkan/vulkan_shaders.ok: $(vulkan_spirv)
else
SYNTAX_LACKS += backends/vulkan/%
endif
