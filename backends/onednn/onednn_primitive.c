/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_primitive.c -- primitives of oneDNN, made once a problem and thread.
 *
 * Making one costs as much as a small product.  A primitive may run only on the thread that made
 * it: its scratch memory is that thread's.  A convolution chooses layouts of its own; its operands
 * are reordered into them and back, in an area that the thread keeps. */
#include "backends/onednn/onednn_calls.h"

#if HAVE_ONEDNN

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host_backend.h"

enum { KEPT = 64 };

typedef struct kept {
    onednn_problem problem;
    dnnl_primitive_t primitive;            /* NULL: free */
    dnnl_memory_t memory[ONEDNN_OPERANDS]; /* as the caller has it */
    dnnl_memory_t inner[ONEDNN_OPERANDS];  /* as the primitive wants it; NULL: the same */
    dnnl_primitive_t reorder[ONEDNN_OPERANDS];
    size_t place[ONEDNN_OPERANDS], area_bytes; /* of inner ones */
} kept;

typedef struct cache { /* of one thread */
    const onednn_library *library;
    dnnl_stream_t stream;
    kept kept[KEPT];
    size_t next; /* to be replaced */
    char *area;  /* for inner memories, one primitive at a time */
    size_t area_bytes;
} cache;

static pthread_key_t key;
static bool key_made;

static void drop(const onednn_library *l, kept *k)
{
    for (int i = 0; i < ONEDNN_OPERANDS; i++) {
        if (k->memory[i] != NULL)
            l->memory_destroy(k->memory[i]);
        if (k->inner[i] != NULL)
            l->memory_destroy(k->inner[i]);
        if (k->reorder[i] != NULL)
            l->primitive_destroy(k->reorder[i]);
    }
    if (k->primitive != NULL)
        l->primitive_destroy(k->primitive);
    memset(k, 0, sizeof *k);
}

static void release(void *value)
{
    cache *c = value;

    for (size_t i = 0; i < KEPT; i++)
        drop(c->library, &c->kept[i]);
    c->library->stream_destroy(c->stream);
    free(c->area);
    free(c);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, release) == 0;
}

static cache *of_this_thread(const onednn_library *l)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_key);
    cache *c = key_made ? pthread_getspecific(key) : NULL;
    if (c != NULL || !key_made)
        return c;
    c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->library = l;
    if (l->stream_create(&c->stream, l->engine, dnnl_stream_default_flags) != dnnl_success) {
        free(c);
        return NULL;
    }
    if (pthread_setspecific(key, c) == 0)
        return c;
    release(c);
    return NULL;
}

dnnl_data_type_t onednn_type(assay_dtype t)
{
    switch (t) {
    case ASSAY_BF16:
        return dnnl_bf16;
    case ASSAY_F16:
        return dnnl_f16;
    case ASSAY_I32:
        return dnnl_s32;
    case ASSAY_I8:
        return dnnl_s8;
    case ASSAY_U8:
        return dnnl_u8;
    default:
        return dnnl_f32;
    }
}

static dnnl_data_type_t type_of(const onednn_problem *p, int i)
{
    return onednn_type((assay_dtype)(i == p->count - 1 ? p->out_dtype : p->dtype));
}

static dnnl_status_t describe_operand(const onednn_library *l, const onednn_problem *p, int i,
                                      dnnl_memory_desc_t *out)
{
    dnnl_dims_t dims = {0}, strides = {0};

    memcpy(dims, p->dims[i], sizeof p->dims[i]);
    memcpy(strides, p->strides[i], sizeof p->strides[i]);
    return l->memory_desc_init_by_strides(out, onednn_rank(p, i), dims, type_of(p, i), strides);
}

/* In whatever layout the primitive likes best. */
static dnnl_status_t describe_any(const onednn_library *l, const onednn_problem *p, int i,
                                  dnnl_memory_desc_t *out)
{
    dnnl_dims_t dims = {0};

    memcpy(dims, p->dims[i], sizeof p->dims[i]);
    return l->memory_desc_init_by_tag(out, onednn_rank(p, i), dims, type_of(p, i),
                                      dnnl_format_tag_any);
}

/* alpha as a scale of the product, beta as the scale of a sum with what is there.  Arithmetic as
 * the types say: ONEDNN_DEFAULT_FPMATH_MODE would let products of f32 be made of bf16, where the
 * CPU has tiles for it, and nothing would tell such results from the others. */
static dnnl_status_t make_attributes(const onednn_library *l, const onednn_problem *p,
                                     dnnl_primitive_attr_t *out)
{
    float alpha = (float)p->alpha;
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = l->primitive_attr_create(out);

    if (status != dnnl_success)
        return status;
    status = l->primitive_attr_set_fpmath_mode(*out, dnnl_fpmath_mode_strict);
    if (status == dnnl_success && p->alpha != 1.0)
        status = l->primitive_attr_set_output_scales(*out, 1, 0, &alpha);
    if (status == dnnl_success && p->beta != 0.0) {
        status = l->post_ops_create(&ops);
        if (status == dnnl_success)
            status = l->post_ops_append_sum(ops, (float)p->beta);
        if (status == dnnl_success)
            status = l->primitive_attr_set_post_ops(*out, ops);
        if (ops != NULL)
            l->post_ops_destroy(ops);
    }
    if (status != dnnl_success)
        l->primitive_attr_destroy(*out);
    return status;
}

static dnnl_status_t describe_product(const onednn_library *l, const onednn_problem *p,
                                      const dnnl_memory_desc_t *md,
                                      const_dnnl_primitive_attr_t attributes,
                                      dnnl_primitive_desc_t *out)
{
    dnnl_matmul_desc_t desc;
    dnnl_status_t status = l->matmul_desc_init(&desc, &md[0], &md[1], p->count == 4 ? &md[2] : NULL,
                                               &md[p->count - 1]);

    return status != dnnl_success
               ? status
               : l->primitive_desc_create(out, &desc, attributes, l->engine, NULL);
}

static dnnl_status_t describe_softmax(const onednn_library *l, const onednn_problem *p,
                                      const dnnl_memory_desc_t *md,
                                      const_dnnl_primitive_attr_t attributes,
                                      dnnl_primitive_desc_t *out)
{
    dnnl_softmax_desc_t desc;
    dnnl_status_t status = (onednn_is_log_softmax(p->op) ? l->logsoftmax_forward_desc_init
                                                         : l->softmax_forward_desc_init)(
        &desc, dnnl_forward_inference, &md[0], 1);

    return status != dnnl_success
               ? status
               : l->primitive_desc_create(out, &desc, attributes, l->engine, NULL);
}

dnnl_status_t onednn_describe(const onednn_library *l, const onednn_problem *p,
                              dnnl_primitive_desc_t *out)
{
    dnnl_memory_desc_t md[ONEDNN_OPERANDS];
    dnnl_primitive_attr_t attributes;
    dnnl_status_t status = dnnl_success;

    for (int i = 0; i < p->count && status == dnnl_success; i++)
        status =
            onednn_is_conv2d(p) ? describe_any(l, p, i, &md[i]) : describe_operand(l, p, i, &md[i]);
    if (status == dnnl_success)
        status = make_attributes(l, p, &attributes);
    if (status != dnnl_success)
        return status;
    if (onednn_is_conv2d(p))
        status = onednn_describe_conv2d(l, p, md, attributes, out);
    else if (p->op == ASSAY_OP_cast)
        status =
            l->reorder_primitive_desc_create(out, &md[0], l->engine, &md[1], l->engine, attributes);
    else if (p->op == ASSAY_OP_matmul || p->op == ASSAY_OP_fused_linear)
        status = describe_product(l, p, md, attributes, out);
    else if (onednn_is_simple(p->op))
        status = onednn_describe_simple(l, p, md, attributes, out);
    else
        status = describe_softmax(l, p, md, attributes, out);
    l->primitive_attr_destroy(attributes);
    return status;
}

bool onednn_implements(const onednn_library *l, const onednn_problem *p)
{
    dnnl_primitive_desc_t desc;
    int before = l->openmp.max_threads();

    l->openmp.set_threads((int)p->threads); /* the choice depends on it */
    dnnl_status_t status = onednn_describe(l, p, &desc);
    l->openmp.set_threads(before);
    if (status == dnnl_success)
        l->primitive_desc_destroy(desc);
    return status != dnnl_unimplemented;
}

static bool is_output(const onednn_problem *p, int i)
{
    return i == p->count - 1;
}

/* The way of operand i into the layout `inner` of the primitive, or back for the output. */
static dnnl_status_t make_reorder(const onednn_library *l, const onednn_problem *p, int i,
                                  const dnnl_memory_desc_t *outer, const dnnl_memory_desc_t *inner,
                                  kept *k)
{
    const dnnl_memory_desc_t *from = is_output(p, i) ? inner : outer,
                             *to = is_output(p, i) ? outer : inner;
    dnnl_primitive_desc_t desc;
    dnnl_status_t status = l->memory_create(&k->inner[i], inner, l->engine, DNNL_MEMORY_NONE);

    if (status == dnnl_success)
        status = l->reorder_primitive_desc_create(&desc, from, l->engine, to, l->engine, NULL);
    if (status != dnnl_success)
        return status;
    status = l->primitive_create(&k->reorder[i], desc);
    l->primitive_desc_destroy(desc);
    k->place[i] = k->area_bytes;
    k->area_bytes += (l->memory_desc_get_size(inner) + 4095) / 4096 * 4096;
    return status;
}

static dnnl_status_t make_operand(const onednn_library *l, const onednn_problem *p, int i,
                                  const_dnnl_primitive_desc_t desc, kept *k)
{
    dnnl_memory_desc_t md;
    dnnl_status_t status = describe_operand(l, p, i, &md);

    if (status == dnnl_success)
        status = l->memory_create(&k->memory[i], &md, l->engine, DNNL_MEMORY_NONE);
    if (status != dnnl_success || !onednn_is_conv2d(p))
        return status;
    const dnnl_memory_desc_t *inner =
        l->primitive_desc_query_md(desc, dnnl_query_exec_arg_md, onednn_argument(p, i));
    if (inner == NULL)
        return dnnl_unimplemented;
    return l->memory_desc_equal(inner, &md) ? status : make_reorder(l, p, i, &md, inner, k);
}

static dnnl_status_t make(const onednn_library *l, const onednn_problem *p, kept *k)
{
    dnnl_primitive_desc_t desc;
    dnnl_status_t status = onednn_describe(l, p, &desc);

    if (status != dnnl_success)
        return status;
    status = l->primitive_create(&k->primitive, desc);
    for (int i = 0; i < p->count && status == dnnl_success; i++)
        status = make_operand(l, p, i, desc, k);
    l->primitive_desc_destroy(desc);
    k->problem = *p;
    if (status != dnnl_success)
        drop(l, k);
    return status;
}

static dnnl_status_t find(const onednn_library *l, cache *c, const onednn_problem *p, kept **out)
{
    for (size_t i = 0; i < KEPT; i++) {
        *out = &c->kept[i];
        if ((*out)->primitive != NULL && memcmp(&(*out)->problem, p, sizeof *p) == 0)
            return dnnl_success;
    }
    *out = &c->kept[c->next];
    c->next = (c->next + 1) % KEPT;
    drop(l, *out);
    return make(l, p, *out);
}

int onednn_argument(const onednn_problem *p, int i)
{
    static const int matmul_args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    static const int unary_args[] = {DNNL_ARG_SRC, DNNL_ARG_DST};
    static const int bias_args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    static const int data_args[] = {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC};
    static const int filter_args[] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS};

    static const int binary_args[] = {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_DST};

    if (p->count == 3 && onednn_is_simple(p->op))
        return binary_args[i];
    if (p->op == ASSAY_OP_conv2d_backward_data)
        return data_args[i];
    if (p->op == ASSAY_OP_conv2d_backward_filter)
        return filter_args[i];
    return (p->count == 4 ? bias_args : p->count == 3 ? matmul_args : unary_args)[i];
}

static bool have_area(cache *c, size_t bytes)
{
    if (bytes <= c->area_bytes)
        return true;
    free(c->area);
    c->area = aligned_alloc(4096, bytes);
    c->area_bytes = c->area != NULL ? bytes : 0;
    return c->area != NULL;
}

static dnnl_status_t reorder(const onednn_library *l, cache *c, const kept *k, int i)
{
    bool back = is_output(&k->problem, i);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, back ? k->inner[i] : k->memory[i]},
                                    {DNNL_ARG_TO, back ? k->memory[i] : k->inner[i]}};

    if (k->reorder[i] == NULL)
        return dnnl_success;
    return l->primitive_execute(k->reorder[i], c->stream, 2, args);
}

static dnnl_status_t execute(const onednn_library *l, cache *c, const onednn_problem *p,
                             void *const *data)
{
    dnnl_exec_arg_t args[ONEDNN_OPERANDS];
    kept *k;
    int last = p->count - 1;
    dnnl_status_t status = find(l, c, p, &k);

    if (status == dnnl_success && !have_area(c, k->area_bytes))
        return dnnl_out_of_memory;
    for (int i = 0; i < p->count && status == dnnl_success; i++) {
        args[i].arg = onednn_argument(p, i);
        args[i].memory = k->inner[i] != NULL ? k->inner[i] : k->memory[i];
        status = l->memory_set_data_handle(k->memory[i], data[i]);
        if (status == dnnl_success && k->inner[i] != NULL)
            status = l->memory_set_data_handle(k->inner[i], c->area + k->place[i]);
    }
    for (int i = 0; i < last && status == dnnl_success; i++)
        status = reorder(l, c, k, i);
    if (status == dnnl_success)
        status = l->primitive_execute(k->primitive, c->stream, p->count, args);
    if (status == dnnl_success)
        status = reorder(l, c, k, last);
    return status == dnnl_success ? l->stream_wait(c->stream) : status;
}

/* The host's own OpenMP regions on this thread keep their number of threads. */
assay_status onednn_run(const assay_launch *launch, const onednn_library *l,
                        const onednn_problem *p, void *const *data)
{
    cache *c = of_this_thread(l);
    int before = l->openmp.max_threads();
    onednn_problem sure = *p; /* what is kept is made for a number of threads, and needs them all */

    if (c == NULL)
        return assay__host_fail(launch->instance, ASSAY_NOMEM, "oneDNN: no memory");
    sure.threads = assay__openmp_team(&l->openmp, p->threads);
    l->openmp.set_threads((int)sure.threads);
    dnnl_status_t status = execute(l, c, &sure, data);
    l->openmp.set_threads(before);
    if (status == dnnl_success)
        return ASSAY_OK;
    return assay__host_fail(launch->instance,
                            status == dnnl_unimplemented   ? ASSAY_UNSUPPORTED
                            : status == dnnl_out_of_memory ? ASSAY_NOMEM
                                                           : ASSAY_DEVICE,
                            "oneDNN: status %d", (int)status);
}

#endif
