#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pages of an exporter.

pictures.py        the first page of the demo, and pages of assorted objects, into exporter/docs
pictures.py all    each page in the demo world and in the large one (world.py), on a screen and on a
                   telephone, light and dark, into build/pictures
"""
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from browser import drive, missing  # noqa: E402
from assorted import Assorted  # noqa: E402
from exporter import ROOT, Serving  # noqa: E402
from site_pages import pages_of  # noqa: E402
from world import ServedWorld  # noqa: E402

OUT = ROOT / "exporter/docs"
LARGEST = 400_000
WIDE, NARROW = 1440, 360
# Name, path, width, light or dark.
PICTURES = [
    ("overview", "", WIDE, "light"),
    ("overview-dark", "", WIDE, "dark"),
    ("overview-telephone", "", NARROW, "light"),
    ("templates", "templates?state=stale", WIDE, "light"),
    ("templates-telephone", "templates?state=stale", NARROW, "light"),
    ("policies", "policies", WIDE, "light"),
    ("conflicts", "conflicts", WIDE, "light"),
    ("template", "template?kind=Deployment&group=apps&namespace=way&name=taken", WIDE, "light"),
    ("template-telephone", "template?kind=Deployment&group=apps&namespace=way&name=taken", NARROW,
     "dark"),
    ("policy", "policy?kind=PropagationPolicy&namespace=shop&name=first", WIDE, "light"),
    ("conflict", "conflict?kind=ConfigMap&group=&namespace=shop&name=shared", WIDE, "light"),
    ("namespace", "namespace?namespace=way", WIDE, "light"),
    ("exporter", "exporter", WIDE, "light"),
]
HIGHEST = 1000

ALL_OUT = ROOT / os.environ.get("BUILD", "build") / "pictures"
ALL_WIDTHS = (1400, 360)
ALL_HIGHEST = 6000


def draw(pictures, highest):
    """Draws {"url", "file", "width", "scheme"} each, at most so many pixels high."""
    drive("pictures.mjs", highest, *map(json.dumps, pictures))


def draw_documentation():
    OUT.mkdir(exist_ok=True)
    with Serving("--manifests", ROOT / "exporter/manifests/demo") as serving:
        draw([{"url": serving.wait_until_ready().url, "file": str(OUT / "demo.png"), "width": WIDE, "scheme": "light"}],
             HIGHEST)
    with Assorted() as serving:
        draw([{"url": f"{serving.url}/{path}", "file": str(OUT / f"{name}.png"), "width": width,
               "scheme": scheme} for name, path, width, scheme in PICTURES], HIGHEST)
    for name in ("demo", *(name for name, *_ in PICTURES)):
        size = (OUT / f"{name}.png").stat().st_size
        print(f"{size // 1000:4} kB  exporter/docs/{name}.png")
        assert size < LARGEST, "too large to be kept"


def draw_world(name, serving):
    """Each page of a served world; files NAME/PAGE-WIDTH-SCHEME.png."""
    folder = ALL_OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    time.sleep(3)  # Problems are judged.
    draw([{"url": address, "file": str(folder / f"{path or 'problems'}-{width}-{scheme}.png"),
           "width": width, "scheme": scheme}
          for path, address in pages_of(serving.url).items()
          for width in ALL_WIDTHS for scheme in ("light", "dark")], ALL_HIGHEST)
    print(f"{len(list(folder.iterdir())):4} pictures in {folder.relative_to(ROOT)}")


def draw_all():
    with Serving("--manifests", ROOT / "exporter/manifests/demo") as serving:
        draw_world("demo", serving.wait_until_ready())
    with tempfile.TemporaryDirectory() as folder, ServedWorld(folder) as serving:
        draw_world("large", serving)


def main():
    why = missing()
    if why:
        sys.exit(why)
    draw_all() if sys.argv[1:] == ["all"] else draw_documentation()


main()
