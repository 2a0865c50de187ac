/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/environment.h -- the host's state as JSON, recorded beside each visit. */
#ifndef ASSAY_TUNER_ENVIRONMENT_H
#define ASSAY_TUNER_ENVIRONMENT_H

#include "assay/status.h"

/* Frequency, governor, load, steal ticks, temperature where known; the caller frees *out. */
assay_status assay__context_json(char **out);

#endif
