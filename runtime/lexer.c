/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/lexer.c -- tokenizer of C, CUDA C and GLSL. */
#include "runtime/lexer.h"

#include <string.h>

#include "runtime/error.h"

enum { EXPECT_ANY = 0, EXPECT_DIRECTIVE, EXPECT_HEADER, EXPECT_MACRO, EXPECT_BRACKET };

#define END_OF_SOURCE (-1)

/* Longest first: the first that fits wins. */
static const char *const punctuators[] = {
    "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "*=",   "/=",  "%=",  "+=",  "-=", "&=", "^=", "|=", "##", "::", "<:", ":>", "<%", "%>", "%:",
};

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Bytes over 127 are parts of UTF-8 names. */
static bool is_name_start(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 128;
}

static bool is_name(int c)
{
    return is_name_start(c) || is_digit(c);
}

static const char *skip_splices(const char *at, const char *end)
{
    while (end - at >= 2 && at[0] == '\\') {
        if (at[1] == '\n')
            at += 2;
        else if (end - at >= 3 && at[1] == '\r' && at[2] == '\n')
            at += 3;
        else
            break;
    }
    return at;
}

/* The byte at hand, after any continuation. */
static int current(assay__lexer *lexer)
{
    lexer->at = skip_splices(lexer->at, lexer->end);
    return lexer->at == lexer->end ? END_OF_SOURCE : (unsigned char)*lexer->at;
}

/* The byte `ahead` places after the one at hand. */
static int peek(const assay__lexer *lexer, size_t ahead)
{
    const char *at = skip_splices(lexer->at, lexer->end);

    for (; ahead > 0 && at < lexer->end; ahead--)
        at = skip_splices(at + 1, lexer->end);
    return at == lexer->end ? END_OF_SOURCE : (unsigned char)*at;
}

/* Consumes `count` bytes into the text of the token. */
static void take(assay__lexer *lexer, size_t count)
{
    for (; count > 0 && current(lexer) != END_OF_SOURCE; count--)
        lexer->text[lexer->used++] = *lexer->at++;
}

static assay_status fail_at(const assay__lexer *lexer, const char *where, const char *what)
{
    return assay__fail(ASSAY_PARSE, "line %zu: %s",
                       assay__lexer_line(lexer, (size_t)(where - lexer->source)), what);
}

static assay_status skip_block_comment(assay__lexer *lexer)
{
    const char *start = lexer->at;

    lexer->at++;
    (void)current(lexer);
    lexer->at++;
    while (current(lexer) != END_OF_SOURCE) {
        if (*lexer->at == '*' && peek(lexer, 1) == '/') {
            lexer->at++;
            (void)current(lexer);
            lexer->at++;
            return ASSAY_OK;
        }
        lexer->at++;
    }
    return fail_at(lexer, start, "comment without an end");
}

static void skip_line_comment(assay__lexer *lexer)
{
    int c;

    while ((c = current(lexer)) != END_OF_SOURCE && c != '\n')
        lexer->at++;
}

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

/* Stops at a byte of a token, at the line end of a directive, or at the end. */
static assay_status skip_space(assay__lexer *lexer)
{
    for (;;) {
        int c = current(lexer);
        if (is_space(c)) {
            lexer->at++;
        } else if (c == '\n' && !lexer->directive) {
            lexer->line_start = true;
            lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            skip_line_comment(lexer);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            ASSAY_TRY(skip_block_comment(lexer));
        } else {
            return ASSAY_OK;
        }
    }
}

static void take_number(assay__lexer *lexer)
{
    take(lexer, 1);
    for (;;) {
        int c = current(lexer);
        int next = peek(lexer, 1);
        bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
        if (exponent && (next == '+' || next == '-'))
            take(lexer, 2);
        else if (is_name(c) || c == '.')
            take(lexer, 1);
        else if (c == '\'' && is_name(next))
            take(lexer, 2); /* digit separator of CUDA C++ */
        else
            return;
    }
}

/* Up to the closing mark on the same line.  False: there is none and nothing was taken beyond the
 * opening mark (an apostrophe in the text of an #error, say). */
static bool take_quoted(assay__lexer *lexer, int mark, bool escapes)
{
    take(lexer, 1);
    const char *resume = lexer->at;
    size_t resume_used = lexer->used;

    for (;;) {
        int c = current(lexer);
        if (c == END_OF_SOURCE || c == '\n')
            break;
        take(lexer, 1);
        if (c == mark)
            return true;
        if (c == '\\' && escapes && current(lexer) != '\n')
            take(lexer, 1);
    }
    lexer->at = resume;
    lexer->used = resume_used;
    return false;
}

/* R"delimiter( ... )delimiter": continuations inside are text.  A carriage return before a line
 * end is not, so that a checkout with CRLF hashes alike.  *taken false: no raw string after all. */
static assay_status take_raw_string(assay__lexer *lexer, bool *taken)
{
    const char *quote = lexer->at;
    size_t room = (size_t)(lexer->end - quote);
    const char *open = memchr(quote, '(', room < 18 ? room : 18);

    *taken = open != NULL && memchr(quote, '\n', (size_t)(open - quote)) == NULL &&
             memchr(quote + 1, '"', (size_t)(open - quote - 1)) == NULL;
    if (!*taken)
        return ASSAY_OK;
    size_t delimiter = (size_t)(open - quote - 1);
    for (const char *at = open; (size_t)(lexer->end - at) >= delimiter + 2; at++) {
        if (*at != ')' || memcmp(at + 1, quote + 1, delimiter) != 0 || at[1 + delimiter] != '"')
            continue;
        for (lexer->at = at + delimiter + 2; quote < lexer->at; quote++)
            if (quote[0] != '\r' || quote[1] != '\n')
                lexer->text[lexer->used++] = *quote;
        return ASSAY_OK;
    }
    return fail_at(lexer, quote, "raw string without an end");
}

static bool text_is(const assay__lexer *lexer, const char *word)
{
    return lexer->used == strlen(word) && memcmp(lexer->text, word, lexer->used) == 0;
}

static bool text_is_one_of(const assay__lexer *lexer, const char *const *words)
{
    while (*words != NULL && !text_is(lexer, *words))
        words++;
    return *words != NULL;
}

/* What the word after '#' says about the rest of the line. */
static unsigned char expect_after(const assay__lexer *lexer)
{
    static const char *const with_header[] = {"include", "include_next", "import", "embed", NULL};

    if (text_is_one_of(lexer, with_header))
        return EXPECT_HEADER;
    return text_is(lexer, "define") ? EXPECT_MACRO : EXPECT_ANY;
}

/* A name, or a literal with a prefix that touches it. */
static assay_status take_name(assay__lexer *lexer, assay__token_kind *kind)
{
    static const char *const raw[] = {"R", "LR", "uR", "UR", "u8R", NULL};
    static const char *const plain[] = {"L", "u", "U", "u8", NULL};
    bool taken = false;

    while (is_name(current(lexer)))
        take(lexer, 1);
    int c = current(lexer);
    *kind = ASSAY__TOKEN_IDENTIFIER;
    if (c == '"' && text_is_one_of(lexer, raw)) {
        ASSAY_TRY(take_raw_string(lexer, &taken));
        if (taken)
            *kind = ASSAY__TOKEN_STRING;
    } else if ((c == '"' || c == '\'') && text_is_one_of(lexer, plain)) {
        const char *quote = lexer->at;
        size_t used = lexer->used;
        if (take_quoted(lexer, c, true)) {
            *kind = c == '"' ? ASSAY__TOKEN_STRING : ASSAY__TOKEN_CHARACTER;
        } else {
            lexer->at = quote;
            lexer->used = used;
        }
    }
    return ASSAY_OK;
}

static void take_punctuator(assay__lexer *lexer)
{
    for (size_t i = 0; i < sizeof punctuators / sizeof *punctuators; i++) {
        const char *mark = punctuators[i];
        size_t n = 0;
        while (mark[n] != '\0' && peek(lexer, n) == (unsigned char)mark[n])
            n++;
        if (mark[n] == '\0') {
            take(lexer, n);
            return;
        }
    }
    take(lexer, 1);
}

static bool is_punctuator(int c)
{
    return c > 0 && c < 128 && strchr("[](){}.&*+-~!/%<>^|?:;=,#@\\`", c) != NULL;
}

static assay_status take_token(assay__lexer *lexer, int c, assay__token_kind *kind)
{
    if (is_name_start(c))
        return take_name(lexer, kind);
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
        *kind = ASSAY__TOKEN_NUMBER;
        take_number(lexer);
    } else if (c == '"' || c == '\'') {
        bool closed = take_quoted(lexer, c, true);
        *kind = !closed    ? ASSAY__TOKEN_OTHER
                : c == '"' ? ASSAY__TOKEN_STRING
                           : ASSAY__TOKEN_CHARACTER;
    } else if (is_punctuator(c)) {
        *kind = ASSAY__TOKEN_PUNCTUATOR;
        take_punctuator(lexer);
    } else {
        *kind = ASSAY__TOKEN_OTHER;
        take(lexer, 1);
    }
    return ASSAY_OK;
}

static assay_status take_header(assay__lexer *lexer, int c, assay__token_kind *kind)
{
    *kind = ASSAY__TOKEN_HEADER;
    lexer->expect = EXPECT_ANY;
    if ((c == '"' || c == '<') && take_quoted(lexer, c == '<' ? '>' : '"', false))
        return ASSAY_OK;
    return fail_at(lexer, lexer->at, "#include without a \"name\" or <name> cannot be followed");
}

/* Keeps track of directives: what this token was says what may come next. */
static void note_token(assay__lexer *lexer, bool line_start, assay__token_kind *kind)
{
    bool is_name_token = *kind == ASSAY__TOKEN_IDENTIFIER;

    if (line_start && (text_is(lexer, "#") || text_is(lexer, "%:"))) {
        lexer->directive = true;
        lexer->expect = EXPECT_DIRECTIVE;
    } else if (lexer->expect == EXPECT_DIRECTIVE && is_name_token) {
        lexer->expect = expect_after(lexer);
    } else if (lexer->expect == EXPECT_MACRO && is_name_token && current(lexer) == '(') {
        lexer->expect = EXPECT_BRACKET;
    } else {
        if (lexer->expect == EXPECT_BRACKET)
            *kind = ASSAY__TOKEN_MACRO_BRACKET;
        lexer->expect = EXPECT_ANY;
    }
}

void assay__lexer_init(assay__lexer *lexer, const char *source, size_t length, char *scratch)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";

    *lexer = (assay__lexer){.source = source,
                            .at = source,
                            .end = source + length,
                            .text = scratch,
                            .line_start = true};
    if (length >= 3 && memcmp(source, byte_order_mark, 3) == 0)
        lexer->at += 3;
}

assay_status assay__lexer_next(assay__lexer *lexer, assay__token *out)
{
    assay__token_kind kind = ASSAY__TOKEN_END;

    lexer->used = 0;
    ASSAY_TRY(skip_space(lexer));
    size_t offset = (size_t)(lexer->at - lexer->source);
    int c = current(lexer);
    bool line_start = lexer->line_start;
    if (lexer->expect == EXPECT_HEADER) {
        ASSAY_TRY(take_header(lexer, c, &kind));
    } else if (lexer->directive && (c == '\n' || c == END_OF_SOURCE)) {
        kind = ASSAY__TOKEN_DIRECTIVE_END;
        lexer->directive = false;
        lexer->expect = EXPECT_ANY;
    } else if (c != END_OF_SOURCE) {
        ASSAY_TRY(take_token(lexer, c, &kind));
        lexer->line_start = false;
        note_token(lexer, line_start, &kind);
    }
    *out = (assay__token){kind, lexer->text, lexer->used, offset};
    return ASSAY_OK;
}

size_t assay__lexer_line(const assay__lexer *lexer, size_t offset)
{
    size_t line = 1;

    for (const char *at = lexer->source; at < lexer->source + offset; at++)
        line += *at == '\n';
    return line;
}
