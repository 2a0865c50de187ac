/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_error.c -- what the driver's results mean for an instance. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backends/cuda/cuda_instance.h"

static _Thread_local char last_text[1024];
static _Thread_local assay_error_detail last_detail; /* what belongs to the text */

const char *cuda_last_text(void)
{
    return last_text;
}

const assay_error_detail *cuda_last_detail(void)
{
    return &last_detail;
}

void cuda_clear_text(void)
{
    last_text[0] = '\0';
    last_detail = (assay_error_detail){.status = ASSAY_OK};
}

/* Aside first: an argument may be the old text. */
#define KEEP_TEXT(format)                              \
    do {                                               \
        char text_[sizeof last_text];                  \
        va_list args_;                                 \
        va_start(args_, format);                       \
        vsnprintf(text_, sizeof text_, format, args_); \
        va_end(args_);                                 \
        memcpy(last_text, text_, sizeof text_);        \
    } while (0)

assay_status cuda_fail(const assay_instance *instance, assay_status status, const char *format, ...)
{
    KEEP_TEXT(format);
    last_detail = (assay_error_detail){.status = status};
    if (instance == NULL || instance->host == NULL || instance->host->fail == NULL)
        return status;
    return instance->host->fail(status, last_text);
}

assay_status cuda_fail_detail(const assay_instance *instance, const assay_error_detail *detail,
                              const char *format, ...)
{
    KEEP_TEXT(format);
    /* Hosts of before know no details. */
    if (instance->host == NULL || instance->host->struct_size < sizeof(assay_host) ||
        instance->host->fail_detail == NULL)
        return cuda_fail(instance, detail->status, "%s", last_text);
    last_detail = *detail;
    return instance->host->fail_detail(detail, last_text);
}

/* After these every call on the context fails with the same error until it is destroyed: the
 * driver's manual calls them errors that leave the process in an inconsistent state. */
static bool poisons(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}

static assay_status fail_memory(const assay_instance *instance, const char *what)
{
    size_t free_bytes = 0, all_bytes = 0;

    (void)instance->cu->cuMemGetInfo(&free_bytes, &all_bytes);
    const assay_error_detail detail = {.status = ASSAY_NOMEM,
                                       .available_bytes = free_bytes,
                                       .driver_code = CUDA_ERROR_OUT_OF_MEMORY};
    return cuda_fail_detail(instance, &detail,
                            "%s: the device has no memory for it, %zu of its %zu bytes are free; "
                            "free buffers or choose a smaller problem",
                            what, free_bytes, all_bytes);
}

assay_status cuda_check(assay_instance *instance, CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return ASSAY_OK;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return fail_memory(instance, what);
    const bool is_lost = poisons(result);
    const assay_error_detail detail = {.status = is_lost ? ASSAY_DEVICE_LOST : ASSAY_DEVICE,
                                       .generation = is_lost ? instance->generation : 0,
                                       .device = (uint32_t)instance->device,
                                       .driver_code = (int64_t)result};
    if (is_lost && !atomic_exchange(&instance->is_lost, true))
        cuda_count(instance, CUDA_COUNT_losses, 1);
    return cuda_fail_detail(instance, &detail, "%s: %s (CUDA error %d): %s%s", what,
                            cuda_result_name(instance->cu, result), (int)result,
                            cuda_result_text(instance->cu, result),
                            is_lost ? "; the device is lost, recover takes it anew" : "");
}

assay_status cuda_fail_lost(const assay_instance *instance, const char *what)
{
    const assay_error_detail detail = {.status = ASSAY_DEVICE_LOST,
                                       .generation = instance->generation,
                                       .device = (uint32_t)instance->device};

    return cuda_fail_detail(instance, &detail,
                            "%s: the device is lost (generation %llu); recover takes it anew, "
                            "buffers from before are void",
                            what, (unsigned long long)instance->generation);
}

assay_status cuda_fail_generation(const assay_instance *instance, const char *what)
{
    const assay_error_detail detail = {.status = ASSAY_GENERATION,
                                       .generation = instance->generation};

    return cuda_fail_detail(instance, &detail,
                            "%s is from before the device was recovered, which is at generation "
                            "%llu; make it anew",
                            what, (unsigned long long)instance->generation);
}
