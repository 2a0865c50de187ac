/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/host_plugin.h -- backend and manifest of a plug-in whose kernels run on the host's CPU.
 *
 * For the one file of a plug-in that has the table `kernels`; it enters no revision. */
#ifndef ASSAY_BACKENDS_HOST_PLUGIN_H
#define ASSAY_BACKENDS_HOST_PLUGIN_H

#include "backends/source_hash.h"
#include "gen/config.h"
#include "runtime/host_backend.h"

/* identity: the plug-in's answer to what its libraries are. */
#define HOST_BACKEND(identity)                                        \
    static const assay_backend backend = {                            \
        ASSAY__HOST_BACKEND_SLOTS,      .open = assay__host_open,     \
        .library_identity = (identity), .launch = assay__host_launch, \
        .measure = assay__host_measure,                               \
    }

/* Fields of a manifest, for one that has more. */
#define HOST_MANIFEST(name_)                                                                 \
    .struct_size = sizeof(assay_manifest), .abi_version = ASSAY_PLUGIN_ABI, .name = (name_), \
    .version = ASSAY_VERSION, .compiler = ASSAY_COMPILER_ID, .kernels = kernels,             \
    .kernel_count = sizeof kernels / sizeof *kernels, .sources = assay__source_hashes,       \
    .source_count = ASSAY_SOURCE_COUNT, .backend = &backend

#define HOST_PLUGIN(name, identity) \
    HOST_BACKEND(identity);         \
    ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {HOST_MANIFEST(name)}

#endif
