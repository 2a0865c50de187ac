/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_kernels.c -- every kernel of a backend against the oracle, on small problems and
 * in every layout that it claims to take; and what measure says of one of them.
 *
 * Each problem is run twice: by the slot launch on buffers of the instance, and, where the host
 * reaches its memory, on addresses, as a program's call does it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/conform_case.h"
#include "runtime/engine_internal.h"
#include "runtime/pick_internal.h"
#include "runtime/tunables.h"

typedef struct kernel_run {
    assay__conform *c;
    const assay_binding *row;
    const assay__case *k;
    int64_t tunables[ASSAY_MAX_TUNABLES];
    char who[160];
} kernel_run;

static void name_run(kernel_run *r, assay__case_layout layout)
{
    (void)snprintf(r->who, sizeof r->who, "%s, %s", r->row->desc->name,
                   assay__case_layout_name(layout));
}

/* The kernel says that it is not for this problem. */
static bool declines(assay_status status)
{
    static const char *const says[] = {"declines this problem", "cannot run this problem",
                                       "do not suit this problem"};
    bool found = false;

    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        found = found || strstr(assay_last_error(), says[i]) != NULL;
    return status == ASSAY_INVALID && found;
}

/* ---- as a call does it ---- */

static assay_status copy_images(const assay__case *k, char **out, assay_tensor *operands)
{
    for (uint32_t i = 0; i < k->count; i++) {
        void *memory = NULL;
        if (posix_memalign(&memory, 64, k->bytes[i]) != 0)
            return ASSAY_NOMEM;
        memcpy(memory, k->images[i], k->bytes[i]);
        out[i] = memory;
        operands[i] = k->operands[i];
        operands[i].buffer.at.host = memory;
    }
    return ASSAY_OK;
}

/* handles: the operands as buffers of the engine, for the slot launch; NULL: as they are. */
static assay_status run_kernel(const kernel_run *r, const assay_tensor *operands,
                               const assay_tensor *handles)
{
    assay__run_on on = {.backend = &r->c->engine->backend,
                        .manifest = r->c->manifest,
                        .is_apart = handles != NULL,
                        .handles = handles};
    const assay__interned *variant = NULL;

    ASSAY_TRY(assay__intern(r->c->context, r->row, r->tunables, &variant));
    const assay_route route = {.binding = &variant->binding, .tunables = variant->tunables};
    return assay__run_checked(r->c->context, &route, &r->k->problem, operands, r->k->count, &on);
}

/* *ran: false when the kernel declines. */
static assay__conform_verdict judge_on_host(const kernel_run *r, bool *ran)
{
    assay__conform *c = r->c;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    char *images[ASSAY_MAX_OPERANDS] = {NULL}, why[256] = "", text[ASSAY_PROBLEM_TEXT_MAX] = "";
    assay_status status = copy_images(r->k, images, operands);

    if (status == ASSAY_OK)
        status = run_kernel(r, operands, NULL);
    *ran = !declines(status);
    const bool right =
        status == ASSAY_OK && assay__case_judge(r->k, r->row->desc, images, why, sizeof why);
    for (uint32_t i = 0; i < ASSAY_MAX_OPERANDS; i++)
        free(images[i]);
    if (!*ran)
        return ASSAY__CONFORM_PASS;
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, r->who, status, ASSAY_OK);
    (void)assay_problem_format(&r->k->problem, ASSAY_TEXT_ACCURACY, text, sizeof text);
    ASSAY__HOLDS(right, "%s, of '%.160s': %s", r->who, text, why);
    return ASSAY__CONFORM_PASS;
}

/* ---- by the slot launch ---- */

static assay__conform_verdict judge_on_device(const kernel_run *r, bool *ran)
{
    assay__conform *c = r->c;
    assay_buffer buffers[ASSAY_MAX_OPERANDS];
    assay_tensor handles[ASSAY_MAX_OPERANDS];

    ASSAY__FINE(assay__case_upload(r->k, c->engine, buffers));
    for (uint32_t i = 0; i < r->k->count; i++) {
        handles[i] = r->k->operands[i];
        handles[i].buffer = buffers[i];
    }
    const assay_status status = run_kernel(r, r->k->operands, handles);
    *ran = !declines(status);
    if (!*ran)
        return assay__case_untouched(c, r->k, buffers, r->who);
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, r->who, status, ASSAY_OK);
    ASSAY__PART(assay__case_judge_buffers(c, r->k, r->row->desc, buffers, r->who));
    ASSAY__FINE(assay__case_free(r->k, c->engine, buffers));
    return ASSAY__CONFORM_PASS;
}

/* ---- all of them ---- */

static assay__conform_verdict judge_case(const kernel_run *r)
{
    const bool reaches = assay_engine_supports(r->c->engine, ASSAY_FEATURE_UNIFIED_MEMORY);
    bool ran = true;

    if (r->k->elements == 0)
        return ASSAY__CONFORM_PASS; /* no kernel is called then */
    ASSAY__PART(judge_on_device(r, &ran));
    return ran && reaches ? judge_on_host(r, &ran) : ASSAY__CONFORM_PASS;
}

static assay__conform_verdict every_layout(const kernel_run *of, const assay_problem *p,
                                           unsigned seed)
{
    assay__conform *c = of->c;

    for (int layout = 0; layout < ASSAY__CASE_LAYOUTS; layout++) {
        kernel_run r = *of;
        assay__case k;
        ASSAY__FINE(assay__case_init(c->ref, p, r.row->desc, (assay__case_layout)layout, seed, &k));
        r.k = &k;
        name_run(&r, (assay__case_layout)layout);
        if (layout == ASSAY__CASE_DENSE || !k.is_dense)
            ASSAY__PART(judge_case(&r));
        assay__case_clear(&k);
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict every_problem(assay__conform *c, const assay_binding *row)
{
    kernel_run r = {.c = c, .row = row};
    assay_problem p;

    assay__tunables_default(row->desc, 2, r.tunables);
    for (unsigned i = 0;
         assay__case_problem((assay_op_id)row->op, row->dtypes, row->dtype_count, i, &p); i++)
        ASSAY__PART(every_layout(&r, &p, i));
    return ASSAY__CONFORM_PASS;
}

static bool is_own(const assay__conform *c, const assay_binding *row)
{
    return strcmp(row->manifest->name, c->backend) == 0;
}

static assay__conform_verdict every_kernel(assay__conform *c, const assay_snapshot *rows)
{
    size_t there = 0, available = 0;
    const char *reason = "";

    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (!is_own(c, row) || row->op != (uint16_t)c->op)
            continue;
        there++;
        available += row->available;
        if (row->available)
            ASSAY__PART(every_problem(c, row));
        else
            reason = row->reason;
    }
    if (there == 0)
        return assay__conform_skip(c, "the backend has no kernel of %s", assay_op_get(c->op)->name);
    return available > 0 ? ASSAY__CONFORM_PASS
                         : assay__conform_skip(c, "none of its %zu kernels can run here: %.160s",
                                               there, reason);
}

assay__conform_verdict assay__conform_kernels(assay__conform *c)
{
    const assay_snapshot *rows = NULL;

    if (c->ref == NULL)
        return assay__conform_skip(c, "the plug-in 'ref', which knows the right results, is not "
                                      "here");
    ASSAY__FINE(assay_table_hold(assay_context_table(c->context), &rows));
    const assay__conform_verdict verdict = every_kernel(c, rows);
    assay_snapshot_release(&rows);
    return verdict;
}

/* ---- measuring ---- */

typedef struct spans {
    size_t count, inner;
    bool is_bad; /* a span of no time that there is */
} spans;

static void on_span(void *cookie, double span_ns, size_t inner)
{
    spans *s = cookie;

    s->count++;
    s->inner += inner;
    s->is_bad = s->is_bad || !(span_ns >= 0.0) || !isfinite(span_ns);
}

static assay__conform_verdict check_spans(assay__conform *c, const spans *s, size_t count,
                                          size_t inner, const assay_clock_info *clock)
{
    ASSAY__HOLDS(s->count == count, "%zu spans were asked for, %zu told", count, s->count);
    ASSAY__HOLDS(s->inner == count * inner, "spans of %zu launches are told as %zu in all", inner,
                 s->inner);
    ASSAY__HOLDS(!s->is_bad, "a span takes a time that there is not");
    ASSAY__HOLDS(memchr(clock->name, 0, sizeof clock->name) != NULL && clock->name[0] != '\0',
                 "its clock has no name");
    ASSAY__HOLDS(clock->resolution_ns >= 0.0 && clock->overhead_ns >= 0.0,
                 "its clock has a resolution of %g ns and an overhead of %g", clock->resolution_ns,
                 clock->overhead_ns);
    ASSAY__HOLDS((int)clock->quality >= 0 && clock->quality <= ASSAY_TIMING_COUNTERS,
                 "its clock has quality %d", (int)clock->quality);
    return ASSAY__CONFORM_PASS;
}

static const assay_binding *row_of(const assay__conform *c, const assay_snapshot *rows,
                                   const assay__conform_work *w)
{
    const assay_op_id op = w->op == ASSAY_BINARY_ADD ? ASSAY_OP_add : ASSAY_OP_mul;

    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (is_own(c, row) && row->op == (uint16_t)op && row->dtypes[0] == ASSAY_F32 &&
            row->available)
            return row;
    }
    return NULL;
}

/* Every launch ran, and those before the first span, if any; y only grows. */
static assay__conform_verdict at_least(assay__conform *c, const assay__conform_work *w, int times)
{
    const float want = assay__conform_work_want(w, times);
    float y = 0.0f;

    ASSAY__FINE(assay_engine_download_at(c->engine, &y, w->y, 0, sizeof y));
    ASSAY__HOLDS(y >= want, "after %d launches that were timed an element is %g instead of %g",
                 times, (double)y, (double)want);
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict measure_row(assay__conform *c, const assay_binding *row,
                                          const assay__conform_work *w)
{
    const assay__backend *b = &c->engine->backend;
    const assay_buffer buffers[3] = {w->a, w->y, w->y};
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    assay_tensor operands[3];
    assay_problem p;

    ASSAY__FINE(assay_problem_init((assay_op_id)row->op, ASSAY_F32, &p));
    ASSAY__FINE(assay_problem_set_int(&p, "n", w->n));
    for (int i = 0; i < 3; i++) {
        ASSAY__FINE(assay_tensor_host(NULL, ASSAY_F32, 1, &w->n, NULL, &operands[i]));
        operands[i].buffer = buffers[i];
    }
    assay__tunables_default(row->desc, 2, tunables);
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = 3,
                                 .problem = &p,
                                 .operands = operands,
                                 .tunables = tunables,
                                 .instance = b->instance,
                                 .tunable_count = (uint32_t)row->desc->tunable_count};
    spans seen = {0};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = row->run,
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = 3,
                                .spans = 7,
                                .cache = ASSAY_CACHE_HOT,
                                .sink = on_span,
                                .cookie = &seen};
    assay_clock_info clock;
    memset(&clock, 0, sizeof clock);
    ASSAY__FINE(assay__backend_measure(b, &what, &clock));
    ASSAY__PART(check_spans(c, &seen, 7, 3, &clock));
    return at_least(c, w, 21);
}

assay__conform_verdict assay__conform_measure_spans(assay__conform *c)
{
    const assay_snapshot *rows = NULL;
    assay__conform_work w;

    ASSAY__PART(assay__conform_work_make(c, 64, &w));
    ASSAY__FINE(assay_table_hold(assay_context_table(c->context), &rows));
    const assay_binding *row = row_of(c, rows, &w);
    ASSAY__HOLDS(row != NULL, "it has a kernel, which its table lacks");
    const assay__conform_verdict verdict = measure_row(c, row, &w);
    assay_snapshot_release(&rows);
    return verdict;
}
