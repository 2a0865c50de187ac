/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/no_leak_scan.h -- for a test that runs kernels of libraries; one file includes it.
 *
 * The leak scan at the end of a test dies (signal 11 in its tracer) in processes whose libraries
 * keep threads of their own; test_unary_launch and test_ref look for leaks of our code. */
#ifndef ASSAY_TESTS_SUPPORT_NO_LEAK_SCAN_H
#define ASSAY_TESTS_SUPPORT_NO_LEAK_SCAN_H

#ifdef __SANITIZE_ADDRESS__
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return 1;
}
#endif

#endif
