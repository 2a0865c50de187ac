/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_apart.h -- operands of kernels on a device whose memory the host does not reach.
 *
 * Inputs, poison and canaries are laid out as on the host (tuner/arena.h) and brought over whole;
 * what a kernel leaves comes back whole, and is compared there.  Nothing keeps a kernel from
 * writing to its inputs, so these are looked at afterwards. */
#ifndef ASSAY_TUNER_WORKER_APART_H
#define ASSAY_TUNER_WORKER_APART_H

#include "tuner/worker.h"

/* Do its kernels take handles alone, no addresses of the host's?  Where the device does not say,
 * ASSAY_UNAVAILABLE, which is no kernel's fault: an address would be as wrong as a handle. */
assay_status assay__worker_is_apart(const assay__backend *backend, bool *out);

/* One launch with the inputs and the output as they lie in the problem's files; the output goes
 * back there.  ASSAY_DEVICE: it failed, or wrote to its inputs. */
assay_status assay__worker_apart_run(assay__worker_problem *w, const assay__worker_kernel *k);

/* Once a problem, before the first kernel: the device can be used, or UNAVAILABLE, which is no
 * kernel's fault, or NOMEM. */
assay_status assay__worker_apart_ready(assay__worker_problem *w, const assay__backend *backend);
/* assay__backend_blame, but of a device apart NOMEM stays: who else uses it takes from its memory,
 * so that only the parent can find out whose fault it is. */
assay_status assay__worker_blame(const assay__backend *backend, assay_status status);

/* ---- a pool of operand sets there; as those of tuner/worker.h ---- */

/* Bytes to rotate over so that no set is in the device's caches when its turn comes again; as
 * given where the device does not tell the size of its last cache. */
double assay__apart_rotate_bytes(const assay__backend *backend, double otherwise);
/* Sets p->sets, which may be fewer where the device's memory ends. */
assay_status assay__apart_pool_make(assay__worker_problem *w, assay__worker_pool *p);
void assay__apart_pool_clear(assay__worker_pool *p);
/* Makes the first `sets` sets, and fresh poison in every output of them. */
assay_status assay__apart_pool_fill(assay__worker_problem *w, assay__worker_pool *p, size_t sets);
/* Writes over what the last cache of the device holds; 0: its size is not known. */
double assay__apart_pool_cool(const assay__worker_problem *w, assay__worker_pool *p, size_t sets);
assay_status assay__apart_pool_refill(const assay__worker_problem *w, assay__worker_pool *p,
                                      size_t at);
assay_status assay__apart_pool_poison(const assay__worker_problem *w, assay__worker_pool *p,
                                      size_t at);
/* The whole output of set `at`, valid until the next call. */
assay_status assay__apart_pool_output(const assay__worker_problem *w, assay__worker_pool *p,
                                      size_t at, char **out);
/* ASSAY_DEVICE: inputs of the first `used` sets are no longer what was put there.  Where the device
 * has no digests only those of set `at` are looked at. */
assay_status assay__apart_pool_intact(assay__worker_problem *w, const assay__worker_pool *p,
                                      size_t at, size_t used);
/* Digests of the first `used` outputs, whole.  UNSUPPORTED: it has none. */
assay_status assay__apart_pool_digests(const assay__worker_problem *w, const assay__worker_pool *p,
                                       size_t used, uint64_t *out);

#endif
