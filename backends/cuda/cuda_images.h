/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_images.h -- the .cu files that this plug-in holds, as machine code and as
 * text. */
#ifndef BACKENDS_CUDA_CUDA_IMAGES_H
#define BACKENDS_CUDA_CUDA_IMAGES_H

#include "backends/cuda/cuda.h"

/* X(stem) for each kernels/cuda_<stem>.cu. */
#define CUDA_FILES(X) \
    X(map)            \
    X(cast)           \
    X(fill)           \
    X(softmax)        \
    X(layer_norm)     \
    X(rms_norm)       \
    X(sum)            \
    X(probe)          \
    X(shown)          \
    X(digest)         \
    X(judge)

#define X(stem)                                \
    extern const cuda_image cuda_image_##stem; \
    extern const cuda_source cuda_source_##stem;
CUDA_FILES(X)
#undef X

#endif
