/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_primitive.c -- primitives of oneDNN, made once a problem and thread.
 *
 * Making one costs as much as a small product.  A primitive may run only on the thread that made
 * it: its scratch memory is that thread's. */
#include "backends/onednn/onednn_calls.h"

#if HAVE_ONEDNN

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host_backend.h"

enum { KEPT = 64 };

typedef struct kept {
    onednn_problem problem;
    dnnl_primitive_t primitive; /* NULL: free */
    dnnl_memory_t memory[ONEDNN_OPERANDS];
} kept;

typedef struct cache { /* of one thread */
    const onednn_library *library;
    dnnl_stream_t stream;
    kept kept[KEPT];
    size_t next; /* to be replaced */
} cache;

static pthread_key_t key;
static bool key_made;

static void drop(const onednn_library *l, kept *k)
{
    for (int i = 0; i < ONEDNN_OPERANDS; i++)
        if (k->memory[i] != NULL)
            l->memory_destroy(k->memory[i]);
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
    return t == ASSAY_BF16 ? dnnl_bf16 : t == ASSAY_F16 ? dnnl_f16 : dnnl_f32;
}

static dnnl_status_t describe_operand(const onednn_library *l, const onednn_problem *p, int i,
                                      dnnl_memory_desc_t *out)
{
    dnnl_dims_t dims = {0}, strides = {0};

    memcpy(dims, p->dims[i], sizeof p->dims[i]);
    memcpy(strides, p->strides[i], sizeof p->strides[i]);
    return l->memory_desc_init_by_strides(out, (int)p->rank, dims,
                                          onednn_type((assay_dtype)p->dtype), strides);
}

/* alpha as a scale of the product, beta as the scale of a sum with what is there. */
static dnnl_status_t make_attributes(const onednn_library *l, const onednn_problem *p,
                                     dnnl_primitive_attr_t *out)
{
    float alpha = (float)p->alpha;
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = l->primitive_attr_create(out);

    if (status != dnnl_success)
        return status;
    if (p->alpha != 1.0)
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

dnnl_status_t onednn_describe(const onednn_library *l, const onednn_problem *p,
                              dnnl_primitive_desc_t *out)
{
    dnnl_memory_desc_t md[ONEDNN_OPERANDS];
    dnnl_matmul_desc_t matmul;
    dnnl_softmax_desc_t softmax;
    dnnl_primitive_attr_t attributes;
    dnnl_status_t status = dnnl_success;
    bool is_product = p->op == ASSAY_OP_matmul || p->op == ASSAY_OP_fused_linear,
         has_bias = p->count == 4;
    const void *desc = is_product ? (const void *)&matmul : (const void *)&softmax;

    for (int i = 0; i < p->count && status == dnnl_success; i++)
        status = describe_operand(l, p, i, &md[i]);
    if (status == dnnl_success && is_product)
        status = l->matmul_desc_init(&matmul, &md[0], &md[1], has_bias ? &md[2] : NULL,
                                     &md[p->count - 1]);
    else if (status == dnnl_success)
        status = l->softmax_forward_desc_init(&softmax, dnnl_forward_inference, &md[0], 1);
    if (status == dnnl_success)
        status = make_attributes(l, p, &attributes);
    if (status != dnnl_success)
        return status;
    status = l->primitive_desc_create(out, desc, attributes, l->engine, NULL);
    l->primitive_attr_destroy(attributes);
    return status;
}

static dnnl_status_t make(const onednn_library *l, const onednn_problem *p, kept *k)
{
    dnnl_primitive_desc_t desc;
    dnnl_memory_desc_t md;
    dnnl_status_t status = onednn_describe(l, p, &desc);

    if (status != dnnl_success)
        return status;
    status = l->primitive_create(&k->primitive, desc);
    l->primitive_desc_destroy(desc);
    for (int i = 0; i < p->count && status == dnnl_success; i++) {
        status = describe_operand(l, p, i, &md);
        if (status == dnnl_success)
            status = l->memory_create(&k->memory[i], &md, l->engine, DNNL_MEMORY_NONE);
    }
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

static dnnl_status_t execute(const onednn_library *l, cache *c, const onednn_problem *p,
                             void *const *data)
{
    static const int matmul_args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    static const int unary_args[] = {DNNL_ARG_SRC, DNNL_ARG_DST};
    static const int bias_args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    const int *names = p->count == 4 ? bias_args : p->count == 3 ? matmul_args : unary_args;
    dnnl_exec_arg_t args[ONEDNN_OPERANDS];
    kept *k;
    dnnl_status_t status = find(l, c, p, &k);

    for (int i = 0; i < p->count && status == dnnl_success; i++) {
        args[i].arg = names[i];
        args[i].memory = k->memory[i];
        status = l->memory_set_data_handle(k->memory[i], data[i]);
    }
    if (status == dnnl_success)
        status = l->primitive_execute(k->primitive, c->stream, p->count, args);
    return status == dnnl_success ? l->stream_wait(c->stream) : status;
}

/* The host's own OpenMP regions on this thread keep their number of threads. */
assay_status onednn_run(const assay_launch *launch, const onednn_library *l,
                        const onednn_problem *p, void *const *data)
{
    cache *c = of_this_thread(l);
    int before = l->get_threads();

    if (c == NULL)
        return assay__host_fail(launch->instance, ASSAY_NOMEM, "oneDNN: no memory");
    l->set_threads((int)p->threads);
    dnnl_status_t status = execute(l, c, p, data);
    l->set_threads(before);
    if (status == dnnl_success)
        return ASSAY_OK;
    return assay__host_fail(launch->instance,
                            status == dnnl_unimplemented   ? ASSAY_UNSUPPORTED
                            : status == dnnl_out_of_memory ? ASSAY_NOMEM
                                                           : ASSAY_DEVICE,
                            "oneDNN: status %d", (int)status);
}

#endif
