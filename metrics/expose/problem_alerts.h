/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/strbuf.h"
#include "metrics/rules/problems/problem_table.h"

/*
 * Alerts about problems (product contract 3.10, "Alert rules"): which alert a problem belongs to,
 * which problems share one alert, and the labels and texts of that alert. A new alert is a row of
 * PROBLEM_ALERTS; problem_alerts.c assigns problems to it.
 */

/* Labels by which alerts differ, beside the problem. */
enum {
    ALERT_BY_REASON = 1U << 0,
    ALERT_BY_NAMESPACE = 1U << 1,
    ALERT_BY_SUBJECT = 1U << 2, /* Includes the namespace; a changed reason is the same alert. */
};

/* A row has the enumerator, the name, the grouping and the summary. */
#define PROBLEM_ALERTS(ROW)                                                                        \
    ROW(LAST_COPY_AT_RISK, "KarmadaLastCopyAtRisk", ALERT_BY_SUBJECT,                              \
        "Karmada is about to delete the only copy of a template.")                                 \
    ROW(PLACEMENT_LOST, "KarmadaPlacementLost", ALERT_BY_SUBJECT,                                  \
        "A template lost its placement and runs in no member cluster.")                            \
    ROW(CLOUD_RESOURCE_CONFLICT, "KarmadaCloudResourceConflict", ALERT_BY_SUBJECT,                 \
        "Two controllers manage one cloud resource.")                                              \
    ROW(MEMBER_CLUSTER_UNAVAILABLE, "KarmadaMemberClusterUnavailable", ALERT_BY_SUBJECT,           \
        "A member cluster with placed templates is not available.")                                \
    ROW(CONTROLLERS_STUCK, "KarmadaControllersStuck", ALERT_BY_REASON,                             \
        "Karmada's controllers or its scheduler do not process changes.")                          \
    ROW(DEPENDENCY_POLICY_CONFLICT, "KarmadaDependencyPolicyConflict",                             \
        ALERT_BY_NAMESPACE | ALERT_BY_REASON,                                                      \
        "Policies request different values for a shared dependency.")                              \
    ROW(POLICY_NOT_IN_FORCE, "KarmadaPolicyNotInForce", ALERT_BY_NAMESPACE | ALERT_BY_REASON,      \
        "Templates do not follow their policy.")                                                   \
    ROW(NOT_PROPAGATED, "KarmadaNotPropagated", ALERT_BY_NAMESPACE | ALERT_BY_REASON,              \
        "Templates are not propagated.")                                                           \
    ROW(NOT_SCHEDULED, "KarmadaNotScheduled", ALERT_BY_NAMESPACE | ALERT_BY_REASON,                \
        "Templates are not scheduled, or the next scheduling deletes their copies.")               \
    ROW(NOT_DELIVERED, "KarmadaNotDelivered", ALERT_BY_NAMESPACE | ALERT_BY_REASON,                \
        "Templates do not reach their member clusters.")                                           \
    ROW(EVICTION_STUCK, "KarmadaEvictionStuck", ALERT_BY_NAMESPACE | ALERT_BY_REASON,              \
        "Evictions of templates do not end.")                                                      \
    ROW(POLICY_BROKEN, "KarmadaPolicyBroken", ALERT_BY_NAMESPACE | ALERT_BY_REASON,                \
        "Policies or references are invalid, or deletions do not end.")                            \
    ROW(LEASE_AT_RISK, "KarmadaLeaseAtRisk", ALERT_BY_NAMESPACE | ALERT_BY_REASON,                 \
        "Leases of Config Connector are in conflict or not renewed.")                              \
    ROW(DECISION_FLAPPING, "KarmadaDecisionFlapping", ALERT_BY_NAMESPACE | ALERT_BY_REASON,        \
        "Decisions of Karmada change back and forth.")                                             \
    ROW(POLICY_REVIEW, "KarmadaPolicyReview", 0, "Items for the weekly review.")                   \
    ROW(POLICY_PROBLEM, "KarmadaPolicyProblem", ALERT_BY_NAMESPACE | ALERT_BY_REASON,              \
        "Problems whose severity --problems.severity raises.")                                     \
    ROW(DATA_INCOMPLETE, "KarmadaPolicyExporterDataIncomplete", ALERT_BY_REASON,                   \
        "The exporter cannot read all of its data.")                                               \
    ROW(DEGRADED, "KarmadaPolicyExporterDegraded", ALERT_BY_REASON,                                \
        "A replica of the exporter does not read its control plane.")                              \
    ROW(WATCHDOG, "KarmadaPolicyExporterWatchdog", 0,                                              \
        "The exporter reads its control plane. This alert fires as long as the exporter reads "    \
        "it.")

#define PROBLEM_ALERT_ENUMERATOR(id, ...) PROBLEM_ALERT_##id,
enum problem_alert_id { PROBLEM_ALERTS(PROBLEM_ALERT_ENUMERATOR) PROBLEM_ALERT_COUNT };

struct problem_alert_row {
    const char *name;
    const char *summary;
    unsigned grouping; /* ALERT_BY_REASON and so on. */
};
extern const struct problem_alert_row problem_alert_table[PROBLEM_ALERT_COUNT];

/* Returns the alert of a problem with this severity, which is not SEVERITY_OFF. */
enum problem_alert_id problem_alert_of(enum problem_id problem, enum problem_severity severity);

/* Appends the address of the runbook section about a problem. */
void problem_add_runbook_url(enum problem_id problem, struct strbuf *out);

enum {
    ALERT_NAMESPACES_MAX = 100, /* Namespaces with their own alert, for each problem and reason. */
    ALERT_SUBJECTS_MAX = 1000,  /* Alerts for one subject each, in total. */
    ALERT_OBJECTS_MAX = 5,      /* Objects that a description names. */
};

/* One alert; all members are owned. */
struct problem_alert {
    cJSON *labels; /* Object with texts, sorted by name; no value is "". */
    cJSON *annotations;
    int64_t starts_ms; /* Earliest opening of its problems; since the epoch. */
};

/* Growing list; all zero is the empty list. */
struct problem_alert_list {
    struct problem_alert *items;
    size_t count;
    size_t capacity;
    size_t omitted; /* Number of subjects without their alert, beyond ALERT_SUBJECTS_MAX. */
};

/* Takes over the alert, and sorts its labels by name. */
void problem_alert_list_add(struct problem_alert_list *list, struct problem_alert alert);
void problem_alert_list_release(struct problem_alert_list *list);

/* Label that all alerts of an exporter have, such as `cluster`. */
struct alert_label {
    const char *name;
    const char *value;
};

/* Text beside the problems; borrowed. */
struct problem_alert_settings {
    const char *site_url; /* URL of the exporter's pages; "" for no links to them. */
    const struct alert_label *labels;
    size_t label_count;
};

/* ---- alerts about problems ---- */

struct engine;
struct problem;

/*
 * Appends one alert for each group of open and resolving problems of the engine, in the order of
 * severity and age. The namespaces with the oldest problems have their own alerts; all others share
 * the namespace "_others". All decisions must be up to date. `seed` seeds a hash map.
 */
void problem_alerts_collect(const struct engine *e, const struct problem_alert_settings *settings,
                            uint64_t seed, struct problem_alert_list *out);

/* The same in steps: groups of problems, and the alerts about them. */
struct alert_groups;
struct alert_groups *alert_groups_new(uint64_t seed) MUST_USE;
/* Accepts NULL. */
void alert_groups_free(struct alert_groups *g);
/* Adds a problem, which is borrowed until alert_groups_free(). */
void alert_groups_add(struct alert_groups *g, const struct problem *p,
                      enum problem_severity severity);
void alert_groups_write(struct alert_groups *g, const struct engine *e,
                        const struct problem_alert_settings *settings,
                        struct problem_alert_list *out);

/* ---- alerts about the exporter ---- */

/* Appends KarmadaPolicyExporterWatchdog. `since_ms`: since when the exporter has current data. */
void problem_alerts_add_watchdog(struct problem_alert_list *out,
                                 const struct problem_alert_settings *settings, int64_t since_ms);
/*
 * Appends KarmadaPolicyExporterDegraded about the replica `instance`, which has no current data of
 * policies or bindings since `since_ms`.
 */
void problem_alerts_add_degraded(struct problem_alert_list *out,
                                 const struct problem_alert_settings *settings,
                                 const char *instance, int64_t since_ms);

/* ---- alerts of an earlier run ---- */

/* Returns true for names of labels that alerts about problems or the exporter may have. */
bool problem_alert_has_label(const char *name);

/*
 * Appends the alerts about problems, with the labels of the settings and no others, from a response
 * of Alertmanager to GET /api/v2/alerts. Returns their number; -1 if the JSON is no such response.
 */
int problem_alerts_parse(const char *json, const struct problem_alert_settings *settings,
                         struct problem_alert_list *out) MUST_USE;

/*
 * Appends copies of the alerts in `from` that have other labels than all alerts in `out`, without
 * those about problems that the engine's settings disable. If `out` has an alert with the same
 * labels, it takes over an earlier start instead.
 */
void problem_alerts_renew(const struct problem_alert_list *from, const struct engine *e,
                          uint64_t seed, struct problem_alert_list *out);
