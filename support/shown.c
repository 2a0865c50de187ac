/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/shown.c -- text of unknown origin as a terminal may have it. */
#include <string.h>

#include "support/str.h"

/* Letters that a terminal shows: none that it obeys (C0, DEL, C1), none that turn the direction of
 * what follows, so that it reads as another text. */
bool assay__is_shown(uint32_t code)
{
    return code >= 0x20 && !(code >= 0x7F && code < 0xA0) && !(code >= 0x202A && code <= 0x202E) &&
           !(code >= 0x2066 && code <= 0x2069);
}

/* The next bytes of `text` that are alike: shown as they are, or each by its number. */
static size_t next_run(const char *text, size_t size, bool *shown)
{
    size_t end = 0;

    while (end < size) {
        uint32_t code = 0; /* stays when the bytes are no UTF-8 */
        const size_t len = assay__utf8_decode(text + end, size - end, &code);
        const bool is_plain = assay__is_shown(code);
        if (end == 0)
            *shown = is_plain;
        if (is_plain != *shown)
            break;
        end += len > 0 ? len : 1;
    }
    return end;
}

void assay__str_add_shown(assay__str *str, const char *text)
{
    const char *end = text + strlen(text);
    bool shown = true;

    while (text < end) {
        const size_t len = next_run(text, (size_t)(end - text), &shown);
        if (shown)
            assay__str_addn(str, text, len);
        for (size_t i = 0; !shown && i < len; i++)
            assay__str_addf(str, "\\x%02x", (unsigned char)text[i]);
        text += len;
    }
}

void assay__put_shown(FILE *file, const char *text)
{
    const char *end = text + strlen(text);
    bool shown = true;

    while (text < end) {
        const size_t len = next_run(text, (size_t)(end - text), &shown);
        if (shown)
            (void)fwrite(text, 1, len, file);
        for (size_t i = 0; !shown && i < len; i++)
            (void)fprintf(file, "\\x%02x", (unsigned char)text[i]);
        text += len;
    }
}
