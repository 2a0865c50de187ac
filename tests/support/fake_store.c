/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/fake_store.c -- a store in memory, for tests of the picker. */
#include "tests/support/fake_store.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "runtime/error.h"

fake_store fake;

static assay_status open_read(const char *path, assay__store **out)
{
    if (fake.open_status != ASSAY_OK)
        return assay__fail(fake.open_status, "%s: as the test asks", path);
    *out = (assay__store *)&fake;
    return ASSAY_OK;
}

static void close_store(assay__store *store)
{
    ck_assert_ptr_eq(store, &fake);
    ck_assert_int_eq(fake.inside, 0);
    fake.closed++;
}

static assay_status get_version(assay__store *store, int64_t *out)
{
    ck_assert_ptr_eq(store, &fake);
    *out = 1;
    return ASSAY_OK;
}

static assay_status get_commits(assay__store *store, int64_t *out)
{
    ck_assert_ptr_eq(store, &fake);
    *out = fake.is_still ? fake.commits : ++fake.commits;
    return ASSAY_OK;
}

static assay_status begin_snapshot(assay__store *store)
{
    ck_assert_ptr_eq(store, &fake);
    fake.inside++;
    return ASSAY_OK;
}

static void end_snapshot(assay__store *store)
{
    ck_assert_ptr_eq(store, &fake);
    fake.inside--;
}

static assay_status count_routes(assay__store *store, const char *hex, size_t *here,
                                 size_t *elsewhere)
{
    (void)store;
    (void)hex;
    *here = fake.route_count;
    *elsewhere = fake.elsewhere;
    return ASSAY_OK;
}

static assay_status each_revision(assay__store *store, const char *hex,
                                  assay_status (*row)(void *, const assay__store_revision *),
                                  void *cookie)
{
    (void)store;
    (void)hex;
    ck_assert_int_eq(fake.inside, 1);
    for (size_t i = 0; i < fake.revision_count; i++)
        ASSAY_TRY(row(cookie, &fake.revisions[i]));
    return ASSAY_OK;
}

static assay_status each_route(assay__store *store, const char *hex,
                               assay_status (*row)(void *, const assay__store_route *),
                               void *cookie)
{
    (void)store;
    (void)hex;
    ck_assert_int_eq(fake.inside, 1);
    for (size_t i = 0; i < fake.route_count; i++) {
        const fake_route *r = &fake.routes[i];
        const assay__store_route route = {.row = i + 1,
                                          .problem = r->problem,
                                          .layout = r->layout,
                                          .policy = r->policy,
                                          .align = r->align,
                                          .winner_revision_row = r->winner,
                                          .candidates = r->candidates,
                                          .candidate_count = r->count,
                                          .searched = 3,
                                          .total = 4,
                                          .stop_reason = "budget"};
        ASSAY_TRY(row(cookie, &route));
    }
    return ASSAY_OK;
}

static assay_status each_quarantine(assay__store *store, const char *hex,
                                    assay_status (*row)(void *, const assay__store_quarantine *),
                                    void *cookie)
{
    (void)store;
    (void)hex;
    for (size_t i = 0; i < fake.quarantine_count; i++)
        ASSAY_TRY(row(cookie, &fake.quarantine[i]));
    return ASSAY_OK;
}

static assay_status each_proof(assay__store *store, const char *hex,
                               assay_status (*row)(void *, const assay__store_proof *),
                               void *cookie)
{
    (void)store;
    (void)hex;
    ck_assert_int_eq(fake.inside, 1);
    for (size_t i = 0; i < fake.proof_count; i++)
        ASSAY_TRY(row(cookie, &fake.proofs[i]));
    return ASSAY_OK;
}

static assay_status peak(assay__store *store, const char *hex, const char *name, double *value)
{
    (void)store;
    (void)hex;
    *value = strcmp(name, "copy_plain_t1") == 0         ? fake.copy_rate
             : strcmp(name, "fma_f32_portable_t1") == 0 ? fake.fma_rates[0]
             : strcmp(name, "fma_f64_avx2_t1") == 0     ? fake.fma_rates[1]
                                                        : 0;
    if (!(*value > 0))
        return assay__fail(ASSAY_NOTFOUND, "peak %s: not measured", name);
    return ASSAY_OK;
}

static assay_status each_transfer(assay__store *store, const char *hex,
                                  assay_status (*row)(void *, const assay__store_transfer *),
                                  void *cookie)
{
    (void)store;
    (void)hex;
    ck_assert_int_eq(fake.inside, 1);
    for (size_t i = 0; i < fake.transfer_count; i++)
        ASSAY_TRY(row(cookie, &fake.transfers[i]));
    return ASSAY_OK;
}

const assay__store_ops *fake_store_ops(void)
{
    static const assay__store_ops ops = {.open_read = open_read,
                                         .close = close_store,
                                         .schema_version = get_version,
                                         .data_version = get_commits,
                                         .count_routes = count_routes,
                                         .each_revision = each_revision,
                                         .each_route = each_route,
                                         .each_quarantine = each_quarantine,
                                         .each_proof = each_proof,
                                         .peak = peak,
                                         .each_transfer = each_transfer,
                                         .begin_snapshot = begin_snapshot,
                                         .end_snapshot = end_snapshot};

    return &ops;
}

assay__route_candidate fake_candidate(uint64_t revision_row, double ns)
{
    assay__route_candidate c;

    memset(&c, 0, sizeof c);
    c.revision_row = revision_row;
    c.measurement = 100 + revision_row;
    c.accuracy = 200 + revision_row;
    c.time_ns = ns;
    c.lo_ns = ns * 0.99;
    c.hi_ns = ns * 1.01;
    c.ratio = ns / 100;
    c.ratio_lo = ns / 100 * 0.99;
    c.ratio_hi = ns / 100 * 1.01;
    c.max_ulp = 1;
    c.max_rho = c.max_rel = c.max_abs = NAN;
    c.proof = ASSAY_PROOF_SAMPLED;
    c.verdict = ASSAY__VERDICT_OK;
    return c;
}
