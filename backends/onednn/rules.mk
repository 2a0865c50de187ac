# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
PLUGINS += onednn
onednn_RUNTIME_SRCS := $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)
