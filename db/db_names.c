/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/db_names.c -- the words that the store writes for enumerations. */
#include "db/db_names.h"

#include <string.h>

#define COUNT(names) (sizeof(names) / sizeof *(names))

static const char *const verdicts[] = {
    [ASSAY__VERDICT_NONE] = "none",
    [ASSAY__VERDICT_OK] = "ok",
    [ASSAY__VERDICT_WRONG] = "wrong",
    [ASSAY__VERDICT_NOISY] = "noisy",
    [ASSAY__VERDICT_THROTTLED] = "throttled",
    [ASSAY__VERDICT_IMPOSSIBLE] = "impossible",
    [ASSAY__VERDICT_CRASHED] = "crashed",
    [ASSAY__VERDICT_TIMEOUT] = "timeout",
    [ASSAY__VERDICT_MISTRUSTED] = "mistrusted",
};
static const char *const proofs[] = {
    [ASSAY_PROOF_ABSENT] = "absent",
    [ASSAY_PROOF_SAMPLED] = "sampled",
    [ASSAY_PROOF_BOUNDED] = "bounded",
    [ASSAY_PROOF_EXHAUSTIVE] = "exhaustive",
};
static const char *const stabilities[] = {
    [ASSAY_STABILITY_ABSENT] = "absent",     [ASSAY_STABILITY_NONE] = "none",
    [ASSAY_STABILITY_CONFIG] = "config",     [ASSAY_STABILITY_MACHINE] = "machine",
    [ASSAY_STABILITY_ANYWHERE] = "anywhere",
};
static const char *const qualities[] = {
    [ASSAY_TIMING_HOST] = "host",
    [ASSAY_TIMING_ENQUEUE_WAIT] = "enqueue_wait",
    [ASSAY_TIMING_DEVICE] = "device",
    [ASSAY_TIMING_COUNTERS] = "counters",
};

static const char *name_of(const char *const *names, size_t count, size_t value)
{
    return value < count ? names[value] : NULL;
}

static size_t value_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return 0;
}

const char *assay__db_verdict_name(assay__verdict verdict)
{
    return name_of(verdicts, COUNT(verdicts), (size_t)verdict);
}

const char *assay__db_proof_name(assay_proof proof)
{
    return name_of(proofs, COUNT(proofs), (size_t)proof);
}

const char *assay__db_stability_name(assay_stability level)
{
    return name_of(stabilities, COUNT(stabilities), (size_t)level);
}

const char *assay__db_timing_quality_name(assay_timing_quality quality)
{
    return name_of(qualities, COUNT(qualities), (size_t)quality);
}

assay__verdict assay__db_verdict_parse(const char *name)
{
    return (assay__verdict)value_of(verdicts, COUNT(verdicts), name);
}

assay_proof assay__db_proof_parse(const char *name)
{
    return (assay_proof)value_of(proofs, COUNT(proofs), name);
}

assay_stability assay__db_stability_parse(const char *name)
{
    return (assay_stability)value_of(stabilities, COUNT(stabilities), name);
}
