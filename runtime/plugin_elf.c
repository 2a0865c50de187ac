/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/plugin_elf.c -- is a file a whole shared object of this machine?
 *
 * The dynamic loader maps what the program headers promise; touching pages that a cut file does
 * not have raises SIGBUS inside dlopen.  So the promises are compared with the size first. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/error.h"
#include "runtime/plugin_set.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE /* not compared */
#endif

static bool read_at(int fd, void *buf, size_t bytes, uint64_t offset)
{
    return pread(fd, buf, bytes, (off_t)offset) == (ssize_t)bytes;
}

static assay_status check_segments(int fd, const ElfW(Ehdr) * header, uint64_t size)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        uint64_t at = header->e_phoff + (uint64_t)i * header->e_phentsize;
        if (header->e_phentsize != sizeof segment || !read_at(fd, &segment, sizeof segment, at) ||
            segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
            return assay__fail(ASSAY_ABI, "is cut off or damaged; install it again");
    }
    return ASSAY_OK;
}

static assay_status check_header(int fd, uint64_t size)
{
    ElfW(Ehdr) header;

    if (size < sizeof header || !read_at(fd, &header, sizeof header, 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return assay__fail(ASSAY_ABI, "is no shared object");
    if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        (OUR_MACHINE != EM_NONE && header.e_machine != OUR_MACHINE))
        return assay__fail(ASSAY_ABI, "is built for another machine");
    if (header.e_type != ET_DYN)
        return assay__fail(ASSAY_ABI, "is no shared object");
    return check_segments(fd, &header, size);
}

assay_status assay__plugin_check_file(const char *path)
{
    struct stat info;
    assay_status status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO has no writer to wait for */

    if (fd < 0)
        return assay__fail(ASSAY_UNAVAILABLE, "cannot be read: %s", strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        status = assay__fail(ASSAY_ABI, "is no regular file");
    else
        status = check_header(fd, (uint64_t)info.st_size);
    close(fd);
    return status;
}
