/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/verdict_rule.h -- checks shared by the pairwise and the many-candidate decisions. */
#ifndef ASSAY_TUNER_VERDICT_RULE_H
#define ASSAY_TUNER_VERDICT_RULE_H

#include "tuner/verdict.h"

#define ASSAY_LOG_LIMIT 200.0 /* |log ratio|, interval included: exp(300) is finite */

assay_status assay__verdict_rule_validate(const assay_verdict_rule *rule);

/* All n values are numbers no larger than `limit` in size, n > 0. */
assay_status assay__logs_validate(const double *logs, size_t n, double limit);

#endif
