/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/digest.c -- digests and their text; the one home of libsodium's hash. */
#include "runtime/digest.h"

#include <sodium.h>
#include <string.h>

#include "runtime/error.h"

_Static_assert(sizeof(crypto_generichash_blake2b_state) <= sizeof(assay__hasher),
               "assay__hasher must hold the state of BLAKE2b");
_Static_assert(_Alignof(crypto_generichash_blake2b_state) <= _Alignof(assay__hasher),
               "assay__hasher must be aligned as the state of BLAKE2b");

/* libsodium picks a faster implementation in sodium_init; without it the portable one runs and
 * gives the same bits, so no start-up call is needed here. */
static crypto_generichash_blake2b_state *state_of(assay__hasher *hasher)
{
    return (crypto_generichash_blake2b_state *)(void *)hasher->state;
}

static void update(assay__hasher *hasher, const void *bytes, size_t length)
{
    if (length > 0)
        (void)crypto_generichash_blake2b_update(state_of(hasher), bytes, length);
}

void assay__hash_init(assay__hasher *hasher, const char *schema)
{
    (void)crypto_generichash_blake2b_init(state_of(hasher), NULL, 0, ASSAY_DIGEST_BYTES);
    assay__hash_string(hasher, 0, schema);
}

void assay__hash_field(assay__hasher *hasher, uint8_t tag, const void *bytes, size_t length)
{
    uint8_t head[9] = {tag};

    for (size_t i = 0; i < 8; i++)
        head[1 + i] = (uint8_t)((uint64_t)length >> (8 * i));
    update(hasher, head, sizeof head);
    update(hasher, bytes, length);
}

void assay__hash_string(assay__hasher *hasher, uint8_t tag, const char *text)
{
    assay__hash_field(hasher, tag, text, text == NULL ? 0 : strlen(text));
}

void assay__hash_u64(assay__hasher *hasher, uint8_t tag, uint64_t value)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    assay__hash_field(hasher, tag, bytes, sizeof bytes);
}

void assay__hash_digest(assay__hasher *hasher, uint8_t tag, const assay_digest *digest)
{
    assay__hash_field(hasher, tag, digest->bytes, sizeof digest->bytes);
}

void assay__hash_final(assay__hasher *hasher, assay_digest *out)
{
    (void)crypto_generichash_blake2b_final(state_of(hasher), out->bytes, sizeof out->bytes);
}

void assay_digest_format(const assay_digest *digest, char out[ASSAY_DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < ASSAY_DIGEST_BYTES; i++) {
        out[2 * i] = digits[digest->bytes[i] >> 4];
        out[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    out[2 * ASSAY_DIGEST_BYTES] = '\0';
}

/* -1 for what is no digit; isxdigit would depend on the locale. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

assay_status assay_digest_parse(const char *text, assay_digest *out)
{
    assay_digest digest;

    if (text == NULL || strlen(text) != 2 * ASSAY_DIGEST_BYTES)
        return assay__fail(ASSAY_PARSE, "digest: expected 64 hexadecimal digits");
    for (size_t i = 0; i < ASSAY_DIGEST_BYTES; i++) {
        int high = digit_value(text[2 * i]);
        int low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return assay__fail(ASSAY_PARSE, "digest: no hexadecimal digit at byte %zu of '%s'",
                               high < 0 ? 2 * i : 2 * i + 1, text);
        digest.bytes[i] = (uint8_t)(high * 16 + low);
    }
    *out = digest;
    return ASSAY_OK;
}

int assay_digest_compare(const assay_digest *a, const assay_digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

bool assay_digest_equal(const assay_digest *a, const assay_digest *b)
{
    return assay_digest_compare(a, b) == 0;
}
