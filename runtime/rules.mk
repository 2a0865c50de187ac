# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
LIB_SRCS += $(sort $(wildcard runtime/*.c))
