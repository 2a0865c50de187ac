/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_conv2d.c -- conv2d and both its gradients as primitives of oneDNN.
 *
 * The direct algorithm alone: Winograd's lets an infinity outside of an output's window reach it.
 * Padding by zeros in memory meets infinite filters, so that such implementations are refused. */
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "backends/onednn/onednn_calls.h"
#include "backends/thread_choice.h"
#include "runtime/host_backend.h"
#include "runtime/keyhash.h"
#include "runtime/op_params.h"

static bool in_range(const assay_problem *p)
{
    const int64_t extents[] = {ASSAY__INT(p, conv2d, n), ASSAY__INT(p, conv2d, c),
                               ASSAY__INT(p, conv2d, h), ASSAY__INT(p, conv2d, w),
                               ASSAY__INT(p, conv2d, k), ASSAY__INT(p, conv2d, r),
                               ASSAY__INT(p, conv2d, s)};

    /* All three have the parameters of conv2d in its order. */
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        if (extents[i] < 1 || extents[i] > INT_MAX)
            return false;
    return true;
}

#if HAVE_ONEDNN

/* Row-major, the last extent one element a step. */
static void set_operand(onednn_problem *p, int i, int rank, const int64_t *dims)
{
    int64_t step = 1;

    memcpy(p->dims[i], dims, (size_t)rank * sizeof *dims);
    for (int d = rank - 1; d >= 0; step *= dims[d--])
        p->strides[i][d] = step;
}

static void set_filter(onednn_problem *p, int i, const int64_t *dims)
{
    const int64_t grouped[] = {p->groups, dims[0] / p->groups, dims[1], dims[2], dims[3]};

    p->filter = i;
    set_operand(p, i, p->groups > 1 ? 5 : 4, p->groups > 1 ? grouped : dims);
}

/* Places of the filter along extent d. */
static int64_t places_along(const onednn_problem *p, int d, int64_t extent, int64_t taps)
{
    return (extent + 2 * p->pad[d] - (p->gap[d] + 1) * (taps - 1) - 1) / p->step[d] + 1;
}

static void describe(const assay_problem *p, const int64_t *tunables, onednn_problem *out)
{
    bool is_data = p->op == ASSAY_OP_conv2d_backward_data,
         is_filter = p->op == ASSAY_OP_conv2d_backward_filter;
    int64_t n = ASSAY__INT(p, conv2d, n), c = ASSAY__INT(p, conv2d, c),
            h = ASSAY__INT(p, conv2d, h), w = ASSAY__INT(p, conv2d, w),
            k = ASSAY__INT(p, conv2d, k), r = ASSAY__INT(p, conv2d, r),
            s = ASSAY__INT(p, conv2d, s);

    memset(out, 0, sizeof *out);
    out->op = p->op;
    out->threads = tunables != NULL ? tunables[0] : 1;
    out->rank = 4;
    out->dtype = out->out_dtype = p->dtypes[0];
    out->count = 3;
    out->alpha = 1.0;
    out->groups = ASSAY__INT(p, conv2d, groups);
    out->step[0] = ASSAY__INT(p, conv2d, stride_h);
    out->step[1] = ASSAY__INT(p, conv2d, stride_w);
    out->gap[0] = ASSAY__INT(p, conv2d, dil_h) - 1;
    out->gap[1] = ASSAY__INT(p, conv2d, dil_w) - 1;
    out->pad[0] = ASSAY__INT(p, conv2d, pad_h);
    out->pad[1] = ASSAY__INT(p, conv2d, pad_w);
    set_operand(out, is_data ? 2 : 0, 4, (int64_t[]){n, c, h, w});
    set_operand(out,
                is_data     ? 0
                : is_filter ? 1
                            : 2,
                4, (int64_t[]){n, k, places_along(out, 0, h, r), places_along(out, 1, w, s)});
    set_filter(out, is_filter ? 2 : 1, (int64_t[]){k, c / out->groups, r, s});
}

void onednn_conv2d_example(assay_op_id op, assay_dtype t, onednn_problem *out)
{
    const int64_t image[] = {1, 16, 8, 8}, filter[] = {16, 16, 3, 3};

    memset(out, 0, sizeof *out);
    out->op = (int64_t)op;
    out->threads = out->groups = 1;
    out->rank = 4;
    out->dtype = out->out_dtype = (int32_t)t;
    out->count = 3;
    out->alpha = 1.0;
    for (int i = 0; i < 3; i++)
        set_operand(out, i, 4, image);
    set_filter(out, op == ASSAY_OP_conv2d_backward_filter ? 2 : 1, filter);
    out->step[0] = out->step[1] = out->pad[0] = out->pad[1] = 1;
}

/* As the library's calls take them: of its largest rank. */
typedef struct places {
    dnnl_dims_t step, gap, pad;
} places;

static places places_of(const onednn_problem *p)
{
    return (places){.step = {p->step[0], p->step[1]},
                    .gap = {p->gap[0], p->gap[1]},
                    .pad = {p->pad[0], p->pad[1]}};
}

/* The gradients ask which forward convolution they belong to. */
static dnnl_status_t describe_forward(const onednn_library *l, const onednn_problem *p,
                                      const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *filter,
                                      const dnnl_memory_desc_t *y,
                                      const_dnnl_primitive_attr_t attributes,
                                      dnnl_primitive_desc_t *out)
{
    const places at = places_of(p);
    dnnl_convolution_desc_t conv;
    dnnl_prop_kind_t kind =
        p->op == ASSAY_OP_conv2d ? dnnl_forward_inference : dnnl_forward_training;
    dnnl_status_t status = l->dilated_convolution_forward_desc_init(
        &conv, kind, dnnl_convolution_direct, x, filter, NULL, y, at.step, at.gap, at.pad, at.pad);

    return status != dnnl_success
               ? status
               : l->primitive_desc_create(out, &conv, attributes, l->engine, NULL);
}

/* Does the implementation put zeros into memory where there is padding?  Those over columns do, and
 * those over tiles of AMX; the others clip their loops.  One that is not known counts as the
 * former. */
static bool pads_in_memory(const onednn_library *l, const onednn_problem *p,
                           const_dnnl_primitive_desc_t desc)
{
    static const char *const clipping[] = {
        "jit:avx512_core", "jit:avx2", "jit_dw:", "brgconv:avx512_", "brdgmm_dw:", "brgconv:avx2"};
    const char *name = NULL;

    if (p->pad[0] == 0 && p->pad[1] == 0)
        return false;
    if (l->primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name) != dnnl_success ||
        name == NULL || strstr(name, "amx") != NULL)
        return true;
    for (size_t i = 0; i < sizeof clipping / sizeof *clipping; i++)
        if (strncmp(name, clipping[i], strlen(clipping[i])) == 0)
            return false;
    return true;
}

static dnnl_status_t describe_backward(const onednn_library *l, const onednn_problem *p,
                                       const dnnl_memory_desc_t *md,
                                       const_dnnl_primitive_attr_t attributes,
                                       dnnl_primitive_desc_t *out)
{
    bool is_data = p->op == ASSAY_OP_conv2d_backward_data;
    const dnnl_memory_desc_t *x = &md[is_data ? 2 : 0], *filter = &md[p->filter],
                             *y = &md[is_data ? 0 : 1];
    const places at = places_of(p);
    dnnl_primitive_desc_t forward;
    dnnl_convolution_desc_t conv;
    dnnl_status_t status = describe_forward(l, p, x, filter, y, attributes, &forward);

    if (status != dnnl_success)
        return status;
    status =
        is_data ? l->dilated_convolution_backward_data_desc_init(
                      &conv, dnnl_convolution_direct, x, filter, y, at.step, at.gap, at.pad, at.pad)
                : l->dilated_convolution_backward_weights_desc_init(&conv, dnnl_convolution_direct,
                                                                    x, filter, NULL, y, at.step,
                                                                    at.gap, at.pad, at.pad);
    if (status == dnnl_success)
        status = l->primitive_desc_create(out, &conv, attributes, l->engine, forward);
    l->primitive_desc_destroy(forward);
    return status;
}

dnnl_status_t onednn_describe_conv2d(const onednn_library *l, const onednn_problem *p,
                                     const dnnl_memory_desc_t *md,
                                     const_dnnl_primitive_attr_t attributes,
                                     dnnl_primitive_desc_t *out)
{
    dnnl_status_t status = p->op == ASSAY_OP_conv2d
                               ? describe_forward(l, p, &md[0], &md[1], &md[2], attributes, out)
                               : describe_backward(l, p, md, attributes, out);

    if (status != dnnl_success || !pads_in_memory(l, p, *out))
        return status;
    l->primitive_desc_destroy(*out);
    return dnnl_unimplemented;
}

/* ---- which problems it takes ---- */

/* To ask the library takes 10 to 80 us, and a pick asks for every candidate: answers are kept, at a
 * place of the table that their problem alone decides. */
enum { ANSWERS = 512, WORDS = 17 };

typedef struct answer {
    int64_t words[WORDS]; /* op 0: none is kept */
    bool implements;      /* by the library */
} answer;

static answer answers[ANSWERS];
static pthread_mutex_t answering = PTHREAD_MUTEX_INITIALIZER;

static void key_of(const assay_problem *p, int64_t threads, int64_t words[WORDS])
{
    const int64_t key[WORDS] = {(int64_t)p->op + 1,
                                p->dtypes[0],
                                threads,
                                ASSAY__INT(p, conv2d, n),
                                ASSAY__INT(p, conv2d, c),
                                ASSAY__INT(p, conv2d, h),
                                ASSAY__INT(p, conv2d, w),
                                ASSAY__INT(p, conv2d, k),
                                ASSAY__INT(p, conv2d, r),
                                ASSAY__INT(p, conv2d, s),
                                ASSAY__INT(p, conv2d, stride_h),
                                ASSAY__INT(p, conv2d, stride_w),
                                ASSAY__INT(p, conv2d, pad_h),
                                ASSAY__INT(p, conv2d, pad_w),
                                ASSAY__INT(p, conv2d, dil_h),
                                ASSAY__INT(p, conv2d, dil_w),
                                ASSAY__INT(p, conv2d, groups)};

    memcpy(words, key, sizeof key);
}

/* Never waits: where another thread is at the table, or was when the process was forked, the
 * library is asked itself. */
static bool recall(const answer *wanted, const answer *place, bool *implements)
{
    bool found;

    if (pthread_mutex_trylock(&answering) != 0)
        return false;
    found = memcmp(place->words, wanted->words, sizeof place->words) == 0;
    *implements = place->implements;
    pthread_mutex_unlock(&answering);
    return found;
}

static void remember(const answer *given, answer *place)
{
    if (pthread_mutex_trylock(&answering) != 0)
        return;
    *place = *given;
    pthread_mutex_unlock(&answering);
}

static bool implements(const onednn_library *l, const assay_problem *problem, int64_t threads)
{
    answer given;
    bool known = false;
    onednn_problem p;

    memset(&given, 0, sizeof given);
    key_of(problem, threads, given.words);
    answer *place = &answers[assay__xxh64(given.words, sizeof given.words) % ANSWERS];
    if (recall(&given, place, &known))
        return known;
    describe(problem, &threads, &p);
    given.implements = onednn_implements(l, &p);
    remember(&given, place);
    return given.implements;
}

/* Asks the library, as only it knows which implementation it would take; but where nothing is
 * padded none is refused, and of f32 there is always one, if the slowest. */
bool onednn_conv2d_usable(const assay_problem *problem, const int64_t *tunables)
{
    const char *why;
    const onednn_library *l;

    if (!in_range(problem) || (tunables != NULL && !threads_usable(tunables[0])))
        return false;
    if (problem->dtypes[0] == ASSAY_F32 && ASSAY__INT(problem, conv2d, pad_h) == 0 &&
        ASSAY__INT(problem, conv2d, pad_w) == 0)
        return true;
    l = onednn_open(&why);
    if (l == NULL)
        return true; /* its absence is told elsewhere */
    return implements(l, problem, tunables != NULL ? tunables[0] : 1);
}

assay_status onednn_conv2d(const assay_launch *launch)
{
    const char *why;
    const onednn_library *l = onednn_open(&why);
    onednn_problem p;

    if (l == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "oneDNN: %s", why);
    describe(launch->problem, launch->tunables, &p);
    return onednn_run(launch, l, &p,
                      (void *[]){assay_tensor_data(&launch->operands[0]),
                                 assay_tensor_data(&launch->operands[1]),
                                 assay_tensor_data(&launch->operands[2])});
}

#else

bool onednn_conv2d_usable(const assay_problem *problem, const int64_t *tunables)
{
    return in_range(problem) && (tunables == NULL || threads_usable(tunables[0]));
}

assay_status onednn_conv2d(const assay_launch *launch)
{
    return onednn_identify(launch->instance, "onednn", NULL, 0);
}

#endif
