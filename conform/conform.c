/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform.c -- the table of rules, and one rule from its engines to its verdict. */
#include "conform/conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/conform_slots.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

typedef struct rule {
    const char *name;
    int feature;
    assay__conform_start start;
    assay__conform_verdict (*run)(assay__conform *c);
} rule;

static const rule rules[] = {
#define X(name, feature, start) \
    {#name, (int)(feature), ASSAY__CONFORM_##start, assay__conform_##name},
    ASSAY__CONFORM_RULES(X)
#undef X
};
enum { RULES = sizeof rules / sizeof rules[0] };

size_t assay__conform_count(void)
{
    return RULES + (size_t)ASSAY_OP_COUNT;
}

const char *assay__conform_name(size_t index, char buf[64])
{
    if (index < RULES)
        return rules[index].name;
    if (index >= assay__conform_count())
        return NULL;
    (void)snprintf(buf, 64, "kernels_%s", assay_op_get((assay_op_id)(index - RULES))->name);
    return buf;
}

static assay_status find_rule(const char *name, rule *out, assay_op_id *op)
{
    char buf[64];

    for (size_t i = 0; i < assay__conform_count(); i++) {
        if (strcmp(assay__conform_name(i, buf), name) != 0)
            continue;
        *op = i < RULES ? (assay_op_id)0 : (assay_op_id)(i - RULES);
        *out = i < RULES ? rules[i]
                         : (rule){NULL, ASSAY_FEATURE_RESIDENT, ASSAY__CONFORM_OPEN,
                                  assay__conform_kernels};
        return ASSAY_OK;
    }
    return assay__fail(ASSAY_NOTFOUND, "no rule is called '%s'", name);
}

/* ---- verdicts ---- */

assay__conform_verdict assay__conform_fail(assay__conform *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(c->reason, sizeof c->reason, format, args);
    va_end(args);
    return ASSAY__CONFORM_FAIL;
}

assay__conform_verdict assay__conform_skip(assay__conform *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(c->reason, sizeof c->reason, format, args);
    va_end(args);
    return ASSAY__CONFORM_SKIP;
}

assay__conform_verdict assay__conform_wrong_status(assay__conform *c, const char *call,
                                                   assay_status got, assay_status wanted)
{
    char text[200];

    assay__conform_call_text(call, text, sizeof text);
    return assay__conform_fail(c, "%s gave %s instead of %s%s%.280s", text, assay_status_name(got),
                               assay_status_name(wanted), got != ASSAY_OK ? ": " : "",
                               got != ASSAY_OK ? assay_last_error() : "");
}

void assay__conform_forget_text(void)
{
    assay__error_clear();
}

assay__conform_verdict assay__conform_check_status(assay__conform *c, const char *call,
                                                   assay_status got, assay_status wanted)
{
    char text[200];

    if (got != wanted)
        return assay__conform_wrong_status(c, call, got, wanted);
    if (got == ASSAY_OK || assay_last_error()[0] != '\0')
        return ASSAY__CONFORM_PASS;
    assay__conform_call_text(call, text, sizeof text);
    return assay__conform_fail(c, "%s gave %s and left no text; host->fail takes one", text,
                               assay_status_name(got));
}

/* ---- one rule ---- */

/* Without the reference too: what needs it is skipped then. */
static assay_status open_context(const char *backend, const char *plugin_path, assay_context **out)
{
    char names[96];
    assay_open_options options = {
        .struct_size = sizeof options, .plugin_path = plugin_path, .backends = names};

    (void)snprintf(names, sizeof names, "%.60s%s", backend,
                   strcmp(backend, "ref") != 0 ? ",ref" : "");
    if (assay_open(NULL, &options, out) == ASSAY_OK)
        return ASSAY_OK;
    (void)snprintf(names, sizeof names, "%.60s", backend);
    return assay_open(NULL, &options, out);
}

static const assay_manifest *manifest_of(assay_context *context, const char *backend)
{
    const assay__plugin *p = assay__plugins_find(assay__context_plugins(context), backend);

    return p != NULL ? p->manifest : NULL;
}

static assay_status open_all(assay__conform *c, const char *plugin_path, assay__conform_start start)
{
    ASSAY_TRY(open_context(c->backend, plugin_path, &c->context));
    c->manifest = manifest_of(c->context, c->backend);
    c->ref = manifest_of(c->context, "ref");
    ASSAY_TRY(assay_engine_create(c->context, c->backend, NULL, &c->engine));
    ASSAY_TRY(assay_engine_create(c->context, c->backend, NULL, &c->other));
    assay__conform_watch(c->engine);
    assay__conform_watch(c->other);
    if (start == ASSAY__CONFORM_CLOSED)
        return ASSAY_OK;
    ASSAY_TRY(assay_engine_init(c->engine, 0));
    ASSAY_TRY(assay_engine_init(c->other, 0));
    return assay_engine_profile(c->engine, &c->profile);
}

static assay__conform_verdict run(assay__conform *c, const rule *r)
{
    if (r->feature != ASSAY__CONFORM_NONE && (c->profile.features >> r->feature & 1) == 0)
        return assay__conform_skip(c, "the backend has no %s",
                                   assay_feature_name((assay_feature)r->feature));
    return r->run(c);
}

static void close_all(assay__conform *c)
{
    assay_engine_destroy(&c->engine);
    assay_engine_destroy(&c->other);
    assay_close(&c->context);
}

assay_status assay__conform_run(const char *rule_name, const char *backend, const char *plugin_path,
                                assay__conform_result *out)
{
    assay__conform c = {.backend = backend};
    rule r = {.run = NULL};

    ASSAY_TRY(find_rule(rule_name, &r, &c.op));
    assay_status status = open_all(&c, plugin_path, r.start);
    if (status == ASSAY_OK) {
        out->verdict = run(&c, &r);
    } else if (status != ASSAY_UNAVAILABLE) {
        out->verdict = assay__conform_fail(&c, "the backend cannot be taken into use: %s: %.500s",
                                           assay_status_name(status), assay_last_error());
        status = ASSAY_OK;
    }
    (void)snprintf(out->reason, sizeof out->reason, "%s", c.reason);
    /* What a failed rule left behind ends with the process, and must not hide why it failed. */
    if (status == ASSAY_OK && out->verdict != ASSAY__CONFORM_FAIL)
        close_all(&c);
    return status;
}

/* ---- what rules share ---- */

assay__conform_verdict assay__conform_holds_bytes(assay__conform *c, assay_engine *engine,
                                                  assay_buffer buffer, const void *want,
                                                  size_t bytes, const char *when)
{
    const unsigned char *w = want;
    unsigned char *got = malloc(bytes + 1);

    if (got == NULL)
        return assay__conform_fail(c, "no memory for %zu bytes", bytes);
    memset(got, 0x3c, bytes + 1);
    const assay_status status = assay_engine_download_at(engine, got, buffer, 0, bytes);
    size_t i = 0;
    while (status == ASSAY_OK && i < bytes && got[i] == w[i])
        i++;
    const unsigned char behind = got[bytes], at = i < bytes ? got[i] : 0;
    free(got);
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, "download", status, ASSAY_OK);
    if (i < bytes)
        return assay__conform_fail(c, "%s: byte %zu of the buffer is 0x%02x instead of 0x%02x",
                                   when, i, at, w[i]);
    ASSAY__HOLDS(behind == 0x3c, "%s: a download of %zu bytes wrote more", when, bytes);
    return ASSAY__CONFORM_PASS;
}

static bool has_binary(assay__conform *c, assay_op_id op)
{
    const uint8_t f32[3] = {ASSAY_F32, ASSAY_F32, ASSAY_F32};

    return assay_engine_supports_op(c->engine, op, f32, 3);
}

static assay__conform_verdict fill_f32(assay__conform *c, assay_buffer to, float value, int64_t n)
{
    float *x = malloc((size_t)n * sizeof *x);

    ASSAY__HOLDS(x != NULL, "no memory");
    for (int64_t i = 0; i < n; i++)
        x[i] = value;
    const assay_status status = assay_engine_upload(c->engine, to, x, (uint64_t)n * sizeof *x);
    free(x);
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, "upload", status, ASSAY_OK);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_work_make(assay__conform *c, int64_t n,
                                                assay__conform_work *out)
{
    const uint64_t bytes = (uint64_t)n * sizeof(float);

    memset(out, 0, sizeof *out);
    if (has_binary(c, ASSAY_OP_add))
        out->op = ASSAY_BINARY_ADD;
    else if (has_binary(c, ASSAY_OP_mul))
        out->op = ASSAY_BINARY_MUL;
    else
        return assay__conform_skip(c, "the backend has no kernel of add or mul of f32 to try it "
                                      "with");
    out->n = n;
    out->a_value = out->op == ASSAY_BINARY_ADD ? 1.0f : 2.0f;
    out->y_value = 1.0f;
    ASSAY__FINE(assay_engine_alloc(c->engine, bytes, 0, &out->a));
    ASSAY__FINE(assay_engine_alloc(c->engine, bytes, 0, &out->y));
    ASSAY__PART(fill_f32(c, out->a, out->a_value, n));
    return fill_f32(c, out->y, out->y_value, n);
}

assay_status assay__conform_work_run(assay_engine *engine, const assay__conform_work *w,
                                     assay_queue *queue)
{
    assay_call call = {.struct_size = sizeof call, .queue = queue};
    const assay_place a = {.buffer = w->a}, y = {.buffer = w->y};

    return assay_binary(engine, w->op, ASSAY_F32, a, y, y, w->n, &call);
}

float assay__conform_work_want(const assay__conform_work *w, int times)
{
    float y = w->y_value;

    for (int i = 0; i < times; i++)
        y = w->op == ASSAY_BINARY_ADD ? y + w->a_value : y * w->a_value;
    return y;
}

assay__conform_verdict assay__conform_work_check(assay__conform *c, const assay__conform_work *w,
                                                 int times)
{
    const size_t bytes = (size_t)w->n * sizeof(float);
    const float want = assay__conform_work_want(w, times);
    float *got = malloc(bytes);
    int64_t i = 0;

    ASSAY__HOLDS(got != NULL, "no memory");
    const assay_status status = assay_engine_download(c->engine, got, w->y, bytes);
    while (status == ASSAY_OK && i < w->n && got[i] >= want && got[i] <= want)
        i++;
    const double at = status == ASSAY_OK && i < w->n ? (double)got[i] : 0.0;
    free(got);
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, "download", status, ASSAY_OK);
    ASSAY__HOLDS(i == w->n, "after %d launches element %lld is %g instead of %g", times,
                 (long long)i, at, (double)want);
    return ASSAY__CONFORM_PASS;
}
