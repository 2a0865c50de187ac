/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_rows.c -- stands in for the kernels and cuBLASLt of backends/cuda. */
#include "tests/fake_cuda/fake_cuda_rows.h"

#include <stdio.h>
#include <string.h>

#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_manifest.h"

static const unsigned char code[] = "FAKE code";
static const unsigned char elsewhere[] = "code of another machine";
static const cuda_image image = {"fake.cu", code, sizeof code};
static const cuda_image foreign = {"foreign.cu", elsewhere, sizeof elsewhere};
const cuda_image cuda_image_judge = {"cuda_judge.cu", code, sizeof code};
const cuda_image cuda_image_probe = {"cuda_probe.cu", code, sizeof code};
const cuda_image cuda_image_shown = {"cuda_shown.cu", code, sizeof code};
const cuda_image cuda_image_digest = {"cuda_digest.cu", code, sizeof code};
static const cuda_grid one = {.groups = {1, 1, 1}, .threads = {1, 1, 1}};

fake_shape fake_row_shape;
const char *fake_row_source = "";
size_t fake_row_bytes;
uint64_t fake_row_space_at;

static CUdeviceptr address(const assay_launch *launch, uint32_t operand)
{
    return (CUdeviceptr)(uintptr_t)assay_tensor_data(&launch->operands[operand]);
}

assay_status fake_row_add(const assay_launch *launch)
{
    CUdeviceptr a = address(launch, 0), b = address(launch, 1), y = address(launch, 2);
    uint64_t n = (uint64_t)launch->operands[2].dims[0];
    void *arguments[] = {&a, &b, &y, &n};
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, &image, "fake_add", &function));
    return cuda_enqueue(launch, function, &one, arguments);
}

assay_status fake_row_count(const assay_launch *launch)
{
    CUdeviceptr p = address(launch, 0);
    void *arguments[] = {&p};
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, &image, "fake_count", &function));
    return cuda_enqueue(launch, function, &one, arguments);
}

assay_status fake_row_bad(const assay_launch *launch)
{
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, &image, "fake_bad", &function));
    return cuda_enqueue(launch, function, &one, NULL);
}

assay_status fake_row_refuses(const assay_launch *launch)
{
    return cuda_fail(launch->instance, ASSAY_NUMERIC, "the kernel says no");
}

assay_status fake_row_lost_name(const assay_launch *launch)
{
    CUfunction function;

    return cuda_function(launch->instance, &image, "no_such_function", &function);
}

assay_status fake_row_foreign_code(const assay_launch *launch)
{
    CUfunction function;

    return cuda_function(launch->instance, &foreign, "fake_add", &function);
}

assay_status fake_row_compiled(const assay_launch *launch)
{
    const cuda_source source = {"made.cu", fake_row_source};
    static const char *const options[] = {"-DVALUE=3", NULL};
    CUfunction function;

    return cuda_compiled(launch->instance, &source, options, "made", &function);
}

assay_status fake_row_grid(const assay_launch *launch)
{
    cuda_grid grid = {.shared_bytes = fake_row_shape.shared_bytes};
    CUfunction function;

    memcpy(grid.groups, fake_row_shape.groups, sizeof grid.groups);
    memcpy(grid.threads, fake_row_shape.threads, sizeof grid.threads);
    ASSAY_TRY(cuda_function(launch->instance, &image, "assay_empty", &function));
    return cuda_enqueue(launch, function, &grid, NULL);
}

assay_status fake_row_space(const assay_launch *launch)
{
    CUdeviceptr at;

    ASSAY_TRY(cuda_workspace(launch, fake_row_bytes, &at));
    fake_row_space_at = at;
    return ASSAY_OK;
}

/* ---- what the linker wants ---- */

static const char *const sources[] = {"tests/fake_cuda/fake_cuda_rows.c", NULL};

const assay_kernel_desc cuda_rows[] = {{
    .struct_size = sizeof(assay_kernel_desc),
    .name = "fake_add_f32",
    .op = ASSAY_OP_add,
    .dtype_count = 3,
    .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},
    .sources = sources,
    .claims = ASSAY_NO_CLAIMS,
    .entry_point = "fake_add",
    .run = fake_row_add,
}};
const size_t cuda_row_count = sizeof cuda_rows / sizeof *cuda_rows;
/* Weak: linked as a whole plug-in, the build makes the real one. */
__attribute__((weak)) const assay_source_hash assay__source_hashes[ASSAY_SOURCE_COUNT];
CUDA_MANIFEST(cuda_rows);

assay_status cuda_blaslt_identity(assay_instance *instance, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s",
             *cuda_blaslt_place(instance) != NULL ? "soname=used\n" : "soname=new\n");
    return ASSAY_OK;
}

void cuda_blaslt_close(assay_instance *instance)
{
    *cuda_blaslt_place(instance) = NULL;
}
