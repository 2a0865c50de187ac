/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda.h -- a CUDA driver without a GPU, for tests of what calls it.
 *
 * One shared object with the calls of the driver, CUPTI and NVML that backends/cuda takes: memory
 * is the host's, kernels are functions of this folder by name, streams run at once, and time is
 * counted as scripted.  It is not called libcuda.so.1: NVRTC looks for that and crashes on calls
 * that it lacks.  The script is words with blanks between, from $ASSAY_FAKE_CUDA at cuInit and from
 * fake_cuda_script whenever a test says so:
 *
 *     version=N         what cuDriverGetVersion tells; default CUDA_VERSION
 *     init=N            what cuInit returns
 *     devices=N         how many; default 1, at most 8; those whose numbers are both even or both
 *                       odd reach one another
 *     order=A,B,...     which device the driver's number 0, 1, ... is; default in order
 *     sm=N              compute capability, 90 by default
 *     memory=N          bytes of each device; default 1 GiB
 *     ns=N gap=N        a kernel takes ns, and each launch that is in no graph gap before it
 *     ghz=R stretch=R   cycles a ns; what the driver's clocks make of a ns that a probe spins
 *     bytes_per_ns=R round_ns=R   of probes that copy, of a round of one that computes
 *     fail=CALL:AT:N    the AT-th call of this name from now on (1: the next) returns N; one of the
 *                       errors that poison a context does so; fail=CALL:AT:N:TIMES: so many do
 *     hold release      events recorded from now on have not passed until they are waited for;
 *                       all have
 *     clock=N reasons=N what NVML reads: the multiprocessors' MHz, 1980 by default, 0: it fails,
 * and why it is not higher, 4 (the power limit) by default nocapture         streams cannot be
 * captured cupti=N           what enabling records returns; lose=N: the next N flushes lose one;
 *                       dropped=N: what is told of dropped ones, once
 *     keep=N            the next N flushes of any records leave the last to the one behind;
 *                       keepafter=N: after N others
 *
 * Kernels of any image that begins with "FAKE" or ".version", or is a fatbin:
 *     fake_add(a, b, y, n)   y[i] = a[i] + b[i], float
 *     fake_count(p)          one more in the uint32_t at p
 *     fake_bad()             an illegal address, which is told by the next wait
 *     assay_empty()          nothing
 *     shown_...              those of cuda_shown.cu
 *     probe_...              those of cuda_probe.cu: spins do not wait, arithmetic does nothing
 *     judge_...              those of cuda_judge.cu
 *     v_*                    those of tests/cuda_villains; v_add takes `ns` once more a round */
#ifndef ASSAY_TESTS_FAKE_CUDA_H
#define ASSAY_TESTS_FAKE_CUDA_H

#include <stddef.h>

void fake_cuda_script(const char *words);
/* Contexts, streams, events, blocks, modules and graphs that were made and not destroyed. */
size_t fake_cuda_live(void);
/* Calls of this name so far. */
size_t fake_cuda_calls(const char *name);

#endif
