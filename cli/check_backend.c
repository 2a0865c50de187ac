/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/check_backend.c -- the rules of conform/, each in a process of its own, and their verdicts.
 */
#include "cli/check_backend.h"

#include <stdio.h>
#include <time.h>

#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "conform/conform_worker.h"
#include "runtime/error.h"

static const char *const verdict_names[] = {
    [ASSAY__CONFORM_PASS] = "pass", [ASSAY__CONFORM_FAIL] = "FAIL", [ASSAY__CONFORM_SKIP] = "skip"};

typedef struct checked {
    const char *backend, *plugin_path; /* borrowed */
    const assay__strlist *only;        /* borrowed */
    bool is_json;
    json_t *rules; /* owned; NULL: not asked for */
    int64_t counts[ASSAY__CONFORM_SKIP + 1];
} checked;

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_line(const char *rule, const assay__conform_result *r)
{
    printf("%s %s", verdict_names[r->verdict], rule);
    if (r->verdict != ASSAY__CONFORM_PASS) {
        fputs(": ", stdout);
        assay__put_shown(stdout, r->reason);
    }
    putchar('\n');
    (void)fflush(stdout); /* the next rule may take its time */
}

static int put_rule(const checked *c, const char *rule, const assay__conform_result *r,
                    double took_s)
{
    static const char *const names[] = {[ASSAY__CONFORM_PASS] = "pass",
                                        [ASSAY__CONFORM_FAIL] = "fail",
                                        [ASSAY__CONFORM_SKIP] = "skip"};
    json_t *object = json_object();
    int bad = (int)assay__json_put_string(object, "rule", rule);

    bad |= (int)assay__json_put_string(object, "verdict", names[r->verdict]);
    if (r->verdict != ASSAY__CONFORM_PASS)
        bad |= (int)assay__json_put_string(object, "reason", r->reason);
    bad |= (int)assay__json_put_real(object, "took_s", took_s);
    return bad | (int)assay__json_append_take(c->rules, object);
}

static assay_status try_rule(checked *c, const char *rule)
{
    const double begin = now_s();
    assay__conform_result r;

    ASSAY_TRY(assay__conform_try(rule, c->backend, c->plugin_path, &assay__stop_signal, &r));
    c->counts[r.verdict]++;
    if (!c->is_json)
        print_line(rule, &r);
    else if (put_rule(c, rule, &r, now_s() - begin) != 0)
        return assay__fail(ASSAY_NOMEM, "out of memory");
    return ASSAY_OK;
}

static assay_status try_all(checked *c)
{
    size_t tried = 0;
    char buf[64];

    for (size_t i = 0; i < assay__conform_count(); i++) {
        const char *rule = assay__conform_name(i, buf);
        if (!assay__glob_any(c->only, rule))
            continue;
        ASSAY_TRY(try_rule(c, rule));
        tried++;
    }
    return tried > 0 ? ASSAY_OK
                     : assay__fail(ASSAY_INVALID, "--rule: no rule is called like that; without "
                                                  "--rule all are told");
}

static json_t *all_json(checked *c)
{
    json_t *root = assay__cmd_json_object("assay.check.backend/1");
    int bad = (int)assay__json_put_string(root, "backend", c->backend);

    bad |= (int)assay__json_put_int(root, "passed", c->counts[ASSAY__CONFORM_PASS]);
    bad |= (int)assay__json_put_int(root, "failed", c->counts[ASSAY__CONFORM_FAIL]);
    bad |= (int)assay__json_put_int(root, "skipped", c->counts[ASSAY__CONFORM_SKIP]);
    bad |= (int)assay__json_put_take(root, "rules", c->rules);
    c->rules = NULL;
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

static int tell_sum(checked *c)
{
    int code = 0;

    if (c->is_json)
        code = assay__cmd_print_json("check", all_json(c));
    else
        printf("%lld passed, %lld failed, %lld skipped\n",
               (long long)c->counts[ASSAY__CONFORM_PASS], (long long)c->counts[ASSAY__CONFORM_FAIL],
               (long long)c->counts[ASSAY__CONFORM_SKIP]);
    if (code != 0 || c->counts[ASSAY__CONFORM_FAIL] == 0)
        return code;
    return assay__cmd_fail("check",
                           assay__fail(ASSAY_WRONG,
                                       "backend '%s' breaks %lld of its rules; docs/backends.md "
                                       "says what each asks for",
                                       c->backend, (long long)c->counts[ASSAY__CONFORM_FAIL]));
}

int assay__check_backend(const char *backend, const char *plugin_path, const assay__strlist *only,
                         bool is_json)
{
    checked c = {.backend = backend,
                 .plugin_path = plugin_path,
                 .only = only,
                 .is_json = is_json,
                 .rules = is_json ? json_array() : NULL};

    assay__catch_signals();
    const assay_status status = try_all(&c);
    const int code = status == ASSAY_OK ? tell_sum(&c) : assay__cmd_fail("check", status);
    json_decref(c.rules);
    return code;
}
