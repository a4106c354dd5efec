#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write metrics/rules/admission/crd_fields.c from tests/fixtures/crd-fields.tsv.

With --check compare instead.

Equal lists of fields are stored once, so that the table stays small: a list is a run of rows in
`crd_fields`, sorted by name.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.join(ROOT, 'tests/fixtures/crd-fields.tsv')
TARGET = os.path.join(ROOT, 'metrics/rules/admission/crd_fields.c')

# Tags in the table of facts, in the order of enum release.
RELEASES = ['v1.13.0', 'v1.14.0', 'v1.15.0', 'v1.16.0', 'v1.17.0', 'v1.18.0', 'v1.19.0-rc.0',
            'f8fdd02d']
# Karmada's aggregated API servers serve these kinds without a CustomResourceDefinition.
WITHOUT_CRD = [('cluster.karmada.io', 'v1alpha1', 'Cluster')]
# A pattern is a function in admission.c: metrics/ has no engine for regular expressions.
PATTERNS = {
    r'^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+'
    r'(\.[0-9]*)?)|(\.[0-9]+))))?$': 'CRD_PATTERN_QUANTITY',
    r'^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$': 'CRD_PATTERN_REASON',
}
TYPES = {'object': 'OBJECT', 'array': 'ARRAY', 'string': 'STRING', 'boolean': 'BOOLEAN',
         'integer': 'INTEGER', 'int-or-string': 'ANY', 'any': 'ANY'}


def release_bits(text, tags):
    """Returns the set of modelled releases, bits by enum release."""
    if text == 'all':
        return 255
    first, _, last = text.partition('..')
    low, high = tags.index(first), tags.index(last or first)
    return sum(1 << i for i, tag in enumerate(RELEASES) if low <= tags.index(tag) <= high)


def read_rows():
    with open(SOURCE, encoding='utf-8') as source:
        lines = [line.rstrip('\n') for line in source]
    tags = next(line for line in lines if 'releases read:' in line).split(': ')[1].split()
    rows = [line.split('\t') for line in lines if line and not line.startswith('#')]
    assert rows[0] == ['group', 'version', 'kind', 'path', 'type', 'constraints', 'releases']
    for group, version, kind, path, kind_of_value, constraints, releases in rows[1:]:
        bits = release_bits(releases, tags)
        if bits:
            yield (group, version, kind), path, kind_of_value, constraints, bits


def split_constraints(text):
    """Returns the constraints as a dictionary. A pattern may contain no ';', which separates."""
    return dict(part.partition('=')[::2] for part in text.split(';') if part)


def c_text(text):
    return '"%s"' % text.replace('\\', '\\\\').replace('"', '\\"')


def c_default(value_type, value):
    plain = value_type in ('integer', 'boolean')
    return c_text(value.lower() if plain else '"%s"' % value)


class Table:
    """Rows of crd_fields and crd_limits, each distinct list and each distinct limit once."""

    def __init__(self):
        self.fields = []
        self.limits = ['{0}']
        self.lists = {}

    def limit(self, value_type, constraints):
        parts = []
        for key, member in (('enum', 'values'), ('default', 'fallback')):
            if key in constraints:
                value = constraints[key]
                parts.append('.%s = %s' % (member, c_default(value_type, value)
                                           if key == 'default' else c_text(value)))
        if 'pattern' in constraints:
            parts.append('.pattern = ' + PATTERNS[constraints['pattern']])
        for key, member in (('minimum', 'minimum'), ('maximum', 'maximum'),
                            ('minLength', 'min_length'), ('maxLength', 'max_length'),
                            ('minItems', 'min_length'), ('maxItems', 'max_length')):
            if key in constraints:
                parts.append('.%s = %s' % (member, constraints[key]))
        if 'minimum' in constraints:
            parts.append('.has_minimum = true')
        if 'maximum' in constraints:
            parts.append('.has_maximum = true')
        text = '{%s}' % ', '.join(parts) if parts else '{0}'
        if text not in self.limits:
            self.limits.append(text)
        return self.limits.index(text)

    def add_list(self, tree, path):
        """Returns (first row, number of rows) of the fields directly below a path."""
        rows = []
        for name, child in sorted(tree.get(path, {}).items()):
            first, count = self.add_list(tree, child['path'])
            for value_type, text, bits in child['variants']:
                constraints = split_constraints(text)
                known = {'required', 'enum', 'default', 'pattern', 'minimum', 'maximum', 'format',
                         'minLength', 'maxLength', 'minItems', 'maxItems', 'preserveUnknown'}
                assert not set(constraints) - known, text
                flags = [flag for key, flag in (('required', 'CRD_REQUIRED'),
                                                ('preserveUnknown', 'CRD_PRESERVED'))
                         if key in constraints]
                if constraints.get('format') == 'int32':
                    flags.append('CRD_INT32')
                rows.append((name, TYPES[value_type], ' | '.join(flags) or '0', bits,
                             self.limit(value_type, constraints), first, count))
        key = tuple(rows)
        if key not in self.lists:
            self.lists[key] = len(self.fields)
            self.fields += rows
        return self.lists[key], len(rows)


def read_trees():
    """Returns for each kind its lists of fields by the path of their parent, and its releases."""
    trees, served = {}, {}
    for kind, path, value_type, constraints, bits in read_rows():
        parent, name = re.fullmatch(r'(.*?)(\.[^.\[\]{}]+|\[\]|\{\})', path).groups()
        tree = trees.setdefault(kind, {})
        child = tree.setdefault(parent, {}).setdefault(
            name.lstrip('.'), {'path': path, 'variants': []})
        child['variants'].append((value_type, constraints, bits))
        if path == '.kind':
            served[kind] = served.get(kind, 0) | bits
    return trees, served


def render():
    trees, served = read_trees()
    table = Table()
    kinds = []
    for kind in sorted(trees):
        first, count = table.add_list(trees[kind], '')
        kinds.append('    {%s, %s, %s, 0x%02x, %d, %d},' % (
            *map(c_text, kind), served[kind], first, count))
    kinds += ['    {%s, %s, %s, 0xff, 0, 0},' % tuple(map(c_text, kind)) for kind in WITHOUT_CRD]
    lines = ['/* SPDX-License-Identifier: Apache-2.0 */',
             '/* Generated by tests/gates/crd_fields.py from tests/fixtures/crd-fields.tsv. */',
             '#include "metrics/rules/admission/crd_fields.h"', '', '/* clang-format off */',
             'const struct crd_kind crd_kinds[] = {', *sorted(kinds), '};',
             'const size_t crd_kind_count = ARRAY_LEN(crd_kinds);', '',
             'const struct crd_limit crd_limits[] = {',
             *('    %s,' % limit for limit in table.limits), '};', '',
             'const struct crd_field crd_fields[] = {']
    for name, value_type, flags, bits, limit, first, count in table.fields:
        lines.append('    {%s, CRD_%s, %s, 0x%02x, %d, %d, %d},' % (
            c_text(name), value_type, flags, bits, limit, count, first))
    lines += ['};', '/* clang-format on */', '']
    return '\n'.join(lines)


def main():
    text = render()
    if '--check' not in sys.argv[1:]:
        with open(TARGET, 'w', encoding='utf-8') as target:
            target.write(text)
        return
    with open(TARGET, encoding='utf-8') as target:
        if target.read() != text:
            sys.exit('metrics/rules/admission/crd_fields.c is outdated: run tests/gates/crd_fields.py')


main()
