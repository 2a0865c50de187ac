/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/status.h -- status codes and the text that goes with them.
 *
 * Values are stored in databases and printed by tools: append, never renumber.
 * docs/status.md lists the same table with the remedy for each code. */
#ifndef ASSAY_STATUS_H
#define ASSAY_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, value, exit code of the command line, text) */
#define ASSAY_STATUS_MAP(X)                                                     \
    X(OK, 0, 0, "success")                                                      \
    X(INVALID, 1, 2, "argument outside its documented range")                   \
    X(NOMEM, 2, 5, "allocation failed")                                         \
    X(OVERFLOW, 3, 2, "a size or product does not fit its type")                \
    X(FOREIGN, 4, 5, "handle of another instance")                              \
    X(FREED, 5, 5, "handle was freed before")                                   \
    X(PENDING, 6, 5, "handle is in use by work that has not ended")             \
    X(GENERATION, 7, 5, "handle is from before the device was recovered")       \
    X(UNSUPPORTED, 10, 1, "no kernel for this op, dtype or shape")              \
    X(DEVICE, 11, 4, "driver or device error")                                  \
    X(NUMERIC, 12, 1, "result outside the op's bound")                          \
    X(NOISY, 13, 0, "stop rule not met within the budget")                      \
    X(UNAVAILABLE, 14, 4, "backend, device, library or plug-in not available")  \
    X(NOT_INITIALIZED, 15, 4, "used before init or after shutdown")             \
    X(ABI, 16, 4, "plug-in has another ABI version or a broken descriptor")     \
    X(NO_ROUTE, 17, 1, "no admissible kernel for this question")                \
    X(DEVICE_LOST, 18, 4, "device is lost until it is recovered")               \
    X(DB, 20, 3, "store error")                                                 \
    X(NOTFOUND, 21, 1, "no such row")                                           \
    X(DB_MISSING, 22, 3, "store does not exist")                                \
    X(DB_FOREIGN, 23, 3, "file is not an Assay store")                          \
    X(DB_DAMAGED, 24, 3, "store is damaged")                                    \
    X(DB_NEWER, 25, 3, "store was written by a newer version")                  \
    X(DB_LOCKED, 26, 3, "store is locked by another process")                   \
    X(DB_READONLY, 27, 3, "store cannot be written")                            \
    X(DB_FULL, 28, 3, "no space left for the store")                            \
    X(DB_OLDER, 29, 3, "store has an older schema and cannot be migrated here") \
    X(IO, 30, 2, "file cannot be read or written")                              \
    X(PARSE, 31, 2, "malformed input")                                          \
    X(CRASH, 40, 1, "worker ended without a reply")                             \
    X(TIMEOUT, 41, 1, "time limit reached")                                     \
    X(INTERRUPTED, 42, 130, "interrupted by a signal")                          \
    X(WRONG, 43, 1, "kernel gave a wrong result")                               \
    X(STALE, 44, 1, "evidence belongs to another revision or deployment")       \
    X(INTERNAL, 50, 5, "internal error")

typedef enum assay_status {
#define X(name, value, exit_code, text) ASSAY_##name = (value),
    ASSAY_STATUS_MAP(X)
#undef X
} assay_status;

/* Short constant text of a code; never NULL ("unknown status" for a foreign value). */
const char *assay_strerror(assay_status status);

/* Stable name of a code, e.g. "INVALID"; never NULL. */
const char *assay_status_name(assay_status status);

/* Text of the last failure in the calling thread: what was wrong and what to do about it.
 * Valid until the thread's next failing call; "" when nothing failed. */
const char *assay_last_error(void);

/* What belongs to a code besides its text, of the last failure in the calling thread; 0: absent. */
typedef struct assay_error_detail {
    assay_status status;
    uint64_t requested_bytes, available_bytes; /* NOMEM */
    uint64_t generation;                       /* DEVICE_LOST, GENERATION: the device's */
    uint32_t device;                           /* DEVICE_LOST: its number */
    int64_t driver_code;                       /* DEVICE: what the driver said */
} assay_error_detail;
void assay_last_detail(assay_error_detail *out);

/* Might the same call succeed later without a change: NOMEM, PENDING, DEVICE_LOST (after recover),
 * TIMEOUT, DB_LOCKED, INTERRUPTED? */
bool assay_status_is_retryable(assay_status status);
/* Might another kernel or backend do what this one could not: UNSUPPORTED, NO_ROUTE, UNAVAILABLE,
 * DEVICE, DEVICE_LOST, NOMEM? */
bool assay_status_is_routable(assay_status status);

#define ASSAY_TRY(expr)                    \
    do {                                   \
        assay_status try_status_ = (expr); \
        if (try_status_ != ASSAY_OK)       \
            return try_status_;            \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
