/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_device.c -- what the first device of a backend says it is. */
#include "runtime/error.h"
#include "support/json.h"
#include "tuner/worker.h"

assay_status assay__worker_device(assay__worker_state *s, json_t *request, json_t *reply)
{
    const char *name = json_string_value(json_object_get(request, "backend"));
    assay__plugin *plugin = name != NULL ? assay__plugins_find(s->plugins, name) : NULL;
    assay_device_info info = {.struct_size = sizeof info};
    size_t count = 0;
    int bad;

    if (plugin == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "backend '%s' is not loaded",
                           name != NULL ? name : "");
    ASSAY_TRY(assay__plugin_open(plugin));
    ASSAY_TRY(assay__backend_device_count(&plugin->backend, &count));
    if (count == 0)
        return assay__fail(ASSAY_UNAVAILABLE, "%s: there is no device", name);
    ASSAY_TRY(assay__backend_device_info(&plugin->backend, 0, &info));
    bad = (int)assay__json_put_string(reply, "device", info.name);
    bad |= (int)assay__json_put_string(reply, "architecture", info.architecture);
    bad |= (int)assay__json_put_string(reply, "driver", info.driver);
    bad |= (int)assay__json_put_string(reply, "uuid", info.uuid);
    if (info.memory_bytes > 0)
        bad |= (int)assay__json_put_real(reply, "memory_bytes", (double)info.memory_bytes);
    return (assay_status)bad;
}
