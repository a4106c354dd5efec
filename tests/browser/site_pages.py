# SPDX-License-Identifier: Apache-2.0
"""The pages of an exporter: those that the navigation links, and one page of each other path that these
pages link, such as one template and one policy. New pages are found without a list."""
import html.parser
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from exporter import fetch  # noqa: E402


class Links(html.parser.HTMLParser):
    """The addresses of links; `navigation` has those inside <nav>."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.navigation, self.others = False, [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href")
        if tag == "nav":
            self.inside = True
        elif tag == "a" and href:
            (self.navigation if self.inside else self.others).append(href)

    def handle_endtag(self, tag):
        self.inside &= tag != "nav"


def is_page(url):
    status, text = fetch(url)[:2]
    return status == 200 and text.lstrip()[:15].lower().startswith("<!doctype html")


def pages_of(url):
    """The address of a page for each path, by path without the first '/'; "" is the start page."""
    start = url + "/"
    found, waiting = {"": start}, [start]
    ignored = set()
    while waiting:
        at = waiting.pop(0)
        links = Links(fetch(at)[1])
        for href in links.navigation + links.others:
            address = urllib.parse.urldefrag(urllib.parse.urljoin(at, href)).url
            if not address.startswith(start):
                continue
            path = urllib.parse.urlsplit(address).path[1:]
            if path in found or path in ignored:
                continue
            if is_page(address):
                found[path] = address
                waiting.append(address)
            else:
                ignored.add(path)
    return found
