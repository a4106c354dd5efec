# SPDX-License-Identifier: Apache-2.0
"""Searching the memory of a process that runs, as a core dump would have it. Needs root, or a
kernel that lets a parent look at its child."""
import re

# RFC 7541, appendix B: what HPACK makes of the bytes that the searched tokens consist of.
HUFFMAN = {
    " ": "010100", "-": "010110", "B": "1011101", "0": "00000", "1": "00001", "2": "00010",
    "3": "011001", "4": "011010", "5": "011011", "6": "011100", "7": "011101", "8": "011110",
    "9": "011111", "a": "00011", "b": "100011", "c": "00100", "d": "100100", "e": "00101",
    "f": "100101", "r": "101100",
}
# Of the coded token what is left after another header block was put over its beginning.
TAIL_BYTES = 12


def coded_header(token):
    """The whole bytes of "Bearer TOKEN" as HTTP/2 sends it."""
    bits = "".join(HUFFMAN[character] for character in "Bearer " + token)
    whole = len(bits) // 8
    return int(bits[:whole * 8], 2).to_bytes(whole, "big")


def regions(pid):
    """(begin, end, name) of what can be read."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
        for line in maps:
            begin, end, rights, name = re.match(
                r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)", line).groups()
            if rights.startswith("r") and name not in ("[vvar]", "[vvar_vclock]", "[vsyscall]"):
                yield int(begin, 16), int(end, 16), name or "anonymous"


def contents(pid):
    """(name, bytes) of each region."""
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for begin, end, name in regions(pid):
            memory.seek(begin)
            try:
                yield name, memory.read(end - begin)
            except OSError:
                pass  # unmapped meanwhile, or a device


def places(pid, needles):
    """{needle: the names of the regions that hold it, once for each copy}."""
    found = {needle: [] for needle in needles}
    for name, bytes_ in contents(pid):
        for needle in needles:
            found[needle] += [name] * bytes_.count(needle)
    return found


def copies_of_token(pid, token):
    """How often the token is there as text, and how often as HTTP/2 codes it."""
    text, code = token.encode(), coded_header(token)
    found = places(pid, (text, code[:-TAIL_BYTES], code[-TAIL_BYTES:]))
    return len(found[text]), max(len(found[code[:-TAIL_BYTES]]), len(found[code[-TAIL_BYTES:]]))


def copies(pid, secret):
    return len(places(pid, (secret,))[secret])
