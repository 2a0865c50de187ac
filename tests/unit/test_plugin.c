/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_plugin.c -- the loader, backends with slots left out, caps of operands. */
#include "assay/plugin.h"

#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/caps.h"
#include "runtime/error.h"
#include "runtime/plugin_set.h"
#include "tests/support/rows.h"

/* ---- the loader ---- */

static char built[512]; /* where the build put the plug-ins of this test */
static char folder[] = "/tmp/assay-plugin-XXXXXX";
static assay__plugins *set;

static void setup(void)
{
    ssize_t n = readlink("/proc/self/exe", built, sizeof built - 16);

    ck_assert_int_gt(n, 0);
    built[n] = '\0';
    strcpy(strrchr(built, '/'), "/loader");
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    set = NULL;
}

static void teardown(void)
{
    char command[128];

    assay__plugins_destroy(&set);
    assay__plugins_destroy(&set);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Puts the built plug-in `name` into the folder under the file name `as`, cut to `bytes`. */
static void put(const char *name, const char *as, long bytes)
{
    char from[640], to[128];
    char *text = malloc(4 << 20);
    size_t n;
    FILE *f;

    ck_assert_ptr_nonnull(text);
    snprintf(from, sizeof from, "%s/assay_%s.so", built, name);
    snprintf(to, sizeof to, "%s/%s", folder, as);
    f = fopen(from, "rb");
    ck_assert_msg(f != NULL, "%s is not built", from);
    n = fread(text, 1, 4 << 20, f);
    fclose(f);
    if (bytes >= 0 && (size_t)bytes < n)
        n = (size_t)bytes;
    f = fopen(to, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
    free(text);
}

static void load(const char *backends)
{
    ck_assert_msg(assay__plugins_load(folder, backends, &set) == ASSAY_OK, "%s",
                  assay_last_error());
}

/* The one plug-in that must have been refused, while alpha stays usable. */
static void expect_refused(const char *file, assay_status status, const char *why)
{
    const assay__plugin *item;

    put("alpha", "assay_alpha.so", -1);
    load(NULL);
    ck_assert_uint_eq(assay__plugins_count(set), 2);
    ck_assert_ptr_nonnull(assay__plugins_find(set, "alpha"));
    ck_assert_ptr_eq(assay__plugins_at(set, 0), assay__plugins_find(set, "alpha"));
    item = assay__plugins_at(set, 1);
    ck_assert_ptr_null(item->manifest);
    ck_assert_ptr_nonnull(strstr(item->path, file));
    ck_assert_int_eq(item->status, status);
    ck_assert_msg(strstr(item->reason, why) != NULL, "%s", item->reason);
    ck_assert_ptr_null(strchr(item->reason, '\n'));
}

START_TEST(load_sorts_by_name_and_reads_manifests)
{
    put("beta", "aaa.so", -1); /* found first, named later */
    put("alpha", "bbb.so", -1);
    put("alpha", "notes.txt", -1);
    load(NULL);
    ck_assert_uint_eq(assay__plugins_count(set), 2);
    ck_assert_str_eq(assay__plugins_at(set, 0)->manifest->name, "alpha");
    ck_assert_str_eq(assay__plugins_at(set, 1)->manifest->name, "beta");
    ck_assert_int_eq(assay__plugins_at(set, 1)->status, ASSAY_OK);
    ck_assert_str_eq(assay__plugins_at(set, 1)->reason, "");
    ck_assert_int_eq(assay__plugins_at(set, 1)->backend.is_open, false);
    ck_assert_ptr_null(assay__plugins_at(set, 2));
}
END_TEST

START_TEST(load_takes_only_the_backends_asked_for)
{
    put("alpha", "assay_alpha.so", -1);
    put("beta", "b.so", -1);
    put("foreign", "assay_foreign.so", -1);
    load("beta");
    ck_assert_uint_eq(assay__plugins_count(set), 1);
    ck_assert_str_eq(assay__plugins_at(set, 0)->manifest->name, "beta");
}
END_TEST

START_TEST(load_fails_when_a_backend_asked_for_is_absent)
{
    put("alpha", "assay_alpha.so", -1);
    ck_assert_int_eq(assay__plugins_load(folder, "alpha,gamma", &set), ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "'gamma'"));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "no assay_gamma.so in "));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), folder));
    ck_assert_ptr_null(set);
    put("foreign", "assay_foreign.so", -1);
    ck_assert_int_eq(assay__plugins_load(folder, "foreign", &set), ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "ABI 99"));
}
END_TEST

START_TEST(load_reads_the_environment_list)
{
    char list[512];

    put("alpha", "a.so", -1);
    snprintf(list, sizeof list, "/nonexistent/here::%s", folder);
    ck_assert_int_eq(setenv("ASSAY_PLUGIN_PATH", list, 1), 0);
    ck_assert_int_eq(assay__plugins_load(NULL, NULL, &set), ASSAY_OK);
    unsetenv("ASSAY_PLUGIN_PATH");
    ck_assert_ptr_nonnull(assay__plugins_find(set, "alpha"));
    for (size_t i = 0; i < assay__plugins_count(set); i++)
        if (strcmp(assay__plugins_at(set, i)->path, "/nonexistent/here") == 0) {
            ck_assert_int_eq(assay__plugins_at(set, i)->status, ASSAY_UNAVAILABLE);
            return;
        }
    ck_abort_msg("the absent folder is not told");
}
END_TEST

START_TEST(load_reads_one_folder_once)
{
    char list[256];

    put("alpha", "a.so", -1);
    snprintf(list, sizeof list, "%s:%s/../%s", folder, folder, strrchr(folder, '/') + 1);
    ck_assert_int_eq(assay__plugins_load(list, NULL, &set), ASSAY_OK);
    ck_assert_uint_eq(assay__plugins_count(set), 1);
}
END_TEST

START_TEST(refused_text_file)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/assay_text.so", folder);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("this is no program, but long enough to be mistaken for a header of one............", f);
    fclose(f);
    expect_refused("assay_text.so", ASSAY_ABI, "no shared object");
}
END_TEST

/* Opening one that nobody writes to would wait for ever. */
START_TEST(refused_fifo)
{
    char path[128];

    snprintf(path, sizeof path, "%s/assay_fifo.so", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    expect_refused("assay_fifo.so", ASSAY_ABI, "no regular file");
}
END_TEST

/* Where the last of the segments ends that the loader maps. */
static long mapped_end(const char *name)
{
    char from[640];
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    uint64_t end = 0;
    FILE *f;

    snprintf(from, sizeof from, "%s/assay_%s.so", built, name);
    f = fopen(from, "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(&header, sizeof header, 1, f), 1);
    ck_assert_int_eq(fseek(f, (long)header.e_phoff, SEEK_SET), 0);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ck_assert_uint_eq(fread(&segment, sizeof segment, 1, f), 1);
        if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    ck_assert_int_eq(fclose(f), 0);
    return (long)end;
}

/* Cut before whole segments, and inside the last one, which begins where the file still is. */
START_TEST(refused_cut_file)
{
    put("beta", "assay_beta.so", _i == 0 ? 1000 : mapped_end("beta") - 8);
    expect_refused("assay_beta.so", ASSAY_ABI, "cut off");
}
END_TEST

START_TEST(refused_object_of_another_machine)
{
    char path[128];
    FILE *f;

    put("beta", "assay_beta.so", -1);
    snprintf(path, sizeof path, "%s/assay_beta.so", folder);
    f = fopen(path, "r+b");
    ck_assert_ptr_nonnull(f);
    fseek(f, 18, SEEK_SET); /* e_machine */
    fputc(8, f);
    fclose(f);
    expect_refused("assay_beta.so", ASSAY_ABI, "another machine");
}
END_TEST

START_TEST(refused_object_without_the_symbol)
{
    put("plain", "assay_plain.so", -1);
    expect_refused("assay_plain.so", ASSAY_ABI, "no plug-in");
}
END_TEST

START_TEST(refused_other_abi)
{
    put("foreign", "assay_foreign.so", -1);
    expect_refused("assay_foreign.so", ASSAY_ABI, "ABI 99");
}
END_TEST

START_TEST(refused_short_manifest)
{
    put("short", "assay_short.so", -1);
    expect_refused("assay_short.so", ASSAY_ABI, "struct_size 16");
}
END_TEST

/* Rows and manifest end before fields that came later: each of these is 0, and of the same row of
 * today nothing differs. */
START_TEST(older_rows_have_zeros_for_what_they_do_not_know)
{
    assay_binding row;

    put("old", "assay_old.so", -1);
    load(NULL);
    assay__plugin *old = assay__plugins_find(set, "old");
    ck_assert_msg(old != NULL, "%s", assay__plugins_at(set, 0)->reason);
    ck_assert_uint_eq(old->manifest->kernel_count, 2);
    ck_assert_uint_eq(old->manifest->struct_size, sizeof(assay_manifest));
    ck_assert(old->manifest->oracles == NULL && old->manifest->oracle_count == 0);
    ck_assert_uint_eq(old->manifest->explicit_only, 0);
    for (size_t i = 0; i < 2; i++) {
        const assay_kernel_desc *k = assay__manifest_kernel(old->manifest, i);
        ck_assert_str_eq(k->name, i == 0 ? "first" : "second");
        ck_assert_uint_eq(k->struct_size, sizeof *k);
        ck_assert_uint_eq(k->error_tile, 0);
        ck_assert(k->error_factor >= 0 && k->error_factor <= 0);
        ck_assert(k->claims.max_ulp >= 1 && k->claims.max_ulp <= 1 && k->run != NULL);
        ck_assert_str_eq(k->requires_isa, "imaginary9");
        ck_assert_int_eq(assay__plugin_binding(old, k, NULL, &row), ASSAY_OK);
    }
    ck_assert_ptr_ne(assay__manifest_origin(old->manifest), old->manifest);
    const assay_manifest *before = old->manifest;
    assay__plugins_destroy(&set);
    load(NULL); /* rows of bindings last as long as the process: there is one copy */
    ck_assert_ptr_eq(assay__plugins_find(set, "old")->manifest, before);
}
END_TEST

START_TEST(refused_rows_that_are_too_short)
{
    put("cut", "assay_cut.so", -1);
    expect_refused("assay_cut.so", ASSAY_ABI, "its kernel rows have struct_size");
    ck_assert_ptr_nonnull(strstr(assay__plugins_at(set, 1)->reason, "at least"));
}
END_TEST

/* What this version does not see may change what the rest means. */
START_TEST(refused_rows_of_a_newer_version)
{
    put("newer", "assay_newer.so", -1);
    expect_refused("assay_newer.so", ASSAY_ABI, "it was built for a newer one");
}
END_TEST

START_TEST(refused_name_that_differs_from_the_file)
{
    put("misnamed", "assay_misnamed.so", -1);
    expect_refused("assay_misnamed.so", ASSAY_ABI, "'misnamed'");
}
END_TEST

START_TEST(refused_bad_name)
{
    put("badname", "b.so", -1);
    expect_refused("b.so", ASSAY_ABI, "Bad-Name");
}
END_TEST

START_TEST(refused_second_file_of_one_name)
{
    put("alpha", "zzz.so", -1);
    expect_refused("zzz.so", ASSAY_INVALID, "already loaded from");
}
END_TEST

/* ---- rows from manifests ---- */

START_TEST(register_leaves_out_the_plugin_with_a_broken_row)
{
    const assay_snapshot *s = NULL;
    assay_table *table = NULL;

    put("alpha", "assay_alpha.so", -1);
    put("broken", "assay_broken.so", -1);
    load(NULL);
    ck_assert_int_eq(assay_table_create(&table), ASSAY_OK);
    ck_assert_int_eq(assay__plugins_register(set, "avx2 fma", NULL, table), ASSAY_OK);
    ck_assert_ptr_null(assay__plugins_find(set, "broken"));
    ck_assert_int_eq(assay__plugins_at(set, 1)->status, ASSAY_ABI);
    ck_assert_ptr_nonnull(strstr(assay__plugins_at(set, 1)->reason, "row 1 (broken/second)"));
    ck_assert_ptr_nonnull(strstr(assay__plugins_at(set, 1)->reason, "field run"));
    ck_assert_int_eq(assay_table_hold(table, &s), ASSAY_OK);
    ck_assert_uint_eq(assay_snapshot_size(s), 2);
    assay_snapshot_release(&s);
    assay_table_destroy(&table);
}
END_TEST

START_TEST(register_leaves_rows_of_other_ops_closed)
{
    static const assay_digest none;
    const assay_snapshot *s = NULL;

    put("beta", "b.so", -1);
    for (int wanted = 0; wanted < 2; wanted++) {
        assay_table *table = NULL;
        load(NULL);
        ck_assert_int_eq(assay_table_create(&table), ASSAY_OK);
        ck_assert_int_eq(
            assay__plugins_register(set, "avx2", wanted ? "exp,add" : "exp,matmul", table),
            ASSAY_OK);
        ck_assert_int_eq(assay__plugins_find(set, "beta")->backend.is_open, wanted == 1);
        ck_assert_int_eq(assay_table_hold(table, &s), ASSAY_OK);
        ck_assert_uint_eq(assay_snapshot_size(s), 4);
        if (wanted) { /* each library is asked for itself */
            const assay_binding *b = assay_snapshot_at(s, 3);
            ck_assert_str_eq(b->desc->name, "two_libraries");
            ck_assert_ptr_nonnull(strstr(b->reason, "no such library"));
        }
        for (size_t i = 0; i < 2; i++) {
            const assay_binding *b = assay_snapshot_at(s, i);
            ck_assert_int_eq(b->left_closed, wanted == 0);
            ck_assert_int_eq(b->available, wanted == 1);
            ck_assert_int_eq(assay_digest_equal(&b->revision, &none), wanted == 0);
            ck_assert_int_eq(b->reason[0] != '\0', wanted == 0);
        }
        assay_snapshot_release(&s);
        assay_table_destroy(&table);
        assay__plugins_destroy(&set);
    }
}
END_TEST

static assay_binding binding_of(const char *backend, size_t kernel, const char *isa)
{
    assay__plugin *plugin = assay__plugins_find(set, backend);
    assay_binding b;

    ck_assert_ptr_nonnull(plugin);
    ck_assert_msg(assay__plugin_binding(plugin, assay__manifest_kernel(plugin->manifest, kernel),
                                        isa, &b) == ASSAY_OK,
                  "%s", assay_last_error());
    return b;
}

START_TEST(binding_of_an_absent_library_is_unavailable)
{
    put("alpha", "a.so", -1);
    load(NULL);
    ck_assert_int_eq(binding_of("alpha", 0, "avx2").available, 1);
    ck_assert_int_eq(binding_of("alpha", 1, "avx2").available, 0);
    ck_assert_ptr_nonnull(strstr(binding_of("alpha", 1, "avx2").reason, "libplug"));
}
END_TEST

START_TEST(binding_of_a_library_opens_the_backend_and_enters_the_revision)
{
    assay_binding first, second;

    put("beta", "b.so", -1);
    load(NULL);
    first = binding_of("beta", 0, "avx2");
    ck_assert_int_eq(assay__plugins_find(set, "beta")->backend.is_open, false);
    second = binding_of("beta", 1, "avx2");
    ck_assert_int_eq(assay__plugins_find(set, "beta")->backend.is_open, true);
    ck_assert_int_eq(second.available, 1);
    ck_assert_str_eq(second.reason, "");
    ck_assert(!assay_digest_equal(&first.revision, &second.revision));
}
END_TEST

START_TEST(binding_of_an_absent_instruction_set_is_unavailable)
{
    assay_binding third;

    put("beta", "b.so", -1);
    load(NULL);
    third = binding_of("beta", 2, "avx2 imaginary");
    ck_assert_int_eq(third.available, 0);
    ck_assert_ptr_nonnull(strstr(third.reason, "imaginary9"));
    third = binding_of("beta", 2, "avx2 imaginary9");
    ck_assert_int_eq(third.available, 1);
    ck_assert_int_eq(binding_of("beta", 2, NULL).available, 1);
}
END_TEST

/* ---- slots ---- */

static char called[32];
static const void *seen[8];
static uint64_t numbers[8];
static int instance_object;
static assay_instance *const instance = (assay_instance *)&instance_object;

static void mark(const char *slot, const assay_instance *i)
{
    strcpy(called, slot);
    ck_assert_ptr_eq(i, instance);
}

static assay_status on_open(const assay_host *host, assay_instance **out)
{
    ck_assert_uint_eq(host->abi_version, ASSAY_PLUGIN_ABI);
    *out = instance;
    return ASSAY_OK;
}
static void on_close(assay_instance *i)
{
    mark("close", i);
}
static assay_status on_device_count(assay_instance *i, size_t *out)
{
    mark("device_count", i);
    seen[0] = out;
    return ASSAY_NOISY;
}
static assay_status on_device_info(assay_instance *i, size_t device, assay_device_info *out)
{
    mark("device_info", i);
    numbers[0] = device;
    seen[0] = out;
    return ASSAY_NOISY;
}
static assay_status on_library_identity(assay_instance *i, const char *lib, char *buf, size_t cap)
{
    mark("library_identity", i);
    seen[0] = lib;
    seen[1] = buf;
    numbers[0] = cap;
    return ASSAY_NOISY;
}
static assay_status on_alloc(assay_instance *i, uint64_t bytes, uint64_t align, assay_buffer *out)
{
    mark("alloc", i);
    numbers[0] = bytes;
    numbers[1] = align;
    seen[0] = out;
    return ASSAY_NOISY;
}
static assay_status on_free(assay_instance *i, assay_buffer buffer)
{
    mark("free", i);
    numbers[0] = buffer.owner;
    return ASSAY_NOISY;
}
static assay_status on_copy(assay_instance *i, assay_buffer dst, uint64_t dst_offset,
                            assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    mark("copy", i);
    numbers[0] = dst.owner;
    numbers[1] = dst_offset;
    numbers[2] = src.owner;
    numbers[3] = src_offset;
    numbers[4] = bytes;
    return ASSAY_NOISY;
}
static assay_status on_fill(assay_instance *i, assay_buffer dst, uint64_t offset, uint64_t bytes,
                            uint8_t value)
{
    mark("fill", i);
    numbers[0] = dst.owner;
    numbers[1] = offset;
    numbers[2] = bytes;
    numbers[3] = value;
    return ASSAY_NOISY;
}
static assay_status on_wrap(assay_instance *i, void *host, uint64_t bytes, assay_buffer *out)
{
    mark("wrap", i);
    seen[0] = host;
    numbers[0] = bytes;
    seen[1] = out;
    return ASSAY_NOISY;
}
static assay_status on_launch(assay_instance *i, assay_kernel_fn run, const assay_launch *launch)
{
    mark("launch", i);
    ck_assert(run == rows_run);
    seen[0] = launch;
    return ASSAY_NOISY;
}
static assay_status on_synchronize(assay_instance *i)
{
    mark("synchronize", i);
    return ASSAY_NOISY;
}
static assay_status on_measure(assay_instance *i, const assay_measure *what,
                               assay_clock_info *clock)
{
    mark("measure", i);
    seen[0] = what;
    seen[1] = clock;
    return ASSAY_NOISY;
}

static const assay_backend full = {.struct_size = sizeof(assay_backend),
                                   .abi_version = ASSAY_PLUGIN_ABI,
                                   .open = on_open,
                                   .close = on_close,
                                   .device_count = on_device_count,
                                   .device_info = on_device_info,
                                   .library_identity = on_library_identity,
                                   .alloc = on_alloc,
                                   .free = on_free,
                                   .copy = on_copy,
                                   .fill = on_fill,
                                   .wrap = on_wrap,
                                   .launch = on_launch,
                                   .synchronize = on_synchronize,
                                   .measure = on_measure};

#define EXPECT(slot, call)                     \
    do {                                       \
        called[0] = '\0';                      \
        ck_assert_int_eq((call), ASSAY_NOISY); \
        ck_assert_str_eq(called, slot);        \
    } while (0)

START_TEST(slots_all_reach_the_backend_with_their_arguments)
{
    const assay_buffer a = {.owner = 11}, b = {.owner = 22};
    assay_buffer buffer;
    assay_device_info info;
    assay_clock_info clock;
    assay_measure measure;
    assay_launch launch;
    assay__backend w;
    size_t count;
    char text[7];

    ck_assert_int_eq(assay__backend_init(&full, &w), ASSAY_OK);
    /* The slots behind these: test_backend_slots. */
    ck_assert_int_eq(memcmp(&w.slots, &full, offsetof(assay_backend, device_profile)), 0);
    ck_assert_int_eq(assay__backend_open(&w), ASSAY_OK);
    EXPECT("device_count", assay__backend_device_count(&w, &count));
    ck_assert_ptr_eq(seen[0], &count);
    EXPECT("device_info", assay__backend_device_info(&w, 3, &info));
    ck_assert(numbers[0] == 3 && seen[0] == &info);
    EXPECT("library_identity", assay__backend_library_identity(&w, "x", text, sizeof text));
    ck_assert(seen[1] == text && numbers[0] == sizeof text);
    ck_assert_str_eq(seen[0], "x");
    EXPECT("alloc", assay__backend_alloc(&w, 5, 64, &buffer));
    ck_assert(numbers[0] == 5 && numbers[1] == 64 && seen[0] == &buffer);
    EXPECT("free", assay__backend_free(&w, a));
    ck_assert(numbers[0] == 11);
    EXPECT("copy", assay__backend_copy(&w, a, 1, b, 2, 3));
    ck_assert(numbers[0] == 11 && numbers[1] == 1 && numbers[2] == 22 && numbers[3] == 2 &&
              numbers[4] == 3);
    EXPECT("fill", assay__backend_fill(&w, b, 4, 5, 6));
    ck_assert(numbers[0] == 22 && numbers[1] == 4 && numbers[2] == 5 && numbers[3] == 6);
    EXPECT("wrap", assay__backend_wrap(&w, text, 7, &buffer));
    ck_assert(seen[0] == text && numbers[0] == 7 && seen[1] == &buffer);
    EXPECT("launch", assay__backend_launch(&w, rows_run, &launch));
    ck_assert_ptr_eq(seen[0], &launch);
    EXPECT("synchronize", assay__backend_synchronize(&w));
    EXPECT("measure", assay__backend_measure(&w, &measure, &clock));
    ck_assert(seen[0] == &measure && seen[1] == &clock);
    called[0] = '\0';
    assay__backend_close(&w);
    ck_assert_str_eq(called, "close");
    called[0] = '\0';
    assay__backend_close(&w);
    ck_assert_str_eq(called, "");
}
END_TEST

START_TEST(slots_beyond_the_known_size_are_not_read)
{
    assay_backend old = full;
    assay__backend w;
    assay_buffer buffer;

    old.struct_size = offsetof(assay_backend, alloc);
    ck_assert_int_eq(assay__backend_init(&old, &w), ASSAY_OK);
    ck_assert(w.slots.device_info == on_device_info);
    ck_assert(w.slots.alloc != on_alloc && w.slots.alloc != NULL);
    ck_assert_int_eq(assay__backend_alloc(&w, 100, 64, &buffer), ASSAY_OK);
    ck_assert_uint_eq((uintptr_t)buffer.at.host % 64, 0);
    ck_assert_int_eq(assay__backend_free(&w, buffer), ASSAY_OK);
}
END_TEST

START_TEST(slots_of_another_abi_are_refused)
{
    assay_backend other = full;
    assay__backend w;

    other.abi_version = 2;
    ck_assert_int_eq(assay__backend_init(&other, &w), ASSAY_ABI);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "ABI 2"));
    other = full;
    other.struct_size = 4;
    ck_assert_int_eq(assay__backend_init(&other, &w), ASSAY_ABI);
}
END_TEST

START_TEST(defaults_move_bytes_in_host_memory)
{
    static const unsigned char want[6] = {0, 0, 7, 7, 7, 0};
    assay__backend w;
    assay_buffer a, b, far = {.owner = 9, .size_bytes = 64};
    unsigned char wrapped[6];
    assay_device_info info;
    char text[8];
    size_t count = 0;

    ck_assert_int_eq(assay__backend_init(NULL, &w), ASSAY_OK);
    ck_assert_int_eq(assay__backend_open(&w), ASSAY_OK);
    ck_assert_int_eq(assay__backend_device_count(&w, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(assay__backend_device_info(&w, 0, &info), ASSAY_OK);
    ck_assert_uint_eq(info.is_cpu, 1);
    ck_assert_int_eq(assay__backend_device_info(&w, 1, &info), ASSAY_INVALID);
    ck_assert_int_eq(assay__backend_library_identity(&w, "x", text, 8), ASSAY_UNAVAILABLE);
    ck_assert_int_eq(assay__backend_alloc(&w, 6, 16, &a), ASSAY_OK);
    ck_assert_int_eq(assay__backend_alloc(&w, 6, 24, &b), ASSAY_INVALID);
    ck_assert_int_eq(assay__backend_wrap(&w, wrapped, 6, &b), ASSAY_OK);
    ck_assert_int_eq(assay__backend_fill(&w, a, 0, 6, 0), ASSAY_OK);
    ck_assert_int_eq(assay__backend_fill(&w, a, 1, 3, 7), ASSAY_OK);
    ck_assert_int_eq(assay__backend_fill(&w, b, 0, 6, 0), ASSAY_OK);
    ck_assert_int_eq(assay__backend_copy(&w, b, 2, a, 1, 4), ASSAY_OK);
    ck_assert_int_eq(memcmp(wrapped, want, 6), 0);
    ck_assert_int_eq(assay__backend_fill(&w, a, 1, 6, 7), ASSAY_INVALID);
    ck_assert_int_eq(assay__backend_copy(&w, a, 7, b, 0, 0), ASSAY_INVALID);
    ck_assert_int_eq(assay__backend_copy(&w, far, 0, b, 0, 1), ASSAY_UNSUPPORTED);
    ck_assert_int_eq(assay__backend_free(&w, far), ASSAY_UNSUPPORTED);
    ck_assert_int_eq(assay__backend_synchronize(&w), ASSAY_OK);
    ck_assert_int_eq(assay__backend_free(&w, a), ASSAY_OK);
}
END_TEST

static size_t order[32], launched;
static assay_status note_launch(const assay_launch *launch)
{
    order[launched++ % 32] = launch->operand_count;
    return ASSAY_OK;
}
static size_t spans;
static void note_span(void *cookie, double span_ns, size_t inner)
{
    ck_assert_ptr_eq(cookie, &spans);
    ck_assert(span_ns >= 0.0);
    ck_assert_uint_eq(inner, 2);
    spans++;
}

START_TEST(default_measure_rotates_over_operand_sets)
{
    const assay_launch sets[3] = {{.operand_count = 0}, {.operand_count = 1}, {.operand_count = 2}};
    assay_measure what = {.struct_size = sizeof what,
                          .run = note_launch,
                          .launches = sets,
                          .launch_count = 3,
                          .inner = 2,
                          .spans = 4,
                          .sink = note_span,
                          .cookie = &spans};
    static const size_t rotated[] = {0, 1, 2, 0, 1, 2, 0, 1};
    static const size_t hot[] = {0, 1, 0, 1, 0, 1, 0, 1};
    assay_clock_info clock;
    assay__backend w;

    ck_assert_int_eq(assay__backend_init(NULL, &w), ASSAY_OK);
    ck_assert_int_eq(assay__backend_measure(&w, &what, &clock), ASSAY_OK);
    ck_assert_uint_eq(spans, 4);
    ck_assert_uint_eq(launched, 8);
    ck_assert_int_eq(memcmp(order, rotated, sizeof rotated), 0);
    ck_assert_str_eq(clock.name, "CLOCK_MONOTONIC_RAW");
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_ENQUEUE_WAIT);
    ck_assert(clock.resolution_ns > 0.0 && clock.overhead_ns >= 0.0);
    what.cache = ASSAY_CACHE_HOT;
    launched = 0;
    ck_assert_int_eq(assay__backend_measure(&w, &what, &clock), ASSAY_OK);
    ck_assert_int_eq(memcmp(order, hot, sizeof hot), 0);
    what.launch_count = 0;
    ck_assert_int_eq(assay__backend_measure(&w, &what, &clock), ASSAY_INVALID);
}
END_TEST

/* Launches seen when the backend was waited for. */
static size_t waits, launched_at_wait[32];
static assay_status note_wait(assay_instance *unused)
{
    (void)unused;
    launched_at_wait[waits++ % 32] = launched;
    return ASSAY_OK;
}

static assay_status never_measure(assay_instance *unused, const assay_measure *what,
                                  assay_clock_info *clock)
{
    (void)unused;
    (void)what;
    (void)clock;
    return ASSAY_INTERNAL; /* the backend's own clock sees nothing of the host */
}

START_TEST(calls_are_waited_for_one_by_one)
{
    const assay_backend slots = {.struct_size = sizeof slots,
                                 .abi_version = ASSAY_PLUGIN_ABI,
                                 .synchronize = note_wait,
                                 .measure = never_measure};
    const assay_launch sets[2] = {{.operand_count = 0}, {.operand_count = 1}};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = note_launch,
                                .launches = sets,
                                .launch_count = 2,
                                .inner = 2,
                                .spans = 2,
                                .sink = note_span,
                                .cookie = &spans};
    static const size_t rotated[] = {0, 1, 0, 1}, done[] = {0, 1, 2, 3, 4};
    assay_clock_info clock;
    assay__backend w;

    launched = spans = waits = 0;
    ck_assert_int_eq(assay__backend_init(&slots, &w), ASSAY_OK);
    ck_assert_int_eq(assay__backend_measure_calls(&w, &what, &clock), ASSAY_OK);
    ck_assert_uint_eq(spans, 2);
    ck_assert_int_eq(memcmp(order, rotated, sizeof rotated), 0);
    ck_assert_uint_eq(waits, 5); /* before the first span, and after each call */
    ck_assert_int_eq(memcmp(launched_at_wait, done, sizeof done), 0);
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_ENQUEUE_WAIT);
}
END_TEST

/* ---- caps ---- */

static assay_kernel_desc desc;
static char why[160];

static bool fits(const char *layout, unsigned align)
{
    why[0] = '\0';
    return assay__caps_fit(&desc, layout, align, why, sizeof why);
}

START_TEST(caps_of_letters)
{
    const struct {
        char letter;
        unsigned caps;
    } rows[] = {{'l', ASSAY_CAP_LEADING},
                {'l', ASSAY_CAP_STRIDED},
                {'s', ASSAY_CAP_STRIDED},
                {'b', ASSAY_CAP_BROADCAST},
                {'n', ASSAY_CAP_NEGATIVE}};

    desc = rows_desc("k", ASSAY_OP_add, ASSAY_F32, 0);
    ck_assert(fits("ccc", 16));
    ck_assert(fits("\0\0\0", 16));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char layout[] = {'c', rows[i].letter, 'c', 0};
        desc.caps[1].layouts = 0;
        ck_assert(!fits(layout, 16));
        ck_assert_ptr_nonnull(strstr(why, "operand 1"));
        desc.caps[1].layouts = (uint16_t)rows[i].caps;
        ck_assert(fits(layout, 16));
    }
    desc.caps[1].layouts = ASSAY_CAP_LEADING;
    ck_assert(!fits("csc", 16));
    ck_assert(!fits("cxc", 16));
}
END_TEST

START_TEST(caps_of_alignment)
{
    desc = rows_desc("k", ASSAY_OP_add, ASSAY_F32, 0);
    desc.caps[2].align_bytes = 64;
    ck_assert(fits("ccc", 64));
    ck_assert(!fits("ccc", 16));
    ck_assert_ptr_nonnull(strstr(why, "operand 2: aligned to 16 bytes, the kernel needs 64"));
    desc.caps[2].align_bytes = 32;
    ck_assert(fits("ccc", 64));
    ck_assert(!fits("ccc", 16));
    desc.caps[2].align_bytes = 16;
    ck_assert(fits("ccc", 16));
    ck_assert(!fits("ccc", 0));
    ck_assert_ptr_nonnull(strstr(why, "aligned to 4 bytes, the kernel needs 16"));
    desc.caps[2].align_bytes = 4;
    ck_assert(fits("ccc", 0));
}
END_TEST

START_TEST(caps_of_tensors)
{
    static _Alignas(64) float data[64];
    const int64_t dims[] = {4, 4}, gap[] = {8, 1}, repeat[] = {0, 1}, odd[] = {0, 2},
                  back[] = {-4, 1};
    assay_tensor t[2];

    desc = rows_desc("k", ASSAY_OP_exp, ASSAY_F32, 0);
    ck_assert_int_eq(assay_tensor_host(data, ASSAY_F32, 2, dims, NULL, &t[0]), ASSAY_OK);
    t[1] = t[0];
    ck_assert(assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    ck_assert(!assay__caps_fit_tensors(&desc, t, 1, why, sizeof why));
    t[1].byte_offset = 4;
    ck_assert(!assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "operand 1"));
    desc.caps[1].layouts = ASSAY_CAP_OFFSET;
    ck_assert(assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    desc.caps[1].align_bytes = 16;
    ck_assert(!assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    t[1].byte_offset = 16;
    ck_assert(assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    memcpy(t[0].strides, gap, sizeof gap);
    ck_assert(!assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    desc.caps[0].layouts = ASSAY_CAP_LEADING;
    ck_assert(assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    memcpy(t[0].strides, repeat, sizeof repeat);
    ck_assert(!assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    desc.caps[0].layouts = ASSAY_CAP_BROADCAST;
    ck_assert(assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    memcpy(t[0].strides, odd, sizeof odd); /* repeated rows of strided elements need both */
    ck_assert(!assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    desc.caps[0].layouts = ASSAY_CAP_BROADCAST | ASSAY_CAP_STRIDED;
    ck_assert(assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    memcpy(t[0].strides, back, sizeof back);
    ck_assert(!assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
    desc.caps[0].layouts = ASSAY_CAP_NEGATIVE;
    ck_assert(assay__caps_fit_tensors(&desc, t, 2, why, sizeof why));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plugin");
    TCase *loader = tcase_create("loader"), *slots = tcase_create("slots");
    TCase *caps = tcase_create("caps");

    tcase_add_checked_fixture(loader, setup, teardown);
    tcase_add_test(loader, load_sorts_by_name_and_reads_manifests);
    tcase_add_test(loader, load_takes_only_the_backends_asked_for);
    tcase_add_test(loader, load_fails_when_a_backend_asked_for_is_absent);
    tcase_add_test(loader, load_reads_the_environment_list);
    tcase_add_test(loader, load_reads_one_folder_once);
    tcase_add_test(loader, refused_text_file);
    tcase_add_test(loader, refused_fifo);
    tcase_add_loop_test(loader, refused_cut_file, 0, 2);
    tcase_add_test(loader, refused_object_of_another_machine);
    tcase_add_test(loader, refused_object_without_the_symbol);
    tcase_add_test(loader, refused_other_abi);
    tcase_add_test(loader, refused_short_manifest);
    tcase_add_test(loader, older_rows_have_zeros_for_what_they_do_not_know);
    tcase_add_test(loader, refused_rows_that_are_too_short);
    tcase_add_test(loader, refused_rows_of_a_newer_version);
    tcase_add_test(loader, refused_name_that_differs_from_the_file);
    tcase_add_test(loader, refused_bad_name);
    tcase_add_test(loader, refused_second_file_of_one_name);
    tcase_add_test(loader, register_leaves_out_the_plugin_with_a_broken_row);
    tcase_add_test(loader, register_leaves_rows_of_other_ops_closed);
    tcase_add_test(loader, binding_of_an_absent_library_is_unavailable);
    tcase_add_test(loader, binding_of_a_library_opens_the_backend_and_enters_the_revision);
    tcase_add_test(loader, binding_of_an_absent_instruction_set_is_unavailable);
    tcase_add_test(slots, slots_all_reach_the_backend_with_their_arguments);
    tcase_add_test(slots, slots_beyond_the_known_size_are_not_read);
    tcase_add_test(slots, slots_of_another_abi_are_refused);
    tcase_add_test(slots, defaults_move_bytes_in_host_memory);
    tcase_add_test(slots, default_measure_rotates_over_operand_sets);
    tcase_add_test(slots, calls_are_waited_for_one_by_one);
    tcase_add_test(caps, caps_of_letters);
    tcase_add_test(caps, caps_of_alignment);
    tcase_add_test(caps, caps_of_tensors);
    suite_add_tcase(suite, loader);
    suite_add_tcase(suite, slots);
    suite_add_tcase(suite, caps);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
