# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
TOOL_SRCS += $(sort $(wildcard tuner/*.c))

# Loops of the peaks probe: each file with the flags of its instruction set, on x86 alone.
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),)
CFLAGS_tuner/peak_avx2.c        := -mavx2 -mfma
CFLAGS_tuner/peak_avx512.c      := -mavx512f
CFLAGS_tuner/peak_avx512_bf16.c := -mavx512f -mavx512bf16
CFLAGS_tuner/peak_avx512_fp16.c := -mavx512f -mavx512fp16
CFLAGS_tuner/peak_amx.c         := -mamx-tile -mamx-bf16 -mamx-int8
endif
