# SPDX-License-Identifier: Apache-2.0
"""Just enough of PromQL to know which metrics and labels an expression names."""
import re

WORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right",
         "offset", "bool", "sum", "max", "min", "count", "topk", "bottomk"}
LABEL_LISTS = r"\b(by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)"
MATCHER = re.compile(r'([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{([^{}]*)\}")
NAMES = re.compile(r'\{__name__=~"([\w:|]+)"\}')


def selectors(expression):
    """Every metric of the expression with its matchers: name, [(label, operator, value)]."""
    found = [(name, []) for names in NAMES.findall(expression) for name in names.split("|")]
    expression = NAMES.sub(" ", expression)
    found += [(name, MATCHER.findall(matchers)) for name, matchers in SELECTOR.findall(expression)]
    bare = SELECTOR.sub(" ", expression)
    bare = re.sub(LABEL_LISTS, " ", bare)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', " ", bare)
    bare = re.sub(r"\[[^\]]*\]", " ", bare)
    bare = re.sub(r"\b\d[\w.]*", " ", bare)
    for name, call in re.findall(r"([a-zA-Z_:][\w:]*)(\s*\(?)", bare):
        if name not in WORDS and not call.endswith("("):
            found.append((name, []))
    return found


def listed_labels(expression):
    """The labels that by, without, on, ignoring and group_left name."""
    return {label.strip() for _, labels in re.findall(LABEL_LISTS, expression)
            for label in labels.split(",") if label.strip()}


def kept_labels(expression):
    """The labels of its result, if it is an aggregation: those of the outermost `by` of each operand of `or`."""
    found = [re.search(r"\bby\s*\(([^()]*)\)", operand) for operand in expression.split("\nor\n")]
    return made_labels(expression) | {label.strip() for by in found if by for label in by.group(1).split(",")}


def made_labels(expression):
    """The labels that label_replace adds."""
    return set(re.findall(r',\s*"(\w+)", "[^"]+", "\w*", "[^"]*"\s*\)', expression))


def template_labels(text):
    """The labels that a template takes from its alert."""
    return set(re.findall(r"\$labels\.(\w+)", text))


def template_queries(text):
    """The queries within a template, with a value for each label that printf fills in; labels of their rows."""
    queries = [query.replace('\\"', '"').replace("%q", '"x"')
               for query in re.findall(r'printf "((?:[^"\\]|\\.)*)"(?: \$labels\.\w+)* \| query', text)]
    return queries, set(re.findall(r"(?<![\w$])(?:\$row)?\.Labels\.(\w+)", text))


def allowed_values(operator, value):
    """The values that a matcher means, one by one."""
    return value.split("|") if operator in ("=~", "!~") else [value]
