/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_script.c -- the script, failures by name, devices, contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/fake_cuda_state.h"

fake_driver fake = {.lock = PTHREAD_MUTEX_INITIALIZER,
                    .version = CUDA_VERSION,
                    .devices = 1,
                    .sm = 90,
                    .order = {0, 1, 2, 3, 4, 5, 6, 7},
                    .memory = (size_t)1 << 30,
                    .ns = 1000.0,
                    .clock_mhz = 1980,
                    .reasons = 4,
                    .ghz = 2.0,
                    .stretch = 1.0,
                    .bytes_per_ns = 1000.0,
                    .round_ns = 100.0};

static _Thread_local struct CUctx_st *current;

struct CUctx_st *fake_current(void)
{
    return current;
}

void fake_set_current(struct CUctx_st *context)
{
    current = context;
}

/* ---- the script ---- */

static void read_order(const char *list)
{
    for (int i = 0; i < FAKE_DEVICES && *list != '\0'; i++) {
        fake.order[i] = (int)strtol(list, NULL, 10);
        list += strcspn(list, ",");
        list += *list == ',';
    }
}

static void read_fail(const char *value)
{
    fake_fail *f = fake.fails;
    char name[48];
    long at, code, times = 1;

    if (sscanf(value, "%47[^:]:%ld:%ld:%ld", name, &at, &code, &times) < 3)
        return;
    for (int i = 0; i < FAKE_FAILS - 1 && f->is_set; i++)
        f++;
    memcpy(f->name, name, sizeof name);
    f->after = at - 1;
    f->times = times;
    f->result = (CUresult)code;
    f->is_set = true;
}

static void read_number(const char *name, const char *value)
{
    const double number = strtod(value, NULL);

    if (strcmp(name, "version") == 0)
        fake.version = (int)number;
    else if (strcmp(name, "init") == 0)
        fake.init = (int)number;
    else if (strcmp(name, "devices") == 0)
        fake.devices = (int)number;
    else if (strcmp(name, "sm") == 0)
        fake.sm = (int)number;
    else if (strcmp(name, "memory") == 0)
        fake.memory = (size_t)number;
    else if (strcmp(name, "ns") == 0)
        fake.ns = number;
    else if (strcmp(name, "gap") == 0)
        fake.gap = number;
    else if (strcmp(name, "ghz") == 0)
        fake.ghz = number;
    else if (strcmp(name, "stretch") == 0)
        fake.stretch = number;
    else if (strcmp(name, "bytes_per_ns") == 0)
        fake.bytes_per_ns = number;
    else if (strcmp(name, "round_ns") == 0)
        fake.round_ns = number;
    else if (strcmp(name, "cupti") == 0)
        fake.cupti = (int)number;
    else if (strcmp(name, "lose") == 0)
        fake.lose = (size_t)number;
    else if (strcmp(name, "dropped") == 0)
        fake.dropped = (size_t)number;
    else if (strcmp(name, "clock") == 0)
        fake.clock_mhz = (unsigned)number;
    else if (strcmp(name, "reasons") == 0)
        fake.reasons = (unsigned long long)number;
    else if (strcmp(name, "keep") == 0)
        fake.keep = (size_t)number;
    else if (strcmp(name, "keepafter") == 0)
        fake.keep_after = (size_t)number;
}

static void read_word(char *word)
{
    char *value = strchr(word, '=');

    if (value != NULL)
        *value++ = '\0';
    if (strcmp(word, "hold") == 0)
        fake.is_held = true;
    else if (strcmp(word, "release") == 0) {
        fake.is_held = false;
        fake.hold++;
    } else if (strcmp(word, "nocapture") == 0)
        fake.cannot_capture = true;
    else if (value != NULL && strcmp(word, "order") == 0)
        read_order(value);
    else if (value != NULL && strcmp(word, "fail") == 0)
        read_fail(value);
    else if (value != NULL)
        read_number(word, value);
}

/* Lock held. */
static void read_script(const char *words)
{
    char *copy = strdup(words), *rest = copy;

    for (char *word; copy != NULL && (word = strsep(&rest, " ")) != NULL;)
        read_word(word);
    free(copy);
}

void fake_cuda_script(const char *words)
{
    pthread_mutex_lock(&fake.lock);
    read_script(words);
    pthread_mutex_unlock(&fake.lock);
}

size_t fake_cuda_live(void)
{
    pthread_mutex_lock(&fake.lock);
    const size_t live = fake.live;
    pthread_mutex_unlock(&fake.lock);
    return live;
}

/* Lock held; names are literals of this library or of the test. */
static size_t *calls_of(const char *name)
{
    fake_count *c = fake.counts;

    while (c->name != NULL && strcmp(c->name, name) != 0)
        c++;
    c->name = c->name != NULL ? c->name : name;
    return &c->calls;
}

size_t fake_cuda_calls(const char *name)
{
    pthread_mutex_lock(&fake.lock);
    const size_t calls = *calls_of(name);
    pthread_mutex_unlock(&fake.lock);
    return calls;
}

/* ---- failing ---- */

static CUresult planned(const char *name)
{
    for (int i = 0; i < FAKE_FAILS; i++) {
        fake_fail *f = &fake.fails[i];
        if (!f->is_set || strcmp(f->name, name) != 0)
            continue;
        if (f->after > 0) {
            f->after--;
            continue;
        }
        f->is_set = --f->times > 0;
        return f->result;
    }
    return CUDA_SUCCESS;
}

CUresult fake_begin(const char *name, bool needs_context)
{
    pthread_mutex_lock(&fake.lock);
    ++*calls_of(name);
    const CUresult result = planned(name);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fake.is_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!needs_context)
        return CUDA_SUCCESS;
    return current == NULL ? CUDA_ERROR_INVALID_CONTEXT : current->poison;
}

static bool poisons(CUresult result)
{
    return (result >= CUDA_ERROR_ASSERT && result <= CUDA_ERROR_LAUNCH_FAILED &&
            result != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED &&
            result != CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED) ||
           result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT ||
           result == CUDA_ERROR_ECC_UNCORRECTABLE;
}

CUresult fake_end(CUresult result)
{
    if (poisons(result) && current != NULL)
        current->poison = result;
    pthread_mutex_unlock(&fake.lock);
    return result;
}

/* ---- the driver and its devices ---- */

CUresult CUDAAPI cuInit(unsigned int flags)
{
    const char *script = getenv("ASSAY_FAKE_CUDA");

    (void)flags;
    pthread_mutex_lock(&fake.lock);
    if (!fake.is_ready && script != NULL)
        read_script(script);
    fake.is_ready = fake.init == 0;
    ++*calls_of("cuInit");
    return fake_end((CUresult)fake.init);
}

/* Before cuInit, too. */
CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    const char *script = getenv("ASSAY_FAKE_CUDA");

    pthread_mutex_lock(&fake.lock);
    if (!fake.is_ready && script != NULL)
        read_script(script);
    *version = fake.version;
    return fake_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return *text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
    *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access" : NULL;
    return *text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
    FAKE_CALL("cuDeviceGetCount", false, *count = fake.devices, CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
    FAKE_CALL("cuDeviceGet", false,
              ordinal < fake.devices ? (*device = ordinal, CUDA_SUCCESS)
                                     : CUDA_ERROR_INVALID_DEVICE);
}

CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev)
{
    FAKE_CALL("cuDeviceGetName", false, snprintf(name, (size_t)len, "Fake GPU %d", fake.order[dev]),
              CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    FAKE_CALL("cuDeviceGetUuid", false,
              memset(uuid->bytes, 0x10 + fake.order[dev], sizeof uuid->bytes), CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    FAKE_CALL("cuDeviceGetPCIBusId", false,
              snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", fake.order[dev] + 1), CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    (void)dev;
    FAKE_CALL("cuDeviceTotalMem", false, *bytes = fake.memory, CUDA_SUCCESS);
}

static int attribute(CUdevice_attribute attrib, CUdevice dev)
{
    switch (attrib) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return fake.sm / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return fake.sm % 10;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return fake.order[dev] + 1;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        return 0;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return 4;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        return 0x7fffffff;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        return 65535;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return 1 << 22;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return 232448;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return 233472;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
        return 1;
    default:
        return 1024; /* threads of a block, of its dimensions; more than enough registers */
    }
}

CUresult CUDAAPI cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    FAKE_CALL("cuDeviceGetAttribute", false, *pi = attribute(attrib, dev), CUDA_SUCCESS);
}

/* Devices of even numbers reach one another, and so do those of odd ones. */
CUresult CUDAAPI cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    FAKE_CALL("cuDeviceCanAccessPeer", false, *canAccessPeer = (dev - peerDev) % 2 == 0,
              CUDA_SUCCESS);
}

/* ---- contexts ---- */

static CUresult make_context(CUcontext *pctx, CUdevice dev)
{
    struct CUctx_st *context = calloc(1, sizeof *context);

    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->device = dev;
    current = context;
    fake.live++;
    *pctx = context;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxCreate(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
                             unsigned int flags, CUdevice dev)
{
    (void)ctxCreateParams;
    (void)flags;
    FAKE_CALL("cuCtxCreate", false, make_context(pctx, dev));
}

/* What it held goes with it. */
static CUresult destroy_context(struct CUctx_st *context)
{
    for (fake_block **link = &fake.blocks; *link != NULL;) {
        fake_block *b = *link;
        if (b->context != context) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        if (!b->is_host)
            fake.used[context->device] -= b->bytes;
        if (!b->is_registered)
            free(b->memory);
        free(b);
        fake.live--;
    }
    if (current == context)
        current = NULL;
    free(context);
    fake.live--;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxDestroy(CUcontext ctx)
{
    FAKE_CALL("cuCtxDestroy", false, destroy_context(ctx));
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *pctx)
{
    FAKE_CALL("cuCtxGetCurrent", false, *pctx = current, CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx)
{
    FAKE_CALL("cuCtxSetCurrent", false, current = ctx, CUDA_SUCCESS);
}
