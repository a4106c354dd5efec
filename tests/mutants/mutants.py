#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py: is what is wrong with exporter/kube and exporter/web noticed?

Draws mutants of their sources by a fixed seed, builds the unit tests that can see each, and runs
them until one fails: first those of its room, then all of both folders, then the first again with
the memory watched. One that lives must be justified in justified.txt, by its lines. Those that do
not compile, or that the compiler makes the same program of, count as not drawn.

    MUTANTS=200 SEED=8 FILES='exporter/web/*'   how many, which ones
    LIST=1                                      draw and print them, run nothing
`make mutants` says in CC, MUTANT_FLAGS, LIBS and BUILD how to build.
"""
import collections
import concurrent.futures
import dataclasses
import fnmatch
import hashlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time

from operators import mutants_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["exporter/kube/**/*.c", "exporter/web/**/*.c", "exporter/system/secret.c",
           "exporter/system/url.c", "exporter/system/http_request.c"]
COUNT = int(os.environ.get("MUTANTS") or 200)
SEED = os.environ.get("SEED") or "8"
FILES = os.environ.get("FILES") or "*"
JOBS = int(os.environ.get("JOBS") or os.cpu_count() or 2)
BUILD = pathlib.Path(os.environ.get("BUILD") or "build")
CC = os.environ.get("CC") or "gcc"
FLAGS = (os.environ.get("MUTANT_FLAGS") or "-std=gnu17 -D_GNU_SOURCE -I.").split()
LIBS = (os.environ.get("LIBS") or
        "-lmicrohttpd -lcurl -lcjson -lyaml -lz -lcrypt -lseccomp -lpthread -lm").split()
SUPPORT = [p for p in sorted(ROOT.glob("tests/unit/*.c")) if not p.name.startswith("test_")]
UNIT = {p.stem: p for p in sorted(ROOT.glob("tests/unit/**/test_*.c"))}
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
VARIANTS = {"plain": ["-O0"], "asan": ["-O0", "-g1", *SANITIZE]}
LINK = {"plain": ["-pie"], "asan": SANITIZE}
# A test that hangs is as good as one that fails; a machine that is busy is not.
PATIENCE, LEAST_S = 10, 60
LONG_S = 4


@dataclasses.dataclass
class Drawn:
    """A mutant with what a person needs to see of it."""
    mutant: object
    line: int
    before: str
    after: str
    rank: str


def squeeze(text):
    return " ".join(text.split())


def describe(mutant, source, times):
    first = source.rfind("\n", 0, mutant.at) + 1
    last = source.find("\n", mutant.end)
    before = squeeze(source[first:last])
    after = squeeze(source[first:mutant.at] + mutant.text + source[mutant.end:last])
    key = (mutant.path, mutant.operator, before, after)
    times[key] += 1
    rank = hashlib.sha256("|".join([SEED, *key, str(times[key])]).encode()).hexdigest()
    return Drawn(mutant, source.count("\n", 0, mutant.at) + 1, before, after, rank)


def draw():
    """All mutants in the order in which they are drawn: a changed line moves no other."""
    found = []
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            name = str(path.relative_to(ROOT))
            if fnmatch.fnmatch(name, FILES):
                source, times = path.read_text(), collections.Counter()
                found += [describe(m, source, times) for m in mutants_of(name, source)]
    return sorted(found, key=lambda d: d.rank)


def justified():
    """Of (path, line before, line after): the reason why nothing can notice, or need not."""
    reasons = {}
    text = (ROOT / "tests/mutants/justified.txt").read_text()
    for block in re.split(r"\n\n+", re.sub(r"^#.*\n", "", text, flags=re.M)):
        lines = block.strip().splitlines()
        if not lines:
            continue
        if len(lines) < 4 or lines[1][:2] != "- " or lines[2][:2] != "+ ":
            sys.exit(f"justified.txt: not a path, '- before', '+ after' and a reason: {block}")
        key = (lines[0].strip(), squeeze(lines[1][2:]), squeeze(lines[2][2:]))
        reasons[key] = squeeze(" ".join(lines[3:]))
    return reasons


# ---- tests ----


def included(path):
    return set(re.findall(r'#include "((?:exporter|tests)/[^"]*)"', path.read_text()))


def all_tests():
    """Those that have to do with the sources: what each includes."""
    wanted = re.compile(r"exporter/(kube|web|serve)/|exporter/system/(secret|url|http_request)\.h|"
                        r"tests/unit/fake_api")
    tests = {name: included(path) for name, path in UNIT.items()}
    return {name: files for name, files in tests.items() if any(map(wanted.match, files))}


def by_fitness(tests, path):
    """The tests in the order in which they are likely to notice, and how many are of the room."""
    header, folder = path[:-2] + ".h", path.rsplit("/", 1)[0] + "/"
    stem = pathlib.Path(path).stem

    def distance(name):
        files = tests[name]
        if name == f"test_{stem}" or header in files:
            return 0
        if folder != "exporter/kube/" and any(f.startswith(folder) for f in files):
            return 1
        if "tests/unit/fake_api.h" in files and FAKED.match(path):
            return 2
        return 3
    # What takes longest last, unless it is about this very source.
    order = sorted(tests, key=lambda name: (distance(name) == 3, CPU_S["plain", name] > LONG_S,
                                            distance(name), CPU_S["plain", name]))
    return order, sum(distance(name) < 3 for name in order)


CPU_S = {}
# What runs against an API server without a network: all but how to log in, and the network.
FAKED = re.compile(r"exporter/kube/(?!auth/|http/)")


def limit_cpu(seconds):
    def limit():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return limit


def run(program, cpu_s):
    """'passed', 'failed' or 'hung'; it is ended at the first test that fails."""
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="STDOUT", UBSAN_OPTIONS="halt_on_error=1",
               ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1")
    seconds = max(LEAST_S, int(PATIENCE * cpu_s))
    process = subprocess.Popen([program], cwd=ROOT, stdin=subprocess.DEVNULL, env=env,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", preexec_fn=limit_cpu(seconds // 2))
    hung = threading.Event()

    def stop():
        hung.set()
        os.killpg(process.pid, signal.SIGKILL)
    timer = threading.Timer(seconds, stop)
    timer.start()
    failed = False
    for line in process.stdout:
        if line.startswith("[  FAILED  ]") or line.startswith("[  ERROR   ]"):
            failed = True
            break
    try:
        os.killpg(process.pid, signal.SIGKILL if failed else 0)
    except ProcessLookupError:
        pass
    process.stdout.close()
    status = process.wait()
    timer.cancel()
    if hung.is_set() or status == -signal.SIGXCPU:
        return "hung"
    return "failed" if failed or status != 0 else "passed"


# ---- building ----


def compiled(variant, source, target):
    done = subprocess.run([CC, *FLAGS, *VARIANTS[variant], "-w", "-c", source, "-o", target],
                          cwd=ROOT, capture_output=True, text=True)
    return done.returncode == 0


def objects(variant):
    return ROOT / BUILD / f"{variant}-{pathlib.Path(CC).name}"


def linked(variant, test, mutant, target):
    base = objects(variant)
    program = UNIT[test].relative_to(ROOT).with_suffix(".o")
    parts = [base / program, *[base / f"tests/unit/{p.stem}.o" for p in SUPPORT]]
    # The mutant before the archives: its original is then never taken out of them.
    done = subprocess.run([CC, *LINK[variant], *parts, *mutant, base / "libexporter.a",
                           base / "libmetrics.a", "-lcmocka", *LIBS, "-o", target],
                          cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"cannot link {test}: {done.stderr}")


def noticed(variant, tests, drawn, scratch):
    """By which test, and how; None if by none."""
    mutant = scratch / f"mutant-{variant}.o"
    if not compiled(variant, scratch / drawn.mutant.path, mutant):
        return "does not compile"
    for test in tests:
        measure(variant, test, scratch)
        if test in FAILING:
            continue
        program = scratch / test
        linked(variant, test, [mutant], program)
        outcome = run(program, CPU_S[variant, test])
        program.unlink()
        if outcome != "passed":
            return f"{outcome} {test}{' (asan)' if variant == 'asan' else ''}"
    return None


def is_same(drawn, source, changed):
    """The compiler makes the same program of it. Read from a pipe, so that neither has a name."""
    bytes_of = []
    for text in (source, changed):
        target = pathlib.Path(f"{drawn}.same.o")
        subprocess.run([CC, *FLAGS, "-O2", "-g0", "-w", "-DNDEBUG", "-x", "c", "-c", "-o", target,
                        "-"], input=text, cwd=ROOT, check=True, text=True)
        bytes_of.append(target.read_bytes())
    return bytes_of[0] == bytes_of[1]


def verdict_of(drawn, tests, scratch):
    source = (ROOT / drawn.mutant.path).read_text()
    changed = source[:drawn.mutant.at] + drawn.mutant.text + source[drawn.mutant.end:]
    path = scratch / drawn.mutant.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(changed)
    order, fitting = by_fitness(tests, drawn.mutant.path)
    verdict = noticed("plain", order[:fitting], drawn, scratch)
    if verdict:
        return verdict
    if is_same(path, source, changed):
        return "is the same program"
    return noticed("plain", order[fitting:], drawn, scratch) or \
        noticed("asan", order[:fitting], drawn, scratch) or "lives"


# ---- the run ----


MEASURING = threading.Lock()
FAILING = set()


def measure(variant, test, scratch):
    """How long it takes as it is; and that it passes, or every mutant would seem to be caught."""
    if (variant, test) in CPU_S:
        return
    with MEASURING:
        if (variant, test) in CPU_S:
            return
        program = scratch / f"{test}.as-it-is"
        linked(variant, test, [], program)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run(program, 600 / PATIENCE) != "passed":
            FAILING.add(test)
            print(f"LEFT OUT: {test} ({variant}) does not pass as it is", flush=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        CPU_S[variant, test] = sum(after[:2]) - sum(before[:2])
        program.unlink()


def tell(number, drawn, verdict, reason):
    word = "JUSTIFIED" if verdict == "lives" and reason else \
        "LIVES" if verdict == "lives" else verdict
    print(f"{number:4} {drawn.mutant.path}:{drawn.line} {drawn.mutant.operator}: {word}")
    print(f"     - {drawn.before}\n     + {drawn.after}")
    if verdict == "lives" and reason:
        print(f"     {reason}")
    sys.stdout.flush()


class Tally:
    """Hands out mutants until enough have a verdict that counts."""
    NOT_COUNTED = ("does not compile", "is the same program")

    def __init__(self, drawn):
        self.drawn = iter(drawn)
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.out, self.counted, self.unjustified = 0, 0, 0
        self.reasons = justified()

    def next(self):
        with self.lock:
            if self.counted + self.out >= COUNT:
                return None
            self.out += 1
            return next(self.drawn, None)

    def take(self, drawn, verdict):
        with self.lock:
            self.out -= 1
            reason = self.reasons.get((drawn.mutant.path, drawn.before, drawn.after))
            word = verdict if verdict in self.NOT_COUNTED + ("lives",) else verdict.split()[0]
            if word == "lives" and reason:
                word = "justified"
            self.counts[word] += 1
            self.unjustified += word == "lives"
            self.counted += word not in self.NOT_COUNTED
            tell(self.counted, drawn, verdict, reason)


def work(tally, tests, scratch):
    while (drawn := tally.next()) is not None:
        tally.take(drawn, verdict_of(drawn, tests, scratch))


def main():
    drawn = draw()
    if os.environ.get("LIST"):
        for number, one in enumerate(drawn[:COUNT], 1):
            tell(number, one, "", None)
        return 0
    tests = all_tests()
    folders = [ROOT / BUILD / "mutants" / str(i) for i in range(JOBS)]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    for test in tests:
        measure("plain", test, folders[0])
    tally = Tally(drawn)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for done in [pool.submit(work, tally, tests, folder) for folder in folders]:
            done.result()
    print(f"{tally.counted} mutants of {len(drawn)} by seed {SEED}: " + ", ".join(
        f"{count} {word}" for word, count in sorted(tally.counts.items())) +
        f"; {time.monotonic() - began:.0f} s")
    return 1 if tally.unjustified or tally.counted == 0 or FAILING else 0


if __name__ == "__main__":
    sys.exit(main())
