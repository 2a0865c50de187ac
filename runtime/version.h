/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/version.h -- versions of the libraries behind the runtime, as they are at run time. */
#ifndef ASSAY_RUNTIME_VERSION_H
#define ASSAY_RUNTIME_VERSION_H

const char *assay__sodium_version(void);
unsigned assay__xxhash_version(void); /* 802 is 0.8.2 */

#endif
