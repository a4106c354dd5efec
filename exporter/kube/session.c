/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/session.h"

#include "exporter/kube/auth/credentials.h"
#include "exporter/kube/http/kube_client.h"
#include "exporter/system/descriptors.h"
#include "exporter/version.h"
#include "metrics/model/references.h"
#include "metrics/model/template.h"

/* Origin of objects that the finder stores. No reflector has this source or removes them. */
static const struct origin no_source = {.source = UINT32_MAX - 1};

void template_finder_init(struct template_finder *f, const struct kube_source *source,
                          const struct kube_source_settings *settings)
{
    *f = (struct template_finder){
        .source = source,
        .filter = settings->filter,
        .store = settings->store,
        .lookup = lookup_new(settings->transport, settings->filter, settings->now_ms),
    };
}

void template_finder_release(struct template_finder *f)
{
    lookup_free(f->lookup);
    *f = (struct template_finder){0};
}

/* Returns true if a reflector has read, and keeps, all objects of the kind and namespace. */
static bool is_fully_read(const struct kube_source *s, const struct identity *id)
{
    for (size_t i = 0; i < kube_source_reflector_count(s); i++) {
        const struct reflector *r = kube_source_reflector(s, i);

        if (r->synced && !r->objects.bound_templates_only && !r->objects.settings &&
            strcmp(r->kind, id->kind) == 0 && strcmp(r->api_version, id->api_version) == 0 &&
            (!r->ns || strcmp(r->ns, id->ns) == 0))
            return true;
    }
    return false;
}

struct lookup_answer template_finder_find(struct template_finder *f,
                                          const struct template_name *name,
                                          enum lookup_client client, struct identity *id,
                                          int64_t now_ms)
{
    const struct api_resource *resource =
        discovery_find_by_name(kube_source_discovery(f->source), name->kind, name->group);

    if (!resource || kind_of(resource->api_version, resource->kind)->class != CLASS_TEMPLATE)
        return (struct lookup_answer){LOOKUP_UNKNOWN, NULL, ""};
    *id = (struct identity){resource->api_version, resource->kind,
                            resource->namespaced ? name->ns : "", name->name};
    if (namespace_filter_allows(f->filter, id->ns) && is_fully_read(f->source, id))
        return (struct lookup_answer){LOOKUP_MISSING, NULL, ""};
    return lookup_object(f->lookup,
                         &(struct fetch_spec){
                             .id = *id,
                             .resource = resource->resource,
                             .metadata_only = !template_needs_object(id->api_version, id->kind) &&
                                              !kind_has_references(id->api_version, id->kind),
                         },
                         client, now_ms);
}

struct lookup_answer template_finder_read_whole(struct template_finder *f,
                                                const struct entry *template, int64_t now_ms)
{
    const struct type *type = entry_type(template);
    const struct api_resource *resource =
        discovery_find_by_name(kube_source_discovery(f->source), type->kind, type->group);

    if (!resource || strcmp(resource->api_version, type->api_version) != 0)
        return (struct lookup_answer){LOOKUP_UNKNOWN, NULL, ""};
    return lookup_object(
        f->lookup,
        &(struct fetch_spec){.id = entry_identity(template), .resource = resource->resource},
        LOOKUP_COMMAND, now_ms);
}

const struct entry *template_finder_store(struct template_finder *f, const cJSON *object,
                                          struct error *err)
{
    struct identity id;

    if (store_put(f->store, object, no_source, err) == STORE_REJECTED ||
        !identity_read(object, &id, err))
        return NULL;
    return store_find(f->store, &id);
}

/* ---- session ---- */

enum { FAILURES_MAX = 3, NOTE_MAX_BYTES = 320 };

struct kube_session {
    struct rest_config config;
    const struct log *log;
    struct credentials *credentials;
    struct kube_client *client;
    struct kube_source *source;
    struct template_finder finder;
    struct component_leases leases;
    bool reads_leases;
    bool had_credentials; /* Credentials have been available at least once. */
    bool was_usable;      /* Credentials were available in the last turn. */
    /* credentials_problem() of the last turn. */
    char last_problem[sizeof(((struct error *)NULL)->text)];
};

static bool open_session(struct kube_session *s, const struct kube_session_settings *settings,
                         struct error *err)
{
    s->credentials = credentials_new(&s->config, settings->environment, settings->now_ms, err);
    if (!s->credentials)
        return false;
    s->client = kube_client_new(
        &(struct kube_client_settings){
            .server = credentials_url(s->credentials),
            .user_agent = EXPORTER_NAME "/" EXPORTER_VERSION,
            .authority = credentials_ca_name(s->credentials),
            .identity = credentials_identity(s->credentials),
            .gzip = !s->config.disable_compression,
            .sockets = descriptor_shares_current().api,
            /* The kubeconfig parser accepts http:// for loopback addresses only. */
            .insecure_http = strncmp(s->config.server, "http:", strlen("http:")) == 0,
        },
        settings->now_ms);

    const struct kube_source_settings source = {
        .store = settings->store,
        .engine = settings->engine,
        .filter = settings->filter,
        .log = settings->log,
        .transport = kube_client_transport(s->client),
        .streaming_lists = true,
        .references = settings->references,
        .works = settings->works,
        .audit_interval_ms = settings->audit_interval_ms,
        .seed = settings->seed,
        .now_ms = settings->now_ms,
        .clock_ms = settings->clock_ms,
    };

    s->source = kube_source_new(&source);
    template_finder_init(&s->finder, s->source, &source);
    s->reads_leases = settings->lease_namespace != NULL;
    component_leases_init(&s->leases, &(struct component_leases_settings){
                                          .ns = settings->lease_namespace,
                                          .transport = source.transport,
                                          .log = settings->log,
                                          .observer = settings->lease_observer,
                                      });
    return true;
}

struct kube_session *kube_session_new(const struct kube_session_settings *settings,
                                      struct error *err)
{
    struct kube_session *s = xcalloc(1, sizeof(*s));

    s->config = *settings->config;
    *settings->config = (struct rest_config){0};
    s->log = settings->log;
    if (!open_session(s, settings, err)) {
        fail_in(err, "%s", s->config.origin);
        kube_session_free(s);
        return NULL;
    }
    log_write(s->log, LOG_LEVEL_INFO, "reading from an API server", "server",
              kube_session_server_url(s), "as", s->config.origin);
    for (size_t i = 0; i < s->config.note_count; i++) {
        char message[NOTE_MAX_BYTES];

        snprintf(message, sizeof(message), "kubeconfig: %s", s->config.notes[i]);
        log_write(s->log, LOG_LEVEL_WARN, message);
    }
    return s;
}

void kube_session_free(struct kube_session *s)
{
    if (!s)
        return;
    component_leases_release(&s->leases);
    template_finder_release(&s->finder);
    kube_source_free(s->source);
    kube_client_free(s->client);
    credentials_free(s->credentials);
    rest_config_release(&s->config);
    free(s);
}

void kube_session_turn(struct kube_session *s, int64_t now_ms, int64_t clock_ms)
{
    const char *problem;
    bool usable;

    credentials_advance(s->credentials, now_ms, clock_ms);
    problem = credentials_problem(s->credentials);
    usable = credentials_ready(s->credentials);
    if (strcmp(problem, s->last_problem) != 0 || (usable != s->was_usable && *problem != '\0')) {
        snprintf(s->last_problem, sizeof(s->last_problem), "%s", problem);
        if (*problem == '\0')
            log_write(s->log, LOG_LEVEL_INFO, "the credentials can be read again");
        else
            log_write(s->log, LOG_LEVEL_WARN,
                      usable ? "cannot read the credentials again; the old ones stay in force"
                             : "there are no credentials for the API server",
                      "error", problem);
    }
    s->was_usable = usable;
    s->had_credentials = s->had_credentials || usable;
    /* Without credentials every request would fail and count as a failure of the server. */
    if (!s->had_credentials)
        return;
    kube_client_perform(s->client, now_ms);
    kube_source_turn(s->source, now_ms, clock_ms);
    lookup_turn(s->finder.lookup, now_ms);
    if (s->reads_leases)
        component_leases_turn(&s->leases, now_ms);
}

void kube_session_each_file(const struct kube_session *s, kube_file_fn *each, void *context)
{
    rest_config_each_file(&s->config, each, context);
}

void kube_session_hold_files(struct kube_session *s, bool held)
{
    credentials_hold_files(s->credentials, held);
}

int64_t kube_session_files_due(const struct kube_session *s)
{
    return credentials_files_due(s->credentials);
}

int64_t kube_session_due(const struct kube_session *s)
{
    int64_t due_ms = credentials_due(s->credentials);

    if (!s->had_credentials)
        return due_ms;
    if (kube_client_due(s->client) < due_ms)
        due_ms = kube_client_due(s->client);
    if (lookup_due(s->finder.lookup) < due_ms)
        due_ms = lookup_due(s->finder.lookup);
    if (s->reads_leases && component_leases_due(&s->leases) < due_ms)
        due_ms = component_leases_due(&s->leases);
    return kube_source_due(s->source) < due_ms ? kube_source_due(s->source) : due_ms;
}

bool kube_session_poll(struct kube_session *s, struct kube_session *beside, struct pollfd *others,
                       size_t count, int64_t timeout_ms)
{
    struct pollfd all[KUBE_SESSION_EXTRA_FDS_MAX + 2 * CREDENTIALS_FDS];
    size_t all_count = count;
    bool polled;

    assert(count <= KUBE_SESSION_EXTRA_FDS_MAX);
    for (size_t i = 0; i < count; i++)
        all[i] = others[i];
    all_count += credentials_fds(s->credentials, all + all_count);
    if (beside)
        all_count += credentials_fds(beside->credentials, all + all_count);
    polled =
        kube_client_poll(s->client, beside ? beside->client : NULL, all, all_count, timeout_ms);
    for (size_t i = 0; i < count; i++)
        others[i].revents = all[i].revents;
    return polled;
}

bool kube_session_ready(const struct kube_session *s)
{
    return kube_source_ready(s->source);
}

void kube_session_read_referenced_templates(struct kube_session *s)
{
    kube_source_read_referenced_templates(s->source);
}

bool kube_session_can_become_ready(const struct kube_session *s, struct error *err)
{
    if (!s->had_credentials)
        return *s->last_problem == '\0' || fail(err, "%s: %s", s->config.origin, s->last_problem);
    for (size_t i = 0; i < kube_source_reflector_count(s->source); i++) {
        const struct reflector *r = kube_source_reflector(s->source, i);

        if (r->required && !r->synced && r->watch.retries >= FAILURES_MAX)
            return fail(err, "%s (%s): cannot read %s: %s", s->config.server, s->config.origin,
                        r->resource, r->failure.text);
    }
    return true;
}

const char *kube_session_credentials_error(const struct kube_session *s)
{
    return s->last_problem;
}

struct transport kube_session_transport(struct kube_session *s)
{
    return kube_client_transport(s->client);
}

struct template_finder *kube_session_finder(struct kube_session *s)
{
    return &s->finder;
}

const struct component_leases *kube_session_leases(const struct kube_session *s)
{
    return s->reads_leases ? &s->leases : NULL;
}

const struct kube_source *kube_session_source(const struct kube_session *s)
{
    return s->source;
}

const struct kube_client *kube_session_client(const struct kube_session *s)
{
    return s->client;
}

const char *kube_session_server_url(const struct kube_session *s)
{
    return s->config.server;
}

const char *kube_session_config_origin(const struct kube_session *s)
{
    return s->config.origin;
}
