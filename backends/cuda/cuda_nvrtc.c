/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_nvrtc.c -- CUDA C compiled at run time, for the device that is there.
 *
 * What was compiled is kept for the process: an instance after a recover, and the next one, load
 * it again without the compiler. */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cuda/cuda_instance.h"
#include "backends/cuda/cuda_libraries.h"
#include "runtime/host_opened.h"

enum { OPTIONS = 64, ARCHS = 64 };

#define NVRTC_CALLS(X)           \
    X(nvrtcVersion)              \
    X(nvrtcGetErrorString)       \
    X(nvrtcGetNumSupportedArchs) \
    X(nvrtcGetSupportedArchs)    \
    X(nvrtcCreateProgram)        \
    X(nvrtcDestroyProgram)       \
    X(nvrtcCompileProgram)       \
    X(nvrtcGetProgramLogSize)    \
    X(nvrtcGetProgramLog)        \
    X(nvrtcGetCUBINSize)         \
    X(nvrtcGetCUBIN)             \
    X(nvrtcGetPTXSize)           \
    X(nvrtcGetPTX)

#define X(name) __typeof__(&name) name;
typedef struct compiler {
    NVRTC_CALLS(X)
} compiler;
#undef X

/* ---- opening ---- */

#define X(name) {CUDA_NAME(name), offsetof(compiler, name)},
static const assay__opened_symbol symbols[] = {NVRTC_CALLS(X)};
#undef X

static assay__opened_spec spec = {
    .title = "NVRTC",
    .variable = "ASSAY_CUDA_NVRTC",
    .package = "the CUDA toolkit's NVRTC",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};
static compiler table;
static assay__opened opened = ASSAY__OPENED(&spec, &table, NULL);

static void find_places(void)
{
    static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", NULL};
    static const char *const last[] = {"libnvrtc.so.13", NULL};
    const char *const *places = cuda_places(sonames, NULL);

    spec.places = places != NULL ? places : last;
}

static assay_status open_compiler(const assay_instance *instance, const compiler **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *why = "";

    pthread_once(&once, find_places);
    *out = assay__opened_get(&opened, &why);
    return *out != NULL ? ASSAY_OK : cuda_fail(instance, ASSAY_UNAVAILABLE, "no NVRTC: %s", why);
}

assay_status cuda_nvrtc_identity(const assay_instance *instance, char *buf, size_t cap)
{
    const compiler *c;
    const void *address = NULL;
    char version[32];
    int major = 0, minor = 0;

    ASSAY_TRY(open_compiler(instance, &c));
    if (c->nvrtcVersion(&major, &minor) != NVRTC_SUCCESS)
        return cuda_fail(instance, ASSAY_UNAVAILABLE, "NVRTC does not tell its version");
    snprintf(version, sizeof version, "%d.%d", major, minor);
    memcpy(&address, &c->nvrtcVersion, sizeof address);
    if (assay__opened_identity(NULL, address, version, "", buf, cap) != ASSAY_OK)
        return cuda_fail(instance, ASSAY_UNAVAILABLE,
                         "libnvrtc: its file cannot be read, or its identity needs more than %zu "
                         "bytes",
                         cap);
    return ASSAY_OK;
}

/* ---- what was compiled before ---- */

typedef struct product {
    struct product *next;
    const char *text; /* of the source, borrowed */
    int arch;
    char *key;
    char *code;
} product;

static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER; /* also while the compiler runs */
static product *products;

static const product *find(const cuda_source *source, const char *key, int arch)
{
    const product *p = products;

    while (p != NULL && (p->text != source->text || p->arch != arch || strcmp(p->key, key) != 0))
        p = p->next;
    return p;
}

/* Takes `code`, also when it fails. */
static assay_status keep(const assay_instance *instance, const cuda_source *source, const char *key,
                         int arch, char *code)
{
    product *p = calloc(1, sizeof *p);
    char *copy = strdup(key);

    if (p == NULL || copy == NULL) {
        free(p);
        free(copy);
        free(code);
        return cuda_fail(instance, ASSAY_NOMEM, "%s: no memory", source->name);
    }
    *p = (product){.next = products, .text = source->text, .arch = arch, .key = copy, .code = code};
    products = p;
    return ASSAY_OK;
}

/* ---- options ---- */

typedef struct command {
    const char *options[OPTIONS];
    int count;
    bool wants_ptx; /* the compiler is older than the device: the driver does the rest */
    char arch[48], include[4096], more[4096];
} command;

/* Newest architecture that the compiler knows and that is not above this one; 0: none. */
static int nearest_arch(const compiler *c, int arch)
{
    int archs[ARCHS], count = 0, best = 0;

    if (c->nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count < 1 || count > ARCHS ||
        c->nvrtcGetSupportedArchs(archs) != NVRTC_SUCCESS)
        return 0;
    for (int i = 0; i < count; i++)
        if (archs[i] <= arch && archs[i] > best)
            best = archs[i];
    return best;
}

static bool names_arch(const char *option)
{
    return strncmp(option, "--gpu-architecture", 18) == 0 || strncmp(option, "-arch", 5) == 0;
}

/* Headers such as cuda_fp16.h lie in the toolkit, not in the compiler. */
static void add_includes(command *m)
{
    for (const char *const *root = cuda_roots(); *root != NULL; root++) {
        static const char *const folders[] = {"include", "targets/x86_64-linux/include"};
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            char file[4096];
            snprintf(file, sizeof file, "%.2000s/%s/cuda_fp16.h", *root, folders[i]);
            if (access(file, R_OK) != 0)
                continue;
            snprintf(m->include, sizeof m->include, "-I%.2000s/%s", *root, folders[i]);
            snprintf(m->more, sizeof m->more, "-I%.2000s/%s/cccl", *root, folders[i]);
            m->options[m->count++] = m->include;
            m->options[m->count++] = m->more;
            return;
        }
    }
}

static assay_status make_command(const assay_instance *instance, const compiler *c,
                                 const char *const *options, int arch, command *m)
{
    bool has_arch = false;

    for (; options != NULL && *options != NULL; options++) {
        if (m->count == OPTIONS - 4)
            return cuda_fail(instance, ASSAY_INVALID, "compiling: more than %d options",
                             OPTIONS - 4);
        if (names_arch(*options)) {
            has_arch = true;
            m->wants_ptx = strstr(*options, "compute_") != NULL; /* no machine code comes of it */
        }
        m->options[m->count++] = *options;
    }
    add_includes(m);
    if (has_arch)
        return ASSAY_OK;
    const int known = nearest_arch(c, arch);
    if (known == 0)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "compiling: this NVRTC knows no architecture for sm_%d; install a newer "
                         "one",
                         arch);
    m->wants_ptx = known != arch;
    snprintf(m->arch, sizeof m->arch, "--gpu-architecture=%s_%d", m->wants_ptx ? "compute" : "sm",
             known);
    m->options[m->count++] = m->arch;
    return ASSAY_OK;
}

/* ---- compiling ---- */

/* The compiler's own words; the first errors say most. */
static assay_status fail_compile(const assay_instance *instance, const compiler *c,
                                 nvrtcProgram program, const cuda_source *source,
                                 nvrtcResult result)
{
    size_t size = 0;
    char *log = NULL;

    if (c->nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1)
        log = calloc(1, size + 1);
    if (log != NULL && c->nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS)
        log[0] = '\0';
    const assay_status status =
        cuda_fail(instance, ASSAY_INVALID, "%s does not compile (%s): %.800s", source->name,
                  c->nvrtcGetErrorString(result), log != NULL ? log : "no log");
    free(log);
    return status;
}

static assay_status fetch(const assay_instance *instance, const compiler *c, nvrtcProgram program,
                          const cuda_source *source, bool wants_ptx, char **out)
{
    size_t size = 0;
    nvrtcResult result =
        wants_ptx ? c->nvrtcGetPTXSize(program, &size) : c->nvrtcGetCUBINSize(program, &size);

    if (result != NVRTC_SUCCESS || size == 0)
        return fail_compile(instance, c, program, source, result);
    char *code = malloc(size);
    if (code == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "%s: no memory for %zu bytes of code", source->name,
                         size);
    result = wants_ptx ? c->nvrtcGetPTX(program, code) : c->nvrtcGetCUBIN(program, code);
    if (result != NVRTC_SUCCESS) {
        free(code);
        return fail_compile(instance, c, program, source, result);
    }
    *out = code;
    return ASSAY_OK;
}

static assay_status run(const assay_instance *instance, const compiler *c,
                        const cuda_source *source, const command *m, char **out)
{
    nvrtcProgram program = NULL;
    nvrtcResult result = c->nvrtcCreateProgram(&program, source->text, source->name, 0, NULL, NULL);

    if (result != NVRTC_SUCCESS)
        return cuda_fail(instance, ASSAY_INVALID, "%s: NVRTC refuses it: %s", source->name,
                         c->nvrtcGetErrorString(result));
    result = c->nvrtcCompileProgram(program, m->count, m->options);
    const assay_status status = result == NVRTC_SUCCESS
                                    ? fetch(instance, c, program, source, m->wants_ptx, out)
                                    : fail_compile(instance, c, program, source, result);
    (void)c->nvrtcDestroyProgram(&program);
    return status;
}

static assay_status compile_now(assay_instance *instance, const cuda_source *source,
                                const char *const *options, const char *key, int arch)
{
    const compiler *c;
    char *code = NULL;

    ASSAY_TRY(open_compiler(instance, &c));
    command *m = calloc(1, sizeof *m);
    if (m == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "%s: no memory", source->name);
    assay_status status = make_command(instance, c, options, arch, m);
    if (status == ASSAY_OK)
        status = run(instance, c, source, m, &code);
    free(m);
    ASSAY_TRY(status);
    cuda_count(instance, CUDA_COUNT_compilations, 1);
    return keep(instance, source, key, arch, code);
}

assay_status cuda_compile(assay_instance *instance, const cuda_source *source,
                          const char *const *options, const char *key, const void **out)
{
    const cuda_limits *limits = cuda_device_limits(instance);
    const int arch = 10 * limits->compute_major + limits->compute_minor;
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&keeping);
    const product *p = find(source, key, arch);
    if (p == NULL) {
        const uint64_t begin = cuda_now_ns();
        status = compile_now(instance, source, options, key, arch);
        cuda_count_since(instance, CUDA_COUNT_code_ns, begin);
        p = status == ASSAY_OK ? products : NULL;
    }
    if (p != NULL)
        *out = p->code;
    pthread_mutex_unlock(&keeping);
    return status;
}
