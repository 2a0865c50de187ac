/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/caps.h -- does a kernel take operands as they lie in memory? */
#ifndef ASSAY_RUNTIME_CAPS_H
#define ASSAY_RUNTIME_CAPS_H

#include "assay/plugin.h"

/* For a question: a layout letter an operand (NUL counts as 'c') and the alignment that all
 * operands have: 64, 16, or 0, that of an element.  false: `reason` names operand and remedy. */
bool assay__caps_fit(const assay_kernel_desc *desc, const char *layout, unsigned align,
                     char *reason, size_t cap);

/* The same, with inputs that do not fit left to be copied: bit i of `copies` is input i.  false: an
 * output does not fit. */
bool assay__caps_copies(const assay_kernel_desc *desc, const char *layout, unsigned align,
                        unsigned *copies, char *reason, size_t cap);

/* For tensors at hand, whose strides, offsets and addresses are known. */
bool assay__caps_fit_tensor(const assay_kernel_desc *desc, const assay_tensor *operand, size_t i,
                            char *reason, size_t cap);
bool assay__caps_fit_tensors(const assay_kernel_desc *desc, const assay_tensor *operands,
                             size_t count, char *reason, size_t cap);

#endif
