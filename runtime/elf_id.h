/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/elf_id.h -- which build of a shared object this is: its GNU build-id and SONAME. */
#ifndef ASSAY_RUNTIME_ELF_ID_H
#define ASSAY_RUNTIME_ELF_ID_H

#include "assay/status.h"

typedef struct assay__elf_id {
    char soname[128];   /* "" absent, as in a main program */
    char build_id[129]; /* lower-case hexadecimal; "" when linked without one */
} assay__elf_id;

/* The loaded object that `address` (a function or datum of it) lies in.  ASSAY_NOTFOUND: none. */
assay_status assay__elf_id_of_address(const void *address, assay__elf_id *out);

/* The loaded object with this SONAME or file name, e.g. "libm.so.6".  ASSAY_NOTFOUND: not loaded.
 */
assay_status assay__elf_id_of_loaded(const char *soname, assay__elf_id *out);

/* The loader's file name of the loaded object that `address` lies in; NULL: none.  Not by dladdr,
 * which looks through all symbols of the object: 1 ms for a large one. */
const char *assay__elf_file_of_address(const void *address);

/* A file that need not be loaded; nothing of it runs.  ASSAY_IO: cannot be read; ASSAY_PARSE: no
 * ELF object of this machine's class, or a damaged one. */
assay_status assay__elf_id_of_file(const char *path, assay__elf_id *out);

#endif
