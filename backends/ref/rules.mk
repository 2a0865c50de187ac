# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
PLUGINS += ref
ref_CFLAGS := -fopenmp
ref_LIBS := -fopenmp -lmvec $(call pkg,--libs,mpfr) -lgmp
ref_RUNTIME_SRCS := $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)
