/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/report_errors.c -- the accuracy row that speaks for each (deployment, revision, problem). */
#include <stdlib.h>
#include <string.h>

#include "db/db_names.h"
#include "db/report_load.h"
#include "runtime/error.h"

static size_t slot_of(const assay__report *r, const assay__report_key *key)
{
    /* Odd multipliers of about 64 bits; ids are small and dense. */
    uint64_t hash = (uint64_t)key->deployment * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uint64_t)key->revision) * 0xc2b2ae3d27d4eb4fu;
    hash = (hash ^ (hash >> 29) ^ (uint64_t)key->problem) * 0x165667b19e3779f9u;
    size_t slot = (size_t)(hash ^ (hash >> 32)) & (r->error_slots - 1);

    while (r->error_keys[slot].deployment != 0 &&
           memcmp(&r->error_keys[slot], key, sizeof *key) != 0)
        slot = (slot + 1) & (r->error_slots - 1);
    return slot;
}

const assay__report_error *assay__report_find_error(const assay__report *r,
                                                    const assay__report_key *key)
{
    if (r->error_slots == 0)
        return NULL;
    size_t slot = slot_of(r, key);
    return r->error_keys[slot].deployment == 0 ? NULL : &r->errors[slot];
}

/* Doubles the slots when they are more than half full. */
static assay_status make_room(assay__report *r)
{
    assay__report old = *r;

    if (2 * (r->error_count + 1) <= r->error_slots)
        return ASSAY_OK;
    r->error_slots = old.error_slots == 0 ? 1024 : 2 * old.error_slots;
    r->error_keys = calloc(r->error_slots, sizeof *r->error_keys);
    r->errors = calloc(r->error_slots, sizeof *r->errors);
    if (r->error_keys == NULL || r->errors == NULL) {
        free(r->error_keys);
        free(r->errors);
        r->error_keys = old.error_keys;
        r->errors = old.errors;
        r->error_slots = old.error_slots;
        return assay__fail(ASSAY_NOMEM, "report: out of memory");
    }
    for (size_t i = 0; i < old.error_slots; i++)
        if (old.error_keys[i].deployment != 0) {
            size_t slot = slot_of(r, &old.error_keys[i]);
            r->error_keys[slot] = old.error_keys[i];
            r->errors[slot] = old.errors[i];
        }
    free(old.error_keys);
    free(old.errors);
    return ASSAY_OK;
}

/* `whole`: the union of strata; it hides in the top bit of `passed` while loading. */
enum { PASSED = 1, WHOLE = 2 };

static bool speaks_before(const assay__report_error *a, const assay__report_error *b)
{
    if ((a->passed & PASSED) != (b->passed & PASSED))
        return (a->passed & PASSED) == 0;
    if ((a->passed & WHOLE) != (b->passed & WHOLE))
        return (a->passed & WHOLE) != 0;
    if (a->proof != b->proof)
        return a->proof > b->proof;
    return a->id > b->id;
}

static void read_error(assay__query *q, assay__report_key *key, assay__report_error *e)
{
    e->id = assay__column_int(q);
    key->deployment = assay__column_int(q);
    key->revision = assay__column_int(q);
    key->problem = assay__column_int(q);
    e->passed = assay__column_int(q) != 0 ? WHOLE : 0;
    if (assay__column_int(q) != 0)
        e->passed |= PASSED;
    e->proof = (uint8_t)assay__db_proof_parse(assay__column_text(q));
    e->elements = assay__column_int(q);
    e->max_ulp = assay__column_real(q);
    e->max_err_ulp = assay__column_real(q);
    e->max_rel = assay__column_real(q);
    e->max_abs = assay__column_real(q);
    e->max_rho = assay__column_real(q);
    e->bound = assay__column_real(q);
    int64_t mismatches = assay__column_int(q);
    e->mismatches = mismatches > UINT32_MAX ? UINT32_MAX : (uint32_t)mismatches;
}

static assay_status keep_error(assay__report *r, const assay__report_key *key,
                               const assay__report_error *e)
{
    ASSAY_TRY(make_room(r));
    size_t slot = slot_of(r, key);
    if (r->error_keys[slot].deployment == 0) {
        r->error_keys[slot] = *key;
        r->errors[slot] = *e;
        r->error_count++;
    } else if (speaks_before(e, &r->errors[slot])) {
        r->errors[slot] = *e;
    }
    return ASSAY_OK;
}

assay_status assay__report_load_errors(assay__report *r)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    if (r->errors != NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_ERRORS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_key key;
        assay__report_error e = {0};
        read_error(&q, &key, &e);
        if (assay__report_find_revision(r, key.revision) != NULL &&
            assay__report_find_deployment(r, key.deployment) != NULL)
            status = keep_error(r, &key, &e);
    }
    ASSAY_TRY(assay__query_finish(&q, status));
    for (size_t i = 0; i < r->error_slots; i++)
        r->errors[i].passed &= PASSED;
    return ASSAY_OK;
}
