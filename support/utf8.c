/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/utf8.c -- decoding, checking and measuring UTF-8 text. */
#include <string.h>

#include "support/str.h"

/* Length by the first byte, and the bits of the code that byte holds; 0 for no first byte. */
static size_t sequence_length(unsigned char first, uint32_t *bits)
{
    if (first < 0x80) {
        *bits = first;
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        *bits = first & 0x1FU;
        return 2;
    }
    if ((first & 0xF0) == 0xE0) {
        *bits = first & 0x0FU;
        return 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        *bits = first & 0x07U;
        return 4;
    }
    return 0;
}

size_t assay__utf8_decode(const char *text, size_t size, uint32_t *code)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t value = 0;
    size_t len = size == 0 ? 0 : sequence_length((unsigned char)text[0], &value);

    if (len == 0 || len > size)
        return 0;
    for (size_t i = 1; i < len; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (byte & 0x3FU);
    }
    if (value < smallest[len] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code = value;
    return len;
}

size_t assay__utf8_check(const char *text, size_t size)
{
    uint32_t code;

    for (size_t at = 0; at < size;) {
        size_t len = assay__utf8_decode(text + at, size - at, &code);
        if (len == 0)
            return at;
        at += len;
    }
    return size;
}

/* Wide and combining ranges of the common blocks only: enough for device and kernel names. */
static size_t code_width(uint32_t code)
{
    if (code < 0x20 || code == 0x7F || (code >= 0x300 && code <= 0x36F) || code == 0x200B ||
        code == 0xFEFF)
        return 0;
    if ((code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
        (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
        (code >= 0xFF00 && code <= 0xFF60) || (code >= 0x1F300 && code <= 0x1FAFF))
        return 2;
    return 1;
}

size_t assay__utf8_width(const char *text)
{
    const size_t size = strlen(text);
    size_t width = 0;
    uint32_t code;

    for (size_t at = 0; at < size;) {
        size_t len = assay__utf8_decode(text + at, size - at, &code);
        width += len == 0 ? 1 : code_width(code);
        at += len == 0 ? 1 : len;
    }
    return width;
}
