/** A small policy with inheritance, a route and a test, and its configuration. */
export const consoleFiles = {
  'config/postern.yaml': `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes: [{ path: /orders, upstream: app }]
`,
  'policies/model.conf': `[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub) && keyMatch2(r.obj, p.obj) && r.act == p.act
`,
  'policies/policy.csv': 'p, clerk, /orders, GET\np, lead, /orders, PUT\ng, lead, clerk\n',
  'policies/tests/orders_test.yaml':
    '- { role: clerk, method: GET, path: /orders, expect: allow, reason: They take orders. }\n',
}
