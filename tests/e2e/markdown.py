# SPDX-License-Identifier: Apache-2.0
"""The repository's Markdown: its files, blocks, links, anchors, and what else its text names."""
import re

from exporter import ROOT

# A part of a page whose commands another test than docs.test takes from the page and runs.
ELSEWHERE = re.compile(r"^<!-- run by (\S+) -->\n(.*?)^<!-- end -->$", re.M | re.S)
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.M | re.S)
# Fixtures are the tests' own, and what is built or fetched is not ours.
NOT_OURS = ("build", "tests/fixtures", "node_modules")


def files():
    """All of it by path from the root."""
    found = {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.md"))}
    return {name: text for name, text in found.items()
            if not any(f"/{part}/" in f"/{name}" for part in NOT_OURS)}


def guides(found):
    """Those that tell people what to do, and whose commands are run."""
    return {name: text for name, text in found.items()
            if name in ("README.md", "CONTRIBUTING.md", "alerts/README.md", "dashboards/README.md")
            or name.startswith("exporter/docs/")
            or (name.startswith("exporter/deploy/") and name.endswith("/README.md"))}


def blocks(text):
    """Its fenced blocks: language and content, without the indentation of a list."""
    for indent, language, content in FENCE.findall(text):
        yield language, re.sub(rf"^{indent}", "", content, flags=re.M)


def elsewhere(text, test):
    """The parts of the page that this test runs."""
    return [part for holder, part in ELSEWHERE.findall(text) if holder == test]


def prose(text):
    """The text without fenced blocks."""
    return FENCE.sub("", text)


def session(content):
    """What a block `console` shows: each command, and what it prints."""
    for part in re.split(r"^\$ ", content, flags=re.M)[1:]:
        lines = part.split("\n")
        end = next(at for at, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[:end + 1]), "\n".join(lines[end + 1:]).rstrip("\n")


def anchors(text):
    """What its headings are called in links, as GitHub and GitLab make it of them."""
    seen = {}
    for heading in re.findall(r"^#+ (.*)$", prose(text), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        yield f"{slug}-{count}" if count else slug


def targets(text):
    """Targets of all links and pictures."""
    words = re.sub(r"`[^`\n]*`", "", prose(text))
    return re.findall(r"\]\(([^)\s]+)\)", words) + re.findall(r"<([a-z]+:[^>\s]+)>", words)


def links(text):
    """Targets inside the repository."""
    return (target for target in targets(text) if not re.match(r"[a-z]+:", target))


def outside_links(text):
    """Targets on other sites."""
    return (target for target in targets(text) if re.match(r"[a-z]+:", target))
