/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_stream.c -- streams, events, graphs and kernels: all runs at once, and
 * time is what the script counts. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda_state.h"

/* ---- streams ---- */

static void *made(size_t bytes)
{
    void *out = calloc(1, bytes);

    fake.live += out != NULL;
    return out;
}

static CUresult gone(void *memory)
{
    free(memory);
    fake.live--;
    return CUDA_SUCCESS;
}

static CUresult make_stream(CUstream *out)
{
    struct CUstream_st *s = made(sizeof *s);

    if (s == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    s->context = fake_current();
    *out = s;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    (void)Flags;
    FAKE_CALL("cuStreamCreate", true, make_stream(phStream));
}

/* Also on a poisoned context: what is destroyed there is not counted as alive. */
CUresult CUDAAPI cuStreamDestroy(CUstream hStream)
{
    FAKE_CALL("cuStreamDestroy", false, gone(hStream));
}

/* Faults of what ran before are told by whoever waits. */
static CUresult wait_for(const struct CUstream_st *s)
{
    const CUresult coming = s->context->coming;

    s->context->coming = CUDA_SUCCESS;
    return coming;
}

static CUresult wait_for_stream(const struct CUstream_st *s)
{
    if (s->is_capturing)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    fake.hold++; /* whatever was held has passed */
    return wait_for(s);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream hStream)
{
    FAKE_CALL("cuStreamSynchronize", true, wait_for_stream(hStream));
}

/* ---- events ---- */

static CUresult make_event(CUevent *out)
{
    *out = made(sizeof **out);
    return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    (void)Flags;
    FAKE_CALL("cuEventCreate", true, make_event(phEvent));
}

CUresult CUDAAPI cuEventDestroy(CUevent hEvent)
{
    FAKE_CALL("cuEventDestroy", false, gone(hEvent));
}

static CUresult record(struct CUevent_st *e, const struct CUstream_st *s)
{
    e->at_ns = s->now_ns;
    e->is_pending = fake.is_held;
    e->hold = fake.hold;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventRecord(CUevent hEvent, CUstream hStream)
{
    FAKE_CALL("cuEventRecord", true, record(hEvent, hStream));
}

/* What is launched is done at once. */
CUresult CUDAAPI cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned flags)
{
    (void)hStream;
    (void)hEvent;
    (void)flags;
    FAKE_CALL("cuStreamWaitEvent", true, CUDA_SUCCESS);
}

static bool is_pending(const struct CUevent_st *e)
{
    return e->is_pending && e->hold == fake.hold;
}

CUresult CUDAAPI cuEventQuery(CUevent hEvent)
{
    FAKE_CALL("cuEventQuery", true, is_pending(hEvent) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventSynchronize(CUevent hEvent)
{
    FAKE_CALL("cuEventSynchronize", true, hEvent->is_pending = false, CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    FAKE_CALL("cuEventElapsedTime", true,
              *pMilliseconds = (float)((hEnd->at_ns - hStart->at_ns) * 1e-6), CUDA_SUCCESS);
}

/* ---- kernels ---- */

static CUresult add(const uint64_t *arguments)
{
    const float *a = (const float *)(uintptr_t)arguments[0];
    const float *b = (const float *)(uintptr_t)arguments[1];
    float *y = (float *)(uintptr_t)arguments[2];
    const size_t bytes = (size_t)arguments[3] * sizeof *y;

    if (fake_find(a, bytes) == NULL || fake_find(b, bytes) == NULL || fake_find(y, bytes) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (uint64_t i = 0; i < arguments[3]; i++)
        y[i] = a[i] + b[i];
    return CUDA_SUCCESS;
}

static CUresult count(const uint64_t *arguments)
{
    uint32_t *p = (uint32_t *)(uintptr_t)arguments[0];

    if (fake_find(p, sizeof *p) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    ++*p;
    return CUDA_SUCCESS;
}

static CUresult bad(const uint64_t *arguments)
{
    (void)arguments;
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static CUresult empty(const uint64_t *arguments)
{
    (void)arguments;
    return CUDA_SUCCESS;
}

static const fake_kernel kernels[] = {{"fake_add", 4, add, false, 0},
                                      {"fake_count", 1, count, false, 0},
                                      {"fake_bad", 0, bad, false, 0},
                                      {"assay_empty", 0, empty, false, 0}};
enum { KERNELS = sizeof kernels / sizeof *kernels, MOST_KERNELS = 96 };

/* Kernel i of a table, counted down as it is passed; NULL: it has not as many. */
static const fake_kernel *kernel_of(const fake_kernel *table, int *i)
{
    for (; table->name != NULL; table++, --*i)
        if (*i == 0)
            return table;
    return NULL;
}

/* Ours, then the probes, the judges, the villains; NULL behind them. */
static const fake_kernel *kernel_at(int i)
{
    const fake_kernel *const tables[] = {fake_probes, fake_shown, fake_judges, fake_villains};
    const fake_kernel *k = i < KERNELS ? &kernels[i] : NULL;

    i -= KERNELS;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0] && k == NULL; t++)
        k = kernel_of(tables[t], &i);
    return k;
}

void fake_run(struct CUctx_st *context, const fake_node *node)
{
    const fake_kernel *k = kernel_at(node->kernel);
    const CUresult result = k->run(node->arguments);

    if (result != CUDA_SUCCESS)
        *(k->is_late ? &context->late : &context->coming) = result;
}

static double ns_of(const fake_node *node)
{
    const fake_kernel *k = kernel_at(node->kernel);
    const int weight = k->weight;

    return fake.ns * (weight > 0 ? 1.0 + (double)node->arguments[weight - 1] : 1.0) +
           fake_probe_ns(k, node->arguments);
}

struct CUmod_st {
    int unused;
};
struct CUfunc_st {
    int kernel;
};
static struct CUfunc_st functions[MOST_KERNELS];

static CUresult load(CUmodule *module, const char *image)
{
    static const char fatbin[] = "\x50\xed\x55\xba";

    if (strncmp(image, "FAKE", 4) != 0 && strncmp(image, ".version", 8) != 0 &&
        memcmp(image, fatbin, 4) != 0)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    *module = made(sizeof **module);
    return *module != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
    FAKE_CALL("cuModuleLoadData", true, load(module, image));
}

CUresult CUDAAPI cuModuleUnload(CUmodule hmod)
{
    FAKE_CALL("cuModuleUnload", false, gone(hmod));
}

static CUresult find_function(CUfunction *out, const char *name)
{
    for (int i = 0; kernel_at(i) != NULL; i++)
        if (strcmp(kernel_at(i)->name, name) == 0) {
            functions[i].kernel = i;
            *out = &functions[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    (void)hmod;
    FAKE_CALL("cuModuleGetFunction", true, find_function(hfunc, name));
}

CUresult CUDAAPI cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    (void)attrib;
    (void)hfunc;
    FAKE_CALL("cuFuncGetAttribute", true, *pi = 1024, CUDA_SUCCESS);
}

enum { MOST_SHARED = 232448 }; /* as fake_cuda_script.c says */

CUresult CUDAAPI cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    (void)hfunc;
    (void)attrib;
    FAKE_CALL("cuFuncSetAttribute", true,
              value <= MOST_SHARED - 1024 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static CUresult launch(struct CUstream_st *s, int which, void **arguments)
{
    fake_node node = {.kernel = which};

    for (int i = 0; i < kernel_at(which)->arguments; i++)
        memcpy(&node.arguments[i], arguments[i], sizeof node.arguments[i]);
    if (!s->is_capturing) {
        s->now_ns += fake.gap + ns_of(&node);
        fake_note(s, s->now_ns - ns_of(&node), s->now_ns, false);
        fake_run(s->context, &node);
        return CUDA_SUCCESS;
    }
    if (s->graph->count == FAKE_NODES)
        return CUDA_ERROR_OUT_OF_MEMORY;
    s->graph->nodes[s->graph->count++] = node;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                unsigned int gridDimZ, unsigned int blockDimX,
                                unsigned int blockDimY, unsigned int blockDimZ,
                                unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                                void **extra)
{
    (void)extra;
    FAKE_CALL("cuLaunchKernel", true,
              sharedMemBytes > MOST_SHARED || gridDimX == 0 || gridDimY == 0 || gridDimZ == 0 ||
                      blockDimX * blockDimY * blockDimZ == 0
                  ? CUDA_ERROR_INVALID_VALUE
                  : launch(hStream, f->kernel, kernelParams));
}

/* ---- graphs ---- */

static CUresult begin_capture(struct CUstream_st *s)
{
    if (fake.cannot_capture)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    s->graph = made(sizeof *s->graph);
    s->is_capturing = s->graph != NULL;
    return s->is_capturing ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode)
{
    (void)mode;
    FAKE_CALL("cuStreamBeginCapture", true, begin_capture(hStream));
}

CUresult CUDAAPI cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    FAKE_CALL("cuStreamEndCapture", true, *phGraph = hStream->graph, hStream->graph = NULL,
              hStream->is_capturing = false, CUDA_SUCCESS);
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph)
{
    *out = made(sizeof **out);
    if (*out == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*out)->graph = *graph;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                                    unsigned long long flags)
{
    (void)flags;
    FAKE_CALL("cuGraphInstantiate", true, instantiate(phGraphExec, hGraph));
}

CUresult CUDAAPI cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    (void)hGraphExec;
    (void)hStream;
    FAKE_CALL("cuGraphUpload", true, CUDA_SUCCESS);
}

static CUresult launch_graph(const struct CUgraph_st *graph, struct CUstream_st *s)
{
    const double begin_ns = s->now_ns;

    for (size_t i = 0; i < graph->count; i++) {
        s->now_ns += ns_of(&graph->nodes[i]);
        fake_run(s->context, &graph->nodes[i]);
    }
    fake_note(s, begin_ns, s->now_ns, true);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    FAKE_CALL("cuGraphLaunch", true, launch_graph(&hGraphExec->graph, hStream));
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    FAKE_CALL("cuGraphExecDestroy", false, gone(hGraphExec));
}

CUresult CUDAAPI cuGraphDestroy(CUgraph hGraph)
{
    FAKE_CALL("cuGraphDestroy", false, gone(hGraph));
}
