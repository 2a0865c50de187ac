/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_blaslt_plan.c -- descriptors and algorithms, made once a problem and kept.
 *
 * The library's heuristic takes 100 us and more; what it said is found again by the bytes of the
 * key. */
#include "backends/cuda/cuda_blaslt.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_kernels.h"

/* ---- keys --------------------------------------------------------------------------------------
 */

static uint32_t align_of(CUdeviceptr address)
{
    uint32_t align = 256; /* the most that the library asks about */

    while (address % align != 0)
        align /= 2;
    return align;
}

static CUdeviceptr address_of(const void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

void cuda_blaslt_key_of(const assay_launch *launch, const matmul_launch *g, CUdeviceptr bias,
                        cuda_blaslt_key *key)
{
    const bool is_batch = g->batch > 1;

    *key = (cuda_blaslt_key){
        .batch = g->batch,
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .lda = g->lda,
        .ldb = g->ldb,
        .ldc = g->ldc,
        .a_step = is_batch ? g->a_step : 0,
        .b_step = is_batch ? g->b_step : 0,
        .c_step = is_batch ? g->c_step : 0,
        .align = {align_of(address_of(g->a)), align_of(address_of(g->b)),
                  align_of(address_of(g->c)), align_of(bias)},
        .in = (uint8_t)launch->operands[0].dtype,
        .out = (uint8_t)launch->operands[launch->operand_count - 1].dtype,
        .trans_a = g->trans_a,
        .trans_b = g->trans_b,
        .has_bias = bias != 0,
        .choice = (uint8_t)launch->tunables[CUDA_BLASLT_TUNABLE_CHOICE],
    };
}

/* FNV-1a, a word at a time. */
static size_t bucket_of(const cuda_blaslt_key *key)
{
    uint64_t words[sizeof *key / sizeof(uint64_t)], hash = 0xcbf29ce484222325;

    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = (hash ^ words[i]) * 0x100000001b3;
    return (hash ^ hash >> 32) % CUDA_BLASLT_BUCKETS;
}
_Static_assert(sizeof(cuda_blaslt_key) == 10 * sizeof(int64_t) + 4 * sizeof(uint32_t) + 8,
               "no padding in what is compared as bytes");

/* ---- descriptors -------------------------------------------------------------------------------
 */

static cudaDataType_t type_of(uint8_t dtype)
{
    return dtype == ASSAY_F64   ? CUDA_R_64F
           : dtype == ASSAY_F32 ? CUDA_R_32F
           : dtype == ASSAY_F16 ? CUDA_R_16F
                                : CUDA_R_16BF;
}

static cublasStatus_t make_layout(const cuda_blaslt_library *lt, uint8_t dtype, int64_t rows,
                                  int64_t cols, int64_t ld, const cuda_blaslt_key *key,
                                  int64_t step, cublasLtMatrixLayout_t *out)
{
    const int32_t batch = (int32_t)key->batch;
    cublasStatus_t status =
        lt->MatrixLayoutCreate(out, type_of(dtype), (uint64_t)rows, (uint64_t)cols, ld);

    if (status != CUBLAS_STATUS_SUCCESS || batch == 1)
        return status;
    status = lt->MatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                          sizeof batch);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    return lt->MatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step,
                                        sizeof step);
}

/* Its first operand is our B, see cuda_blaslt.h. */
static cublasStatus_t make_layouts(const cuda_blaslt_library *lt, cuda_blaslt_plan *plan)
{
    const cuda_blaslt_key *key = &plan->key;
    cublasStatus_t status =
        make_layout(lt, key->in, key->trans_b ? key->k : key->n, key->trans_b ? key->n : key->k,
                    key->ldb, key, key->b_step, &plan->b);

    if (status == CUBLAS_STATUS_SUCCESS)
        status = make_layout(lt, key->in, key->trans_a ? key->m : key->k,
                             key->trans_a ? key->k : key->m, key->lda, key, key->a_step, &plan->a);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = make_layout(lt, key->out, key->n, key->m, key->ldc, key, key->c_step, &plan->c);
    return status;
}

static cublasStatus_t set_transposed(const cuda_blaslt_library *lt, const cuda_blaslt_plan *plan)
{
    const int32_t first = plan->key.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t second = plan->key.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasStatus_t status = lt->MatmulDescSetAttribute(plan->product, CUBLASLT_MATMUL_DESC_TRANSA,
                                                       &first, sizeof first);

    return status != CUBLAS_STATUS_SUCCESS
               ? status
               : lt->MatmulDescSetAttribute(plan->product, CUBLASLT_MATMUL_DESC_TRANSB, &second,
                                            sizeof second);
}

/* n elements, one a row of its result, which is one a column of ours; the same for every batch. */
static cublasStatus_t set_bias(const cuda_blaslt_library *lt, const cuda_blaslt_plan *plan,
                               CUdeviceptr bias)
{
    const uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const void *address = (const void *)(uintptr_t)bias;
    cublasStatus_t status = lt->MatmulDescSetAttribute(plan->product, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                       &epilogue, sizeof epilogue);

    return status != CUBLAS_STATUS_SUCCESS
               ? status
               : lt->MatmulDescSetAttribute(plan->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                            &address, sizeof address);
}

/* Sums in f32, in f64 for f64; operands are never rounded to TF32. */
static cublasStatus_t make_product(const cuda_blaslt_library *lt, cuda_blaslt_plan *plan,
                                   CUdeviceptr bias)
{
    const bool is_f64 = plan->key.in == ASSAY_F64;
    cublasStatus_t status =
        lt->MatmulDescCreate(&plan->product, is_f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                             is_f64 ? CUDA_R_64F : CUDA_R_32F);

    if (status == CUBLAS_STATUS_SUCCESS)
        status = set_transposed(lt, plan);
    if (status == CUBLAS_STATUS_SUCCESS && bias != 0)
        status = set_bias(lt, plan, bias);
    return status;
}

/* ---- algorithms --------------------------------------------------------------------------------
 */

typedef struct wish {
    cublasLtMatmulPreferenceAttributes_t attribute;
    const void *value;
    size_t bytes;
} wish;

/* Partial sums must not be rounded to 16 bits: "one rounding at the end". */
static uint32_t reductions_for(const cuda_blaslt_key *key)
{
    const bool is_wide = key->out == ASSAY_F32 || key->out == ASSAY_F64;

    return is_wide ? CUBLASLT_REDUCTION_SCHEME_MASK : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

static cublasStatus_t make_preference(const cuda_blaslt_state *state, const cuda_blaslt_key *key,
                                      cublasLtMatmulPreference_t *out)
{
    const cuda_blaslt_library *lt = state->library;
    const uint64_t workspace = state->workspace;
    const uint32_t reductions = reductions_for(key);
    const wish wishes[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
        {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &key->align[1], sizeof key->align[1]},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &key->align[0], sizeof key->align[0]},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &key->align[2], sizeof key->align[2]},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &key->align[2], sizeof key->align[2]},
    };
    cublasStatus_t status = lt->MatmulPreferenceCreate(out);

    for (size_t i = 0; status == CUBLAS_STATUS_SUCCESS && i < sizeof wishes / sizeof *wishes; i++)
        status = lt->MatmulPreferenceSetAttribute(*out, wishes[i].attribute, wishes[i].value,
                                                  wishes[i].bytes);
    return status;
}

/* The whole list each time, so that a choice means the same whoever asks. */
static cublasStatus_t choose(const cuda_blaslt_state *state, cuda_blaslt_plan *plan)
{
    const cuda_blaslt_library *lt = state->library;
    cublasLtMatmulHeuristicResult_t found[CUDA_BLASLT_CHOICES];
    cublasLtMatmulPreference_t preference = NULL;
    int count = 0;
    cublasStatus_t status = make_preference(state, &plan->key, &preference);

    memset(found, 0, sizeof found);
    if (status == CUBLAS_STATUS_SUCCESS)
        status =
            lt->MatmulAlgoGetHeuristic(state->handle, plan->product, plan->b, plan->a, plan->c,
                                       plan->c, preference, CUDA_BLASLT_CHOICES, found, &count);
    if (preference != NULL)
        (void)lt->MatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED)
        return CUBLAS_STATUS_SUCCESS; /* an empty list */
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (plan->key.choice < count && found[plan->key.choice].state == CUBLAS_STATUS_SUCCESS) {
        plan->algo = found[plan->key.choice].algo;
        plan->workspace = found[plan->key.choice].workspaceSize;
        plan->is_usable = true;
    }
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static void destroy(const cuda_blaslt_library *lt, cuda_blaslt_plan *plan)
{
    if (plan->product != NULL)
        (void)lt->MatmulDescDestroy(plan->product);
    if (plan->a != NULL)
        (void)lt->MatrixLayoutDestroy(plan->a);
    if (plan->b != NULL)
        (void)lt->MatrixLayoutDestroy(plan->b);
    if (plan->c != NULL)
        (void)lt->MatrixLayoutDestroy(plan->c);
    free(plan);
}

void cuda_blaslt_plans_clear(cuda_blaslt_state *state)
{
    for (size_t i = 0; i < CUDA_BLASLT_BUCKETS; i++) {
        while (state->plans[i] != NULL) {
            cuda_blaslt_plan *plan = state->plans[i];
            state->plans[i] = plan->next;
            destroy(state->library, plan);
        }
    }
    state->plan_count = 0;
}

static assay_status make_plan(assay_instance *instance, cuda_blaslt_state *state,
                              const cuda_blaslt_key *key, CUdeviceptr bias, cuda_blaslt_plan **out)
{
    cuda_blaslt_plan *plan = calloc(1, sizeof *plan);

    if (plan == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "out of memory");
    plan->key = *key;
    cublasStatus_t status = make_product(state->library, plan, bias);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = make_layouts(state->library, plan);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = choose(state, plan);
    if (status != CUBLAS_STATUS_SUCCESS) {
        destroy(state->library, plan);
        return cuda_blaslt_check(instance, status, "asking for algorithms");
    }
    *out = plan;
    return ASSAY_OK;
}

static cuda_blaslt_plan *find(const cuda_blaslt_state *state, size_t bucket,
                              const cuda_blaslt_key *key)
{
    cuda_blaslt_plan *plan = state->plans[bucket];

    while (plan != NULL && memcmp(&plan->key, key, sizeof *key) != 0)
        plan = plan->next;
    return plan;
}

assay_status cuda_blaslt_plan_get(assay_instance *instance, cuda_blaslt_state *state,
                                  const cuda_blaslt_key *key, CUdeviceptr bias,
                                  const cuda_blaslt_plan **out)
{
    const size_t bucket = bucket_of(key);
    cuda_blaslt_plan *plan = find(state, bucket, key);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

    if (plan == NULL) {
        /* Shapes without end: forget all rather than keep count of their use. */
        if (state->plan_count == CUDA_BLASLT_PLANS_MAX)
            cuda_blaslt_plans_clear(state);
        ASSAY_TRY(make_plan(instance, state, key, bias, &plan));
        plan->next = state->plans[bucket];
        state->plans[bucket] = plan;
        state->plan_count++;
    } else if (bias != 0) {
        status = set_bias(state->library, plan, bias);
    }
    if (!plan->is_usable)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "cuBLASLt has no algorithm number %u for this problem", key->choice);
    *out = plan;
    return cuda_blaslt_check(instance, status, "setting the bias");
}
