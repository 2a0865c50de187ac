/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cuda_kernels.c -- the kernels of the cuda plug-in as far as no device is needed:
 * rows, what their launches ask of the device, and what ptxas said of the code.
 *
 * Launches are linked in with a device of our own behind them, which runs nothing. */
#include <check.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cuda/cuda_images.h"
#include "runtime/table_internal.h"
#include "tests/support/plugin_case.h"

/* ---- a device that runs nothing ---------------------------------------------------------------
 */

static struct device {
    char names[2][64]; /* of the functions of the last two grids */
    cuda_grid grids[2];
    unsigned launches, compilations;
    const cuda_image *image; /* of the last function */
    char name[64];
    size_t workspace;
} device;

static const cuda_limits limits = {.compute_major = 9,
                                   .multiprocessors = 132,
                                   .warp = 32,
                                   .max_threads_block = 1024,
                                   .max_groups = {INT32_MAX, 65535, 65535}};

/* The manifest stands beside the rows; its slots are not asked. */
extern const assay_manifest assay_plugin_manifest;
const assay_backend cuda_backend = {.struct_size = sizeof cuda_backend,
                                    .abi_version = ASSAY_PLUGIN_ABI};

CUstream cuda_stream(const assay_launch *launch)
{
    (void)launch;
    return NULL;
}

assay_status cuda_function(assay_instance *instance, const cuda_image *image, const char *name,
                           CUfunction *out)
{
    (void)instance;
    ck_assert_ptr_nonnull(name);
    ck_assert_uint_lt(strlen(name), sizeof device.name);
    device.image = image;
    strcpy(device.name, name);
    *out = NULL;
    return ASSAY_OK;
}

assay_status cuda_compiled(assay_instance *instance, const cuda_source *source,
                           const char *const *options, const char *name, CUfunction *out)
{
    (void)instance;
    (void)source;
    ck_assert_ptr_nonnull(options[0]);
    device.compilations++;
    device.image = NULL;
    snprintf(device.name, sizeof device.name, "%s", name);
    *out = NULL;
    return ASSAY_OK;
}

assay_status cuda_enqueue(const assay_launch *launch, CUfunction function, const cuda_grid *grid,
                          void **arguments)
{
    (void)launch;
    (void)function;
    ck_assert_ptr_nonnull(arguments[0]);
    device.grids[device.launches % 2] = *grid;
    strcpy(device.names[device.launches % 2], device.name);
    device.launches++;
    return ASSAY_OK;
}

assay_status cuda_workspace(const assay_launch *launch, size_t bytes, CUdeviceptr *out)
{
    (void)launch;
    device.workspace = bytes;
    *out = 1 << 20;
    return ASSAY_OK;
}

const cuda_limits *cuda_device_limits(const assay_instance *instance)
{
    (void)instance;
    return &limits;
}

assay_status cuda_fail(const assay_instance *instance, assay_status status, const char *format, ...)
{
    (void)instance;
    (void)format;
    return status;
}

void **cuda_blaslt_place(assay_instance *instance)
{
    static void *place;

    (void)instance;
    return &place;
}

/* ---- what was built ----------------------------------------------------------------------------
 */

/* What ptxas printed while a .cu file was made; the caller frees it. */
static char *said_of(const char *file)
{
    char path[1024];
    long size;

    snprintf(path, sizeof path, "%s/%.*s.ptxas", CUDA_MADE, (int)strcspn(file, "."), file);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    ck_assert_int_gt(size, 0);
    rewind(f);
    char *text = calloc(1, (size_t)size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, f), (size_t)size);
    ck_assert_int_eq(fclose(f), 0);
    return text;
}

static const cuda_image *const images[] = {
#define X(stem) &cuda_image_##stem,
    CUDA_FILES(X)
#undef X
};
static const cuda_source *const sources[] = {
#define X(stem) &cuda_source_##stem,
    CUDA_FILES(X)
#undef X
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool has_entry(const cuda_image *image, const char *name)
{
    char *said = said_of(image->name), wanted[128];

    snprintf(wanted, sizeof wanted, "entry function '%s' for", name);
    bool found = strstr(said, wanted) != NULL;
    free(said);
    return found;
}

/* ptxas spills a value or two by itself where that lets one more block onto a multiprocessor; what
 * a function is called with may lie on the stack. */
START_TEST(code_hardly_spills_and_is_there_for_several_generations)
{
    char *said = said_of(images[_i]->name);
    size_t entries = 0;

    for (const char *at = said; (at = strstr(at, "bytes stack frame")) != NULL; at++) {
        unsigned stack, stores, loads;
        const char *line = at;
        while (line > said && line[-1] != '\n')
            line--;
        ck_assert_int_eq(sscanf(line,
                                " %u bytes stack frame, %u bytes spill stores, %u bytes spill "
                                "loads",
                                &stack, &stores, &loads),
                         3);
        ck_assert_msg(stack <= 32 && stores <= 16 && loads <= 32, "%s: %.600s", images[_i]->name,
                      line);
        entries++;
    }
    ck_assert_uint_gt(entries, 0);
    /* Products of groups of warps that wait for each other are no peak. */
    ck_assert_ptr_null(strstr(said, "serialized"));
    ck_assert_ptr_nonnull(strstr(said, "for 'sm_80'"));
    ck_assert_ptr_nonnull(strstr(said, "for 'sm_90"));
    free(said);
}
END_TEST

/* A fatbin by its magic number; a text that needs no other file. */
START_TEST(images_and_texts_are_whole)
{
    uint32_t magic;

    memcpy(&magic, images[_i]->bytes, sizeof magic);
    ck_assert_uint_eq(magic, 0xba55ed50);
    ck_assert_uint_gt(images[_i]->size, 10000);
    ck_assert_str_eq(images[_i]->name, sources[_i]->name);
    ck_assert_ptr_nonnull(strstr(sources[_i]->text, "extern \"C\" __global__"));
    ck_assert_ptr_null(strstr(sources[_i]->text, "#include"));
}
END_TEST

/* Parts of a fatbin: 16 bytes with the size of all in the last eight, then each part with a header
 * that begins with its kind (1: text, 2: machine code), and says its own size at 4, that of what
 * follows at 8, and the architecture at 28. */
static bool has_text_for(const cuda_image *image, uint32_t wanted)
{
    for (size_t at = 16; at + 32 <= image->size;) {
        const unsigned char *part = image->bytes + at;
        uint16_t kind;
        uint32_t header, arch;
        uint64_t rest;
        memcpy(&kind, part, sizeof kind);
        memcpy(&header, part + 4, sizeof header);
        memcpy(&rest, part + 8, sizeof rest);
        memcpy(&arch, part + 28, sizeof arch);
        ck_assert(header >= 32 && rest <= image->size);
        if (kind == 1 && arch == wanted)
            return true;
        at += header + (size_t)rest;
    }
    return false;
}

/* For devices that are newer, and for those between that have no code of their own. */
START_TEST(images_hold_text_of_the_oldest_and_the_newest)
{
    ck_assert(has_text_for(images[_i], 80));
    ck_assert(has_text_for(images[_i], 120));
    ck_assert(!has_text_for(images[_i], 86));
}
END_TEST

/* ---- rows --------------------------------------------------------------------------------------
 */

START_TEST(rows_are_sound)
{
    for (size_t i = 0; i < cuda_row_count; i++) {
        const assay_kernel_desc *d = &cuda_rows[i];
        assay_binding row = {.run = d->run,
                             .desc = d,
                             .manifest = &assay_plugin_manifest,
                             .op = (uint16_t)d->op,
                             .dtype_count = d->dtype_count,
                             .default_rank = d->default_rank};
        memcpy(row.dtypes, d->dtypes, sizeof row.dtypes);
        ck_assert_msg(assay__binding_check(&row, i) == ASSAY_OK, "%s", assay_last_error());
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(cuda_rows[k].op != d->op || strcmp(cuda_rows[k].name, d->name) != 0 ||
                              memcmp(cuda_rows[k].dtypes, d->dtypes, sizeof d->dtypes) != 0,
                          "%s is there twice", d->name);
    }
}
END_TEST

/* ---- launches ----------------------------------------------------------------------------------
 */

static const struct shape {
    assay_op_id op;
    const char *params;
} shapes[] = {
    {ASSAY_OP_add, "n=1"},
    {ASSAY_OP_add, "n=100003"},
    {ASSAY_OP_relu, "n=17"},
    {ASSAY_OP_gelu, "n=70001"},
    {ASSAY_OP_exp, "n=4096"},
    {ASSAY_OP_cast, "n=5"},
    {ASSAY_OP_cast, "n=65536"},
    {ASSAY_OP_softmax_last_dim, "rows=3,cols=1"},
    {ASSAY_OP_softmax_last_dim, "rows=7,cols=40"},
    {ASSAY_OP_softmax_last_dim, "rows=300,cols=1000"},
    {ASSAY_OP_softmax_last_dim, "rows=300,cols=8192"},
    {ASSAY_OP_softmax_last_dim, "rows=100,cols=32768"},
    {ASSAY_OP_softmax_last_dim, "rows=4,cols=128256"},
    {ASSAY_OP_softmax, "outer=5,axis=700,inner=1"},
    {ASSAY_OP_softmax, "outer=5,axis=70,inner=33"},
    {ASSAY_OP_layer_norm_last_dim, "rows=2,cols=4096"},
    {ASSAY_OP_layer_norm_last_dim, "rows=2,cols=128256"},
    {ASSAY_OP_rms_norm_last_dim, "rows=2,cols=5120"},
    {ASSAY_OP_rms_norm_last_dim, "rows=200,cols=16385"},
    {ASSAY_OP_rms_norm_last_dim, "rows=2,cols=128256"},
    {ASSAY_OP_sum_reduce, "outer=3,axis=0,inner=2"},
    {ASSAY_OP_sum_reduce, "outer=1,axis=1000000,inner=1"},
    {ASSAY_OP_sum_reduce, "outer=9000,axis=30,inner=1"},
    {ASSAY_OP_sum_reduce, "outer=2,axis=100000,inner=3"},
    {ASSAY_OP_sum_reduce, "outer=20,axis=100,inner=1024"},
    {ASSAY_OP_matmul, "m=3,n=70000,k=0,beta=2"},
    {ASSAY_OP_matmul, "m=70000,n=4,k=5,batch=2,alpha=0"},
    {ASSAY_OP_fused_linear, "m=3,n=5,k=0"},
};

static void check_grids(const char *name)
{
    ck_assert_msg(device.launches > 0, "%s launched nothing", name);
    for (unsigned i = 0; i < device.launches; i++) {
        const cuda_grid *g = &device.grids[i % 2];
        uint32_t threads = g->threads[0] * g->threads[1] * g->threads[2];
        ck_assert_msg(threads > 0 && threads <= 1024 && threads % 32 == 0, "%s: %u threads", name,
                      threads);
        for (int k = 0; k < 3; k++)
            ck_assert_msg(g->groups[k] > 0 && g->groups[k] <= limits.max_groups[k],
                          "%s: %llu groups", name, (unsigned long long)g->groups[k]);
    }
}

static void run(plugin_case *c, const assay_kernel_desc *d, const int64_t *tunables)
{
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = c->count,
                           .problem = &c->problem,
                           .operands = c->operands,
                           .tunables = tunables};

    memset(&device, 0, sizeof device);
    ck_assert_msg(d->run(&launch) == ASSAY_OK, "%s", d->name);
}

/* Every choice of one tunable beside the defaults of the others. */
static void run_variants(plugin_case *c, const assay_kernel_desc *d)
{
    for (size_t t = 0; t < (d->tunable_count > 0 ? d->tunable_count : 1); t++) {
        size_t values = d->tunable_count > 0 ? d->tunables[t].value_count : 1;
        for (size_t v = 0; v < values; v++) {
            int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
            for (size_t i = 0; i < d->tunable_count; i++)
                tunables[i] = i == t ? d->tunables[i].values[v] : d->tunables[i].default_value;
            run(c, d, tunables);
            check_grids(d->name);
            ck_assert_msg(device.image == NULL || has_entry(device.image, device.name),
                          "%s: no function %s in %s", d->name, device.name, device.image->name);
        }
    }
}

/* As they lie, one element on, and the result one element on. */
START_TEST(launches_name_what_there_is)
{
    const struct shape *s = &shapes[_i];
    size_t ran = 0;

    for (size_t i = 0; i < cuda_row_count; i++) {
        const assay_kernel_desc *d = &cuda_rows[i];
        plugin_case c;
        if (d->op != s->op)
            continue;
        size_t last = assay_dtype_bytes((assay_dtype)d->dtypes[d->dtype_count - 1u]);
        for (int way = 0; way < 3; way++) {
            plugin_case_of(&c, d, s->params, way == 1 ? 4 : 0);
            if (way == 2)
                c.operands[c.count - 1].byte_offset += last;
            if (d->can_run_fn == NULL || d->can_run_fn(&c.problem, NULL)) {
                run_variants(&c, d);
                ran++;
            }
            plugin_case_clear(&c);
        }
    }
    ck_assert_uint_gt(ran, 0);
}
END_TEST

static const struct shape empty[] = {
    {ASSAY_OP_add, "n=0"},
    {ASSAY_OP_exp, "n=0"},
    {ASSAY_OP_cast, "n=0"},
    {ASSAY_OP_softmax_last_dim, "rows=0,cols=5"},
    {ASSAY_OP_softmax_last_dim, "rows=5,cols=0"},
    {ASSAY_OP_softmax, "outer=2,axis=0,inner=3"},
    {ASSAY_OP_layer_norm_last_dim, "rows=5,cols=0"},
    {ASSAY_OP_rms_norm_last_dim, "rows=0,cols=5"},
    {ASSAY_OP_sum_reduce, "outer=0,axis=2,inner=3"},
    {ASSAY_OP_matmul, "m=0,n=5,k=5"},
    {ASSAY_OP_fused_linear, "m=5,n=0,k=5"},
};

START_TEST(nothing_to_do_launches_nothing)
{
    for (size_t i = 0; i < cuda_row_count; i++) {
        const assay_kernel_desc *d = &cuda_rows[i];
        int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
        plugin_case c;
        if (d->op != empty[_i].op)
            continue;
        for (size_t t = 0; t < d->tunable_count; t++)
            tunables[t] = d->tunables[t].default_value;
        plugin_case_of(&c, d, empty[_i].params, 0);
        run(&c, d, tunables);
        ck_assert_msg(device.launches == 0, "%s", d->name);
        plugin_case_clear(&c);
    }
}
END_TEST

/* More lines than a grid counts are nothing that a row admits. */
START_TEST(lines_beyond_a_grid_are_not_admitted)
{
    static const struct lines {
        const char *kernel, *outer, *inner;
        bool fits;
    } cases[] = {{"cuda_sum", "2147483647", "2", true},
                 {"cuda_sum", "2147483648", "2", false},
                 {"cuda_sum", "1073741824", "33", false},
                 {"cuda_sum", "2147483648", "1", true}, /* many rows a block */
                 {"cuda_sum", "2147483648", "0", true},
                 {"cuda_softmax_columns", "2147483647", "32", true},
                 {"cuda_softmax_columns", "2147483648", "32", false},
                 {"cuda_softmax_columns", "1", "1099511627776", false}};
    const struct lines *l = &cases[_i];
    size_t asked = 0;

    ck_assert_uint_eq(COUNT(cases), 8);
    for (size_t i = 0; i < cuda_row_count; i++) {
        const assay_kernel_desc *d = &cuda_rows[i];
        if (strcmp(d->name, l->kernel) != 0)
            continue;
        assay_problem p = plugin_problem_of(d);
        ck_assert_int_eq(assay_problem_set(&p, "outer", l->outer), ASSAY_OK);
        ck_assert_int_eq(assay_problem_set(&p, "inner", l->inner), ASSAY_OK);
        ck_assert(d->can_run_fn(&p, NULL) == l->fits);
        asked++;
    }
    ck_assert_uint_gt(asked, 0);
}
END_TEST

/* One grid where a block can hold a row and there are rows enough, else two with room for what the
 * first leaves. */
START_TEST(long_or_few_rows_are_split)
{
    static const struct split {
        const char *params;
        unsigned launches;
    } cases[] = {{"rows=2000,cols=8192", 1},
                 {"rows=64,cols=8192", 1},
                 {"rows=100,cols=16000", 1},
                 {"rows=16,cols=16384", 2},
                 {"rows=64,cols=128256", 2}};
    const int64_t tunables[] = {512, 0};

    for (size_t i = 0; i < cuda_row_count; i++) {
        const assay_kernel_desc *d = &cuda_rows[i];
        if (strcmp(d->name, "cuda_rms_norm") != 0)
            continue;
        for (size_t k = 0; k < COUNT(cases); k++) {
            plugin_case c;
            plugin_case_of(&c, d, cases[k].params, 0);
            run(&c, d, tunables);
            ck_assert_msg(device.launches == cases[k].launches, "%s %s: %u", d->name,
                          cases[k].params, device.launches);
            if (device.launches == 2)
                ck_assert_uint_eq(device.workspace, device.grids[0].groups[0] * 8);
            plugin_case_clear(&c);
        }
    }
}
END_TEST

/* ---- compiled at run time ----------------------------------------------------------------------
 */

static const struct text {
    const cuda_source *source;
    const char *options[4];
} texts[] = {
    {&cuda_source_map, {"-DCUDA_MAP_TYPE=cuda_f16", "-DCUDA_MAP_UNROLL=4", "-DCUDA_MAP_ONCE=1"}},
    {&cuda_source_map, {"-DCUDA_MAP_TYPE=cuda_f32", "-DCUDA_MAP_FUNCTION=cuda_relu"}},
    {&cuda_source_map, {"-DCUDA_MAP_TYPE=cuda_bf16", "-DCUDA_MAP_FUNCTION=cuda_gelu"}},
    {&cuda_source_map, {"-DCUDA_MAP_TYPE=cuda_f32", "-DCUDA_MAP_FUNCTION=cuda_gelu_fast"}},
    {&cuda_source_map, {"-DCUDA_MAP_TYPE=cuda_f16", "-DCUDA_MAP_FUNCTION=cuda_exp"}},
    {&cuda_source_map, {"-DCUDA_MAP_TYPE=cuda_bf16", "-DCUDA_MAP_FUNCTION=cuda_exp_fast"}},
    {&cuda_source_softmax,
     {"-DCUDA_ROW_TYPE=cuda_f32", "-DCUDA_ROW_PER=5", "-DCUDA_ROW_BLOCK=256"}},
    {&cuda_source_layer_norm,
     {"-DCUDA_ROW_TYPE=cuda_bf16", "-DCUDA_ROW_PER=2", "-DCUDA_ROW_AHEAD=1"}},
    {&cuda_source_rms_norm, {"-DCUDA_ROW_TYPE=cuda_f16", "-DCUDA_ROW_PER=3", "-DCUDA_ROW_AHEAD=1"}},
};

/* POSIX lets object pointers stand for functions here; C has no cast for it. */
static void take(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);

    ck_assert_msg(symbol != NULL, "%s", name);
    memcpy(slot, &symbol, sizeof symbol);
}

static void *open_compiler(void)
{
    void *library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);

    return library != NULL ? library : dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
}

/* No header is at hand, and no path to one. */
START_TEST(compiler_takes_every_text_alone)
{
    const struct text *t = &texts[_i];
    const char *options[6] = {"--fmad=false", "--gpu-architecture=compute_90"};
    void *library = open_compiler();
    __typeof__(nvrtcCreateProgram) *create;
    __typeof__(nvrtcCompileProgram) *compile;
    __typeof__(nvrtcGetProgramLog) *get_log;
    static char log[1 << 20];
    nvrtcProgram program;
    int count = 2;

    if (library == NULL) {
        printf("NVRTC is not here\n");
        return;
    }
    take(library, "nvrtcCreateProgram", &create);
    take(library, "nvrtcCompileProgram", &compile);
    take(library, "nvrtcGetProgramLog", &get_log);
    for (size_t i = 0; i < COUNT(t->options) && t->options[i] != NULL; i++)
        options[count++] = t->options[i];
    ck_assert_int_eq(create(&program, t->source->text, t->source->name, 0, NULL, NULL),
                     NVRTC_SUCCESS);
    nvrtcResult result = compile(program, count, options);
    ck_assert_int_eq(get_log(program, log), NVRTC_SUCCESS);
    ck_assert_msg(result == NVRTC_SUCCESS, "%s: %s", t->source->name, log);
}
END_TEST

/* ---- identity ----------------------------------------------------------------------------------
 */

/* Each of them changes what a measured product means. */
START_TEST(variables_of_the_library_are_part_of_its_identity)
{
    static const char *const names[] = {"NVIDIA_TF32_OVERRIDE",
                                        "CUBLAS_EMULATE_SINGLE_PRECISION",
                                        "CUBLAS_EMULATE_DOUBLE_PRECISION",
                                        "CUBLAS_EMULATION_STRATEGY",
                                        "CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
                                        "CUBLASLT_HEURISTICS_LUT_FILE"};
    char before[2048], after[2048], longer[2048];

    ck_assert_uint_eq(COUNT(names), 6);
    if (cuda_blaslt_identity(NULL, before, sizeof before) != ASSAY_OK) {
        printf("cuBLASLt is not here\n");
        return;
    }
    ck_assert_int_eq(setenv(names[_i], "1", 1), 0);
    ck_assert_int_eq(cuda_blaslt_identity(NULL, after, sizeof after), ASSAY_OK);
    ck_assert_str_ne(before, after);
    /* The end of what is long, as a path is. */
    ck_assert_int_eq(
        setenv(names[_i], "/a/folder/whose/name/is/longer/than/what/is/kept/of/the/value/one", 1),
        0);
    ck_assert_int_eq(cuda_blaslt_identity(NULL, after, sizeof after), ASSAY_OK);
    ck_assert_int_eq(
        setenv(names[_i], "/a/folder/whose/name/is/longer/than/what/is/kept/of/the/value/two", 1),
        0);
    ck_assert_int_eq(cuda_blaslt_identity(NULL, longer, sizeof longer), ASSAY_OK);
    ck_assert_str_ne(after, longer);
    ck_assert_int_eq(
        setenv(names[_i], "/b/folder/whose/name/is/longer/than/what/is/kept/of/the/value/one", 1),
        0);
    ck_assert_int_eq(cuda_blaslt_identity(NULL, longer, sizeof longer), ASSAY_OK);
    ck_assert_str_ne(after, longer);
}
END_TEST

static void write_choices(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* The same file with other choices in it is another library. */
START_TEST(file_of_choices_is_part_of_the_identity)
{
    char path[] = "/tmp/assay-choices-XXXXXX", before[2048], after[2048];
    const int descriptor = mkstemp(path);

    ck_assert_int_ge(descriptor, 0);
    (void)close(descriptor);
    ck_assert_int_eq(setenv("CUBLASLT_HEURISTICS_LUT_FILE", path, 1), 0);
    write_choices(path, "one");
    if (cuda_blaslt_identity(NULL, before, sizeof before) == ASSAY_OK) {
        write_choices(path, "two");
        ck_assert_int_eq(cuda_blaslt_identity(NULL, after, sizeof after), ASSAY_OK);
        ck_assert_str_ne(before, after);
    }
    (void)remove(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_kernels");
    TCase *built = tcase_create("built"), *rows = tcase_create("rows"),
          *launches = tcase_create("launches"), *compiled = tcase_create("compiled"),
          *identity = tcase_create("identity");

    tcase_add_loop_test(built, code_hardly_spills_and_is_there_for_several_generations, 0,
                        (int)COUNT(images));
    tcase_add_loop_test(built, images_and_texts_are_whole, 0, (int)COUNT(images));
    tcase_add_loop_test(built, images_hold_text_of_the_oldest_and_the_newest, 0,
                        (int)COUNT(images));
    tcase_add_test(rows, rows_are_sound);
    tcase_add_loop_test(launches, launches_name_what_there_is, 0, (int)COUNT(shapes));
    tcase_add_loop_test(launches, nothing_to_do_launches_nothing, 0, (int)COUNT(empty));
    tcase_add_loop_test(launches, lines_beyond_a_grid_are_not_admitted, 0, 8);
    tcase_add_test(launches, long_or_few_rows_are_split);
    suite_add_tcase(suite, built);
    suite_add_tcase(suite, rows);
    suite_add_tcase(suite, launches);
    tcase_set_timeout(compiled, 60);
    tcase_add_loop_test(compiled, compiler_takes_every_text_alone, 0, (int)COUNT(texts));
    suite_add_tcase(suite, compiled);
    tcase_set_timeout(identity, 60);
    tcase_add_test(identity, file_of_choices_is_part_of_the_identity);
    tcase_add_loop_test(identity, variables_of_the_library_are_part_of_its_identity, 0, 6);
    suite_add_tcase(suite, identity);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
