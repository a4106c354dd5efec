/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/references.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

/* Pod spec with each kind of reference, and with some names twice. */
#define WHOLE_POD                                                                                  \
    "{'serviceAccountName':'robot','serviceAccount':'robot',"                                      \
    "'imagePullSecrets':[{'name':'pull'},{'name':''},null,{}],"                                    \
    "'containers':[{'name':'a','env':["                                                            \
    "{'name':'plain','value':'x'},"                                                                \
    "{'name':'C','valueFrom':{'configMapKeyRef':{'name':'cm-env','key':'k'}}},"                    \
    "{'name':'S','valueFrom':{'secretKeyRef':{'name':'s-env','key':'k'}}},"                        \
    "{'name':'F','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'}}}],"                        \
    "'envFrom':[{'configMapRef':{'name':'cm-from'}},{'secretRef':{'name':'s-from'}},"              \
    "{'configMapRef':{'name':'cm-env'}}]}],"                                                       \
    "'initContainers':[{'envFrom':[{'configMapRef':{'name':'cm-init'}}]}],"                        \
    "'ephemeralContainers':[{'envFrom':[{'secretRef':{'name':'s-eph'}}]}],"                        \
    "'volumes':["                                                                                  \
    "{'configMap':{'name':'cm-vol'}},{'secret':{'secretName':'s-vol'}},"                           \
    "{'projected':{'sources':[{'configMap':{'name':'cm-proj'}},{'secret':{'name':'s-proj'}},"      \
    "{'serviceAccountToken':{'path':'t'}}]}},"                                                     \
    "{'azureFile':{'secretName':'s-azure','shareName':'x'}},"                                      \
    "{'cephfs':{'secretRef':{'name':'s-ceph'}}},{'cinder':{'secretRef':{'name':'s-cinder'}}},"     \
    "{'flexVolume':{'secretRef':{'name':'s-flex'}}},{'rbd':{'secretRef':{'name':'s-rbd'}}},"       \
    "{'scaleIO':{'secretRef':{'name':'s-scale'}}},{'iscsi':{'secretRef':{'name':'s-iscsi'}}},"     \
    "{'storageos':{'secretRef':{'name':'s-storage'}}},"                                            \
    "{'csi':{'nodePublishSecretRef':{'name':'s-csi'}}},"                                           \
    "{'persistentVolumeClaim':{'claimName':'pvc-b'}},"                                             \
    "{'persistentVolumeClaim':{'claimName':'pvc-a'}},"                                             \
    "{'emptyDir':{}},{'hostPath':{'path':'/'}},{'ephemeral':{}}]}"

#define WHOLE_POD_REFERENCES                                                                       \
    "ConfigMap/cm-env ConfigMap/cm-from ConfigMap/cm-init ConfigMap/cm-proj ConfigMap/cm-vol "     \
    "Secret/pull Secret/s-azure Secret/s-ceph Secret/s-cinder Secret/s-csi Secret/s-env "          \
    "Secret/s-eph Secret/s-flex Secret/s-from Secret/s-iscsi Secret/s-proj Secret/s-rbd "          \
    "Secret/s-scale Secret/s-storage Secret/s-vol ServiceAccount/robot "                           \
    "PersistentVolumeClaim/pvc-a PersistentVolumeClaim/pvc-b "

#define OBJECT(api_version, kind, spec)                                                            \
    "{'apiVersion':'" api_version "','kind':'" kind "','metadata':{'name':'web'},'spec':" spec "}"
#define IN_TEMPLATE(pod) "{'template':{'spec':" pod "}}"

static struct references_case {
    const char *name;
    const char *json;
    const char *needs;
} cases[] = {
    {"Pod", OBJECT("v1", "Pod", WHOLE_POD), WHOLE_POD_REFERENCES},
    {"Deployment", OBJECT("apps/v1", "Deployment", IN_TEMPLATE(WHOLE_POD)), WHOLE_POD_REFERENCES},
    {"ReplicaSet", OBJECT("apps/v1", "ReplicaSet", IN_TEMPLATE(WHOLE_POD)), WHOLE_POD_REFERENCES},
    {"DaemonSet", OBJECT("apps/v1", "DaemonSet", IN_TEMPLATE(WHOLE_POD)), WHOLE_POD_REFERENCES},
    {"StatefulSet", OBJECT("apps/v1", "StatefulSet", IN_TEMPLATE(WHOLE_POD)), WHOLE_POD_REFERENCES},
    {"Job", OBJECT("batch/v1", "Job", IN_TEMPLATE(WHOLE_POD)), WHOLE_POD_REFERENCES},
    {"CronJob",
     OBJECT("batch/v1", "CronJob", "{'jobTemplate':{'spec':" IN_TEMPLATE(WHOLE_POD) "}}"),
     WHOLE_POD_REFERENCES},
    {"another version has no references",
     OBJECT("apps/v1beta1", "Deployment", IN_TEMPLATE(WHOLE_POD)), ""},
    {"another group has no references",
     OBJECT("apps.kruise.io/v1", "StatefulSet", IN_TEMPLATE(WHOLE_POD)), ""},
    {"a kind without references", OBJECT("v1", "ConfigMap", WHOLE_POD), ""},
    {"a CronJob with the pod at the path of a Job",
     OBJECT("batch/v1", "CronJob", IN_TEMPLATE(WHOLE_POD)), ""},
    {"metadata only", "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web'}}", ""},
    {"the service account default is not a reference",
     OBJECT("v1", "Pod", "{'serviceAccountName':'default'}"), ""},
    {"the deprecated field serviceAccount", OBJECT("v1", "Pod", "{'serviceAccount':'robot'}"),
     "ServiceAccount/robot "},
    {"serviceAccountName takes precedence over serviceAccount",
     OBJECT("v1", "Pod", "{'serviceAccount':'robot','serviceAccountName':'default'}"), ""},
    {"equal names of different kinds",
     OBJECT("v1", "Pod",
            "{'volumes':[{'secret':{'secretName':'x'}},{'configMap':{'name':'x'}},"
            "{'persistentVolumeClaim':{'claimName':'x'}}]}"),
     "ConfigMap/x Secret/x PersistentVolumeClaim/x "},
    {"claims of volumeClaimTemplates are not references",
     OBJECT("apps/v1", "StatefulSet",
            "{'volumeClaimTemplates':[{'metadata':{'name':'data'}},{'metadata':{'name':'a'}},"
            "{'metadata':{'name':'z'}},{}],"
            "'template':{'spec':{'volumes':[{'persistentVolumeClaim':{'claimName':'data'}},"
            "{'persistentVolumeClaim':{'claimName':'data'}},"
            "{'persistentVolumeClaim':{'claimName':'shared'}},"
            "{'secret':{'secretName':'data'}}]}}}"),
     "Secret/data PersistentVolumeClaim/shared "},
    {"volumeClaimTemplates of a Deployment are ignored",
     OBJECT("apps/v1", "Deployment",
            "{'volumeClaimTemplates':[{'metadata':{'name':'data'}}],"
            "'template':{'spec':{'volumes':[{'persistentVolumeClaim':{'claimName':'data'}}]}}}"),
     "PersistentVolumeClaim/data "},
    {"Ingress",
     OBJECT("networking.k8s.io/v1", "Ingress",
            "{'tls':[{'secretName':'b'},{'secretName':'a'},{'secretName':'b'},{'hosts':['x']},"
            "{'secretName':''}]}"),
     "Secret/a Secret/b "},
    {"an Ingress of another version has no references",
     OBJECT("networking.k8s.io/v1beta1", "Ingress", "{'tls':[{'secretName':'b'}]}"), ""},
    {"ServiceImport", OBJECT("multicluster.x-k8s.io/v1alpha1", "ServiceImport", "{}"),
     "Service/derived-web EndpointSlice[kubernetes.io/service-name=derived-web] "},
};

static void write_references(const struct references *references, struct strbuf *out)
{
    for (uint32_t i = 0; i < references->count; i++) {
        const struct reference *r = &references->items[i];

        bool by_label = r->to->label_key != NULL;

        assert_string_equal(r->to->api_version, by_label ? "discovery.k8s.io/v1" : "v1");
        if (by_label)
            strbuf_addf(out, "%s[%s=%s] ", r->to->kind, r->to->label_key, r->name);
        else
            strbuf_addf(out, "%s/%s ", r->to->kind, r->name);
    }
}

TEST_ROWS(references_are_found, cases, name)
{
    const struct references_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    struct references references;

    reading_init(&r);
    references_decode(&r.decode, json, &references);
    write_references(&references, &text);
    assert_string_equal(text.data, c->needs);
    assert_false(r.decode.failed);
    assert_null(r.decode.prefix);
    references_release(r.strings, &references);
    assert_int_equal(references.count, 0);
}

/* Pod specs with a field of a wrong type; fields that are not decoded may have any type. */
static struct pod_case {
    const char *name;
    const char *pod;
    const char *error;
} pods[] = {
    {"containers", "{'containers':{}}",
     "'spec.template.spec.containers' must be an array, found an object"},
    {"a container", "{'containers':['nginx']}",
     "'spec.template.spec.containers[]' must be an object, found a string"},
    {"env", "{'initContainers':[{'env':{}}]}",
     "'spec.template.spec.initContainers[].env' must be an array, found an object"},
    {"a variable", "{'containers':[{'env':['A=b']}]}",
     "'spec.template.spec.containers[].env[]' must be an object, found a string"},
    {"valueFrom", "{'containers':[{'env':[{'valueFrom':[]}]}]}",
     "'spec.template.spec.containers[].env[].valueFrom' must be an object, found an array"},
    {"configMapKeyRef", "{'containers':[{'env':[{'valueFrom':{'configMapKeyRef':'x'}}]}]}",
     "'spec.template.spec.containers[].env[].valueFrom.configMapKeyRef' must be an object, "
     "found a string"},
    {"secretKeyRef.name", "{'containers':[{'env':[{'valueFrom':{'secretKeyRef':{'name':1}}}]}]}",
     "'spec.template.spec.containers[].env[].valueFrom.secretKeyRef.name' must be a string, "
     "found a number"},
    {"envFrom", "{'ephemeralContainers':[{'envFrom':'x'}]}",
     "'spec.template.spec.ephemeralContainers[].envFrom' must be an array, found a string"},
    {"configMapRef", "{'containers':[{'envFrom':[{'configMapRef':[]}]}]}",
     "'spec.template.spec.containers[].envFrom[].configMapRef' must be an object, found an array"},
    {"volumes", "{'volumes':{}}", "'spec.template.spec.volumes' must be an array, found an object"},
    {"a volume", "{'volumes':[1]}",
     "'spec.template.spec.volumes[]' must be an object, found a number"},
    {"configMap.name", "{'volumes':[{'configMap':{'name':[]}}]}",
     "'spec.template.spec.volumes[].configMap.name' must be a string, found an array"},
    {"cephfs", "{'volumes':[{'cephfs':'x'}]}",
     "'spec.template.spec.volumes[].cephfs' must be an object, found a string"},
    {"cephfs.secretRef", "{'volumes':[{'cephfs':{'secretRef':'x'}}]}",
     "'spec.template.spec.volumes[].cephfs.secretRef' must be an object, found a string"},
    {"cephfs.secretRef.name", "{'volumes':[{'cephfs':{'secretRef':{'name':1}}}]}",
     "'spec.template.spec.volumes[].cephfs.secretRef.name' must be a string, found a number"},
    {"projected", "{'volumes':[{'projected':[]}]}",
     "'spec.template.spec.volumes[].projected' must be an object, found an array"},
    {"projected.sources", "{'volumes':[{'projected':{'sources':{}}}]}",
     "'spec.template.spec.volumes[].projected.sources' must be an array, found an object"},
    {"a projected source", "{'volumes':[{'projected':{'sources':[true]}}]}",
     "'spec.template.spec.volumes[].projected.sources[]' must be an object, found a boolean"},
    {"a projected secret's name", "{'volumes':[{'projected':{'sources':[{'secret':{'name':1}}]}}]}",
     "'spec.template.spec.volumes[].projected.sources[].secret.name' must be a string, "
     "found a number"},
    {"imagePullSecrets", "{'imagePullSecrets':['pull']}",
     "'spec.template.spec.imagePullSecrets[]' must be an object, found a string"},
    {"serviceAccountName", "{'serviceAccountName':{}}",
     "'spec.template.spec.serviceAccountName' must be a string, found an object"},
    {"the pod", "'x'", "'spec.template.spec' must be an object, found a string"},
    {"fields that are not decoded",
     "{'nodeSelector':1,'containers':[{'image':1,'env':[{'name':1,'value':{}}],'ports':'x'}],"
     "'volumes':[{'name':1,'nfs':'x','configMap':{'items':1,'optional':'yes'}}]}",
     NULL},
};

TEST_ROWS(wrong_type_in_a_pod_is_rejected, pods, name)
{
    const struct pod_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(OBJECT("apps/v1", "Deployment", IN_TEMPLATE("{}")));
    struct references references;

    json_put(json, "spec.template.spec", json_of(c->pod));
    reading_init(&r);
    references_decode(&r.decode, json, &references);
    assert_string_equal(r.err.text, c->error ? c->error : "");
    assert_int_equal(r.decode.failed, c->error != NULL);
    references_release(r.strings, &references);
}

TEST(error_has_the_path_of_the_kind)
{
    static const struct {
        const char *json;
        const char *error;
    } rows[] = {
        {OBJECT("v1", "Pod", "[]"), "'spec' must be an object, found an array"},
        {OBJECT("v1", "Pod", "{'volumes':1}"), "'spec.volumes' must be an array, found a number"},
        {OBJECT("batch/v1", "CronJob", "{'jobTemplate':{'spec':{'template':1}}}"),
         "'spec.jobTemplate.spec.template' must be an object, found a number"},
        {OBJECT("networking.k8s.io/v1", "Ingress", "{'tls':[{'secretName':1}]}"),
         "'spec.tls[].secretName' must be a string, found a number"},
        {OBJECT("apps/v1", "StatefulSet", "{'volumeClaimTemplates':[{'metadata':{'name':1}}]}"),
         "'spec.volumeClaimTemplates[].metadata.name' must be a string, found a number"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(reading_release) struct reading r;
        CLEANUP(json_cleanup) cJSON *json = json_of(rows[i].json);
        struct references references;

        reading_init(&r);
        references_decode(&r.decode, json, &references);
        assert_string_equal(r.err.text, rows[i].error);
        references_release(r.strings, &references);
    }
}
