/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Objects of a small control plane as JSON texts: policies in the namespace `default`, Deployments
 * that they claim, and their bindings.
 */

#define POLICY(name, more)                                                                         \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","               \
    "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\",\"labels\":{"                   \
    "\"propagationpolicy.karmada.io/permanent-id\":\"id-" name "\"}},\"spec\":{" more "}}"
#define SELECTS(name)                                                                              \
    "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","                  \
    "\"namespace\":\"default\",\"name\":\"" name "\"}]"
#define ON(cluster) "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"" cluster "\"]}}"

#define CLAIM(policy)                                                                              \
    "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-" policy                       \
    "\"},\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"default\","                 \
    "\"propagationpolicy.karmada.io/name\":\"" policy "\"}"
#define TEMPLATE(name, metadata)                                                                   \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"" name           \
    "\",\"namespace\":\"default\",\"uid\":\"u-" name "\",\"resourceVersion\":\"10\"" metadata      \
    "},\"spec\":{\"replicas\":2,\"template\":{}}}"
#define BINDING(name, policy, cluster)                                                             \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"" name "-deployment\",\"namespace\":\"default\"," CLAIM(                           \
        policy) "},\"spec\":{"                                                                     \
                "\"resource\":{\"apiVersion\":\"apps/"                                             \
                "v1\",\"kind\":\"Deployment\",\"namespace\":\"default\","                          \
                "\"name\":\"" name "\",\"uid\":\"u-" name                                          \
                "\",\"resourceVersion\":\"10\"},\"replicas\":2,"                                   \
                "\"schedulerName\":\"default-scheduler\",\"conflictResolution\":\"Abort\"," ON(    \
                    cluster) ",\"clusters\":[{\"name\":\"" cluster "\",\"replicas\":2}]}}"
#define CLUSTER(name)                                                                              \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\"}}"
