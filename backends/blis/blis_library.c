/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/blis/blis_library.c -- where BLIS is found and what is taken from it. */
#include "backends/blis/blis_calls.h"

#include <stdio.h>

#include "runtime/host_opened.h"

static blis_library library;

static const char *const places[] = {
    "/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so.4",
    "/usr/lib/x86_64-linux-gnu/blis-pthread/libblis.so.4",
    "/usr/lib/x86_64-linux-gnu/blis-serial/libblis.so.4",
    "libblis.so.4",
    NULL,
};

#define TAKE(name, field)                   \
    {                                       \
        name, offsetof(blis_library, field) \
    }
static const assay__opened_symbol symbols[] = {
    TAKE("bli_sgemm", sgemm),
    TAKE("bli_dgemm", dgemm),
    TAKE("bli_thread_set_num_threads", set_threads),
    TAKE("bli_thread_get_num_threads", get_threads),
    TAKE("bli_info_get_enable_threading", threading),
    TAKE("bli_info_get_enable_openmp", openmp),
    TAKE("bli_info_get_int_type_size", int_bits),
    TAKE("bli_info_get_version_str", version),
    TAKE("bli_arch_query_id", arch_id),
    TAKE("bli_arch_string", arch_name),
    TAKE("bli_error_checking_level_set", set_error_checking),
};

static const assay__opened_spec spec = {
    .title = "BLIS",
    .variable = "ASSAY_BLIS",
    .package = "libblis4-openmp",
    .places = places,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

static bool settle(char *reason, size_t cap)
{
    if (library.int_bits() != 64) {
        snprintf(reason, cap, "this build counts in %d bits, 64 are needed",
                 (int)library.int_bits());
        return false;
    }
    library.set_error_checking(BLIS_CALLS_NO_ERROR_CHECKING); /* its checks end the process */
    library.set_threads(1);
    if (library.openmp() != 0)
        (void)assay__openmp_take(&library.team); /* without it one thread is all that is sure */
    return true;
}

static assay__opened opened = ASSAY__OPENED(&spec, &library, settle);

const blis_library *blis_open(const char **why)
{
    return assay__opened_get(&opened, why);
}
