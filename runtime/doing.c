/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/doing.c -- see doing.h. */
#include "runtime/doing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static assay__doing *note; /* borrowed */

void assay__doing_at(assay__doing *where)
{
    note = where;
    assay__doing_end();
}

void assay__doing_begin(assay__doing_what what, const char *path, const char *subject)
{
    if (note == NULL)
        return;
    note->what = ASSAY__DOING_NOTHING; /* a half-written note is none */
    (void)snprintf(note->path, sizeof note->path, "%s", path);
    (void)snprintf(note->subject, sizeof note->subject, "%s", subject);
    note->item = note->variant = 0;
    note->what = (uint32_t)what;
}

void assay__doing_ask(const char *backend, const char *kernel, uint32_t item, uint32_t variant)
{
    char subject[sizeof note->subject];

    if (note == NULL)
        return;
    (void)snprintf(subject, sizeof subject, "%s/%s", backend, kernel);
    assay__doing_begin(ASSAY__DOING_ASK, "", subject);
    note->item = item;
    note->variant = variant;
}

void assay__doing_end(void)
{
    if (note != NULL)
        note->what = ASSAY__DOING_NOTHING;
}

void assay__doing_text(const assay__doing *doing, char *buf, size_t cap)
{
    const int path = (int)strnlen(doing->path, sizeof doing->path);
    const int subject = (int)strnlen(doing->subject, sizeof doing->subject);

    buf[0] = '\0';
    switch (doing->what) {
    case ASSAY__DOING_LOAD:
        (void)snprintf(buf, cap, "while plug-in %.*s was loaded", path, doing->path);
        break;
    case ASSAY__DOING_OPEN:
        (void)snprintf(buf, cap, "while plug-in %.*s was opened", path, doing->path);
        break;
    case ASSAY__DOING_IDENTIFY:
        (void)snprintf(buf, cap, "in library_identity of plug-in %.*s, for %.*s", path, doing->path,
                       subject, doing->subject);
        break;
    case ASSAY__DOING_ASK:
        (void)snprintf(buf, cap, "in can_run_fn of %.*s", subject, doing->subject);
        break;
    case ASSAY__DOING_SLOT:
        (void)snprintf(buf, cap, "in slot %.*s", subject, doing->subject);
        break;
    case ASSAY__DOING_BEHIND_SLOT:
        (void)snprintf(buf, cap, "after slot %.*s had returned", subject, doing->subject);
        break;
    default:
        break;
    }
    for (; *buf != '\0'; buf++)
        if ((unsigned char)*buf < ' ' || *buf == 0x7f)
            *buf = '?';
}

/* How far below the stack pointer a frame that does not fit begins. */
#define FRAME_BYTES (UINT64_C(1) << 20)

void assay__doing_fault_text(const assay__doing *doing, char *buf, size_t cap)
{
    const uint64_t at = doing->fault_at, stack = doing->fault_stack;

    if (doing->fault_signal == 0)
        buf[0] = '\0';
    else if (at < stack + 4096 && at + FRAME_BYTES > stack)
        (void)snprintf(buf, cap, "as its stack overflowed");
    else
        (void)snprintf(buf, cap, "at address 0x%" PRIx64, at);
}
