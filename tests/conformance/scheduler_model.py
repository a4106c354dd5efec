# SPDX-License-Identifier: Apache-2.0
"""A second implementation of the rules of Karmada's scheduler, for tests only.

The implementation follows Karmada's own source (pkg/scheduler, pkg/util) for the releases 1.13 to 1.19. It shares no code
with the exporter. A case that needs live estimators or a lot raises Undetermined.
"""
import dataclasses
import itertools
import json
import re

RELEASES = ("1.13", "1.14", "1.15", "1.16", "1.17", "1.18", "1.19.0-rc.0", "1.19")
# Release and the version of Karmada that gave the answers of the vectors.
VERSIONS = dict(zip(RELEASES, ("v1.13.10", "v1.14.10", "v1.15.9", "v1.16.8", "v1.17.5", "v1.18.2", "v1.19.0-rc.0",
                               "f8fdd02d")))
APPLIED_PLACEMENT = "policy.karmada.io/applied-placement"
COMPONENTS_GATE = "MultiplePodTemplatesScheduling"


def since(release, first):
    """Returns true if `release` is `first` or a later one."""
    return RELEASES.index(release) >= RELEASES.index(first)


class Undetermined(Exception):
    """The rules alone do not decide; `possible` lists all results as dictionaries, if they are known.

    `affinity` is the name of the affinity group whose clusters get the replicas.
    """

    def __init__(self, reason, possible=None):
        super().__init__(reason)
        self.reason = reason
        self.possible = possible
        self.affinity = ""


class SchedulerError(Exception):
    """The scheduler reports an error and leaves the targets as they are."""


class NoClusterFits(SchedulerError):
    """No cluster passes the filters: the scheduler removes all targets."""


@dataclasses.dataclass
class Answer:
    """Result of one look of the scheduler at a binding; `clusters` maps names to replicas."""
    called: bool
    clusters: dict
    affinity: str = ""
    error: str = ""


# ---- selectors ----

NAME = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\Z")


def requirement(key, operator, values, labels):
    """Returns whether labels satisfy a requirement; None if the requirement is invalid."""
    values = values or []
    if operator in ("In", "NotIn"):
        if not values or not all(NAME.match(v) for v in values):
            return None
        found = labels.get(key) in values
        return found if operator == "In" else not found
    if operator in ("Exists", "DoesNotExist"):
        if values:
            return None
        return (key in labels) == (operator == "Exists")
    if operator in ("Gt", "Lt"):
        if len(values) != 1 or not re.fullmatch(r"[+-]?\d+", values[0]):
            return None
        if not re.fullmatch(r"[+-]?\d+", labels.get(key, "")):
            return False
        label, limit = int(labels[key]), int(values[0])
        return label > limit if operator == "Gt" else label < limit
    return None


def labels_match(selector, labels):
    for key, value in (selector.get("matchLabels") or {}).items():
        if not NAME.match(value) or labels.get(key) != value:
            return False
    results = [requirement(e.get("key"), e.get("operator"), e.get("values"), labels)
               if e.get("operator") not in ("Gt", "Lt") else None
               for e in selector.get("matchExpressions") or []]
    return all(results)


def zones_match(expression, zones, release):
    values = expression.get("values") or []
    listed = [zone in values for zone in zones]
    operator = expression.get("operator")
    if operator == "In":
        return any(listed) if since(release, "1.18") else bool(zones) and all(listed)
    if operator == "NotIn":
        return not any(listed)
    if operator == "Exists":
        return bool(zones)
    return operator == "DoesNotExist" and not zones


def fields_match(expressions, cluster, release):
    spec = cluster.get("spec") or {}
    zones = spec.get("zones") or []
    fields = {key: spec[key] for key in ("provider", "region") if spec.get(key)}
    for expression in expressions:
        if expression.get("key") == "zone":
            if not zones_match(expression, zones, release):
                return False
        elif not requirement(expression.get("key"), expression.get("operator"), expression.get("values"), fields):
            return False
    return True


def name_of(cluster):
    return cluster["metadata"]["name"]


def cluster_matches(cluster, affinity, release):
    """Returns whether a cluster matches a clusterAffinity or a targetCluster."""
    if name_of(cluster) in (affinity.get("exclude") or []):
        return False
    selector = affinity.get("labelSelector")
    if selector is not None and not labels_match(selector, cluster["metadata"].get("labels") or {}):
        return False
    fields = affinity.get("fieldSelector")
    if fields is not None and not fields_match(fields.get("matchExpressions") or [], cluster, release):
        return False
    names = affinity.get("clusterNames") or []
    return not names or name_of(cluster) in names


# ---- binding ----

class Binding:
    """Members of a ResourceBinding with the meaning of one release."""

    def __init__(self, manifest, release, gates=()):
        self.release = release
        self.gates = set(gates)
        self.spec = manifest.get("spec") or {}
        self.status = manifest.get("status") or {}
        self.placement = fields_of_release(self.spec.get("placement") or {}, release)
        self.applied = (manifest["metadata"].get("annotations") or {}).get(APPLIED_PLACEMENT, "")
        self.targets = {c["name"]: c.get("replicas", 0) for c in self.spec.get("clusters") or []}
        self.replicas = self.spec.get("replicas", 0)
        self.components = self.spec.get("components") or []
        self.requirements = self.spec.get("replicaRequirements") is not None
        self.uid = (self.spec.get("resource") or {}).get("uid", "")
        self.affinity = self.status.get("schedulerObservingAffinityName", "")

    @property
    def strategy(self):
        return self.placement.get("replicaScheduling")

    @property
    def scheduling_type(self):
        return "Duplicated" if self.strategy is None else self.strategy.get("replicaSchedulingType", "")

    @property
    def is_workload(self):
        if not since(self.release, "1.16"):
            return self.replicas != 0
        return self.replicas > 0 or self.requirements or bool(self.components)

    @property
    def fresh(self):
        """A reschedule was requested after the last scheduling."""
        wanted, last = self.spec.get("rescheduleTriggeredAt"), self.status.get("lastScheduledTime")
        return bool(wanted and last and wanted > last)

    def evicting(self):
        return {task.get("fromCluster") for task in self.spec.get("gracefulEvictionTasks") or []}

    def term(self, name):
        for term in self.placement.get("clusterAffinities") or []:
            if term.get("affinityName") == name:
                return term
        return None


def fields_of_release(placement, release):
    """Returns a placement without the members that the release does not have, and without zero values."""
    placement = json.loads(json.dumps(placement))
    if not since(release, "1.17"):
        placement.pop("workloadAffinity", None)
    if not since(release, "1.18"):
        for term in placement.get("clusterAffinities") or []:
            term.pop("overflowAffinities", None)
    return placement


def without_zeros(value):
    """Returns JSON without the members that Go leaves out: 0, "" and false."""
    if isinstance(value, dict):
        return {key: without_zeros(member) for key, member in value.items()
                if member is not None and (isinstance(member, (dict, list)) or member)}
    if isinstance(value, list):
        return [without_zeros(member) for member in value]
    return value


def placement_changed(binding):
    if not binding.applied:
        return True
    try:
        applied = fields_of_release(json.loads(binding.applied), binding.release)
    except ValueError:
        return False
    now, before = without_zeros(binding.placement), without_zeros(applied)
    if now == before:
        return False
    for member in ("clusterAffinity", "clusterTolerations", "spreadConstraints", "replicaScheduling"):
        if now.get(member) != before.get(member):
            return True
    if not binding.affinity:
        return True
    terms = [[t for t in p.get("clusterAffinities") or [] if t.get("affinityName") == binding.affinity][:1]
             for p in (now, before)]
    return not terms[0] or not terms[1] or terms[0] != terms[1]


def replicas_changed(binding):
    if binding.strategy is None:
        return False
    components = len(binding.components) > (0 if since(binding.release, "1.18") else 1)
    if COMPONENTS_GATE in binding.gates and since(binding.release, "1.16") and components and not binding.targets:
        return True
    if binding.scheduling_type == "Duplicated":
        return any(replicas != binding.replicas for replicas in binding.targets.values())
    return binding.scheduling_type == "Divided" and sum(binding.targets.values()) != binding.replicas


def runs(binding, clusters):
    """Returns whether the scheduler schedules a binding from its queue."""
    if placement_changed(binding) or replicas_changed(binding) or binding.fresh:
        return True
    if not binding.is_workload or binding.scheduling_type == "Duplicated":
        return True
    return since(binding.release, "1.14") and any(
        c["metadata"].get("deletionTimestamp") and name_of(c) in binding.targets for c in clusters)


# ---- filters ----

def tolerates(toleration, taint):
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return toleration.get("value", "") == taint.get("value", "")
    return operator == "Exists"


def taints_tolerated(binding, cluster):
    if name_of(cluster) in binding.targets:
        return True
    tolerations = binding.placement.get("clusterTolerations") or []
    return all(any(tolerates(toleration, taint) for toleration in tolerations)
               for taint in (cluster.get("spec") or {}).get("taints") or []
               if taint.get("effect") in ("NoSchedule", "NoExecute"))


def condition_is_true(cluster, name):
    return any(c.get("type") == name and c.get("status") == "True"
               for c in (cluster.get("status") or {}).get("conditions") or [])


def api_served(binding, cluster):
    resource = binding.spec.get("resource") or {}
    for enablement in (cluster.get("status") or {}).get("apiEnablements") or []:
        if enablement.get("groupVersion") == resource.get("apiVersion"):
            if any(r.get("kind") == resource.get("kind") for r in enablement.get("resources") or []):
                return True
    if name_of(cluster) not in binding.targets:
        return False
    return since(binding.release, "1.15") or not condition_is_true(cluster, "CompleteAPIEnablements")


def affinity_matches(binding, cluster, affinity_name):
    if binding.placement.get("clusterAffinity") is not None:
        affinities = [binding.placement["clusterAffinity"]]
    else:
        term = binding.term(affinity_name)
        if term is None:
            return True
        affinities = [term]
        if binding.is_workload:
            affinities += term.get("overflowAffinities") or []
    return any(cluster_matches(cluster, affinity, binding.release) for affinity in affinities)


def spread_properties_set(binding, cluster):
    spec = cluster.get("spec") or {}
    member = {"provider": "provider", "region": "region", "zone": "zones"}
    return all(spec.get(member[constraint["spreadByField"]])
               for constraint in binding.placement.get("spreadConstraints") or []
               if constraint.get("spreadByField") in member)


def feasible_clusters(binding, clusters, affinity_name):
    """Returns the clusters that pass all filters."""
    groups = binding.spec.get("workloadAffinityGroups")
    if groups and "WorkloadAffinity" in binding.gates:
        raise Undetermined("workload affinity")
    return [c for c in clusters
            if not (c["metadata"].get("deletionTimestamp") and since(binding.release, "1.14"))
            and affinity_matches(binding, c, affinity_name)
            and api_served(binding, c)
            and taints_tolerated(binding, c)
            and spread_properties_set(binding, c)
            and name_of(c) not in binding.evicting()]


# ---- selection ----

def ignores_spread(strategy):
    """Static weights ignore the spread constraints."""
    if not strategy or strategy.get("replicaSchedulingType") != "Divided" or \
            strategy.get("replicaDivisionPreference") != "Weighted":
        return False
    preference = strategy.get("weightPreference")
    return preference is None or bool(preference.get("staticWeightList")) and not preference.get("dynamicWeight")


def select_by_cluster(binding, clusters, constraint, affinity_name):
    if len(clusters) < constraint.get("minGroups", 0):
        raise SchedulerError("too few clusters")
    count = min(len(clusters), constraint.get("maxGroups", 0))
    estimated = binding.replicas > 0 or bool(binding.components) and since(binding.release, "1.16")
    if estimated and binding.scheduling_type != "Duplicated":
        raise Undetermined("estimators")
    term = binding.term(affinity_name)
    if count == len(clusters):
        return clusters
    if term and term.get("overflowAffinities"):
        raise Undetermined("overflow")

    def rank(cluster):
        target = name_of(cluster) in binding.targets
        available = 0 if estimated else binding.targets.get(name_of(cluster), 0)
        return (not target, -available, name_of(cluster))

    ordered = sorted(clusters, key=rank)
    # The estimated free replicas order the targets, and the others behind them.
    if estimated and count and (name_of(ordered[count - 1]) in binding.targets) == (
            name_of(ordered[count]) in binding.targets):
        raise Undetermined("estimators")
    return ordered[:count]


def select_clusters(binding, clusters, affinity_name):
    constraints = binding.placement.get("spreadConstraints") or []
    if not constraints or ignores_spread(binding.strategy):
        return clusters
    by_field = {c.get("spreadByField", ""): c for c in constraints}
    if not since(binding.release, "1.14") and by_field.keys() & {"provider", "region", "zone"}:
        # A division by zero ends the scheduling if no group has enough free replicas.
        raise Undetermined("estimators")
    if "region" in by_field:
        regions = {c["spec"].get("region") for c in clusters}
        if len(regions) < by_field["region"].get("minGroups", 0):
            raise SchedulerError("too few regions")
        raise Undetermined("estimators")
    if "cluster" in by_field:
        return select_by_cluster(binding, clusters, by_field["cluster"], affinity_name)
    raise SchedulerError("only cluster and region are supported")


# ---- division ----

def fnv_1a(text):
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def webster(weights, replicas, uid):
    """Divides by the Webster method; at equal priority the uid decides whether small or large names come first."""
    seats = dict.fromkeys(weights, 0)
    larger_first = bool(uid) and fnv_1a(uid) & 1 == 1
    names = sorted(weights, reverse=larger_first)
    for _ in range(replicas):
        best = None
        for name in names:
            priority = weights[name] / (2 * seats[name] + 1)
            if best is None or priority > best[0] or priority == best[0] and seats[name] < seats[best[1]]:
                best = (priority, name)
        seats[best[1]] += 1
    return seats


def largest_weights_first(weights, replicas, last):
    """Divides as the releases until 1.15; raises Undetermined if a lot decides."""
    total = sum(weights.values())
    shares = {name: weight * replicas // total for name, weight in weights.items()}
    rest = replicas - sum(shares.values())
    ordered = sorted(weights, key=lambda name: (weights[name], last.get(name, 0)), reverse=True)
    if rest == 0:
        return shares

    def rank(name):
        return weights[name], last.get(name, 0)

    edge = rank(ordered[rest - 1])
    certain = [name for name in ordered if rank(name) > edge]
    tied = [name for name in ordered if rank(name) == edge]
    results = []
    for lot in itertools.combinations(tied, rest - len(certain)):
        results.append({name: share + (name in certain or name in lot) for name, share in shares.items()})
    if len(results) == 1:
        return results[0]
    raise Undetermined("lot", results)


def divide(binding, weights, replicas, last):
    """Returns replicas by cluster, without clusters that get no replica."""
    if not weights or sum(weights.values()) == 0:
        return {}
    if since(binding.release, "1.16"):
        shares = webster(weights, replicas, binding.uid)
    else:
        try:
            shares = largest_weights_first(weights, replicas, last)
        except Undetermined as lot:
            raise Undetermined("lot", [without_empty(result) for result in lot.possible]) from None
    return without_empty(shares)


def without_empty(shares):
    return {name: replicas for name, replicas in shares.items() if replicas > 0}


def static_weights(binding, clusters):
    """Returns the weights of the clusters, and the replicas of the last scheduling that break ties."""
    preference = binding.strategy.get("weightPreference")
    rules = (preference or {}).get("staticWeightList") or []
    if preference is None:
        return {name_of(c): 1 for c in clusters}, binding.targets
    weights = {}
    for cluster in clusters:
        weight = max([rule.get("weight", 0) for rule in rules
                      if cluster_matches(cluster, rule.get("targetCluster") or {}, binding.release)], default=0)
        if weight > 0:
            weights[name_of(cluster)] = weight
    if weights:
        return weights, binding.targets
    return {name_of(c): 1 for c in clusters}, {}


def divide_dynamically(binding, clusters):
    """Divides by free replicas as far as no estimator is needed: without change, or fewer replicas."""
    names = {name_of(c) for c in clusters}
    kept = [(name, replicas) for name, replicas in binding.targets.items() if name in names]
    assigned = sum(replicas for _, replicas in kept)
    if binding.fresh and binding.replicas > 0 or assigned < binding.replicas:
        raise Undetermined("estimators")
    if binding.fresh:
        return {}
    if assigned == binding.replicas:
        return without_empty(dict(kept))
    if not since(binding.release, "1.17"):
        # Targets that are no candidates count too.
        kept = list(binding.targets.items())
    kept.sort(key=lambda target: -target[1])
    if binding.strategy.get("replicaDivisionPreference") == "Aggregated":
        total = 0
        for count, (_, replicas) in enumerate(kept, 1):
            total += replicas
            if total >= binding.replicas:
                kept = kept[:count]
                break
    return divide(binding, dict(kept), binding.replicas, {})


def assign_replicas(binding, clusters, affinity_name):
    """Returns replicas by cluster."""
    if not clusters:
        raise SchedulerError("no clusters available")
    divides = binding.replicas > 0
    if since(binding.release, "1.16"):
        divides = (divides or binding.requirements) and len(binding.components) <= 1
    if not divides:
        return {name_of(c): 0 for c in clusters}
    term = None if binding.placement.get("clusterAffinity") is not None else binding.term(affinity_name)
    if affinity_name and term and term.get("overflowAffinities") is not None and binding.replicas > 0:
        raise Undetermined("estimators")
    if binding.scheduling_type == "Duplicated":
        return without_empty({name_of(c): binding.replicas for c in clusters})
    if binding.scheduling_type == "Divided":
        preference = binding.strategy.get("replicaDivisionPreference")
        dynamic = (binding.strategy.get("weightPreference") or {}).get("dynamicWeight")
        if preference == "Aggregated" or preference == "Weighted" and dynamic:
            return divide_dynamically(binding, clusters)
        if preference == "Weighted":
            weights, last = static_weights(binding, clusters)
            return divide(binding, weights, binding.replicas, last)
    raise SchedulerError("unsupported strategy")


# ---- scheduling ----

def schedule_group(binding, clusters, affinity_name, empty_propagation):
    """Returns replicas by cluster for one affinity group."""
    feasible = feasible_clusters(binding, clusters, affinity_name)
    if not feasible:
        raise NoClusterFits("no cluster fits")
    selected = select_clusters(binding, feasible, affinity_name)
    result = assign_replicas(binding, selected, affinity_name)
    if empty_propagation:
        result = {**{name_of(c): 0 for c in selected}, **result}
    return result


def schedule_groups(binding, clusters, empty_propagation):
    """Returns replicas by cluster and the name of the first affinity group that fits."""
    terms = binding.placement["clusterAffinities"]
    names = [term.get("affinityName", "") for term in terms]
    start = names.index(binding.affinity) if binding.affinity in names else 0
    if binding.fresh and since(binding.release, "1.19.0-rc.0"):
        start = 0
    first_error = None
    for name in names[start:]:
        try:
            return schedule_group(binding, clusters, name, empty_propagation), name
        except Undetermined as unknown:
            unknown.affinity = name
            raise
        except SchedulerError as error:
            first_error = first_error or error
    raise first_error


def look(manifest, clusters, release, gates=(), empty_propagation=False):
    """Returns the Answer of one look of the scheduler at a binding."""
    binding = Binding(manifest, release, gates)
    if not runs(binding, clusters):
        return Answer(False, binding.targets, binding.affinity)
    try:
        if binding.placement.get("clusterAffinities") is not None:
            result, affinity = schedule_groups(binding, clusters, empty_propagation)
        else:
            result, affinity = schedule_group(binding, clusters, binding.affinity, empty_propagation), binding.affinity
        return Answer(True, result, affinity)
    except NoClusterFits as error:
        return Answer(True, {}, binding.affinity, str(error))
    except SchedulerError as error:
        return Answer(True, binding.targets, binding.affinity, str(error))
