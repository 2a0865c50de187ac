/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_device.c -- by which deployment a context answers, where devices elsewhere
 * are asked for. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/deployment_host.h"
#include "runtime/engine_internal.h"
#include "runtime/pick_internal.h"
#include "tests/support/engine_case.h"

static char said[512];

static void hear(void *cookie, int level, const char *text)
{
    (void)cookie;
    (void)level;
    if (strstr(text, "far") != NULL)
        snprintf(said, sizeof said, "%s", text);
}

static void hex_of(assay_deployment *d, char out[ASSAY_DIGEST_HEX])
{
    assay_digest digest;

    assay_deployment_digest(d, &digest);
    assay_digest_format(&digest, out);
}

/* Of the scripted device there, and of the host where `name` is NULL. */
static const char *deployment(const char *name)
{
    static char hex[ASSAY_DIGEST_HEX];
    assay_deployment d;

    ck_assert_int_eq(name != NULL ? assay_deployment_read("far", name, "scripted", "none", &d)
                                  : assay__deployment_host(&d),
                     ASSAY_OK);
    hex_of(&d, hex);
    return hex;
}

/* with_host: the plug-ins of the host beside far. */
static assay_context *open_with(const char *script, bool with_host, const char *backends,
                                const char *devices)
{
    const char *build = getenv("ASSAY_BUILD");
    assay_context *context = NULL;
    char path[2048];

    build = build != NULL ? build : "build";
    setenv("ASSAY_FAKE", script, 1);
    said[0] = '\0';
    if (with_host)
        snprintf(path, sizeof path, "%s/lib/assay:%s/tests/far", build, build);
    else
        snprintf(path, sizeof path, "%s/tests/far", build);
    const assay_open_options options = {.struct_size = sizeof options,
                                        .plugin_path = path,
                                        .backends = backends,
                                        .devices = devices,
                                        .log = hear};
    ck_assert_msg(assay_open(NULL, &options, &context) == ASSAY_OK, "%s", assay_last_error());
    return context;
}

static const struct {
    bool with_host, is_there;
    const char *backends, *devices;
} cases[] = {
    {true, true, "far", NULL},      {true, true, "far", "far"}, {true, false, "far,cpu", "far"},
    {true, false, NULL, "far"},     {true, false, NULL, NULL},  {false, true, NULL, "far"},
    {true, false, "far,cpu", NULL},
};

START_TEST(device_answers_where_it_alone_is_asked_for)
{
    const char *const name = cases[_i].is_there ? "Scripted device 0" : NULL;
    assay_context *context =
        open_with("", cases[_i].with_host, cases[_i].backends, cases[_i].devices);

    ck_assert_str_eq(context->deployment, deployment(name));
    assay_engine *far = engine_open(context, "far", NULL);
    ck_assert_str_eq(far->routes->deployment, deployment("Scripted device 0"));
    assay_engine_destroy(&far);
    assay_close(&context);
}
END_TEST

/* An engine of the host beside one of a device keeps the host's routes. */
START_TEST(device_asked_for_leaves_the_host_its_routes)
{
    assay_context *context = open_with("", true, NULL, "far");
    assay_engine *cpu = engine_open(context, "cpu", NULL);

    ck_assert_str_eq(cpu->routes->deployment, deployment(NULL));
    assay_engine_destroy(&cpu);
    assay_close(&context);
}
END_TEST

START_TEST(device_that_cannot_be_asked_leaves_the_host)
{
    assay_context *context = open_with("mute=1", true, "far", NULL);

    ck_assert_str_eq(context->deployment, deployment(NULL));
    ck_assert_ptr_nonnull(strstr(said, "does not say what it is"));
    ck_assert_ptr_nonnull(strstr(said, "the script gives no profile"));
    assay_close(&context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pick_device");
    TCase *all = tcase_create("device");

    tcase_add_loop_test(all, device_answers_where_it_alone_is_asked_for, 0,
                        (int)(sizeof cases / sizeof *cases));
    tcase_add_test(all, device_asked_for_leaves_the_host_its_routes);
    tcase_add_test(all, device_that_cannot_be_asked_leaves_the_host);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    const int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
