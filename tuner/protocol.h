/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/protocol.h -- messages between the parent and its workers.
 *
 * A message is a fixed header, a JSON body and up to four descriptors (SCM_RIGHTS), over a Unix
 * stream socket on a descriptor >= 3.  Every request carries a token that its reply repeats: an end
 * of file without the reply is a crash of whatever the request asked for. */
#ifndef ASSAY_TUNER_PROTOCOL_H
#define ASSAY_TUNER_PROTOCOL_H

#include "support/json.h"
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

#define ASSAY__PROTOCOL_VERSION 1u
#define ASSAY__PROTOCOL_FDS     5
#define ASSAY__PROTOCOL_MAX     (8u << 20) /* bytes of a body */

typedef struct assay__message {
    uint64_t token;
    json_t *body; /* owned */
    int fds[ASSAY__PROTOCOL_FDS];
    size_t fd_count; /* owned: the receiver closes them */
} assay__message;

/* Sends one message; body is borrowed.  ASSAY_CRASH when the peer is gone. */
assay_status assay__message_send(int socket, uint64_t token, const json_t *body, const int *fds,
                                 size_t fd_count);

/* What else to watch while waiting; all optional. */
typedef struct assay__wait {
    int timeout_ms;                              /* < 0: for ever */
    const volatile int *stop;                    /* nonzero: give up with ASSAY_INTERRUPTED */
    int drain_fd;                                /* < 0: none; readable: drain() is to read it */
    assay_status (*drain)(void *cookie, int fd); /* a failure ends the wait */
    int64_t (*excused_ms)(void *cookie); /* what does not count against timeout_ms; NULL: nothing */
    void *cookie;
} assay__wait;

/* Receives one message; wait NULL: for ever.  ASSAY_TIMEOUT; ASSAY_CRASH on an end of file;
 * ASSAY_INTERNAL for a foreign or newer message; ASSAY_INTERRUPTED. */
assay_status assay__message_receive(int socket, const assay__wait *wait, assay__message *out);
/* Frees the body and closes the descriptors that are still in fds. */
void assay__message_clear(assay__message *m);

#endif
