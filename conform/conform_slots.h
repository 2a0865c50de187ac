/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_slots.h -- the slots of a backend as its author knows them: which there are,
 * which was called last, and what a call of a rule is called there. */
#ifndef ASSAY_CONFORM_CONFORM_SLOTS_H
#define ASSAY_CONFORM_CONFORM_SLOTS_H

#include <stddef.h>

#include "conform/conform.h"

/* Is this slot the backend's own, not the default? */
bool assay__conform_has_slot(const assay__conform *c, size_t offset);
#define ASSAY__HAS_SLOT(c, slot) assay__conform_has_slot((c), offsetof(assay_backend, slot))

/* From now on each call of a slot by this engine is noted (runtime/doing.h), for who says how the
 * process ended.  Engines that are watched are all of one backend. */
void assay__conform_watch(assay_engine *engine);
/* What stands behind the slot in such a note, such as a kernel; NULL: nothing any more. */
void assay__conform_about(const char *text);

/* "assay_engine_upload_at(c->engine, b, 1, up, 1)" as "upload(b, 1, up, 1)": the slot, and what is
 * given to it.  What is no call stays as it is.  cap >= 4. */
void assay__conform_call_text(const char *call, char *buf, size_t cap);

#endif
