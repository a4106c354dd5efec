/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"

#include "exporter/kube/auth/locate.h"
#include "exporter/system/descriptors.h"
#include "exporter/system/platform.h"
#include "exporter/yaml/yaml_writer.h"
#include "metrics/rules/problems/controller_progress.h"

enum {
    NAME_MAX_BYTES = 4096,
    SLICE_MS = 5,
    SOURCES_INTERVAL_MS = 10 * 1000,
    EVALUATION_BATCH = 64, /* Steps between reads of the clock; small, to end slices in time. */
    HISTORY_MAX = 10 * 1000 * 1000,
    LEASE_MIN_MS = 3000,
    WARNING_MAX_BYTES = 1024,
    KEPT_BYTES_MAX = 64 * 1024 * 1024, /* Limit for a pipe, for the places of fields. */
    LEASE_MAX_MS = 3600 * 1000,
    REPORT_SKIPPED_MAX = 1000, /* Places of skipped documents in a report. */
};

static void set_namespace_filter(struct evaluation *e)
{
    const struct options *o = &e->options;

    e->filter = (struct namespace_filter){
        .namespaces = (const char *const *)o->namespaces.items,
        .namespace_count = o->namespaces.count,
        .denied = (const char *const *)o->namespaces_denied.items,
        .denied_count = o->namespaces_denied.count,
        .shard = (uint32_t)o->shard,
        .total_shards = (uint32_t)o->total_shards,
    };
}

/* Reports a Lease of one of Karmada's components to the judge of the control plane. */
static void on_component_lease(void *context, const struct component_lease *lease)
{
    struct evaluation *e = context;
    struct controller_progress *progress = engine_progress(e->engine);

    if (!progress)
        return;
    if (lease->exists)
        controller_progress_lease(progress, lease->component, lease->holder, lease->renew_ms,
                                  lease->acquire_ms, platform_now_ms());
    else
        controller_progress_lease_absent(progress, lease->component);
    e->caught_up = false;
}

static bool open_session(struct evaluation *e, const struct evaluation_settings *settings,
                         struct error *err)
{
    CLEANUP(rest_config_release) struct rest_config config = {0};
    const struct options *o = &e->options;
    const struct kube_search search = {
        .kubeconfig = o->kubeconfig,
        .context = o->context,
        .environment = settings->environment,
    };

    switch (kube_locate(&search, &config, err)) {
    case KUBE_FOUND:
        break;
    case KUBE_NOT_CONFIGURED:
        return fail(err, "no source: set manifests (--manifests PATH), or an API server "
                         "(--kubeconfig FILE)");
    case KUBE_UNUSABLE:
        return false;
    }
    e->session = kube_session_new(
        &(struct kube_session_settings){
            .config = &config,
            .environment = settings->environment,
            .store = e->store,
            .engine = e->engine,
            .filter = &e->filter,
            .log = settings->log,
            .lease_namespace = settings->follow ? o->lease_namespace : NULL,
            .lease_observer = {on_component_lease, e},
            .references = settings->references,
            .works = o->works,
            .audit_interval_ms = (int64_t)o->audit_interval_ms,
            .seed = settings->seed,
            .now_ms = platform_steady_ms(),
            .clock_ms = platform_now_ms(),
        },
        err);
    return e->session != NULL;
}

static bool check_options(const struct options *o, struct error *err)
{
    if (o->total_shards > UINT32_MAX || o->shard >= (o->total_shards ? o->total_shards : 1))
        return fail(err,
                    "--shard %" PRIu64 " of --total-shards %" PRIu64
                    ": the shards are numbered from 0, and this number is too large",
                    o->shard, o->total_shards);
    if (o->events_emit && o->manifests.count > 0)
        return fail(err,
                    "--events.emit writes Events to Karmada's API server, and manifests have no "
                    "API server: remove the flag, or use --kubeconfig FILE instead of manifests");
    if (o->events_lease_ms < LEASE_MIN_MS || o->events_lease_ms > LEASE_MAX_MS ||
        o->events_lease_ms % 1000 != 0)
        return fail(err, "--events.lease-duration: must be whole seconds, from 3s to 1h");
    if (o->history_entries > HISTORY_MAX)
        return fail(err, "--history.entries %" PRIu64 ": the maximum is %d", o->history_entries,
                    HISTORY_MAX);
    if (*o->lease_namespace == '\0')
        return fail(err, "--karmada.lease-namespace: name a namespace");
    return true;
}

/* Passes the versions of kinds, which follow from the definitions in the files, to the engine. */
static void set_api_versions(struct evaluation *e)
{
    e->api_versions_version = manifests_api_versions_version(e->manifests);
    engine_set_api_version_source(e->engine, manifests_api_versions(e->manifests));
}

static void update_api_versions(struct evaluation *e)
{
    if (e->options.manifests.count > 0 &&
        e->api_versions_version != manifests_api_versions_version(e->manifests))
        set_api_versions(e);
}

static bool open_sources(struct evaluation *e, const struct evaluation_settings *settings,
                         struct error *err)
{
    const struct options *o = &e->options;
    bool names_server = *o->kubeconfig != '\0' || *o->context != '\0';

    if (!check_options(o, err))
        return false;
    e->manifests = manifests_new(e->store, (const char *const *)o->manifests.items,
                                 o->manifests.count, o->namespace, &manifest_limits_default);
    if (!manifests_set_options(e->manifests, o, err))
        return false;
    if (settings->renders)
        manifests_set_render_mode(e->manifests, (enum render_mode)o->render);
    set_namespace_filter(e);
    manifests_set_filter(e->manifests, &e->filter);
    manifests_set_reader(e->manifests, settings->reader);
    manifests_keep_streams(e->manifests, KEPT_BYTES_MAX);
    if (settings->follow)
        e->changes_fd = manifests_watch(e->manifests, err);
    if (settings->follow && e->changes_fd < 0)
        return false;
    if (*o->asset_file != '\0')
        e->assets = asset_source_new(e->store, o->asset_file, settings->reader, settings->log);
    if (o->manifests.count > 0)
        set_api_versions(e);
    if (o->manifests.count > 0)
        return !names_server || fail(err, "manifests and an API server (--kubeconfig, --context) "
                                          "cannot be used together: omit one of them");
    return open_session(e, settings, err);
}

static void update_row(struct evaluation *e, struct entry *entry)
{
    struct row row;

    if (entry_class(entry) != CLASS_TEMPLATE)
        return;
    if (!entry_exists(entry) || !template_decision(entry)) {
        rows_remove(e->rows, entry);
        return;
    }
    row_init(&row, entry, e->engine);
    rows_put(e->rows, &row);
}

static void on_decision(void *context, struct entry *entry)
{
    struct evaluation *e = context;

    if (e->registry)
        registry_update_entry(e->registry, entry);
    if (e->rows)
        update_row(e, entry);
    if (e->observer.decided)
        e->observer.decided(e->observer.context, entry);
}

/* The row of a template has its worst problem, and that of its binding. */
static void on_problem(void *context, struct entry *entry)
{
    struct evaluation *e = context;
    const struct binding_decision *binding = binding_decision(entry);

    if (!e->rows)
        return;
    update_row(e, entry);
    if (binding && binding_decision_template(binding))
        update_row(e, binding_decision_template(binding));
}

/* ---- release of Karmada ---- */

static struct release_finding find_release(const struct evaluation *e)
{
    struct release_finding given = {.behind = RELEASE_SCHEMA_COUNT, .ahead = RELEASE_SCHEMA_COUNT};

    given.range = engine_release(e->engine);
    if (given.range.origin == RELEASE_GIVEN)
        return given;
    if (e->session)
        return kube_source_release(kube_session_source(e->session))->finding;
    return release_evidence_evaluate(manifests_release_evidence(e->manifests), RELEASE_OF_FILES);
}

void evaluation_each_release_warning(const struct evaluation *e,
                                     void (*warn)(void *context, const char *text), void *context)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(WARNING_MAX_BYTES);
    const char *at = e->options.feature_gates;
    struct release_range given;
    struct error ignored;
    enum gate gate;
    bool known;

    if (release_parse(e->options.karmada_version, &given, &known, &ignored) && !known)
        release_warn_unknown(e->options.karmada_version, given, &text);
    else
        release_finding_warn(&e->release, &text);
    if (text.len > 0)
        warn(context, text.data);
    while (gates_next_foreign(&at, gates_release(e->release.range), &gate)) {
        strbuf_reset(&text);
        strbuf_addf(&text, "--karmada.feature-gates: Karmada ");
        release_range_append(e->release.range, &text);
        strbuf_addf(&text, " has no feature gate '%s', which Karmada %s added: it has no effect",
                    gate_name(gate), release_name(gate_since(gate)));
        warn(context, text.data);
    }
}

static void log_release_warning(void *context, const char *text)
{
    const struct log *log = context;

    log_write(log, LOG_LEVEL_WARN, text);
}

/* Sets the release of the engine, and logs it, after the sources have shown another one. */
static void update_release(struct evaluation *e)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(WARNING_MAX_BYTES);
    struct release_finding finding = find_release(e);

    if (release_finding_equal(&finding, &e->release))
        return;
    e->release = finding;
    engine_set_release(e->engine, finding.range);
    release_range_describe(finding.range, &text);
    log_write(e->log, LOG_LEVEL_INFO, "the rules of another release of Karmada are in force",
              "release", text.data);
    evaluation_each_release_warning(e, log_release_warning, (void *)(uintptr_t)e->log);
}

/*
 * Returns the templates of which the store keeps the whole JSON. `serve` reads metadata only
 * from an API server, and the other commands read there only some kinds as whole objects.
 */
static enum kept_documents documents_to_keep(const struct options *o,
                                             const struct evaluation_settings *settings)
{
    if (o->manifests.count > 0)
        return DOCUMENTS_OF_ALL;
    return settings->documents ? DOCUMENTS_OF_WHOLE_OBJECTS : DOCUMENTS_OF_NONE;
}

static struct registry *make_registry(const struct evaluation *e, uint64_t seed)
{
    const struct options *o = &e->options;

    return registry_new(e->engine,
                        &(struct registry_options){.detail_limit = o->detail_limit,
                                                   .policy_limit = o->policy_limit,
                                                   .problem_limit = o->problem_limit,
                                                   .opt_in = o->opt_in},
                        seed);
}

struct evaluation *evaluation_new(const struct evaluation_settings *settings, struct error *err)
{
    struct evaluation *e = xcalloc(1, sizeof(*e));

    e->options = *settings->options;
    *settings->options = (struct options){0};
    e->changes_fd = -1;
    e->since_ms = platform_now_ms();
    e->reader = settings->reader;
    e->log = settings->log;

    const struct options *o = &e->options;
    const struct rules_options rules = {
        .takeover = (enum takeover)o->takeover,
        .grace_ms = o->grace_ms,
        .versions = o->versions,
        .lease_skew_ms = o->lease_skew_ms,
        .skipped_namespaces = o->skipped_namespaces,
        .skipped_apis = o->skipped_apis,
        .feature_gates = o->feature_gates,
        .karmada_version = o->karmada_version,
        .yaml = &yaml_field_converter,
    };

    e->store = store_new(settings->seed);
    store_keep_documents(e->store, documents_to_keep(o, settings));
    store_set_owner_key(e->store, *o->owner_key ? o->owner_key : NULL);
    e->engine = engine_new(e->store, &rules, settings->seed, err);
    if (!e->engine || !open_sources(e, settings, err)) {
        evaluation_free(e);
        return NULL;
    }
    if (settings->series)
        e->registry = make_registry(e, settings->seed);
    e->release = find_release(e);
    evaluation_each_release_warning(e, log_release_warning, (void *)(uintptr_t)e->log);
    engine_observe(e->engine, (struct engine_observer){.decided = on_decision, .context = e});
    return e;
}

void evaluation_free(struct evaluation *e)
{
    if (!e)
        return;
    source_problems_free(e->source_problems);
    kube_session_free(e->session);
    asset_source_free(e->assets);
    field_locator_free(e->locator);
    manifests_free(e->manifests);
    registry_free(e->registry);
    evaluation_drop_rows(e);
    engine_free(e->engine);
    store_free(e->store);
    options_release(&e->options);
    free(e);
}

void evaluation_leave(struct evaluation *e)
{
    /* A sanitizer reports memory that is not freed. */
    if (HARDENING_SANITIZED) {
        evaluation_free(e);
        return;
    }
    if (e)
        kube_session_free(e->session);
}

static void turn_session(struct evaluation *e)
{
    if (!e->session)
        return;
    kube_session_turn(e->session, platform_steady_ms(), platform_now_ms());
    e->caught_up = false;
}

static enum loading load_manifests(struct evaluation *e, struct error *err)
{
    bool fine;

    if (!e->reader) {
        fine = manifests_load(e->manifests, err);
        update_api_versions(e);
        return fine ? LOADING_DONE : LOADING_FAILED;
    }
    if (!e->manifests_started)
        manifests_start_reading(e->manifests);
    e->manifests_started = true;
    manifests_pump(e->manifests, SLICE_MS);
    update_api_versions(e);
    switch (manifests_state(e->manifests, err)) {
    case MANIFESTS_BUSY:
        return LOADING_BUSY;
    case MANIFESTS_HANG:
        return LOADING_HANGS;
    case MANIFESTS_MISSING:
        return LOADING_FAILED;
    case MANIFESTS_READ:
        return LOADING_DONE;
    }
    abort();
}

enum loading evaluation_load(struct evaluation *e, struct error *err)
{
    e->caught_up = false;
    turn_session(e);
    asset_source_pump(e->assets, platform_steady_ms(), SLICE_MS);
    if (asset_source_hangs(e->assets)) {
        fail(err, "%s", asset_source_problem(e->assets));
        return LOADING_HANGS;
    }
    if ((e->session && !kube_session_ready(e->session)) || !asset_source_ready(e->assets))
        return LOADING_BUSY;

    enum loading manifests = load_manifests(e, err);

    update_release(e);
    if (manifests != LOADING_DONE)
        return manifests;
    /* Fails only if the asset file has never been read completely: a later error keeps its data. */
    if (e->assets && asset_source_snapshot_ms(e->assets) == 0) {
        fail(err, "%s", asset_source_problem(e->assets));
        return LOADING_FAILED;
    }
    return LOADING_DONE;
}

bool evaluation_can_reload(const struct evaluation *e, struct error *err)
{
    for (size_t i = 0; i < e->options.manifests.count; i++) {
        if (strcmp(e->options.manifests.items[i], "-") == 0)
            return fail(err, "cannot reload: standard input is read only once");
    }
    return true;
}

const char *evaluation_problem(const struct evaluation *e)
{
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        struct manifest_problem p = manifests_problem(e->manifests, i);

        if (problem_kind_blocks_evaluation(p.kind))
            return p.text;
    }
    return asset_source_problem(e->assets);
}

/* Adds the kinds that are late, and those that may not be read. */
static void note_unread_kinds(const struct kube_source *source, struct plan *plan)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);

    for (size_t i = 0; i < kube_source_missing_kind_count(source); i++) {
        const struct missing_kind *k = kube_source_missing_kind(source, i);

        if (!missing_kind_is_failure(k))
            continue;
        strbuf_reset(&name);
        append_resource_name_of(&name, k->api_version, k->kind);
        plan_note_unread_source(plan, name.data, missing_kind_reason(k->reflector));
    }
    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *r = kube_source_reflector(source, i);

        if (r->synced || r->optional || !reflector_is_forbidden(r))
            continue;
        strbuf_reset(&name);
        reflector_append_name(r, &name);
        plan_note_unread_source(plan, name.data, missing_kind_reason(r));
    }
}

void evaluation_note_unread_sources(const struct evaluation *e, struct plan *plan)
{
    const char *last = "";

    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        struct manifest_problem p = manifests_problem(e->manifests, i);

        /* The problems of a file follow each other: the first one is the reason. */
        if (!problem_kind_blocks_evaluation(p.kind) || strcmp(p.path, last) == 0)
            continue;
        plan_note_unread_source(plan, p.path, p.text);
        last = p.path;
    }
    if (*asset_source_problem(e->assets) != '\0')
        plan_note_unread_source(plan, asset_source_path(e->assets),
                                asset_source_problem(e->assets));
    if (e->session)
        note_unread_kinds(kube_session_source(e->session), plan);
}

/* Begins the observation of problems anew if the API server was restored from a backup. */
static void notice_restores(struct evaluation *e, const struct kube_source *source, int64_t now_ms)
{
    uint64_t restores = kube_source_restores(source);

    if (restores == e->restores)
        return;
    e->restores = restores;
    problems_restart_observation(engine_problems(e->engine), now_ms);
    if (engine_progress(e->engine))
        controller_progress_restored(engine_progress(e->engine), now_ms);
}

/* Updates the problems of the sources if their state may have changed. */
static void update_source_problems(struct evaluation *e, bool changed, int64_t now_ms)
{
    const struct kube_source *source = e->session ? kube_session_source(e->session) : NULL;
    uint64_t health = source ? kube_source_health_version(source) : 0;

    if (!e->source_problems ||
        (!changed && health == e->health_version && now_ms < e->sources_due_ms))
        return;
    e->sources_due_ms = now_ms + SOURCES_INTERVAL_MS;
    e->health_version = health;
    source_problems_update(e->source_problems, engine_problems(e->engine), now_ms);
    problems_visit_skipped(engine_problems(e->engine));
    if (engine_progress(e->engine)) {
        controller_progress_set_readable(engine_progress(e->engine),
                                         source_problems_core_is_readable(e->source_problems),
                                         now_ms);
        controller_progress_set_refusals_known(engine_progress(e->engine),
                                               !source || kube_source_reads_refusals(source));
    }
    e->caught_up = false;
}

static enum problem_shard shard_of(const struct evaluation *e)
{
    if (e->filter.total_shards < 2)
        return SHARD_NONE;
    return namespace_filter_allows(&e->filter, "") ? SHARD_WITH_EMPTY_NAMESPACE
                                                   : SHARD_WITHOUT_EMPTY_NAMESPACE;
}

void evaluation_judge_problems(struct evaluation *e, bool once, const struct evaluation *last)
{
    struct problem_options options = {
        .settings = e->options.problems,
        .history_limit = (size_t)e->options.history_entries,
        .snapshot = once || e->options.manifests.count > 0,
        .only_proven_times = once,
        .shard = shard_of(e),
        .some_namespaces = e->options.namespaces.count > 0,
        .is_unreadable = source_problems_is_unreadable,
        .judged = on_problem,
        .judged_context = e,
    };

    source_problems_free(e->source_problems);
    e->source_problems =
        source_problems_new((struct source_set){e->session ? kube_session_source(e->session) : NULL,
                                                e->manifests, e->assets},
                            last ? last->source_problems : NULL);
    options.context = e->source_problems;
    engine_judge_problems(e->engine, &options);
    if (last)
        engine_inherit_problems(e->engine, last->engine);
    if (e->session)
        e->restores = kube_source_restores(kube_session_source(e->session));
    update_source_problems(e, true, platform_now_ms());
    e->caught_up = false;
}

bool evaluation_run(struct evaluation *e, int64_t now_ms, size_t budget)
{
    engine_note_clock(e->engine, now_ms, platform_steady_ms());
    e->caught_up = engine_run(e->engine, now_ms, budget);
    return e->caught_up;
}

bool evaluation_run_slice(struct evaluation *e, unsigned slice_ms)
{
    uint64_t evaluations = engine_evaluations(e->engine);
    double start = platform_steady_seconds();
    double duration = 0;
    bool done = false;

    while (!done && duration * 1000 < slice_ms) {
        done = evaluation_run(e, platform_now_ms(), EVALUATION_BATCH);
        duration = platform_steady_seconds() - start;
    }
    if (e->rows)
        rows_release_retired(e->rows);
    if (engine_evaluations(e->engine) != evaluations)
        registry_observe(e->registry, OWN_EVALUATION_DURATION, duration);
    return done;
}

void evaluation_hold_files(struct evaluation *e, bool held)
{
    if (e->session)
        kube_session_hold_files(e->session, held);
}

int64_t evaluation_files_due(const struct evaluation *e)
{
    return e->session ? kube_session_files_due(e->session) : INT64_MAX;
}

void evaluation_pump(struct evaluation *e, unsigned slice_ms)
{
    bool changed;

    turn_session(e);
    changed = manifests_pump(e->manifests, slice_ms);
    update_api_versions(e);
    changed |= asset_source_pump(e->assets, platform_steady_ms(), slice_ms);
    if (changed)
        e->caught_up = false;
    if (changed || e->session)
        update_release(e);
    if (e->source_problems && e->session)
        notice_restores(e, kube_session_source(e->session), platform_now_ms());
    update_source_problems(e, changed, platform_now_ms());
}

int64_t evaluation_due(const struct evaluation *e)
{
    int64_t due_ms = engine_deadline(e->engine);

    if (!e->caught_up || asset_source_busy(e->assets))
        return EVALUATION_HAS_WORK;
    /* The engine's deadline is milliseconds since the epoch. */
    if (due_ms != INT64_MAX)
        due_ms += platform_steady_ms() - platform_now_ms();
    if (e->session)
        due_ms = earlier_of(due_ms, kube_session_due(e->session));
    due_ms = earlier_of(due_ms, asset_source_due(e->assets));
    return earlier_of(due_ms, manifests_due(e->manifests));
}

int64_t evaluation_idle_ms(const struct evaluation *e)
{
    int64_t due_ms = evaluation_due(e);
    int64_t now_ms = platform_steady_ms();

    if (due_ms == INT64_MAX)
        return INT64_MAX;
    return due_ms > now_ms ? due_ms - now_ms : 0;
}

void evaluation_wait(struct evaluation *e, struct evaluation *beside, struct pollfd *others,
                     size_t count, int64_t wait_ms)
{
    struct kube_session *first = e ? e->session : NULL;
    struct kube_session *second = beside ? beside->session : NULL;
    int timeout = wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms;

    if (first)
        kube_session_poll(first, second, others, count, timeout);
    else if (second)
        kube_session_poll(second, NULL, others, count, timeout);
    else
        descriptors_poll(others, count, timeout);
}

struct rows *evaluation_rows(struct evaluation *e)
{
    if (e->rows)
        return e->rows;

    /* Rows in their order are appended, which is faster than an insertion of each. */
    CLEANUP(listing_release) struct listing all = listing_make(e->store, CLASS_TEMPLATE);

    e->rows = rows_new(e->store);
    for (size_t i = 0; i < all.count; i++)
        update_row(e, (struct entry *)(uintptr_t)all.entries[i]);
    return e->rows;
}

void evaluation_drop_rows(struct evaluation *e)
{
    rows_free(e->rows);
    e->rows = NULL;
}

static bool find_location(const void *context, const struct entry *entry, const char *field,
                          struct location *out)
{
    const struct evaluation *e = context;
    struct object_source source;
    struct json_position where;

    *out = (struct location){0};
    if (!manifests_find_source(e->manifests, entry, &source))
        return false;
    where = e->locator ? field_locator_find(e->locator, &source, field)
                       : (struct json_position){source.place.line, source.place.column};
    out->file = source.file->path;
    out->line = where.line;
    out->column = where.column;
    return true;
}

static bool find_earlier_location(const void *context, const struct entry *entry, size_t index,
                                  struct location *out)
{
    const struct evaluation *e = context;
    struct json_position where;

    *out = (struct location){0};
    if (!manifests_find_earlier_place(e->manifests, entry, index, &out->file, &where))
        return false;
    out->line = where.line;
    out->column = where.column;
    return true;
}

static bool find_fault(const void *context, const char *path, struct location *out)
{
    const struct evaluation *e = context;
    struct json_position where;

    if (manifests_find_fault(e->manifests, path, &where)) {
        *out = (struct location){path, where.line, where.column};
        return true;
    }
    /* A PATH that does not exist, and files of a rendered package, have no problems of their own.
     */
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        struct manifest_problem p = manifests_problem(e->manifests, i);

        if (!problem_kind_blocks_evaluation(p.kind) || strcmp(p.path, path) != 0)
            continue;
        *out = (struct location){p.path, p.line, p.column};
        return true;
    }
    return false;
}

struct location_source evaluation_locations(const struct evaluation *e)
{
    return (struct location_source){.find = find_location,
                                    .find_earlier = find_earlier_location,
                                    .find_fault = find_fault,
                                    .context = e};
}

/* Returns the kustomizations and charts among the manifests, rendered or not. */
static struct report_rendering *list_renderings(const struct manifests *m, size_t *count)
{
    size_t rendered = manifests_rendering_count(m), problems = manifests_problem_count(m);
    struct report_rendering *list = xcalloc(rendered + problems + 1, sizeof(*list));

    for (*count = 0; *count < rendered; ++*count) {
        const struct rendering *r = manifests_rendering(m, *count);

        list[*count] = (struct report_rendering){
            .path = r->folder,
            .kind = r->is_chart ? "Chart" : "Kustomization",
            .program = r->program.name,
            .version = r->program.version,
            .objects = r->objects,
        };
    }
    for (size_t i = 0; i < problems; i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (p.kind == PROBLEM_NOT_RENDERED)
            list[(*count)++] = (struct report_rendering){.path = p.path, .message = p.text};
    }
    return list;
}

/* Source of places that only notes the fields. */
static bool note_field(const void *context, const struct entry *entry, const char *field,
                       struct location *out)
{
    const struct evaluation *e = context;
    struct object_source source;

    (void)out;
    if (manifests_find_source(e->manifests, entry, &source))
        field_locator_want(e->locator, &source, field);
    return false;
}

void evaluation_locate_names(const struct evaluation *e, const struct entry_list *objects)
{
    struct location ignored;

    for (size_t i = 0; i < objects->count; i++)
        (void)note_field(e, objects->items[i], "metadata.name", &ignored);
}

static void ignore_place(void *context, const struct entry *related, const struct location *at)
{
    (void)context;
    (void)related;
    (void)at;
}

void evaluation_locate_fields(struct evaluation *e)
{
    if (!e->locator)
        e->locator = field_locator_new(e->manifests);
}

void evaluation_locate_problems(struct evaluation *e)
{
    const struct location_source notes = {.find = note_field, .context = e};
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    const struct problems *problems = engine_problems(e->engine);
    struct location ignored;
    size_t count = 0;

    evaluation_locate_fields(e);
    if (problems)
        list = problems_list(problems, (1U << PROBLEM_STATUS_COUNT) - 1, &count);
    for (size_t i = 0; i < count; i++) {
        (void)problem_find_location(e->engine, list[i], &notes, &ignored);
        problem_each_object_location(e->engine, list[i], &notes, ignore_place, NULL);
    }
    field_locator_read(e->locator);
}

/* Adds the places of skipped documents to the report, up to a limit, and their numbers by kind. */
static void add_skipped(const struct manifests *m, struct report_skipped *places,
                        struct report_skipped_count *kinds, struct report_files *files)
{
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (p.skipped != SKIPPED_NONE && files->skipped_count < REPORT_SKIPPED_MAX)
            places[files->skipped_count++] =
                (struct report_skipped){skipped_nouns[p.skipped].id, p.path, p.line};
    }
    for (unsigned i = SKIPPED_NONE + 1; i < SKIPPED_KIND_COUNT; i++)
        kinds[files->skipped_kind_count++] =
            (struct report_skipped_count){skipped_nouns[i].id, manifests_skipped_count(m, i)};
    files->excluded_files = manifests_excluded(m).files;
    files->excluded_folders = manifests_excluded(m).folders;
    files->skipped = places;
    files->skipped_kinds = kinds;
}

void evaluation_put_report(const struct evaluation *e, struct json_writer *w, const char *key,
                           const struct report_files *settings)
{
    size_t count = manifests_problem_count(e->manifests);
    CLEANUP(free_cleanup) struct report_invalid *invalid = xcalloc(count + 1, sizeof(*invalid));
    CLEANUP(free_cleanup)
    struct report_skipped *skipped = xcalloc(REPORT_SKIPPED_MAX, sizeof(*skipped));
    struct report_skipped_count kinds[SKIPPED_KIND_COUNT];
    struct report_files files = *settings;
    CLEANUP(free_cleanup)
    struct report_rendering *renderings = list_renderings(e->manifests, &files.rendering_count);

    for (size_t i = 0; i < count; i++) {
        struct manifest_problem p = manifests_problem(e->manifests, i);

        if (p.kind != PROBLEM_SKIPPED && p.kind != PROBLEM_NOT_RENDERED)
            invalid[files.invalid_count++] = (struct report_invalid){
                .list = p.kind == PROBLEM_DUPLICATE      ? REPORT_DUPLICATES
                        : p.kind == PROBLEM_REPEATED_KEY ? REPORT_REPEATED_KEYS
                                                         : REPORT_INVALID,
                .kind = "Manifest",
                .path = p.path,
                .line = p.line,
                .column = p.column,
                .text = p.text,
            };
    }
    files.renderings = renderings;
    files.invalid = invalid;
    add_skipped(e->manifests, skipped, kinds, &files);
    files.locations = evaluation_locations(e);
    report_put(w, key, e->engine, &files);
}

void evaluation_write_report(const struct evaluation *e, const struct problem_filter *problems,
                             struct strbuf *out)
{
    struct json_writer w = {.out = out, .lines = 2};

    evaluation_put_report(e, &w, NULL, &(struct report_files){.problems = problems});
    strbuf_addc(out, '\n');
}
