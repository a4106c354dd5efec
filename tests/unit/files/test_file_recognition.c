/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/file_recognition.h"

#include "tests/unit/suite.h"

static const struct document {
    const char *title;
    const char *path;
    const char *json;
    enum skipped_kind kind;
} documents[] = {
    {"an object", "a.yaml", "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}",
     SKIPPED_NONE},
    {"a custom object", "a.yaml", "{'apiVersion':'x.io/v1','kind':'X','metadata':{'name':'a'}}",
     SKIPPED_NONE},
    {"an object without metadata", "a.yaml", "{'apiVersion':'apps/v1','kind':'Deployment'}",
     SKIPPED_NONE},
    {"a policy without metadata", "a.yaml",
     "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','spec':{}}",
     SKIPPED_NONE},
    {"a misspelt kind of Karmada", "a.yaml",
     "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolcy','spec':{}}",
     SKIPPED_NONE},
    {"a misspelt built-in kind", "a.yaml", "{'apiVersion':'apps/v1','kind':'Deploment'}",
     SKIPPED_NONE},
    {"a misspelt group of Karmada", "a.yaml",
     "{'apiVersion':'policies.karmada.io/v1alpha1','kind':'OverridePolicy'}", SKIPPED_NONE},
    {"a misspelt key", "a.yaml", "{'apiversion':'v1','kind':'ConfigMap'}", SKIPPED_NONE},
    {"both keys misspelt", "a.yaml", "{'ApiVersion':'v1','Kind':'ConfigMap','spec':{}}",
     SKIPPED_NONE},
    {"one misspelt key alone", "a.yaml", "{'Kind':'ConfigMap','spec':{}}", SKIPPED_OTHER_YAML},
    {"an item of a List without a kind", "a.yaml", "{'apiVersion':'','kind':''}", SKIPPED_NONE},
    {"a List without items", "a.yaml", "{'apiVersion':'v1','kind':'List','items':{}}",
     SKIPPED_NONE},
    {"a sequence of objects", "a.yaml", "[1,{'apiVersion':'v1','kind':'ConfigMap'}]", SKIPPED_NONE},
    {"a configuration with a version of its own", "a.yaml", "{'apiVersion':'1.0','kind':'x'}",
     SKIPPED_CONFIGURATION},
    {"a configuration of the datasources of Grafana", "a.yaml", "{'apiVersion':1,'kind':'x'}",
     SKIPPED_OTHER_YAML},
    {"a custom object with labels and no name", "a.yaml",
     "{'apiVersion':'x.io/v1','kind':'X','metadata':{'labels':{}}}", SKIPPED_NONE},
    {"an object without kind", "a.yaml", "{'apiVersion':'v1','metadata':{'name':'a'}}",
     SKIPPED_NONE},
    {"an object without apiVersion", "a.yaml", "{'kind':'ConfigMap','metadata':{'name':'a'}}",
     SKIPPED_NONE},
    {"generateName", "a.yaml",
     "{'apiVersion':'x.io/v1','kind':'X','metadata':{'generateName':'a-'}}", SKIPPED_NONE},
    {"Flux's Kustomization", "kustomization.yaml",
     "{'apiVersion':'kustomize.toolkit.fluxcd.io/v1','kind':'Kustomization',"
     "'metadata':{'name':'apps'}}",
     SKIPPED_NONE},
    {"kind's configuration", "kind.yaml",
     "{'apiVersion':'kind.x-k8s.io/v1alpha4','kind':'Cluster','name':'a'}", SKIPPED_CONFIGURATION},
    {"kubeadm's configuration", "a.yaml",
     "{'apiVersion':'kubeadm.k8s.io/v1beta3','kind':'ClusterConfiguration',"
     "'metadata':{'creationTimestamp':null}}",
     SKIPPED_CONFIGURATION},
    {"a kubeconfig", "a.yaml", "{'apiVersion':'v1','kind':'Config','clusters':[]}",
     SKIPPED_CONFIGURATION},
    {"a configuration of Karmada", "a.yaml",
     "{'apiVersion':'config.karmada.io/v1alpha1','kind':'KarmadaInitConfig','spec':{}}",
     SKIPPED_CONFIGURATION},
    {"a kustomization by name", "a/kustomization.yml", "{'resources':[]}", SKIPPED_KUSTOMIZATION},
    {"a kustomize component", "a.yaml",
     "{'apiVersion':'kustomize.config.k8s.io/v1alpha1','kind':'Component',"
     "'metadata':{'name':'a'}}",
     SKIPPED_KUSTOMIZATION},
    {"a chart", "c/Chart.yaml", "{'apiVersion':'v2','name':'c','version':'1.0.0'}",
     SKIPPED_HELM_CHART},
    {"a name of Helm", "a.yaml",
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'{{ .Release.Name }}'}}",
     SKIPPED_HELM_TEMPLATE},
    {"a name of envsubst", "a.yaml",
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'${NAME}'}}",
     SKIPPED_OTHER_TEMPLATE},
    {"a value of another engine", "a.yaml",
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'},'data':{'a':'{{ x }}'}}",
     SKIPPED_NONE},
    {"values", "values.yaml", "{'replicaCount':1}", SKIPPED_OTHER_YAML},
    {"values with a kind", "values.yaml", "{'kind':'DaemonSet'}", SKIPPED_OTHER_YAML},
    {"an API version only", "a.yaml", "{'apiVersion':'v1'}", SKIPPED_OTHER_YAML},
    {"a list", "a.yaml", "[1]", SKIPPED_OTHER_YAML},
    {"a text", "a.yaml", "'text'", SKIPPED_OTHER_YAML},
    {"a package", "package.json", "{'name':'a','version':'1'}", SKIPPED_OTHER_JSON},
    {"a list in JSON", "a.json", "[]", SKIPPED_OTHER_JSON},
};

/* Parses JSON with single quotes. */
static cJSON *parse(const char *json)
{
    char *text = xstrdup(json);

    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    cJSON *tree = cJSON_Parse(text);
    free(text);
    assert_non_null(tree);
    return tree;
}

TEST_ROWS(documents_are_recognized, documents, title)
{
    const struct document *d = *state;
    CLEANUP(json_cleanup) cJSON *tree = parse(d->json);

    assert_int_equal(recognize_document(d->path, tree), d->kind);
}

static const struct mistake {
    const char *json;
    const char *wanted; /* NULL: an object. */
} mistakes[] = {
    {"[{'apiVersion':'v1','kind':'ConfigMap'}]",
     "a sequence is no object: put each object into a document of its own"},
    {"{'apiversion':'v1','kind':'ConfigMap'}",
     "the key 'apiversion' is misspelt: write apiVersion"},
    {"{'apiVersion':'v1','KIND':'ConfigMap'}", "the key 'KIND' is misspelt: write kind"},
    {"{'apiVersion':'v1','kind':'ConfigMap','Kind':'x'}", NULL},
    {"{'apiVersion':'v1','kind':'List','items':{}}", "the items of the List are no sequence"},
    {"{'apiVersion':'x.io/v1','kind':'List','metadata':{'name':'a'}}", NULL},
    {"{'apiVersion':'policies.karmada.io/v1alpha1','kind':'PropagationPolicy'}",
     "there is no kind PropagationPolicy in apiVersion 'policies.karmada.io/v1alpha1': write "
     "policy.karmada.io/v1alpha1"},
    {"{'apiVersion':'policy.karmada.io','kind':'ClusterOverridePolicy'}",
     "there is no kind ClusterOverridePolicy in apiVersion 'policy.karmada.io': write "
     "policy.karmada.io/v1alpha1"},
    {"{'apiVersion':'v1','kind':'ClusterPropagationPolicy'}",
     "there is no kind ClusterPropagationPolicy in apiVersion 'v1': write "
     "policy.karmada.io/v1alpha1"},
    {"{'apiVersion':'policy.karmada.io/v1alpha2','kind':'PropagationPolicy'}", NULL},
    {"{'apiVersion':'core.example.io/v1','kind':'PropagationPolicy'}", NULL},
    {"{'kind':'PropagationPolicy','metadata':{'name':'a'}}", NULL},
};

TEST_ROWS(mistakes_in_the_type_of_an_object_are_reported, mistakes, json)
{
    const struct mistake *m = *state;
    CLEANUP(json_cleanup) cJSON *tree = parse(m->json);
    struct error why = {.text = ""};

    assert_int_equal(document_is_object(tree, &why), m->wanted == NULL);
    assert_string_equal(why.text, m->wanted ? m->wanted : "");
}

TEST(a_template_is_recognized_by_the_line_of_the_error)
{
    static const char text[] = "a: 1\nb: {{ x }}\nc: 2\nd: {% if %}\ne: '{{ x }}'\n"
                               "f: it's {{ x }}\n- \"{{ x }}\" {{ x";

    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 1), SKIPPED_NONE);
    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 2), SKIPPED_HELM_TEMPLATE);
    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 3), SKIPPED_NONE);
    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 4), SKIPPED_OTHER_TEMPLATE);
    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 5), SKIPPED_NONE);
    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 6), SKIPPED_HELM_TEMPLATE);
    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 7), SKIPPED_HELM_TEMPLATE);
    assert_int_equal(recognize_text_at(text, sizeof(text) - 1, 8), SKIPPED_NONE);
    assert_int_equal(recognize_text_at("", 0, 1), SKIPPED_NONE);
    assert_int_equal(recognize_text_at("a: ${x}", 7, 1), SKIPPED_NONE);
    assert_int_equal(recognize_text_at("a: '", 4, 1), SKIPPED_NONE);
}

static const struct json_text {
    const char *text;
    bool commented;
} json_texts[] = {
    {"{\n// a\n\"a\": 1}", true},
    {"/* a */ {}", true},
    {"{\"a\": 1 /* it's */}", true},
    {"{\"a\": \"http://x\"}", false},
    {"{\"a\": \"\\\"// no comment\"}", false},
    {"{\"apiVersion\": \"v1\", // a\n \"kind\": \"ConfigMap\"}", false},
    {"{\"kind\": \"Secret\", \"metadata\": {}, // a\n\"apiversion\": \"v1\"}", false},
    {"{\"kind\": \"x\" /* a */}", true},
    {"{\"a\": 1,}", false},
    {"", false},
};

TEST_ROWS(comments_in_json_are_recognized, json_texts, text)
{
    const struct json_text *j = *state;

    assert_int_equal(is_commented_json(j->text, strlen(j->text)), j->commented);
}

TEST(a_binary_file_has_a_nul_byte_and_another_foreign_byte)
{
    char late[9000];

    memset(late, 'a', sizeof(late));
    late[sizeof(late) - 1] = '\0';
    assert_true(is_binary_text("\x7f"
                               "ELF\x02\0a",
                               7));
    assert_true(is_binary_text("\x1f\x8b\x08\0\0", 5));
    assert_true(is_binary_text("a\0\xff\0", 4));
    assert_false(is_binary_text("a: \xc3\xa4\0\n", 7));
    assert_false(is_binary_text("\0\0\0", 3));
    assert_false(is_binary_text("a: 1\n", 5));
    assert_false(is_binary_text("\xff\xfe"
                                "a\0",
                                4));
    assert_false(is_binary_text(late, sizeof(late)));
    assert_false(is_binary_text("", 0));
}

TEST(each_kind_has_a_message)
{
    assert_string_equal(skipped_message(SKIPPED_KUSTOMIZATION).text,
                        "no Kubernetes object: looks like a kustomization");
    assert_string_equal(skipped_message(SKIPPED_OTHER_JSON).text,
                        "no Kubernetes object: looks like other JSON");
    assert_string_equal(
        skipped_message(SKIPPED_HELM_TEMPLATE).text,
        "no Kubernetes object: looks like a Helm template; render it: helm template "
        "CHART | karmada-policy-exporter check -");
}
