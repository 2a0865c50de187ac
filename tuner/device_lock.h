/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/device_lock.h -- one measuring process per device and host.
 *
 * flock on a file named by the device: the kernel drops it with its holder, so nothing is left to
 * clean up after a kill.  A file that was removed while somebody waited for it counts for nothing;
 * whoever removes one that is held lets a second process measure.  The file lies where all users of
 * the host can make files, $ASSAY_LOCK_DIR else /run/lock else /tmp, and is open to all of them:
 * the device is shared, so any user can make the others wait.  Services with a private /tmp need
 * ASSAY_LOCK_DIR to see each other. */
#ifndef ASSAY_TUNER_DEVICE_LOCK_H
#define ASSAY_TUNER_DEVICE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* What a device is locked by: backends of different drivers measure the same one and call it as
 * they like, but its UUID is the same in all, after "GPU-" in some; without one by its name. */
void assay__device_lock_name(const char *device, const char *uuid, char *buf, size_t cap);

/* Waits for the device unless `no_wait` (then ASSAY_UNAVAILABLE at once, naming the holder's pid).
 * waiting is called once when somebody else holds it.  ASSAY_INTERRUPTED when *stop. */
assay_status assay__device_lock(const char *device, bool no_wait, const volatile int *stop,
                                void (*waiting)(void *cookie, long holder_pid), void *cookie,
                                int *fd);
void assay__device_unlock(int *fd);

#endif
