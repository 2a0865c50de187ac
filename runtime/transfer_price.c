/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/transfer_price.c -- see transfer_price.h. */
#include "runtime/transfer_price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const path_names[ASSAY_PATH_COUNT] = {[ASSAY_PATH_SAME] = "same",
                                                         [ASSAY_PATH_SHARED] = "shared",
                                                         [ASSAY_PATH_PEER] = "peer",
                                                         [ASSAY_PATH_COPY] = "copy",
                                                         [ASSAY_PATH_STAGING] = "staging"};

void assay__memory_seen_from(const char *memory, const char *own, const char *of,
                             char out[ASSAY__MEMORY_MAX])
{
    if (strcmp(own, of) == 0)
        (void)snprintf(out, ASSAY__MEMORY_MAX, "%s", memory);
    else
        (void)snprintf(out, ASSAY__MEMORY_MAX, "%.40s@%.16s", memory, own);
}

const char *assay__transfer_path_name(assay_path path)
{
    return path_names[path];
}

bool assay__transfer_path(const char *target, assay_path *out)
{
    const char *name = strrchr(target, '/');

    for (int i = 0; name != NULL && i < (int)ASSAY_PATH_COUNT; i++)
        if (strcmp(name + 1, path_names[i]) == 0) {
            *out = (assay_path)i;
            return true;
        }
    return false;
}

bool assay__transfer_is_sound(const assay__transfer_point *p)
{
    return p->bytes > 0 && p->bytes < 0x1p63 && p->lo_ns >= 0 && p->lo_ns <= p->median_ns &&
           p->median_ns <= p->hi_ns && p->hi_ns < 0x1p63;
}

static double figure(const assay__transfer_point *p, int which)
{
    return which == 0 ? p->median_ns : which == 1 ? p->lo_ns : p->hi_ns;
}

/* Of one figure, with `at` points below or at `bytes`. */
static double price(const assay__transfer_point *points, size_t count, size_t at, double bytes,
                    int which)
{
    double before = 0, here = figure(&points[0], which), next;

    for (size_t i = 1; i < at; i++) {
        before = here;
        here = fmax(here, figure(&points[i], which));
    }
    if (at == 0)
        return here;
    const double beyond = bytes - points[at - 1].bytes;
    if (at < count) {
        next = fmax(here, figure(&points[at], which));
        return here + (next - here) * beyond / (points[at].bytes - points[at - 1].bytes);
    }
    const double rise = at > 1 ? here - before : 0;
    return here + beyond * (rise > 0 ? rise / (points[at - 1].bytes - points[at - 2].bytes)
                                     : here / points[at - 1].bytes);
}

bool assay__transfer_price(const assay__transfer_point *points, size_t count, double bytes,
                           double out[3])
{
    double found[3] = {0, 0, 0};
    size_t at = 0;

    if (count == 0 || !(bytes >= 0))
        return false;
    while (at < count && points[at].bytes <= bytes)
        at++;
    for (int which = 0; which < 3 && bytes > 0; which++)
        found[which] = price(points, count, at, bytes, which);
    found[1] = fmin(found[1], found[0]); /* lines that go on beyond the last may cross */
    found[2] = fmax(found[2], found[0]);
    memcpy(out, found, sizeof found);
    return true;
}
