/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tools/codehash.c -- build tool: hashes the token streams of sources and what they include.
 *
 *   codehash [--list] [--flags TEXT] [--file-flags FILE TEXT]... [--include DIR]...
 *            [--opaque FILE]... --root ROOT -o OUT SYMBOL FILE...
 *
 * FILEs are relative to ROOT.  "name" is looked for beside the including file, in ROOT,
 * ROOT/include and every --include DIR, and must be found; <name> is followed only when ROOT or
 * ROOT/include has it, all else is a system header and enters by name, as does an --opaque
 * FILE: a table whose rows concern others, such as the op catalogue.  OUT is a C table, or with
 * --list one "digest path" line a file.  Needs runtime/lexer.c, digest.c and error.c only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/digest.h"
#include "runtime/error.h"
#include "runtime/lexer.h"

#define MAX_DEPTH 100

enum { TAG_FLAG = 1, TAG_FILE, TAG_FILE_END, TAG_SEEN, TAG_TOKEN = 16 };

typedef struct list {
    char **items; /* owned */
    size_t count;
} list;

typedef struct options {
    const char *root, *out, *symbol, *flags;
    bool listing;
    char **argv;      /* of --include and --file-flags */
    int option_count; /* arguments before SYMBOL */
    char **files;
    size_t file_count;
} options;

typedef struct walk {
    const options *options;
    assay__hasher hasher;
    list seen; /* paths in the order of first visit */
    size_t depth;
} walk;

static assay_status list_add(list *l, char *item)
{
    char **items = item == NULL ? NULL : realloc(l->items, (l->count + 1) * sizeof *items);

    if (items == NULL) {
        free(item);
        return assay__fail(ASSAY_NOMEM, "out of memory");
    }
    l->items = items;
    l->items[l->count++] = item;
    return ASSAY_OK;
}

static void list_clear(list *l)
{
    while (l->count > 0)
        free(l->items[--l->count]);
    free(l->items);
    *l = (list){NULL, 0};
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Drops "." and "name/.." in place by text alone, so that one file has one name. */
static void normalize(char *path)
{
    char *out = path + (path[0] == '/');
    char *floor = out; /* ".." cannot climb above this */

    for (char *part = out, *next; *part != '\0'; part = next) {
        size_t length = strcspn(part, "/");
        next = part + length + (part[length] == '/');
        if (length == 0 || (length == 1 && part[0] == '.'))
            continue;
        bool up = length == 2 && part[0] == '.' && part[1] == '.';
        if (up && out > floor) {
            for (out--; out > floor && out[-1] != '/'; out--)
                ;
            continue;
        }
        bool slash = part[length] == '/';
        memmove(out, part, length);
        out += length;
        if (slash)
            *out++ = '/';
        if (up)
            floor = out;
    }
    *out = '\0';
}

/* `dir` up to `dir_length` bytes, "/", `name`; normalized, owned by the caller. */
static char *join(const char *dir, size_t dir_length, const char *name, size_t name_length)
{
    char *path = malloc(dir_length + name_length + 2);

    if (path == NULL)
        return NULL;
    memcpy(path, dir, dir_length);
    if (dir_length > 0)
        path[dir_length++] = '/';
    memcpy(path + dir_length, name, name_length);
    path[dir_length + name_length] = '\0';
    normalize(path);
    return path;
}

/* Where a root-relative path lies. */
static char *on_disk(const options *o, const char *path)
{
    return path[0] == '/' ? join("", 0, path, strlen(path))
                          : join(o->root, strlen(o->root), path, strlen(path));
}

static bool is_file(const options *o, const char *path)
{
    struct stat st;
    char *disk = on_disk(o, path);
    bool found = disk != NULL && stat(disk, &st) == 0 && S_ISREG(st.st_mode);

    free(disk);
    return found;
}

static assay_status read_stream(FILE *f, char **out, size_t *length)
{
    size_t cap = 16384, used = 0;
    char *text = malloc(cap);

    while (text != NULL) {
        used += fread(text + used, 1, cap - used, f);
        if (used < cap)
            break;
        char *larger = realloc(text, cap *= 2);
        if (larger == NULL)
            free(text);
        text = larger;
    }
    if (text == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory");
    *out = text;
    *length = used;
    return ASSAY_OK;
}

static assay_status read_file(const options *o, const char *path, char **out, size_t *length)
{
    char *disk = on_disk(o, path);
    FILE *f = disk == NULL ? NULL : fopen(disk, "rb");

    free(disk);
    if (f == NULL)
        return assay__fail(ASSAY_IO, "%s: %s", path, strerror(errno));
    assay_status status = read_stream(f, out, length);
    if (status == ASSAY_OK && ferror(f)) {
        free(*out);
        status = assay__fail(ASSAY_IO, "%s: %s", path, strerror(errno));
    }
    (void)fclose(f);
    return status;
}

/* ---- including ------------------------------------------------------------------------------- */

/* Takes `path` when it names a file, else frees it. */
static bool accept(const options *o, char *path, char **out)
{
    if (path == NULL || !is_file(o, path)) {
        free(path);
        return false;
    }
    *out = path;
    return true;
}

/* The project file that a header token names; *out NULL: a system header. */
static assay_status resolve(const options *o, const char *from, const assay__token *header,
                            char **out)
{
    const char *name = header->text + 1;
    size_t length = header->length - 2;
    const char *slash = strrchr(from, '/');
    bool quoted = header->text[0] == '"';

    *out = NULL;
    if (length > 0 && name[0] == '/')
        return assay__fail(ASSAY_PARSE, "#include of an absolute path depends on the machine");
    if (quoted &&
        accept(o, join(from, slash == NULL ? 0 : (size_t)(slash - from), name, length), out))
        return ASSAY_OK;
    if (accept(o, join("", 0, name, length), out) ||
        accept(o, join("include", 7, name, length), out))
        return ASSAY_OK;
    for (int i = 0; quoted && i < o->option_count; i++)
        if (strcmp(o->argv[i], "--include") == 0 &&
            accept(o, join(o->argv[i + 1], strlen(o->argv[i + 1]), name, length), out))
            return ASSAY_OK;
    if (quoted)
        return assay__fail(ASSAY_IO,
                           "\"%.*s\" not found; write <...> for a system header or name its folder "
                           "with --include",
                           (int)length, name);
    return ASSAY_OK;
}

static bool is_opaque(const options *o, const char *path)
{
    for (int i = 0; i < o->option_count; i++)
        if (strcmp(o->argv[i], "--opaque") == 0 && strcmp(o->argv[i + 1], path) == 0)
            return true;
    return false;
}

static assay_status walk_file(walk *w, const char *path);

static assay_status walk_header(walk *w, const char *from, const assay__token *header)
{
    char *path = NULL;

    ASSAY_TRY(resolve(w->options, from, header, &path));
    bool by_name = path == NULL || is_opaque(w->options, path);
    assay_status status = by_name ? ASSAY_OK : walk_file(w, path);
    free(path);
    return status;
}

static assay_status walk_tokens(walk *w, const char *path, assay__lexer *lexer)
{
    assay__token token;

    for (;;) {
        assay_status status = assay__lexer_next(lexer, &token);
        if (status != ASSAY_OK)
            return assay__fail_context(status, "%s", path);
        if (token.kind == ASSAY__TOKEN_END)
            return ASSAY_OK;
        assay__hash_field(&w->hasher, (uint8_t)(TAG_TOKEN + token.kind), token.text, token.length);
        if (token.kind != ASSAY__TOKEN_HEADER)
            continue;
        status = walk_header(w, path, &token);
        if (status != ASSAY_OK)
            return assay__fail_context(status, "%s:%zu", path,
                                       assay__lexer_line(lexer, token.offset));
    }
}

/* A file stands in the stream where it is first included; later it is its number, so that cycles
 * end and the same name meaning two files is told apart.  Its path does not enter. */
static assay_status walk_file(walk *w, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    assay__lexer lexer;

    for (size_t i = 0; i < w->seen.count; i++) {
        if (strcmp(w->seen.items[i], path) == 0) {
            assay__hash_u64(&w->hasher, TAG_SEEN, i);
            return ASSAY_OK;
        }
    }
    if (w->depth == MAX_DEPTH)
        return assay__fail(ASSAY_PARSE, "%s: includes nest deeper than %d", path, MAX_DEPTH);
    ASSAY_TRY(list_add(&w->seen, strdup(path)));
    assay__hash_u64(&w->hasher, TAG_FILE, w->seen.count - 1);
    ASSAY_TRY(read_file(w->options, path, &text, &length));
    char *scratch = malloc(length + 1);
    assay_status status = ASSAY_NOMEM;
    if (scratch != NULL) {
        assay__lexer_init(&lexer, text, length, scratch);
        w->depth++;
        status = walk_tokens(w, path, &lexer);
        w->depth--;
        assay__hash_field(&w->hasher, TAG_FILE_END, NULL, 0);
    }
    free(scratch);
    free(text);
    return status;
}

/* ---- flags ----------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Flags that name places or ask for messages, not for code: the flag and its argument vanish. */
static bool drops_with_argument(const char *flag)
{
    static const char *const flags[] = {"-I",  "-o",       "-L",      "-MF",       "-MT",
                                        "-MQ", "-isystem", "-iquote", "-idirafter"};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flag, flags[i]) == 0)
            return true;
    return false;
}

static bool drops(const char *flag)
{
    /* -gencode of nvcc chooses code; -Wp and -Wa reach the preprocessor and the assembler. */
    if (starts(flag, "-gencode") || starts(flag, "-Wp,") || starts(flag, "-Wa,"))
        return false;
    return starts(flag, "-I") || starts(flag, "-g") || starts(flag, "-o") || starts(flag, "-M") ||
           starts(flag, "-W") || starts(flag, "-L") || starts(flag, "-fdiagnostics") ||
           strstr(flag, "-prefix-map=") != NULL || strcmp(flag, "-c") == 0 ||
           strcmp(flag, "-pipe") == 0;
}

static assay_status hash_flags(assay__hasher *hasher, const char *text)
{
    char *copy = strdup(text);
    char *rest = NULL;

    if (copy == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory");
    for (char *flag = strtok_r(copy, " \t\r\n", &rest); flag != NULL;
         flag = strtok_r(NULL, " \t\r\n", &rest)) {
        if (drops_with_argument(flag))
            (void)strtok_r(NULL, " \t\r\n", &rest);
        else if (!drops(flag))
            assay__hash_string(hasher, TAG_FLAG, flag);
    }
    free(copy);
    return ASSAY_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

static assay_status hash_source(const options *o, const char *path, assay_digest *out)
{
    walk w = {.options = o};

    assay__hash_init(&w.hasher, "assay-source-1");
    assay_status status = hash_flags(&w.hasher, o->flags);
    for (int i = 0; status == ASSAY_OK && i < o->option_count; i++)
        if (strcmp(o->argv[i], "--file-flags") == 0 && strcmp(o->argv[i + 1], path) == 0)
            status = hash_flags(&w.hasher, o->argv[i + 2]);
    if (status == ASSAY_OK)
        status = walk_file(&w, path);
    assay__hash_final(&w.hasher, out);
    list_clear(&w.seen);
    return status;
}

static void write_row(FILE *f, const options *o, const char *path, const assay_digest *digest)
{
    char hex[ASSAY_DIGEST_HEX];

    if (o->listing) {
        assay_digest_format(digest, hex);
        fprintf(f, "%s %s\n", hex, path);
        return;
    }
    fprintf(f, "    {\"%s\",\n     {{", path);
    for (size_t i = 0; i < ASSAY_DIGEST_BYTES; i++)
        fprintf(f, "%s0x%02x", i == 0 ? "" : i % 16 == 0 ? ",\n       " : ", ", digest->bytes[i]);
    fprintf(f, "}}},\n");
}

static assay_status write_rows(FILE *f, const options *o)
{
    for (size_t i = 0; i < o->file_count; i++) {
        assay_digest digest;
        if (strpbrk(o->files[i], "\"\\\n") != NULL)
            return assay__fail(ASSAY_INVALID, "%s: no quotes or backslashes in names", o->files[i]);
        ASSAY_TRY(hash_source(o, o->files[i], &digest));
        write_row(f, o, o->files[i], &digest);
    }
    return ASSAY_OK;
}

static assay_status write_table(FILE *f, const options *o)
{
    const char *s = o->symbol;

    if (o->listing)
        return write_rows(f, o);
    fprintf(f,
            "/* Made by codehash from token streams; not to be edited. */\n"
            "#include \"assay/digest.h\"\n\n"
            "extern const assay_source_hash %s[];\nextern const size_t %s_count;\n\n"
            "const assay_source_hash %s[] = {\n",
            s, s, s);
    ASSAY_TRY(write_rows(f, o));
    fprintf(f, "};\nconst size_t %s_count = %zu;\n", s, o->file_count);
    return ASSAY_OK;
}

/* Written aside and renamed, so that a failure leaves no half table behind.  Only a plain file is
 * replaced: a rename onto a device or a link would destroy it. */
static assay_status write_aside(const options *o, const char *aside)
{
    struct stat st;

    if (lstat(o->out, &st) == 0 && !S_ISREG(st.st_mode))
        return assay__fail(ASSAY_INVALID, "%s: not a plain file; \"-\" writes to stdout", o->out);
    FILE *f = fopen(aside, "w");
    if (f == NULL)
        return assay__fail(ASSAY_IO, "%s: %s", aside, strerror(errno));
    assay_status status = write_table(f, o);
    bool bad = ferror(f) != 0;
    bad = fclose(f) != 0 || bad;
    if (status == ASSAY_OK && (bad || rename(aside, o->out) != 0))
        status = assay__fail(ASSAY_IO, "%s: %s", o->out, strerror(errno));
    if (status != ASSAY_OK)
        (void)remove(aside);
    return status;
}

static assay_status write_output(const options *o)
{
    if (strcmp(o->out, "-") == 0) {
        ASSAY_TRY(write_table(stdout, o));
        return fflush(stdout) == 0 ? ASSAY_OK
                                   : assay__fail(ASSAY_IO, "stdout: %s", strerror(errno));
    }
    char *aside = malloc(strlen(o->out) + 5);
    if (aside == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory");
    assay_status status = write_aside(o, strcat(strcpy(aside, o->out), ".tmp"));
    free(aside);
    return status;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static assay_status usage(const char *what)
{
    return assay__fail(ASSAY_INVALID,
                       "%s\nusage: codehash [--list] [--flags TEXT] [--file-flags FILE TEXT]... "
                       "[--include DIR]... [--opaque FILE]... --root ROOT -o OUT SYMBOL FILE...",
                       what);
}

static bool is_symbol(const char *text)
{
    size_t good = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

    return text[0] != '\0' && text[good] == '\0' && !(text[0] >= '0' && text[0] <= '9');
}

static assay_status parse(int argc, char **argv, options *o)
{
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *name = argv[i];
        int values = strcmp(name, "--list") == 0 ? 0 : strcmp(name, "--file-flags") == 0 ? 2 : 1;
        if (argc - i <= values)
            return usage("an option lacks its value");
        if (values == 0)
            o->listing = true;
        else if (strcmp(name, "--flags") == 0)
            o->flags = argv[i + 1];
        else if (strcmp(name, "--root") == 0)
            o->root = argv[i + 1];
        else if (strcmp(name, "-o") == 0)
            o->out = argv[i + 1];
        else if (values == 1 && strcmp(name, "--include") != 0 && strcmp(name, "--opaque") != 0)
            return usage("unknown option");
        i += values;
    }
    o->argv = argv;
    o->option_count = i;
    if (o->root == NULL || o->out == NULL || argc - i < 2)
        return usage("--root, -o, a symbol and a file are needed");
    o->symbol = argv[i];
    if (!is_symbol(o->symbol))
        return usage("the symbol must be a C name");
    o->files = argv + i + 1;
    o->file_count = (size_t)(argc - i - 1);
    return ASSAY_OK;
}

int main(int argc, char **argv)
{
    options o = {.flags = ""};
    assay_status status = parse(argc, argv, &o);
    int usage_error = status != ASSAY_OK;

    if (status == ASSAY_OK)
        status = write_output(&o);
    if (status != ASSAY_OK)
        fprintf(stderr, "codehash: %s\n", assay_last_error());
    return usage_error ? 2 : status != ASSAY_OK;
}
