/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_stage.c -- see fake_cuda_stage.h. */
#include "tests/fake_cuda/fake_cuda_stage.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1024];
static assay_error_detail last;

static assay_status note(assay_status status, const char *what)
{
    snprintf(text, sizeof text, "%s", what);
    last = (assay_error_detail){.status = status};
    return status;
}

static assay_status note_detail(const assay_error_detail *detail, const char *what)
{
    snprintf(text, sizeof text, "%s", what);
    last = *detail;
    return detail->status;
}

static const assay_host host = {.struct_size = sizeof host,
                                .abi_version = ASSAY_PLUGIN_ABI,
                                .fail = note,
                                .fail_detail = note_detail};

/* ---- the driver ---- */

static const char *driver_path(void)
{
    static char path[1024];
    const char *build = getenv("ASSAY_BUILD");

    snprintf(path, sizeof path, "%s/tests/fake_cuda/libfake_cuda.so",
             build != NULL ? build : "build");
    return path;
}

/* POSIX lets object pointers stand for functions here; C has no cast for it. */
static void find(const char *name, void *function)
{
    void *handle = dlopen(driver_path(), RTLD_NOW | RTLD_LOCAL);

    ck_assert_msg(handle != NULL, "%s", dlerror());
    void *symbol = dlsym(handle, name);
    ck_assert_ptr_nonnull(symbol);
    memcpy(function, &symbol, sizeof symbol);
}

void cuda_stage_script(const char *words)
{
    void (*script)(const char *);

    find("fake_cuda_script", &script);
    script(words);
}

size_t cuda_stage_live(void)
{
    size_t (*live)(void);

    find("fake_cuda_live", &live);
    return live();
}

size_t cuda_stage_calls(const char *name)
{
    size_t (*calls)(const char *);

    find("fake_cuda_calls", &calls);
    return calls(name);
}

/* ---- opening ---- */

void cuda_stage_with(const char *variable, bool there)
{
    setenv(variable, there ? driver_path() : "/nonexistent/library.so", 1);
}

assay_status cuda_stage_try(const char *script, assay_instance **out)
{
    static const char *const others[] = {"ASSAY_CUDA_NVRTC", "ASSAY_CUDA_CUPTI", "ASSAY_NVML"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        setenv(others[i], "/nonexistent/library.so", 0);
    setenv("ASSAY_CUDA_DRIVER", driver_path(), 0);
    setenv("ASSAY_FAKE_CUDA", script, 1);
    return B->open(&host, out);
}

assay_instance *cuda_stage_open(const char *script)
{
    assay_instance *instance = NULL;

    OK(cuda_stage_try(script, &instance));
    return instance;
}

void cuda_stage_close(assay_instance *instance)
{
    B->close(instance);
    ck_assert_uint_eq(cuda_stage_live(), 0);
}

/* ---- buffers ---- */

assay_buffer cuda_stage_make(assay_instance *instance, uint64_t bytes)
{
    assay_buffer out;

    OK(B->alloc(instance, bytes, 0, &out));
    return out;
}

void cuda_stage_put(assay_instance *instance, assay_buffer to, const void *from, uint64_t bytes)
{
    union {
        const void *read;
        void *write;
    } p = {from}; /* an upload only reads what the piece points to */
    const assay_transfer piece = {.buffer = to, .host = p.write, .bytes = bytes};

    OK(B->upload(instance, &piece, 1));
}

void cuda_stage_get(assay_instance *instance, void *to, assay_buffer from, uint64_t bytes)
{
    const assay_transfer piece = {.buffer = from, .host = to, .bytes = bytes};

    OK(B->download(instance, &piece, 1));
}

/* ---- failures ---- */

const char *cuda_stage_text(void)
{
    return text;
}

const assay_error_detail *cuda_stage_detail(void)
{
    return &last;
}

void cuda_stage_fails(assay_status status, assay_status wanted, const char *says)
{
    ck_assert_msg(status == wanted, "status %d instead of %d: %s", (int)status, (int)wanted, text);
    ck_assert_msg(strstr(text, says) != NULL, "'%s' lacks '%s'", text, says);
}
