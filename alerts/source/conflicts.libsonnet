// Dependencies whose referrers want different things.
function(k, config)
  k.concern('conflicts', 'Dependencies whose referrers want different things.', [
    k.alert('DependencyPolicyConflict', {
      cause: 'referrers of one dependency want different values of a field',
      severity: 'warning',
      'for': '10m',
      keep: '5m',
      board: 'conflicts',
      page: 'conflicts',
      show: ['field'],
      expr: k.fold('karmada_dependency_conflicts', ['field']) + ' > 0',
      summary: 'Policies disagree on a shared dependency.',
      description: |||
        %s contradicting values of {{ $labels.field }} from the policies of those that need
        {{ if eq $value 1.0 }}it{{ else }}them{{ end }}; Karmada applies the more permissive one%s.
      ||| % [
        k.number('dependency gets', 'dependencies get'),
        k.names('max by (namespace, exported_namespace, kind, name, resolved) (karmada_dependency_conflict_info{{of}})',
                ['field'],
                'name',
                '{{ $row.Labels.kind }} {{ with $row.Labels.exported_namespace }}{{ . }}/{{ else }}{{ with $row.Labels.namespace }}{{ . }}/{{ end }}{{ end }}{{ $row.Labels.name }} ({{ $row.Labels.resolved }})',
                ':'),
      ],
    }),
    k.alert('DependencyResolutionUnapplied', {
      comment: 'Where Karmada is older than 1.16 it resolves nothing, and the exporter has no such family.',
      cause: 'a dependency does not carry the value that its referrers result in',
      severity: 'critical',
      'for': '15m',
      keep: '5m',
      board: 'conflicts',
      page: '?problem=dependency_not_resolved',
      show: ['field'],
      expr: k.fold('karmada_dependency_unapplied_resolutions', ['field']) + ' > 0',
      summary: 'Bindings of dependencies do not carry the value that their referrers result in.',
      description: |||
        %s another {{ $labels.field }} than the one that Karmada's rules result in; what is in force
        on the member clusters is not what any policy and its conflict resolution ask for.
      ||| % k.number('attached binding holds', 'attached bindings hold'),
    }),
    k.alert('DanglingReferences', {
      cause: 'bindings that name a binding, or a template, that is gone',
      severity: 'warning',
      'for': '30m',
      keep: '5m',
      board: 'conflicts',
      page: '?problem=reference_broken',
      expr: k.group(k.any([
        k.tell('reason', 'required_by_missing', k.fold('karmada_dependency_dangling_references')),
        k.tell('reason', 'template_missing', k.total('karmada_bindings_without_template')),
      ])) + ' > 0',
      summary: 'Bindings refer to what does not exist any more.',
      description: k.choose('reason', [
        [['required_by_missing'], |||
          %s a binding that does not exist; Karmada fails to update these dependencies until the
          entries are gone.
        ||| % k.number('entry of requiredBy names', 'entries of requiredBy name')],
        [[], |||
          %s no template any more; what they placed keeps running on the member clusters.
        ||| % k.number('binding has', 'bindings have')],
      ]),
    }),
  ])
