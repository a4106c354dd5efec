// Names of the roles that must act: value of the label `actor`, name in texts.
{
  user: 'template owner',
  policy_owner: 'policy owner',
  platform: 'platform team',
  cluster: 'cluster administrator',
  karmada: 'Karmada',
}
