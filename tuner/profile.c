/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/profile.c -- the table of profiles. */
#include "tuner/profile.h"

#include <string.h>

#include "runtime/error.h"

static const assay__profile profiles[] = {
    {.name = "quick",
     .visits = 6,   /* five find a planted 5 % in 959 of 1,000 pairs, but in 92 of some hundreds */
     .confirms = 6, /* fewer have no interval at 95 %: the range of five covers a median at 93.75 */
     .confirm_confidence = 0.90,
     .spans = 7,
     .span_ns = 30e3,
     .warm_ns = 2e6,
     .budget_ns = 8e6,
     .problem_s = 10,
     .wide = 0.10,
     .precise = 0.01,
     .prune = 1.35,
     .strata = 2,
     .group_bytes = 3e9,
     .run_timeout_ms = 10000,
     .says = "a quick profile is orientation, not for production: sweep with --profile standard "
             "there"},
    {.name = "standard",
     .visits = 7,
     .confirms = 6,
     .confirm_confidence = 0.95,
     .spans = 11, /* a visit's median of 25 was known to 2.5 %, visits differed by 23 % */
     .span_ns = 50e3,
     .warm_ns = 20e6,
     .budget_ns = 60e6,
     .problem_s = 30,
     .wide = 0.05,
     .precise = 0.01,
     .prune = 2.0,
     .strata = 3,
     .group_bytes = 6e9,
     .run_timeout_ms = 30000,
     .says = ""},
    {.name = "thorough",
     .visits = 10, /* 30 with all looks: as many as a candidate has room for */
     .confirms = 8,
     .confirm_confidence = 0.99,
     .spans = 25,
     .span_ns = 50e3,
     .warm_ns = 100e6,
     .budget_ns = 300e6, /* 3 s over all visits */
     .problem_s = 300,
     .wide = 0.025,
     .precise = 0.005,
     .prune = 3.0,
     .strata = 3,
     .group_bytes = 6e9,
     .run_timeout_ms = 60000,
     .says = ""},
};

const char *assay__profile_names(void)
{
    return "quick, standard, thorough";
}

assay_status assay__profile_find(const char *name, const assay__profile **out)
{
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (strcmp(profiles[i].name, name) == 0) {
            *out = &profiles[i];
            return ASSAY_OK;
        }
    }
    return assay__fail(ASSAY_INVALID, "unknown profile '%s'; profiles are: %s", name,
                       assay__profile_names());
}
