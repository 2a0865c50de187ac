/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_rivals.c -- plug-ins whose library is opened at run time: found, named, refused,
 * and side by side in one process.
 *
 * Their numbers are checked by test_kernels with all others. */
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_case.h"

static const struct rival {
    const char *name;     /* plug-in and library */
    const char *variable; /* where its library is */
    const char *symbol;   /* the first that is taken */
    const char *identity; /* lines that its identity must have */
    assay_op_id op;
    const char *params; /* of a small problem */
} rivals[] = {
    {"openblas", "ASSAY_OPENBLAS", "cblas_sgemm", "soname config corename parallel",
     ASSAY_OP_matmul, "m=2,n=2,k=2"},
    {"blis", "ASSAY_BLIS", "bli_sgemm", "soname architecture threading", ASSAY_OP_matmul,
     "m=2,n=2,k=2"},
    {"onednn", "ASSAY_ONEDNN", "dnnl_version", "soname version isa implementation", ASSAY_OP_matmul,
     "m=2,n=2,k=2"},
    {"sleef", "ASSAY_SLEEF", "Sleef_expf8_u10", "soname file_version", ASSAY_OP_exp, "n=5"},
};
#define RIVALS ((int)(sizeof rivals / sizeof *rivals))

static const struct rival *rival_called(const char *name)
{
    for (int i = 0; i < RIVALS; i++)
        if (strcmp(rivals[i].name, name) == 0)
            return &rivals[i];
    ck_abort_msg("no rival %s", name);
    return NULL;
}

static char last_text[2048];

static assay_status note(assay_status status, const char *text)
{
    snprintf(last_text, sizeof last_text, "%s", text);
    return status;
}

static const assay_host host = {
    .struct_size = sizeof host, .abi_version = ASSAY_PLUGIN_ABI, .fail = note};

static assay_status identify(const struct rival *r, char *text, size_t cap)
{
    const assay_manifest *m = plugin_load(r->name);
    assay_instance *instance;

    ck_assert_int_eq(m->backend->open(&host, &instance), ASSAY_OK);
    assay_status status = m->backend->library_identity(instance, r->name, text, cap);
    m->backend->close(instance);
    return status;
}

/* A machine without the library is no failure: the reason is what can be tested there. */
static bool absent(const struct rival *r, assay_status status)
{
    if (status == ASSAY_OK)
        return false;
    printf("%s is not here: %s\n", r->name, last_text);
    ck_assert_int_eq(status, ASSAY_UNAVAILABLE);
    ck_assert_msg(strstr(last_text, "install") != NULL, "%s", last_text);
    return true;
}

START_TEST(identity_has_what_decides_results)
{
    const struct rival *r = &rivals[_i];
    const assay_manifest *m = plugin_load(r->name);
    char text[1024], words[128], key[64], *rest = words;
    assay_instance *instance;

    if (absent(r, identify(r, text, sizeof text)))
        return;
    snprintf(words, sizeof words, "%s", r->identity);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        snprintf(key, sizeof key, "%s=", word);
        const char *at = strstr(text, key);
        ck_assert_msg(at != NULL && (at == text || at[-1] == '\n'), "no %s in %s", key, text);
        ck_assert_msg(at[strlen(key)] != '\n', "%s is empty", key);
    }
    ck_assert_msg(strstr(text, "build_id=unknown") == NULL, "%s", text);
    ck_assert_int_eq(m->backend->open(&host, &instance), ASSAY_OK);
    ck_assert_int_eq(m->backend->library_identity(instance, r->name, text, 20), ASSAY_OVERFLOW);
    ck_assert_int_eq(m->backend->library_identity(instance, "lapack", text, sizeof text),
                     ASSAY_UNAVAILABLE);
    m->backend->close(instance);
}
END_TEST

/* What the CPU alone says of the target must be what the library starts with. */
START_TEST(libxsmm_is_the_same_before_and_after_it_starts)
{
    const struct rival xsmm = {.name = "libxsmm", .op = ASSAY_OP_matmul, .params = "m=2,n=2,k=2"};
    const assay_manifest *m = plugin_load(xsmm.name);
    const int64_t none[ASSAY_MAX_TUNABLES] = {0};
    char before[512], after[512];
    plugin_case c;

    if (_i == 1)
        setenv("LIBXSMM_TARGET", "snb", 1);
    if (absent(&xsmm, identify(&xsmm, before, sizeof before)))
        return;
    ck_assert_int_eq(strstr(before, "target=snb\n") != NULL, _i == 1);
    plugin_case_init(&c, xsmm.op, ASSAY_F32, xsmm.params, 0);
    ck_assert_int_eq(plugin_case_run(&c, &m->kernels[0], none), ASSAY_OK);
    plugin_case_clear(&c);
    ck_assert_int_eq(identify(&xsmm, after, sizeof after), ASSAY_OK);
    ck_assert_str_eq(before, after);
}
END_TEST

static void check_refused(const struct rival *r, const char *word)
{
    const assay_manifest *m = plugin_load(r->name);
    char text[1024];
    plugin_case c;

    ck_assert_int_eq(identify(r, text, sizeof text), ASSAY_UNAVAILABLE);
    if (strstr(last_text, "built without") != NULL) /* its header was absent: nothing is opened */
        word = "install";
    ck_assert_msg(strstr(last_text, word) != NULL, "no '%s' in: %s", word, last_text);
    plugin_case_init(&c, r->op, ASSAY_F32, r->params, 0);
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    for (size_t i = 0; i < m->kernels[0].tunable_count; i++)
        tunables[i] = m->kernels[0].tunables[i].default_value;
    ck_assert_int_eq(plugin_case_run(&c, &m->kernels[0], tunables), ASSAY_UNAVAILABLE);
    plugin_case_clear(&c);
}

START_TEST(absent_library_gives_a_reason)
{
    setenv(rivals[_i].variable, "/nonexistent/lib.so", 1);
    check_refused(&rivals[_i], "nonexistent");
}
END_TEST

START_TEST(other_library_is_refused)
{
    char text[64];

    snprintf(text, sizeof text, "has no %s", rivals[_i].symbol);
    setenv(rivals[_i].variable, "libm.so.6", 1);
    check_refused(&rivals[_i], text);
}
END_TEST

/* A child's exit status; `work` runs in it alone, so that it loads what it likes. */
static int in_child(int (*work)(const struct rival *, float *), const struct rival *r, float *out)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(work(r, out));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int usable(const struct rival *r, float *out)
{
    char text[1024];

    (void)out;
    return identify(r, text, sizeof text) == ASSAY_OK ? 0 : 1;
}

/* A host that links a BLAS: this library's own calls would go there, so it is not used. */
START_TEST(shadowed_library_is_refused)
{
    const struct rival *r = &rivals[_i];
    const char *build = getenv("ASSAY_BUILD");
    char path[512];

    if (in_child(usable, r, NULL) != 0)
        return;
    snprintf(path, sizeof path, "%s/tests/loader/shadow.so", build != NULL ? build : "build");
    ck_assert_msg(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL, "%s", dlerror());
    check_refused(r, "globally");
}
END_TEST

enum { M = 31, N = 33, K = 400 };

static int compute(const struct rival *r, float *out)
{
    const assay_manifest *m = plugin_load(r->name);
    const assay_kernel_desc *k = plugin_kernel(m, ASSAY_OP_matmul, ASSAY_F32, NULL);
    int64_t tunables[ASSAY_MAX_TUNABLES] = {1};
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, "m=31,n=33,k=400", 0);
    plugin_case_fill(&c, 0, 1, 1.0);
    plugin_case_fill(&c, 1, 2, 1.0);
    if (plugin_case_run(&c, k, tunables) != ASSAY_OK)
        return 1;
    memcpy(out, assay_tensor_data(&c.operands[2]), M * N * sizeof *out);
    plugin_case_clear(&c);
    return 0;
}

static bool multiplies(const struct rival *r)
{
    return r->op == ASSAY_OP_matmul && in_child(usable, r, NULL) == 0;
}

/* All in one process, in both orders, the libraries give the bits that each gives when alone.  That
 * libraries differ shows that the comparison can tell: one that computed through another would give
 * the other's bits. */
START_TEST(libraries_in_one_process_compute_by_themselves)
{
    size_t bytes = M * N * sizeof(float);
    float *alone = mmap(NULL, bytes * (size_t)RIVALS, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    float together[M * N];
    int here[RIVALS], count = 0;

    ck_assert(alone != MAP_FAILED);
    for (int i = 0; i < RIVALS; i++)
        if (multiplies(&rivals[i])) {
            here[count] = i;
            ck_assert_int_eq(in_child(compute, &rivals[i], alone + i * M * N), 0);
            count++;
        }
    for (int step = 0; step < 2 * count; step++) {
        int i = here[_i == 0 ? step % count : count - 1 - step % count];
        ck_assert_int_eq(compute(&rivals[i], together), 0);
        ck_assert_msg(memcmp(together, alone + i * M * N, bytes) == 0,
                      "%s gives other bits beside others", rivals[i].name);
    }
    for (int i = 1; i < count; i++)
        ck_assert_msg(memcmp(alone + here[0] * M * N, alone + here[i] * M * N, bytes) != 0,
                      "%s and %s cannot be told apart", rivals[here[0]].name, rivals[here[i]].name);
    munmap(alone, bytes * (size_t)RIVALS);
}
END_TEST

START_TEST(threads_beyond_the_cpus_are_left_out)
{
    const assay_manifest *m = plugin_load(rivals[_i].name);
    const assay_kernel_desc *k = &m->kernels[0];
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    cpu_set_t set;
    plugin_case c;

    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    plugin_case_init(&c, k->op, ASSAY_F32, rivals[_i].params, 0);
    for (size_t i = 0; i < k->tunable_count; i++)
        tunables[i] = k->tunables[i].default_value;
    ck_assert(k->can_run_fn(&c.problem, NULL) && k->can_run_fn(&c.problem, tunables));
    if (k->tunable_count > 0 && strcmp(k->tunables[0].name, "threads") == 0)
        for (size_t i = 0; i < k->tunables[0].value_count; i++) {
            tunables[0] = k->tunables[0].values[i];
            ck_assert_int_eq(k->can_run_fn(&c.problem, tunables), tunables[0] <= CPU_COUNT(&set));
        }
    plugin_case_clear(&c);
}
END_TEST

/* It is linked in whole, so its BLAS names must not leave the plug-in. */
START_TEST(libxsmm_keeps_its_names_to_itself)
{
    static const char *const names[] = {"sgemm_", "dgemm_", "libxsmm_init", "libxsmm_smmdispatch"};
    const char *build = getenv("ASSAY_BUILD");
    char path[512];

    snprintf(path, sizeof path, "%s/lib/assay/assay_libxsmm.so", build != NULL ? build : "build");
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    ck_assert_ptr_nonnull(dlsym(handle, ASSAY_PLUGIN_SYMBOL));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(dlsym(handle, names[i]) == NULL, "%s is exported", names[i]);
}
END_TEST

static const struct libxsmm_case {
    const char *params;
    bool runs;
} libxsmm_cases[] = {
    {"m=3,n=4,k=5", true},
    {"m=3,n=4,k=5,beta=1,trans_a=t", true},
    {"m=0,n=1099511627776,k=5", false},
    {"m=0,n=4,k=5", true},
    {"m=256,n=256,k=256", true},
    {"m=256,n=256,k=257", false},
    {"m=3,n=4,k=0", false},
    {"m=3,n=4,k=5,trans_b=t", false},
    {"m=3,n=4,k=5,alpha=2", false},
    {"m=3,n=4,k=5,beta=0.5", false},
};

START_TEST(libxsmm_takes_what_its_generator_knows)
{
    const assay_manifest *m = plugin_load("libxsmm");
    const struct libxsmm_case *l = &libxsmm_cases[_i];
    assay_problem p;
    char text[128], *rest = text;

    snprintf(text, sizeof text, "%s", l->params);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p), ASSAY_OK);
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(item, '=');
        *value++ = '\0';
        ck_assert_int_eq(assay_problem_set(&p, item, value), ASSAY_OK);
    }
    ck_assert_msg(m->kernels[0].can_run_fn(&p, NULL) == l->runs, "%s", l->params);
}
END_TEST

/* An element of A B as they lie, begun with `start`. */
static double product_of(const plugin_case *c, bool is_turned, int64_t i, int64_t j, double start)
{
    const assay_tensor *a = &c->operands[0], *b = &c->operands[1];
    double sum = start;

    for (int64_t p = 0; p < b->dims[1]; p++)
        sum += plugin_case_get(c, 0, is_turned ? p * a->strides[1] + i : i * a->strides[1] + p) *
               plugin_case_get(c, 1, p * b->strides[1] + j);
    return sum;
}

/* Shapes that share a place among the kernels that a thread keeps; `part`: of operands that were
 * made for this k, the first rows and columns for that one, so that only a leading dimension
 * differs. */
static const struct neighbour {
    const char *params;
    int64_t part;
    double beta;
} neighbours[] = {
    {"m=8,n=8,k=8", 0, 0},         {"m=8,n=8,k=8,beta=1", 0, 1}, {"m=8,n=8,k=8,trans_a=t", 0, 0},
    {"m=8,n=8,k=40", 0, 0},        {"m=40,n=8,k=8", 0, 0},       {"m=8,n=8,k=40", 8, 0},
    {"m=8,n=8,k=40,beta=1", 8, 1},
};

static void check_neighbour(const assay_kernel_desc *kernel, const struct neighbour *n)
{
    const int64_t none[ASSAY_MAX_TUNABLES] = {0};
    double old[320];
    plugin_case c;

    plugin_case_of(&c, kernel, n->params, 0);
    for (uint32_t i = 0; i < 3; i++)
        plugin_case_fill(&c, i, 7 + i, 1.0);
    if (n->part > 0) {
        ck_assert_int_eq(assay_problem_set_int(&c.problem, "k", n->part), ASSAY_OK);
        c.operands[0].dims[2] = c.operands[1].dims[1] = n->part;
    }
    for (int64_t i = 0; i < c.elements; i++)
        old[i] = plugin_case_get(&c, 2, i);
    ck_assert_int_eq(plugin_case_run(&c, kernel, none), ASSAY_OK);
    for (int64_t i = 0; i < c.elements; i++) {
        const double want =
            product_of(&c, strstr(n->params, "trans_a") != NULL, i / 8, i % 8, n->beta * old[i]);
        ck_assert_msg(fabs(plugin_case_get(&c, 2, i) - want) <= 1e-4, "%s, part %d: element %d",
                      n->params, (int)n->part, (int)i);
    }
    plugin_case_clear(&c);
}

START_TEST(libxsmm_keeps_kernels_of_neighbours_apart)
{
    const struct rival xsmm = {.name = "libxsmm"};
    const assay_manifest *m = plugin_load(xsmm.name);
    const size_t count = sizeof neighbours / sizeof *neighbours;
    char text[512];

    if (absent(&xsmm, identify(&xsmm, text, sizeof text)))
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            check_neighbour(&m->kernels[_i], &neighbours[i]);
            check_neighbour(&m->kernels[_i], &neighbours[k]);
        }
}
END_TEST

START_TEST(libxsmm_says_what_it_is_or_why_it_is_not)
{
    static const struct rival libxsmm = {.name = "libxsmm"};
    char text[512];

    if (absent(&libxsmm, identify(&libxsmm, text, sizeof text)))
        return;
    ck_assert_msg(strstr(text, "build_id=sha256:") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "target=") != NULL && strstr(text, "target=\n") == NULL, "%s", text);
    ck_assert_int_eq(identify(&libxsmm, text, 20), ASSAY_OVERFLOW);
}
END_TEST

/* SLEEF 3.5.1 overflows early: up to the last finite result it must not show. */
START_TEST(sleef_exp_is_finite_as_far_as_exp_is)
{
    const assay_manifest *m = plugin_load("sleef");
    const assay_kernel_desc *k = plugin_kernel(m, ASSAY_OP_exp, ASSAY_F64, NULL);
    static const double x[] = {709.782711, 709.7827111495575, 709.782712, 0x1.62e42fefa39efp+9,
                               0x1.62e42fefa39f0p+9};
    int64_t tunables[ASSAY_MAX_TUNABLES] = {1, _i == 0 ? 256 : 512};
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_exp, ASSAY_F64, "n=45", 0);
    for (int64_t i = 0; i < 45; i++)
        plugin_case_set(&c, 0, i, x[i % 5]);
    if (in_child(usable, rival_called("sleef"), NULL) == 0 && k->can_run_fn(&c.problem, tunables)) {
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        for (int64_t i = 0; i < 45; i++)
            ck_assert_msg(isfinite(plugin_case_get(&c, 1, i)) == (i % 5 < 4), "exp(%a) is %a",
                          x[i % 5], plugin_case_get(&c, 1, i));
    }
    plugin_case_clear(&c);
}
END_TEST

static void run_ones(const assay_kernel_desc *k, const char *params, double want)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {1};
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, params, 0);
    for (uint32_t operand = 0; operand < 2; operand++)
        for (int64_t i = 0; i < assay_tensor_elements(&c.operands[operand]); i++)
            plugin_case_set(&c, operand, i, 1.0);
    ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
    for (int64_t i = 0; i < c.elements; i++)
        ck_assert_msg(plugin_case_get(&c, 2, i) == want, "%s: %g", params,
                      plugin_case_get(&c, 2, i));
    plugin_case_clear(&c);
}

/* It keeps what it made for some problems: more of them, and the first ones anew. */
START_TEST(onednn_takes_more_problems_than_it_keeps)
{
    const assay_manifest *m = plugin_load("onednn");
    const assay_kernel_desc *k = plugin_kernel(m, ASSAY_OP_matmul, ASSAY_F32, NULL);
    char params[64];

    if (in_child(usable, rival_called("onednn"), NULL) != 0)
        return;
    for (int i = 0; i < 200; i++) {
        snprintf(params, sizeof params, "m=%d,n=3,k=%d", 1 + i % 100, 2 + i % 2);
        run_ones(k, params, 2 + i % 2);
    }
    run_ones(k, "m=4,n=3,k=5,alpha=2", 10);
    run_ones(k, "m=4,n=3,k=5,alpha=3", 15);
    run_ones(k, "m=4,n=3,k=5", 5);
}
END_TEST

/* The number of threads is the host's: of the calling thread, for all its own regions. */
START_TEST(onednn_leaves_the_threads_of_the_host_alone)
{
    const assay_manifest *m = plugin_load("onednn");
    const assay_kernel_desc *k = plugin_kernel(m, ASSAY_OP_matmul, ASSAY_F32, NULL);
    void *gomp = dlopen("libgomp.so.1", RTLD_NOW);
    void *symbol = gomp != NULL ? dlsym(gomp, "omp_get_max_threads") : NULL;
    int (*get)(void);
    void (*set)(int);

    if (symbol == NULL || in_child(usable, rival_called("onednn"), NULL) != 0)
        return;
    memcpy(&get, &symbol, sizeof symbol);
    symbol = dlsym(gomp, "omp_set_num_threads");
    memcpy(&set, &symbol, sizeof symbol);
    set(3);
    run_ones(k, "m=4,n=3,k=5", 5);
    ck_assert_int_eq(get(), 3);
}
END_TEST

/* How OpenMP comes to give fewer threads than the 64 that are asked for. */
static const struct fewer {
    const char *variable, *value;
    bool
        in_region; /* the kernel runs inside a parallel region of the host, which has two threads */
} fewer[] = {
    {"OMP_DYNAMIC", "true", false}, /* no more than there are processors */
    {"OMP_THREAD_LIMIT", "3", false},
    {"OMP_THREAD_LIMIT", "64", true}, /* one of them is busy */
    {"OMP_MAX_ACTIVE_LEVELS", "0", false},
};
#define FEWER ((int)(sizeof fewer / sizeof *fewer))

static struct fewer_call {
    const assay_kernel_desc *kernel;
    plugin_case *c;
    atomic_int
        status; /* a race finder does not know of OpenMP's barriers: this orders the results */
    atomic_int runs;
} fewer_call;

static void run_on_first(void *data)
{
    static const int64_t tunables[ASSAY_MAX_TUNABLES] = {64};
    struct fewer_call *call = data;

    if (atomic_fetch_add(&call->runs, 1) == 0)
        atomic_store(&call->status, (int)plugin_case_run(call->c, call->kernel, tunables));
}

/* Both threads of the region run the body. */
static void run_in_region(void (*body)(void *))
{
    void *gomp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = gomp != NULL ? dlsym(gomp, "GOMP_parallel") : NULL;
    void (*parallel)(void (*)(void *), void *, unsigned, unsigned);

    memcpy(&parallel, &symbol, sizeof symbol);
    if (symbol != NULL)
        parallel(body, &fewer_call, 2, 0);
    else
        body(&fewer_call); /* no OpenMP is here */
}

/* In a child, where OpenMP reads the environment, and which a library may end or hold up. */
static int compute_with_fewer(const struct rival *r, float *how)
{
    const struct fewer *f = &fewer[(int)*how];
    plugin_case c;

    alarm(20);
    setenv("OMP_MAX_ACTIVE_LEVELS", "2", 1);
    setenv(f->variable, f->value, 1);
    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, "m=300,n=260,k=40", 0);
    for (uint32_t operand = 0; operand < 2; operand++)
        for (int64_t i = 0; i < assay_tensor_elements(&c.operands[operand]); i++)
            plugin_case_set(&c, operand, i, 1.0);
    fewer_call.c = &c;
    fewer_call.kernel = plugin_kernel(plugin_load(r->name), ASSAY_OP_matmul, ASSAY_F32, NULL);
    if (usable(r, NULL) != 0) /* brings the library */
        return 3;
    if (f->in_region)
        run_in_region(run_on_first);
    else
        run_on_first(&fewer_call);
    if (atomic_load(&fewer_call.status) != ASSAY_OK)
        return 1;
    for (int64_t i = 0; i < c.elements; i++)
        if (!(plugin_case_get(&c, 2, i) == 40.0))
            return 2;
    return 0;
}

START_TEST(fewer_threads_than_asked_for_change_no_result)
{
    const struct rival *r = &rivals[_i / FEWER];
    float how = (float)(_i % FEWER);

    if (multiplies(r))
        ck_assert_int_eq(in_child(compute_with_fewer, r, &how), 0);
}
END_TEST

static void run_gradient(void *unused)
{
    const assay_kernel_desc *k =
        plugin_kernel(plugin_load("onednn"), ASSAY_OP_conv2d_backward_filter, ASSAY_F32, NULL);
    const int64_t tunables[ASSAY_MAX_TUNABLES] = {2};
    plugin_case c;

    (void)unused;
    plugin_case_init(&c, k->op, ASSAY_F32, "n=30,c=16,h=9,w=9,k=16,r=3,s=3", 0);
    for (uint32_t operand = 0; operand < 2; operand++)
        for (int64_t i = 0; i < assay_tensor_elements(&c.operands[operand]); i++)
            plugin_case_set(&c, operand, i, 1.0);
    plugin_case_poison(&c);
    ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
    for (int64_t i = 0; i < c.elements; i++)
        ck_assert(plugin_case_get(&c, 2, i) == 30 * 7 * 7);
    plugin_case_clear(&c);
}

/* This gradient adds up what its threads sum over images: they wait for one another, and inside a
 * region of the host, where one of them was missing, without an end. */
START_TEST(onednn_gradient_ends_inside_a_region_of_the_host)
{
    unsetenv("OMP_MAX_ACTIVE_LEVELS");
    if (in_child(usable, rival_called("onednn"), NULL) != 0)
        return;
    run_gradient(NULL);
    run_in_region(run_gradient);
}
END_TEST

/* What a library lacks on this CPU, or computes by another law, is a row with a reason. */
START_TEST(onednn_rows_run_or_say_why_not)
{
    const assay_manifest *m = plugin_load("onednn");
    assay_instance *instance;
    char text[1024];

    if (in_child(usable, rival_called("onednn"), NULL) != 0)
        return;
    ck_assert_int_eq(m->backend->open(&host, &instance), ASSAY_OK);
    for (size_t i = 0; i < m->kernel_count; i++) {
        const char *name = m->kernels[i].libraries[0];
        const char *dtype = assay_dtype_name((assay_dtype)m->kernels[i].dtypes[0]);
        if (m->backend->library_identity(instance, name, text, sizeof text) == ASSAY_OK)
            continue;
        ck_assert_msg(strstr(last_text, dtype) != NULL, "%s: %s", name, last_text);
        ck_assert_msg(strstr(last_text, "implements no") != NULL ||
                          strstr(last_text, "NaN") != NULL ||
                          strstr(last_text, "another law") != NULL,
                      "%s: %s", name, last_text);
    }
    m->backend->close(instance);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rivals");
    TCase *library = tcase_create("library"), *kernel = tcase_create("kernel");

    tcase_add_loop_test(library, identity_has_what_decides_results, 0, RIVALS);
    tcase_add_loop_test(library, absent_library_gives_a_reason, 0, RIVALS);
    tcase_add_loop_test(library, other_library_is_refused, 0, RIVALS);
    tcase_add_loop_test(library, shadowed_library_is_refused, 0, RIVALS);
    tcase_add_loop_test(kernel, libraries_in_one_process_compute_by_themselves, 0, 2);
    tcase_add_loop_test(kernel, threads_beyond_the_cpus_are_left_out, 0, RIVALS);
    tcase_add_loop_test(kernel, fewer_threads_than_asked_for_change_no_result, 0, FEWER * RIVALS);
    tcase_add_loop_test(library, libxsmm_is_the_same_before_and_after_it_starts, 0, 2);
    tcase_add_test(library, libxsmm_keeps_its_names_to_itself);
    tcase_add_loop_test(kernel, libxsmm_keeps_kernels_of_neighbours_apart, 0, 2);
    tcase_add_test(library, libxsmm_says_what_it_is_or_why_it_is_not);
    tcase_add_loop_test(kernel, libxsmm_takes_what_its_generator_knows, 0,
                        (int)(sizeof libxsmm_cases / sizeof *libxsmm_cases));
    tcase_add_loop_test(kernel, sleef_exp_is_finite_as_far_as_exp_is, 0, 2);
    tcase_add_test(library, onednn_rows_run_or_say_why_not);
    tcase_add_test(kernel, onednn_takes_more_problems_than_it_keeps);
    tcase_add_test(kernel, onednn_leaves_the_threads_of_the_host_alone);
    tcase_add_test(kernel, onednn_gradient_ends_inside_a_region_of_the_host);
    suite_add_tcase(suite, library);
    suite_add_tcase(suite, kernel);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
