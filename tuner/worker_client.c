/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_client.c -- spawning workers, calling them, learning how they ended. */
#include "tuner/worker_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/error.h"
#include "tuner/protocol.h"
#include "tuner/run_delay.h"

/* A worker that gets no CPU is not hung, but may be hung as well: it is given up after so many
 * times its limit. */
#define MOST_EXCUSED 8

#define LOG_CAP 4096
/* Of its streams in one call.  Who writes more is stopped: a program that runs such a kernel fills
 * its disk, and what is timed is the pipe. */
#define MOST_LOGGED (16u << 20)
#define WORKER_FD   3
#define LOAD_MS     30000

extern char **environ;

struct assay__worker {
    pid_t pid; /* 0: gone */
    int socket, log_fd;
    uint64_t token;
    const volatile int *stop;
    char log[LOG_CAP];
    size_t log_used, logged; /* logged: bytes in the call under way, those forgotten too */
    bool flooded;
    int timeout_ms; /* of the call under way */
    int64_t excused_ms;
    assay__run_delay delay; /* since it began */
    assay__doing *doing;    /* mapped, the worker writes it; NULL: no notes */
    assay__doing *fate;     /* borrowed; NULL: nobody asks */
};

/* Keeps the newest LOG_CAP / 2 .. LOG_CAP bytes. */
static void keep_log(assay__worker *w, const char *bytes, size_t n)
{
    if (w->log_used + n >= LOG_CAP) {
        memmove(w->log, w->log + w->log_used / 2, w->log_used - w->log_used / 2);
        w->log_used -= w->log_used / 2;
    }
    if (w->log_used + n >= LOG_CAP)
        w->log_used = 0;
    memcpy(w->log + w->log_used, bytes, n);
    w->log_used += n;
    w->log[w->log_used] = '\0';
}

/* Who writes as fast as it is read would never let go: so much at a time, then the clock is looked
 * at. */
#define DRAINED_AT_ONCE (256u << 10)

static assay_status drain_log(void *cookie, int fd)
{
    assay__worker *w = cookie;
    char buf[2048];
    ssize_t n;

    for (size_t got = 0; got < DRAINED_AT_ONCE && (n = read(fd, buf, sizeof buf)) > 0;
         got += (size_t)n) {
        keep_log(w, buf, (size_t)n);
        w->logged += (size_t)n;
    }
    w->flooded = w->logged > MOST_LOGGED;
    if (w->flooded)
        return assay__fail(ASSAY_CRASH, "more than %u MiB written", MOST_LOGGED >> 20);
    return ASSAY_OK;
}

/* environ with the settings that must stand before any library of the worker loads: a spinning
 * OpenMP team of one rival would halve the next one. */
static char **worker_environment(void)
{
    static char passive[] = "OMP_WAIT_POLICY=passive";
    size_t n = 0, kept = 0;
    char **env;

    while (environ[n] != NULL)
        n++;
    env = calloc(n + 2, sizeof *env);
    for (size_t i = 0; env != NULL && i < n; i++)
        if (strncmp(environ[i], "OMP_WAIT_POLICY=", 16) != 0)
            env[kept++] = environ[i];
    if (env != NULL)
        env[kept] = passive;
    return env;
}

static int spawn_with(assay__worker *w, const char *program, int theirs, int log_write)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, defaults;
    char name[] = "assay", command[] = "__worker";
    char *argv[] = {name, command, NULL};
    char **env = worker_environment();
    int e;

    if (env == NULL)
        return ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGTERM);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    /* Its own group: Ctrl-C is the parent's business. */
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, log_write, 1);
    posix_spawn_file_actions_adddup2(&actions, log_write, 2);
    posix_spawn_file_actions_adddup2(&actions, theirs, WORKER_FD);
    e = posix_spawn(&w->pid, program, &actions, &attr, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    free(env);
    return e;
}

/* A descriptor >= 10, so that dup2 onto 3 never meets itself (it would keep close-on-exec). */
static int move_high(int fd)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);

    if (fd >= 0)
        close(fd);
    return high;
}

static assay_status start_process(assay__worker *w, const char *program)
{
    int pair[2] = {-1, -1}, log_pipe[2] = {-1, -1};
    int e = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        pipe2(log_pipe, O_CLOEXEC) != 0)
        e = errno;
    pair[0] = move_high(pair[0]);
    pair[1] = move_high(pair[1]);
    log_pipe[0] = move_high(log_pipe[0]);
    log_pipe[1] = move_high(log_pipe[1]);
    if (e == 0 && (pair[0] < 0 || pair[1] < 0 || log_pipe[0] < 0 || log_pipe[1] < 0))
        e = EMFILE;
    if (e == 0) {
        (void)fcntl(log_pipe[0], F_SETFL, O_NONBLOCK);
        e = spawn_with(w, program, pair[1], log_pipe[1]);
    }
    if (pair[1] >= 0)
        close(pair[1]);
    if (log_pipe[1] >= 0)
        close(log_pipe[1]);
    w->socket = pair[0];
    w->log_fd = log_pipe[0];
    if (e != 0)
        return assay__fail(ASSAY_INTERNAL, "cannot start a worker (%s): %s", program, strerror(e));
    return ASSAY_OK;
}

/* Memory that both sides see; without it a crash is told without its place. */
static int make_note(assay__worker *w)
{
    int fd = memfd_create("assay-doing", MFD_CLOEXEC);
    void *map = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof *w->doing) == 0)
        map = mmap(NULL, sizeof *w->doing, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
        w->doing = map;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static json_t *refusals(const assay__worker_options *o)
{
    json_t *list = json_array();

    for (size_t i = 0; i < o->refused_count; i++)
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "path", o->refused[i].path,
                                                    "reason", o->refused[i].reason));
    return list;
}

static assay_status greet(assay__worker *w, const assay__worker_options *o)
{
    json_t *reply = NULL;
    int note = make_note(w);
    json_t *hello = json_pack("{s:s, s:s*, s:s*, s:o}", "cmd", "hello", "plugin_path",
                              o->plugin_path, "backends", o->backends, "refused", refusals(o));
    assay_status status = assay__worker_call(w, hello, &note, note >= 0 ? 1 : 0,
                                             o->load_ms > 0 ? o->load_ms : LOAD_MS, &reply);

    json_decref(reply);
    if (note >= 0)
        close(note);
    return status;
}

assay_status assay__worker_start(const assay__worker_options *options, assay__worker **out)
{
    assay__worker *w = calloc(1, sizeof *w);
    assay_status status;

    if (w == NULL)
        return assay__fail(ASSAY_NOMEM, "worker");
    w->socket = w->log_fd = -1;
    w->stop = options->stop;
    w->fate = options->fate;
    status = start_process(w, options->program != NULL ? options->program : "/proc/self/exe");
    if (status == ASSAY_OK)
        status = greet(w, options);
    if (status != ASSAY_OK) {
        assay__worker_stop(&w);
        return status;
    }
    *out = w;
    return ASSAY_OK;
}

static void describe_end(int wstatus, char *buf, size_t cap)
{
    if (WIFSIGNALED(wstatus)) /* ours come from call_failed, which says why */
        (void)snprintf(
            buf, cap, "signal %d (%s)%s", WTERMSIG(wstatus), strsignal(WTERMSIG(wstatus)),
            WTERMSIG(wstatus) == SIGKILL ? ", as when the machine is out of memory" : "");
    else
        (void)snprintf(buf, cap, "exit %d without a reply", WEXITSTATUS(wstatus));
}

/* A process inside a call of a driver that does not return outlives SIGKILL, and whoever waits for
 * it. */
#define MOST_DYING_MS 30000

static bool has_ended(pid_t pid)
{
    struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int r;

    if (p.fd < 0)
        return true; /* an older kernel: there is no way but to wait */
    while ((r = poll(&p, 1, MOST_DYING_MS)) < 0 && errno == EINTR)
        ;
    close(p.fd);
    return r != 0;
}

/* Kills if asked, reaps, closes; the description goes to buf. */
static void finish(assay__worker *w, bool kill_it, char *buf, size_t cap)
{
    int wstatus = 0;

    if (w->pid > 0) {
        if (kill_it)
            (void)kill(-w->pid, SIGKILL);
        if (has_ended(w->pid)) {
            while (waitpid(w->pid, &wstatus, 0) < 0 && errno == EINTR)
                ;
            describe_end(wstatus, buf, cap);
        } else {
            (void)snprintf(buf, cap, "it cannot be killed, and was left behind");
        }
        (void)kill(-w->pid, SIGKILL); /* children it may have left in its group */
    }
    w->pid = 0;
    if (w->log_fd >= 0)
        (void)drain_log(w, w->log_fd);
}

/* A worker whose socket closed may still be on its way out: give it a moment, then kill it. */
static void reap_crashed(assay__worker *w, char *buf, size_t cap)
{
    for (int i = 0; i < 200; i++) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        if (waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0) {
            finish(w, false, buf, cap);
            return;
        }
        usleep(5000);
    }
    finish(w, true, buf, cap);
    (void)snprintf(buf, cap, "it closed its connection and went on, killed");
}

/* "; it wrote: ..." with the last line that the worker wrote, as far as it can be printed; "" when
 * it wrote nothing. */
static void last_words(const assay__worker *w, char *buf, size_t cap)
{
    size_t end = w->log_used, begin;

    buf[0] = '\0';
    while (end > 0 && (unsigned char)w->log[end - 1] <= ' ')
        end--;
    begin = end;
    while (begin > 0 && w->log[begin - 1] != '\n')
        begin--;
    if (end == begin)
        return;
    (void)snprintf(buf, cap, "; it wrote: %.*s", end - begin > 100 ? 100 : (int)(end - begin),
                   w->log + begin);
    for (; *buf != '\0'; buf++)
        if (*buf < ' ' || *buf > '~')
            *buf = '?';
}

/* " at address ..." and " while ..." of a worker that is gone; "" when nothing is noted. */
static void last_place(assay__worker *w, char *buf, size_t cap)
{
    char fault[64], place[600];

    buf[0] = '\0';
    if (w->doing == NULL)
        return;
    assay__doing_fault_text(w->doing, fault, sizeof fault);
    assay__doing_text(w->doing, place, sizeof place);
    (void)snprintf(buf, cap, "%s%s%s%s", fault[0] != '\0' ? " " : "", fault,
                   place[0] != '\0' ? " " : "", place);
    if (w->fate != NULL)
        memcpy(w->fate, w->doing, sizeof *w->fate);
}

static assay_status call_failed(assay__worker *w, assay_status status)
{
    char end[128] = "", words[128], place[700] = "";

    switch (status) {
    case ASSAY_CRASH:
        if (w->flooded) {
            finish(w, true, end, sizeof end);
            last_words(w, words, sizeof words);
            return assay__fail(ASSAY_CRASH,
                               "it wrote more than %u MiB to standard output and error: killed%s",
                               MOST_LOGGED >> 20, words);
        }
        reap_crashed(w, end, sizeof end);
        last_words(w, words, sizeof words);
        last_place(w, place, sizeof place);
        return assay__fail(ASSAY_CRASH, "the worker ended: %s%s%s", end, place, words);
    case ASSAY_TIMEOUT:
        finish(w, true, end, sizeof end);
        last_words(w, words, sizeof words);
        last_place(w, place, sizeof place);
        if (w->excused_ms > 0)
            return assay__fail(
                ASSAY_TIMEOUT,
                "no reply within %d ms and %lld ms that it waited for a CPU: killed%s%s",
                w->timeout_ms, (long long)w->excused_ms, place, words);
        return assay__fail(ASSAY_TIMEOUT, "no reply within %d ms: killed%s%s", w->timeout_ms, place,
                           words);
    case ASSAY_INTERNAL: /* the same program is on the other side: a kernel has written there */
        finish(w, true, end, sizeof end);
        return assay__fail_context(ASSAY_CRASH, "the worker's answer makes no sense, killed");
    default:
        finish(w, true, end, sizeof end);
        return status;
    }
}

static assay_status reply_status(json_t *body)
{
    json_t *code = json_object_get(body, "status");
    const char *text = json_string_value(json_object_get(body, "error"));

    if (!json_is_integer(code))
        return assay__fail(ASSAY_INTERNAL, "the worker's reply has no status");
    if (json_integer_value(code) == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail((assay_status)json_integer_value(code), "%s", text != NULL ? text : "");
}

/* A limit is for kernels that hang, not for those whose neighbours take the CPU. */
static int64_t excused_ms(void *cookie)
{
    assay__worker *w = cookie;
    int64_t most = (int64_t)w->timeout_ms * MOST_EXCUSED;

    w->excused_ms = (int64_t)(assay__run_delay_ns(&w->delay) / 1000000);
    if (w->excused_ms > most)
        w->excused_ms = most;
    return w->excused_ms;
}

assay_status assay__worker_call(assay__worker *w, json_t *request, const int *fds, size_t fd_count,
                                int timeout_ms, json_t **reply)
{
    const assay__wait wait = {timeout_ms, w->stop, w->log_fd, drain_log, excused_ms, w};
    assay__message m = {0};
    assay_status status;

    *reply = NULL;
    if (request == NULL)
        return assay__fail(ASSAY_NOMEM, "request");
    if (w->pid == 0) {
        json_decref(request);
        return assay__fail(ASSAY_CRASH, "the worker has ended before");
    }
    if (w->fate != NULL)
        memset(w->fate, 0, sizeof *w->fate);
    w->token++;
    w->timeout_ms = timeout_ms;
    w->excused_ms = 0;
    w->logged = 0;
    w->flooded = false;
    assay__run_delay_begin(&w->delay, w->pid);
    status = assay__message_send(w->socket, w->token, request, fds, fd_count);
    json_decref(request);
    if (status == ASSAY_OK)
        status = assay__message_receive(w->socket, &wait, &m);
    if (status == ASSAY_OK && m.token != w->token)
        status = assay__fail(ASSAY_INTERNAL, "a reply to another request");
    if (status != ASSAY_OK) {
        assay__message_clear(&m);
        return call_failed(w, status);
    }
    status = reply_status(m.body);
    if (status == ASSAY_INTERNAL && !json_is_integer(json_object_get(m.body, "status")))
        status = call_failed(w, status);
    if (status == ASSAY_OK) {
        *reply = json_incref(m.body);
        (void)drain_log(w, w->log_fd);
        w->log_used = 0; /* a later crash shall not be told in the words of this one */
    }
    assay__message_clear(&m);
    return status;
}

bool assay__worker_alive(const assay__worker *w)
{
    return w != NULL && w->pid != 0;
}

void assay__worker_stop(assay__worker **worker)
{
    assay__worker *w = *worker;
    char end[128];

    if (w == NULL)
        return;
    if (w->pid > 0)
        finish(w, true, end, sizeof end);
    if (w->doing != NULL)
        munmap(w->doing, sizeof *w->doing);
    if (w->socket >= 0)
        close(w->socket);
    if (w->log_fd >= 0)
        close(w->log_fd);
    free(w);
    *worker = NULL;
}
