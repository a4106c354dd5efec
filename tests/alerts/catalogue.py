# SPDX-License-Identifier: Apache-2.0
"""What the families are that rules and pages may name, and whether an expression keeps to them."""
from bundle import TARGET_LABELS, families, problem_table, rules
from promql import allowed_values, kept_labels, listed_labels, made_labels, selectors

# Series that Prometheus itself adds for each target.
SCRAPED = ["up", "scrape_duration_seconds", "scrape_samples_scraped",
           "scrape_samples_post_metric_relabeling"]


def catalogue():
    """Labels by family, and the values of each label that are known: families of the program, and records."""
    known = {name: {label["name"]: label["values"] for label in family["labels"]}
             for name, family in families().items()}
    problems = [problem["name"] for row in problem_table().values() for problem in row["problems"]]
    for labels in known.values():
        labels.update({label: problems for label in ("problem",) if label in labels})
    for name, family in families().items():
        if family["type"] == "histogram":
            known[name + "_bucket"] = {**known[name], "le": []}
    known.update((name, {}) for name in SCRAPED)
    for _, _, rule in rules():
        if "record" in rule:
            name = rule["record"]
            kept = kept_labels(rule["expr"])
            labels = {label: values for metric, _ in selectors(rule["expr"])
                      for label, values in known[metric].items() if label in kept}
            others = kept & (TARGET_LABELS | made_labels(rule["expr"])) - set(labels)
            known[name] = {**labels, **{label: [] for label in others}}
    return known


def result_labels(expression, known):
    """The labels that rows of an expression can have: those of its `by`, or of a record without one."""
    kept = kept_labels(expression)
    return kept or {label for metric, _ in selectors(expression) for label in known[metric]}


def check_expression(expression, known, where):
    """Complain about each metric, label and value that does not exist; the labels that do."""
    # Without honor_labels the namespace of an object arrives under another name.
    labels = TARGET_LABELS | {"exported_namespace", "__name__"} | made_labels(expression)
    for metric, matchers in selectors(expression):
        assert metric in known, f"{where}: there is no family {metric}"
        labels |= set(known[metric])
        for label, operator, value in matchers:
            assert label in known[metric] or label in TARGET_LABELS, \
                f"{where}: {metric} has no label {label}"
            values = known[metric].get(label)
            for one in allowed_values(operator, value) if values and value != "x" else []:
                assert one in values, f"{where}: {metric} has no {label}=\"{one}\""
    for label in listed_labels(expression):
        assert label in labels, f"{where}: no family there has the label {label}"
    return labels
