/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/version.c -- which library this is. */
#include "assay/assay.h"
#include "gen/config.h"

const char *assay_version(void)
{
    return ASSAY_VERSION;
}
