/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/lexer.h -- the tokens of C, CUDA C and GLSL, for hashing what a compiler would see.
 *
 * Comments, white space and line continuations vanish; nothing is preprocessed.  Line ends count
 * only where they end a directive, so that "#define A\nB" is not "#define A B", and the bracket
 * of "#define F(x)" has its own kind, so that it is not "#define F (x)".  Bytes, not locale,
 * decide.  Trigraphs are left alone. */
#ifndef ASSAY_RUNTIME_LEXER_H
#define ASSAY_RUNTIME_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* Values enter source digests: append, never renumber. */
typedef enum assay__token_kind {
    ASSAY__TOKEN_END = 0,
    ASSAY__TOKEN_IDENTIFIER = 1,
    ASSAY__TOKEN_NUMBER = 2, /* a preprocessing number */
    ASSAY__TOKEN_STRING = 3, /* prefix, quotes and raw delimiters included */
    ASSAY__TOKEN_CHARACTER = 4,
    ASSAY__TOKEN_PUNCTUATOR = 5,
    ASSAY__TOKEN_HEADER = 6,        /* of #include: "name" or <name> with its marks */
    ASSAY__TOKEN_MACRO_BRACKET = 7, /* "(" that touches the name in #define */
    ASSAY__TOKEN_DIRECTIVE_END = 8, /* no text */
    ASSAY__TOKEN_OTHER = 9          /* a lone quote, or a byte no language has */
} assay__token_kind;

typedef struct assay__token {
    assay__token_kind kind;
    const char *text; /* continuations removed; valid until the next call; not NUL-terminated */
    size_t length;
    size_t offset; /* of its first byte in the source */
} assay__token;

typedef struct assay__lexer {
    const char *source, *at, *end; /* borrowed */
    char *text;                    /* borrowed scratch, `length` bytes */
    size_t used;
    bool line_start, directive;
    unsigned char expect;
} assay__lexer;

/* `scratch` has room for `length` bytes (1 at least) and outlives the lexer. */
void assay__lexer_init(assay__lexer *lexer, const char *source, size_t length, char *scratch);

/* ASSAY_PARSE for a comment or raw string without an end, and for an #include whose name is a
 * macro; the text has the line.  After the last token every call gives ASSAY__TOKEN_END. */
assay_status assay__lexer_next(assay__lexer *lexer, assay__token *out);

/* 1-based line of an offset. */
size_t assay__lexer_line(const assay__lexer *lexer, size_t offset);

#endif
