/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_library.c -- where SLEEF is found and what is taken from it. */
#include "backends/sleef/sleef_calls.h"

#include "runtime/host_opened.h"

static sleef_library library;

static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libsleef.so.3", "libsleef.so.3",
                                     NULL};

#define TAKE(name, field)                    \
    {                                        \
        name, offsetof(sleef_library, field) \
    }
#define TAKE_ALL(stem, bound)                                                                      \
    TAKE("Sleef_" #stem "f8_" bound, stem.f32[0]), TAKE("Sleef_" #stem "f16_" bound, stem.f32[1]), \
        TAKE("Sleef_" #stem "d4_" bound, stem.f64[0]),                                             \
        TAKE("Sleef_" #stem "d8_" bound, stem.f64[1])
static const assay__opened_symbol symbols[] = {TAKE_ALL(exp, "u10"), TAKE_ALL(log, "u10"),
                                               TAKE_ALL(tanh, "u10"), TAKE_ALL(erf, "u10"),
                                               TAKE_ALL(sqrt, "u05")};

static const assay__opened_spec spec = {
    .title = "SLEEF",
    .variable = "ASSAY_SLEEF",
    .package = "libsleef3",
    .places = places,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

static assay__opened opened = ASSAY__OPENED(&spec, &library, NULL);

const sleef_library *sleef_open(const char **why)
{
    return assay__opened_get(&opened, why);
}
