/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/fake/fake.h -- a backend whose clock, devices and faults are written in a script.
 *
 * $ASSAY_FAKE holds the script itself, or @FILE.  One statement a line or between ';'; '#' starts a
 * comment; words are name=value.
 *
 *   seed=N            of all noise; default 1
 *   devices=N         default 1
 *   turned=N          device i is the one that else is i + N, the last before the first; default 0
 *   alike=N           device i is of the model of device i modulo N; default all differ
 *   mute=N            1: its devices give no profile; default 0
 *   discrete=N        1: the host does not reach its memory, as of a device apart; default 0
 *   counters=N        1: its clock is called one of hardware counters; default 0, of device
 * timestamps digest=N          1: it has digests of its memory; 2: they are wrong; default 0
 *   memory=N          bytes that each device says it has; default 2^30
 *   nomem=N           that allocation and later ones of this process fail; default never
 *   gone=N            processes that took number N or a later one cannot open it; default never
 *   visits=FILE       a counter: each process that opens the backend takes the next number, which
 *                     seeds its own stream of noise.  Without it $ASSAY_FAKE_VISIT, else 0
 *   stays=FILE        a byte for each stay that ended
 *   resolution=NS overhead=NS   what the clock says of itself; default 1 and 20
 *   <name>_mhz=STEPS <name>_celsius=STEPS <name>_milliwatts=STEPS <name>_reasons=STEPS
 *                     a sensor: readings in the order they are asked for, "1980*40,400*3,1980", the
 *                     last for ever, or behind it "..." and all of them again; "-" fails; default
 *                     none
 *   idle_mhz=N        what sm_clock_mhz reads while no launch waits for a synchronize, and
 *                     throttle_reasons says idle then; default 0, it reads as under load
 *   probe_NAME=X      kernels of known work that there are: flops or bytes a ns (fma_f32, copy,
 *                     matrix_bf16 ...), ns (empty), ns beyond what was waited (spin_ns,
 *                     spin_cycles); default none
 *   ghz=R stretch=R   cycles a ns; what the clock makes of a ns that was waited; default 1
 *   kernel=NAME ...   for this kernel (fake_a, fake_b, fake_c) or "*"; later lines win
 *     variant=V threads=T   only for this choice of the tunable
 *     process=N           only in processes that took number N or a later one, see visits
 *     ns=X per_unit=Y     duration of a call: X + Y * units (add: n; matmul: batch m n k);
 *                         default 1000 and 0
 *     sd=R              relative spread from span to span; default 0
 *     visit_sd=R        relative spread from process to process; default 0
 *     common_sd=R       the same for all kernels of a process; default 0
 *     outlier=P         chance that a span takes ten times as long; default 0
 *     wild=P            chance that a whole stay takes up to half as long again; default 0
 *     slow=R            factor while a busy machine is scripted; default 1
 *     first=R           factor of the first stay of a process, whoever stays; default 1
 *     again=R           factor of all stays of a variant in a process but its first; default 1
 *     stall=NS          by which untimed spans of a process are held up: number N where bit N of
 *     stalled=BITS      `stalled` is set; a span that is alone is untimed here; default 0
 *     fail_at=N crash_at=N exit_at=N hang_at=N wrong_at=N
 *                       what call N and later ones of this process do; default never
 *     wrong=I           element that is wrong then; default 0
 *     write_at=N        call N and later ones write to their first input
 *     lose_at=N         call N and later ones lose the device
 *     off=N             steps of f32 by which all results are too large; default 0
 *
 * A script with an error makes open fail with the statement and the word. */
#ifndef ASSAY_BACKENDS_FAKE_H
#define ASSAY_BACKENDS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "runtime/host_backend.h"

enum { FAKE_KERNELS = 3, FAKE_MAX_RULES = 64, FAKE_THREADS = 0, FAKE_VARIANT = 1 };

/* X(name, kind, dtype) */
#define FAKE_PROBE_MAP(X)           \
    X(empty, EMPTY, U8)             \
    X(spin_ns, SPIN_NS, U8)         \
    X(spin_cycles, SPIN_CYCLES, U8) \
    X(copy, COPY, U8)               \
    X(fma_f64, FMA, F64)            \
    X(fma_f32, FMA, F32)            \
    X(fma_f16, FMA, F16)            \
    X(fma_bf16, FMA, BF16)          \
    X(matrix_f64, MATRIX, F64)      \
    X(matrix_tf32, MATRIX, F32)     \
    X(matrix_f16, MATRIX, F16)      \
    X(matrix_bf16, MATRIX, BF16)    \
    X(matrix_i8, MATRIX, I8)
enum {
#define X(name, kind, dtype) FAKE_PROBE_##name,
    FAKE_PROBE_MAP(X)
#undef X
        FAKE_PROBES
};

typedef struct fake_rule {
    int kernel;                        /* index, or -1: all */
    int64_t variant, threads, process; /* -1: any */
    double ns, per_unit, sd, visit_sd, common_sd, outlier, wild, slow, first, again, stall;
    int64_t fail_at, crash_at, exit_at, hang_at, wrong_at, write_at, lose_at, wrong, off, stalled;
    uint32_t given; /* bit i: word i of the table was set */
} fake_rule;

enum { FAKE_SENSORS = 8, FAKE_STEPS = 16 };

typedef struct fake_step {
    uint64_t value, times;
} fake_step;

typedef struct fake_sensor {
    char name[32];
    fake_step steps[FAKE_STEPS];
    size_t count;
    bool is_round; /* after the last comes the first */
} fake_sensor;

typedef struct fake_script {
    uint64_t seed, visit;
    int64_t devices, mute, turned, alike, discrete, counters, digest, memory, nomem, gone;
    double resolution, overhead;
    double ghz, stretch, probes[FAKE_PROBES]; /* of probes; below 0: there is none */
    char visits[256], stays[256];
    int64_t idle_mhz;
    fake_sensor sensors[FAKE_SENSORS];
    size_t sensor_count;
    fake_rule rules[FAKE_MAX_RULES];
    int rule_count;
} fake_script;

extern const char *const fake_names[FAKE_KERNELS];

/* Reads a script; false: `why` says which statement. */
bool fake_parse(const char *text, fake_script *out, char *why, size_t cap);

/* What holds for one kernel and variant: defaults, then every rule that fits, in order. */
fake_rule fake_rule_of(const fake_script *script, int kernel, const int64_t *tunables);

/* Which span of this process it is, which stay of the variant and which stay of all: from 0; and
 * which of its untimed spans, none: UINT64_MAX. */
typedef struct fake_when {
    uint64_t span, stay, place, untimed;
} fake_when;

/* Duration of one span of `inner` calls. */
double fake_duration(const fake_script *script, const fake_rule *rule, int kernel,
                     const int64_t *tunables, double units, fake_when when, size_t inner);

/* ---- slots of the plug-in that know its sensors: fake_sensors.c ---- */

void fake_sensors_begin(void); /* with the first reading of each */
assay_status fake_metrics(assay_instance *instance, assay_metric *out, size_t cap, size_t *count);
assay_status fake_launch(assay_instance *instance, assay_kernel_fn run, const assay_launch *launch);
assay_status fake_synchronize(assay_instance *instance);

/* The script of this process; read by the first open. */
extern fake_script fake_current;

#endif
