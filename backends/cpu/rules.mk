# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
PLUGINS += cpu
cpu_RUNTIME_SRCS := $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)
# More than a hundred tiles: these three questions about pointers take the compiler a minute there.
ifneq ($(SAN),)
CFLAGS_backends/cpu/cpu_matmul_small_avx2.c := -fno-sanitize=alignment,null,pointer-overflow
CFLAGS_backends/cpu/cpu_matmul_small_avx512.c := -fno-sanitize=alignment,null,pointer-overflow
endif
