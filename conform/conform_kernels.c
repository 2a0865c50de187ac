/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_kernels.c -- every kernel of a backend against the oracle, on small problems and
 * in every layout that it claims to take.  Problems without outputs too: nothing in `run` says that
 * they do not come, and a sweep asks for them.
 *
 * Each problem is run twice: by the slot launch on buffers of the instance, and, where the host
 * reaches its memory, on addresses, as a program's call does it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/conform_kernels.h"
#include "conform/conform_slots.h"
#include "runtime/engine_internal.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"
#include "runtime/tunables.h"

void assay__kernel_name(assay__kernel_run *r, const char *what)
{
    (void)snprintf(r->who, sizeof r->who, "%.64s, %s", r->row->desc->name, what);
    assay__conform_about(r->who);
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

static assay__conform_verdict wrong_end(const assay__kernel_run *r, const char *problem,
                                        assay_status status)
{
    char call[ASSAY_PROBLEM_TEXT_MAX + 200];

    (void)snprintf(call, sizeof call, "%.120s, of '%.76s',", r->who, problem);
    return assay__conform_wrong_status(r->c, call, status, r->wanted);
}

/* ---- as a call does it ---- */

/* Where the output lies in the place of an input, both are one image. */
static assay_status copy_images(const assay__case *k, char **out, assay_tensor *operands)
{
    for (uint32_t i = 0; i < k->count; i++) {
        void *memory = NULL;
        operands[i] = k->operands[i];
        if (i + 1 == k->count && k->same >= 0) {
            operands[i].buffer.at.host = out[k->same];
            break;
        }
        if (posix_memalign(&memory, 64, k->bytes[i]) != 0)
            return ASSAY_NOMEM;
        memcpy(memory, k->images[i], k->bytes[i]);
        out[i] = memory;
        operands[i].buffer.at.host = memory;
    }
    return ASSAY_OK;
}

/* handles: the operands as buffers of the engine, for the slot launch; NULL: as they are. */
static assay_status run_kernel(const assay__kernel_run *r, const assay_tensor *operands,
                               const assay_tensor *handles)
{
    assay__run_on on = {.backend = &r->c->engine->backend,
                        .manifest = r->c->manifest,
                        .is_apart = handles != NULL,
                        .handles = handles};
    const assay__interned *variant = NULL;

    assay__error_clear(); /* an old text is no reason to decline */
    ASSAY_TRY(assay__intern(r->c->context, r->row, r->tunables, &variant));
    const assay_route route = {.binding = &variant->binding, .tunables = variant->tunables};
    return assay__run_checked(r->c->context, &route, &r->k->problem, operands, r->k->count, &on);
}

static bool is_untouched(const assay__case *k, char *const *images)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (memcmp(images[i], k->images[i], k->bytes[i]) != 0)
            return false;
    return true;
}

static bool judge_images(const assay__kernel_run *r, char *const *images, char *why, size_t cap)
{
    char *after[ASSAY_MAX_OPERANDS] = {NULL};

    if (r->wanted != ASSAY_OK) {
        (void)snprintf(why, cap, "it was refused, and wrote");
        return is_untouched(r->k, images);
    }
    memcpy(after, images, sizeof after);
    if (r->k->same >= 0)
        after[r->k->count - 1] = images[r->k->same];
    return assay__case_judge(r->k, r->row->desc, after, why, cap);
}

/* *ran: false when the kernel declines. */
static assay__conform_verdict judge_on_host(const assay__kernel_run *r, bool *ran)
{
    assay__conform *c = r->c;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    char *images[ASSAY_MAX_OPERANDS] = {NULL}, why[256] = "", text[ASSAY_PROBLEM_TEXT_MAX] = "";
    assay_status status = copy_images(r->k, images, operands);

    if (status == ASSAY_OK)
        status = run_kernel(r, operands, NULL);
    *ran = !declines(status);
    const bool right = status == r->wanted && judge_images(r, images, why, sizeof why);
    for (uint32_t i = 0; i < ASSAY_MAX_OPERANDS; i++)
        free(images[i]);
    if (!*ran)
        return ASSAY__CONFORM_PASS;
    (void)assay_problem_format(&r->k->problem, ASSAY_TEXT_ACCURACY, text, sizeof text);
    if (status != r->wanted)
        return wrong_end(r, text, status);
    ASSAY__HOLDS(right, "%s, of '%.160s': %s", r->who, text, why);
    return ASSAY__CONFORM_PASS;
}

/* ---- by the slot launch ---- */

static assay__conform_verdict judge_on_device(const assay__kernel_run *r, bool *ran)
{
    assay__conform *c = r->c;
    const uint32_t y = r->k->count - 1;
    assay_buffer buffers[ASSAY_MAX_OPERANDS], used[ASSAY_MAX_OPERANDS];
    assay_tensor handles[ASSAY_MAX_OPERANDS];
    char text[ASSAY_PROBLEM_TEXT_MAX] = "";

    ASSAY__FINE(assay__case_upload(r->k, c->engine, buffers));
    memcpy(used, buffers, sizeof used);
    if (r->k->same >= 0)
        used[y] = buffers[r->k->same];
    for (uint32_t i = 0; i <= y; i++) {
        handles[i] = r->k->operands[i];
        handles[i].buffer = used[i];
    }
    const assay_status status = run_kernel(r, r->k->operands, handles);
    *ran = !declines(status);
    if (!*ran)
        return assay__case_untouched(c, r->k, buffers, r->who);
    (void)assay_problem_format(&r->k->problem, ASSAY_TEXT_ACCURACY, text, sizeof text);
    if (status != r->wanted)
        return wrong_end(r, text, status);
    if (r->wanted != ASSAY_OK)
        ASSAY__PART(assay__case_untouched(c, r->k, buffers, r->who));
    else
        ASSAY__PART(assay__case_judge_buffers(c, r->k, r->row->desc, used, r->who));
    ASSAY__FINE(assay__case_free(r->k, c->engine, buffers));
    return ASSAY__CONFORM_PASS;
}

/* ---- all of them ---- */

assay__conform_verdict assay__kernel_judge(const assay__kernel_run *r)
{
    const bool reaches = assay_engine_supports(r->c->engine, ASSAY_FEATURE_UNIFIED_MEMORY);
    bool ran = true;

    ASSAY__PART(judge_on_device(r, &ran));
    return ran && reaches ? judge_on_host(r, &ran) : ASSAY__CONFORM_PASS;
}

static assay__conform_verdict every_layout(const assay__kernel_run *of, const assay_problem *p,
                                           unsigned seed)
{
    assay__conform *c = of->c;

    for (int layout = 0; layout < ASSAY__CASE_LAYOUTS; layout++) {
        assay__kernel_run r = *of;
        assay__case k;
        ASSAY__FINE(assay__case_init(c->ref, p, r.row->desc, (assay__case_layout)layout, seed, &k));
        r.k = &k;
        assay__kernel_name(&r, assay__case_layout_name((assay__case_layout)layout));
        if (layout == ASSAY__CASE_DENSE || !k.is_dense)
            ASSAY__PART(assay__kernel_judge(&r));
        assay__case_clear(&k);
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict every_problem(assay__conform *c, const assay_binding *row)
{
    assay__kernel_run r = {.c = c, .row = row, .wanted = ASSAY_OK};
    assay_problem p;

    assay__tunables_default(row->desc, 2, r.tunables);
    for (unsigned i = 0;
         assay__case_problem((assay_op_id)row->op, row->dtypes, row->dtype_count, i, &p); i++)
        ASSAY__PART(every_layout(&r, &p, i));
    return assay__kernel_laws(&r);
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
    assay__conform_about(NULL);
    assay_snapshot_release(&rows);
    return verdict;
}
