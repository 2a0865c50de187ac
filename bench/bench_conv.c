/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_conv.c -- convolutions of ResNet-50, two threads: the picked route beside oneDNN
 * called directly.
 *
 * Routes are those of the store that $ASSAY_BENCH_DB names; without one each layer's variants with
 * two threads race here, and the fastest is taken (a sweep of these layers takes a minute and
 * more). What is printed was timed after that.  Operands are row-major for all.  oneDNN chooses its
 * layouts and its primitives are made once; it is called as somebody with such operands has to, who
 * reorders all three at every call, and as somebody whose filters stay, who reordered those once.
 * They take turns in an order that goes round; a ratio is the median of the ratios inside a turn,
 * of all layers together that of their geometric mean inside a turn. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_print.h"
#include "bench/bench_sweep.h"
#include "gen/config.h"
#include "runtime/host_backend.h"

#if HAVE_ONEDNN

#include <dnnl.h>

enum { TURNS = 31, THREADS = 2 };
enum { PICKED, DIRECT, KEPT_FILTER, WAYS };
enum { X, FILTER, Y, OPERANDS };

/* As in shapes/resnet50.csv. */
static const struct layer {
    int n, c, h, k, r, stride, pad; /* square images and filters */
} layers[] = {
    {1, 3, 224, 64, 7, 2, 3},    {1, 64, 56, 256, 1, 1, 0},  {1, 64, 56, 64, 3, 1, 1},
    {1, 512, 28, 1024, 1, 2, 0}, {1, 128, 56, 128, 3, 2, 1}, {1, 256, 14, 1024, 1, 1, 0},
    {1, 256, 14, 256, 3, 1, 1},  {1, 512, 7, 512, 3, 1, 1},  {8, 64, 56, 64, 3, 1, 1},
    {8, 128, 28, 512, 1, 1, 0},  {8, 256, 14, 256, 3, 1, 1},
};
enum { LAYERS = sizeof layers / sizeof *layers };

#define CALLS(F)                     \
    F(engine_create)                 \
    F(stream_create)                 \
    F(stream_wait)                   \
    F(memory_desc_init_by_tag)       \
    F(memory_desc_equal)             \
    F(memory_create)                 \
    F(convolution_forward_desc_init) \
    F(reorder_primitive_desc_create) \
    F(primitive_desc_create)         \
    F(primitive_desc_query_md)       \
    F(primitive_desc_destroy)        \
    F(primitive_create)              \
    F(primitive_execute)

static struct library {
#define F(name) __typeof__(dnnl_##name) *name;
    CALLS(F)
#undef F
    void (*set_threads)(int);
    dnnl_engine_t engine;
    dnnl_stream_t stream;
} dnnl;

#define DNNL_MUST(expr)                                                             \
    do {                                                                            \
        const dnnl_status_t status_ = (expr);                                       \
        if (status_ != dnnl_success) {                                              \
            fprintf(stderr, "bench_conv:%d: oneDNN: %d\n", __LINE__, (int)status_); \
            exit(EXIT_FAILURE);                                                     \
        }                                                                           \
    } while (0)

/* false: it is not here. */
static bool open_dnnl(void)
{
    void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    void *openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL || openmp == NULL)
        return false;
#define F(name) *(void **)&dnnl.name = dlsym(library, "dnnl_" #name);
    CALLS(F)
#undef F
    *(void **)&dnnl.set_threads = dlsym(openmp, "omp_set_num_threads");
    DNNL_MUST(dnnl.engine_create(&dnnl.engine, dnnl_cpu, 0));
    DNNL_MUST(dnnl.stream_create(&dnnl.stream, dnnl.engine, dnnl_stream_default_flags));
    return true;
}

/* ---- a layer --------------------------------------------------------------------------------- */

typedef struct direct {                           /* all made once */
    dnnl_primitive_t convolve, reorder[OPERANDS]; /* reorder NULL: the layout is the caller's */
    dnnl_memory_t outer[OPERANDS], inner[OPERANDS];
} direct;

typedef struct contest {
    float *data[OPERANDS];
    assay_problem problem;
    assay_tensor operands[OPERANDS];
    int64_t tunables[ASSAY_MAX_TUNABLES];
    const assay_binding *binding;
    assay_launch launch;
    direct direct;
    char name[64];
    double ns[WAYS][TURNS];
} contest;

static void describe(const assay_tensor *t, dnnl_format_tag_t tag, dnnl_memory_desc_t *out)
{
    const dnnl_dims_t dims = {t->dims[0], t->dims[1], t->dims[2], t->dims[3]};

    DNNL_MUST(dnnl.memory_desc_init_by_tag(out, 4, dims, dnnl_f32, tag));
}

static void make_operand(contest *c, const_dnnl_primitive_desc_t desc, int i)
{
    static const int args[OPERANDS] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    const dnnl_memory_desc_t *wanted =
        dnnl.primitive_desc_query_md(desc, dnnl_query_exec_arg_md, args[i]);
    dnnl_memory_desc_t plain;
    dnnl_primitive_desc_t reorder;
    direct *d = &c->direct;

    describe(&c->operands[i], dnnl_abcd, &plain);
    DNNL_MUST(dnnl.memory_create(&d->outer[i], &plain, dnnl.engine, c->data[i]));
    d->inner[i] = d->outer[i];
    if (dnnl.memory_desc_equal(wanted, &plain))
        return;
    DNNL_MUST(dnnl.memory_create(&d->inner[i], wanted, dnnl.engine, DNNL_MEMORY_ALLOCATE));
    DNNL_MUST(dnnl.reorder_primitive_desc_create(&reorder, i == Y ? wanted : &plain, dnnl.engine,
                                                 i == Y ? &plain : wanted, dnnl.engine, NULL));
    DNNL_MUST(dnnl.primitive_create(&d->reorder[i], reorder));
    DNNL_MUST(dnnl.primitive_desc_destroy(reorder));
}

static void make_direct(contest *c, const struct layer *l)
{
    const dnnl_dims_t step = {l->stride, l->stride}, pad = {l->pad, l->pad};
    dnnl_memory_desc_t md[OPERANDS];
    dnnl_convolution_desc_t convolution;
    dnnl_primitive_desc_t desc;

    for (int i = 0; i < OPERANDS; i++)
        describe(&c->operands[i], dnnl_format_tag_any, &md[i]);
    DNNL_MUST(dnnl.convolution_forward_desc_init(&convolution, dnnl_forward_inference,
                                                 dnnl_convolution_direct, &md[X], &md[FILTER], NULL,
                                                 &md[Y], step, pad, pad));
    DNNL_MUST(dnnl.primitive_desc_create(&desc, &convolution, NULL, dnnl.engine, NULL));
    DNNL_MUST(dnnl.primitive_create(&c->direct.convolve, desc));
    for (int i = 0; i < OPERANDS; i++)
        make_operand(c, desc, i);
    DNNL_MUST(dnnl.primitive_desc_destroy(desc));
}

static float *floats(int64_t n)
{
    float *x = NULL;

    if (posix_memalign((void **)&x, 64, (size_t)n * sizeof *x) != 0)
        exit(EXIT_FAILURE);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)((i * 2654435761) % 1000) * 0.002f - 1.0f;
    return x;
}

static void write_params(const struct layer *l, char *buf, size_t cap)
{
    snprintf(buf, cap,
             "conv2d f32,f32,f32 n=%d,c=%d,h=%d,w=%d,k=%d,r=%d,s=%d,stride_h=%d,stride_w=%d,"
             "pad_h=%d,pad_w=%d",
             l->n, l->c, l->h, l->h, l->k, l->r, l->r, l->stride, l->stride, l->pad, l->pad);
}

/* ---- routes ---------------------------------------------------------------------------------- */

enum { VARIANTS = 64, HEATS = 7 };

typedef struct variant {
    const assay_binding *binding;
    int64_t tunables[ASSAY_MAX_TUNABLES];
    double ns[HEATS];
} variant;

/* The variants of a kernel by all values of its tunables from the i-th on, with THREADS threads. */
static void add_variants(const contest *c, const variant *start, size_t i, variant *list, size_t *n)
{
    const assay_kernel_desc *k = start->binding->desc;
    variant next = *start;

    if (i == k->tunable_count) {
        if (*n < VARIANTS && (k->can_run_fn == NULL || k->can_run_fn(&c->problem, next.tunables)))
            list[(*n)++] = next;
        return;
    }
    for (size_t v = 0; v < k->tunables[i].value_count; v++) {
        next.tunables[i] = k->tunables[i].values[v];
        if (strcmp(k->tunables[i].name, "threads") != 0 || next.tunables[i] == THREADS)
            add_variants(c, &next, i + 1, list, n);
    }
}

static double time_variant(contest *c, const variant *v)
{
    c->launch.tunables = v->tunables;
    BENCH_MUST(v->binding->run(&c->launch)); /* its threads, its code, its data */
    const uint64_t start = assay__host_now_ns();
    BENCH_MUST(v->binding->run(&c->launch));
    return (double)(assay__host_now_ns() - start);
}

/* Portable kernels take half a second and have never won. */
static size_t list_variants(const contest *c, const assay_snapshot *s, variant *list)
{
    const assay_binding *rows = NULL;
    const size_t count = assay_snapshot_alternatives(s, ASSAY_OP_conv2d, c->problem.dtypes,
                                                     c->problem.dtype_count, NULL, &rows);
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].available && !rows[i].manifest->explicit_only &&
            strstr(rows[i].desc->name, "portable") == NULL)
            add_variants(c, &(variant){.binding = &rows[i]}, 0, list, &n);
    return n;
}

static void take_fastest(contest *c, assay_context *context)
{
    static variant list[VARIANTS];
    const assay_snapshot *s = NULL;
    double least = INFINITY;

    BENCH_MUST(assay_table_hold(assay_context_table(context), &s));
    const size_t n = list_variants(c, s, list);
    for (int heat = 0; heat < HEATS; heat++)
        for (size_t i = 0; i < n; i++)
            list[i].ns[heat] = time_variant(c, &list[i]);
    for (size_t i = 0; i < n; i++) {
        const double ns = bench_median(list[i].ns, HEATS).value;
        if (ns < least) {
            least = ns;
            c->binding = list[i].binding;
            memcpy(c->tunables, list[i].tunables, sizeof c->tunables);
        }
    }
    assay_snapshot_release(&s);
}

static void take_route(contest *c, assay_context *context)
{
    assay_question question;
    assay_route route;

    assay_question_init(&c->problem, &question);
    question.max_threads = THREADS;
    bench_pick(context, &question, &route);
    c->binding = route.binding;
    memcpy(c->tunables, route.tunables, route.binding->desc->tunable_count * sizeof(int64_t));
}

static void make(contest *c, assay_context *context, bool has_store, const struct layer *l)
{
    char text[256];

    snprintf(c->name, sizeof c->name, "n=%d %dx%dx%d to %d by %dx%d step %d", l->n, l->c, l->h,
             l->h, l->k, l->r, l->r, l->stride);
    write_params(l, text, sizeof text);
    BENCH_MUST(assay_problem_parse(text, &c->problem));
    for (size_t i = 0; i < OPERANDS; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        uint32_t rank;
        BENCH_MUST(assay_problem_operand(&c->problem, i, &rank, dims));
        c->data[i] = floats(dims[0] * dims[1] * dims[2] * dims[3]);
        BENCH_MUST(assay_tensor_host(c->data[i], ASSAY_F32, rank, dims, NULL, &c->operands[i]));
    }
    c->launch = (assay_launch){.struct_size = sizeof c->launch,
                               .operand_count = OPERANDS,
                               .problem = &c->problem,
                               .operands = c->operands};
    if (has_store)
        take_route(c, context);
    else
        take_fastest(c, context);
    if (c->binding == NULL)
        exit(EXIT_FAILURE);
    c->launch.tunables = c->tunables;
    make_direct(c, l);
    fprintf(stderr, "bench_conv: %s: %s\n", c->name, c->binding->desc->name);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void reorder(const direct *d, int i)
{
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, i == Y ? d->inner[i] : d->outer[i]},
                                    {DNNL_ARG_TO, i == Y ? d->outer[i] : d->inner[i]}};

    if (d->reorder[i] != NULL)
        DNNL_MUST(dnnl.primitive_execute(d->reorder[i], dnnl.stream, 2, args));
}

static void call_direct(const direct *d, bool keeps_filter)
{
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, d->inner[X]},
                                    {DNNL_ARG_WEIGHTS, d->inner[FILTER]},
                                    {DNNL_ARG_DST, d->inner[Y]}};

    reorder(d, X);
    if (!keeps_filter)
        reorder(d, FILTER);
    DNNL_MUST(dnnl.primitive_execute(d->convolve, dnnl.stream, OPERANDS, args));
    reorder(d, Y);
    DNNL_MUST(dnnl.stream_wait(dnnl.stream));
}

static void call(contest *c, int way)
{
    if (way == PICKED)
        BENCH_MUST(c->binding->run(&c->launch));
    else
        call_direct(&c->direct, way == KEPT_FILTER);
}

static void take_turns(contest *all)
{
    for (int turn = -1; turn < TURNS; turn++)
        for (size_t i = 0; i < LAYERS; i++)
            for (int k = 0; k < WAYS; k++) {
                const int way = (turn + 1 + k) % WAYS;
                call(&all[i], way); /* its threads, its code, its data */
                const uint64_t start = assay__host_now_ns();
                call(&all[i], way);
                if (turn >= 0)
                    all[i].ns[way][turn] = (double)(assay__host_now_ns() - start);
            }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bench_figure ratio(const contest *first, size_t count, int peer)
{
    double ratios[TURNS];

    for (int turn = 0; turn < TURNS; turn++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += log(first[i].ns[peer][turn] / first[i].ns[PICKED][turn]);
        ratios[turn] = exp(sum / (double)count);
    }
    return bench_median(ratios, TURNS);
}

static double median_us(const contest *c, int way)
{
    double ns[TURNS];

    memcpy(ns, c->ns[way], sizeof ns);
    return bench_median(ns, TURNS).value * 1e-3;
}

static void print_rows(const contest *all)
{
    char name[128];
    bench_figure f = ratio(all, LAYERS, DIRECT);

    for (size_t i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "conv2d f32 %s 2 threads picked over oneDNN", all[i].name);
        bench_print(name, ratio(&all[i], 1, DIRECT), "ratio", "oneDNN us",
                    median_us(&all[i], DIRECT), "", 0);
    }
    bench_print("conv2d f32 11 layers of ResNet-50 2 threads picked over oneDNN", f, "ratio", NULL,
                0, ">=1.0", f.value >= 1.0);
    bench_print("conv2d f32 11 layers of ResNet-50 2 threads picked over oneDNN with filters laid "
                "out before",
                ratio(all, LAYERS, KEPT_FILTER), "ratio", NULL, 0, "", 0);
}

/* ---- the program ----------------------------------------------------------------------------- */

int main(void)
{
    static contest all[LAYERS];
    const char *db = getenv("ASSAY_BENCH_DB");
    char path[512];
    const assay_open_options options = {
        .struct_size = sizeof options, .plugin_path = path, .ops = "conv2d"};
    assay_context *context = NULL;

    setenv("OMP_WAIT_POLICY", "passive", 0);
    if (assay__host_usable_cpus() < THREADS || !open_dnnl()) {
        fprintf(stderr, "bench_conv: no oneDNN here, or one CPU: nothing to compare with\n");
        return EXIT_SUCCESS;
    }
    dnnl.set_threads(THREADS);
    snprintf(path, sizeof path, "%s/lib/assay", bench_build());
    BENCH_MUST(assay_open(db, &options, &context));
    for (size_t i = 0; i < LAYERS; i++)
        make(&all[i], context, db != NULL, &layers[i]);
    take_turns(all);
    print_rows(all);
    for (size_t i = 0; i < LAYERS; i++)
        for (size_t k = 0; k < OPERANDS; k++)
            free(all[i].data[k]);
    assay_close(&context);
    return EXIT_SUCCESS;
}

#else

int main(void)
{
    fprintf(stderr, "bench_conv: built without oneDNN: " ASSAY_WHY_ONEDNN "\n");
    return EXIT_SUCCESS;
}

#endif
