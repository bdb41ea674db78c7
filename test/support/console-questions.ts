/** For each operation, what a page asks and what a person types for the same answer. */
export const questions: Readonly<
  Record<string, readonly (readonly [query: string, typed: string])[]>
> = {
  version: [['', 'version']],
  status: [['', 'status']],
  upstreams: [['', 'upstreams']],
  fleet: [['', 'fleet']],
  'config check': [['', 'config check']],
  'config print': [['', 'config print']],
  'policy check': [
    ['?strict=true', 'policy check --strict'],
    ['?against=live', 'policy check --against live'],
  ],
  'policy test': [
    ['?min-coverage=10', 'policy test --min-coverage 10'],
    ['?routes=true', 'policy test --routes'],
  ],
  'policy explain': [
    ['?role=clerk&method=GET&path=/orders', 'policy explain clerk GET /orders'],
    ['?role=clerk&method=PUT&path=/orders', 'policy explain clerk PUT /orders'],
    ['?user=admin&method=PUT&path=/orders', 'policy explain --user admin PUT /orders'],
    ['?anonymous=true&method=GET&path=/orders', 'policy explain --anonymous GET /orders'],
  ],
  'policy blame': [
    ['?role=clerk&method=GET&path=/orders', 'policy blame clerk GET /orders'],
    ['?role=nurse&method=GET&path=/orders', 'policy blame nurse GET /orders'],
  ],
  'policy who': [
    ['?method=GET&path=/orders&accounts=true', 'policy who GET /orders --accounts'],
    [
      '?method=GET&path=/orders&accounts=true&names=true',
      'policy who GET /orders --accounts --names',
    ],
    ['?method=PUT&path=/orders&revision=live', 'policy who PUT /orders --revision live'],
    ['?method=GET&path=--help', 'policy who GET -- --help'],
  ],
  'policy can': [
    ['?role=clerk', 'policy can clerk'],
    ['?role=lead&compare=clerk', 'policy can lead --compare clerk'],
    ['?role=nurse', 'policy can nurse'],
    ['?user=admin', 'policy can --user admin'],
  ],
  'policy simulate': [
    ['?user=admin&add-role=clerk', 'policy simulate --user admin --add-role clerk'],
    ['?user=ghost&add-role=clerk', 'policy simulate --user ghost --add-role clerk'],
  ],
  'policy guard': [['', 'policy guard']],
  'policy open': [['?host=api.example.com', 'policy open --host api.example.com']],
  'policy matrix': [
    ['', 'policy matrix'],
    ['?compact=true', 'policy matrix --compact'],
  ],
  'policy unused': [['?days=7', 'policy unused --days 7']],
  'policy denials': [['?since=2h&limit=5', 'policy denials --since 2h --limit 5']],
  'policy diff': [
    ['?from=live', 'policy diff live'],
    ['?from=live&to=live&this-gateway=true', 'policy diff live live --this-gateway'],
  ],
  'policy proposals': [
    ['', 'policy proposals'],
    ['?revision=r-000000000000', 'policy proposals r-000000000000'],
  ],
  'policy names': [['', 'policy names']],
  'policy files': [
    ['?tests=true', 'policy files --tests'],
    ['?revision=live', 'policy files live'],
  ],
  'policy shadow': [['?limit=5', 'policy shadow --limit 5']],
  'policy status': [['', 'policy status']],
  'policy history': [['?limit=3', 'policy history --limit 3']],
  'user list': [
    ['', 'user list'],
    ['?starts-with=A&limit=5', 'user list --starts-with A --limit 5'],
  ],
  'user show': [
    ['?name=admin', 'user show admin'],
    ['?name=ghost', 'user show ghost'],
  ],
  'role list': [['', 'role list']],
  'role show': [['?key=admin', 'role show admin']],
  'service list': [['', 'service list']],
  'token list': [['', 'token list']],
  'session list': [['?limit=10', 'session list --limit 10']],
  'login list': [
    ['?since=2026-11-01&outcome=logged-in', 'login list --since 2026-11-01 --outcome logged-in'],
  ],
  'login locks': [['', 'login locks']],
  'audit list': [['?action=user&limit=5', 'audit list --action user --limit 5']],
  'keys list': [['', 'keys list']],
}
