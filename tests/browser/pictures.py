#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py: draw each page of an exporter into exporter/docs, to be looked at when a page changes."""
import json
import sys

sys.dont_write_bytecode = True
from browser import drive, missing  # noqa: E402
from assorted import Assorted  # noqa: E402
from exporter import ROOT  # noqa: E402

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


def main():
    why = missing()
    if why:
        sys.exit(why)
    OUT.mkdir(exist_ok=True)
    with Assorted() as serving:
        drive("pictures.mjs", *[
            json.dumps({"url": f"{serving.url}/{path}", "file": str(OUT / f"{name}.png"),
                        "width": width, "scheme": scheme}) for name, path, width, scheme in PICTURES])
    for name, *_ in PICTURES:
        size = (OUT / f"{name}.png").stat().st_size
        print(f"{size // 1000:4} kB  exporter/docs/{name}.png")
        assert size < LARGEST, "too large to be kept"


main()
