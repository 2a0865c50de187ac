/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/memfd.c -- sealed memory files, handed to workers as descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/error.h"
#include "support/file.h"

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static int put_bytes(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        data += put;
        size -= (size_t)put;
    }
    return fcntl(fd, F_ADD_SEALS, ALL_SEALS);
}

assay_status assay__memfd_sealed(const char *name, const void *data, size_t size, int *fd)
{
    int made = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (made < 0)
        return assay__file_fail("cannot create the memory file", name, errno);
    if (put_bytes(made, data, size) != 0) {
        const int error = errno;
        (void)close(made);
        return assay__file_fail("cannot fill the memory file", name, error);
    }
    *fd = made;
    return ASSAY_OK;
}

assay_status assay__memfd_map(int fd, const void **data, size_t *size)
{
    struct stat info;
    const int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || (seals & ALL_SEALS) != ALL_SEALS)
        return assay__fail(ASSAY_INVALID, "descriptor %d is no sealed memory file", fd);
    if (fstat(fd, &info) != 0)
        return assay__file_fail("cannot inspect", "the memory file", errno);
    const size_t bytes = (size_t)info.st_size;
    const void *at = NULL;
    if (bytes > 0) {
        at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            return assay__file_fail("cannot map", "the memory file", errno);
    }
    *data = at;
    *size = bytes;
    return ASSAY_OK;
}
