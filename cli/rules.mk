# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
CLI_SRCS += $(sort $(wildcard cli/*.c))
