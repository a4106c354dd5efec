/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/connector_resource.h"

#include "metrics/base/number.h"

static const char suffix[] = ".cnrm.cloud.google.com";
static const char own_group[] = "core.cnrm.cloud.google.com";

/* Short names for the table of kinds. */
enum {
    NO_LABELS = CONNECTOR_NO_LABELS,
    SHARED = CONNECTOR_NO_LABELS | CONNECTOR_NO_IDENTITY,
    SERVER_ID = CONNECTOR_SERVER_ID,
    GLOBAL_ID = CONNECTOR_SERVER_ID | CONNECTOR_GLOBAL,
};

/* Sorted by kind for bsearch(). A kind that is not listed has labels and no special trait. */
static const struct kind_traits {
    const char *kind;
    unsigned traits;
} kinds[] = {
    {"AccessContextManagerAccessPolicy", NO_LABELS | GLOBAL_ID},
    {"BigQueryDataTransferConfig", NO_LABELS | SERVER_ID},
    {"BigtableTable", NO_LABELS},
    {"BillingBudgetsBudget", NO_LABELS | GLOBAL_ID},
    {"CloudBuildTrigger", NO_LABELS},
    {"CloudIdentityGroup", NO_LABELS | GLOBAL_ID},
    {"CloudIdentityMembership", NO_LABELS | SERVER_ID},
    {"ComputeAutoscaler", NO_LABELS},
    {"ComputeBackendBucket", NO_LABELS},
    {"ComputeBackendService", NO_LABELS},
    {"ComputeFirewall", NO_LABELS},
    {"ComputeFirewallPolicy", NO_LABELS | GLOBAL_ID},
    {"ComputeFirewallPolicyAssociation", NO_LABELS},
    {"ComputeFirewallPolicyRule", SHARED},
    {"ComputeHTTPHealthCheck", NO_LABELS},
    {"ComputeHTTPSHealthCheck", NO_LABELS},
    {"ComputeHealthCheck", NO_LABELS},
    {"ComputeInstanceGroup", NO_LABELS},
    {"ComputeInstanceGroupManager", NO_LABELS},
    {"ComputeInterconnectAttachment", NO_LABELS},
    {"ComputeNetwork", NO_LABELS},
    {"ComputeNetworkEndpointGroup", NO_LABELS},
    {"ComputeNetworkFirewallPolicy", NO_LABELS},
    {"ComputeNetworkPeering", NO_LABELS},
    {"ComputeNodeGroup", NO_LABELS},
    {"ComputeNodeTemplate", NO_LABELS},
    {"ComputePacketMirroring", NO_LABELS},
    {"ComputeProjectMetadata", SHARED},
    {"ComputeReservation", NO_LABELS},
    {"ComputeResourcePolicy", NO_LABELS},
    {"ComputeRoute", NO_LABELS},
    {"ComputeRouter", NO_LABELS},
    {"ComputeRouterInterface", NO_LABELS},
    {"ComputeRouterNAT", NO_LABELS},
    {"ComputeRouterPeer", NO_LABELS},
    {"ComputeSSLCertificate", NO_LABELS},
    {"ComputeSSLPolicy", NO_LABELS},
    {"ComputeSharedVPCHostProject", SHARED},
    {"ComputeSharedVPCServiceProject", SHARED},
    {"ComputeSubnetwork", NO_LABELS},
    {"ComputeTargetGRPCProxy", NO_LABELS},
    {"ComputeTargetHTTPProxy", NO_LABELS},
    {"ComputeTargetHTTPSProxy", NO_LABELS},
    {"ComputeTargetInstance", NO_LABELS},
    {"ComputeTargetPool", NO_LABELS},
    {"ComputeTargetSSLProxy", NO_LABELS},
    {"ComputeTargetTCPProxy", NO_LABELS},
    {"ComputeURLMap", NO_LABELS},
    {"ContainerNodePool", NO_LABELS},
    {"DLPDeidentifyTemplate", NO_LABELS | SERVER_ID},
    {"DLPInspectTemplate", NO_LABELS | SERVER_ID},
    {"DLPJobTrigger", NO_LABELS | SERVER_ID},
    {"DLPStoredInfoType", NO_LABELS | SERVER_ID},
    {"DNSPolicy", NO_LABELS},
    {"DNSRecordSet", SHARED},
    {"DataCatalogPolicyTag", NO_LABELS | SERVER_ID},
    {"DataCatalogTaxonomy", NO_LABELS | SERVER_ID},
    {"DataflowJob", NO_LABELS},
    {"FirestoreIndex", NO_LABELS | SERVER_ID},
    {"Folder", NO_LABELS | GLOBAL_ID},
    {"IAMAccessBoundaryPolicy", NO_LABELS},
    {"IAMAuditConfig", SHARED},
    {"IAMCustomRole", NO_LABELS},
    {"IAMPartialPolicy", SHARED},
    {"IAMPolicy", SHARED},
    {"IAMPolicyMember", SHARED},
    {"IAMServiceAccount", NO_LABELS},
    {"IAMServiceAccountKey", NO_LABELS | SERVER_ID},
    {"IAMWorkloadIdentityPool", NO_LABELS},
    {"IAMWorkloadIdentityPoolProvider", NO_LABELS},
    {"IAPBrand", NO_LABELS | SERVER_ID},
    {"IAPIdentityAwareProxyClient", NO_LABELS | SERVER_ID},
    {"IdentityPlatformTenant", NO_LABELS | SERVER_ID},
    {"KMSKeyHandle", NO_LABELS | SERVER_ID},
    {"KMSKeyRing", NO_LABELS},
    {"LoggingLogExclusion", NO_LABELS},
    {"LoggingLogMetric", NO_LABELS},
    {"LoggingLogSink", NO_LABELS},
    {"MonitoringAlertPolicy", SERVER_ID},
    {"MonitoringGroup", NO_LABELS | SERVER_ID},
    {"MonitoringNotificationChannel", SERVER_ID},
    {"MonitoringUptimeCheckConfig", SERVER_ID},
    {"Project", CONNECTOR_GLOBAL},
    {"PubSubSchema", NO_LABELS},
    {"RecaptchaEnterpriseKey", SERVER_ID},
    {"ResourceManagerLien", NO_LABELS | SERVER_ID},
    {"ResourceManagerPolicy", SHARED},
    {"SQLDatabase", NO_LABELS},
    {"SQLSSLCert", NO_LABELS | SERVER_ID},
    {"SQLUser", NO_LABELS},
    {"Service", SHARED},
    {"ServiceIdentity", SHARED},
    {"ServiceNetworkingConnection", SHARED},
    {"SourceRepoRepository", NO_LABELS},
    {"SpannerDatabase", NO_LABELS},
    {"StorageBucket", CONNECTOR_GLOBAL},
    {"StorageBucketAccessControl", SHARED},
    {"StorageDefaultObjectAccessControl", SHARED},
    {"StorageNotification", NO_LABELS | SERVER_ID},
    {"StorageTransferJob", NO_LABELS | SERVER_ID},
    {"TagsLocationTagBinding", NO_LABELS | SERVER_ID},
    {"TagsTagBinding", NO_LABELS | SERVER_ID},
    {"TagsTagKey", NO_LABELS | GLOBAL_ID},
    {"TagsTagValue", NO_LABELS | GLOBAL_ID},
    {"VertexAIDataset", NO_LABELS | SERVER_ID},
    {"VertexAIIndex", SERVER_ID},
};

static bool has_suffix(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

bool is_connector_api_version(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t)(slash - api_version) : 0;

    return has_suffix(api_version, len, suffix) && !has_suffix(api_version, len, own_group);
}

static int compare_kind_name(const void *key, const void *item)
{
    return strcmp(key, ((const struct kind_traits *)item)->kind);
}

unsigned connector_traits(const char *kind)
{
    const struct kind_traits *found =
        bsearch(kind, kinds, ARRAY_LEN(kinds), sizeof(kinds[0]), compare_kind_name);

    return found ? found->traits : 0;
}

#define PREFIX "cnrm.cloud.google.com/"

enum { PARENT_MAX_BYTES = 4096, ID_MAX_BYTES = 63 };

static const char annotations_path[] = "metadata.annotations";

static const struct container_field {
    enum container_kind kind;
    const char *annotation;
    const char *reference; /* Name of the field in spec. */
} container_fields[] = {
    {CONTAINER_PROJECT, PREFIX "project-id", "projectRef"},
    {CONTAINER_FOLDER, PREFIX "folder-id", "folderRef"},
    {CONTAINER_ORGANIZATION, PREFIX "organization-id", "organizationRef"},
};

enum connector_role connector_role_of(const cJSON *json)
{
    const char *api_version = json_str(json, "apiVersion", "");
    const char *kind = json_str(json, "kind", "");
    const cJSON *metadata = json_get(json, "metadata");
    const cJSON *item;

    if (is_connector_api_version(api_version))
        return ROLE_RESOURCE;
    if (strcmp(api_version, "v1") != 0)
        return ROLE_NONE;
    if (strcmp(kind, "Namespace") == 0) {
        cJSON_ArrayForEach (item, json_get(metadata, "annotations")) {
            if (item->string && strncmp(item->string, PREFIX, strlen(PREFIX)) == 0)
                return ROLE_DEFAULTS;
        }
    }
    if (strcmp(kind, "ConfigMap") == 0 &&
        strcmp(json_str(metadata, "namespace", ""), "cnrm-system") == 0 &&
        strcmp(json_str(metadata, "name", ""), "namespace-id") == 0)
        return ROLE_NAMESPACE_IDS;
    return ROLE_NONE;
}

/* ---- annotations of Config Connector ---- */

static enum prevention read_prevention(struct decode *d, const cJSON *annotations)
{
    static const char key[] = PREFIX "management-conflict-prevention-policy";
    const char *text = decode_text(d, annotations, annotations_path, key);

    /* To Config Connector an empty value is set, and invalid. */
    if (!text)
        return cJSON_IsString(json_get(annotations, key)) ? PREVENTION_INVALID : PREVENTION_UNSET;
    if (strcmp(text, "resource") == 0)
        return PREVENTION_RESOURCE;
    return strcmp(text, "none") == 0 ? PREVENTION_NONE : PREVENTION_INVALID;
}

/* Returns the first cloud container in the annotations. Sets `several` if there are more. */
static struct container read_container_annotations(struct decode *d, const cJSON *annotations,
                                                   bool *several)
{
    struct container container = {.kind = CONTAINER_NONE};

    for (size_t i = 0; i < ARRAY_LEN(container_fields); i++) {
        const struct container_field *field = &container_fields[i];
        const char *id = decode_text(d, annotations, annotations_path, field->annotation);

        if (!id)
            continue;
        if (container.id)
            *several = true;
        else
            container = (struct container){field->kind, intern_add(d->strings, id)};
    }
    return container;
}

/* ---- spec and status of Config Connector resources ---- */

/* Returns the container of the first reference: last path segment of `external`, else of `name`. */
static struct container read_container_reference(struct decode *d, const cJSON *spec)
{
    for (size_t i = 0; i < ARRAY_LEN(container_fields); i++) {
        const cJSON *reference = json_get(spec, container_fields[i].reference);
        const char *id = json_str(reference, "external", json_str(reference, "name", ""));
        const char *slash = strrchr(id, '/');

        if (*id != '\0')
            return (struct container){container_fields[i].kind,
                                      intern_add(d->strings, slash ? slash + 1 : id)};
    }
    return (struct container){.kind = CONTAINER_NONE};
}

static const char *read_location(struct decode *d, const cJSON *spec)
{
    static const char *const keys[] = {"location", "region", "zone"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *text = json_str(spec, keys[i], "");
        const char *slash = strrchr(text, '/');

        /* "projects/p/regions/r" means region r; "global" means no location. */
        text = slash ? slash + 1 : text;
        if (*text != '\0' && strcmp(text, "global") != 0)
            return intern_add(d->strings, text);
    }
    return NULL;
}

/* Returns all references to parents as one interned text; sets `unclear` if that is too long. */
static const char *read_parent(struct decode *d, const cJSON *spec, bool *unclear)
{
    static const char *const keys[] = {
        "instanceRef", "datasetRef", "keyRingRef", "clusterRef",  "bucketRef",
        "tableRef",    "routerRef",  "serviceRef", "attestorRef", "workloadIdentityPoolRef",
    };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PARENT_MAX_BYTES);

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const cJSON *reference = json_get(spec, keys[i]);

        if (cJSON_IsObject(reference))
            strbuf_addf(&text, "%s %s %s/%s;", keys[i], json_str(reference, "external", ""),
                        json_str(reference, "namespace", ""), json_str(reference, "name", ""));
    }
    *unclear = *unclear || !strbuf_ok(&text);
    return text.len > 0 ? intern_add(d->strings, text.data) : NULL;
}

const char *conflict_holder_decode(struct decode *d, const cJSON *status)
{
    /* Condition message: "... resource is under lease by '<id>' for an additional ...". */
    static const char before[] = "under lease by '";
    const cJSON *c;

    cJSON_ArrayForEach (c, json_get(status, "conditions")) {
        if (strcmp(json_str(c, "type", ""), "Ready") != 0 ||
            strcmp(json_str(c, "status", ""), "False") != 0 ||
            strcmp(json_str(c, "reason", ""), "ManagementConflict") != 0)
            continue;

        const char *at = strstr(json_str(c, "message", ""), before);
        const char *id = at ? at + strlen(before) : "";
        const char *end = strchr(id, '\'');
        size_t len = end ? (size_t)(end - id) : 0;

        /* Lease ids are label values, so a text above 63 bytes is not an id. */
        return intern_add_len(d->strings, id, len <= ID_MAX_BYTES ? len : 0);
    }
    return NULL;
}

static struct connector *decode_connector(struct decode *d, const cJSON *json)
{
    const cJSON *annotations = json_get(json_get(json, "metadata"), "annotations");
    const cJSON *spec = decode_object(d, json, "", "spec");
    const char *deletion = decode_text(d, annotations, annotations_path, PREFIX "deletion-policy");
    const char *reconcile =
        decode_text(d, annotations, annotations_path, PREFIX "reconcile-interval-in-seconds");
    uint64_t reconcile_s;
    unsigned traits = connector_traits(json_str(json, "kind", ""));
    struct connector *c = xcalloc(1, sizeof(*c));

    c->prevention = read_prevention(d, annotations);
    /* Config Connector does not manage a resource with several container annotations. */
    c->container = read_container_annotations(d, annotations, &c->unclear);
    if (!c->container.id)
        c->container = read_container_reference(d, spec);
    c->resource_id = decode_interned(d, spec, "spec", "resourceID");
    c->location = read_location(d, spec);
    c->parent = read_parent(d, spec, &c->unclear);
    c->conflict_holder = conflict_holder_decode(d, json_get(json, "status"));
    /* Config Connector ignores an interval that is not a number. */
    c->reconcile_s =
        reconcile && parse_uint(reconcile, INT32_MAX, &reconcile_s) ? (int64_t)reconcile_s : -1;
    c->abandons = deletion && strcmp(deletion, "abandon") == 0;
    c->unclear = c->unclear || traits & CONNECTOR_NO_IDENTITY ||
                 (traits & CONNECTOR_SERVER_ID && !c->resource_id);
    return c;
}

void *connector_decode(struct decode *d, const cJSON *json, enum connector_role role)
{
    const cJSON *annotations = json_get(json_get(json, "metadata"), "annotations");
    struct connector_defaults *defaults;
    struct namespace_ids *ids;

    switch (role) {
    case ROLE_RESOURCE:
        return decode_connector(d, json);
    case ROLE_DEFAULTS:
        defaults = xcalloc(1, sizeof(*defaults));
        defaults->prevention = read_prevention(d, annotations);
        defaults->container = read_container_annotations(d, annotations, &defaults->unclear);
        return defaults;
    case ROLE_NAMESPACE_IDS:
        ids = xcalloc(1, sizeof(*ids));
        labels_decode(d, json, "", "data", &ids->ids);
        return ids;
    case ROLE_NONE:
        return NULL;
    }
    abort();
}

void connector_release(struct intern *strings, void *part, enum connector_role role)
{
    if (!part)
        return;
    if (role == ROLE_RESOURCE) {
        struct connector *c = part;

        intern_drop(strings, c->container.id);
        intern_drop(strings, c->resource_id);
        intern_drop(strings, c->location);
        intern_drop(strings, c->parent);
        intern_drop(strings, c->conflict_holder);
    } else if (role == ROLE_DEFAULTS) {
        intern_drop(strings, ((struct connector_defaults *)part)->container.id);
    } else {
        labels_release(strings, &((struct namespace_ids *)part)->ids);
    }
    free(part);
}

int64_t lease_expiry_parse(const char *text)
{
    uint64_t seconds;

    return text && parse_uint(text, INT64_MAX / 1000, &seconds) ? (int64_t)seconds : 0;
}

void *lease_decode(struct decode *d, const cJSON *json)
{
    struct lease *l = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*l));

    l->asset_type = decode_interned(d, json, "", "assetType");
    l->holder = decode_interned(d, json, "", "holder");
    l->expires_s = lease_expiry_parse(decode_text(d, json, "", "expiration"));
    l->snapshot_ms = decode_int(d, json, "", "snapshotMilliseconds", 0);
    if (d->failed) {
        lease_release(d->strings, l);
        return NULL;
    }
    return l;
}

void lease_release(struct intern *strings, void *object)
{
    struct lease *l = object;

    if (!l)
        return;
    intern_drop(strings, l->asset_type);
    intern_drop(strings, l->holder);
    pool_free(l);
}
