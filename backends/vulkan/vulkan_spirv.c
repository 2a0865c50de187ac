/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_spirv.c -- float controls, switched on in a module where a device has
 * them.
 *
 * Without them a driver may flush subnormals and take NaN, infinities and signed zeros for absent
 * (Vulkan 1.2, appendix "Precision and Operation of SPIR-V Instructions").  Which of them a device
 * offers is known here alone, hence not in GLSL.  SPIR-V 1.5 has them without an extension: a
 * capability behind the others (section 2.4, logical layout), an execution mode behind the others.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"

enum {
    HEADER = 5,
    MAGIC = 0x07230203,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_EXECUTION_MODE_ID = 331,
    CAPABILITY_DENORM_PRESERVE = 4464,
    CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE = 4466,
    CAPABILITY_ROUNDING_MODE_RTE = 4467,
    MODE_DENORM_PRESERVE = 4459,
    MODE_SIGNED_ZERO_INF_NAN_PRESERVE = 4461,
    MODE_ROUNDING_MODE_RTE = 4462,
    CONTROLS = 6
};

typedef struct control {
    uint32_t capability, mode, width;
    bool is_on;
} control;

typedef struct layout {
    size_t capabilities, modes; /* ends of both sections, in words */
    uint32_t entry;             /* id of the entry point */
} layout;

static bool is_mode(uint32_t op)
{
    return op == OP_ENTRY_POINT || op == OP_EXECUTION_MODE || op == OP_EXECUTION_MODE_ID;
}

/* false: no module with an entry point. */
static bool find_layout(const uint32_t *words, size_t count, layout *out)
{
    *out = (layout){0, 0, 0};
    if (count < HEADER || words[0] != MAGIC)
        return false;
    for (size_t at = HEADER; at < count;) {
        const uint32_t op = words[at] & 0xffff, length = words[at] >> 16;
        if (length == 0 || length > count - at)
            return false;
        if (op == OP_CAPABILITY)
            out->capabilities = at + length;
        if (is_mode(op))
            out->modes = at + length;
        if (op == OP_ENTRY_POINT && length > 2)
            out->entry = words[at + 2];
        at += length;
    }
    return out->capabilities > 0 && out->modes > 0;
}

bool vulkan_promises_halves(const VkPhysicalDeviceFloatControlsProperties *floats)
{
    const VkShaderFloatControlsIndependence all = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;

    return floats->shaderDenormPreserveFloat16 && floats->denormBehaviorIndependence == all &&
           floats->shaderRoundingModeRTEFloat16 && floats->roundingModeIndependence == all &&
           floats->shaderSignedZeroInfNanPreserveFloat16;
}

static void list_controls(const VkPhysicalDeviceFloatControlsProperties *floats,
                          control list[CONTROLS])
{
    /* Where widths depend on one another one alone may not be set. */
    const VkShaderFloatControlsIndependence none = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
    const bool halves = vulkan_promises_halves(floats);
    const control all[CONTROLS] = {
        {CAPABILITY_DENORM_PRESERVE, MODE_DENORM_PRESERVE, 32,
         floats->shaderDenormPreserveFloat32 && floats->denormBehaviorIndependence != none},
        {CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE, MODE_SIGNED_ZERO_INF_NAN_PRESERVE, 32,
         floats->shaderSignedZeroInfNanPreserveFloat32},
        {CAPABILITY_ROUNDING_MODE_RTE, MODE_ROUNDING_MODE_RTE, 32,
         floats->shaderRoundingModeRTEFloat32 && floats->roundingModeIndependence != none},
        {CAPABILITY_DENORM_PRESERVE, MODE_DENORM_PRESERVE, 16, halves},
        {CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE, MODE_SIGNED_ZERO_INF_NAN_PRESERVE, 16, halves},
        {CAPABILITY_ROUNDING_MODE_RTE, MODE_ROUNDING_MODE_RTE, 16, halves}};

    memcpy(list, all, sizeof all);
}

uint32_t *vulkan_spirv_control(const uint32_t *words, size_t count,
                               const VkPhysicalDeviceFloatControlsProperties *floats, size_t *out)
{
    control controls[CONTROLS];
    layout l;

    list_controls(floats, controls);
    if (!find_layout(words, count, &l))
        return NULL;
    uint32_t *made = malloc((count + CONTROLS * 6) * sizeof *made);
    if (made == NULL)
        return NULL;
    size_t at = l.capabilities;
    memcpy(made, words, at * sizeof *made);
    for (int i = 0; i < CONTROLS; i++)
        if (controls[i].is_on) {
            made[at++] = 2u << 16 | OP_CAPABILITY;
            made[at++] = controls[i].capability;
        }
    memcpy(made + at, words + l.capabilities, (l.modes - l.capabilities) * sizeof *made);
    at += l.modes - l.capabilities;
    for (int i = 0; i < CONTROLS; i++)
        if (controls[i].is_on) {
            made[at++] = 4u << 16 | OP_EXECUTION_MODE;
            made[at++] = l.entry;
            made[at++] = controls[i].mode;
            made[at++] = controls[i].width;
        }
    memcpy(made + at, words + l.modes, (count - l.modes) * sizeof *made);
    *out = at + count - l.modes;
    return made;
}
