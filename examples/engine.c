/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* examples/engine.c -- buffers on a device and typed calls over them, which say what ran.
 *
 *     cc examples/engine.c $(pkg-config --cflags --libs assay) -o engine && ./engine cpu
 *
 * Argument: the backend; default "cpu".  With a store as second argument calls take what was
 * measured fastest for their shape. */
#include <assay/compute.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3 };

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, assay_last_error());
    return EXIT_FAILURE;
}

/* y = exp(x) and z = y x^T, all on the device; back come the nine products. */
static assay_status work(assay_engine *engine, double z[N * N], assay_execution *record)
{
    const double x[N] = {0.0, 0.5, 1.0};
    assay_call call = {.struct_size = sizeof call, .record = record};
    assay_place of_x = {.byte_offset = 0}, of_y = of_x, of_z = of_x;

    ASSAY_TRY(assay_engine_alloc(engine, sizeof x, 0, &of_x.buffer));
    ASSAY_TRY(assay_engine_alloc(engine, sizeof x, 0, &of_y.buffer));
    ASSAY_TRY(assay_engine_alloc(engine, N * N * sizeof *z, 0, &of_z.buffer));
    ASSAY_TRY(assay_engine_upload(engine, of_x.buffer, x, sizeof x));
    ASSAY_TRY(assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F64, of_x, of_y, N, NULL));
    const assay_gemm_args outer = {.struct_size = sizeof outer,
                                   .dtype = ASSAY_F64,
                                   .order = ASSAY_ROW_MAJOR,
                                   .m = N,
                                   .n = N,
                                   .k = 1,
                                   .alpha = 1.0,
                                   .a = of_y,
                                   .b = of_x,
                                   .c = of_z,
                                   .lda = 1,
                                   .ldb = N,
                                   .ldc = N};
    ASSAY_TRY(assay_gemm(engine, &outer, &call));
    ASSAY_TRY(assay_engine_download(engine, z, of_z.buffer, N * N * sizeof *z));
    ASSAY_TRY(assay_engine_free(engine, of_x.buffer));
    ASSAY_TRY(assay_engine_free(engine, of_y.buffer));
    return assay_engine_free(engine, of_z.buffer);
}

int main(int argc, char **argv)
{
    const assay_engine_options options = {.struct_size = sizeof options, .kernels = ""};
    assay_execution record = {.struct_size = sizeof record};
    assay_context *context = NULL;
    assay_engine *engine = NULL;
    double z[N * N];

    if (assay_open(argc > 2 ? argv[2] : NULL, NULL, &context) != ASSAY_OK)
        return fail("open");
    if (assay_engine_create(context, argc > 1 ? argv[1] : "cpu", &options, &engine) != ASSAY_OK ||
        assay_engine_init(engine, 0) != ASSAY_OK || work(engine, z, &record) != ASSAY_OK) {
        int code = fail("engine");
        assay_engine_destroy(&engine);
        assay_close(&context);
        return code;
    }
    for (int i = 0; i < N * N; i++)
        printf("%.6f%c", z[i], i % N == N - 1 ? '\n' : ' ');
    printf("by %s of %s, %u launch(es), %llu bytes\n", record.kernel, record.backend,
           record.launches, (unsigned long long)record.bytes);
    assay_engine_destroy(&engine);
    assay_close(&context);
    return EXIT_SUCCESS;
}
