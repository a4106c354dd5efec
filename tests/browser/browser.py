# SPDX-License-Identifier: Apache-2.0
"""Chromium for tests, by way of npm's packages."""
import contextlib
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from exporter import Folder, equal, main  # noqa: E402
from npm import fetch_packages, folder_of  # noqa: E402

FOLDER = folder_of("browser")
PACKAGES = ("playwright-core@1.56.1", "axe-core@4.11.0", "html-validate@9.7.1")
HERE = pathlib.Path(__file__).resolve().parent


def drive(script, *arguments):
    """What a script of this folder prints, which is JSON."""
    done = subprocess.run(["node", HERE / script, FOLDER, *map(str, arguments)], capture_output=True,
                          text=True, timeout=600, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    return json.loads(done.stdout)


@contextlib.contextmanager
def static_site(files):
    """The URL of a web server with these files, texts by name."""
    with Folder() as folder:
        for name, text in files.items():
            folder.write(name, text)
        server = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1",
                                   "--directory", folder.path, "0"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        try:
            port = server.stdout.readline().split(" port ")[1].split()[0]
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()


def missing():
    """Why there is no browser; None if there is one."""
    why = fetch_packages(FOLDER, PACKAGES)
    if not why and not shutil.which("chromium"):
        why = "there is no chromium: install Debian's to run it"
    return why


def main_of(name):
    why = missing()
    if why:
        print(why)
        sys.exit(77)
    main(name)
