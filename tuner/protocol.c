/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/protocol.c -- framing, JSON bodies and descriptor passing. */
#include "tuner/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/error.h"

#define MAGIC 0x59415341u /* "ASAY" */

typedef struct header {
    uint32_t magic, version, length, fd_count;
    uint64_t token;
} header;

typedef union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * ASSAY__PROTOCOL_FDS)];
} control;

static assay_status send_all(int socket, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(socket, data, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return assay__fail(ASSAY_CRASH, "worker connection: %s", strerror(errno));
        data += sent;
        n -= (size_t)sent;
    }
    return ASSAY_OK;
}

static assay_status send_header(int socket, const header *h, const int *fds)
{
    control c;
    struct iovec iov = {.iov_base = (void *)(uintptr_t)h, .iov_len = sizeof *h};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t sent;

    memset(&c, 0, sizeof c);
    if (h->fd_count > 0) {
        m.msg_control = c.bytes;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * h->fd_count);
        struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
        cm->cmsg_level = SOL_SOCKET;
        cm->cmsg_type = SCM_RIGHTS;
        cm->cmsg_len = CMSG_LEN(sizeof(int) * h->fd_count);
        memcpy(CMSG_DATA(cm), fds, sizeof(int) * h->fd_count);
    }
    do
        sent = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)sizeof *h)
        return assay__fail(ASSAY_CRASH, "worker connection: %s",
                           sent < 0 ? strerror(errno) : "short write");
    return ASSAY_OK;
}

assay_status assay__message_send(int socket, uint64_t token, const json_t *body, const int *fds,
                                 size_t fd_count)
{
    char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(17));
    assay_status status;
    header h = {MAGIC, ASSAY__PROTOCOL_VERSION, 0, (uint32_t)fd_count, token};

    if (text == NULL)
        return assay__fail(ASSAY_NOMEM, "message: cannot be written as JSON");
    if (strlen(text) > ASSAY__PROTOCOL_MAX || fd_count > ASSAY__PROTOCOL_FDS) {
        free(text);
        return assay__fail(ASSAY_INTERNAL, "message: over the protocol's limits");
    }
    h.length = (uint32_t)strlen(text);
    status = send_header(socket, &h, fds);
    if (status == ASSAY_OK)
        status = send_all(socket, text, h.length);
    free(text);
    return status;
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const assay__wait wait_for_ever = {.timeout_ms = -1, .drain_fd = -1};

/* What is left until the deadline (< 0: none); what is excused is asked for only past it. */
static int64_t left_ms(int64_t deadline_ms, const assay__wait *w)
{
    int64_t left = deadline_ms < 0 ? 1000 : deadline_ms - now_ms();

    if (left <= 0 && w->excused_ms != NULL)
        left += w->excused_ms(w->cookie);
    return left;
}

/* Longer than any poll takes beyond what it was given: this process itself was stopped (Ctrl-Z, a
 * frozen container, a paused machine), and what it waits for may have been, too. */
#define PAUSED_MS 1000

/* Waits until the socket is readable or the deadline (< 0: none) has passed.  What is there counts
 * even after it, and a pause of this process does not count against the other side. */
static assay_status wait_readable(int socket, int64_t *deadline_ms, const assay__wait *w)
{
    int drain_fd = w->drain_fd;

    for (;;) {
        struct pollfd p[2] = {{.fd = socket, .events = POLLIN}, {.fd = drain_fd, .events = POLLIN}};
        int64_t begin = now_ms(), left = left_ms(*deadline_ms, w), spent;
        int limit = left < 0 ? 0 : left > 1000 ? 1000 : (int)left;
        int r;

        if (w->stop != NULL && *w->stop)
            return assay__fail(ASSAY_INTERRUPTED, "interrupted");
        r = poll(p, drain_fd >= 0 ? 2 : 1, limit);
        if (r < 0 && errno != EINTR)
            return assay__fail(ASSAY_INTERNAL, "poll: %s", strerror(errno));
        if (r > 0 && drain_fd >= 0 && p[1].revents != 0) {
            ASSAY_TRY(w->drain(w->cookie, drain_fd));
            /* Who has closed its streams would end every poll at once, and take a CPU from what is
             * timed. */
            if ((p[1].revents & (POLLIN | POLLHUP)) == POLLHUP)
                drain_fd = -1;
        }
        if (r > 0 && p[0].revents != 0)
            return ASSAY_OK;
        spent = now_ms() - begin;
        if (spent > limit + PAUSED_MS && *deadline_ms >= 0)
            *deadline_ms += spent;
        else if (left <= 0)
            return assay__fail(ASSAY_TIMEOUT, "no reply within the time limit");
    }
}

static void take_fds(struct msghdr *m, assay__message *out)
{
    for (struct cmsghdr *cm = CMSG_FIRSTHDR(m); cm != NULL; cm = CMSG_NXTHDR(m, cm)) {
        if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(cm) + i * sizeof(int), sizeof(int));
            if (out->fd_count < ASSAY__PROTOCOL_FDS)
                out->fds[out->fd_count++] = fd;
            else
                (void)close(fd); /* more than were announced */
        }
    }
}

static assay_status receive_bytes(int socket, char *data, size_t n, int64_t *deadline,
                                  const assay__wait *w, assay__message *out)
{
    while (n > 0) {
        control c;
        struct iovec iov = {.iov_base = data, .iov_len = n};
        struct msghdr m = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = c.bytes,
                           .msg_controllen = sizeof c.bytes};
        ssize_t got;

        ASSAY_TRY(wait_readable(socket, deadline, w));
        got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return assay__fail(ASSAY_CRASH, "the worker ended without a reply");
        take_fds(&m, out);
        data += got;
        n -= (size_t)got;
    }
    return ASSAY_OK;
}

static assay_status receive_body(int socket, const header *h, int64_t *deadline,
                                 const assay__wait *w, assay__message *out)
{
    char *text = malloc((size_t)h->length + 1);
    json_error_t error;
    assay_status status;

    if (text == NULL)
        return assay__fail(ASSAY_NOMEM, "message of %u bytes", h->length);
    status = receive_bytes(socket, text, h->length, deadline, w, out);
    if (status == ASSAY_OK) {
        out->body = json_loadb(text, h->length, 0, &error);
        if (out->body == NULL)
            status = assay__fail(ASSAY_INTERNAL, "message: %s", error.text);
    }
    free(text);
    return status;
}

assay_status assay__message_receive(int socket, const assay__wait *wait, assay__message *out)
{
    const assay__wait *w = wait != NULL ? wait : &wait_for_ever;
    int64_t deadline = w->timeout_ms < 0 ? -1 : now_ms() + w->timeout_ms;
    assay__message m;
    header h;
    assay_status status;

    memset(&m, 0, sizeof m);
    status = receive_bytes(socket, (char *)&h, sizeof h, &deadline, w, &m);
    if (status == ASSAY_OK && (h.magic != MAGIC || h.version != ASSAY__PROTOCOL_VERSION ||
                               h.length > ASSAY__PROTOCOL_MAX))
        status = assay__fail(ASSAY_INTERNAL, "message of a foreign or newer worker");
    if (status == ASSAY_OK)
        status = receive_body(socket, &h, &deadline, w, &m);
    if (status != ASSAY_OK) {
        assay__message_clear(&m);
        return status;
    }
    m.token = h.token;
    *out = m;
    return ASSAY_OK;
}

void assay__message_clear(assay__message *m)
{
    for (size_t i = 0; i < m->fd_count; i++)
        if (m->fds[i] >= 0)
            close(m->fds[i]);
    if (m->body != NULL)
        json_decref(m->body);
    memset(m, 0, sizeof *m);
}
