/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/select_kind.c -- kinds of backends, classes of ops, and what a device scores: tables. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "assay/select.h"
#include "runtime/error.h"

/* ---- kinds ---- */

typedef struct kind_row {
    assay_backend_kind kind;
    const char *name, *aliases;
    int32_t priority;
} kind_row;

static const kind_row kinds[] = {
#define X(name, number, text, priority, aliases) \
    {ASSAY_BACKEND_KIND_##name, text, aliases, priority},
    ASSAY_BACKEND_KIND_MAP(X)
#undef X
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static const kind_row *row_of(assay_backend_kind kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind == kind)
            return &kinds[i];
    return NULL;
}

const char *assay_backend_kind_name(assay_backend_kind kind)
{
    const kind_row *row = row_of(kind);

    return row != NULL ? row->name : "?";
}

int32_t assay_backend_kind_priority(assay_backend_kind kind)
{
    const kind_row *row = row_of(kind);

    return row != NULL ? row->priority : 0;
}

/* Is the word one of a comma list, whatever the case? */
static bool is_in(const char *list, const char *word, size_t length)
{
    while (*list != '\0') {
        size_t item = strcspn(list, ",");
        if (item == length && strncasecmp(list, word, length) == 0)
            return true;
        list += item + (list[item] == ',');
    }
    return false;
}

assay_status assay_backend_kind_parse(const char *text, assay_backend_kind *out)
{
    size_t length;

    text = text != NULL ? text : "";
    while (isspace((unsigned char)*text))
        text++;
    for (length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]);)
        length--;
    for (size_t i = 0; i < KINDS && length > 0; i++)
        if (is_in(kinds[i].name, text, length) || is_in(kinds[i].aliases, text, length)) {
            *out = kinds[i].kind;
            return ASSAY_OK;
        }
    return assay__fail(ASSAY_INVALID,
                       "no kind of backend is called '%.*s'; there are: "
#define X(name, number, text_, priority, aliases) text_ " (" aliases ") "
                       ASSAY_BACKEND_KIND_MAP(X)
#undef X
                           "and nothing else",
                       (int)(length < 40 ? length : 40), text);
}

/* ---- classes of ops ---- */

const char *assay_op_class_name(assay_op_class op_class)
{
    static const char *const names[] = {
#define X(name, text) text,
        ASSAY_OP_CLASS_MAP(X)
#undef X
    };

    return (unsigned)op_class < ASSAY_OP_CLASS_COUNT ? names[op_class] : "?";
}

assay_op_class assay_op_class_of(assay_op_id op)
{
    const assay_op_info *info = assay_op_get(op);

    if (info == NULL)
        return ASSAY_OP_CLASS_COUNT;
    switch (info->family) {
    case ASSAY_FAMILY_CONTRACTION:
        return strncmp(info->name, "conv2d", 6) == 0 ? ASSAY_OP_CLASS_CONVOLUTION
                                                     : ASSAY_OP_CLASS_MATMUL;
    case ASSAY_FAMILY_ATTENTION:
        return ASSAY_OP_CLASS_ATTENTION;
    case ASSAY_FAMILY_ROW:
    case ASSAY_FAMILY_NORM:
    case ASSAY_FAMILY_REDUCE:
        return ASSAY_OP_CLASS_REDUCTION;
    case ASSAY_FAMILY_ELEMENTWISE_BINARY:
    case ASSAY_FAMILY_ELEMENTWISE_UNARY:
        return ASSAY_OP_CLASS_ELEMENTWISE;
    case ASSAY_FAMILY_INDEX:
        return ASSAY_OP_CLASS_MEMORY;
    case ASSAY_FAMILY_COUNT:
        break;
    }
    return ASSAY_OP_CLASS_COUNT;
}

/* ---- score ---- */

uint32_t assay_capability_score(const assay_device_profile *profile)
{
    static const struct {
        assay_feature feature;
        uint32_t points;
    } rows[] = {{ASSAY_FEATURE_SUBGROUP_OPS, 8},
                {ASSAY_FEATURE_SUBGROUP_SHUFFLE, 4},
                {ASSAY_FEATURE_SHARED_MEMORY, 4},
                {ASSAY_FEATURE_TENSOR_CORES, 4},
                {ASSAY_FEATURE_F16, 2},
                {ASSAY_FEATURE_BF16, 2},
                {ASSAY_FEATURE_INDIRECT_DISPATCH, 2},
                {ASSAY_FEATURE_DEVICE_TIMESTAMPS, 2},
                {ASSAY_FEATURE_HARDWARE_COUNTERS, 2}};
    uint32_t score = 0;

    if (profile == NULL)
        return 0;
    score += profile->max_buffer_bytes != 0 ? 16 : 0;
    score += profile->max_workgroup_invocations >= 64 ? 8 : 0;
    score += profile->max_workgroup_invocations >= 256 ? 4 : 0;
    score += profile->subgroup_size != 0 ? 8 : 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        score += (profile->features >> rows[i].feature & 1) != 0 ? rows[i].points : 0;
    return score;
}
