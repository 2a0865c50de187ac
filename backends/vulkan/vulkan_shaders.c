/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_shaders.c -- the shaders as the build made them, see rules.mk. */
#include "backends/vulkan/vulkan.h"

#include "gen/vulkan/add_bf16.h"
#include "gen/vulkan/add_f16.h"
#include "gen/vulkan/add_f32.h"
#include "gen/vulkan/cast_bf16_bf16.h"
#include "gen/vulkan/cast_bf16_f16.h"
#include "gen/vulkan/cast_bf16_f32.h"
#include "gen/vulkan/cast_f16_bf16.h"
#include "gen/vulkan/cast_f16_f16.h"
#include "gen/vulkan/cast_f16_f32.h"
#include "gen/vulkan/cast_f32_bf16.h"
#include "gen/vulkan/cast_f32_f16.h"
#include "gen/vulkan/cast_f32_f32.h"
#include "gen/vulkan/exp_bf16.h"
#include "gen/vulkan/exp_f16.h"
#include "gen/vulkan/exp_f32.h"
#include "gen/vulkan/gelu_bf16.h"
#include "gen/vulkan/gelu_f16.h"
#include "gen/vulkan/gelu_f32.h"
#include "gen/vulkan/layer_norm_bf16.h"
#include "gen/vulkan/layer_norm_f16.h"
#include "gen/vulkan/layer_norm_f32.h"
#include "gen/vulkan/matmul_f32.h"
#include "gen/vulkan/probe_copy.h"
#include "gen/vulkan/probe_empty.h"
#include "gen/vulkan/probe_fma.h"
#include "gen/vulkan/probe_shared.h"
#include "gen/vulkan/probe_specialized.h"
#include "gen/vulkan/relu_bf16.h"
#include "gen/vulkan/relu_f16.h"
#include "gen/vulkan/relu_f32.h"
#include "gen/vulkan/rms_norm_bf16.h"
#include "gen/vulkan/rms_norm_f16.h"
#include "gen/vulkan/rms_norm_f32.h"
#include "gen/vulkan/softmax_bf16.h"
#include "gen/vulkan/softmax_f16.h"
#include "gen/vulkan/softmax_f32.h"
#include "gen/vulkan/sum_reduce_bf16.h"
#include "gen/vulkan/sum_reduce_f16.h"
#include "gen/vulkan/sum_reduce_f32.h"

const vulkan_code vulkan_codes[VULKAN_SHADER_COUNT] = {
#define X(name_, narrow)        \
    [VULKAN_SHADER_##name_] = { \
        .name = #name_, .words = name_, .word_count = sizeof name_ / 4, .is_narrow = narrow},
    VULKAN_SHADERS(X)
#undef X
};
