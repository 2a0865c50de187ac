/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_slots.c -- see conform_slots.h. */
#include "conform/conform_slots.h"

#include <stdio.h>
#include <string.h>

#include "runtime/doing.h"
#include "runtime/engine_internal.h"

bool assay__conform_has_slot(const assay__conform *c, size_t offset)
{
    const assay_backend *b = c->manifest->backend;
    void (*slot)(void) = NULL;

    if (b == NULL || b->struct_size < offset + sizeof slot)
        return false;
    memcpy(&slot, (const char *)b + offset, sizeof slot);
    return slot != NULL;
}

/* ---- which was called last ---- */

static assay_backend real; /* what is called behind each watched slot */
static char about[128];

void assay__conform_about(const char *text)
{
    (void)snprintf(about, sizeof about, "%s", text != NULL ? text : "");
}

static void note(assay__doing_what what, const char *slot)
{
    char subject[sizeof about + 40];

    (void)snprintf(subject, sizeof subject, "%s%s%s%s", slot, about[0] != '\0' ? " (" : "", about,
                   about[0] != '\0' ? ")" : "");
    assay__doing_begin(what, "", subject);
}

#define X(slot, parameters, arguments)                                    \
    static assay_status watch_##slot(assay_instance *instance parameters) \
    {                                                                     \
        note(ASSAY__DOING_SLOT, #slot);                                   \
        const assay_status status = real.slot(instance arguments);        \
        note(ASSAY__DOING_BEHIND_SLOT, #slot);                            \
        return status;                                                    \
    }
ASSAY__BACKEND_SLOTS(X)
ASSAY__BACKEND_MADE_SLOTS(X)
#undef X

static void watch_close(assay_instance *instance)
{
    note(ASSAY__DOING_SLOT, "close");
    real.close(instance);
    note(ASSAY__DOING_BEHIND_SLOT, "close");
}

void assay__conform_watch(assay_engine *engine)
{
    assay_backend *slots = &engine->backend.slots;

    if (slots->close == watch_close)
        return;
    real = *slots;
    slots->close = watch_close;
#define X(slot, parameters, arguments) \
    if (real.slot != NULL)             \
        slots->slot = watch_##slot;
    ASSAY__BACKEND_SLOTS(X)
    ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
}

/* ---- calls of rules by the names of slots ---- */

typedef struct word {
    const char *call, *slot;
    bool has_arguments; /* that say something to who knows the slot alone */
} word;

/* Functions of rules; those of an engine are called as the slot behind it. */
static const word words[] = {{"plan", "inject", true},
                             {"hold_up", "inject", true},
                             {"assay__conform_work_run", "launch", false},
                             {"assay__raw_launch", "launch", false},
                             {"assay__case_upload", "alloc and upload of operands", false},
                             {"assay__case_free", "free of operands", false},
                             {"assay__case_init", "the reference", false},
                             {"assay__case_make", "the reference", false},
                             {"widen", "alloc and upload of operands", false},
                             {"narrow", "alloc and upload of operands", false},
                             {"assay_engine_upload_at", "upload", true},
                             {"assay_engine_upload_many", "upload", true},
                             {"assay_engine_download_at", "download", true},
                             {"assay_engine_download_many", "download", true}};
static const char *const prefixes[] = {"assay__backend_", "assay_engine_", "assay_"};

/* Arguments behind the first where that is the engine, the backend or the rule's own. */
static const char *behind_first(const char *arguments)
{
    static const char *const firsts[] = {"c->engine", "c->other", "c", "e", "backend"};
    const size_t length = strcspn(arguments, ",)");

    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++)
        if (strlen(firsts[i]) == length && memcmp(firsts[i], arguments, length) == 0)
            return arguments + length + (arguments[length] == ',' ? 2 : 0);
    return arguments;
}

static bool is_same(const char *name, const char *call, size_t length)
{
    return strlen(name) == length && memcmp(name, call, length) == 0;
}

void assay__conform_call_text(const char *call, char *buf, size_t cap)
{
    const size_t length = strspn(call, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const char *name = call, *arguments = call + length + 1;

    if (length == 0 || call[length] != '(') {
        (void)snprintf(buf, cap, "%s", call);
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!is_same(words[i].call, call, length))
            continue;
        (void)snprintf(buf, cap, "%s%s%s", words[i].slot, words[i].has_arguments ? "(" : "",
                       words[i].has_arguments ? behind_first(arguments) : "");
        return;
    }
    for (size_t i = 0; name == call && i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(call, prefixes[i], strlen(prefixes[i])) == 0)
            name += strlen(prefixes[i]);
    (void)snprintf(buf, cap, "%.*s(%s", (int)(call + length - name), name, behind_first(arguments));
}
