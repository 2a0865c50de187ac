/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_context.c -- opens a table and a store, publishes generations, closes.
 *
 * A generation is made beside the current one and swapped in whole.  Readers are only ever inside
 * its cache; all the rest is used under `answering`, so that only caches wait for readers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/deployment_host.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

/* ---- publishing ---- */

static void free_replaced(assay_context *context)
{
    assay__pick_cache **link = &context->replaced;

    while (*link != NULL) {
        assay__pick_cache *cache = *link;
        if (assay__readers_hold(&context->readers, cache)) {
            link = &cache->next;
            continue;
        }
        *link = cache->next;
        assay__pick_cache_destroy(&cache);
    }
}

/* Takes both; with `answering` held. */
static void publish(assay_context *context, assay__generation *g)
{
    assay__generation *old = context->current;

    context->current = g;
    atomic_store(&context->cache, g->cache);
    atomic_store(&context->generation, g->cache->generation);
    if (old == NULL)
        return;
    old->cache->next = context->replaced;
    context->replaced = old->cache;
    assay__generation_destroy(&old);
    if (assay__readers_barrier(&context->readers))
        free_replaced(context);
}

/* With `reloading` held. store NULL: the one at hand stays. */
static assay_status publish_new(assay_context *context, assay__pick_store *store)
{
    assay__pick_store *old = store != NULL ? context->store_data : NULL;
    assay__generation *g = NULL;

    ASSAY_TRY(
        assay__generation_create(context->table, store != NULL ? store : context->store_data, &g));
    pthread_mutex_lock(&context->answering);
    if (store != NULL)
        context->store_data = store;
    publish(context, g);
    pthread_mutex_unlock(&context->answering);
    assay__pick_store_destroy(&old);
    return ASSAY_OK;
}

assay_context *assay__context_branch_after(assay_context *root, const assay_context *branch)
{
    pthread_mutex_lock(&root->branching);
    assay_context *next = branch != NULL ? branch->next : root->branches;
    pthread_mutex_unlock(&root->branching);
    return next;
}

static assay_status publish_registered(assay_context *context)
{
    assay_status status;

    pthread_mutex_lock(&context->reloading);
    status = publish_new(context, NULL);
    pthread_mutex_unlock(&context->reloading);
    return status;
}

static assay_status on_registered(void *cookie)
{
    assay_context *context = cookie;

    ASSAY_TRY(publish_registered(context));
    for (assay_context *b = NULL; (b = assay__context_branch_after(context, b)) != NULL;)
        ASSAY_TRY(publish_registered(b));
    return ASSAY_OK;
}

/* ---- the store ---- */

static void tell(const assay_context *context, int level, const char *text)
{
    if (context->log != NULL)
        context->log(context->cookie, level, text);
}

static void look_at_file(const char *path, uint64_t out[5])
{
    struct stat info;

    memset(out, 0, 5 * sizeof *out);
    if (stat(path, &info) != 0)
        return;
    out[0] = (uint64_t)info.st_dev;
    out[1] = (uint64_t)info.st_ino;
    out[2] = (uint64_t)info.st_size;
    out[3] = (uint64_t)info.st_mtim.tv_sec;
    out[4] = (uint64_t)info.st_mtim.tv_nsec;
}

/* Another file has the path now, or something has written to this one: a writer that emptied its
 * -wal into it, or a program that copied another store over it, which SQLite does not notice.  The
 * handle would read what was there for ever. One that is gone altogether says nothing new. */
static void drop_replaced_store(assay_context *context)
{
    uint64_t now[5];

    if (context->store == NULL)
        return;
    look_at_file(context->path, now);
    if ((now[0] == 0 && now[1] == 0) || memcmp(now, context->file, sizeof now) == 0)
        return;
    context->ops->close(context->store);
    context->store = NULL;
}

/* A missing store means defaults; all else that is wrong with it is an error. */
static assay_status open_store(assay_context *context)
{
    assay_status status;

    if (context->path == NULL || context->store != NULL)
        return ASSAY_OK;
    context->store_owner = getpid();
    look_at_file(context->path, context->file); /* before: a swap in between is seen next time */
    status = context->ops->open_read(context->path, &context->store);
    if (status != ASSAY_DB_MISSING)
        return status;
    context->store = NULL;
    tell(context, 1, assay_last_error());
    return ASSAY_OK;
}

static assay_status read_store(assay_context *context, assay__pick_store **out)
{
    ASSAY_TRY(open_store(context));
    if (context->store == NULL)
        return assay__pick_store_create(out);
    return assay__pick_store_read(context->ops, context->store, context->path, context->deployment,
                                  out);
}

/* Nobody has committed since the store was read; answers that are cached stay. */
static bool is_unchanged(assay_context *context)
{
    int64_t version = 0;

    return context->store != NULL &&
           context->ops->data_version(context->store, &version) == ASSAY_OK &&
           context->store_data->path[0] != '\0' && version == context->store_data->data_version;
}

/* A connection does not survive fork(): SQLite would take the locks of the parent for the child's
 * own, and what the child reads could be overwritten meanwhile. */
static bool is_inherited(const assay_context *context)
{
    return context->store != NULL && context->store_owner != getpid();
}

static assay_status reload(assay_context *context)
{
    assay__pick_store *store = NULL;
    assay_status status;

    if (is_inherited(context))
        return assay__fail(ASSAY_INVALID,
                           "%s: opened before fork(): this process may go on picking, not reload; "
                           "fork first, then open",
                           context->path);
    drop_replaced_store(context);
    if (is_unchanged(context))
        return ASSAY_OK;
    ASSAY_TRY(read_store(context, &store));
    status = publish_new(context, store);
    if (status != ASSAY_OK)
        assay__pick_store_destroy(&store);
    return status;
}

static assay_status reload_one(assay_context *context)
{
    assay_status status;

    pthread_mutex_lock(&context->reloading);
    status = reload(context);
    pthread_mutex_unlock(&context->reloading);
    return status;
}

assay_status assay_reload(assay_context *context)
{
    ASSAY_TRY(reload_one(context));
    for (assay_context *b = NULL; (b = assay__context_branch_after(context, b)) != NULL;)
        ASSAY_TRY(reload_one(b));
    return ASSAY_OK;
}

/* ---- opening ---- */

static bool is_elsewhere(const assay__plugin *p)
{
    return p->manifest != NULL && p->manifest->location != ASSAY_LOCATION_CPU;
}

static const char left_out[] = "its device is not asked for";

static void leave_devices_out(assay__plugins *plugins, const char *but)
{
    for (size_t i = 0; i < assay__plugins_count(plugins); i++) {
        assay__plugin *p = assay__plugins_at(plugins, i);
        if (p->status == ASSAY_OK && is_elsewhere(p) &&
            !assay__name_in_list(but, p->manifest->name))
            assay__plugin_refuse(p, assay__fail(ASSAY_UNAVAILABLE, "%s", left_out));
    }
}

static assay_status load_plugins(assay_context *context, const assay_open_options *o,
                                 const char *isa)
{
    char line[512];

    ASSAY_TRY(assay__plugins_load(o->plugin_path, o->backends, &context->plugins));
    if (o->devices != NULL)
        leave_devices_out(context->plugins, o->devices);
    ASSAY_TRY(assay__plugins_register(context->plugins, isa, o->ops, context->table));
    for (size_t i = 0; i < assay__plugins_count(context->plugins); i++) {
        const assay__plugin *p = assay__plugins_at(context->plugins, i);
        if (p->status == ASSAY_OK || strcmp(p->reason, left_out) == 0) /* that is no trouble */
            continue;
        (void)snprintf(line, sizeof line, "%.200s: %s", p->path, p->reason);
        tell(context, 1, line);
    }
    return ASSAY_OK;
}

/* A name that is none would leave all closed and every question refused. */
static assay_status check_ops(const char *ops)
{
    char name[64];
    assay_op_id op;

    while (ops != NULL && *ops != '\0') {
        size_t length = strcspn(ops, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 64 ? length : 63), ops);
        if (length > 0 && assay_op_find(name, &op) != ASSAY_OK)
            return assay__fail_context(ASSAY_INVALID, "options, field ops");
        ops += length + (ops[length] == ',');
    }
    return ASSAY_OK;
}

static assay_status copy_text(const char *text, char **out)
{
    *out = text != NULL ? strdup(text) : NULL;
    if (text != NULL && *out == NULL)
        return assay__fail(ASSAY_NOMEM, "route picker: no memory");
    return ASSAY_OK;
}

/* The one device elsewhere that all backends asked for (NULL: all that are left) run on; NULL: the
 * host, or several. */
static assay__plugin *device_asked_for(const assay_context *context, const char *named)
{
    assay__plugin *found = NULL;

    for (size_t i = 0; i < assay__plugins_count(context->plugins); i++) {
        assay__plugin *p = assay__plugins_at(context->plugins, i);
        if (p->manifest == NULL || (named != NULL ? !assay__name_in_list(named, p->manifest->name)
                                                  : p->status != ASSAY_OK))
            continue;
        if (!is_elsewhere(p) || found != NULL)
            return NULL;
        found = p;
    }
    return found;
}

/* What was measured on a device counts where its kernels alone are asked for: beside those of the
 * host its engines ask a branch.  Where there is none, or it does not say what it is, the host's
 * stays: nothing of it applies, and each of its kernels says why. */
static assay_status take_device_deployment(assay_context *context, const assay_open_options *o)
{
    const bool asks = o->backends != NULL || o->devices != NULL;
    assay__plugin *plugin = asks ? device_asked_for(context, o->backends) : NULL;
    assay_deployment there;
    assay_digest digest;
    char line[512];

    if (plugin == NULL || assay__plugin_open(plugin) != ASSAY_OK)
        return ASSAY_OK;
    const assay_status status =
        assay__deployment_of(plugin->manifest->name, &plugin->backend, 0, &there);
    if (status != ASSAY_OK) {
        (void)snprintf(line, sizeof line,
                       "%s: its device does not say what it is; routes of the host answer: %.200s",
                       plugin->manifest->name, assay_last_error());
        tell(context, 1, line);
        return status == ASSAY_NOMEM ? status : ASSAY_OK;
    }
    assay_deployment_digest(&there, &digest);
    assay_digest_format(&digest, context->deployment);
    return ASSAY_OK;
}

static assay_status start(assay_context *context, const char *path, const assay_open_options *o,
                          const char *deployment_hex)
{
    assay_deployment here;
    assay_digest digest;
    assay__pick_store *store = NULL;
    assay_status status;

    ASSAY_TRY(check_ops(o->ops));
    ASSAY_TRY(copy_text(path, &context->path));
    ASSAY_TRY(copy_text(o->backends, &context->named));
    ASSAY_TRY(assay_table_create(&context->table));
    ASSAY_TRY(assay__deployment_host(&here));
    assay_deployment_digest(&here, &digest);
    assay_digest_format(&digest, context->deployment);
    if (!o->bare) {
        ASSAY_TRY(load_plugins(context, o, here.isa));
        ASSAY_TRY(take_device_deployment(context, o));
    }
    if (deployment_hex != NULL)
        (void)snprintf(context->deployment, sizeof context->deployment, "%s", deployment_hex);
    ASSAY_TRY(read_store(context, &store));
    status = publish_new(context, store);
    if (status != ASSAY_OK) {
        assay__pick_store_destroy(&store);
        return status;
    }
    assay__table_watch(context->table, on_registered, context);
    return ASSAY_OK;
}

static size_t list_locks(assay_context *context, pthread_mutex_t *out[4])
{
    pthread_mutex_t *const all[4] = {&context->answering, &context->reloading, &context->opening,
                                     &context->branching};

    memcpy(out, all, sizeof all);
    return 4;
}

static void destroy_locks(assay_context *context, size_t count)
{
    pthread_mutex_t *locks[4];

    (void)list_locks(context, locks);
    while (count > 0)
        pthread_mutex_destroy(locks[--count]);
}

static bool init_locks(assay_context *context)
{
    pthread_mutex_t *locks[4];
    const size_t count = list_locks(context, locks);

    for (size_t i = 0; i < count; i++)
        if (pthread_mutex_init(locks[i], NULL) != 0) {
            destroy_locks(context, i);
            return false;
        }
    return true;
}

/* With its locks, readers and rules, and nothing else yet. */
static assay_status make_context(const assay__store_ops *ops, assay_context **out)
{
    assay_context *context = aligned_alloc(64, (sizeof *context + 63) / 64 * 64);

    if (context == NULL)
        return assay__fail(ASSAY_NOMEM, "route picker: no memory");
    memset(context, 0, sizeof *context);
    if (assay__readers_init(&context->readers) != ASSAY_OK) {
        free(context);
        return ASSAY_NOMEM;
    }
    if (!init_locks(context)) {
        assay__readers_clear(&context->readers);
        free(context);
        return assay__fail(ASSAY_NOMEM, "route picker: no memory for locks");
    }
    assay__key_rules_init(&context->rules);
    context->ops = ops;
    *out = context;
    return ASSAY_OK;
}

assay_status assay__context_open(const char *path, const assay_open_options *options,
                                 const assay__store_ops *ops, const char *deployment_hex,
                                 assay_context **out)
{
    assay_open_options o = {.struct_size = sizeof o};
    assay_context *context;
    assay_status status;

    if (options != NULL)
        memcpy(&o, options, options->struct_size < sizeof o ? options->struct_size : sizeof o);
    ASSAY_TRY(make_context(ops, &context));
    context->log = o.log;
    context->cookie = o.cookie;
    status = start(context, path, &o, deployment_hex);
    if (status != ASSAY_OK) {
        assay_close(&context);
        return status;
    }
    *out = context;
    return ASSAY_OK;
}

assay_status assay_open(const char *path, const assay_open_options *options, assay_context **out)
{
    return assay__context_open(path, options, assay__store_sqlite(), NULL, out);
}

/* ---- branches ---- */

static assay_status start_branch(assay_context *branch, const char *deployment_hex)
{
    assay__pick_store *store = NULL;
    assay_status status;

    ASSAY_TRY(copy_text(branch->root->path, &branch->path));
    ASSAY_TRY(copy_text(branch->root->named, &branch->named));
    (void)snprintf(branch->deployment, sizeof branch->deployment, "%s", deployment_hex);
    ASSAY_TRY(read_store(branch, &store));
    status = publish_new(branch, store);
    if (status != ASSAY_OK)
        assay__pick_store_destroy(&store);
    return status;
}

static assay_context *find_branch(assay_context *root, const char *deployment_hex)
{
    assay_context *b = NULL;

    while ((b = assay__context_branch_after(root, b)) != NULL &&
           strcmp(b->deployment, deployment_hex) != 0)
        ;
    return b;
}

/* With the root's `reloading` held: no two of a deployment, and none misses a registration. */
static assay_status add_branch(assay_context *root, const char *deployment_hex, assay_context **out)
{
    *out = find_branch(root, deployment_hex);
    if (*out != NULL)
        return ASSAY_OK;
    ASSAY_TRY(make_context(root->ops, out));
    (*out)->log = root->log;
    (*out)->cookie = root->cookie;
    (*out)->root = root;
    (*out)->table = root->table;
    (*out)->plugins = root->plugins;
    assay_status status = start_branch(*out, deployment_hex);
    if (status != ASSAY_OK) {
        assay_close(out);
        return status;
    }
    pthread_mutex_lock(&root->branching);
    (*out)->next = root->branches;
    root->branches = *out;
    pthread_mutex_unlock(&root->branching);
    return ASSAY_OK;
}

assay_status assay__context_branch(assay_context *root, const char *deployment_hex,
                                   assay_context **out)
{
    if (strcmp(root->deployment, deployment_hex) == 0) {
        *out = root;
        return ASSAY_OK;
    }
    pthread_mutex_lock(&root->reloading);
    assay_status status = add_branch(root, deployment_hex, out);
    pthread_mutex_unlock(&root->reloading);
    return status;
}

assay_status assay__context_for(assay_context *root, const char *backends, assay_context **out)
{
    assay__plugin *plugin = backends != NULL ? device_asked_for(root, backends) : NULL;
    char hex[ASSAY_DIGEST_HEX];
    assay_deployment there;
    assay_digest digest;

    *out = root;
    if (plugin == NULL || assay__plugin_open(plugin) != ASSAY_OK ||
        assay__deployment_of(plugin->manifest->name, &plugin->backend, 0, &there) != ASSAY_OK)
        return ASSAY_OK;
    assay_deployment_digest(&there, &digest);
    assay_digest_format(&digest, hex);
    return assay__context_branch(root, hex, out);
}

pthread_mutex_t *assay__context_opening(assay_context *context)
{
    return context->root != NULL ? &context->root->opening : &context->opening;
}

/* ---- closing ---- */

static void free_interned(assay__interned *i)
{
    while (i != NULL) {
        assay__interned *next = i->next;
        free(i->can_run);
        free(i->constraint);
        free(i);
        i = next;
    }
}

static void close_branches(assay_context *root)
{
    while (root->branches != NULL) {
        assay_context *b = root->branches;
        root->branches = b->next;
        assay_close(&b);
    }
}

void assay_close(assay_context **context)
{
    assay_context *c;

    if (context == NULL || *context == NULL)
        return;
    c = *context;
    if (c->table != NULL && c->root == NULL)
        assay__table_watch(c->table, NULL, NULL);
    close_branches(c);
    if (c->current != NULL) {
        assay__pick_cache_destroy(&c->current->cache);
        assay__generation_destroy(&c->current);
    }
    while (c->replaced != NULL) {
        assay__pick_cache *cache = c->replaced;
        c->replaced = cache->next;
        assay__pick_cache_destroy(&cache);
    }
    assay__pick_store_destroy(&c->store_data);
    if (c->store != NULL && !is_inherited(c))
        c->ops->close(c->store);
    assay__judgement_clear(&c->scratch);
    assay__misses_clear(&c->misses);
    free_interned(c->interned);
    if (c->root == NULL) {
        assay_table_destroy(&c->table);
        assay__plugins_destroy(&c->plugins);
    }
    assay__readers_clear(&c->readers);
    destroy_locks(c, 4);
    free(c->path);
    free(c->named);
    free(c);
    *context = NULL;
}

assay_table *assay_context_table(assay_context *context)
{
    return context->table;
}

assay__plugins *assay__context_plugins(assay_context *context)
{
    return context->plugins;
}
