# SPDX-License-Identifier: Apache-2.0
"""Counts turns of the exporter's event loop from outside: a library that is loaded before the
program (tests/bench/preload/turns.c) records each poll of the main thread."""
import array
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from exporter import ROOT


class Turns:
    """Serving(..., through=turns.through) starts a program whose turns are counted."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="exporter-turns-"))
        self.path = self.folder / "turns"
        library = self.folder / "turns.so"
        subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library,
                        ROOT / "tests/bench/preload/turns.c"], check=True)
        # A sanitizer's runtime refuses to start behind another library unless it is told not to look.
        options = os.environ.get("ASAN_OPTIONS", "")
        self.through = ("env", f"LD_PRELOAD={library}", f"TURNS={self.path}",
                        f"ASAN_OPTIONS={options}:verify_asan_link_order=0")

    def durations_ms(self):
        """The processor time of each turn so far, in milliseconds."""
        return [one / 1000 for one in array.array("I", self.path.read_bytes()) if one]

    def count(self):
        return len(self.durations_ms())

    def a_second(self, seconds):
        """Turns a second, measured for so many seconds from now on."""
        before, begun = self.count(), time.monotonic()
        time.sleep(seconds)
        return (self.count() - before) / (time.monotonic() - begun)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)
