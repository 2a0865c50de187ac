/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/error.c -- status texts and the per-thread error text. */
#include "runtime/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERROR_CAP 1024

static _Thread_local char last_error[ERROR_CAP];
static _Thread_local assay_error_detail last_detail;

const char *assay_strerror(assay_status status)
{
    switch (status) {
#define X(name, value, exit_code, text) \
    case ASSAY_##name:                  \
        return text;
        ASSAY_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

const char *assay_status_name(assay_status status)
{
    switch (status) {
#define X(name, value, exit_code, text) \
    case ASSAY_##name:                  \
        return #name;
        ASSAY_STATUS_MAP(X)
#undef X
    }
    return "UNKNOWN";
}

const char *assay_last_error(void)
{
    return last_error;
}

void assay_last_detail(assay_error_detail *out)
{
    *out = last_detail;
}

bool assay_status_is_retryable(assay_status status)
{
    return status == ASSAY_NOMEM || status == ASSAY_PENDING || status == ASSAY_DEVICE_LOST ||
           status == ASSAY_TIMEOUT || status == ASSAY_DB_LOCKED || status == ASSAY_INTERRUPTED;
}

bool assay_status_is_routable(assay_status status)
{
    return status == ASSAY_UNSUPPORTED || status == ASSAY_NO_ROUTE || status == ASSAY_UNAVAILABLE ||
           status == ASSAY_DEVICE || status == ASSAY_DEVICE_LOST || status == ASSAY_NOMEM;
}

void assay__error_clear(void)
{
    last_error[0] = '\0';
    memset(&last_detail, 0, sizeof last_detail);
}

void assay__text_fit(const char *text, char *out, size_t cap)
{
    size_t length = strlen(text), room = cap - sizeof "...";

    if (length < cap) {
        memmove(out, text, length + 1);
        return;
    }
    for (length = room; length > room / 2 && text[length] != ' '; length--)
        ;
    if (length == room / 2) /* one word: between characters, then, which may have several bytes */
        for (length = room; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80; length--)
            ;
    memmove(out, text, length);
    memcpy(out + length, "...", sizeof "...");
}

assay_status assay__fail(assay_status status, const char *format, ...)
{
    /* Formatted aside first: an argument may be the old text itself. */
    char text[ERROR_CAP];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    memcpy(last_error, text, sizeof text);
    memset(&last_detail, 0, sizeof last_detail);
    last_detail.status = status;
    return status;
}

assay_status assay__fail_detail(const assay_error_detail *detail, const char *text)
{
    (void)assay__fail(detail->status, "%s", text);
    last_detail = *detail;
    return detail->status;
}

assay_status assay__fail_context(assay_status status, const char *format, ...)
{
    char text[ERROR_CAP];
    va_list args;

    va_start(args, format);
    int used = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used + 3 < sizeof text) {
        /* The precision tells -Wformat-truncation that cutting the old text is meant. */
        int room = (int)(sizeof text - 3) - used;
        (void)snprintf(text + used, sizeof text - (size_t)used, ": %.*s", room, last_error);
    }
    memcpy(last_error, text, sizeof text);
    last_detail.status = status;
    return status;
}
