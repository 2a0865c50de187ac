/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/source_hash.h -- the table of source hashes that the build makes for each plug-in.
 *
 * One row for every .c file that is linked into the plug-in, by its root-relative path.  The build
 * defines ASSAY_SOURCE_COUNT, so that a constant manifest can hold the count. */
#ifndef BACKENDS_SOURCE_HASH_H
#define BACKENDS_SOURCE_HASH_H

#include "assay/digest.h"

extern const assay_source_hash assay__source_hashes[ASSAY_SOURCE_COUNT];

#endif
