/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/elf_id.c -- build-id and SONAME from program headers, in memory or in a file.
 *
 * Both ways use one parser over a reader of virtual addresses, so that they cannot disagree. */
#include "runtime/elf_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/error.h"

#define MAX_HEADERS 256

typedef struct image {
    int fd;                     /* -1: in memory at `base` */
    uintptr_t base;             /* what the loader added to addresses */
    const ElfW(Phdr) * headers; /* borrowed */
    size_t header_count;
} image;

static bool read_all_at(int fd, uint64_t offset, void *buf, size_t length)
{
    uint8_t *at = buf;

    if (offset > INT64_MAX - length)
        return false;
    while (length > 0) {
        ssize_t got = pread(fd, at, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        offset += (uint64_t)got;
        length -= (size_t)got;
    }
    return true;
}

/* Bytes of a loadable segment that follow `address`; 0: it lies in none.  *segment: that one. */
static size_t segment_room(const image *i, ElfW(Addr) address, const ElfW(Phdr) * *segment)
{
    for (size_t k = 0; k < i->header_count; k++) {
        const ElfW(Phdr) *h = &i->headers[k];
        if (h->p_type != PT_LOAD || address < h->p_vaddr || address - h->p_vaddr >= h->p_filesz)
            continue;
        *segment = h;
        return h->p_filesz - (address - h->p_vaddr);
    }
    return 0;
}

/* Reads up to `length` bytes at a link-time address; false when not all of `least` are there. */
static bool read_address(const image *i, ElfW(Addr) address, void *buf, size_t length, size_t least)
{
    const ElfW(Phdr) *segment = NULL;
    size_t room = segment_room(i, address, &segment);

    if (room < least || segment == NULL)
        return false;
    if (room < length) {
        memset((uint8_t *)buf + room, 0, length - room);
        length = room;
    }
    if (i->fd >= 0)
        return read_all_at(i->fd, segment->p_offset + (address - segment->p_vaddr), buf, length);
    memcpy(buf, (const void *)(i->base + address), length);
    return true;
}

/* ---- build-id -------------------------------------------------------------------------------- */

static void format_hex(const uint8_t *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static size_t round_up(size_t value, size_t align)
{
    return (value + align - 1) / align * align;
}

/* One PT_NOTE segment, already read. */
static void scan_notes(const uint8_t *notes, size_t length, size_t align, assay__elf_id *id)
{
    ElfW(Nhdr) head;

    for (size_t at = 0; length - at >= sizeof head && at < length;) {
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        size_t name = round_up(head.n_namesz, align);
        size_t desc = round_up(head.n_descsz, align);
        if (name > length - at || head.n_descsz > length - at - name)
            return;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(notes + at, "GNU", 4) == 0 && head.n_descsz > 0 &&
            2 * (size_t)head.n_descsz < sizeof id->build_id) {
            format_hex(notes + at + name, head.n_descsz, id->build_id);
            return;
        }
        if (desc > length - at - name)
            return;
        at += name + desc;
    }
}

static void find_build_id(const image *i, assay__elf_id *id)
{
    uint8_t notes[4096];

    for (size_t k = 0; k < i->header_count && id->build_id[0] == '\0'; k++) {
        const ElfW(Phdr) *h = &i->headers[k];
        /* Longer ones hold other things than a build-id (20 bytes as a rule). */
        if (h->p_type == PT_NOTE && h->p_filesz <= sizeof notes &&
            read_address(i, h->p_vaddr, notes, h->p_filesz, h->p_filesz))
            scan_notes(notes, h->p_filesz, h->p_align == 8 ? 8 : 4, id);
    }
}

/* ---- SONAME ---------------------------------------------------------------------------------- */

/* The entries of the dynamic section; the loader may already have added the base to DT_STRTAB. */
static bool find_dynamic(const image *i, const ElfW(Phdr) * h, ElfW(Addr) * strings, size_t *soname)
{
    bool has_strings = false, has_soname = false;

    for (size_t at = 0; at + sizeof(ElfW(Dyn)) <= h->p_filesz; at += sizeof(ElfW(Dyn))) {
        ElfW(Dyn) entry;
        if (!read_address(i, h->p_vaddr + at, &entry, sizeof entry, sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB) {
            bool moved = i->fd < 0 && entry.d_un.d_ptr >= i->base;
            *strings = entry.d_un.d_ptr - (moved ? i->base : 0);
            has_strings = true;
        } else if (entry.d_tag == DT_SONAME) {
            *soname = entry.d_un.d_val;
            has_soname = true;
        }
    }
    return has_strings && has_soname;
}

static void find_soname(const image *i, assay__elf_id *id)
{
    ElfW(Addr) strings = 0;
    size_t soname = 0;

    for (size_t k = 0; k < i->header_count; k++) {
        if (i->headers[k].p_type != PT_DYNAMIC ||
            !find_dynamic(i, &i->headers[k], &strings, &soname))
            continue;
        if (!read_address(i, strings + soname, id->soname, sizeof id->soname, 1) ||
            memchr(id->soname, '\0', sizeof id->soname) == NULL)
            id->soname[0] = '\0';
        return;
    }
}

static assay__elf_id identify(const image *i)
{
    assay__elf_id id = {"", ""};

    find_build_id(i, &id);
    find_soname(i, &id);
    /* Bytes after the name came with it; equal identities shall be equal in memory. */
    size_t used = strlen(id.soname);
    memset(id.soname + used, 0, sizeof id.soname - used);
    return id;
}

/* ---- loaded objects -------------------------------------------------------------------------- */

typedef struct search {
    const void *address; /* or NULL: by name */
    const char *name;
    assay__elf_id id;
} search;

static bool contains(const struct dl_phdr_info *info, const void *address)
{
    uintptr_t at = (uintptr_t)address - info->dlpi_addr;

    for (size_t k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[k];
        if (h->p_type == PT_LOAD && at >= h->p_vaddr && at - h->p_vaddr < h->p_memsz)
            return true;
    }
    return false;
}

static bool file_name_is(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return strcmp(slash == NULL ? path : slash + 1, name) == 0;
}

/* 1 ends the walk: found. */
static int visit(struct dl_phdr_info *info, size_t size, void *cookie)
{
    search *s = cookie;
    image i = {-1, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum};

    (void)size;
    if (s->address != NULL && !contains(info, s->address))
        return 0;
    s->id = identify(&i);
    return s->address != NULL || strcmp(s->id.soname, s->name) == 0 ||
           file_name_is(info->dlpi_name, s->name);
}

assay_status assay__elf_id_of_address(const void *address, assay__elf_id *out)
{
    search s = {.address = address};

    if (address == NULL || dl_iterate_phdr(visit, &s) == 0)
        return assay__fail(ASSAY_NOTFOUND, "address %p lies in no loaded object", address);
    *out = s.id;
    return ASSAY_OK;
}

const char *assay__elf_file_of_address(const void *address)
{
    union {
        const void *given;
        void *asked; /* the loader's interface has no const */
    } at = {address};
    struct dl_find_object found;

    if (address == NULL || _dl_find_object(at.asked, &found) != 0)
        return NULL;
    return found.dlfo_link_map->l_name;
}

assay_status assay__elf_id_of_loaded(const char *soname, assay__elf_id *out)
{
    search s = {.name = soname};

    if (soname == NULL || soname[0] == '\0' || dl_iterate_phdr(visit, &s) == 0)
        return assay__fail(ASSAY_NOTFOUND, "%s is not loaded", soname == NULL ? "(null)" : soname);
    *out = s.id;
    return ASSAY_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static assay_status identify_file(const char *path, int fd, assay__elf_id *out)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) headers[MAX_HEADERS];
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

    if (!read_all_at(fd, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != class)
        return assay__fail(ASSAY_PARSE, "%s: no ELF object of this machine's class", path);
    if (head.e_phnum == 0 || head.e_phnum > MAX_HEADERS || head.e_phentsize != sizeof *headers ||
        !read_all_at(fd, head.e_phoff, headers, head.e_phnum * sizeof *headers))
        return assay__fail(ASSAY_PARSE, "%s: ELF program headers are damaged", path);
    image i = {fd, 0, headers, head.e_phnum};
    *out = identify(&i);
    return ASSAY_OK;
}

assay_status assay__elf_id_of_file(const char *path, assay__elf_id *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO has no writer to wait for */

    if (fd < 0)
        return assay__fail(ASSAY_IO, "%s: %s", path, strerror(errno));
    assay_status status = identify_file(path, fd, out);
    (void)close(fd);
    return status;
}
