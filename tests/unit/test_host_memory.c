/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_host_memory.c -- what buffers stand for when a kernel of the host is launched. */
#include <check.h>
#include <stdlib.h>

#include "runtime/host_backend.h"

static assay_instance *instance;

static void setup(void)
{
    ck_assert_int_eq(assay__host_open(NULL, &instance), ASSAY_OK);
}

static void teardown(void)
{
    assay__host_close(instance);
}

static assay_tensor tensor_over(assay_buffer buffer)
{
    return (assay_tensor){
        .buffer = buffer, .dtype = ASSAY_F32, .rank = 1, .dims = {4}, .strides = {1}};
}

static assay_status resolve(assay_buffer buffer, assay_tensor *out)
{
    const assay_tensor given = tensor_over(buffer);
    const assay_launch launch = {
        .struct_size = sizeof launch, .operand_count = 1, .operands = &given};
    assay_launch resolved;

    return assay__host_resolve(instance, &launch, &resolved, out, 0);
}

/* Threads that launch over plain memory need not wait for each other: the test would not end. */
START_TEST(plain_memory_takes_no_lock)
{
    float memory[4];
    assay_tensor out;

    pthread_mutex_lock(&instance->lock);
    ck_assert_int_eq(resolve((assay_buffer){.at.host = memory, .size_bytes = sizeof memory}, &out),
                     ASSAY_OK);
    pthread_mutex_unlock(&instance->lock);
    ck_assert_ptr_eq(assay_tensor_data(&out), memory);
    ck_assert_uint_eq(out.buffer.size_bytes, sizeof memory);
}
END_TEST

START_TEST(no_memory_is_refused)
{
    assay_tensor out;

    ck_assert_int_eq(resolve((assay_buffer){.at.host = NULL}, &out), ASSAY_INVALID);
}
END_TEST

START_TEST(slot_becomes_its_address_until_freed)
{
    assay_buffer buffer;
    assay_tensor out;

    ck_assert_int_eq(assay__host_alloc(instance, 64, 64, &buffer), ASSAY_OK);
    ck_assert_int_eq(resolve(buffer, &out), ASSAY_OK);
    ck_assert_uint_eq(out.buffer.owner, 0);
    ck_assert_ptr_nonnull(assay_tensor_data(&out));
    ck_assert_int_eq(assay__host_free(instance, buffer), ASSAY_OK);
    ck_assert_int_eq(resolve(buffer, &out), ASSAY_FREED);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host_memory");
    TCase *all = tcase_create("resolve");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, plain_memory_takes_no_lock);
    tcase_add_test(all, no_memory_is_refused);
    tcase_add_test(all, slot_becomes_its_address_until_freed);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
