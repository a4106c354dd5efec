# SPDX-License-Identifier: Apache-2.0
"""What may be wrong with a line of C: every change for the worse that one of the operators makes to
a source, by its tokens. Comments, texts and preprocessor lines are left alone."""
import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|[ \t\r\n]+|\\\n)
  | (?P<directive>^\#(?:\\\n|[^\n])*)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|[0-9]+(?:\.[0-9]+)?[uUlL]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||[<>=!+\-*/%&|^]=|<<|>>|.)
""", re.X | re.S | re.M)

RELATIONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
             "==": ["!="], "!=": ["=="]}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>="}
# A word before a sign after which that sign is unary, or which begins no statement to remove.
KEYWORDS = {"return", "if", "while", "for", "switch", "case", "else", "do", "sizeof", "goto",
            "break", "continue", "default"}
# What is there to end the program, or to please the compiler.
KEPT = {"abort", "assert", "va_start", "va_end", "va_copy", "_Static_assert"}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int

    @property
    def end(self):
        return self.at + len(self.text)


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`source[at:end]` becomes `text`."""
    path: str
    operator: str
    at: int
    end: int
    text: str


def tokens_of(source):
    return [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(source)
            if m.lastgroup not in ("skip", "directive")]


def closing(tokens, opening):
    """The index of the bracket that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(tokens)):
        if tokens[i].text in "([{":
            depth += 1
        elif tokens[i].text in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("a bracket is not closed")


def bodies(tokens):
    """The functions: index of the opening and closing brace, and the words before the name."""
    i = start = 0
    while i < len(tokens):
        text = tokens[i].text
        if text == "{":
            end = closing(tokens, i)
            if tokens[i - 1].text == ")":
                head = tokens[start:i]
                name = next(k for k, t in enumerate(head) if t.text == "(")
                yield i, end, [t.text for t in head[:max(name - 1, 0)]]
                start = end + 1
            i = end
        elif text == ";":
            start = i + 1
        i += 1


class Finder:
    """Walks over one function."""

    def __init__(self, path, source, tokens, begin, end, result):
        self.path, self.source, self.tokens = path, source, tokens
        self.begin, self.end, self.result = begin, end, result
        self.found = []

    def add(self, operator, first, last, text):
        self.found.append(Mutant(self.path, operator, self.tokens[first].at,
                                 self.tokens[last].end, text))

    def text_of(self, first, last):
        return self.source[self.tokens[first].at:self.tokens[last].end]

    def is_binary(self, i):
        """The sign has an operand before it; a cast or a declaration's star has not."""
        before, after = self.tokens[i - 1], self.tokens[i + 1]
        if before.text in KEYWORDS or not (before.kind in ("word", "number") or before.text in ")]"):
            return False
        spaced = self.source[before.end] == " " and self.source[self.tokens[i].end] == " "
        return spaced and after.text != ")"

    def operators(self, i):
        text = self.tokens[i].text
        for other in RELATIONS.get(text, []):
            self.add("relation", i, i, other)
        if text in ("&&", "||"):
            self.add("logic", i, i, "||" if text == "&&" else "&&")
        if text == "!":
            self.add("not", i, i, "")
        if text in ("+", "-") and self.is_binary(i):
            self.add("arithmetic", i, i, "-" if text == "+" else "+")
        if text in ("+=", "-="):
            self.add("arithmetic", i, i, "-=" if text == "+=" else "+=")
        if text in ("++", "--"):
            self.add("arithmetic", i, i, "--" if text == "++" else "++")

    def constants(self, i):
        token = self.tokens[i]
        if token.text in ("true", "false"):
            self.add("boolean", i, i, "false" if token.text == "true" else "true")
        if token.kind != "number" or "." in token.text:
            return
        digits = token.text.rstrip("uUlL")
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        value, suffix = int(digits, 8 if octal else 0), token.text[len(digits):]
        wrong = {value + 1, max(value - 1, 0), 0}
        for other in sorted(wrong - {value}):
            self.add("constant", i, i, f"{other}{suffix}")

    def conditions(self, i):
        if self.tokens[i].text in ("if", "while") and self.tokens[i + 1].text == "(":
            last = closing(self.tokens, i + 1)
            self.add("condition", i + 1, last, f"(!{self.text_of(i + 1, last)})")

    def returns(self, i):
        if self.tokens[i].text != "return" or self.tokens[i + 1].text == ";":
            return
        last = i + 1
        while self.tokens[last + 1].text != ";":
            last = closing(self.tokens, last) if self.tokens[last].text in "([{" else last
            last += self.tokens[last + 1].text != ";"
        value = self.text_of(i + 1, last)
        if value in ("true", "false"):
            return
        if "bool" in self.result and "*" not in self.result:
            self.add("return", i + 1, last, f"!({value})")
        elif "*" in self.result and value != "NULL":
            self.add("return", i + 1, last, "NULL")
        elif not {"struct", "void", "*", "enum"} & set(self.result) and value != "0":
            self.add("return", i + 1, last, "0")

    def is_statement(self, i):
        """A call or an assignment begins here: no declaration, nothing that the flow needs."""
        first, second = self.tokens[i], self.tokens[i + 1].text
        if self.tokens[i - 1].text not in (";", "{", "}", ")", "else", ":"):
            return False
        if first.text in ("break", "continue"):
            return second == ";"
        if first.text in KEPT or first.text in KEYWORDS:
            return False
        if first.kind == "word":
            return second in ASSIGNMENTS | {"(", "->", ".", "[", "++", "--"}
        return first.text == "*" and self.tokens[i + 1].kind == "word"

    def statements(self, i):
        if not self.is_statement(i):
            return
        if self.tokens[i - 1].text == ")" and self.heads_of_for(i - 1):
            return
        last = i
        while self.tokens[last].text not in (";", "{", "}", ")"):
            last = closing(self.tokens, last) if self.tokens[last].text in "([" else last
            last += 1
        # CLEANUP(x) struct y z = ...; is a declaration.
        call = self.tokens[i + 1].text == "(" and closing(self.tokens, i + 1)
        if self.tokens[last].text != ";" or (call and self.tokens[call + 1].kind == "word"):
            return
        self.add("statement", i, last, ";")

    def heads_of_for(self, i):
        """The bracket at `i` closes a cast, not the head of an if, while, for or loop macro."""
        depth = 0
        for k in range(i, self.begin, -1):
            depth += (self.tokens[k].text == ")") - (self.tokens[k].text == "(")
            if depth == 0:
                return self.tokens[k - 1].kind != "word"
        return True

    def find(self):
        depth = 0
        for i in range(self.begin + 1, self.end):
            depth += (self.tokens[i].text == "(") - (self.tokens[i].text == ")")
            self.operators(i)
            self.constants(i)
            self.conditions(i)
            self.returns(i)
            if depth == 0:
                self.statements(i)
        return self.found


def limits(path, tokens):
    """Numbers of enumerations at the top: limits and times. One more or less is no fault; 0 is."""
    i = 0
    while i < len(tokens):
        if tokens[i].text == "{":
            last = closing(tokens, i)
            if any(t.text == "enum" for t in tokens[max(i - 2, 0):i]):
                for k in range(i + 1, last - 1):
                    end = k + 1
                    while tokens[end].text not in (",", "}"):
                        end += 1
                    if tokens[k].text == "=" and tokens[k + 1:end] != [] and \
                            any(t.kind == "number" for t in tokens[k + 1:end]):
                        yield Mutant(path, "limit", tokens[k + 1].at, tokens[end - 1].end, "0")
            i = last
        i += 1


def mutants_of(path, source):
    """All mutants of a source, in its order."""
    tokens = tokens_of(source)
    found = list(limits(path, tokens))
    for begin, end, result in bodies(tokens):
        found += Finder(path, source, tokens, begin, end, result).find()
    unique = {}
    for mutant in found:
        if source[mutant.at:mutant.end] != mutant.text:
            unique[(mutant.at, mutant.end, mutant.text)] = mutant
    return sorted(unique.values(), key=lambda m: (m.at, m.end, m.operator, m.text))
