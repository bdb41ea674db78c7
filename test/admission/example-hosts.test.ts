import { expect, test } from 'vitest'
import { canonicalHost } from '../../src/admission/canonical-host.ts'
import { exampleHosts } from '../../src/admission/example-hosts.ts'
import { createRoutes } from '../../src/admission/route-table.ts'
import type { AccessRoute } from '../../src/admission/routes.ts'

test('the example of a wildcard is a host that no other route names', () => {
  const label = 'a'.repeat(63)
  // With one label before it, as long as a host may be.
  const long = `*.${label}.${label}.${label}.${'a'.repeat(59)}`
  const names = ['*.test', '_.test', '_1.test', '*._2.test', '_any.test', long]
  const routes = names.map((host): AccessRoute => ({ path: '/', hosts: [host], access: 'public' }))
  const findRoute = createRoutes(routes)

  const hosts = exampleHosts({ routes, servesHost: () => false })

  expect(hosts.map((host) => findRoute('/', 'GET', host))).toEqual(routes)
  expect(hosts.map((host) => canonicalHost(host ?? ''))).toEqual(hosts)
})
