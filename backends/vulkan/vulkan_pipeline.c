/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_pipeline.c -- pipelines by shader and constants, and the driver's cache.
 *
 * The cache lies in memory; with $ASSAY_CACHE_DIR also on disk, a file for each device and driver,
 * which is checked before the driver sees it. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/vulkan/vulkan.h"
#include "backends/vulkan/vulkan_cache_header.h"

/* ---- the cache on disk ---- */

/* false: none is wanted. */
static bool cache_path(const vulkan_found *f, char *path, size_t cap)
{
    const char *folder = getenv("ASSAY_CACHE_DIR");

    if (folder == NULL || folder[0] == '\0')
        return false;
    const int length =
        snprintf(path, cap, "%s/vulkan-%s-%08x.bin", folder, f->uuid, f->properties.driverVersion);
    return length > 0 && (size_t)length < cap;
}

static void *read_file(const char *path, size_t *size)
{
    enum { LIMIT = 256 << 20 };
    FILE *file = fopen(path, "rbe");
    void *bytes = NULL;

    *size = 0;
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long length = ftell(file);
        bytes = length > 0 && length < LIMIT ? malloc((size_t)length) : NULL;
        rewind(file);
        if (bytes != NULL)
            *size = fread(bytes, 1, (size_t)length, file);
    }
    (void)fclose(file);
    return bytes;
}

/* Aside and renamed: whoever reads meanwhile sees the old one or the new one.  The name aside is
 * nobody else's, also where two instances of one process end at once. */
static void write_file(const char *path, const void *bytes, size_t size)
{
    char aside[PATH_MAX + 32];

    (void)snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    const int descriptor = mkostemp(aside, O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL) {
        if (descriptor >= 0) {
            (void)close(descriptor);
            (void)remove(aside);
        }
        return;
    }
    const bool good = fwrite(bytes, 1, size, file) == size;
    if (fclose(file) != 0 || !good || rename(aside, path) != 0)
        (void)remove(aside);
}

assay_status vulkan_cache_open(vulkan_instance *v)
{
    vulkan_device *d = v->device;
    const VkPhysicalDeviceProperties *p = &d->found->properties;
    char path[PATH_MAX];
    size_t size = 0;
    void *bytes = cache_path(d->found, path, sizeof path) ? read_file(path, &size) : NULL;
    size = bytes != NULL ? vulkan_cache_body(bytes, size) : 0;
    const bool fits = bytes != NULL && vulkan_cache_fits(bytes, size, p->vendorID, p->deviceID,
                                                         p->pipelineCacheUUID);
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = fits ? size : 0,
                                            .pInitialData = fits ? bytes : NULL};
    const VkResult result = d->call.CreatePipelineCache(d->handle, &info, NULL, &d->cache);

    free(bytes);
    VULKAN_TRY(v, "vkCreatePipelineCache", result);
    return ASSAY_OK;
}

static void keep_cache(const vulkan_device *d)
{
    char path[PATH_MAX];
    size_t size = 0;

    if (!cache_path(d->found, path, sizeof path) ||
        d->call.GetPipelineCacheData(d->handle, d->cache, &size, NULL) != VK_SUCCESS)
        return;
    unsigned char *bytes = malloc(size + VULKAN_CACHE_SEAL);
    if (bytes != NULL && size > 0 &&
        d->call.GetPipelineCacheData(d->handle, d->cache, &size, bytes) == VK_SUCCESS) {
        vulkan_cache_seal(bytes, size, bytes + size);
        write_file(path, bytes, size + VULKAN_CACHE_SEAL);
    }
    free(bytes);
}

void vulkan_cache_close(vulkan_device *d)
{
    if (d->cache == VK_NULL_HANDLE)
        return;
    keep_cache(d);
    d->call.DestroyPipelineCache(d->handle, d->cache, NULL);
    d->cache = VK_NULL_HANDLE;
}

/* ---- pipelines ---- */

static VkResult make_module(const vulkan_device *d, const vulkan_code *code, VkShaderModule *out)
{
    size_t count = 0;
    uint32_t *words =
        vulkan_spirv_control(code->words, code->word_count, &d->found->floats, &count);

    if (words == NULL)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = count * sizeof *words,
                                           .pCode = words};
    const VkResult result = d->call.CreateShaderModule(d->handle, &info, NULL, out);
    free(words);
    return result;
}

static VkResult make_handle(const vulkan_device *d, VkShaderModule module, vulkan_pipeline *p)
{
    enum { COUNT = VULKAN_CONSTANTS + 1 };
    VkSpecializationMapEntry entries[COUNT];
    uint32_t values[COUNT];

    memcpy(values, p->constants, sizeof p->constants);
    values[VULKAN_CONSTANTS] = vulkan_promises_halves(&d->found->floats);
    for (uint32_t i = 0; i < COUNT; i++)
        entries[i] = (VkSpecializationMapEntry){
            .constantID = i, .offset = i * (uint32_t)sizeof(uint32_t), .size = sizeof(uint32_t)};
    const VkSpecializationInfo constants = {
        .mapEntryCount = COUNT, .pMapEntries = entries, .dataSize = sizeof values, .pData = values};
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = d->layout};

    return d->call.CreateComputePipelines(d->handle, d->cache, 1, &info, NULL, &p->handle);
}

static assay_status make(vulkan_instance *v, vulkan_shader shader, const uint32_t *constants,
                         vulkan_pipeline **out)
{
    const vulkan_device *d = v->device;
    VkShaderModule module = VK_NULL_HANDLE;
    vulkan_pipeline *p = calloc(1, sizeof *p);

    if (p == NULL)
        return assay__host_fail(&v->base, ASSAY_NOMEM, "no memory for a pipeline");
    p->shader = shader;
    memcpy(p->constants, constants, sizeof p->constants);
    VkResult result = make_module(d, &vulkan_codes[shader], &module);
    if (result == VK_SUCCESS)
        result = make_handle(d, module, p);
    d->call.DestroyShaderModule(d->handle, module, NULL);
    if (result != VK_SUCCESS) {
        free(p);
        return vulkan_fail(v, vulkan_codes[shader].name, result);
    }
    *out = p;
    return ASSAY_OK;
}

assay_status vulkan_pipeline_get(vulkan_instance *v, vulkan_shader shader,
                                 const uint32_t constants[VULKAN_CONSTANTS], vulkan_pipeline **out)
{
    vulkan_device *d = v->device;
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&d->lock);
    vulkan_pipeline *p = d->pipelines;
    while (p != NULL &&
           (p->shader != shader || memcmp(p->constants, constants, sizeof p->constants) != 0))
        p = p->next;
    if (p == NULL) { /* under the lock: two that ask for the same one make it once */
        status = make(v, shader, constants, &p);
        if (status == ASSAY_OK) {
            p->next = d->pipelines;
            d->pipelines = p;
            vulkan_count(v, VULKAN_COUNT_pipelines, 1);
        }
    }
    pthread_mutex_unlock(&d->lock);
    *out = p;
    return status;
}

void vulkan_pipelines_clear(vulkan_device *d)
{
    while (d->pipelines != NULL) {
        vulkan_pipeline *p = d->pipelines;
        d->pipelines = p->next;
        d->call.DestroyPipeline(d->handle, p->handle, NULL);
        free(p);
    }
}
