/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_protocol.c -- messages to workers: framing, descriptors, ends and time-outs. */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/device_lock.h"
#include "tuner/protocol.h"
#include "tuner/run_delay.h"
#include "tuner/worker_client.h"

static int pair[2];

static void setup(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
}

static void teardown(void)
{
    close(pair[0]);
    if (pair[1] >= 0)
        close(pair[1]);
}

START_TEST(message_carries_token_body_and_descriptors)
{
    int fds[2] = {memfd_create("a", MFD_CLOEXEC), memfd_create("b", MFD_CLOEXEC)};
    json_t *body = json_pack("{s:s, s:f}", "cmd", "run", "x", 0.1);
    assay__message m;
    char c = 0;

    ck_assert_int_eq(write(fds[1], "q", 1), 1);
    ck_assert_int_eq(assay__message_send(pair[0], 77, body, fds, 2), ASSAY_OK);
    ck_assert_int_eq(assay__message_receive(pair[1], NULL, &m), ASSAY_OK);
    ck_assert_uint_eq(m.token, 77);
    ck_assert_uint_eq(m.fd_count, 2);
    ck_assert(json_equal(m.body, body));
    ck_assert_int_eq(pread(m.fds[1], &c, 1, 0), 1);
    ck_assert_int_eq(c, 'q');
    ck_assert(fcntl(m.fds[0], F_GETFD) & FD_CLOEXEC);
    assay__message_clear(&m);
    json_decref(body);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

static void *send_long(void *arg)
{
    json_t *body = json_object();
    char *text = arg;

    json_object_set_new(body, "long", json_string(text));
    (void)assay__message_send(pair[0], 1, body, NULL, 0);
    json_decref(body);
    return NULL;
}

START_TEST(message_longer_than_the_socket_buffer_arrives)
{
    static char text[3 << 20];
    assay__message m;
    pthread_t thread;

    memset(text, 'x', sizeof text - 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_long, text), 0);
    ck_assert_int_eq(assay__message_receive(pair[1], NULL, &m), ASSAY_OK);
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(m.body, "long"))), sizeof text - 1);
    pthread_join(thread, NULL);
    assay__message_clear(&m);
}
END_TEST

START_TEST(message_end_of_file_is_a_crash)
{
    assay__message m;

    close(pair[0]);
    pair[0] = dup(pair[1]);
    close(pair[1]);
    pair[1] = -1;
    ck_assert_int_eq(assay__message_receive(pair[0], NULL, &m), ASSAY_CRASH);
}
END_TEST

START_TEST(message_cut_in_its_body_is_a_crash)
{
    assay__message m;
    unsigned char header[24] = {0x41, 0x53, 0x41, 0x59, 1, 0, 0, 0, 100};

    ck_assert_int_eq(write(pair[0], header, sizeof header), (int)sizeof header);
    close(pair[0]);
    pair[0] = dup(pair[1]);
    ck_assert_int_eq(assay__message_receive(pair[1], NULL, &m), ASSAY_CRASH);
}
END_TEST

START_TEST(message_of_a_foreigner_is_refused)
{
    assay__message m;
    unsigned char header[24] = "GET / HTTP/1.1 aaaaaaaa";
    /* Magic, version, length, descriptors, token, body: well-formed but for the version. */
    unsigned char sent[26] = {0x41, 0x53, 0x41, 0x59, 1, 0, 0, 0, 2, [24] = '{', [25] = '}'};

    ck_assert_int_eq(write(pair[0], header, sizeof header), (int)sizeof header);
    ck_assert_int_eq(assay__message_receive(pair[1], NULL, &m), ASSAY_INTERNAL);
    ck_assert_int_eq(write(pair[0], sent, sizeof sent), (int)sizeof sent);
    ck_assert_int_eq(assay__message_receive(pair[1], NULL, &m), ASSAY_OK);
    assay__message_clear(&m);
    sent[4] = 2;
    ck_assert_int_eq(write(pair[0], sent, sizeof sent), (int)sizeof sent);
    ck_assert_int_eq(assay__message_receive(pair[1], NULL, &m), ASSAY_INTERNAL);
}
END_TEST

START_TEST(message_silence_times_out_and_stop_interrupts)
{
    volatile int stop = 1;
    const assay__wait soon = {.timeout_ms = 20, .drain_fd = -1};
    const assay__wait stopped = {.timeout_ms = -1, .stop = &stop, .drain_fd = -1};
    assay__message m;

    ck_assert_int_eq(assay__message_receive(pair[1], &soon, &m), ASSAY_TIMEOUT);
    ck_assert_int_eq(assay__message_receive(pair[1], &stopped, &m), ASSAY_INTERRUPTED);
}
END_TEST

/* The peer answers once its time is up, and says that it had no CPU until then. */
static int64_t answer_late(void *cookie)
{
    json_t *body = json_pack("{s:s}", "cmd", "late");
    int *asked = cookie;

    if ((*asked)++ == 0)
        ck_assert_int_eq(assay__message_send(pair[0], 5, body, NULL, 0), ASSAY_OK);
    json_decref(body);
    return 600000;
}

static assay_status count_drains(void *cookie, int fd)
{
    char c;

    (void)read(fd, &c, 1);
    (*(int *)cookie)++;
    return ASSAY_OK;
}

/* Who has closed its streams is not asked again and again: that would take a CPU from what is
 * timed.
 */
START_TEST(message_waits_quietly_for_one_who_closed_its_streams)
{
    int streams[2], drains = 0;
    assay__message m;

    ck_assert_int_eq(pipe(streams), 0);
    close(streams[1]);
    const assay__wait wait = {
        .timeout_ms = 200, .drain_fd = streams[0], .drain = count_drains, .cookie = &drains};
    ck_assert_int_eq(assay__message_receive(pair[1], &wait, &m), ASSAY_TIMEOUT);
    ck_assert_int_ge(drains, 1);
    ck_assert_int_le(drains, 2);
    close(streams[0]);
}
END_TEST

START_TEST(message_waits_on_for_what_is_excused)
{
    int asked = 0;
    const assay__wait wait = {
        .timeout_ms = 0, .drain_fd = -1, .excused_ms = answer_late, .cookie = &asked};
    assay__message m;

    ck_assert_int_eq(assay__message_receive(pair[1], &wait, &m), ASSAY_OK);
    ck_assert_uint_eq(m.token, 5);
    ck_assert_int_ge(asked, 1);
    assay__message_clear(&m);
}
END_TEST

/* ---- waiting for a CPU ---- */

static bool kernel_counts_waits(void)
{
    return access("/proc/self/schedstat", R_OK) == 0;
}

/* This process and all that it starts from here on share one CPU. */
static void share_one_cpu(void)
{
    cpu_set_t all, one;
    size_t cpu = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

/* A test that fails leaves nothing behind that takes a CPU. */
static void die_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1)
        _exit(1);
}

static pid_t spin(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        die_with_parent();
        for (volatile unsigned i = 0;; i++)
            ;
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

static void end(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(delay_of_one_that_shares_its_cpu_grows)
{
    assay__run_delay delay;
    pid_t first, second;

    if (!kernel_counts_waits())
        return;
    share_one_cpu();
    first = spin();
    second = spin();
    assay__run_delay_begin(&delay, first);
#ifdef __SANITIZE_THREAD__ /* has a thread of its own */
    ck_assert_uint_ge(delay.count, 1);
#else
    ck_assert_uint_eq(delay.count, 1);
#endif
    while (assay__run_delay_ns(&delay) < 20000000) /* two spin on one CPU: it must come */
        usleep(10000);
    /* What was before does not count. */
    assay__run_delay_begin(&delay, first);
    ck_assert_uint_ge(delay.threads[0].waited_ns, 20000000);
    delay.threads[0].waited_ns += UINT64_C(3600000000000);
    ck_assert_uint_eq(assay__run_delay_ns(&delay), 0);
    end(first);
    end(second);
}
END_TEST

START_TEST(delay_of_one_that_sleeps_or_is_gone_is_none)
{
    assay__run_delay delay;
    int sync[2];
    char c = 'a';
    pid_t pid;

    ck_assert_int_eq(pipe(sync), 0);
    pid = fork();
    if (pid == 0) {
        die_with_parent();
        (void)!write(sync[1], &c, 1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(sync[0], &c, 1), 1);
    usleep(50000); /* it is asleep by now; else its way there counts, which is below a second */
    assay__run_delay_begin(&delay, pid);
    usleep(50000);
    ck_assert_uint_lt(assay__run_delay_ns(&delay), 1000000000);
    end(pid);
    ck_assert_uint_eq(assay__run_delay_ns(&delay), 0);
    close(sync[0]);
    close(sync[1]);
}
END_TEST

/* This program is its own worker: it says hello and then computes for ever. */
static int serve(int socket)
{
    json_t *fine = json_pack("{s:i}", "status", 0);
    assay__message m;

    die_with_parent();
    if (assay__message_receive(socket, NULL, &m) != ASSAY_OK ||
        assay__message_send(socket, m.token, fine, NULL, 0) != ASSAY_OK ||
        assay__message_receive(socket, NULL, &m) != ASSAY_OK)
        return 1;
    for (volatile unsigned i = 0;; i++)
        ;
    return 0;
}

/* A worker that computes for ever beside another process on one CPU: it is given up all the same,
 * and what it waited is told. */
START_TEST(worker_without_a_cpu_is_excused_but_not_for_ever)
{
    const assay__worker_options options = {.program = NULL};
    assay__worker *w = NULL;
    json_t *reply = NULL;
    pid_t other;

    if (!kernel_counts_waits())
        return;
    share_one_cpu();
    other = spin();
    ck_assert_int_eq(assay__worker_start(&options, &w), ASSAY_OK);
    ck_assert_int_eq(assay__worker_call(w, json_pack("{s:s}", "cmd", "spin"), NULL, 0, 60, &reply),
                     ASSAY_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "no reply within 60 ms and "));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), " ms that it waited for a CPU"));
    assay__worker_stop(&w);
    end(other);
}
END_TEST

/* A parent that was stopped finds its limit passed and the reply there. */
START_TEST(message_that_is_there_counts_after_the_time_limit)
{
    const assay__wait passed = {.timeout_ms = 0, .drain_fd = -1};
    json_t *body = json_object();
    assay__message m;

    ck_assert_int_eq(assay__message_send(pair[0], 5, body, NULL, 0), ASSAY_OK);
    ck_assert_int_eq(assay__message_receive(pair[1], &passed, &m), ASSAY_OK);
    ck_assert_uint_eq(m.token, 5);
    assay__message_clear(&m);
    json_decref(body);
}
END_TEST

/* Stops its parent for longer than the limit and answers when it runs again. */
static void stop_and_answer(int go)
{
    json_t *body = json_object();
    char c;

    if (read(go, &c, 1) != 1)
        _exit(1);
    usleep(100000);
    (void)kill(getppid(), SIGSTOP);
    usleep(2800000);
    (void)kill(getppid(), SIGCONT);
    usleep(100000);
    (void)assay__message_send(pair[0], 6, body, NULL, 0);
    _exit(0);
}

START_TEST(message_limit_does_not_run_while_this_process_is_stopped)
{
    const assay__wait soon = {.timeout_ms = 1500, .drain_fd = -1};
    assay__message m;
    int go[2];

    ck_assert_int_eq(pipe(go), 0);
    pid_t child = fork();
    if (child == 0)
        stop_and_answer(go[0]);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    ck_assert_int_eq(assay__message_receive(pair[1], &soon, &m), ASSAY_OK);
    ck_assert_uint_eq(m.token, 6);
    assay__message_clear(&m);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(go[0]);
    close(go[1]);
}
END_TEST

/* /bin/true is a program that ends without saying hello. */
START_TEST(worker_that_ends_at_once_is_told_with_its_exit)
{
    const assay__worker_options options = {.program = "/bin/false"};
    assay__worker *w = NULL;

    ck_assert_int_eq(assay__worker_start(&options, &w), ASSAY_CRASH);
    ck_assert_ptr_null(w);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "exit 1"));
}
END_TEST

/* What a library says before it gives up is the best that there is to know of a crash. */
START_TEST(worker_that_ends_is_told_with_its_last_words)
{
    char path[] = "/tmp/assay-worker-XXXXXX";
    int file = mkstemp(path);
    const assay__worker_options options = {.program = path};
    assay__worker *w = NULL;

    ck_assert_int_ge(file, 0);
    ck_assert_int_gt(dprintf(file, "#!/bin/sh\necho first >&2\necho 'cannot \001 allocate'\n"
                                   "echo\nexit 3\n"),
                     0);
    ck_assert_int_eq(fchmod(file, 0755) | close(file), 0);
    ck_assert_int_eq(assay__worker_start(&options, &w), ASSAY_CRASH);
    ck_assert_str_eq(assay_last_error(), "the worker ended: exit 3 without a reply; it wrote: "
                                         "cannot ? allocate");
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(worker_program_that_is_missing_is_an_error)
{
    const assay__worker_options options = {.program = "/nonexistent/assay"};
    assay__worker *w = NULL;

    ck_assert_int_ne(assay__worker_start(&options, &w), ASSAY_OK);
    ck_assert_ptr_null(w);
}
END_TEST

START_TEST(lock_is_exclusive_and_names_its_holder)
{
    int first = -1, second = -1;
    char device[64], want[32];

    snprintf(device, sizeof device, "test device %d", (int)getpid());
    snprintf(want, sizeof want, "process %d", (int)getpid());
    ck_assert_int_eq(assay__device_lock(device, true, NULL, NULL, NULL, &first), ASSAY_OK);
    ck_assert_int_eq(assay__device_lock(device, true, NULL, NULL, NULL, &second),
                     ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), want));
    assay__device_unlock(&first);
    ck_assert_int_eq(assay__device_lock(device, true, NULL, NULL, NULL, &second), ASSAY_OK);
    assay__device_unlock(&second);
}
END_TEST

START_TEST(lock_is_one_of_all_drivers_of_a_device)
{
    char cuda[160], vulkan[160], other[160], nameless[8];

    assay__device_lock_name("NVIDIA X", "GPU-0A1b2c3d-0000", cuda, sizeof cuda);
    assay__device_lock_name("NVIDIA X (vulkan)", "0a1b2c3d-0000", vulkan, sizeof vulkan);
    assay__device_lock_name("NVIDIA X", "GPU-0a1b2c3d-0001", other, sizeof other);
    ck_assert_str_eq(cuda, vulkan);
    ck_assert_str_ne(cuda, other);
    assay__device_lock_name("A card", "", nameless, sizeof nameless);
    ck_assert_str_eq(nameless, "A card");
    assay__device_lock_name("A long one", "", nameless, sizeof nameless);
    ck_assert_str_eq(nameless, "A long ");
}
END_TEST

/* A file that another user made and that only he may write; the number in it is of nobody. */
START_TEST(lock_is_taken_on_a_file_of_another_user)
{
    char folder[] = "/tmp/assay-lock-XXXXXX", path[64];
    int fd = -1, second = -1;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_int_eq(setenv("ASSAY_LOCK_DIR", folder, 1), 0);
    (void)snprintf(path, sizeof path, "%s/assay-cpu.lock", folder);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0444);
    ck_assert_int_eq(write(file, "99999999\n", 9), 9);
    close(file);
    if (geteuid() == 0) /* root may write any file */
        ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(assay__device_lock("cpu", true, NULL, NULL, NULL, &fd), ASSAY_OK);
    ck_assert_int_eq(assay__device_lock("cpu", true, NULL, NULL, NULL, &second), ASSAY_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "another process"));
    assay__device_unlock(&fd);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(unlink(path) | rmdir(folder), 0);
}
END_TEST

/* A strict umask of the first user must not shut out the second. */
/* In a folder that all may write to, somebody may have put a trap where the lock file belongs. */
typedef struct removal {
    const char *path;
    int *held;
} removal;

/* Called while the lock is waited for: its file goes, and so does who held it. */
static void remove_and_let_go(void *cookie, long holder)
{
    const removal *r = cookie;

    ck_assert_int_eq((int)holder, (int)getpid());
    ck_assert_int_eq(unlink(r->path), 0);
    assay__device_unlock(r->held);
}

START_TEST(lock_of_a_file_that_is_gone_counts_for_nothing)
{
    char folder[] = "/tmp/assay-lock-XXXXXX", path[64];
    int first = -1, second = -1, third = -1;
    removal r = {.path = path, .held = &first};
    struct stat here, there;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("ASSAY_LOCK_DIR", folder, 1), 0);
    (void)snprintf(path, sizeof path, "%s/assay-cpu.lock", folder);
    ck_assert_int_eq(assay__device_lock("cpu", true, NULL, NULL, NULL, &first), ASSAY_OK);
    ck_assert_int_eq(assay__device_lock("cpu", false, NULL, remove_and_let_go, &r, &second),
                     ASSAY_OK);
    ck_assert_int_eq(assay__device_lock("cpu", true, NULL, NULL, NULL, &third), ASSAY_UNAVAILABLE);
    ck_assert_int_eq(fstat(second, &here), 0);
    ck_assert_int_eq(stat(path, &there), 0);
    ck_assert(here.st_ino == there.st_ino);
    assay__device_unlock(&second);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(lock_spoils_nothing_that_lies_in_its_place)
{
    char folder[] = "/tmp/assay-lock-XXXXXX", path[64], victim[64], text[32] = "";
    int fd = -1, file;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("ASSAY_LOCK_DIR", folder, 1), 0);
    (void)snprintf(path, sizeof path, "%s/assay-cpu.lock", folder);
    (void)snprintf(victim, sizeof victim, "%s/victim", folder);
    file = open(victim, O_RDWR | O_CREAT, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, "4711\n", 5), 5);
    for (int trap = 0; trap < 4; trap++) {
        switch (trap) {
        case 0:
            ck_assert_int_eq(symlink(victim, path), 0);
            break;
        case 1:
            ck_assert_int_eq(link(victim, path), 0);
            break;
        case 2:
            ck_assert_int_eq(mkfifo(path, 0666), 0);
            break;
        default:
            ck_assert_int_eq(unlink(victim), 0);
            ck_assert_int_eq(close(file), 0);
            file = open(path, O_RDWR | O_CREAT, 0600);
            ck_assert_int_eq(write(file, "keep\n", 5), 5);
            break;
        }
        ck_assert_int_eq(assay__device_lock("cpu", true, NULL, NULL, NULL, &fd), ASSAY_UNAVAILABLE);
        ck_assert_int_eq(fd, -1);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(pread(file, text, sizeof text - 1, 0), 5);
        ck_assert_str_eq(text, trap < 3 ? "4711\n" : "keep\n");
    }
    ck_assert_int_eq(close(file), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(unsetenv("ASSAY_LOCK_DIR"), 0);
}
END_TEST

START_TEST(lock_file_is_for_every_user)
{
    char folder[] = "/tmp/assay-lock-XXXXXX", path[64];
    struct stat info;
    int fd = -1;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("ASSAY_LOCK_DIR", folder, 1), 0);
    (void)snprintf(path, sizeof path, "%s/assay-cpu.lock", folder);
    umask(077);
    ck_assert_int_eq(assay__device_lock("cpu", true, NULL, NULL, NULL, &fd), ASSAY_OK);
    ck_assert_int_eq(fstat(fd, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0666);
    assay__device_unlock(&fd);
    ck_assert_int_eq(unlink(path) | rmdir(folder), 0);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "__worker") == 0)
        return serve(3);
    Suite *s = suite_create("protocol");
    TCase *message = tcase_create("message"), *worker = tcase_create("worker");

    tcase_add_checked_fixture(message, setup, teardown);
    tcase_add_test(message, message_carries_token_body_and_descriptors);
    tcase_add_test(message, message_longer_than_the_socket_buffer_arrives);
    tcase_add_test(message, message_end_of_file_is_a_crash);
    tcase_add_test(message, message_cut_in_its_body_is_a_crash);
    tcase_add_test(message, message_of_a_foreigner_is_refused);
    tcase_add_test(message, message_silence_times_out_and_stop_interrupts);
    tcase_add_test(message, message_waits_quietly_for_one_who_closed_its_streams);
    tcase_add_test(message, message_waits_on_for_what_is_excused);
    tcase_add_test(worker, delay_of_one_that_shares_its_cpu_grows);
    tcase_add_test(worker, delay_of_one_that_sleeps_or_is_gone_is_none);
    tcase_add_test(worker, worker_without_a_cpu_is_excused_but_not_for_ever);
    tcase_add_test(message, message_that_is_there_counts_after_the_time_limit);
    tcase_add_test(message, message_limit_does_not_run_while_this_process_is_stopped);
    tcase_set_timeout(message, 30);
    tcase_add_test(worker, worker_that_ends_at_once_is_told_with_its_exit);
    tcase_add_test(worker, worker_that_ends_is_told_with_its_last_words);
    tcase_add_test(worker, worker_program_that_is_missing_is_an_error);
    tcase_add_test(worker, lock_is_exclusive_and_names_its_holder);
    tcase_add_test(worker, lock_is_one_of_all_drivers_of_a_device);
    tcase_add_test(worker, lock_is_taken_on_a_file_of_another_user);
    tcase_add_test(worker, lock_of_a_file_that_is_gone_counts_for_nothing);
    tcase_add_test(worker, lock_spoils_nothing_that_lies_in_its_place);
    tcase_add_test(worker, lock_file_is_for_every_user);
    suite_add_tcase(s, message);
    suite_add_tcase(s, worker);

    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
