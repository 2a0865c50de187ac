/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/version.c -- which library this is, and what it was linked with. */
#include "runtime/version.h"

#include <sodium.h>

#include "assay/assay.h"
#include "gen/config.h"
#include "runtime/keyhash.h"

const char *assay_version(void)
{
    return ASSAY_VERSION;
}

const char *assay__sodium_version(void)
{
    return sodium_version_string();
}

unsigned assay__xxhash_version(void)
{
    return XXH_versionNumber();
}
