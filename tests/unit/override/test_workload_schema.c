/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/workload_schema.h"

#include "tests/unit/reading.h"

#include "tests/unit/suite.h"

static const struct schema_row {
    const char *title, *kind, *object;
    bool fits;
} rows[] = {
    {"a Deployment", "Deployment", "{'spec':{'replicas':3,'paused':true}}", true},
    {"replicas as a text", "Deployment", "{'spec':{'replicas':'3'}}", false},
    {"replicas with a fraction", "Deployment", "{'spec':{'replicas':3.5}}", false},
    {"null", "Deployment", "{'spec':{'replicas':null,'template':null}}", true},
    {"unknown fields", "Deployment", "{'spec':{'other':[1]},'x':1}", true},
    {"a number as a label", "Pod", "{'metadata':{'labels':{'a':1}}}", false},
    {"labels as a list", "Pod", "{'metadata':{'labels':[]}}", false},
    {"a quantity", "Pod", "{'spec':{'containers':[{'resources':{'limits':{'cpu':'1'}}}]}}", true},
    {"a number as a quantity", "Pod",
     "{'spec':{'containers':[{'resources':{'limits':{'cpu':1}}}]}}", true},
    {"no quantity", "Pod", "{'spec':{'containers':[{'resources':{'limits':{'cpu':'x'}}}]}}", false},
    {"a port by name", "Pod",
     "{'spec':{'containers':[{'livenessProbe':{'httpGet':{'port':'web'}}}]}}", true},
    {"a port by number", "Pod",
     "{'spec':{'containers':[{'livenessProbe':{'httpGet':{'port':80}}}]}}", true},
    {"a port as a boolean", "Pod",
     "{'spec':{'containers':[{'livenessProbe':{'httpGet':{'port':true}}}]}}", false},
    {"containers as an object", "Pod", "{'spec':{'containers':{}}}", false},
    {"a container as a text", "Pod", "{'spec':{'containers':['a']}}", false},
    {"a command of numbers", "Pod", "{'spec':{'containers':[{'command':[1]}]}}", false},
    {"a time", "Pod", "{'metadata':{'creationTimestamp':'2026-01-02T03:04:05Z'}}", true},
    {"no time", "Pod", "{'metadata':{'creationTimestamp':'now'}}", false},
};

TEST_ROWS(an_object_fits_the_types_of_its_kind, rows, title)
{
    const struct schema_row *row = *state;
    CLEANUP(json_cleanup) cJSON *object = json_of(row->object);
    struct error err;

    assert_int_equal(workload_fits_schema(object, row->kind, &err), row->fits);
}
