/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/plugin_case.c */
#include "tests/support/plugin_case.h"

#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const assay_manifest *plugin_load(const char *name)
{
    char path[512];
    const char *build = getenv("ASSAY_BUILD");

    if (strchr(name, '/') != NULL)
        snprintf(path, sizeof path, "%s/%s", build != NULL ? build : "build", name);
    else
        snprintf(path, sizeof path, "%s/lib/assay/assay_%s.so", build != NULL ? build : "build",
                 name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    ck_assert_msg(handle != NULL, "%s: %s", path, dlerror());
    const assay_manifest *m = dlsym(handle, ASSAY_PLUGIN_SYMBOL);
    ck_assert_msg(m != NULL, "%s has no manifest", path);
    return m;
}

const assay_kernel_desc *plugin_kernel(const assay_manifest *m, assay_op_id op, assay_dtype t,
                                       const char *name)
{
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        if (k->op == op && k->dtypes[0] == t && (name == NULL || strcmp(k->name, name) == 0))
            return k;
    }
    return NULL;
}

const assay_oracle_desc *plugin_oracle(const assay_manifest *m, assay_op_id op)
{
    for (size_t i = 0; i < m->oracle_count; i++)
        if (m->oracles[i].op == op)
            return &m->oracles[i];
    ck_abort_msg("no oracle for op %d", (int)op);
    return NULL;
}

static void set_params(assay_problem *p, const char *params)
{
    char text[256];
    char *rest = text;

    snprintf(text, sizeof text, "%s", params);
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(item, '=');
        ck_assert_ptr_nonnull(value);
        *value++ = '\0';
        ck_assert_msg(assay_problem_set(p, item, value) == ASSAY_OK, "%s", assay_last_error());
    }
}

assay_problem plugin_problem_of(const assay_kernel_desc *kernel)
{
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    assay_problem p;

    for (size_t i = 0; i < kernel->dtype_count; i++)
        dtypes[i] = (assay_dtype)kernel->dtypes[i];
    ck_assert_msg(assay_problem_init_tuple(kernel->op, dtypes, kernel->dtype_count, &p) == ASSAY_OK,
                  "%s: %s", kernel->name, assay_last_error());
    return p;
}

/* Bytes behind an operand that must stay as they are. Sanitizers and valgrind keep watch over each
 * byte behind a block themselves, reads too, and so get no more than a block of no bytes needs. */
static size_t tail_bytes(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 1;
#else
    const char *preload = getenv("LD_PRELOAD");

    return preload != NULL && strstr(preload, "vgpreload") != NULL ? 1 : 128;
#endif
}

enum { UNTOUCHED = 0xcd };

/* Operands of c->problem. */
static void make_operands(plugin_case *c, const char *params, size_t skew)
{
    set_params(&c->problem, params);
    ck_assert_msg(assay_problem_check(&c->problem) == ASSAY_OK, "%s: %s", params,
                  assay_last_error());
    c->count = c->problem.dtype_count;
    c->skew = skew;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t rank;
        int64_t dims[ASSAY_MAX_RANK];
        ck_assert_int_eq(assay_problem_operand(&c->problem, i, &rank, dims), ASSAY_OK);
        size_t bytes = (size_t)assay_problem_operand_bytes(&c->problem, i);
        c->spans[i] = bytes + skew + tail_bytes();
        ck_assert_int_eq(posix_memalign(&c->memory[i], 64, c->spans[i]), 0);
        memset(c->memory[i], UNTOUCHED, c->spans[i]);
        ck_assert_int_eq(assay_tensor_host((char *)c->memory[i] + skew,
                                           (assay_dtype)c->problem.dtypes[i], rank, dims, NULL,
                                           &c->operands[i]),
                         ASSAY_OK);
        c->elements = assay_problem_operand_elements(&c->problem, i);
    }
}

void plugin_case_init(plugin_case *c, assay_op_id op, assay_dtype t, const char *params,
                      size_t skew)
{
    memset(c, 0, sizeof *c);
    ck_assert_msg(assay_problem_init(op, t, &c->problem) == ASSAY_OK, "%s", assay_last_error());
    make_operands(c, params, skew);
}

void plugin_case_of(plugin_case *c, const assay_kernel_desc *kernel, const char *params,
                    size_t skew)
{
    memset(c, 0, sizeof *c);
    c->problem = plugin_problem_of(kernel);
    make_operands(c, params, skew);
}

void plugin_case_clear(plugin_case *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        free(c->memory[i]);
    memset(c, 0, sizeof *c);
}

double plugin_case_get(const plugin_case *c, uint32_t operand, int64_t index)
{
    return assay_load_f64(c->operands[operand].dtype, assay_tensor_data(&c->operands[operand]),
                          (size_t)index);
}

void plugin_case_set(plugin_case *c, uint32_t operand, int64_t index, double value)
{
    assay_store_f64(c->operands[operand].dtype, assay_tensor_data(&c->operands[operand]),
                    (size_t)index, value);
}

uint64_t plugin_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double plugin_uniform(uint64_t *state)
{
    return (double)(plugin_random(state) >> 11) * 0x1p-53;
}

double plugin_normal(uint64_t *state)
{
    double radius = sqrt(-2.0 * log(1.0 - plugin_uniform(state)));

    return radius * cos(6.283185307179586 * plugin_uniform(state));
}

void plugin_case_fill(plugin_case *c, uint32_t operand, uint64_t seed, double scale)
{
    int64_t n = assay_problem_operand_elements(&c->problem, operand);

    for (int64_t i = 0; i < n; i++)
        plugin_case_set(c, operand, i, scale * plugin_normal(&seed));
}

void plugin_case_poison(plugin_case *c)
{
    const assay_tensor *y = &c->operands[c->count - 1];

    if (c->elements > 0)
        memset(assay_tensor_data(y), 0xff, (size_t)c->elements * assay_dtype_bytes(y->dtype));
}

assay_status plugin_case_run(plugin_case *c, const assay_kernel_desc *kernel,
                             const int64_t *tunables)
{
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = c->count,
                           .problem = &c->problem,
                           .operands = c->operands,
                           .tunables = tunables};

    return kernel->run(&launch);
}

bool plugin_case_kept_apart(const plugin_case *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const unsigned char *memory = c->memory[i];
        size_t end = c->skew + (size_t)assay_problem_operand_bytes(&c->problem, i);
        for (size_t b = 0; b < c->spans[i]; b = b + 1 == c->skew ? end : b + 1)
            if ((b < c->skew || b >= end) && memory[b] != UNTOUCHED)
                return false;
    }
    return true;
}

void plugin_case_wide(const plugin_case *c, const assay_oracle_desc *oracle, unsigned threads,
                      assay_wide *out)
{
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = c->count,
                           .problem = &c->problem,
                           .operands = c->operands};
    size_t n = (size_t)c->elements + 1;

    memset(out, 0, sizeof *out);
    out->hi = calloc(4 * n, sizeof *out->hi);
    ck_assert_ptr_nonnull(out->hi);
    out->lo = out->hi + n;
    out->bound = out->hi + 2 * n;
    out->magnitude = assay_op_get((assay_op_id)c->problem.op)->bound_rule == ASSAY_BOUND_SUM
                         ? out->hi + 3 * n
                         : NULL;
    out->count = c->elements;
    ck_assert_int_eq(oracle->wide(&launch, threads, out), ASSAY_OK);
}

void plugin_wide_clear(assay_wide *wide)
{
    free(wide->hi);
    memset(wide, 0, sizeof *wide);
}
