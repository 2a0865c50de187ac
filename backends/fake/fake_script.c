/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/fake/fake_script.c -- reads scripts and draws durations from them. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/fake/fake.h"

const char *const fake_names[FAKE_KERNELS] = {"fake_a", "fake_b", "fake_c"};

typedef struct word {
    const char *name;
    size_t offset;
    bool is_real;
} word;

#define REAL_WORD(name)                        \
    {                                          \
#name, offsetof(fake_rule, name), true \
    }
#define INTEGER_WORD(name)                      \
    {                                           \
#name, offsetof(fake_rule, name), false \
    }

static const word words[] = {
    INTEGER_WORD(variant), INTEGER_WORD(threads),  INTEGER_WORD(process),  REAL_WORD(ns),
    REAL_WORD(per_unit),   REAL_WORD(sd),          REAL_WORD(visit_sd),    REAL_WORD(common_sd),
    REAL_WORD(outlier),    REAL_WORD(wild),        REAL_WORD(slow),        REAL_WORD(again),
    REAL_WORD(first),      INTEGER_WORD(fail_at),  INTEGER_WORD(crash_at), INTEGER_WORD(exit_at),
    INTEGER_WORD(hang_at), INTEGER_WORD(wrong_at), INTEGER_WORD(wrong),    INTEGER_WORD(off),
    REAL_WORD(stall),      INTEGER_WORD(stalled),  INTEGER_WORD(write_at), INTEGER_WORD(lose_at)};
enum { WORDS = sizeof words / sizeof *words, CHOICES = 3 };

static const fake_rule defaults = {.kernel = -1,
                                   .variant = -1,
                                   .threads = -1,
                                   .process = -1,
                                   .ns = 1000.0,
                                   .slow = 1.0,
                                   .first = 1.0,
                                   .again = 1.0,
                                   .fail_at = INT64_MAX,
                                   .crash_at = INT64_MAX,
                                   .exit_at = INT64_MAX,
                                   .hang_at = INT64_MAX,
                                   .wrong_at = INT64_MAX,
                                   .write_at = INT64_MAX,
                                   .lose_at = INT64_MAX};

static bool whole_number(const char *text, int64_t *out)
{
    char *end;

    *out = strtoll(text, &end, 10);
    return end != text && *end == '\0' && *out >= 0;
}

static bool real_number(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0.0 && *out < 1e18;
}

static bool set_word(fake_rule *rule, const char *name, const char *value)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        if (strcmp(words[i].name, name) != 0)
            continue;
        rule->given |= 1u << i;
        char *field = (char *)rule + words[i].offset;
        return words[i].is_real ? real_number(value, (double *)(void *)field)
                                : whole_number(value, (int64_t *)(void *)field);
    }
    return false;
}

static bool is_sensor(const char *name)
{
    static const char *const tails[] = {"_mhz", "_celsius", "_milliwatts", "_reasons"};

    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        const size_t length = strlen(name), tail = strlen(tails[i]);
        if (length > tail && strcmp(name + length - tail, tails[i]) == 0)
            return true;
    }
    return false;
}

static bool read_step(char *item, fake_sensor *out)
{
    char *end;
    fake_step *step = &out->steps[out->count];

    if (out->count == FAKE_STEPS || out->is_round)
        return false;
    if (strcmp(item, "...") == 0)
        return out->is_round = out->count > 0;
    const bool fails = item[0] == '-' && (item[1] == '\0' || item[1] == '*');
    step->value = fails ? ASSAY_METRIC_UNKNOWN : strtoull(item, &end, 10);
    step->times = 1;
    if (fails)
        end = item + 1;
    if (end == item)
        return false;
    if (*end == '*') {
        item = end + 1;
        step->times = strtoull(item, &end, 10);
        if (end == item || step->times == 0)
            return false;
    }
    out->count++;
    return *end == '\0';
}

static bool sensor_parse(const char *name, const char *text, fake_sensor *out)
{
    char copy[256], *rest = copy, *item;

    if (strlen(name) >= sizeof out->name || strlen(text) >= sizeof copy)
        return false;
    *out = (fake_sensor){.count = 0};
    memcpy(out->name, name, strlen(name) + 1);
    memcpy(copy, text, strlen(text) + 1);
    while ((item = strsep(&rest, ",")) != NULL)
        if (!read_step(item, out))
            return false;
    return true;
}

static bool set_probe(fake_script *script, const char *name, const char *value)
{
    static const char *const names[FAKE_PROBES] = {
#define X(name, kind, dtype) [FAKE_PROBE_##name] = #name,
        FAKE_PROBE_MAP(X)
#undef X
    };

    for (int i = 0; i < FAKE_PROBES; i++)
        if (strcmp(names[i], name) == 0)
            return real_number(value, &script->probes[i]);
    return false;
}

static bool set_global(fake_script *script, const char *name, const char *value)
{
    int64_t number;

    if (strcmp(name, "visits") == 0) {
        snprintf(script->visits, sizeof script->visits, "%s", value);
        return strlen(value) < sizeof script->visits;
    }
    if (strcmp(name, "stays") == 0) {
        snprintf(script->stays, sizeof script->stays, "%s", value);
        return strlen(value) < sizeof script->stays;
    }
    if (strcmp(name, "idle_mhz") == 0)
        return whole_number(value, &script->idle_mhz);
    if (is_sensor(name))
        return script->sensor_count < FAKE_SENSORS &&
               sensor_parse(name, value, &script->sensors[script->sensor_count++]);
    if (strcmp(name, "resolution") == 0)
        return real_number(value, &script->resolution);
    if (strcmp(name, "overhead") == 0)
        return real_number(value, &script->overhead);
    if (strcmp(name, "ghz") == 0)
        return real_number(value, &script->ghz) && script->ghz > 0.0;
    if (strcmp(name, "stretch") == 0)
        return real_number(value, &script->stretch);
    if (strncmp(name, "probe_", 6) == 0)
        return set_probe(script, name + 6, value);
    if (!whole_number(value, &number))
        return false;
    if (strcmp(name, "seed") == 0)
        script->seed = (uint64_t)number;
    else if (strcmp(name, "devices") == 0)
        script->devices = number;
    else if (strcmp(name, "turned") == 0)
        script->turned = number;
    else if (strcmp(name, "mute") == 0)
        script->mute = number;
    else if (strcmp(name, "alike") == 0 && number > 0)
        script->alike = number;
    else if (strcmp(name, "discrete") == 0)
        script->discrete = number;
    else if (strcmp(name, "counters") == 0)
        script->counters = number;
    else if (strcmp(name, "digest") == 0)
        script->digest = number;
    else if (strcmp(name, "memory") == 0)
        script->memory = number;
    else if (strcmp(name, "nomem") == 0)
        script->nomem = number;
    else if (strcmp(name, "gone") == 0)
        script->gone = number;
    else
        return false;
    return true;
}

static bool kernel_number(const char *name, int *out)
{
    *out = -1;
    if (strcmp(name, "*") == 0)
        return true;
    for (int i = 0; i < FAKE_KERNELS; i++)
        if (strcmp(fake_names[i], name) == 0)
            *out = i;
    return *out >= 0;
}

/* One statement; `rule` stays NULL until it names a kernel. */
static bool read_statement(char *statement, fake_script *script, char *why, size_t cap)
{
    fake_rule *rule = NULL;
    char *rest = statement;

    for (char *item; (item = strsep(&rest, " \t\r")) != NULL;) {
        if (*item == '\0')
            continue;
        char *value = strchr(item, '=');
        bool good = value != NULL;
        if (good) {
            *value++ = '\0';
            if (strcmp(item, "kernel") == 0 && script->rule_count < FAKE_MAX_RULES) {
                rule = &script->rules[script->rule_count++];
                *rule = defaults;
                good = kernel_number(value, &rule->kernel);
            } else {
                good = rule != NULL ? set_word(rule, item, value) : set_global(script, item, value);
            }
        }
        if (!good) {
            snprintf(why, cap, "fake script: cannot use '%.40s%s%.40s'", item,
                     value != NULL ? "=" : "", value != NULL ? value : "");
            return false;
        }
    }
    return true;
}

bool fake_parse(const char *text, fake_script *out, char *why, size_t cap)
{
    char *copy = strdup(text);
    char *rest = copy;
    bool good = copy != NULL;

    memset(out, 0, sizeof *out);
    out->seed = 1;
    out->devices = 1;
    out->alike = INT64_MAX;
    out->memory = INT64_C(1) << 30;
    out->nomem = INT64_MAX;
    out->gone = INT64_MAX;
    out->resolution = 1.0;
    out->overhead = 20.0;
    out->ghz = out->stretch = 1.0;
    for (int i = 0; i < FAKE_PROBES; i++)
        out->probes[i] = -1.0;
    for (char *statement; good && (statement = strsep(&rest, "\n;")) != NULL;) {
        char *comment = strchr(statement, '#');
        if (comment != NULL)
            *comment = '\0';
        good = read_statement(statement, out, why, cap);
    }
    free(copy);
    return good;
}

fake_rule fake_rule_of(const fake_script *script, int kernel, const int64_t *tunables)
{
    fake_rule result = defaults;

    for (int i = 0; i < script->rule_count; i++) {
        const fake_rule *rule = &script->rules[i];
        if ((rule->kernel >= 0 && rule->kernel != kernel) ||
            (rule->variant >= 0 && rule->variant != tunables[FAKE_VARIANT]) ||
            (rule->threads >= 0 && rule->threads != tunables[FAKE_THREADS]) ||
            (rule->process >= 0 && script->visit < (uint64_t)rule->process))
            continue;
        for (uint32_t w = CHOICES; w < WORDS; w++)
            if ((rule->given & 1u << w) != 0) /* all fields are eight bytes */
                memcpy((char *)&result + words[w].offset, (const char *)rule + words[w].offset, 8);
    }
    return result;
}

/* splitmix64 over all that names a draw: the same script draws the same numbers in any order. */
static uint64_t mix(uint64_t state, uint64_t value)
{
    uint64_t z = state + 0x9e3779b97f4a7c15u * (value + 1);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(uint64_t state)
{
    return ((double)(mix(state, 0) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t state)
{
    return sqrt(-2.0 * log(uniform(state))) * cos(6.283185307179586 * uniform(mix(state, 1)));
}

double fake_duration(const fake_script *script, const fake_rule *rule, int kernel,
                     const int64_t *tunables, double units, fake_when when, size_t inner)
{
    uint64_t process = mix(mix(script->seed, 101), script->visit);
    uint64_t variant = mix(mix(mix(process, (uint64_t)kernel), (uint64_t)tunables[FAKE_THREADS]),
                           (uint64_t)tunables[FAKE_VARIANT]);
    if (when.stay > 0) /* a stay has noise of its own, as rivals do */
        variant = mix(mix(variant, 211), when.stay);
    uint64_t one = mix(variant, when.span);
    double noise = rule->common_sd * normal(process) + rule->visit_sd * normal(variant) +
                   rule->sd * normal(one);
    double ns = (rule->ns + rule->per_unit * units) * rule->slow * exp(noise) *
                (when.stay > 0 ? rule->again : 1.0) * (when.place == 0 ? rule->first : 1.0) *
                (double)inner;

    if (uniform(mix(one, 7)) < rule->outlier)
        ns *= 10.0;
    if (uniform(mix(variant, 13)) < rule->wild)
        ns *= 1.0 + 0.5 * uniform(mix(variant, 17));
    if (when.untimed < 63 && (rule->stalled >> when.untimed & 1) != 0)
        ns += rule->stall;
    double steps = script->resolution > 0.0 ? round(ns / script->resolution) : ns;
    return script->resolution > 0.0 ? steps * script->resolution : ns;
}
