/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/profile.h -- how much effort a sweep spends; stored with every sweep. */
#ifndef ASSAY_TUNER_PROFILE_H
#define ASSAY_TUNER_PROFILE_H

#include <stddef.h>

#include "assay/status.h"

typedef struct assay__profile {
    const char *name;
    size_t visits;             /* fresh workers a problem after the screening one, >= 5 */
    size_t confirms;           /* fresh visits of winner and default before publishing */
    double confirm_confidence; /* of the fresh visits; the choice before was made at 99 % */
    size_t spans;              /* timed spans a visit and variant, at most */
    double span_ns;            /* length of a span, at least */
    double warm_ns;            /* untimed running before the spans */
    double budget_ns;          /* of the spans of one visit and variant */
    double problem_s;          /* of calls of a problem's variants, as far as they can be chosen */
    double wide;    /* an interval of a time that reaches farther to each side is flagged */
    double precise; /* half of the interval over the median, below which more would tell little */
    double prune;   /* variants slower than this factor of the best screened one stop there */
    size_t strata;  /* input sets checked, <= 3 */
    double group_bytes; /* problems whose inputs and results are held at a time */
    int run_timeout_ms; /* one launch; time: this plus budgets */
    const char *says;   /* what the user should know */
} assay__profile;

assay_status assay__profile_find(const char *name, const assay__profile **out);
/* "a, b" for help texts. */
const char *assay__profile_names(void);

#endif
