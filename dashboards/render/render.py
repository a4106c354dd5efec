#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""render.py: draw every board with Grafana's own panel packages in Chromium, into screenshots/.

The demo's stories are played to a real exporter and a real Prometheus first. A second exporter watches a
real API server. What this needs is large (450 MB of npm packages, and Chromium), so it is no test: run it
when a board changes, and look at the pictures.
"""
import argparse
import contextlib
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "demo"))
import demo  # noqa: E402
from live import LivePlane  # noqa: E402
from plane import Plane  # noqa: E402
from servers import ROOT, program  # noqa: E402
from scene import set_up  # noqa: E402
from stories import play_to_peak  # noqa: E402

BOARDS = HERE.parent / "grafana"
SCREENSHOTS = HERE.parent / "screenshots"
BUILT = ROOT / os.environ.get("BUILD", "build") / "render"
LARGEST = 300_000


def bundle():
    """The page, with its packages fetched once."""
    BUILT.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package.json").read_text()
    held = BUILT / "package.json"
    if not (BUILT / "node_modules").exists() or held.read_text() != wanted:
        held.write_text(wanted)
        print("fetching 450 MB of npm packages", flush=True)
        subprocess.run(["npm", "install", "--legacy-peer-deps", "--no-audit", "--no-fund"],
                       cwd=BUILT, check=True)
    web = BUILT / "web"
    shutil.rmtree(web, ignore_errors=True)
    web.mkdir()
    # Beside the packages, or imports would not find them.
    for name in ("main.jsx", "data.js"):
        shutil.copy(HERE / name, BUILT / name)
    shutil.copy(HERE / "index.html", web)
    loaders = [f"--loader:.{ending}=dataurl" for ending in ("woff", "woff2", "ttf", "png")]
    subprocess.run([
        "node_modules/.bin/esbuild", "main.jsx", "--bundle", "--outfile=web/main.js",
        "--format=iife", "--alias:react-router-dom-v5-compat=react-router-dom",
        '--define:process.env.NODE_ENV="production"', "--define:global=window",
        "--loader:.svg=text", "--log-level=error", *loaders], cwd=BUILT, check=True)
    for board in BOARDS.glob("*.json"):
        shutil.copy(board, web)
    return web


@contextlib.contextmanager
def served(folder):
    drawn = threading.Event()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            """`wait` is answered once `drawn` was asked for, which ends the loading; the rest are
            files."""
            if self.path == "/wait":
                drawn.wait(60)
                drawn.clear()
            elif self.path == "/drawn":
                drawn.set()
            else:
                return super().do_GET()
            self.send_response(204)
            return self.end_headers()

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def draw(site, prometheus, name, seconds, to):
    """One board into screenshots/; how each panel came out."""
    board = json.loads((BOARDS / name).read_text())
    height = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in board["panels"]) * 38 + 60
    picture = SCREENSHOTS / name.replace(".json", ".png")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-background-networking", "--no-first-run", f"--user-data-dir={profile}",
            f"--window-size=1600,{height}",
            "--enable-logging=stderr", f"--screenshot={picture}",
            f"{site}/index.html?board={name}&prometheus={prometheus}&seconds={seconds}&to={to}"],
            capture_output=True, text=True, timeout=180, check=False)
    states = re.search(r'"STATES (\[.*\])", source', done.stderr)
    if not states or not picture.exists():
        raise RuntimeError(f"{name} was not drawn:\n{done.stderr[-3000:]}")
    return picture, json.loads(states[1])


def shrink(picture):
    """Replaces the colours by a palette; returns the size."""
    subprocess.run(["pngquant", "--force", "--strip", "--speed", "1", "--output", picture, "128", picture],
                   check=True)
    return picture.stat().st_size


def play(stack, seconds):
    """The address of a Prometheus that saw the stories, each at its finding in the end."""
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    (folder / "manifests").mkdir()
    plane = Plane(folder / "manifests")
    set_up(plane)
    live = stack.enter_context(LivePlane(folder))
    shown = demo.start(stack, folder, demo.options(any_port=True))
    live.start(shown.alertmanager)
    (folder / demo.ALSO).write_text(json.dumps([
        {"targets": [live.address], "labels": {"cluster": "live", "__scheme__": "https"}}]))
    demo.tell(plane, seconds, shown)
    play_to_peak(plane)
    time.sleep(25)
    return shown.prometheus.url


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=int, default=420, help="how long the stories play")
    parser.add_argument("--prometheus", metavar="URL",
                        help="draw what this one holds, and play nothing")
    parser.add_argument("--only", default="", help="boards whose name has this in it")
    options = parser.parse_args()
    # What it has started ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for needed in ("node", "npm", "chromium", "pngquant", "prometheus-alertmanager", "prometheus"):
        if not program(needed):
            sys.exit(f"render: there is no {needed}; run tests/setup.sh boards")
    web = bundle()
    SCREENSHOTS.mkdir(exist_ok=True)
    faults = []
    with contextlib.ExitStack() as stack:
        url = options.prometheus or play(stack, options.seconds)
        site = stack.enter_context(served(web))
        to = int(time.time()) - 2
        boards = sorted(b for b in BOARDS.glob("*.json") if options.only in b.name)
        faults += [] if boards else [f"no board in {BOARDS} has '{options.only}' in its name"]
        for board in boards:
            picture, states = draw(site, url, board.name, options.seconds, to)
            size = shrink(picture)
            print(f"{picture.relative_to(ROOT)}: {size // 1000} kB, {len(states)} panels")
            faults += [f"{board.name}: '{panel}': {state} {why}" for panel, state, why in states
                       if state != "done"]
            faults += [f"{picture.name} has {size} bytes"] if size > LARGEST else []
    print("\n".join(faults) or "every panel has something to show; now look at them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
