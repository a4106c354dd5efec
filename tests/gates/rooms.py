#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms.py: the rooms of each folder, which includes run up, and which rooms include each other.

A room is a source with its header, or a subfolder. They are printed from top to ground: every
room stands before all that it includes. Where rooms include each other in a circle there is no
such order, and some includes run up whatever the order.
"""
import pathlib
import re
import sys
import textwrap

INCLUDE = re.compile(r'^ *# *include *"([^"]+)"', re.M)
TREES = ("metrics", "exporter")
# More than these and a stranger no longer sees what a folder is about.
MOST_ROOMS = {"exporter": 14, "exporter/kube": 20}


def sources():
    for tree in TREES:
        for path in sorted(pathlib.Path(tree).rglob("*.[ch]")):
            yield path.with_suffix(""), INCLUDE.findall(path.read_text())


def room_of(folder, module):
    """The room of `folder` that a module (a path without suffix) is in; None if it is elsewhere."""
    if folder not in module.parents:
        return None
    return module.relative_to(folder).parts[0]


def edges_of(folder, modules):
    """Which rooms of `folder` include which others, with the names of the files that do."""
    rooms, edges = set(), {}
    for module, includes in modules:
        room = room_of(folder, module)
        if room is None:
            continue
        rooms.add(room)
        for name in includes:
            to = room_of(folder, pathlib.Path(name).with_suffix(""))
            if to not in (None, room):
                edges.setdefault((room, to), set()).add(f"{module} includes {name}")
    return rooms, edges


def circles(rooms, edges):
    """The sets of rooms that reach each other (what is left when the ends are taken off)."""
    def reached(start):
        seen, queue = set(), [start]
        while queue:
            room = queue.pop()
            for a, b in edges:
                if a == room and b not in seen:
                    seen.add(b)
                    queue.append(b)
        return seen

    reach = {room: reached(room) for room in rooms}
    found = {frozenset(b for b in reach[a] if a in reach[b]) | {a} for a in rooms if a in reach[a]}
    return sorted(sorted(circle) for circle in found)


def plan(rooms, edges):
    """The rooms from top to ground, so that no include runs up; nearly, where there are circles."""
    left, order = set(rooms), []
    while left:
        # The next one down is included by none of those that are left, or else by the fewest.
        room = min(sorted(left), key=lambda r: sum(b == r and a in left for a, b in edges))
        order.append(room)
        left.remove(room)
    return order


def main():
    modules = list(sources())
    folders = sorted({parent for module, _ in modules for parent in module.parents
                      if parent.parts})
    bad = False
    for folder in folders:
        rooms, edges = edges_of(folder, modules)
        found = circles(rooms, edges)
        order = plan(rooms, edges)
        up = sorted(edge for edge in edges if order.index(edge[0]) > order.index(edge[1]))
        most = MOST_ROOMS.get(str(folder))
        print(f"{folder}: {len(rooms)} rooms{f' of {most}' if most else ''}, "
              f"{len(edges)} ties, {len(up)} up, {len(found)} circles")
        print(textwrap.fill(", ".join(order), 96, initial_indent="  ", subsequent_indent="  "))
        for circle in found:
            print(f"  circle: {', '.join(circle)}")
        for edge in up:
            print("".join(f"  up: {line}\n" for line in sorted(edges[edge])), end="")
        bad |= bool(up) or bool(most and len(rooms) > most)
    return bad


sys.exit(main())
