/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/counter_papi.c -- hardware and software events through PAPI, opened when somebody counts.
 *
 * Nothing links it: without the library, or on a machine whose counters are not for us, what it
 * would count is absent with the call that failed.  An event set for every thread, attached to it,
 * with a single event in it, so that nothing is shared by turns. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gen/config.h"
#include "tuner/counters.h"

#if HAVE_PAPI
#include <dirent.h>
#include <dlfcn.h>
#include <papi.h>
#include <stdlib.h>
#include <unistd.h>

#define FUNCTIONS(X)                  \
    X(PAPI_library_init)              \
    X(PAPI_create_eventset)           \
    X(PAPI_assign_eventset_component) \
    X(PAPI_get_event_component)       \
    X(PAPI_event_name_to_code)        \
    X(PAPI_attach)                    \
    X(PAPI_add_event)                 \
    X(PAPI_start)                     \
    X(PAPI_stop)                      \
    X(PAPI_cleanup_eventset)          \
    X(PAPI_destroy_eventset)          \
    X(PAPI_strerror)

static struct {
#define X(f) __typeof__(&f) f;
    FUNCTIONS(X)
#undef X
} papi;

#define SETS_MAX 256 /* threads */
static int sets[SETS_MAX];
static size_t set_count;

static bool failed(const char *call, int code, char *why, size_t cap)
{
    const char *text = papi.PAPI_strerror != NULL ? papi.PAPI_strerror(code) : NULL;

    (void)snprintf(why, cap, "%s: %d %s", call, code, text != NULL ? text : "");
    return false;
}

/* ---- the library ---- */

static bool find_all(void *library, char *why, size_t cap)
{
    static const struct {
        const char *name;
        void *slot;
    } functions[] = {
#define X(f) {#f, &papi.f},
        FUNCTIONS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (symbol == NULL) {
            (void)snprintf(why, cap, "PAPI has no %s", functions[i].name);
            return false;
        }
        memcpy(functions[i].slot, &symbol, sizeof symbol);
    }
    return true;
}

static bool open_library(char *why, size_t cap)
{
    static const char *const names[] = {"libpapi.so.7.0", "libpapi.so.7.1", "libpapi.so.7.2",
                                        "libpapi.so"};
    void *library = NULL;

    for (size_t i = 0; library == NULL && i < sizeof names / sizeof names[0]; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        (void)snprintf(why, cap, "PAPI is not installed (Debian package libpapi7.0)");
        return false;
    }
    if (!find_all(library, why, cap))
        return false;
    const int version = papi.PAPI_library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT)
        return failed("PAPI_library_init", version, why, cap);
    return true;
}

static bool ready(char *why, size_t cap)
{
    static bool is_known, is_there;
    static char reason[120];

    if (!is_known)
        is_there = open_library(reason, sizeof reason);
    is_known = true;
    if (!is_there)
        (void)snprintf(why, cap, "%s", reason);
    return is_there;
}

/* ---- a set for each thread ---- */

/* The sum of what the sets counted; every set is gone afterwards. */
static bool stop_all(double *sum, char *why, size_t cap)
{
    bool good = true;

    *sum = 0;
    for (size_t i = 0; i < set_count; i++) {
        long long value = 0;
        const int code = papi.PAPI_stop(sets[i], &value);
        if (code != PAPI_OK && good)
            good = failed("PAPI_stop", code, why, cap);
        *sum += (double)value;
        (void)papi.PAPI_cleanup_eventset(sets[i]);
        (void)papi.PAPI_destroy_eventset(&sets[i]);
    }
    set_count = 0;
    return good;
}

static void forget(int set)
{
    (void)papi.PAPI_cleanup_eventset(set);
    (void)papi.PAPI_destroy_eventset(&set);
}

static bool start_set(int set, int event, int component, pid_t thread, char *why, size_t cap)
{
    int code = papi.PAPI_assign_eventset_component(set, component);

    if (code != PAPI_OK)
        return failed("PAPI_assign_eventset_component", code, why, cap);
    if (thread != gettid()) {
        code = papi.PAPI_attach(set, (unsigned long)thread);
        if (code != PAPI_OK)
            return failed("PAPI_attach", code, why, cap);
    }
    code = papi.PAPI_add_event(set, event);
    if (code != PAPI_OK)
        return failed("PAPI_add_event", code, why, cap);
    code = papi.PAPI_start(set);
    return code == PAPI_OK || failed("PAPI_start", code, why, cap);
}

static bool start_thread(int event, int component, pid_t thread, char *why, size_t cap)
{
    int set = PAPI_NULL;
    int code = papi.PAPI_create_eventset(&set);

    if (code != PAPI_OK)
        return failed("PAPI_create_eventset", code, why, cap);
    if (set_count == SETS_MAX) {
        forget(set);
        (void)snprintf(why, cap, "more than %d threads", SETS_MAX);
        return false;
    }
    if (!start_set(set, event, component, thread, why, cap)) {
        forget(set);
        return false;
    }
    sets[set_count++] = set;
    return true;
}

static bool start_threads(int event, int component, char *why, size_t cap)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *e;
    bool good = tasks != NULL;

    if (!good)
        (void)snprintf(why, cap, "/proc/self/task cannot be read");
    while (good && (e = readdir(tasks)) != NULL)
        if (e->d_name[0] != '.')
            good = start_thread(event, component, (pid_t)strtol(e->d_name, NULL, 10), why, cap);
    if (tasks != NULL)
        closedir(tasks);
    return good;
}

static bool begin(const char *event, char *why, size_t cap)
{
    int code, number = 0, component;
    double unused;
    char later[120];

    if (!ready(why, cap))
        return false;
    code = papi.PAPI_event_name_to_code(event, &number);
    if (code != PAPI_OK)
        return failed("PAPI_event_name_to_code", code, why, cap);
    component = papi.PAPI_get_event_component(number);
    if (component < 0)
        return failed("PAPI_get_event_component", component, why, cap);
    if (start_threads(number, component, why, cap))
        return true;
    (void)stop_all(&unused, later, sizeof later);
    return false;
}

static bool end(double *count, char *why, size_t cap)
{
    return stop_all(count, why, cap);
}

#else

static bool begin(const char *event, char *why, size_t cap)
{
    (void)event;
    (void)snprintf(why, cap, "built without PAPI: %s", ASSAY_WHY_PAPI);
    return false;
}

static bool end(double *count, char *why, size_t cap)
{
    (void)count;
    (void)snprintf(why, cap, "built without PAPI");
    return false;
}

#endif

const assay__counter_source assay__counter_papi = {"papi", begin, end};
