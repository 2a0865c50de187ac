/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/check_results.h -- do the kernels that are picked here still give what was checked? */
#ifndef ASSAY_CLI_CHECK_RESULTS_H
#define ASSAY_CLI_CHECK_RESULTS_H

#include "cli/kernel_set.h"
#include "db/check.h"
#include "support/json.h"

typedef enum assay__result_state {
    ASSAY__RESULT_SAME = 0,
    ASSAY__RESULT_OTHER,          /* other bits than those that were checked */
    ASSAY__RESULT_FAILED,         /* it crashed, hung or refused */
    ASSAY__RESULT_NOT_REPEATABLE, /* not run: its bits differ from run to run, or that is unknown */
    ASSAY__RESULT_IDLE,           /* not run: it is not here as it was */
    ASSAY__RESULT_STATES
} assay__result_state;

typedef struct assay__result {
    int64_t route;
    char *problem, *policy, *backend, *op, *dtypes, *kernel, *tunables; /* owned */
    unsigned align;
    assay_digest kernel_revision;
    uint64_t seed, checked, now; /* digests of outputs; 0: none */
    double median_ns;
    bool is_repeatable;
    assay__result_state state;
    char reason[256]; /* of a failure; "" none */
} assay__result;

typedef struct assay__results {
    assay__result *items; /* owned, in the order of the store */
    size_t count, cap;
    size_t states[ASSAY__RESULT_STATES];
} assay__results;

/* Runs the winner of every current route once.  Zeroed memory is an empty list.  ASSAY_INTERRUPTED
 * when `stop` says so. */
assay_status assay__results_run(assay__store *store, const assay__kernel_set *set,
                                const char *plugin_path, const volatile int *stop,
                                assay__results *out);
void assay__results_clear(assay__results *list);

/* Winners whose results are not what was checked. */
size_t assay__results_bad(const assay__results *list);
/* {ran, same, other, failed, not_repeatable, idle, differing: [...]}; NULL: out of memory. */
json_t *assay__results_json(const assay__results *list);
assay_status assay__results_print(const assay__results *list);

#endif
