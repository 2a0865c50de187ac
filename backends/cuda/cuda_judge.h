/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_judge.h -- outputs judged on the device: slot judge. */
#ifndef BACKENDS_CUDA_CUDA_JUDGE_H
#define BACKENDS_CUDA_CUDA_JUDGE_H

#include "assay/plugin.h"

assay_status cuda_judge(assay_instance *instance, assay_judge *judge);

#endif
