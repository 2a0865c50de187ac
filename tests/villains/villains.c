/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/villains/villains.c -- kernels that misbehave on purpose, one way each.
 *
 * A plug-in of the tests, never installed and chosen only by name.  add and matmul, f32,
 * contiguous.  v_honest is right and slow; every other is as fast as it gets, so that it would win
 * if its fault were not seen, except v_twin, which ties with v_honest.
 *
 *   v_honest      right, the default
 *   v_twin        matmul: sums in the opposite order: other bits, the same time; add: the same
 *                 bits too, since one rounding leaves no choice
 *   v_tail        matmul: leaves out the last k mod 16 products, or the last 16 when that is none
 *                 and k is no power of two: wrong for k = 384, right for 512
 *   v_nan         one NaN, in the middle
 *   v_one         one element off by 9
 *   v_one_many    n % 1000 == 778: the same in 500 variants
 *   v_hair        matmul: one element off by half as much again as it may be
 *   v_unwritten   leaves one element in a hundred as it was, at least one
 *   v_align       wrong unless all operands lie at multiples of 64, and says so in its caps
 *   v_align_lies  the same, and says nothing
 *   v_late        right for the first 4 calls of a process, then wrong: a slow machine
 *                 makes no more than 6 in a stay
 *   v_replay      right, but for operands where there were others before it gives what those gave
 *   v_replay_late the same from its 12th call in a process on
 *   v_drift       add of n = 31340: right, but with VILLAINS_DRIFT set its first element is off by
 *                 one step, and where that says "abort" it ends its process: as if something that
 *                 no revision holds had changed on the machine
 *   v_flaky       add of up to 10,000: every 16th call of a process is wrong
 *   v_oob         writes one element past the end of its output
 *   v_scribble    changes an element of its first input
 *   v_threads     matmul: sums in as many parts as it has threads, whose bits differ, and claims
 *                 that they do not
 *   v_noisy       prints to both standard streams at every call
 *   v_fails       returns a device error with a text at every call
 *   v_refuses     returns "invalid argument" at every call
 *   v_foreign     returns a status that is none
 *   v_stops       returns "interrupted", as if a user had wanted that
 *   v_babbles     writes nonsense to every descriptor that it can find
 *   v_segv        writes to address 8
 *   v_abort       calls abort
 *   v_exit        calls exit(0), as if all were well
 *   v_hang        never returns
 *   v_bomb        takes memory and fills it until there is none
 *   v_overflow    calls itself without end
 *   v_flood       writes to standard error without end
 *   v_mute        closes every descriptor that it can find, and never returns
 *   v_leak        keeps 1 MiB and a descriptor of each call
 *   v_leak_slow   n = 31344: takes 60 ms, and keeps a descriptor of each call
 *   v_chatty_err  a device error of each call shows in the next one
 *   v_chatty_late, v_chatty_later the same, in the next call of another kernel; the second at n
 *                 from 2001 to 2006
 *   v_chatty_again the same at n from 2011 to 2016, but not in the first process that calls it at
 *                 this n, which makes a file called n in the folder that VILLAINS_AGAIN names
 *   v_once        n from 31351 to 31356: wrong in one call of all, while the folder that
 *                 VILLAINS_ONCE names has a file called n, which it removes
 *   v_spoils      n = 31343: changes what the next call of another kernel gives
 *   v_locks       n = 31342: the next call of another kernel never returns
 *   v_hoard       n = 31341: right, and reserves 1 TiB meanwhile; fails where it may not
 *   v_opens       n % 1000 == 776: right, opens a file at each call, and fails where it cannot
 *   v_lost        loses the device: this call fails, and all later ones of the process
 *   v_rounds      leaves rounding towards zero behind
 *
 * Right, with times that mislead; add:
 *   v_coldfast    the first call of a process takes a fifth of what the others take
 *   v_coldslow    ten times what they take
 *   v_bimodal     every second call takes twice as long
 *   v_leak_some, v_leak_many   n % 1000 == 776, 777: v_leak in 20 and in 500 variants
 *
 * Right, but for what they do when asked whether they can run; add, the best rank of all:
 *   v_can_run_segv    n that ends in 31337: writes to address 8, asked about its second variant
 *   v_can_run_hang    n = 31338: never answers
 *   v_can_run_moody   n = 31339: yes, unless VILLAINS_DECLINE is set
 *
 * And of conv2d, f32, of one group and no steps: sums that err as those of a fast convolution with
 * tiles of two by two may, by nearly the bound of the largest of the four:
 *   v_tile          says so, the default
 *   v_tile_untold   does not: wrong where a tile has smaller sums beside, at padded edges
 *
 * And of exp, bf16, right but for one input of all, which no sample of a usual size holds:
 *   v_rare        64 steps off at 20.375
 *   v_rare_segv   writes to address 8 for one NaN
 *
 * And of gelu, f16, right:
 *   v_nearly      takes the second nearest of one result, by a hair, as the bound of a sum allows
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/dtype_inline.h"
#include "backends/source_hash.h"
#include "gen/config.h"
#include "runtime/host_backend.h"
#include "runtime/op_params.h"
#include "tests/villains/villains.h"

job read_job(const assay_launch *launch)
{
    const assay_problem *p = launch->problem;
    job j = {.launch = launch, .is_matmul = p->op == ASSAY_OP_matmul};

    j.m = j.is_matmul ? ASSAY__INT(p, matmul, m) : 1;
    j.n = j.is_matmul ? ASSAY__INT(p, matmul, n) : ASSAY__INT(p, add, n);
    j.k = j.is_matmul ? ASSAY__INT(p, matmul, k) : 0;
    j.count = j.m * j.n;
    j.a = assay_tensor_data(&launch->operands[0]);
    j.b = assay_tensor_data(&launch->operands[1]);
    j.y = assay_tensor_data(&launch->operands[2]);
    return j;
}

/* ---- right answers ---- */

void slow_add(const job *j)
{
    for (int64_t i = 0; i < j->n; i++) {
        /* By way of memory, one at a time. */
        volatile float sum = j->a[i] + j->b[i];
        j->y[i] = sum;
    }
}

static void fast_add(const job *j)
{
    const float *restrict a = j->a, *restrict b = j->b;
    float *restrict y = j->y;

    for (int64_t i = 0; i < j->n; i++)
        y[i] = a[i] + b[i];
}

/* One dot product after the other, from `first` in steps of `step` (1 or -1). */
static void slow_matmul(const job *j, int64_t first, int64_t step)
{
    for (int64_t row = 0; row < j->m; row++)
        for (int64_t col = 0; col < j->n; col++) {
            float sum = 0.0f;
            for (int64_t i = 0, p = first; i < j->k; i++, p += step)
                sum += j->a[row * j->k + p] * j->b[p * j->n + col];
            j->y[row * j->n + col] = sum;
        }
}

/* Row by row of B: contiguous and vectorised; products [0, k) of a row of j->k. */
static void fast_matmul(const job *j, int64_t k)
{
    for (int64_t row = 0; row < j->m; row++) {
        float *restrict y = j->y + row * j->n;
        memset(y, 0, (size_t)j->n * sizeof *y);
        for (int64_t p = 0; p < k; p++) {
            const float *restrict b = j->b + p * j->n;
            float a = j->a[row * j->k + p];
            for (int64_t col = 0; col < j->n; col++)
                y[col] += a * b[col];
        }
    }
}

job run_fast(const assay_launch *launch)
{
    job j = read_job(launch);

    if (j.is_matmul)
        fast_matmul(&j, j.k);
    else
        fast_add(&j);
    return j;
}

static assay_status v_honest(const assay_launch *launch)
{
    job j = read_job(launch);

    if (j.is_matmul)
        slow_matmul(&j, 0, 1);
    else
        slow_add(&j);
    return ASSAY_OK;
}

/* ---- wrong answers ---- */

static assay_status v_twin(const assay_launch *launch)
{
    job j = read_job(launch);

    if (j.is_matmul)
        slow_matmul(&j, j.k - 1, -1);
    else
        slow_add(&j);
    return ASSAY_OK;
}

static assay_status v_tail(const assay_launch *launch)
{
    job j = read_job(launch);
    bool is_power = (j.k & (j.k - 1)) == 0;
    int64_t lost = j.k % 16 != 0 ? j.k % 16 : is_power ? 0 : 16;

    fast_matmul(&j, j.k - lost);
    return ASSAY_OK;
}

static assay_status v_nan(const assay_launch *launch)
{
    job j = run_fast(launch);

    if (j.count > 0)
        j.y[j.count / 2] = __builtin_nanf("");
    return ASSAY_OK;
}

static assay_status v_one(const assay_launch *launch)
{
    job j = run_fast(launch);

    if (j.count > 0)
        j.y[j.count * 2 / 3] += 9.0f;
    return ASSAY_OK;
}

static assay_status v_hair(const assay_launch *launch)
{
    job j = run_fast(launch);
    const int64_t at = j.count * 2 / 3;
    double sum = 0.0, size = 0.0;

    for (int64_t p = 0; j.count > 0 && p < j.k; p++) {
        const double product = (double)j.a[at / j.n * j.k + p] * (double)j.b[p * j.n + at % j.n];
        sum += product;
        size += fabs(product);
    }
    if (j.count > 0)
        j.y[at] = (float)(sum + 1.5 * (double)(j.k + 3) * 0x1p-24 * size);
    return ASSAY_OK;
}

static assay_status v_unwritten(const assay_launch *launch)
{
    job j = read_job(launch);
    int64_t holes = j.count > 0 ? (j.count + 99) / 100 : 0;
    float *kept = malloc((size_t)(holes + 1) * sizeof *kept);

    if (kept == NULL)
        return ASSAY_NOMEM;
    for (int64_t i = 0; i < holes; i++)
        memcpy(&kept[i], &j.y[i * 100], sizeof *kept);
    (void)run_fast(launch);
    for (int64_t i = 0; i < holes; i++)
        memcpy(&j.y[i * 100], &kept[i], sizeof *kept);
    free(kept);
    return ASSAY_OK;
}

/* As code that loads whole vectors from addresses rounded down: the head is computed from the
 * wrong elements. */
static assay_status v_align(const assay_launch *launch)
{
    job j = run_fast(launch);
    bool is_aligned = true;

    for (uint32_t i = 0; i < launch->operand_count; i++)
        is_aligned &= (uintptr_t)assay_tensor_data(&launch->operands[i]) % 64 == 0;
    for (int64_t i = 0; !is_aligned && i < 16 && i < j.count; i++)
        j.y[i] = j.a[0] + 1.0f;
    return ASSAY_OK;
}

static assay_status v_late(const assay_launch *launch)
{
    static int calls;
    job j = run_fast(launch);

    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) > 4 && j.count > 0)
        j.y[0] += 9.0f;
    return ASSAY_OK;
}

enum { REPLAYS = 8192 };

/* Results by where the first operand lies; calls of one process, one after the other. */
static struct {
    const float *a;
    float *y;
} replays[REPLAYS];

static assay_status replay(const assay_launch *launch)
{
    job j = read_job(launch);
    const size_t bytes = (size_t)(j.count > 0 ? j.count : 1) * sizeof *j.y;
    size_t at = ((uintptr_t)j.a >> 4) * UINT64_C(0x9e3779b97f4a7c15) % REPLAYS;

    for (size_t i = 0; i < REPLAYS; i++, at = (at + 1) % REPLAYS) {
        if (replays[at].a == j.a && j.count > 0) {
            memcpy(j.y, replays[at].y, bytes);
            return ASSAY_OK;
        }
        if (replays[at].a != NULL)
            continue;
        (void)run_fast(launch);
        replays[at].y = malloc(bytes);
        if (replays[at].y == NULL)
            return ASSAY_NOMEM;
        memcpy(replays[at].y, j.y, bytes);
        replays[at].a = j.a;
        return ASSAY_OK;
    }
    (void)run_fast(launch);
    return ASSAY_OK;
}

static assay_status v_replay(const assay_launch *launch)
{
    return replay(launch);
}

static assay_status v_replay_late(const assay_launch *launch)
{
    static int calls;

    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) >= 12)
        return replay(launch);
    (void)run_fast(launch);
    return ASSAY_OK;
}

static assay_status v_drift(const assay_launch *launch)
{
    const char *drift = getenv("VILLAINS_DRIFT");
    job j = run_fast(launch);

    if (drift != NULL && strcmp(drift, "abort") == 0)
        abort();
    if (drift != NULL && j.count > 0)
        j.y[0] = nextafterf(j.y[0], INFINITY);
    return ASSAY_OK;
}

static assay_status v_flaky(const assay_launch *launch)
{
    static int calls;
    job j = run_fast(launch);

    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 16 == 0 && j.count > 0)
        j.y[j.count / 3] += 9.0f;
    return ASSAY_OK;
}

/* The sum of partial sums, one a thread: another order for another count. */
static assay_status v_threads(const assay_launch *launch)
{
    job j = read_job(launch);
    int64_t parts = launch->tunables[0], share = (j.k + parts - 1) / parts;

    for (int64_t row = 0; row < j.m; row++)
        for (int64_t col = 0; col < j.n; col++) {
            float sum = 0.0f;
            for (int64_t from = 0; from < j.k; from += share) {
                float part = 0.0f;
                for (int64_t p = from; p < j.k && p < from + share; p++)
                    part += j.a[row * j.k + p] * j.b[p * j.n + col];
                sum += part;
            }
            j.y[row * j.n + col] = sum;
        }
    return ASSAY_OK;
}

/* ---- crimes ---- */

static assay_status v_oob(const assay_launch *launch)
{
    job j = run_fast(launch);
    float *volatile end = j.y + j.count;

    *end = 1.0f;
    return ASSAY_OK;
}

static assay_status v_scribble(const assay_launch *launch)
{
    job j = run_fast(launch);
    float *volatile input = j.a;

    if ((j.is_matmul ? j.m * j.k : j.n) > 0)
        *input = -*input - 1.0f;
    return ASSAY_OK;
}

static assay_status v_noisy(const assay_launch *launch)
{
    (void)run_fast(launch);
    printf("{\"v_noisy\": \"on standard output\"}\n");
    fprintf(stderr, "v_noisy: on standard error\n");
    fflush(stdout);
    return ASSAY_OK;
}

static assay_status v_fails(const assay_launch *launch)
{
    return assay__host_fail(launch->instance, ASSAY_DEVICE, "v_fails: the device is on strike");
}

static assay_status v_refuses(const assay_launch *launch)
{
    return assay__host_fail(launch->instance, ASSAY_INVALID, "v_refuses: these are no operands");
}

static assay_status v_foreign(const assay_launch *launch)
{
    (void)launch;
    return (assay_status)4711;
}

static assay_status v_stops(const assay_launch *launch)
{
    (void)launch;
    return ASSAY_INTERRUPTED;
}

static assay_status v_babbles(const assay_launch *launch)
{
    static const char nonsense[] = "v_babbles: nobody asked for this line, which is a long one\n";

    (void)run_fast(launch);
    for (int fd = 3; fd < 64; fd++)
        if (write(fd, nonsense, sizeof nonsense) < 0)
            continue; /* not open, or read-only */
    return ASSAY_OK;
}

static assay_status v_segv(const assay_launch *launch)
{
    int *volatile nowhere = (int *)8;

    (void)launch;
    *nowhere = 1;
    return ASSAY_OK;
}

static assay_status v_abort(const assay_launch *launch)
{
    (void)launch;
    abort();
}

static assay_status v_exit(const assay_launch *launch)
{
    (void)launch;
    exit(0);
}

static assay_status v_hang(const assay_launch *launch)
{
    volatile bool is_over = false;

    (void)launch;
    while (!is_over)
        sleep(1000);
    return ASSAY_OK;
}

/* ---- conv2d ---- */

enum { TILE = 2 };

typedef struct image {
    int64_t c, h, w, k, r, s, pad_h, pad_w, out_h, out_w;
    const float *x, *filter;
} image;

static image read_image(const assay_launch *launch)
{
    const assay_problem *p = launch->problem;
    image i = {.c = ASSAY__INT(p, conv2d, c),
               .h = ASSAY__INT(p, conv2d, h),
               .w = ASSAY__INT(p, conv2d, w),
               .k = ASSAY__INT(p, conv2d, k),
               .r = ASSAY__INT(p, conv2d, r),
               .s = ASSAY__INT(p, conv2d, s),
               .pad_h = ASSAY__INT(p, conv2d, pad_h),
               .pad_w = ASSAY__INT(p, conv2d, pad_w),
               .x = assay_tensor_data(&launch->operands[0]),
               .filter = assay_tensor_data(&launch->operands[1])};

    i.out_h = i.h + 2 * i.pad_h - i.r + 1;
    i.out_w = i.w + 2 * i.pad_w - i.s + 1;
    return i;
}

/* Output (n, k, p, q) and the sum of its absolute products. */
static double sum_at(const image *i, int64_t n, int64_t k, int64_t p, int64_t q, double *magnitude)
{
    double sum = 0.0;

    *magnitude = 0.0;
    for (int64_t c = 0; c < i->c; c++)
        for (int64_t r = 0; r < i->r; r++)
            for (int64_t s = 0; s < i->s; s++) {
                const int64_t y = p + r - i->pad_h, x = q + s - i->pad_w;
                if (y < 0 || y >= i->h || x < 0 || x >= i->w)
                    continue;
                const double product = (double)i->x[((n * i->c + c) * i->h + y) * i->w + x] *
                                       (double)i->filter[((k * i->c + c) * i->r + r) * i->s + s];
                sum += product;
                *magnitude += fabs(product);
            }
    return sum;
}

/* The largest of the tile that (p, q) lies in. */
static double tile_magnitude(const image *i, int64_t n, int64_t k, int64_t p, int64_t q)
{
    double most = 0.0, one;

    for (int64_t y = p - p % TILE; y < p - p % TILE + TILE && y < i->out_h; y++)
        for (int64_t x = q - q % TILE; x < q - q % TILE + TILE && x < i->out_w; x++) {
            (void)sum_at(i, n, k, y, x, &one);
            most = fmax(most, one);
        }
    return most;
}

static assay_status v_tile(const assay_launch *launch)
{
    const image i = read_image(launch);
    const double share = 0.9 * (double)(i.c * i.r * i.s) * 0x1p-24;
    float *y = assay_tensor_data(&launch->operands[2]);
    const int64_t count = ASSAY__INT(launch->problem, conv2d, n) * i.k;
    double magnitude;

    for (int64_t at = 0; at < count; at++)
        for (int64_t p = 0; p < i.out_h; p++)
            for (int64_t q = 0; q < i.out_w; q++)
                *y++ = (float)(sum_at(&i, at / i.k, at % i.k, p, q, &magnitude) +
                               share * tile_magnitude(&i, at / i.k, at % i.k, p, q));
    return ASSAY_OK;
}

/* ---- exp ---- */

enum { RARE_VALUE = 0x41a3, RARE_NAN = 0x7fc5 };

static void exp_but_for(const assay_launch *launch, uint16_t rare)
{
    const uint16_t *x = assay_tensor_data(&launch->operands[0]);
    uint16_t *y = assay_tensor_data(&launch->operands[1]);
    int64_t n = launch->operands[0].dims[0];
    int *volatile nowhere = (int *)8;

    for (int64_t i = 0; i < n; i++) {
        y[i] = assay_f32_to_bf16(expf(assay_bf16_to_f32(x[i])));
        if (x[i] == rare && rare == RARE_VALUE)
            y[i] = (uint16_t)(y[i] + 64);
        else if (x[i] == rare)
            *nowhere = 1;
    }
}

static assay_status v_rare(const assay_launch *launch)
{
    exp_but_for(launch, RARE_VALUE);
    return ASSAY_OK;
}

static assay_status v_rare_segv(const assay_launch *launch)
{
    exp_but_for(launch, RARE_NAN);
    return ASSAY_OK;
}

/* ---- gelu ---- */

static assay_status v_nearly(const assay_launch *launch)
{
    const uint16_t *x = assay_tensor_data(&launch->operands[0]);
    uint16_t *y = assay_tensor_data(&launch->operands[1]);

    for (int64_t i = 0; i < launch->operands[0].dims[0]; i++) {
        const double v = (double)assay_f16_to_f32(x[i]);
        const double u = 0.79788456080286535588 * (v + 0.044715 * v * v * v);
        y[i] = assay_f32_to_f16((float)(v / (1.0 + exp(-2.0 * u))));
        if (x[i] == 0x8e55) /* the result lies 0.49986 steps from 0x8a55 */
            y[i] = 0x8a54;
    }
    return ASSAY_OK;
}

/* ---- answers ---- */

static bool can_run_segv(const assay_problem *problem, const int64_t *tunables)
{
    int *volatile nowhere = (int *)8;

    if (tunables[0] > 1)
        *nowhere = (int)problem->op;
    return tunables[0] == 1;
}

static bool can_run_hang(const assay_problem *problem, const int64_t *tunables)
{
    (void)problem;
    (void)tunables;
    for (volatile bool is_over = false; !is_over;)
        sleep(1000);
    return true;
}

static bool can_run_moody(const assay_problem *problem, const int64_t *tunables)
{
    (void)problem;
    (void)tunables;
    return getenv("VILLAINS_DECLINE") == NULL;
}

/* ---- manifest ---- */

#define TAKES(align)            \
    {                           \
        ASSAY_CAP_OFFSET, align \
    }
#define ROW_ALIGNED(kernel, op_, label, rank, can_run_, align)                                    \
    {                                                                                             \
        .struct_size = sizeof(assay_kernel_desc), .name = label, .op = ASSAY_OP_##op_,            \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},                            \
        .caps = {TAKES(align), TAKES(align), TAKES(align)}, .default_rank = rank,                 \
        .can_run = can_run_, .sources = sources, .claims = ASSAY_NO_CLAIMS, .entry_point = label, \
        .run = kernel                                                                             \
    }
#define GELU(kernel, rank)                                                                \
    {                                                                                     \
        .struct_size = sizeof(assay_kernel_desc), .name = #kernel, .op = ASSAY_OP_gelu,   \
        .dtype_count = 2, .dtypes = {ASSAY_F16, ASSAY_F16}, .caps = {TAKES(0), TAKES(0)}, \
        .default_rank = rank, .sources = sources, .claims = ASSAY_NO_CLAIMS,              \
        .entry_point = #kernel, .run = kernel                                             \
    }
#define EXP(kernel, rank)                                                                   \
    {                                                                                       \
        .struct_size = sizeof(assay_kernel_desc), .name = #kernel, .op = ASSAY_OP_exp,      \
        .dtype_count = 2, .dtypes = {ASSAY_BF16, ASSAY_BF16}, .caps = {TAKES(0), TAKES(0)}, \
        .default_rank = rank, .sources = sources, .claims = ASSAY_NO_CLAIMS,                \
        .entry_point = #kernel, .run = kernel                                               \
    }
#define PLAIN                "trans_a == 0 and trans_b == 0 and alpha == 1 and beta == 0 and batch == 1"
#define MATMUL(kernel, rank) ROW_ALIGNED(kernel, matmul, #kernel, rank, PLAIN, 0)
#define BOTH(kernel, rank)   ROW_ALIGNED(kernel, add, #kernel, rank, NULL, 0), MATMUL(kernel, rank)

#define MATMUL_THREADS(kernel, rank)                                                         \
    {                                                                                        \
        .struct_size = sizeof(assay_kernel_desc), .name = #kernel, .op = ASSAY_OP_matmul,    \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},                       \
        .caps = {TAKES(0), TAKES(0), TAKES(0)}, .default_rank = rank, .tunables = threads,   \
        .tunable_count = 1, .can_run = PLAIN, .sources = sources,                            \
        .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_MACHINE}, .entry_point = #kernel, \
        .run = kernel                                                                        \
    }

#define ASKED(kernel, can_run_, can_run_fn_, tunables_, count)                                 \
    {                                                                                          \
        .struct_size = sizeof(assay_kernel_desc), .name = #kernel, .op = ASSAY_OP_add,         \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},                         \
        .caps = {TAKES(0), TAKES(0), TAKES(0)}, .default_rank = 5, .tunables = tunables_,      \
        .tunable_count = count, .can_run = can_run_, .can_run_fn = can_run_fn_,                \
        .sources = sources, .claims = ASSAY_NO_CLAIMS, .entry_point = #kernel, .run = v_honest \
    }

#define CONV(label, rank, tile, factor)                                                        \
    {                                                                                          \
        .struct_size = sizeof(assay_kernel_desc), .name = label, .op = ASSAY_OP_conv2d,        \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},                         \
        .caps = {TAKES(0), TAKES(0), TAKES(0)}, .default_rank = rank,                          \
        .can_run = "groups == 1 and stride_h == 1 and stride_w == 1 and dil_h == 1 and "       \
                   "dil_w == 1",                                                               \
        .sources = sources, .claims = ASSAY_NO_CLAIMS, .entry_point = "v_tile", .run = v_tile, \
        .error_tile = tile, .error_factor = factor                                             \
    }

#define TUNED(label, run_, can_run_, tunables_, count)                                     \
    {                                                                                      \
        .struct_size = sizeof(assay_kernel_desc), .name = label, .op = ASSAY_OP_add,       \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},                     \
        .caps = {TAKES(0), TAKES(0), TAKES(0)}, .default_rank = 50, .tunables = tunables_, \
        .tunable_count = count, .can_run = can_run_, .sources = sources,                   \
        .claims = ASSAY_NO_CLAIMS, .entry_point = #run_, .run = run_                       \
    }

static const char *const sources[] = {"tests/villains/villains.c",
                                      "tests/villains/villains_process.c", NULL};
static const int64_t twenty_five[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                      13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
static const assay_tunable many[] = {{"high", twenty_five, 20, 0, "nothing"},
                                     {"low", twenty_five, 25, 0, "nothing"}};
static const int64_t unroll_values[] = {1, 2};
static const assay_tunable unrolls[] = {{"unroll", unroll_values, 2, 1, "nothing"}};
static const int64_t thread_counts[] = {1, 2, 4};
static const assay_tunable threads[] = {{"threads", thread_counts, 3, 1, "parts of the sum"}};

static const assay_kernel_desc kernels[] = {
    BOTH(v_honest, 10),
    BOTH(v_twin, 50),
    MATMUL(v_tail, 50),
    BOTH(v_nan, 50),
    BOTH(v_one, 50),
    MATMUL(v_hair, 50),
    BOTH(v_unwritten, 50),
    ROW_ALIGNED(v_align, add, "v_align", 50, NULL, 64),
    ROW_ALIGNED(v_align, matmul, "v_align", 50, PLAIN, 64),
    ROW_ALIGNED(v_align, add, "v_align_lies", 50, NULL, 0),
    ROW_ALIGNED(v_align, matmul, "v_align_lies", 50, PLAIN, 0),
    BOTH(v_late, 50),
    ROW_ALIGNED(v_replay, add, "v_replay", 50, "n <= 4096", 0),
    MATMUL(v_replay, 50),
    ROW_ALIGNED(v_replay_late, add, "v_replay_late", 50, "n <= 4096", 0),
    ROW_ALIGNED(v_drift, add, "v_drift", 50, "n == 31340", 0),
    ROW_ALIGNED(v_flaky, add, "v_flaky", 50, "n <= 10000", 0),
    BOTH(v_oob, 50),
    BOTH(v_scribble, 50),
    MATMUL_THREADS(v_threads, 50),
    BOTH(v_noisy, 50),
    BOTH(v_fails, 50),
    BOTH(v_refuses, 50),
    BOTH(v_foreign, 50),
    BOTH(v_stops, 50),
    BOTH(v_babbles, 50),
    BOTH(v_segv, 50),
    BOTH(v_abort, 50),
    BOTH(v_exit, 50),
    BOTH(v_hang, 50),
    BOTH(v_bomb, 50),
    BOTH(v_overflow, 50),
    BOTH(v_flood, 50),
    BOTH(v_mute, 50),
    BOTH(v_leak, 50),
    ROW_ALIGNED(v_leak_slow, add, "v_leak_slow", 50, "n == 31344", 0),
    BOTH(v_chatty_err, 50),
    BOTH(v_chatty_late, 50),
    ROW_ALIGNED(v_chatty_later, add, "v_chatty_later", 50, "n > 2000 and n < 2007", 0),
    ROW_ALIGNED(v_chatty_again, add, "v_chatty_again", 50, "n > 2010 and n < 2017", 0),
    ROW_ALIGNED(v_once, add, "v_once", 50, "n > 31350 and n < 31357", 0),
    ROW_ALIGNED(v_spoils, add, "v_spoils", 50, "n == 31343", 0),
    ROW_ALIGNED(v_locks, add, "v_locks", 50, "n == 31342", 0),
    ROW_ALIGNED(v_hoard, add, "v_hoard", 50, "n == 31341", 0),
    ROW_ALIGNED(v_opens, add, "v_opens", 50, "n % 1000 == 776", 0),
    BOTH(v_lost, 50),
    BOTH(v_rounds, 50),
    ROW_ALIGNED(v_coldfast, add, "v_coldfast", 50, NULL, 0),
    ROW_ALIGNED(v_coldslow, add, "v_coldslow", 50, NULL, 0),
    ROW_ALIGNED(v_bimodal, add, "v_bimodal", 50, NULL, 0),
    TUNED("v_leak_some", v_leak, "n % 1000 == 776", many, 1),
    TUNED("v_leak_many", v_leak, "n % 1000 == 777", many, 2),
    TUNED("v_one_many", v_one, "n % 1000 == 778", many, 2),
    ASKED(v_can_run_segv, "n % 100000 == 31337", can_run_segv, unrolls, 1),
    ASKED(v_can_run_moody, "n == 31339", can_run_moody, NULL, 0),
    ASKED(v_can_run_hang, "n == 31338", can_run_hang, NULL, 0),
    CONV("v_tile", 10, TILE, 1.0),
    CONV("v_tile_untold", 50, 0, 0.0),
    EXP(v_rare, 50),
    EXP(v_rare_segv, 50),
    GELU(v_nearly, 50),
};

static const assay_backend backend = {
    ASSAY__HOST_BACKEND_SLOTS,
    .open = assay__host_open,
    .library_identity = assay__host_library_identity,
    .launch = villains_launch,
    .measure = villains_measure,
};

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "villains",
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .kernels = kernels,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &backend,
    .explicit_only = 1,
};
