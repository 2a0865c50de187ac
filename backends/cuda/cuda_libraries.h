/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_libraries.h -- where the libraries of a CUDA toolkit are looked for.
 *
 * First by the loader, then below $CUDA_HOME, $CUDA_PATH and /usr/local/cuda, newest version
 * first: machines with a GPU often have a toolkit that the loader knows nothing of. */
#ifndef BACKENDS_CUDA_CUDA_LIBRARIES_H
#define BACKENDS_CUDA_CUDA_LIBRARIES_H

#include <stddef.h>

/* Folders that may be the root of a toolkit, in order; NULL-terminated, made once. */
const char *const *cuda_roots(void);

/* Places of a library for assay__opened_spec, the SONAME of its newest version last; made anew and
 * kept by the caller for good.  sonames: newest first, NULL-terminated; folder: below a root beside
 * the usual ones, or NULL.  NULL: out of memory. */
const char *const *cuda_places(const char *const *sonames, const char *folder);

#endif
