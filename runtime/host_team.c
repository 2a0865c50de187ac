/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_team.c -- helpers that claim parts of the calls of other threads.
 *
 * A helper goes FREE -> RESERVED -> POSTED by a caller, POSTED -> RUNNING -> FREE by itself.  A
 * caller that finds no part left takes POSTED helpers back; it waits only for RUNNING ones.  Above
 * the phase the state counts posts, so that none takes back what another caller posted since. */
#include "runtime/host_team.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/host_backend.h"

/* SPIN_NS: how long a helper stays awake for the next call of a row of calls; a sleeper costs its
 * waker some microseconds, a spinner costs whoever else wants the CPU this long. */
enum { MAX_HELPERS = ASSAY__HOST_TEAM_MOST - 1, SPIN_NS = 20000, LOOKS_A_CLOCK = 32 };
enum { FREE, RESERVED, POSTED, RUNNING, PHASE_MASK = 3, NEXT_POST = 4 };

#define SLEEPS UINT32_C(0x80000000) /* in `pending`: the caller sleeps */

typedef struct job { /* on the caller's stack */
    assay__host_part_fn part;
    void *cookie;
    int64_t parts;
    _Atomic int64_t next;
    _Atomic uint32_t pending; /* helpers that may still touch this job, and SLEEPS */
} job;

typedef struct helper {
    _Alignas(64) _Atomic uint32_t state;
    _Atomic uint32_t asleep;
    job *job;
} helper;

static helper helpers[MAX_HELPERS];
static _Atomic int helper_count; /* those that have a thread */
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;

static inline uint32_t phase_of(uint32_t state)
{
    return state & PHASE_MASK;
}

static inline uint32_t with_phase(uint32_t state, uint32_t phase)
{
    return (state & ~(uint32_t)PHASE_MASK) | phase;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void do_parts(job *j)
{
    for (;;) {
        int64_t part = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (part >= j->parts)
            return;
        j->part(j->cookie, part);
    }
}

/* ---- helpers --------------------------------------------------------------------------------- */

static bool post_seen(helper *h)
{
    uint64_t start = assay__host_now_ns();

    for (unsigned look = 1;; look++) {
        if (phase_of(atomic_load_explicit(&h->state, memory_order_relaxed)) == POSTED)
            return true;
        if (look % LOOKS_A_CLOCK == 0 && assay__host_now_ns() - start > SPIN_NS)
            return false;
        pause_cpu();
    }
}

/* The order of flag and state is that of a caller's state and flag: one sees the other. */
static void sleep_until_posted(helper *h)
{
    atomic_store(&h->asleep, 1);
    for (;;) {
        uint32_t state = atomic_load(&h->state);
        if (phase_of(state) == POSTED)
            break;
        futex_wait(&h->state, state);
    }
    atomic_store(&h->asleep, 0);
}

static void *help(void *cookie)
{
    helper *h = cookie;
    bool worked = false;

    for (;;) {
        if (!worked || !post_seen(h))
            sleep_until_posted(h);
        uint32_t state = atomic_load(&h->state);
        worked = phase_of(state) == POSTED &&
                 atomic_compare_exchange_strong(&h->state, &state, with_phase(state, RUNNING));
        if (!worked)
            continue; /* taken back */
        job *j = h->job;
        do_parts(j);
        /* Free first: whoever this call returns to may call again at once. */
        atomic_store(&h->state, with_phase(state, FREE));
        if (atomic_fetch_sub(&j->pending, 1) == (SLEEPS | 1))
            futex_wake(&j->pending); /* an address alone: the job may be gone */
    }
    return NULL;
}

static bool start_helper(helper *h)
{
    sigset_t all, old;
    pthread_attr_t attributes;
    pthread_t thread;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* the host's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool started = pthread_create(&thread, &attributes, help, h) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* A child has the memory of its parent but none of its helpers. */
static void forget_helpers(void)
{
    static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

    memcpy(&growing, &unlocked, sizeof growing);
    memset(helpers, 0, sizeof helpers);
    atomic_store(&helper_count, 0);
}

static void register_fork(void)
{
    pthread_atfork(NULL, NULL, forget_helpers);
}

/* Fewer than wanted where there are no more CPUs or no more threads. */
static void grow(int wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int most = (int)assay__host_usable_cpus() - 1;

    pthread_once(&once, register_fork);
    wanted = wanted < most ? wanted : most;
    pthread_mutex_lock(&growing);
    int count = atomic_load(&helper_count);
    while (count < wanted && start_helper(&helpers[count]))
        atomic_store(&helper_count, ++count);
    pthread_mutex_unlock(&growing);
}

/* ---- callers --------------------------------------------------------------------------------- */

typedef struct posted {
    helper *helper;
    uint32_t state;
} posted;

/* Posts the job to at most `wanted` free helpers. */
static int post(job *j, int wanted, posted *taken)
{
    int count = 0, known = atomic_load_explicit(&helper_count, memory_order_acquire);

    for (int i = 0; i < known && count < wanted; i++) {
        helper *h = &helpers[i];
        uint32_t state = atomic_load_explicit(&h->state, memory_order_relaxed);
        uint32_t reserved = with_phase(state + NEXT_POST, RESERVED);
        if (phase_of(state) != FREE || !atomic_compare_exchange_strong(&h->state, &state, reserved))
            continue;
        h->job = j;
        atomic_fetch_add_explicit(&j->pending, 1, memory_order_relaxed);
        taken[count++] = (posted){h, with_phase(reserved, POSTED)};
        atomic_store(&h->state, with_phase(reserved, POSTED));
        if (atomic_load(&h->asleep) != 0)
            futex_wake(&h->state);
    }
    return count;
}

static void take_back(job *j, posted p)
{
    if (atomic_compare_exchange_strong(&p.helper->state, &p.state, with_phase(p.state, FREE)))
        atomic_fetch_sub(&j->pending, 1);
}

static void wait_for(job *j)
{
    uint64_t start = assay__host_now_ns();
    uint32_t pending;

    for (unsigned look = 1; (pending = atomic_load(&j->pending)) != 0; look++) {
        if (look % LOOKS_A_CLOCK == 0 && assay__host_now_ns() - start > SPIN_NS)
            break;
        pause_cpu();
    }
    if (pending != 0)
        pending = atomic_fetch_or(&j->pending, SLEEPS) | SLEEPS;
    while ((pending & ~SLEEPS) != 0) {
        futex_wait(&j->pending, pending);
        pending = atomic_load(&j->pending);
    }
}

static void run_with_helpers(int wanted, job *j)
{
    posted taken[MAX_HELPERS];

    wanted = wanted < MAX_HELPERS ? wanted : MAX_HELPERS;
    if (wanted > atomic_load_explicit(&helper_count, memory_order_relaxed))
        grow(wanted);
    int count = post(j, wanted, taken);
    do_parts(j);
    for (int i = 0; i < count; i++)
        take_back(j, taken[i]);
    wait_for(j);
}

void assay__host_team_run(int threads, int64_t parts, assay__host_part_fn part, void *cookie)
{
    job j = {.part = part, .cookie = cookie, .parts = parts};

    if (threads > parts)
        threads = (int)parts;
    if (threads > 1)
        run_with_helpers(threads - 1, &j);
    for (int64_t i = 0; threads <= 1 && i < parts; i++)
        part(cookie, i); /* small kernels would feel the claims */
}
