/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_guard.c -- see worker_guard.h. */
#include "tuner/worker_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/error.h"

/* Given back when a kernel has taken all memory: the reply that says so needs some. */
#define RESERVE_BYTES ((size_t)8 << 20)

/* Libraries make pools and threads when they are called first, not while they are timed after that;
 * what the allocator keeps for itself is less. */
#define LEAK_BYTES 16777216.0
#define LEAK_FDS   4
/* A kernel that takes long is called twice or thrice: what each of its calls leaves counts, too. */
#define LEAK_CALLS      2
#define LEAK_CALL_BYTES 4194304.0

static struct {
    void *reserve;       /* NULL: given back, or none */
    double limit_bytes;  /* of RLIMIT_DATA; 0: none */
    double first_bytes;  /* held when the first limit was set; 0: none was */
    rlim_t user_limit;   /* that was there before */
    assay__doing *notes; /* borrowed */
    int rounding;
    unsigned control;
} guard;

/* ---- notes of faults ---- */

static void on_fault(int number, siginfo_t *info, void *context)
{
    char here; /* lies on the other stack; what matters is the interrupted one */
    const bool is_sent = info->si_code <= 0; /* by kill or raise: no instruction runs again */
    uintptr_t stack = (uintptr_t)&here;

#if defined __x86_64__
    const ucontext_t *u = context;
    stack = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#else
    (void)context;
#endif
    if (guard.notes != NULL && !is_sent) {
        guard.notes->fault_at = (uint64_t)(uintptr_t)info->si_addr;
        guard.notes->fault_stack = (uint64_t)stack;
        guard.notes->fault_signal = (uint32_t)number;
    }
    (void)signal(number, SIG_DFL); /* the instruction runs again, and ends the process */
    if (is_sent)
        (void)raise(number); /* comes when this handler has returned */
}

/* A stack that has overflowed cannot run a handler. */
static void note_faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS};
    static char other_stack[65536]; /* room for the registers of any CPU */
    const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (sigaltstack(&stack, NULL) != 0)
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        (void)sigaction(numbers[i], &action, NULL);
}

void assay__guard_notes(assay__doing *where)
{
    guard.notes = where;
}

/* ---- memory and descriptors ---- */

/* NaN: that is no statm. */
static double data_pages(int fd)
{
    char text[128];
    unsigned long long data = 0;
    const ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;

    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%*u %*u %*u %*u %*u %llu", &data) != 1)
        return (double)NAN;
    return (double)data;
}

/* Private, writable memory of this process, and stacks: what RLIMIT_DATA counts; NaN: not known.
 * The file is opened once: what the system does later for one that was closed fell into the spans
 * that follow, and made equals differ by three times as much. */
static double held_bytes(void)
{
    static int fd = -1;
    double pages = data_pages(fd);

    if (isnan(pages)) { /* the first time, or a kernel has closed it, and others have its number */
        fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        pages = data_pages(fd);
    }
    return pages * (double)sysconf(_SC_PAGESIZE);
}

/* More are not counted: free numbers are given lowest first, and each takes time just before what
 * is timed. */
#define FDS_SEEN 256

static int most_fds(void)
{
    const long most = sysconf(_SC_OPEN_MAX);

    return most > 0 && most < FDS_SEEN ? (int)most : FDS_SEEN;
}

/* In one call, which needs no descriptor itself. */
static int open_fds(void)
{
    struct pollfd fds[FDS_SEEN];
    const int most = most_fds();
    int open_ones = 0;

    for (int i = 0; i < most; i++)
        fds[i] = (struct pollfd){.fd = i};
    if (poll(fds, (nfds_t)most, 0) < 0)
        return 0;
    for (int i = 0; i < most; i++)
        open_ones += (fds[i].revents & POLLNVAL) == 0;
    return open_ones;
}

void assay__guard_hold(assay__guard_held *out)
{
    /* Small blocks for what is written down while a kernel takes the rest. */
    free(malloc(65536));
    out->bytes = held_bytes();
    out->fds = open_fds();
}

void assay__guard_report(const assay__guard_held *before, size_t calls, json_t *reply)
{
    const double bytes = held_bytes() - before->bytes;
    const int fds = open_fds() - before->fds;
    const bool many = calls >= LEAK_CALLS;

    if (bytes >= LEAK_BYTES || (many && bytes >= LEAK_CALL_BYTES * (double)calls))
        json_object_set_new(reply, "leaked_bytes", json_real(bytes));
    if (fds >= LEAK_FDS || (many && fds >= 0 && (size_t)fds >= calls))
        json_object_set_new(reply, "leaked_fds", json_integer(fds));
}

void assay__guard_limit(double bytes)
{
    struct rlimit now;

    /* What the problems before left behind counts against those that follow. */
    if (!(guard.first_bytes > 0))
        guard.first_bytes = held_bytes();
    double wanted = guard.first_bytes + bytes;
    if (!(bytes > 0) || isnan(wanted) || getrlimit(RLIMIT_DATA, &now) != 0)
        return;
    if (guard.limit_bytes > 0)
        now.rlim_cur = guard.user_limit; /* of the problem before */
    guard.user_limit = now.rlim_cur;
    if (now.rlim_cur != RLIM_INFINITY && wanted > (double)now.rlim_cur)
        wanted = (double)now.rlim_cur;
    now.rlim_cur = (rlim_t)wanted;
    if (setrlimit(RLIMIT_DATA, &now) == 0)
        guard.limit_bytes = wanted;
}

/* Half of the descriptors are taken, however many there may be: they are given lowest first.  A
 * copy of one that is closed again leaves the system nothing to clean up, and yet it is only made
 * where many are open. */
static bool has_few_fds(void)
{
    const long most = sysconf(_SC_OPEN_MAX);
    int lowest;

    if (most <= 0 || open_fds() <= most_fds() / 2)
        return false;
    lowest = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (lowest < 0)
        return errno == EMFILE;
    close(lowest);
    return lowest >= most / 2;
}

/* Or three quarters of the memory. */
static bool has_little_memory(void)
{
    return guard.limit_bytes > 0 && held_bytes() > 0.75 * guard.limit_bytes;
}

bool assay__guard_is_spent(void)
{
    return has_little_memory() || has_few_fds();
}

/* Under a limit of the address space (ulimit -v) nothing else may tell. */
static bool is_out_of_memory(void)
{
    void *some =
        mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (some == MAP_FAILED)
        return true;
    (void)munmap(some, RESERVE_BYTES);
    return false;
}

static void give_reserve_back(void)
{
    if (guard.reserve != NULL)
        (void)munmap(guard.reserve, RESERVE_BYTES);
    guard.reserve = NULL;
}

/* ---- floating point ---- */

/* Rounding, flushing of subnormals and masks, not the flags that any operation sets. */
static unsigned control_now(void)
{
#ifdef __SSE2__
    return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
    return 0;
#endif
}

void assay__guard_restore(void)
{
    (void)fesetround(guard.rounding);
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(guard.control);
#endif
}

/* ---- the whole ---- */

void assay__guard_begin(void)
{
    const struct rlimit no_core = {0, 0};
    int fd;

    (void)setrlimit(RLIMIT_CORE, &no_core);
    /* A worker must not outlive a parent that was killed. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "1000", 4);
        close(fd);
    }
    guard.reserve =
        mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard.reserve == MAP_FAILED)
        guard.reserve = NULL;
    guard.rounding = fegetround();
    guard.control = control_now();
    note_faults();
}

assay_status assay__guard_end(assay_status status, bool was_timed, json_t *reply)
{
    const unsigned control = control_now();
    const bool is_other = control != guard.control || fegetround() != guard.rounding;

    assay__guard_restore();
    if ((was_timed && has_few_fds()) || has_little_memory() || is_out_of_memory()) {
        give_reserve_back();
        json_object_set_new(reply, "is_spent", json_true());
    }
    if (!is_other || status != ASSAY_OK)
        return status;
    return assay__fail(ASSAY_DEVICE,
                       "the kernel leaves another floating-point environment behind: control word "
                       "%04x, not %04x",
                       control, guard.control);
}
