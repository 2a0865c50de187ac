/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/cuda_villains/cuda_villains.h -- kernels that misbehave on a GPU on purpose, one way each.
 *
 * A plug-in of the tests, never installed and chosen only by name: the host side of backends/cuda
 * with these kernels in place of its own.  add, f32, contiguous.  The good ones take their time;
 * every other is as fast as it gets, so that it would win if its fault were not seen.
 *
 *   g_honest      right, the default
 *   g_work        right, 16 variants; the first is the fastest of all good ones by far
 *   v_illegal     writes where nothing is, a terabyte behind its output
 *   v_misaligned  writes four bytes to an odd address
 *   v_assert      an assertion fails on the device
 *   v_trap        traps on the device
 *   v_endless     never ends
 *   v_next        on a stream of its own, and returns: a write like v_illegal's comes 20 ms later
 *   v_poison      right; the next call of another kernel faults
 *   v_launch      wants more shared memory than there is, and asks the driver for it
 *   v_shared      the same, and asks backends/cuda
 *   v_oob         writes one element past the end of its output
 *   v_scribble    changes an element of its first input
 *   v_unwritten   leaves one element in a hundred as it was
 *   v_nan         one NaN, in the middle
 *   v_late        right for the first 10 calls of a process, then wrong
 *   v_replay      right, but for operands where there were others before it gives what those gave
 *   v_leak        keeps a 64th of the device's memory at each call
 *   v_hog         right, and takes all memory that the device has left, at each call
 *   v_sleep       right; the host sleeps for 200 us at each call */
#ifndef ASSAY_TESTS_CUDA_VILLAINS_H
#define ASSAY_TESTS_CUDA_VILLAINS_H

#include "assay/plugin.h"

#define CUDA_VILLAINS(X) \
    X(v_illegal)         \
    X(v_misaligned)      \
    X(v_assert)          \
    X(v_trap)            \
    X(v_endless)         \
    X(v_next)            \
    X(v_poison)          \
    X(v_launch)          \
    X(v_shared)          \
    X(v_oob)             \
    X(v_scribble)        \
    X(v_unwritten)       \
    X(v_nan)             \
    X(v_late)            \
    X(v_replay)          \
    X(v_leak)            \
    X(v_hog)             \
    X(v_sleep)

#define X(name) assay_status name(const assay_launch *launch);
CUDA_VILLAINS(X)
X(g_honest)
X(g_work)
#undef X

#endif
