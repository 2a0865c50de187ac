/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_images.c -- the embedded .cu files: fatbins of nvcc and flattened texts.
 *
 * By the assembler, not as arrays in C: a megabyte of those takes the compiler seconds. */
#include "backends/cuda/cuda_images.h"

#include "gen/cuda_image_sizes.h"

#define EMBED(stem)                                 \
    __asm__(".pushsection .rodata,\"a\"\n"          \
            ".balign 16\n"                          \
            ".hidden cuda_bytes_" #stem "\n"        \
            ".globl cuda_bytes_" #stem "\n"         \
            "cuda_bytes_" #stem ":\n"               \
            ".incbin \"cuda_" #stem ".fatbin\"\n"   \
            ".hidden cuda_text_" #stem "\n"         \
            ".globl cuda_text_" #stem "\n"          \
            "cuda_text_" #stem ":\n"                \
            ".incbin \"cuda_" #stem ".text\"\n"     \
            ".byte 0\n"                             \
            ".popsection\n");                       \
    extern const unsigned char cuda_bytes_##stem[]; \
    extern const char cuda_text_##stem[];           \
    const cuda_image cuda_image_##stem = {          \
        .name = "cuda_" #stem ".cu",                \
        .bytes = cuda_bytes_##stem,                 \
        .size = CUDA_IMAGE_SIZE_##stem,             \
    };                                              \
    const cuda_source cuda_source_##stem = {        \
        .name = "cuda_" #stem ".cu",                \
        .text = cuda_text_##stem,                   \
    };

CUDA_FILES(EMBED)
