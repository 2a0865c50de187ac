# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
TOOL_SRCS += $(sort $(wildcard conform/*.c))
