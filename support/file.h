/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/file.h -- whole files, atomic writes, folders, sealed memory files.
 *
 * Every failure is ASSAY_IO with the path and the system's reason in the text (a full disk,
 * no permission and a read-only file system each get their own remedy), unless said otherwise. */
#ifndef ASSAY_SUPPORT_FILE_H
#define ASSAY_SUPPORT_FILE_H

#include <stddef.h>

#include "assay/status.h"

/* Records "what path: reason; remedy" for an errno value and returns ASSAY_IO. */
assay_status assay__file_fail(const char *what, const char *path, int error);

/* Reads a whole file; "-" is standard input. `data` gets a NUL behind its `size` bytes and is
 * freed by the caller. ASSAY_IO; ASSAY_OVERFLOW when there are more than `max_bytes` bytes. */
assay_status assay__file_read(const char *path, size_t max_bytes, char **data, size_t *size);

/* Puts the bytes into `path` so that a reader sees the old file or the whole new one, also after
 * a crash: temporary file beside it, fsync, rename, fsync of the folder. A link is followed. What
 * is no regular file (a pipe, /dev/stdout) is written straight. */
assay_status assay__file_write(const char *path, const void *data, size_t size);

/* mkdir -p; an existing folder is fine. */
assay_status assay__file_make_folders(const char *path);

/* A sealed memory file (no write, grow or shrink ever after) holding a copy of the bytes,
 * close-on-exec; the caller closes it. `name` shows in /proc/PID/fd only. */
assay_status assay__memfd_sealed(const char *name, const void *data, size_t size, int *fd);

/* Maps a memory file read-only after checking that it is sealed; unmap with munmap(*data, *size).
 * An empty one maps to NULL with size 0. ASSAY_INVALID when a seal is missing. */
assay_status assay__memfd_map(int fd, const void **data, size_t *size);

#endif
