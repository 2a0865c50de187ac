/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/doing.h -- which code of a plug-in this process is inside of, for whoever has to say why
 * it died: a handler of signals, or another process that shares the memory of the note.
 *
 * Nobody keeps a note unless asked to, so that in production it costs one comparison.  A note is of
 * one thread; where several call plug-ins, it names one of them. */
#ifndef ASSAY_RUNTIME_DOING_H
#define ASSAY_RUNTIME_DOING_H

#include <stddef.h>
#include <stdint.h>

typedef enum assay__doing_what {
    ASSAY__DOING_NOTHING = 0,
    ASSAY__DOING_LOAD,       /* the loader runs constructors of the file */
    ASSAY__DOING_OPEN,       /* the backend's open() */
    ASSAY__DOING_IDENTIFY,   /* its library_identity(); subject: the library */
    ASSAY__DOING_ASK,        /* can_run_fn of a kernel; subject: backend/kernel */
    ASSAY__DOING_SLOT,       /* a slot of the backend; subject: which */
    ASSAY__DOING_BEHIND_SLOT /* none, but that was the last; subject: which */
} assay__doing_what;

typedef struct assay__doing {
    volatile uint32_t what;
    uint32_t item, variant; /* of the questions of one request; 0 elsewhere */
    char path[1024];        /* of the plug-in; "" where only its backend is known */
    char subject[128];
    /* A fault of memory, as far as it could be noted; signal 0: none. */
    volatile uint32_t fault_signal;
    volatile uint64_t fault_at, fault_stack; /* address, and the stack pointer then */
} assay__doing;

/* Where notes go from now on; NULL: nowhere.  Memory stays the caller's. */
void assay__doing_at(assay__doing *where);
void assay__doing_begin(assay__doing_what what, const char *path, const char *subject);
/* The same for "backend/kernel". */
void assay__doing_ask(const char *backend, const char *kernel, uint32_t item, uint32_t variant);
void assay__doing_end(void);

/* "while PLUG-IN was loaded" and its like; "" for nothing.  Of memory that a dying process wrote:
 * whatever stands there, the text ends and is printable. */
void assay__doing_text(const assay__doing *doing, char *buf, size_t cap);
/* "at address 0x8", or that the stack overflowed; "" for no fault. */
void assay__doing_fault_text(const assay__doing *doing, char *buf, size_t cap);

#endif
