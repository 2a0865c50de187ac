# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Debian has archives only. What decides speed and bits is their code, so its hash is among the flags
# and thereby in the revision; --exclude-libs hides its 377 symbols, sgemm_ among them.
PLUGINS += libxsmm
libxsmm_RUNTIME_SRCS := $(PLUGIN_RUNTIME_SRCS) $(HOST_RUNTIME_SRCS)
libxsmm_archive := $(wildcard $(addsuffix /libxsmm.a,/usr/lib /usr/lib/x86_64-linux-gnu /usr/local/lib))
ifneq ($(and $(libxsmm_archive),$(call pkg,--libs,libxsmm libxsmmnoblas)),)
libxsmm_CFLAGS := -DASSAY_LIBXSMM_ID=\"sha256:$(shell sha256sum $(firstword $(libxsmm_archive)) | cut -c -40)\"
libxsmm_LIBS := -Wl,--exclude-libs,ALL -l:libxsmm.a -l:libxsmmnoblas.a -lpthread -lrt
endif
