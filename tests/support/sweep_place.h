/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/sweep_place.h -- sweeps that a test program makes itself, with the scripted backend
 * and the reference alone.  The program is its own worker. */
#ifndef ASSAY_TESTS_SUPPORT_SWEEP_PLACE_H
#define ASSAY_TESTS_SUPPORT_SWEEP_PLACE_H

#include <check.h>
#include <stddef.h>

#include "sweep/sweep.h"

typedef struct sweep_place {
    char folder[64], store[128];
    assay__shape_set set;
    assay__sweep_options options; /* quick, one thread; a test changes what it needs */
} sweep_place;

/* A folder with plug-ins, peaks (a line of the scripted probe) and locks of its own. */
void sweep_place_open(sweep_place *p, const char *peaks);
/* Problems in f32. */
void sweep_place_add(sweep_place *p, const char *op, const char *shape);
/* Sweeps, expects that status, and removes the folder. */
void sweep_place_run(sweep_place *p, assay_status wanted, assay__sweep_summary *out);

/* main: serves as a worker, or runs the tests with that script. */
int sweep_place_main(int argc, char **argv, const char *name, const char *script, double timeout_s,
                     void (*add_tests)(TCase *tcase));

#endif
