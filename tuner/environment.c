/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/environment.c -- see environment.h. */
#include "tuner/environment.h"

#include <stdlib.h>

#include "runtime/context_record.h"
#include "runtime/error.h"

#define CAP 1024

assay_status assay__context_json(char **out)
{
    const assay__machine here = ASSAY__MACHINE_HERE;
    assay__context_record record;
    char *text = malloc(CAP);

    if (text == NULL)
        return assay__fail(ASSAY_NOMEM, "environment record");
    assay__context_read(&here, &record);
    if (assay__context_format(&record, text, CAP) >= CAP) {
        free(text);
        return assay__fail(ASSAY_INTERNAL, "the environment record is too long");
    }
    *out = text;
    return ASSAY_OK;
}
