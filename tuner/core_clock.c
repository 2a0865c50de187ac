/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/core_clock.c -- see core_clock.h. */
#include "tuner/core_clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/error.h"

#define SPEED_LINKS 320u /* about 0.3 us at 3 GHz */
#define SPEED_RUNS  3    /* the fastest counts: an interrupt makes one longer, nothing shorter */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The compiler must neither fold a link nor know the operand, of which cores add constants for
 * nothing. */
#define LINK(op)                        \
    do {                                \
        x op by;                        \
        __asm__ volatile("" : "+r"(x)); \
    } while (0)
#define LINKS_4(op) \
    LINK(op);       \
    LINK(op);       \
    LINK(op);       \
    LINK(op)
#define LINKS_16(op) \
    LINKS_4(op);     \
    LINKS_4(op);     \
    LINKS_4(op);     \
    LINKS_4(op)

static uint64_t run_add(uint64_t x, uint64_t by, size_t links)
{
    for (size_t i = 0; i < links; i += ASSAY__CHAIN_STEP) {
        LINKS_16(+=);
    }
    return x;
}

static uint64_t run_multiply(uint64_t x, uint64_t by, size_t links)
{
    for (size_t i = 0; i < links; i += ASSAY__CHAIN_STEP) {
        LINKS_16(*=);
    }
    return x;
}

uint64_t assay__chain_ns(assay__chain chain, size_t links)
{
    uint64_t x = 3, by = 5;

    __asm__ volatile("" : "+r"(x), "+r"(by));
    const uint64_t begin = now_ns();
    x = chain == ASSAY__CHAIN_ADD ? run_add(x, by, links) : run_multiply(x, by, links);
    __asm__ volatile("" : : "r"(x));
    return now_ns() - begin;
}

static double speed_here(void *cookie)
{
    uint64_t least = UINT64_MAX;

    (void)cookie;
    for (int i = 0; i < SPEED_RUNS; i++) {
        const uint64_t ns = assay__chain_ns(ASSAY__CHAIN_MULTIPLY, SPEED_LINKS);
        least = ns < least ? ns : least;
    }
    return least > 0 ? (double)SPEED_LINKS / (double)least : 0.0;
}

static void pause_here(void *cookie, double ns)
{
    struct timespec t = {(time_t)(ns / 1e9), 0};

    (void)cookie;
    t.tv_nsec = (long)(ns - (double)t.tv_sec * 1e9);
    (void)nanosleep(&t, NULL);
}

/* ---- a script ---- */

#define SCRIPT_STEPS 64

static struct script {
    struct {
        double speed;
        unsigned long times;
    } steps[SCRIPT_STEPS];
    size_t count, at;
    unsigned long used; /* of the step at hand */
} scripted;

static double speed_scripted(void *cookie)
{
    struct script *s = cookie;

    while (s->at + 1 < s->count && s->used >= s->steps[s->at].times) {
        s->at++;
        s->used = 0;
    }
    s->used++;
    return s->steps[s->at].speed;
}

static void pause_scripted(void *cookie, double ns)
{
    (void)cookie;
    (void)ns;
}

static assay_status read_step(const char *word, struct script *s)
{
    char *end;
    const double speed = strtod(word, &end);
    unsigned long times = 1;

    if (end != word && *end == '*')
        times = strtoul(end + 1, &end, 10);
    if (end == word || *end != '\0' || !(speed >= 0 && speed < 1e6) || times == 0 ||
        s->count == SCRIPT_STEPS)
        return assay__fail(ASSAY_PARSE, "scripted clock: '%s' is no speed", word);
    s->steps[s->count].speed = speed;
    s->steps[s->count++].times = times;
    return ASSAY_OK;
}

static assay_status read_script(const char *text, struct script *out)
{
    char copy[512], *rest = copy, *word;

    if (strlen(text) >= sizeof copy)
        return assay__fail(ASSAY_PARSE, "scripted clock: too long");
    (void)memcpy(copy, text, strlen(text) + 1);
    while ((word = strsep(&rest, " ")) != NULL)
        if (*word != '\0')
            ASSAY_TRY(read_step(word, out));
    return out->count > 0 ? ASSAY_OK : assay__fail(ASSAY_PARSE, "scripted clock: no speeds");
}

assay_status assay__core_clock_get(assay__core_clock *out)
{
    const char *text = getenv("ASSAY_FAKE_CLOCK");

    if (text == NULL) {
        *out = (assay__core_clock){.speed = speed_here, .pause = pause_here};
        return ASSAY_OK;
    }
    if (scripted.count == 0) {
        struct script read = {0};
        ASSAY_TRY(read_script(text, &read));
        scripted = read;
    }
    *out = (assay__core_clock){
        .speed = speed_scripted, .pause = pause_scripted, .cookie = &scripted, .is_scripted = true};
    return ASSAY_OK;
}

/* ---- the guard ---- */

#define PAUSE_LEAST_NS 50e6
#define PAUSE_MOST_NS  500e6
#define PAUSE_GROWTH   1.5

void assay__clock_guard_init(assay__clock_guard *g, double fastest)
{
    *g = (assay__clock_guard){.fastest = fastest > 0 ? fastest : 0, .pause_ns = PAUSE_LEAST_NS};
}

void assay__clock_guard_saw(assay__clock_guard *g, double speed)
{
    if (speed > g->fastest)
        g->fastest = speed;
}

bool assay__clock_guard_is_slow(const assay__clock_guard *g, double speed)
{
    return speed > 0 && speed < ASSAY__CLOCK_LEAST * g->fastest;
}

bool assay__clock_guard_wait(assay__clock_guard *g, double lost_ns, double *pause_ns)
{
    g->lost_ns += lost_ns;
    if (!(g->lost_ns < ASSAY__CLOCK_WAIT_NS))
        return false;
    if (g->waits++ >= 2)
        g->pause_ns *= PAUSE_GROWTH;
    if (g->pause_ns > PAUSE_MOST_NS)
        g->pause_ns = PAUSE_MOST_NS;
    g->lost_ns += g->pause_ns;
    *pause_ns = g->pause_ns;
    return true;
}
