/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_traps_memory.c -- trap 8 of docs/testing.md: memory that is empty, freed, freed
 * twice, not the caller's, too short, by the backend of every plug-in; views of it by every kernel.
 *
 * Handles from before a recover, and frees of what is in use: test_engine.c. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "runtime/backend_slots.h"
#include "tests/support/every_kernel.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_all.h"

static assay__backend backend;

/* false: its library is absent, or it has no memory and no kernels. */
static bool open_backend(int plugin)
{
    const assay_manifest *m = plugin_all_at(plugin);

    if (m->kernel_count == 0)
        return false;
    ck_assert_int_eq(assay__backend_init(m->backend, &backend), ASSAY_OK);
    return assay__backend_open(&backend) == ASSAY_OK;
}

static void refused(assay_status status, assay_status wanted, const char *says)
{
    ck_assert_msg(status == wanted, "status %d", (int)status);
    ck_assert_msg(strstr(assay_last_error(), says) != NULL, "'%s' lacks '%s'", assay_last_error(),
                  says);
}

static void invalid(assay_status status, const char *says)
{
    refused(status, ASSAY_INVALID, says);
}

static void freed(assay_status status)
{
    refused(status, ASSAY_FREED, "freed before");
}

static void foreign_to(assay_status status)
{
    refused(status, ASSAY_FOREIGN, "another instance");
}

static assay_buffer alloc(uint64_t bytes)
{
    assay_buffer b;

    ck_assert_msg(assay__backend_alloc(&backend, bytes, 64, &b) == ASSAY_OK, "%s",
                  assay_last_error());
    ck_assert_uint_eq(b.size_bytes, bytes);
    return b;
}

static assay_buffer wrap(void *host, uint64_t bytes)
{
    assay_buffer b;

    ck_assert_int_eq(assay__backend_wrap(&backend, host, bytes, &b), ASSAY_OK);
    return b;
}

/* No bytes are memory too: it has a handle, holds nothing, and is freed once. Or a device has none
 * of that size, and says so. */
START_TEST(trap8_memory_of_no_bytes)
{
    if (!open_backend(_i))
        return;
    assay_buffer none, other;
    const assay_status status = assay__backend_alloc(&backend, 0, 64, &none);
    if (status == ASSAY_INVALID) {
        refused(status, ASSAY_INVALID, "0 bytes");
        assay__backend_close(&backend);
        return;
    }
    none = alloc(0);
    other = alloc(0);
    ck_assert_int_ne(memcmp(&none.at, &other.at, sizeof none.at), 0);
    ck_assert_int_eq(assay__backend_fill(&backend, none, 0, 0, 1), ASSAY_OK);
    ck_assert_int_eq(assay__backend_copy(&backend, none, 0, other, 0, 0), ASSAY_OK);
    invalid(assay__backend_fill(&backend, none, 0, 1, 1), "outside a buffer of 0");
    invalid(assay__backend_copy(&backend, none, 0, other, 0, 1), "outside a buffer of 0");
    invalid(assay__backend_copy(&backend, none, 1, other, 0, 0), "outside a buffer of 0");
    ck_assert_int_eq(assay__backend_free(&backend, none), ASSAY_OK);
    freed(assay__backend_free(&backend, none));
    ck_assert_int_eq(assay__backend_free(&backend, other), ASSAY_OK);
    assay__backend_close(&backend);
}
END_TEST

START_TEST(trap8_more_bytes_than_there_are)
{
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 63, (uint64_t)INT64_MAX,
                                     (uint64_t)INT64_MAX + 1};
    assay_buffer b;

    if (!open_backend(_i))
        return;
    for (size_t i = 0; i < 4; i++) {
        memset(&b, 0x77, sizeof b);
        ck_assert_int_eq(assay__backend_alloc(&backend, sizes[i], 64, &b), ASSAY_OVERFLOW);
        ck_assert_uint_eq(b.owner, UINT64_C(0x7777777777777777));
    }
    invalid(assay__backend_alloc(&backend, 64, 48, &b), "no power of two");
    invalid(assay__backend_wrap(&backend, NULL, 64, &b), "NULL");
    assay__backend_close(&backend);
}
END_TEST

static assay_status nothing(const assay_launch *launch)
{
    (void)launch;
    return ASSAY_OK;
}

/* A kernel would be given the memory of another buffer, or none. */
static assay_status launch_with(assay_buffer buffer)
{
    const int64_t dims[] = {4};
    assay_tensor t;
    assay_launch l = {.struct_size = sizeof l, .operand_count = 1, .operands = &t};

    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 1, dims, NULL, &t), ASSAY_OK);
    t.buffer = buffer;
    return assay__backend_launch(&backend, nothing, &l);
}

/* Freed, and freed with its place taken by another: every use is refused, and the other is whole.
 */
START_TEST(trap8_use_after_free_and_double_free)
{
    char in[16] = "fifteen letters", out[16] = "";

    if (!open_backend(_i))
        return;
    assay_buffer a = alloc(16), from = wrap(in, 16), to = wrap(out, 16), other;
    ck_assert_int_eq(launch_with(a), ASSAY_OK);
    ck_assert_int_eq(assay__backend_free(&backend, a), ASSAY_OK);
    for (int taken = 0; taken < 2; taken++) {
        if (taken == 1) {
            other = alloc(16);
            ck_assert_int_eq(assay__backend_copy(&backend, other, 0, from, 0, 16), ASSAY_OK);
        }
        freed(assay__backend_fill(&backend, a, 0, 1, 0));
        freed(assay__backend_copy(&backend, a, 0, from, 0, 1));
        freed(assay__backend_copy(&backend, to, 0, a, 0, 1));
        freed(launch_with(a));
        freed(assay__backend_free(&backend, a));
    }
    ck_assert_int_eq(assay__backend_copy(&backend, to, 0, other, 0, 16), ASSAY_OK);
    ck_assert_str_eq(out, in);
    assay__backend_close(&backend);
}
END_TEST

/* What was not made here: memory of the host, a handle of another instance, one that nobody made,
 * the middle of a buffer. A wrapped pointer's handle goes, its memory stays. */
START_TEST(trap8_free_of_what_is_not_ours)
{
    char host[32] = "the memory of the host";
    assay_instance *second = NULL;
    assay_buffer foreign;

    if (!open_backend(_i))
        return;
    assay_buffer ours = alloc(32), middle = {.at.host = host + 8, .size_bytes = 8};
    invalid(assay__backend_free(&backend, middle), "not made by alloc or wrap");
    foreign = ours;
    foreign.owner += 1u << 16;
    foreign_to(assay__backend_free(&backend, foreign));
    foreign = ours;
    foreign.owner++;
    refused(assay__backend_free(&backend, foreign), ASSAY_GENERATION, "recovered since");
    foreign = ours;
    foreign.at.slot.index += 1000;
    invalid(assay__backend_free(&backend, foreign), "never made here");
    foreign = ours;
    foreign.at.slot.index++;
    freed(assay__backend_free(&backend, foreign));
    ck_assert_int_eq(plugin_all_at(_i)->backend->open(NULL, &second), ASSAY_OK);
    ck_assert_int_eq(plugin_all_at(_i)->backend->alloc(second, 32, 64, &foreign), ASSAY_OK);
    foreign_to(assay__backend_free(&backend, foreign));
    foreign_to(assay__backend_copy(&backend, ours, 0, foreign, 0, 1));
    foreign_to(launch_with(foreign));
    plugin_all_at(_i)->backend->close(second);
    assay_buffer wrapped = wrap(host + 4, 6);
    ck_assert_int_eq(assay__backend_free(&backend, wrapped), ASSAY_OK);
    ck_assert_str_eq(host, "the memory of the host");
    ck_assert_int_eq(assay__backend_free(&backend, ours), ASSAY_OK);
    assay__backend_close(&backend);
}
END_TEST

/* Copies and fills that end beyond either buffer, by one byte or by a sum that wraps around. */
START_TEST(trap8_copies_too_long_and_offsets_that_overflow)
{
    static const struct {
        uint64_t offset, bytes;
    } bad[] = {{0, 17},
               {1, 16},
               {16, 1},
               {17, 0},
               {UINT64_MAX, 1},
               {UINT64_MAX - 3, 8},
               {8, UINT64_MAX - 7},
               {8, UINT64_MAX - 4},
               {UINT64_MAX, UINT64_MAX},
               {(uint64_t)INT64_MAX, (uint64_t)INT64_MAX + 5}};
    char small[48], large[256];

    if (!open_backend(_i))
        return;
    memset(small, 's', sizeof small);
    memset(large, 'l', sizeof large);
    assay_buffer a = wrap(small + 16, 16), b = wrap(large, sizeof large);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t from = bad[i].offset, n = bad[i].bytes;
        invalid(assay__backend_fill(&backend, a, from, n, 'x'), "outside a buffer of 16");
        invalid(assay__backend_copy(&backend, a, from, b, 0, n), "outside a buffer of 16");
        invalid(assay__backend_copy(&backend, b, 0, a, from, n), "outside a buffer of");
    }
    for (size_t i = 0; i < sizeof small; i++)
        ck_assert_int_eq(small[i], 's');
    for (size_t i = 0; i < sizeof large; i++)
        ck_assert_int_eq(large[i], 'l');
    ck_assert_int_eq(assay__backend_copy(&backend, a, 15, b, 255, 1), ASSAY_OK);
    ck_assert_int_eq(small[31], 'l');
    assay__backend_close(&backend);
}
END_TEST

/* ---- views of it ------------------------------------------------------------------------------
 */

/* Tensors whose offset or strides leave a buffer are refused before a kernel sees them; one that
 * begins inside it, and ends with it, is run. */
START_TEST(trap8_views_that_leave_their_buffer)
{
    static const struct {
        uint64_t offset;
        int64_t stride;
        assay_status status;
    } bad[] = {{0, 2, ASSAY_INVALID},
               {4, 1, ASSAY_INVALID},
               {8, -1, ASSAY_INVALID},
               {UINT64_MAX - 3, 1, ASSAY_OVERFLOW},
               {0, INT64_MAX / 2, ASSAY_OVERFLOW},
               {(uint64_t)INT64_MAX - 3, 1, ASSAY_OVERFLOW},
               {0, INT64_MIN, ASSAY_OVERFLOW}};
    double want[4];
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_relu, ASSAY_F32, "n=4", 0);
    for (int64_t i = 0; i < 4; i++) {
        plugin_case_set(&c, 0, i, (double)i + 1.0);
        want[i] = (double)i + 1.0;
    }
    plugin_case_poison(&c);
    for (uint32_t o = 0; o < 2; o++)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            plugin_case other = c;
            other.operands[o].buffer.size_bytes = 16;
            other.operands[o].byte_offset = bad[i].offset;
            other.operands[o].strides[0] = bad[i].stride;
            ck_assert_int_ge(every_kernel_refuses(&other, bad[i].status), 2);
        }
    c.operands[0].buffer.at.host = (char *)c.operands[0].buffer.at.host - 8;
    c.operands[0].byte_offset = 8;
    c.operands[0].buffer.size_bytes = 24;
    every_kernel_gives(&c, want, "inside");
    plugin_case_clear(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("traps_memory");
    TCase *memory = tcase_create("memory"), *views = tcase_create("views");
    int count = plugin_all_find();

    tcase_add_unchecked_fixture(views, every_kernel_open, every_kernel_close);
    tcase_add_loop_test(memory, trap8_memory_of_no_bytes, 0, count);
    tcase_add_loop_test(memory, trap8_more_bytes_than_there_are, 0, count);
    tcase_add_loop_test(memory, trap8_use_after_free_and_double_free, 0, count);
    tcase_add_loop_test(memory, trap8_free_of_what_is_not_ours, 0, count);
    tcase_add_loop_test(memory, trap8_copies_too_long_and_offsets_that_overflow, 0, count);
    tcase_add_test(views, trap8_views_that_leave_their_buffer);
    suite_add_tcase(suite, memory);
    suite_add_tcase(suite, views);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
