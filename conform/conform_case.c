/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_case.c -- see conform_case.h. */
#include "conform/conform_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/inputs.h"
#include "runtime/caps.h"
#include "runtime/error.h"
#include "sweep/acceptance.h"
#include "tuner/arena.h"

enum {
    TAIL = 64,   /* bytes behind the last element */
    GAP = 3,     /* elements between rows */
    SHIFT = 128, /* bytes before the first element of an operand that has an offset */
    BETWEEN = 0xff
};

const char *assay__case_layout_name(assay__case_layout layout)
{
    static const char *const names[ASSAY__CASE_LAYOUTS] = {
        [ASSAY__CASE_DENSE] = "dense",         [ASSAY__CASE_LEADING] = "rows apart",
        [ASSAY__CASE_STRIDED] = "strided",     [ASSAY__CASE_NEGATIVE] = "negative stride",
        [ASSAY__CASE_BROADCAST] = "broadcast", [ASSAY__CASE_OFFSET] = "at an offset"};

    return names[layout];
}

/* ---- images ---- */

/* Strides of a layout; *span: elements from the first to the last in memory and one more. */
static void make_strides(const assay_tensor *dense, assay__case_layout layout, int64_t *strides,
                         int64_t *span)
{
    *span = layout == ASSAY__CASE_STRIDED ? 2 : 1;
    for (uint32_t d = dense->rank; d-- > 0;) {
        const bool is_row = d + 1 == dense->rank;
        strides[d] = layout == ASSAY__CASE_BROADCAST && d == 0 ? 0 : *span;
        *span *= dense->dims[d] > 0 ? dense->dims[d] : 1;
        if (is_row && (layout == ASSAY__CASE_LEADING || layout == ASSAY__CASE_STRIDED))
            *span += GAP;
    }
}

static assay_status lay_out(const assay_tensor *dense, assay__case_layout layout, char **image,
                            size_t *bytes, assay_tensor *out)
{
    const size_t each = assay_dtype_bytes(dense->dtype);
    const size_t shift = layout == ASSAY__CASE_OFFSET ? SHIFT : 0;
    int64_t strides[ASSAY_MAX_RANK] = {0}, span;
    void *memory = NULL;

    make_strides(dense, layout, strides, &span);
    *bytes = shift + (size_t)span * each + TAIL;
    if (posix_memalign(&memory, 64, *bytes) != 0)
        return assay__fail(ASSAY_NOMEM, "case: no memory for %zu bytes", *bytes);
    memset(memory, BETWEEN, *bytes);
    *image = memory;
    ASSAY_TRY(assay_tensor_host(memory, dense->dtype, dense->rank, dense->dims, strides, out));
    out->buffer.size_bytes = *bytes;
    out->byte_offset = shift;
    if (layout == ASSAY__CASE_NEGATIVE && dense->rank > 0 && dense->dims[dense->rank - 1] > 1) {
        const int64_t last = dense->dims[dense->rank - 1] - 1;
        out->byte_offset += (uint64_t)last * each;
        out->strides[dense->rank - 1] = -1;
    }
    return ASSAY_OK;
}

/* As the kernel takes it, else dense. */
static assay_status lay_operand(assay__case *k, uint32_t i, const assay_tensor *dense,
                                const assay_kernel_desc *kernel, assay__case_layout layout)
{
    const bool is_output = i + 1 == k->count;
    char why[160];

    if (kernel == NULL || layout == ASSAY__CASE_DENSE ||
        (is_output && layout == ASSAY__CASE_BROADCAST))
        return lay_out(dense, ASSAY__CASE_DENSE, &k->images[i], &k->bytes[i], &k->operands[i]);
    ASSAY_TRY(lay_out(dense, layout, &k->images[i], &k->bytes[i], &k->operands[i]));
    if (assay__caps_fit_tensor(kernel, &k->operands[i], i, why, sizeof why)) {
        k->is_dense = k->is_dense && layout != ASSAY__CASE_OFFSET &&
                      assay_tensor_layout(&k->operands[i]) == 'c';
        return ASSAY_OK;
    }
    free(k->images[i]);
    k->images[i] = NULL;
    return lay_out(dense, ASSAY__CASE_DENSE, &k->images[i], &k->bytes[i], &k->operands[i]);
}

/* ---- what is in them ---- */

static assay_status fill_operand(assay__case *k, uint32_t i, const assay__case_data *data,
                                 char *dense)
{
    const bool is_output = i + 1 == k->count;
    const uint64_t n = (uint64_t)assay_problem_operand_elements(&k->problem, i);
    assay_stratum strata[2] = {ASSAY_STRATUM_NORMAL, ASSAY_STRATUM_NORMAL};
    const size_t there = assay__strata_preferred((assay_op_id)k->problem.op, 2, strata);
    const assay_stratum usual = strata[there > 1 ? data->seed % 2 : 0];
    const assay_stratum stratum =
        data->stratum == ASSAY__CASE_USUAL ? usual : (assay_stratum)data->stratum;

    if (is_output && !assay__reads_output(&k->problem)) {
        memset(dense, BETWEEN, (size_t)assay_problem_operand_bytes(&k->problem, i));
        return ASSAY_OK;
    }
    ASSAY_TRY(assay__inputs_fill(&k->problem, stratum, data->seed, i, 0, n, dense));
    if (data->change != NULL && n > 0)
        data->change(&k->problem, i, dense, (size_t)n);
    return ASSAY_OK;
}

/* Fills a dense operand, copies it to where it lies. */
static assay_status make_operand(assay__case *k, uint32_t i, const assay_kernel_desc *kernel,
                                 const assay__case_data *data)
{
    const size_t bytes = (size_t)assay_problem_operand_bytes(&k->problem, i);
    int64_t dims[ASSAY_MAX_RANK];
    assay_tensor dense;
    uint32_t rank;

    ASSAY_TRY(assay_problem_operand(&k->problem, i, &rank, dims));
    char *memory = malloc(bytes + 1);
    if (memory == NULL)
        return assay__fail(ASSAY_NOMEM, "case: no memory for %zu bytes", bytes);
    assay_status status =
        assay_tensor_host(memory, (assay_dtype)k->problem.dtypes[i], rank, dims, NULL, &dense);
    if (status == ASSAY_OK)
        status = lay_operand(k, i, &dense, kernel, data->layout);
    if (status == ASSAY_OK)
        status = fill_operand(k, i, data, memory);
    if (status == ASSAY_OK && assay_tensor_elements(&dense) > 0)
        status = assay_tensor_copy(&dense, &k->operands[i]);
    free(memory);
    return status;
}

/* ---- the oracle ---- */

static const assay_oracle_desc *oracle_of(const assay_manifest *ref, assay_op_id op)
{
    for (size_t i = 0; ref != NULL && i < ref->oracle_count; i++)
        if (ref->oracles[i].op == op)
            return &ref->oracles[i];
    return NULL;
}

/* Dense copies of operands in memory of `dense`, which the caller frees. */
static assay_status make_dense(const assay__case *k, char *const images[ASSAY_MAX_OPERANDS],
                               assay_tensor *out, char **dense)
{
    size_t total = 64, at = 0;

    for (uint32_t i = 0; i < k->count; i++)
        total += ((size_t)assay_problem_operand_bytes(&k->problem, i) + 127) / 64 * 64;
    void *memory = NULL;
    if (posix_memalign(&memory, 64, total) != 0)
        return assay__fail(ASSAY_NOMEM, "case: no memory for %zu bytes", total);
    *dense = memory;
    for (uint32_t i = 0; i < k->count; i++) {
        assay_tensor from = k->operands[i];
        from.buffer.at.host = images[i];
        ASSAY_TRY(assay_tensor_host(*dense + at, from.dtype, from.rank, from.dims, NULL, &out[i]));
        if (assay_tensor_elements(&from) > 0)
            ASSAY_TRY(assay_tensor_copy(&from, &out[i]));
        at += ((size_t)assay_problem_operand_bytes(&k->problem, i) + 127) / 64 * 64;
    }
    return ASSAY_OK;
}

static assay_status fill_depth(assay__case *k, const assay_tensor *x)
{
    assay__depth_state state = ASSAY__DEPTH_START;
    assay_accept_spec spec;

    ASSAY_TRY(assay__acceptance_of(&k->problem, &spec));
    if (spec.rule != ASSAY_ACCEPT_SOFTMAX)
        return ASSAY_OK;
    k->depth = calloc((size_t)k->elements + 1, sizeof *k->depth);
    if (k->depth == NULL)
        return assay__fail(ASSAY_NOMEM, "case: depths");
    assay_status status =
        assay__softmax_depth(&k->problem, assay_tensor_data(x), 0, k->elements, &state, k->depth);
    assay__depth_clear(&state);
    return status;
}

static assay_status ask_oracle(const assay_oracle_desc *oracle, assay__case *k)
{
    const size_t n = (size_t)k->elements + 1;
    const bool has_magnitude =
        assay_op_get((assay_op_id)k->problem.op)->bound_rule == ASSAY_BOUND_SUM;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    char *dense = NULL;

    k->wide.hi = calloc(4 * n, sizeof *k->wide.hi);
    if (k->wide.hi == NULL)
        return assay__fail(ASSAY_NOMEM, "case: results");
    k->wide.lo = k->wide.hi + n;
    k->wide.bound = k->wide.hi + 2 * n;
    k->wide.magnitude = has_magnitude ? k->wide.hi + 3 * n : NULL;
    k->wide.count = k->elements;
    assay_status status = make_dense(k, k->images, operands, &dense);
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = k->count,
                                 .problem = &k->problem,
                                 .operands = operands};
    if (status == ASSAY_OK && k->elements > 0)
        status = oracle->wide(&launch, 1, &k->wide);
    if (status == ASSAY_OK && k->elements > 0)
        status = fill_depth(k, &operands[0]);
    free(dense);
    return status;
}

assay_status assay__case_make(const assay_manifest *ref, const assay_problem *problem,
                              const assay_kernel_desc *kernel, const assay__case_data *data,
                              assay__case *out)
{
    const assay_oracle_desc *oracle = oracle_of(ref, (assay_op_id)problem->op);
    assay_status status = ASSAY_OK;

    memset(out, 0, sizeof *out);
    if (oracle == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "no oracle of %s",
                           assay_op_get((assay_op_id)problem->op)->name);
    out->problem = *problem;
    out->count = problem->dtype_count;
    out->is_dense = true;
    out->same = -1;
    out->elements = assay_problem_operand_elements(problem, out->count - 1);
    for (uint32_t i = 0; status == ASSAY_OK && i < out->count; i++)
        status = make_operand(out, i, kernel, data);
    if (status == ASSAY_OK)
        status = ask_oracle(oracle, out);
    if (status != ASSAY_OK)
        assay__case_clear(out);
    return status;
}

assay_status assay__case_init(const assay_manifest *ref, const assay_problem *problem,
                              const assay_kernel_desc *kernel, assay__case_layout layout,
                              unsigned seed, assay__case *out)
{
    const assay__case_data data = {.layout = layout, .seed = seed, .stratum = ASSAY__CASE_USUAL};

    return assay__case_make(ref, problem, kernel, &data, out);
}

void assay__case_clear(assay__case *k)
{
    for (uint32_t i = 0; i < ASSAY_MAX_OPERANDS; i++)
        free(k->images[i]);
    free(k->wide.hi);
    free(k->depth);
    memset(k, 0, sizeof *k);
}

/* ---- verdicts ---- */

/* Largest magnitudes of the kernel's tiles, where it errs by them; owned by the caller. */
static assay_status spread_of(const assay__case *k, const assay_kernel_desc *kernel, double **out)
{
    *out = NULL;
    if (kernel == NULL || kernel->error_tile == 0 || k->wide.magnitude == NULL)
        return ASSAY_OK;
    *out = malloc(((size_t)k->elements + 1) * sizeof **out);
    if (*out == NULL)
        return assay__fail(ASSAY_NOMEM, "case: magnitudes");
    assay__tile_magnitude(&k->problem, kernel->error_tile, k->wide.magnitude, *out);
    return ASSAY_OK;
}

static assay_status count_wrong(const assay__case *k, const assay_kernel_desc *kernel,
                                const void *y, assay_accept_counts *counts)
{
    assay_accept_spec spec;
    double *spread;

    assay__accept_counts_init(counts);
    ASSAY_TRY(kernel != NULL ? assay__acceptance_for(&k->problem, kernel, &spec)
                             : assay__acceptance_of(&k->problem, &spec));
    ASSAY_TRY(spread_of(k, kernel, &spread));
    const assay_error_batch batch = {.y = y,
                                     .hi = k->wide.hi,
                                     .lo = k->wide.lo,
                                     .bound = k->wide.bound,
                                     .magnitude = spread != NULL ? spread : k->wide.magnitude,
                                     .count = (size_t)k->elements};
    assay_status status = assay__accept_batch(&batch, k->depth, &spec, counts);
    free(spread);
    return status;
}

/* Between and behind its elements the output's image is as it was. */
static bool beside_is_kept(const assay__case *k, char *after)
{
    const uint32_t y = k->count - 1;
    assay_tensor from = k->operands[y], to = k->operands[y];
    char *seen = malloc(k->bytes[y]);

    if (seen == NULL)
        return false;
    memcpy(seen, after, k->bytes[y]);
    to.buffer.at.host = seen;
    bool kept = k->elements == 0 || assay_tensor_copy(&from, &to) == ASSAY_OK;
    kept = kept && memcmp(seen, k->images[y], k->bytes[y]) == 0;
    free(seen);
    return kept;
}

static bool judge_output(const assay__case *k, const assay_kernel_desc *kernel,
                         const assay_tensor *y, char *why, size_t cap)
{
    assay_accept_counts counts;

    if (count_wrong(k, kernel, assay_tensor_data(y), &counts) != ASSAY_OK) {
        (void)snprintf(why, cap, "it cannot be judged: %.200s", assay_last_error());
        return false;
    }
    if (counts.failed == 0)
        return true;
    const size_t at = (size_t)counts.first_failed;
    (void)snprintf(why, cap, "element %zu is %.9g instead of %.9g, %llu of %lld are out of bounds",
                   at, assay_load_f64(y->dtype, assay_tensor_data(y), at), k->wide.hi[at],
                   (unsigned long long)counts.failed, (long long)k->elements);
    return false;
}

bool assay__case_judge(const assay__case *k, const assay_kernel_desc *kernel,
                       char *const after[ASSAY_MAX_OPERANDS], char *why, size_t cap)
{
    assay_tensor dense[ASSAY_MAX_OPERANDS];
    char *memory = NULL;
    bool right;

    for (uint32_t i = 0; i + 1 < k->count; i++)
        if ((int)i != k->same && memcmp(after[i], k->images[i], k->bytes[i]) != 0) {
            (void)snprintf(why, cap, "operand %u, an input, was written to", i);
            return false;
        }
    if (!beside_is_kept(k, after[k->count - 1])) {
        (void)snprintf(why, cap, "it wrote beside the elements of its output");
        return false;
    }
    if (k->elements == 0)
        return true;
    right = make_dense(k, after, dense, &memory) == ASSAY_OK &&
            judge_output(k, kernel, &dense[k->count - 1], why, cap);
    free(memory);
    return right;
}

/* ---- buffers ---- */

assay_status assay__case_upload(const assay__case *k, assay_engine *engine,
                                assay_buffer out[ASSAY_MAX_OPERANDS])
{
    for (uint32_t i = 0; i < k->count; i++) {
        ASSAY_TRY(assay_engine_alloc(engine, k->bytes[i], 0, &out[i]));
        ASSAY_TRY(assay_engine_upload(engine, out[i], k->images[i], k->bytes[i]));
    }
    return ASSAY_OK;
}

assay_status assay__case_free(const assay__case *k, assay_engine *engine,
                              const assay_buffer buffers[ASSAY_MAX_OPERANDS])
{
    for (uint32_t i = 0; i < k->count; i++)
        ASSAY_TRY(assay_engine_free(engine, buffers[i]));
    return ASSAY_OK;
}

static assay_status download(const assay__case *k, assay_engine *engine,
                             const assay_buffer *buffers, char **after)
{
    for (uint32_t i = 0; i < k->count; i++) {
        after[i] = malloc(k->bytes[i]);
        if (after[i] == NULL)
            return assay__fail(ASSAY_NOMEM, "case: no memory for %zu bytes", k->bytes[i]);
        ASSAY_TRY(assay_engine_download(engine, after[i], buffers[i], k->bytes[i]));
    }
    return ASSAY_OK;
}

static void free_images(char **after)
{
    for (uint32_t i = 0; i < ASSAY_MAX_OPERANDS; i++)
        free(after[i]);
}

assay__conform_verdict assay__case_judge_buffers(assay__conform *c, const assay__case *k,
                                                 const assay_kernel_desc *kernel,
                                                 const assay_buffer *buffers, const char *who)
{
    char *after[ASSAY_MAX_OPERANDS] = {NULL}, why[256] = "", text[ASSAY_PROBLEM_TEXT_MAX] = "";
    const assay_status status = download(k, c->engine, buffers, after);
    const bool right = status == ASSAY_OK && assay__case_judge(k, kernel, after, why, sizeof why);

    free_images(after);
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, "download", status, ASSAY_OK);
    (void)assay_problem_format(&k->problem, ASSAY_TEXT_ACCURACY, text, sizeof text);
    ASSAY__HOLDS(right, "%.100s of '%.200s': %s", who, text, why);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__case_untouched(assay__conform *c, const assay__case *k,
                                             const assay_buffer *buffers, const char *who)
{
    char *after[ASSAY_MAX_OPERANDS] = {NULL};
    const assay_status status = download(k, c->engine, buffers, after);
    uint32_t i = 0;

    while (status == ASSAY_OK && i < k->count && memcmp(after[i], k->images[i], k->bytes[i]) == 0)
        i++;
    free_images(after);
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, "download", status, ASSAY_OK);
    ASSAY__HOLDS(i == k->count, "%.200s was refused, and wrote to operand %u", who, i);
    return ASSAY__CONFORM_PASS;
}
