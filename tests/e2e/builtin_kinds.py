# SPDX-License-Identifier: Apache-2.0
"""The table of built-in kinds in metrics/model/builtin_kinds.c, from the discovery of an API server."""
import json

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
BEGIN = "    /* Begin of the rows that cluster_kinds.test writes. */\n"
END = "    /* End of the rows that cluster_kinds.test writes. */\n"
KARMADA = ".karmada.io"


def discovered(client):
    """The versions and the scope of each kind that can be created and watched, by group and name.
    The versions are in the order of preference."""
    kinds = {}
    for path in "/api", "/apis":
        status, answer = client.exchange("GET", path, None, {"Accept": DISCOVERY})
        assert status == 200, answer
        for group in json.loads(answer)["items"]:
            name = group["metadata"].get("name", "")
            if name.endswith(KARMADA):
                continue
            for version in group["versions"]:
                for resource in version["resources"]:
                    if {"create", "watch"} <= set(resource["verbs"]):
                        row = kinds.setdefault((name, resource["responseKind"]["kind"]),
                                               ([], resource["scope"] == "Cluster"))
                        row[0].append(version["version"])
    return kinds


def written(kinds, source):
    """The text of the C file with the rows of these kinds."""
    before, rest = source.split(BEGIN)
    after = rest.split(END)[1]
    rows = [f'    {{"{group}", "{kind}", "{" ".join(versions)}", {str(cluster).lower()}}},\n'
            for (group, kind), (versions, cluster) in sorted(kinds.items())]
    return "".join([before, BEGIN, *rows, END, after])
