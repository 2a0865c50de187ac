/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/fingerprint.h -- what floating point gives here, as the digest of fixed probes. */
#ifndef ASSAY_RUNTIME_FINGERPRINT_H
#define ASSAY_RUNTIME_FINGERPRINT_H

#include "assay/digest.h"

/* 1 yes, 0 no. */
typedef struct assay__fingerprint {
    uint8_t contracts;                                   /* a * b + c in plain C is fused */
    uint8_t scalar_subnormals_in, scalar_subnormals_out; /* read as they are; not flushed to 0 */
    uint8_t vector_subnormals_in, vector_subnormals_out;
    int rounding;          /* fegetround() */
    assay_digest libm;     /* bits of exp, tanh, rsqrt and more at fixed points */
    assay_digest hardware; /* bits of the CPU's own approximations; zero where it has none */
    assay_digest digest;   /* of all the above and the probes' bits */
} assay__fingerprint;

/* Same machine, C library and floating-point environment of the calling thread: same digest. */
void assay__fingerprint_take(assay__fingerprint *out);

#endif
