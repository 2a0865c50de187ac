/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/rows.c -- manifests, descriptors and bindings built by hand. */
#include "tests/support/rows.h"

#include <check.h>
#include <string.h>

assay_status rows_run(const assay_launch *launch)
{
    (void)launch;
    return ASSAY_OK;
}

assay_manifest rows_manifest(const char *name)
{
    assay_manifest m;

    memset(&m, 0, sizeof m);
    m.struct_size = sizeof m;
    m.abi_version = ASSAY_PLUGIN_ABI;
    m.name = name;
    m.version = "1";
    m.compiler = "test";
    return m;
}

assay_kernel_desc rows_desc(const char *name, assay_op_id op, assay_dtype t, int rank)
{
    assay_kernel_desc d;
    assay_problem p;

    /* An op of two free dtypes: both this one. */
    if (assay_problem_init(op, t, &p) != ASSAY_OK)
        ck_assert_int_eq(assay_problem_init_tuple(op, (const assay_dtype[]){t, t}, 2, &p),
                         ASSAY_OK);
    memset(&d, 0, sizeof d);
    d.struct_size = sizeof d;
    d.name = name;
    d.op = op;
    d.dtype_count = p.dtype_count;
    memcpy(d.dtypes, p.dtypes, sizeof d.dtypes);
    d.default_rank = rank;
    d.claims = (assay_claims)ASSAY_NO_CLAIMS;
    d.entry_point = name;
    d.run = rows_run;
    return d;
}

assay_binding rows_binding(const assay_manifest *manifest, const assay_kernel_desc *desc,
                           uint8_t mark)
{
    assay_binding b;

    memset(&b, 0, sizeof b);
    b.run = desc->run;
    b.desc = desc;
    b.manifest = manifest;
    memset(b.revision.bytes, mark, sizeof b.revision.bytes);
    b.op = (uint16_t)desc->op;
    b.dtype_count = desc->dtype_count;
    b.available = 1;
    memcpy(b.dtypes, desc->dtypes, sizeof b.dtypes);
    b.default_rank = desc->default_rank;
    return b;
}
