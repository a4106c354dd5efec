/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/connector_kind.h"

static const char suffix[] = ".cnrm.cloud.google.com";
static const char own_group[] = "core.cnrm.cloud.google.com";

enum {
    PLAIN = CONNECTOR_NO_LABELS,
    JOINT = CONNECTOR_NO_LABELS | CONNECTOR_NO_IDENTITY,
    SERVER = CONNECTOR_SERVER_ID,
};

/* Sorted by kind, for bsearch. A kind that is not listed counts as one with labels. */
static const struct kind_traits {
    const char *kind;
    unsigned traits;
} kinds[] = {
    {"AccessContextManagerAccessPolicy", PLAIN | SERVER},
    {"BigtableTable", PLAIN},
    {"BillingBudgetsBudget", PLAIN | SERVER},
    {"ComputeAutoscaler", PLAIN},
    {"ComputeBackendBucket", PLAIN},
    {"ComputeBackendService", PLAIN},
    {"ComputeFirewall", PLAIN},
    {"ComputeFirewallPolicy", PLAIN | SERVER},
    {"ComputeFirewallPolicyAssociation", PLAIN},
    {"ComputeFirewallPolicyRule", JOINT},
    {"ComputeHTTPHealthCheck", PLAIN},
    {"ComputeHTTPSHealthCheck", PLAIN},
    {"ComputeHealthCheck", PLAIN},
    {"ComputeInstanceGroup", PLAIN},
    {"ComputeInstanceGroupManager", PLAIN},
    {"ComputeInterconnectAttachment", PLAIN},
    {"ComputeNetwork", PLAIN},
    {"ComputeNetworkEndpointGroup", PLAIN},
    {"ComputeNetworkFirewallPolicy", PLAIN},
    {"ComputeNetworkPeering", PLAIN},
    {"ComputeNodeGroup", PLAIN},
    {"ComputeNodeTemplate", PLAIN},
    {"ComputePacketMirroring", PLAIN},
    {"ComputeProjectMetadata", JOINT},
    {"ComputeReservation", PLAIN},
    {"ComputeResourcePolicy", PLAIN},
    {"ComputeRoute", PLAIN},
    {"ComputeRouter", PLAIN},
    {"ComputeRouterInterface", PLAIN},
    {"ComputeRouterNAT", PLAIN},
    {"ComputeRouterPeer", PLAIN},
    {"ComputeSSLCertificate", PLAIN},
    {"ComputeSSLPolicy", PLAIN},
    {"ComputeSharedVPCHostProject", JOINT},
    {"ComputeSharedVPCServiceProject", JOINT},
    {"ComputeSubnetwork", PLAIN},
    {"ComputeTargetGRPCProxy", PLAIN},
    {"ComputeTargetHTTPProxy", PLAIN},
    {"ComputeTargetHTTPSProxy", PLAIN},
    {"ComputeTargetInstance", PLAIN},
    {"ComputeTargetPool", PLAIN},
    {"ComputeTargetSSLProxy", PLAIN},
    {"ComputeTargetTCPProxy", PLAIN},
    {"ComputeURLMap", PLAIN},
    {"ContainerNodePool", PLAIN},
    {"DNSPolicy", PLAIN},
    {"DNSRecordSet", JOINT},
    {"DataflowJob", PLAIN},
    {"Folder", PLAIN | SERVER},
    {"IAMAccessBoundaryPolicy", PLAIN},
    {"IAMAuditConfig", JOINT},
    {"IAMCustomRole", PLAIN},
    {"IAMPartialPolicy", JOINT},
    {"IAMPolicy", JOINT},
    {"IAMPolicyMember", JOINT},
    {"IAMServiceAccount", PLAIN},
    {"IAMServiceAccountKey", PLAIN | SERVER},
    {"IAMWorkloadIdentityPool", PLAIN},
    {"IAMWorkloadIdentityPoolProvider", PLAIN},
    {"IAPBrand", PLAIN | SERVER},
    {"IAPIdentityAwareProxyClient", PLAIN | SERVER},
    {"KMSKeyRing", PLAIN},
    {"LoggingLogExclusion", PLAIN},
    {"LoggingLogMetric", PLAIN},
    {"LoggingLogSink", PLAIN},
    {"MonitoringAlertPolicy", SERVER},
    {"MonitoringGroup", PLAIN | SERVER},
    {"MonitoringNotificationChannel", SERVER},
    {"MonitoringUptimeCheckConfig", SERVER},
    {"Project", CONNECTOR_GLOBAL},
    {"PubSubSchema", PLAIN},
    {"ResourceManagerLien", PLAIN | SERVER},
    {"ResourceManagerPolicy", JOINT},
    {"SQLDatabase", PLAIN},
    {"SQLSSLCert", PLAIN | SERVER},
    {"SQLUser", PLAIN},
    {"Service", JOINT},
    {"ServiceIdentity", JOINT},
    {"ServiceNetworkingConnection", JOINT},
    {"SourceRepoRepository", PLAIN},
    {"SpannerDatabase", PLAIN},
    {"StorageBucket", CONNECTOR_GLOBAL},
    {"StorageBucketAccessControl", JOINT},
    {"StorageDefaultObjectAccessControl", JOINT},
    {"StorageNotification", PLAIN | SERVER},
};

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

bool connector_manages(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t)(slash - api_version) : 0;

    return ends_with(api_version, len, suffix) && !ends_with(api_version, len, own_group);
}

static int by_kind(const void *key, const void *item)
{
    return strcmp(key, ((const struct kind_traits *)item)->kind);
}

unsigned connector_traits(const char *kind)
{
    const struct kind_traits *found =
        bsearch(kind, kinds, ARRAY_LEN(kinds), sizeof(kinds[0]), by_kind);

    return found ? found->traits : 0;
}
