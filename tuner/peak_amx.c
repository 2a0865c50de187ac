/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_amx.c -- peaks of the tile unit: bf16 and 8-bit products.
 *
 * Linux gives the tile registers only to a process that asks; a library of the worker may have
 * asked before, and asking twice does no harm. */
#include "tuner/peak_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REQUEST_PERMISSION 0x1023 /* ARCH_REQ_XCOMP_PERM */
#define TILE_DATA          18     /* XFEATURE_XTILEDATA */
#define ROWS               16
#define ROW_BYTES          64
#define CHAINS             6 /* latency 52 at one in 16 cycles: four would do */

static bool permitted(void)
{
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

/* All eight tiles 16 rows of 64 bytes; tiles 6 and 7 are the factors. */
static void configure(void)
{
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config __attribute__((aligned(64)));
    char data[ROWS * ROW_BYTES] __attribute__((aligned(64)));

    memset(&config, 0, sizeof config);
    config.palette = 1;
    for (int i = 0; i < 8; i++) {
        config.row_bytes[i] = ROW_BYTES;
        config.rows[i] = ROWS;
    }
    memset(data, 0x3c, sizeof data);
    /* The intrinsics of some compilers do not say that they read memory. */
    __asm__ volatile("" : : "r"(&config), "r"(data) : "memory");
    _tile_loadconfig(&config);
    _tile_loadd(6, data, ROW_BYTES);
    _tile_loadd(7, data, ROW_BYTES);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
}

static void leave(void)
{
    float out[ROWS * ROW_BYTES / 4] __attribute__((aligned(64)));

    _tile_stored(0, out, ROW_BYTES);
    __asm__ volatile("" : : "r"(out) : "memory");
    _tile_release();
    assay__peak_sink = (double)out[0];
}

static void tile_bf16(uint64_t units, void *to, const void *from, size_t bytes)
{
    (void)to;
    (void)from;
    (void)bytes;
    configure();
    for (uint64_t u = 0; u < units; u++) {
        _tile_dpbf16ps(0, 6, 7);
        _tile_dpbf16ps(1, 6, 7);
        _tile_dpbf16ps(2, 6, 7);
        _tile_dpbf16ps(3, 6, 7);
        _tile_dpbf16ps(4, 6, 7);
        _tile_dpbf16ps(5, 6, 7);
    }
    leave();
}

static void tile_i8(uint64_t units, void *to, const void *from, size_t bytes)
{
    (void)to;
    (void)from;
    (void)bytes;
    configure();
    for (uint64_t u = 0; u < units; u++) {
        _tile_dpbssd(0, 6, 7);
        _tile_dpbssd(1, 6, 7);
        _tile_dpbssd(2, 6, 7);
        _tile_dpbssd(3, 6, 7);
        _tile_dpbssd(4, 6, 7);
        _tile_dpbssd(5, 6, 7);
    }
    leave();
}

const assay__peak_kernel assay__peak_amx[] = {
    {"tile_bf16_amx", ASSAY__PEAK_FLOPS, 2.0 * 16 * 16 * 32 * CHAINS, "amx_tile,amx_bf16",
     permitted, tile_bf16},
    {"tile_i8_amx", ASSAY__PEAK_FLOPS, 2.0 * 16 * 16 * 64 * CHAINS, "amx_tile,amx_int8", permitted,
     tile_i8},
    {.name = NULL},
};
#else
const assay__peak_kernel assay__peak_amx[] = {{.name = NULL}};
#endif
