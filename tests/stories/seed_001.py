# SPDX-License-Identifier: Apache-2.0
"""Seed 001, Statization of Propagation Policy: its general cases, corner cases and test cases.

Each step is what a user does, and then the state of the Deployment under both designs. Where they
agree the table has one column.
"""
from control_plane import ControlPlane

OTHER = [ControlPlane.selector(name="somebody-else")]
UPDATED = "stale policy_updated deferred placement"
REPLACED = "stale policy_replaced deferred"

# (what the user does, what `preemption` says, what `static` says if it is something else)
GENERAL = {
    "general case 1": [
        (("create_template", "nginx"), "pending kind_not_selected, claimed by -"),
        (("create_policy", "pp1", dict(clusters=["member1"])), "current, claimed by pp1"),
    ],
    "general case 2": [
        (("create_policy", "pp1", dict(clusters=["member1"])), None),
        (("create_template", "nginx"), "current, claimed by pp1"),
        (("update_policy", "pp1", dict(clusters=["member2"])), "current, claimed by pp1",
         f"{UPDATED}, claimed by pp1"),
        (("update_template", "nginx"), "current, claimed by pp1"),
    ],
    "general case 3": [
        (("create_policy", "pp1", dict(clusters=["member1"], priority=1)), None),
        (("create_template", "nginx"), "current, claimed by pp1"),
        (("create_policy", "pp2", dict(clusters=["member2"], priority=2)),
         "current, claimed by pp1", f"{REPLACED}, claimed by pp1"),
        (("update_template", "nginx"), "current, claimed by pp1", "current, claimed by pp2"),
    ],
    "general case 4": [
        (("create_policy", "pp1", dict(clusters=["member1"], priority=1)), None),
        (("create_template", "nginx"), "current, claimed by pp1"),
        (("update_policy", "pp1", dict(clusters=["member3"])), "current, claimed by pp1",
         f"{UPDATED}, claimed by pp1"),
        (("create_policy", "pp2", dict(clusters=["member2"], priority=2)),
         "current, claimed by pp1", f"{REPLACED}, claimed by pp1"),
        (("update_template", "nginx"), "current, claimed by pp1", "current, claimed by pp2"),
    ],
    # The seed's picture ends in "propagate it by Policy1", which no longer matches: Policy2.
    "general case 5": [
        (("create_policy", "pp1", dict(clusters=["member1"], priority=2)), None),
        (("create_template", "nginx"), "current, claimed by pp1"),
        (("create_policy", "pp2", dict(clusters=["member2"], priority=1)),
         "current, claimed by pp1"),
        (("update_policy", "pp1", dict(resourceSelectors=OTHER)), "current, claimed by pp2",
         f"{REPLACED}, claimed by -"),
        (("update_template", "nginx"), "current, claimed by pp2"),
    ],
}

CORNER = {
    "corner case 1": [
        (("create_policy", "pp1", dict(clusters=["member1"])), None),
        (("create_template", "nginx", dict(replicas=2)), "current, claimed by pp1"),
        (("delete_policy", "pp1"), "orphaned, claimed by -"),
        (("update_template", "nginx", dict(replicas=5)), "pending policy_gone, claimed by -"),
        (("create_policy", "pp2", dict(clusters=["member2"])), "current, claimed by pp2"),
    ],
}

TEST_CASES = {
    "test case 1": GENERAL["general case 1"],
    "test case 2": GENERAL["general case 2"],
    "test case 3": GENERAL["general case 3"],
    "test case 4": GENERAL["general case 4"],
    "test case 5": [
        (("create_policy", "pp1", dict(clusters=["member1"], priority=1)), None),
        (("create_policy", "pp2", dict(clusters=["member2"], priority=2)), None),
        (("create_template", "nginx"), "current, claimed by pp2"),
        (("update_policy", "pp2", dict(resourceSelectors=OTHER)), "current, claimed by pp1",
         f"{REPLACED}, claimed by -"),
        (("update_template", "nginx"), "current, claimed by pp1"),
    ],
    "test case 6": CORNER["corner case 1"],
}


def tell(title, steps, plane, expect):
    """Do one step after the other; expect(state, after what) tells how the Deployment is seen."""
    for step in steps:
        (action, name, *rest), *expected = step
        getattr(plane, action)(name, **(rest[0] if rest else {}))
        state = expected[1] if plane.design == "static" and len(expected) > 1 else expected[0]
        if state is not None:
            expect(state, f"{title}, {plane.policy_kind}, {plane.design}, after {action} {name}")
