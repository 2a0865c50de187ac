/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/assay.h -- everything a runtime needs: open, pick, run, explain. */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include "assay/compute.h"
#include "assay/deployment.h"
#include "assay/digest.h"
#include "assay/dtype.h"
#include "assay/engine.h"
#include "assay/op.h"
#include "assay/pick.h"
#include "assay/plugin.h"
#include "assay/select.h"
#include "assay/status.h"
#include "assay/table.h"
#include "assay/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "MAJOR.MINOR.PATCH" of the library that runs. */
const char *assay_version(void);

#ifdef __cplusplus
}
#endif
#endif
