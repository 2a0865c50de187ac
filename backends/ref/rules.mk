# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
PLUGINS += ref
ref_LIBS := $(call pkg,--libs,mpfr) -lgmp
