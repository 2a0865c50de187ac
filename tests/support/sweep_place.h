/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/sweep_place.h -- a folder with the scripted backend and the reference alone, for
 * sweeps that a test program makes itself. */
#ifndef ASSAY_TESTS_SUPPORT_SWEEP_PLACE_H
#define ASSAY_TESTS_SUPPORT_SWEEP_PLACE_H

#include <stddef.h>

/* Makes it, with peaks (a line of the scripted probe) and locks of its own. */
void sweep_place_make(char *folder, size_t cap, const char *peaks);
void sweep_place_remove(const char *folder);

#endif
