/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/release_reader.h"

#include "exporter/system/log.h"
#include "metrics/base/json.h"
#include "metrics/rules/engine.h"

enum { SCHEMAS_MAX_BYTES = 16 * 1024 * 1024, URL_MAX = 512, NAME_MAX_BYTES = 64 };

static const char index_path[] = "/openapi/v3";

static const char *const groups[RELEASE_GROUP_COUNT] = {
#define RELEASE_GROUP_NAME(id, name) [RELEASE_GROUP_##id] = (name),
    RELEASE_GROUPS(RELEASE_GROUP_NAME)};

void release_reader_init(struct release_reader *r, struct reflector_context *context)
{
    *r = (struct release_reader){
        .context = context,
        .disabled = engine_release(context->engine).origin == RELEASE_GIVEN,
        .body = STRBUF_INIT(SCHEMAS_MAX_BYTES),
        .reads_index = true,
        .due_ms = context->now_ms,
    };
    r->finding.range = engine_release(context->engine);
    r->finding.behind = r->finding.ahead = RELEASE_SCHEMA_COUNT;
}

void release_reader_release(struct release_reader *r)
{
    if (r->transfer)
        r->context->transport.cancel(r->context->transport.context, r->transfer);
    strbuf_release(&r->body);
    for (unsigned i = 0; i < RELEASE_GROUP_COUNT; i++) {
        free(r->sources[i].wanted);
        free(r->sources[i].read);
    }
}

/* ---- results ---- */

/* Evaluates all schemas, and sets the release of the engine if it has changed. */
static void evaluate(struct release_reader *r)
{
    struct release_evidence all = {0};
    struct release_finding finding;

    for (unsigned i = 0; i < RELEASE_GROUP_COUNT; i++)
        release_evidence_merge(&all, &r->sources[i].evidence);
    finding = release_evidence_evaluate(&all, RELEASE_OF_SERVER);
    if (release_finding_equal(&finding, &r->finding))
        return;
    r->finding = finding;
    engine_set_release(r->context->engine, finding.range);
}

static void end_round(struct release_reader *r)
{
    bool failed = *r->failure.text != '\0';

    evaluate(r);
    r->rounds++;
    r->failures = failed ? r->failures + 1 : 0;
    /* A single failure is normal while a server starts. */
    if (r->failures == 2)
        log_write(r->context->log, LOG_LEVEL_WARN,
                  "cannot read the schemas of Karmada's kinds, which show its release", "error",
                  r->failure.text);
    r->due_ms = r->context->now_ms + (failed ? backoff_ms(r->failures, (uint32_t)r->context->now_ms)
                                             : RELEASE_INTERVAL_MS);
}

/* ---- responses ---- */

/*
 * Returns the URL of a group's schemas in the index, which the caller owns; NULL if the server does
 * not serve the group.
 */
static char *find_url(const cJSON *paths, enum release_group group)
{
    char path[sizeof(index_path) + NAME_MAX_BYTES], *name = path + sizeof(index_path);
    const cJSON *item;
    const char *url;

    snprintf(path, sizeof(path), "%s/apis/%s", index_path, groups[group]);
    item = json_get(paths, name);
    if (!item)
        return NULL;
    url = json_str(item, "serverRelativeURL", "");
    /* A server cannot make the exporter send its credentials to another path. */
    return xstrdup(strncmp(url, path, strlen(path)) == 0 && strlen(url) < URL_MAX ? url : path);
}

static bool read_index(struct release_reader *r, const cJSON *json)
{
    const cJSON *paths = json_object_or_null(json_get(json, "paths"));

    if (!paths)
        return false;
    for (unsigned i = 0; i < RELEASE_GROUP_COUNT; i++) {
        struct release_schema_source *source = &r->sources[i];

        free(source->wanted);
        source->wanted = find_url(paths, (enum release_group)i);
        source->failed = false;
        if (source->wanted)
            continue;
        free(source->read);
        source->read = NULL;
        source->evidence = (struct release_evidence){0};
    }
    return true;
}

static bool read_schemas(struct release_reader *r, const cJSON *json)
{
    struct release_schema_source *source = &r->sources[r->group];
    struct release_evidence evidence = {0};

    source->failed = !release_evidence_add_openapi(&evidence, json);
    if (source->failed)
        return false;
    source->evidence = evidence;
    free(source->read);
    source->read = source->wanted;
    source->wanted = xstrdup(source->read);
    return true;
}

/* Returns the next group with schemas to read, or RELEASE_GROUP_COUNT. */
static enum release_group next_group(const struct release_reader *r)
{
    unsigned at = 0;

    for (; at < RELEASE_GROUP_COUNT; at++) {
        const struct release_schema_source *source = &r->sources[at];

        if (source->wanted && !source->failed &&
            (!source->read || strcmp(source->read, source->wanted) != 0))
            break;
    }
    return (enum release_group)at;
}

/* Goes on after a response or a failure, of which `failure` has the reason. */
static void continue_round(struct release_reader *r)
{
    bool index_failed = r->reads_index && *r->failure.text != '\0';

    r->group = next_group(r);
    r->reads_index = index_failed || r->group == RELEASE_GROUP_COUNT;
    if (r->reads_index)
        end_round(r);
    else
        r->due_ms = r->context->now_ms;
}

static bool receive_body(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct release_reader *r = context;

    (void)http_status;
    progress_note_bytes(&r->progress, len, r->context->now_ms);
    strbuf_add(&r->body, bytes, len);
    return strbuf_ok(&r->body);
}

static const char *name_of_request(const struct release_reader *r)
{
    return r->reads_index ? index_path : groups[r->group];
}

static void note_failure(struct release_reader *r, const struct transport_result *result)
{
    if (!r->reads_index)
        r->sources[r->group].failed = true;
    if (!strbuf_ok(&r->body))
        fail(&r->failure, "%s: larger than %d bytes", name_of_request(r), SCHEMAS_MAX_BYTES);
    else if (result->http_status != 0 && result->http_status != 200)
        fail(&r->failure, "%s: HTTP status %u", name_of_request(r), result->http_status);
    else if (*result->error != '\0')
        fail(&r->failure, "%s: %s", name_of_request(r), result->error);
    else
        fail(&r->failure, "%s: not a list of schemas", name_of_request(r));
}

static void end_request(void *context, const struct transport_result *result)
{
    struct release_reader *r = context;
    struct error ignored;
    bool read = result->complete && result->http_status == 200 && strbuf_ok(&r->body);
    CLEANUP(json_cleanup)
    cJSON *json = read ? json_parse(r->body.data, r->body.len, NULL, &ignored) : NULL;

    r->transfer = NULL;
    if (!(r->reads_index ? read_index(r, json) : read_schemas(r, json)))
        note_failure(r, result);
    strbuf_release(&r->body);
    continue_round(r);
}

/* ---- requests ---- */

/* Requests the index at the begin of a round, else the schemas of `group`. */
static void start_request(struct release_reader *r)
{
    if (r->reads_index)
        r->failure.text[0] = '\0';
    progress_begin(&r->progress, r->context->now_ms);
    r->transfer = r->context->transport.start(
        r->context->transport.context,
        &(struct transport_request){
            .path = r->reads_index ? index_path : r->sources[r->group].wanted,
            .accept = "application/json",
            .class = REQUEST_SHORT,
            .handler = {.data = receive_body, .done = end_request, .context = r},
        });
}

void release_reader_turn(struct release_reader *r)
{
    int64_t now_ms = r->context->now_ms;

    if (r->disabled)
        return;
    if (r->transfer && now_ms >= progress_deadline(&r->progress, PROGRESS_SHORT_MS)) {
        r->context->transport.cancel(r->context->transport.context, r->transfer);
        end_request(
            r, &(struct transport_result){.error = progress_late_reason(&r->progress, now_ms)});
    }
    if (!r->transfer && now_ms >= r->due_ms)
        start_request(r);
}

int64_t release_reader_due(const struct release_reader *r)
{
    if (r->disabled)
        return INT64_MAX;
    return r->transfer ? progress_deadline(&r->progress, PROGRESS_SHORT_MS) : r->due_ms;
}

bool release_reader_ready(const struct release_reader *r)
{
    return r->disabled || r->rounds > 0;
}
