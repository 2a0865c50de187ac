/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_vulkan_sensors.c -- sensors beside a Vulkan device, by a scripted NVML.
 *
 * Without the plug-in, a driver or the scripted library every test passes and says so. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/plugin_case.h"

static assay_status refuse(assay_status status, const char *text)
{
    (void)text;
    return status;
}

static const assay_host host = {
    .struct_size = sizeof host, .abi_version = ASSAY_PLUGIN_ABI, .fail = refuse};
static const assay_backend *slots;

/* Where a file of this build is; says so where it is not. */
static bool is_in_build(const char *name, char *path, size_t cap)
{
    const char *build = getenv("ASSAY_BUILD");

    (void)snprintf(path, cap, "%s/%s", build != NULL ? build : "build", name);
    if (access(path, R_OK) == 0)
        return true;
    printf("%s: not built here\n", path);
    return false;
}

/* NULL: no device here. */
static assay_instance *open_with(const char *nvml)
{
    assay_instance *instance = NULL;
    char path[1024];

    setenv("ASSAY_NVML", nvml, 1);
    if (!is_in_build("lib/assay/assay_vulkan.so", path, sizeof path))
        return NULL;
    slots = plugin_load("vulkan")->backend;
    if (slots->open(&host, &instance) == ASSAY_OK)
        return instance;
    printf("no Vulkan device here\n");
    return NULL;
}

static bool read_metric(assay_instance *instance, const char *name, uint64_t *value)
{
    assay_metric list[128];
    size_t count;

    ck_assert_int_eq(slots->metrics(instance, list, 128, &count), ASSAY_OK);
    ck_assert_uint_le(count, 128);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) {
            *value = list[i].value;
            return true;
        }
    return false;
}

START_TEST(readings_are_those_of_the_device_with_its_uuid)
{
    assay_device_info info = {.struct_size = sizeof info};
    assay_instance *instance = NULL;
    uint64_t value = 0;
    char nvml[1024];

    if (is_in_build("tests/fake_cuda/libfake_cuda.so", nvml, sizeof nvml))
        instance = open_with(nvml);
    if (instance == NULL)
        return;
    ck_assert_int_eq(slots->device_info(instance, 0, &info), ASSAY_OK);
    ck_assert(read_metric(instance, "sm_clock_mhz", &value));
    ck_assert_uint_eq(value, 1980);
    ck_assert(read_metric(instance, "throttle_reasons", &value));
    ck_assert_uint_eq(value, 4);
    /* The scripted device is as hot as its UUID says. */
    ck_assert(read_metric(instance, "temperature_celsius", &value));
    ck_assert_uint_eq(value, 40 + (strtoul(info.uuid, NULL, 16) & 15));
    ck_assert(!read_metric(instance, "power_milliwatts", &value)); /* it does not tell */
    slots->close(instance);
}
END_TEST

START_TEST(without_nvml_there_are_no_readings)
{
    assay_instance *instance = open_with("/nonexistent/library.so");
    uint64_t value = 0;

    if (instance == NULL)
        return;
    ck_assert(read_metric(instance, "validation_messages_total", &value));
    ck_assert(!read_metric(instance, "sm_clock_mhz", &value));
    slots->close(instance);
}
END_TEST

int main(void)
{
    const char *driver = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
    Suite *s = suite_create("vulkan_sensors");
    TCase *all = tcase_create("sensors");

    if (access(driver, R_OK) == 0)
        setenv("VK_DRIVER_FILES", driver, 0);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, readings_are_those_of_the_device_with_its_uuid);
    tcase_add_test(all, without_nvml_there_are_no_readings);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
