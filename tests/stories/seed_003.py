# SPDX-License-Identifier: Apache-2.0
"""Seed 003, ExcludedResources: moving clusters namespace by namespace, in its four steps.

default-cpp leads to member1 and member2, default-cpp-v2 to member3 and member4. A template is
excluded as if its policy had been deleted (seed 003); from then on the new policy has it: at once
under `preemption`, at the template's next change under `static`.
"""
from control_plane import ControlPlane

SELECTORS = [ControlPlane.selector(), ControlPlane.selector("ConfigMap")]
OLD, NEW = "current, claimed by default-cpp", "current, claimed by default-cpp-v2"
# The static design: a better policy is there, or the claim is gone, and the user did nothing yet.
OUTRANKED = "stale policy_replaced deferred, claimed by default-cpp"
RELEASED = "stale policy_replaced deferred, claimed by -"

# (what was done, {design: states in ns1, ns2, ns3})
TABLE = [
    ("before", {"preemption": (OLD, OLD, OLD), "static": (OLD, OLD, OLD)}),
    ("step 1: a new policy of the highest priority",
     {"preemption": (OLD, OLD, OLD), "static": (OUTRANKED, OUTRANKED, OUTRANKED)}),
    ("step 2: ns1 excluded",
     {"preemption": (NEW, OLD, OLD), "static": (RELEASED, OUTRANKED, OUTRANKED)}),
    ("ns1's user changes its templates",
     {"preemption": (NEW, OLD, OLD), "static": (NEW, OUTRANKED, OUTRANKED)}),
    ("step 3: ns2 excluded too",
     {"preemption": (NEW, NEW, OLD), "static": (NEW, RELEASED, OUTRANKED)}),
    ("step 4: the old policy deleted",
     {"preemption": (NEW, NEW, NEW), "static": (NEW, RELEASED, RELEASED)}),
    ("all templates changed, the new policy's priority back to normal",
     {"preemption": (NEW, NEW, NEW), "static": (NEW, NEW, NEW)}),
]


def touch(plane, namespaces):
    for namespace in namespaces:
        plane.update_template("web", namespace=namespace)
        plane.update_template("settings", kind="ConfigMap", namespace=namespace)


def steps(plane):
    """Do one step after the other."""
    plane.create_policy("default-cpp", clusters=["member1", "member2"], priority=10,
                        selects=SELECTORS)
    for namespace in ("ns1", "ns2", "ns3"):
        plane.create_template("web", namespace=namespace)
        plane.create_template("settings", kind="ConfigMap", namespace=namespace)
    yield
    plane.create_policy("default-cpp-v2", clusters=["member3", "member4"], priority=9999,
                        selects=SELECTORS)
    yield
    plane.update_policy("default-cpp", excludedResources=[{"namespace": "ns1"}])
    yield
    touch(plane, ["ns1"])
    yield
    plane.update_policy("default-cpp",
                        excludedResources=[{"namespace": "ns1"}, {"namespace": "ns2"}])
    yield
    plane.delete_policy("default-cpp")
    yield
    touch(plane, ["ns1", "ns2", "ns3"])
    plane.update_policy("default-cpp-v2", priority=10)
    yield
