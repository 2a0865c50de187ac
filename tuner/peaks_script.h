/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peaks_script.h -- peaks of a scripted machine, for tests; see peaks.h. */
#ifndef ASSAY_TUNER_PEAKS_SCRIPT_H
#define ASSAY_TUNER_PEAKS_SCRIPT_H

#include "support/json.h"

#include "assay/status.h"

assay_status assay__peaks_scripted(const char *path, bool spot, json_t *reply);

#endif
