# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
PLUGINS += null
# It computes nothing, so it needs no code of the runtime's.
null_RUNTIME_SRCS :=
