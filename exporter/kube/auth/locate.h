/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kube_config.h"

/* Where to look for an API server. All is borrowed. */
struct kube_place {
    const char *kubeconfig;         /* NULL or "": not told. */
    const char *context;            /* NULL or "": the kubeconfig's own. */
    const char *const *environment; /* NAME=value, NULL at the end. */
};

enum kube_found {
    KUBE_FOUND,
    KUBE_NOWHERE, /* Nobody told of a server: no file, no variable, no pod. Not an error. */
    KUBE_BROKEN,  /* What was told cannot be used; the reason is in `err`. */
};

/*
 * The server that is meant, looked for as kubectl does: the kubeconfig that is told,
 * $KUBECONFIG, ~/.kube/config, the service account of the pod. Only KUBE_FOUND fills `out`.
 */
enum kube_found kube_locate(const struct kube_place *place, struct kube_config *out,
                            struct error *err) MUST_USE;
