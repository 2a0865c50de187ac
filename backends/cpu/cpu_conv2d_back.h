/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_back.h -- launches of the two gradients of a convolution, all operands
 * contiguous. */
#ifndef ASSAY_BACKENDS_CPU_CONV2D_BACK_H
#define ASSAY_BACKENDS_CPU_CONV2D_BACK_H

#include "backends/cpu/cpu_conv2d.h"

/* x, filter and y of `g` are what the op reads or writes by these names, y the gradient. */
static inline void cpu_conv2d_back_read(const assay_launch *launch, int x, int filter, int y,
                                        cpu_conv2d *g)
{
    assay_launch forward = *launch; /* the parameters are those of conv2d in its order */
    const assay_tensor operands[] = {launch->operands[x], launch->operands[filter],
                                     launch->operands[y]};

    forward.operands = operands;
    cpu_conv2d_read(&forward, g);
}

#endif
