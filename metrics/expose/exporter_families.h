/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/family.h"

/*
 * Families about the exporter itself: OWN(id, type, name, help, other members of family_def), in
 * the order of the page. Functions such as registry_set() take the id (enum own_family).
 */
#define OWN_FAMILIES(OWN)                                                                          \
    OWN(OWN_ASSET_SNAPSHOT, FAMILY_GAUGE,                                                          \
        "karmada_configconnector_asset_snapshot_timestamp_seconds",                                \
        "Time of the asset export, in seconds since the epoch.", .unit = "seconds", .bound = "1")  \
    OWN(OWN_BUILD_INFO, FAMILY_GAUGE, "karmada_policy_exporter_build_info",                        \
        "Version and revision of the exporter, and the releases of Karmada that its rules follow " \
        "(karmada_release_origin: assumed, flag, server or files) as labels; always 1.",           \
        .bound = "1",                                                                              \
        .labels = {FREE_LABEL("version"), FREE_LABEL("revision"), FREE_LABEL("compiler"),          \
                   FREE_LABEL("karmada_release"), FREE_LABEL("karmada_release_origin")})           \
    OWN(OWN_UP, FAMILY_GAUGE, "karmada_policy_exporter_up",                                        \
        "1 once all objects have been read; until then the page has only families about the "      \
        "exporter.",                                                                               \
        .bound = "1")                                                                              \
    OWN(OWN_SNAPSHOT, FAMILY_GAUGE, "karmada_policy_exporter_snapshot_timestamp_seconds",          \
        "Time of the last evaluation, in seconds since the epoch.", .unit = "seconds",             \
        .bound = "1")                                                                              \
    OWN(OWN_HEARTBEAT, FAMILY_GAUGE, "karmada_policy_exporter_loop_heartbeat_timestamp_seconds",   \
        "Time of the last turn of the event loop, in seconds since the epoch.", .unit = "seconds", \
        .bound = "1")                                                                              \
    OWN(OWN_EVALUATIONS, FAMILY_COUNTER, "karmada_policy_exporter_evaluations_total",              \
        "Evaluations of objects by the rules.", .bound = "1")                                      \
    OWN(OWN_EVALUATION_DURATION, FAMILY_HISTOGRAM,                                                 \
        "karmada_policy_exporter_evaluation_duration_seconds",                                     \
        "Duration of one slice of the evaluation.", .unit = "seconds", .bound = "1",               \
        .buckets = duration_buckets, .bucket_count = ARRAY_LEN(duration_buckets))                  \
    OWN(OWN_EVENT_LAG, FAMILY_HISTOGRAM, "karmada_policy_exporter_event_lag_seconds",              \
        "Time from a change of an object to the page that shows it.", .unit = "seconds",           \
        .bound = "1", .buckets = lag_buckets, .bucket_count = ARRAY_LEN(lag_buckets))              \
    OWN(OWN_LOG_DROPPED, FAMILY_COUNTER, "karmada_policy_exporter_log_lines_dropped_total",        \
        "Log lines that were dropped because standard error did not accept them: its reader is "   \
        "slow or has stopped, or its disk is full.",                                               \
        .of_process = true, .bound = "1")                                                          \
    OWN(OWN_RELOAD_SUCCESSFUL, FAMILY_GAUGE,                                                       \
        "karmada_policy_exporter_config_last_reload_successful",                                   \
        "1 if the last reload succeeded; after a failed reload the former configuration stays in " \
        "force.",                                                                                  \
        .bound = "1")                                                                              \
    OWN(OWN_THRESHOLD, FAMILY_GAUGE, "karmada_policy_exporter_threshold_seconds",                  \
        "Thresholds of --thresholds.* for your own rules about the age of templates; the bundled " \
        "alerts use the patience of each problem.",                                                \
        .unit = "seconds", .bound = "3", .labels = {FREE_LABEL("threshold")})                      \
    OWN(OWN_OBJECTS, FAMILY_GAUGE, "karmada_policy_exporter_objects", "Objects held in memory.",   \
        .bound = "resources", .labels = {FREE_LABEL("resource")})                                  \
    OWN(OWN_WATCHES, FAMILY_GAUGE, "karmada_policy_exporter_watches",                              \
        "Watches on the API server: one for each resource, and for each namespace of "             \
        "--namespaces.",                                                                           \
        .bound = "1")                                                                              \
    OWN(OWN_WATCH_SYNCED, FAMILY_GAUGE, "karmada_policy_exporter_watch_synced",                    \
        "1 while all objects of a resource have been read and changes arrive; at 0 the "           \
        "exporter uses the last known objects.",                                                   \
        .bound = "resources", .labels = {FREE_LABEL("resource")})                                  \
    OWN(OWN_WATCH_LATE, FAMILY_GAUGE, "karmada_policy_exporter_watch_late",                        \
        "1 for a resource that is not completely read and that the exporter no longer waits for, " \
        "by reason; results that depend on it are missing.",                                       \
        .bound = "resources", .labels = {FREE_LABEL("resource"), FREE_LABEL("reason")})            \
    OWN(OWN_WATCH_LAST_EVENT, FAMILY_GAUGE,                                                        \
        "karmada_policy_exporter_watch_last_event_timestamp_seconds",                              \
        "Time of the last event or bookmark of a resource, in seconds since the epoch.",           \
        .unit = "seconds", .bound = "resources", .labels = {FREE_LABEL("resource")})               \
    OWN(OWN_WATCH_RESTARTS, FAMILY_COUNTER, "karmada_policy_exporter_watch_restarts_total",        \
        "Watches that ended, by reason.", .bound = "resources x 16",                               \
        .labels = {FREE_LABEL("resource"), FREE_LABEL("reason")})                                  \
    OWN(OWN_WATCH_POLLED, FAMILY_GAUGE, "karmada_policy_exporter_watch_polled",                    \
        "1 for a resource that is listed every 30 s: over HTTP/1.1 each watch needs a "            \
        "connection, and no file descriptor is left.",                                             \
        .bound = "resources", .labels = {FREE_LABEL("resource")})                                  \
    OWN(OWN_LIST_REQUESTS, FAMILY_COUNTER, "karmada_policy_exporter_list_requests_total",          \
        "List requests of a resource; each page counts.", .bound = "resources",                    \
        .labels = {FREE_LABEL("resource")})                                                        \
    OWN(OWN_LIST_FAILURES, FAMILY_COUNTER, "karmada_policy_exporter_list_request_failures_total",  \
        "List requests that failed.", .bound = "resources", .labels = {FREE_LABEL("resource")})    \
    OWN(OWN_AUDITS, FAMILY_COUNTER, "karmada_policy_exporter_audits_total",                        \
        "Comparisons of all objects of a resource with those of the API server.",                  \
        .bound = "resources", .labels = {FREE_LABEL("resource")})                                  \
    OWN(OWN_AUDIT_DIVERGENCES, FAMILY_COUNTER, "karmada_policy_exporter_audit_divergences_total",  \
        "Objects that differed from those of the API server in a comparison, and were read "       \
        "again; must stay 0.",                                                                     \
        .bound = "resources", .labels = {FREE_LABEL("resource")})                                  \
    OWN(OWN_KIND_NOT_SERVED, FAMILY_GAUGE, "karmada_policy_exporter_selected_kind_not_served",     \
        "1 for a kind that a policy selects and the API server does not serve.", .bound = "kinds", \
        .labels = {FREE_LABEL("api_version"), FREE_LABEL("kind")})                                 \
    OWN(OWN_HISTORY_ENTRIES, FAMILY_GAUGE, "karmada_policy_exporter_history_entries",              \
        "Transitions of templates in the history, which a restart empties.", .bound = "1")         \
    OWN(OWN_HISTORY_LIMIT, FAMILY_GAUGE, "karmada_policy_exporter_history_entries_limit",          \
        "Maximum number of transitions in the history.", .bound = "1")                             \
    OWN(OWN_HISTORY_START, FAMILY_GAUGE,                                                           \
        "karmada_policy_exporter_history_start_timestamp_seconds",                                 \
        "Time from which the history is complete, in seconds since the epoch.", .unit = "seconds", \
        .bound = "1")                                                                              \
    OWN(OWN_MANIFEST_FILES, FAMILY_GAUGE, "karmada_policy_exporter_manifest_files",                \
        "Manifest files read.", .bound = "1")                                                      \
    OWN(OWN_MANIFEST_ERRORS, FAMILY_GAUGE, "karmada_policy_exporter_manifest_errors",              \
        "Manifest files with errors; the exporter uses their last good content.", .bound = "1")    \
    OWN(OWN_MANIFEST_DUPLICATES, FAMILY_GAUGE, "karmada_policy_exporter_manifest_duplicates",      \
        "Documents with an object that a later document declares "                                 \
        "again; the exporter uses the last declaration.",                                          \
        .bound = "1")                                                                              \
    OWN(OWN_DECODE_ERRORS, FAMILY_COUNTER, "karmada_policy_exporter_decode_errors_total",          \
        "Objects that could not be decoded; the exporter uses the last good version of each.",     \
        .of_process = true, .bound = "resources", .labels = {FREE_LABEL("resource")})              \
    OWN(OWN_OBJECTS_REJECTED, FAMILY_COUNTER, "karmada_policy_exporter_objects_rejected_total",    \
        "Objects above the limit of 8 MiB or 200,000 values; the exporter uses the last version "  \
        "of each that was within the limit.",                                                      \
        .bound = "resources", .labels = {FREE_LABEL("resource")})                                  \
    OWN(OWN_DETAIL_DROPPED, FAMILY_GAUGE, "karmada_policy_exporter_detail_series_dropped",         \
        "Series of single objects, policies or namespaces that are omitted or added up, because "  \
        "of a limit or of low memory.",                                                            \
        .bound = "capped families", .labels = {FREE_LABEL("family")})                              \
    OWN(OWN_HTTP_REQUESTS, FAMILY_COUNTER, "karmada_policy_exporter_http_requests_total",          \
        "HTTP responses, by handler and code.", .of_process = true, .bound = "handlers x codes",   \
        .labels = {FREE_LABEL("handler"), FREE_LABEL("code")})                                     \
    OWN(OWN_REFUSED, FAMILY_COUNTER, "karmada_policy_exporter_connections_refused_total",          \
        "HTTP connections that were refused, closed before a response, or closed in favour of "    \
        "other connections, by reason.",                                                           \
        .of_process = true, .bound = "7", .labels = {FREE_LABEL("reason")})                        \
    OWN(OWN_NOT_ADMITTED, FAMILY_COUNTER, "karmada_policy_exporter_http_requests_denied_total",    \
        "HTTP requests that were rejected for missing credentials or by a rate limit, by reason.", \
        .of_process = true, .bound = "4", .labels = {FREE_LABEL("reason")})                        \
    OWN(OWN_ALERTMANAGER_NOTIFICATIONS, FAMILY_COUNTER,                                            \
        "karmada_policy_exporter_alertmanager_notifications_total",                                \
        "Alerts for each --alertmanager.url, by result: accepted, failed, or dropped in favour "   \
        "of newer alerts. An alert counts each time it is sent.",                                  \
        .of_process = true, .bound = "3 x Alertmanagers",                                          \
        .labels = {FREE_LABEL("alertmanager"), FREE_LABEL("result")})                              \
    OWN(OWN_WEB_CONFIG_VALID, FAMILY_GAUGE, "karmada_policy_exporter_web_config_valid",            \
        "1 if the content of --web.config.file is in force, 0 if it is not valid and the former "  \
        "content stays in force.",                                                                 \
        .bound = "1")                                                                              \
    OWN(OWN_WEB_CONFIG_TIME, FAMILY_GAUGE,                                                         \
        "karmada_policy_exporter_web_config_last_change_timestamp_seconds",                        \
        "Time at which the web configuration in force was read, in seconds since the epoch.",      \
        .unit = "seconds", .bound = "1")                                                           \
    OWN(OWN_CERTIFICATE_END, FAMILY_GAUGE,                                                         \
        "karmada_policy_exporter_web_certificate_not_after_timestamp_seconds",                     \
        "Expiry of the server certificate, or of the first certificate of its chain to expire, "   \
        "in seconds since the epoch.",                                                             \
        .unit = "seconds", .bound = "1")                                                           \
    OWN(OWN_EVENTS_EMITTED, FAMILY_COUNTER, "karmada_policy_exporter_events_emitted_total",        \
        "Events about conflicts of dependencies (--events.emit), by result; a failed Event is "    \
        "retried.",                                                                                \
        .of_process = true, .bound = "5", .labels = {FREE_LABEL("result")})                        \
    OWN(OWN_EVENTS_LEADER, FAMILY_GAUGE, "karmada_policy_exporter_events_leader",                  \
        "1 for the elected exporter that writes Events (--events.emit), 0 for the others.",        \
        .bound = "1")                                                                              \
    OWN(OWN_EVENTS_FORBIDDEN, FAMILY_GAUGE, "karmada_policy_exporter_events_forbidden",            \
        "1 for a missing right to write Events (--events.emit), by operation.", .bound = "2",      \
        .labels = {FREE_LABEL("verb"), FREE_LABEL("resource")})                                    \
    OWN(OWN_CPU_SECONDS, FAMILY_COUNTER, "process_cpu_seconds_total",                              \
        "Total user and system CPU time spent in seconds.", .unit = "seconds", .of_process = true, \
        .bound = "1")                                                                              \
    OWN(OWN_MAX_FDS, FAMILY_GAUGE, "process_max_fds", "Maximum number of open file descriptors.",  \
        .bound = "1")                                                                              \
    OWN(OWN_OPEN_FDS, FAMILY_GAUGE, "process_open_fds", "Number of open file descriptors.",        \
        .bound = "1")                                                                              \
    OWN(OWN_RESIDENT_BYTES, FAMILY_GAUGE, "process_resident_memory_bytes",                         \
        "Resident memory size in bytes.", .unit = "bytes", .bound = "1")                           \
    OWN(OWN_START_TIME, FAMILY_GAUGE, "process_start_time_seconds",                                \
        "Start time of the process since unix epoch in seconds.", .unit = "seconds", .bound = "1") \
    OWN(OWN_VIRTUAL_BYTES, FAMILY_GAUGE, "process_virtual_memory_bytes",                           \
        "Virtual memory size in bytes.", .unit = "bytes", .bound = "1")

#define OWN_ID(id, ...) id,
enum own_family { OWN_FAMILIES(OWN_ID) OWN_FAMILY_COUNT };
#undef OWN_ID
