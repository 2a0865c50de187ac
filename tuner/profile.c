/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/profile.c -- the table of profiles. */
#include "tuner/profile.h"

#include <string.h>

#include "runtime/error.h"

static const assay__profile profiles[] = {
    {"quick", 5, 3, 9, 30e3, 2e6, 12e6, 1.6, 2, 3e9, 10000,
     "a quick profile is orientation, not for production: sweep with --profile standard there"},
    {"standard", 7, 5, 25, 50e3, 20e6, 150e6, 2.0, 3, 6e9, 30000, ""},
};

const char *assay__profile_names(void)
{
    return "quick, standard";
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
