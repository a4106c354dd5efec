# SPDX-License-Identifier: Apache-2.0
"""A page of metrics as numbers to ask for."""
import re

LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)",?')


class Page:
    def __init__(self, text):
        self.text = text
        self.series = []
        for line in text.splitlines():
            found = LINE.match(line)
            if found:
                labels = dict(LABEL.findall(found.group(2) or ""))
                self.series.append((found.group(1), labels, float(found.group(3))))

    def rows(self, family, **labels):
        """[(labels, value)] of the family's series that have these labels."""
        return [(has, value) for name, has, value in self.series
                if name == family and labels.items() <= has.items()]

    def sum(self, family, **labels):
        return sum(value for _, value in self.rows(family, **labels))

    def by(self, family, *names, **labels):
        """{value of the label, or tuple of them: sum} without the zeros."""
        sums = {}
        for has, value in self.rows(family, **labels):
            key = tuple(has[name] for name in names) if len(names) > 1 else has[names[0]]
            sums[key] = sums.get(key, 0) + value
        return {key: value for key, value in sums.items() if value}

    @property
    def up(self):
        return self.sum("karmada_policy_exporter_up") == 1
