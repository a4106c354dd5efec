/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/changes.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define CREATED "'creationTimestamp':'1970-01-01T00:00:10Z'"
#define TIME(s) "'time':'1970-01-01T00:00:" s "Z'"

/* One entry of another manager at second 20 beside the one in question, at second 30. */
static struct entry_case {
    const char *name;
    const char *entry;
    int64_t changed_s;
} entries[] = {
    {"the spec", "{" TIME("30") ",'fieldsV1':{'f:spec':{'f:replicas':{}}}}", 30},
    {"a data field of a ConfigMap", "{" TIME("30") ",'fieldsV1':{'f:data':{'.':{},'f:a':{}}}}", 30},
    {"a label of the user", "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:app':{}}}}}",
     30},
    {"the status subresource",
     "{" TIME("30") ",'subresource':'status','fieldsV1':{'f:status':{'f:replicas':{}}}}", 20},
    {"the status subresource, whatever it owns",
     "{" TIME("30") ",'subresource':'status','fieldsV1':{'f:spec':{}}}", 20},
    {"the scale subresource is a user's",
     "{" TIME("30") ",'subresource':'scale','fieldsV1':{'f:spec':{'f:replicas':{}}}}", 30},
    {"status without a subresource", "{" TIME("30") ",'fieldsV1':{'f:status':{'f:x':{}}}}", 20},
    {"Karmada's claim",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{"
                    "'f:annotations':{'.':{},'f:propagationpolicy.karmada.io/name':{},"
                    "'f:propagationpolicy.karmada.io/namespace':{}},"
                    "'f:labels':{'.':{},'f:propagationpolicy.karmada.io/permanent-id':{}}}}}",
     20},
    {"Karmada's claim beside a user's label",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:propagationpolicy.karmada.io/permanent-id':{},'f:app':{}}}}}",
     30},
    {"Karmada's label beside the spec",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:a.karmada.io/b':{}}},"
                    "'f:spec':{'f:replicas':{}}}}",
     30},
    {"the domain may stand anywhere in the key",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:annotations':{'f:a.karmada.io.example/x':{}}}}}",
     20},
    {"the domain needs its dot",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:karmada.io/managed':{}}}}}", 30},
    {"the label of skipping is a user's",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:namespace.karmada.io/skip-auto-propagation':{}}}}}",
     30},
    {"as an annotation it is not",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:annotations':{"
                    "'f:namespace.karmada.io/skip-auto-propagation':{}}}}}",
     20},
    {"and neither is one much like it",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:namespace.karmada.io/skip-auto-propagation-2':{}}}}}",
     20},
    {"finalizers", "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:finalizers':{'.':{}}}}}", 30},
    {"an emptied map of annotations",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'.':{},'f:annotations':{'.':{}}}}}", 20},
    {"nothing", "{" TIME("30") ",'fieldsV1':{}}", 20},
    {"nothing known", "{" TIME("30") "}", 20},
    {"no time", "{'fieldsV1':{'f:spec':{}}}", 20},
    {"an older change", "{" TIME("05") ",'fieldsV1':{'f:spec':{}}}", 20},
};

TEST_ROWS(tells_users_entries, entries, name)
{
    const struct entry_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *metadata = json_of(
        "{" CREATED ",'managedFields':[{" TIME("20") ",'fieldsV1':{'f:spec':{'f:image':{}}}}]}");

    cJSON_AddItemToArray(cJSON_GetObjectItem(metadata, "managedFields"), json_of(c->entry));
    reading_init(&r);
    assert_int_equal(user_changed_ms(&r.decode, metadata), c->changed_s * 1000);
    assert_false(r.decode.failed);
}

/* Without an entry that counts, and with what is not even an entry. */
static struct fallback_case {
    const char *name;
    const char *metadata;
    int64_t changed_s;
    const char *error;
} fallbacks[] = {
    {"nothing at all", "{}", 0, NULL},
    {"no managed fields", "{" CREATED "}", 0, NULL},
    {"no managed fields of the first generation", "{" CREATED ",'generation':1}", 10, NULL},
    {"no managed fields of a later one", "{" CREATED ",'generation':3}", 0, NULL},
    {"no entries", "{" CREATED ",'managedFields':[]}", 0, NULL},
    {"nothing but Karmada's",
     "{" CREATED ",'managedFields':[{" TIME(
         "30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:a.karmada.io/b':{}}}}}]}",
     10, NULL},
    {"a null entry", "{" CREATED ",'managedFields':[null]}", 10, NULL},
    {"before the epoch",
     "{'managedFields':[{'time':'1969-12-31T23:59:59Z','fieldsV1':{'f:spec':{}}}]}", -1, NULL},
    {"managed fields that are an object", "{'managedFields':{}}", 0,
     "'metadata.managedFields' must be an array, found an object"},
    {"an entry that is a text", "{'managedFields':['x']}", 0,
     "'metadata.managedFields[]' must be an object, found a string"},
    {"a time that is a number", "{'managedFields':[{'time':5}]}", 0,
     "'metadata.managedFields[].time' must be a string, found a number"},
    {"a time that is no time", "{'managedFields':[{'time':'noon'}]}", 0,
     "'metadata.managedFields[].time' must be a time such as 2026-01-31T12:00:00Z"},
    {"fields that are a text", "{'managedFields':[{" TIME("30") ",'fieldsV1':'x'}]}", 0,
     "'metadata.managedFields[].fieldsV1' must be an object, found a string"},
    {"a subresource that is a number", "{'managedFields':[{" TIME("30") ",'subresource':1}]}", 0,
     "'metadata.managedFields[].subresource' must be a string, found a number"},
};

TEST_ROWS(falls_back, fallbacks, name)
{
    const struct fallback_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *metadata = json_of(c->metadata);

    reading_init(&r);
    assert_int_equal(user_changed_ms(&r.decode, metadata), c->changed_s * 1000);
    assert_string_equal(r.err.text, c->error ? c->error : "");
}
