/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_manifest.h -- the manifest, for the file that holds the rows.
 *
 * A manifest is constant data, and so is the number of rows in it, which the compiler knows only
 * where it sees the table. */
#ifndef BACKENDS_CUDA_CUDA_MANIFEST_H
#define BACKENDS_CUDA_CUDA_MANIFEST_H

#include "assay/plugin.h"
#include "backends/source_hash.h"
#include "gen/config.h"

extern const assay_backend cuda_backend; /* cuda_plugin.c */

/* On a line of its own, with a semicolon, behind the table. */
#define CUDA_MANIFEST(rows)                                            \
    ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = { \
        .struct_size = sizeof(assay_manifest),                         \
        .abi_version = ASSAY_PLUGIN_ABI,                               \
        .name = "cuda",                                                \
        .version = ASSAY_VERSION,                                      \
        .compiler = ASSAY_COMPILER_ID,                                 \
        .kernels = (rows),                                             \
        .kernel_count = sizeof(rows) / sizeof *(rows),                 \
        .sources = assay__source_hashes,                               \
        .source_count = ASSAY_SOURCE_COUNT,                            \
        .backend = &cuda_backend,                                      \
        .location = ASSAY_LOCATION_CUDA,                               \
    }

#endif
