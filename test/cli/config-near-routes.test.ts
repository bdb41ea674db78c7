import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runCommand } from '../support/run-command.ts'

const cwd = mkdtempSync(join(tmpdir(), 'postern-near-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const closed = 'upstream: app }'
const open = 'upstream: app, access: public, reason: A test. }'

/** The warnings of `config check` about these routes. */
async function warnings(routes: readonly string[], more = ''): Promise<readonly string[]> {
  const text = `application: { mode: dev }
upstreams: { app: { targets: [http://a:1] }, sites: { targets: [http://b:1], host: client } }
routes: [${routes.join(', ')}]
${more}`
  writeFileSync(join(cwd, 'c.yaml'), text)
  const { code, err } = await runCommand(['config', 'check', 'c.yaml', '--no-files'], { cwd })
  expect([code, err]).toEqual([0, expect.not.stringContaining('problem')])
  return err
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^c\.yaml: warning: /, ''))
}

describe('config check warns of a route that a near spelling gets past', () => {
  test.each([
    [
      'a slash at the end of an exact path',
      [`{ path: /, ${open}`, `{ path: /admin, match: exact, ${closed}`],
      'routes[1] (=/admin) needs permission, but /admin/ reaches routes[0] (/), which is public: remove match: exact from routes[1]',
    ],
    [
      'an exact path that ends with a slash',
      [`{ path: /, ${open}`, `{ path: /admin/, match: exact, ${closed}`],
      'routes[1] (=/admin/) needs permission, but /admin reaches routes[0] (/), which is public: add a route for /admin',
    ],
    [
      'an exact path of one host',
      [
        `{ path: /, hosts: ['*.test'], upstream: app, access: authenticated }`,
        `{ path: /admin, match: exact, hosts: ['*.test'], ${closed}`,
      ],
      'routes[1] (*.test=/admin) needs permission, but /admin/ reaches routes[0] (*.test/), which needs a login: remove match: exact from routes[1]',
    ],
    [
      'allowed addresses of an exact path',
      [
        `{ path: /, ${open}`,
        `{ path: /metrics, match: exact, addresses: { allow: [10.0.0.0/8] }, ${open}`,
      ],
      'routes[1] (=/metrics) limits addresses, but /metrics/ reaches routes[0] (/), which does not: remove match: exact from routes[1]',
    ],
    [
      'writing methods that are not listed',
      [`{ path: /orders, methods: [POST, PUT], ${closed}`, `{ path: /orders, ${open}`],
      'routes[0] (POST,PUT /orders) needs permission, but PATCH, DELETE reach routes[1] (/orders), which is public: add PATCH, DELETE to methods of routes[0], or name methods in routes[1]',
    ],
    [
      'writing methods below an open prefix',
      [`{ path: /admin, methods: [GET, HEAD], ${closed}`, `{ path: /, ${open}`],
      'routes[0] (GET,HEAD /admin) needs permission, but POST, PUT, PATCH, DELETE reach routes[1] (/), which is public: add POST, PUT, PATCH, DELETE to methods of routes[0], or name methods in routes[1]',
    ],
    [
      'HEAD beside GET',
      [`{ path: /inbox, methods: [GET], ${closed}`, `{ path: /inbox, ${open}`],
      'routes[0] (GET /inbox) needs permission, but HEAD reaches routes[1] (/inbox), which is public: add HEAD to methods of routes[0], or name methods in routes[1]',
    ],
    [
      'another host to the same service',
      [`{ path: /, hosts: [admin.test], ${closed}`, `{ path: /, ${open}`],
      'routes[0] (admin.test/) needs permission, but another Host header reaches routes[1] (/), which is public: give routes[1] another upstream or hosts of its own, or set upstreams.app.host: client if the service tells hosts apart',
    ],
    [
      'another host of a wildcard',
      [`{ path: /, hosts: [admin.test], ${closed}`, `{ path: /, hosts: ['*.test'], ${open}`],
      'routes[0] (admin.test/) needs permission, but another Host header reaches routes[1] (*.test/), which is public: give routes[1] another upstream or hosts of its own, or set upstreams.app.host: client if the service tells hosts apart',
    ],
    [
      'a host with a route for a shorter path',
      [`{ path: /admin, ${closed}`, `{ path: /, hosts: [www.test], ${open}`],
      "routes[0] (/admin) needs permission, but /admin on www.test reaches routes[1] (www.test/), which is public: add a route for /admin with hosts: ['www.test']",
    ],
    [
      'the reverse: HEAD on a page that GET opens to everyone',
      [`{ path: /, ${closed}`, `{ path: /feed, methods: [GET], ${open}`],
      'routes[1] (GET /feed) is public, but HEAD reaches routes[0] (/), which needs permission: add HEAD to methods of routes[1]',
    ],
  ])('%s', async (_, routes, message) => {
    expect(await warnings(routes)).toEqual([message])
  })

  test('and says so in JSON too', async () => {
    await warnings([`{ path: /, ${open}`, `{ path: /admin, match: exact, ${closed}`])

    const args = ['config', 'check', 'c.yaml', '--no-files', '--output', 'json']
    const { out } = await runCommand(args, { cwd })

    const said = expect.stringContaining('/admin/ reaches routes[0]')
    expect(JSON.parse(out)).toMatchObject({ ok: true, problems: [], warnings: [said] })
  })
})

describe('config check does not warn of', () => {
  test.each([
    [
      'an exact path that is more open',
      [`{ path: /, ${closed}`, `{ path: /robots.txt, match: exact, ${open}`],
    ],
    [
      'the same page in both spellings',
      [
        `{ path: /, ${open}`,
        `{ path: /admin, match: exact, ${closed}`,
        `{ path: /admin/, match: exact, ${closed}`,
      ],
    ],
    ['the start page', [`{ path: /, ${open}`, `{ path: /, match: exact, ${closed}`]],
    [
      'another service',
      [
        '{ path: /, upstream: sites, access: public, reason: A test. }',
        `{ path: /admin, match: exact, ${closed}`,
        `{ path: /orders, methods: [POST], ${closed}`,
        `{ path: /, hosts: [admin.test], ${closed}`,
      ],
    ],
    [
      'a fixed response',
      [
        '{ path: /, respond: { status: 404 }, access: public, reason: A test. }',
        `{ path: /admin, match: exact, ${closed}`,
      ],
    ],
    [
      'open reading and closed writing',
      [`{ path: /orders, methods: [POST, PUT, PATCH, DELETE], ${closed}`, `{ path: /, ${open}`],
    ],
    [
      'methods that both routes name',
      [
        `{ path: /inbox, methods: [GET, HEAD], ${closed}`,
        `{ path: /inbox, methods: [POST], ${open}`,
      ],
    ],
    [
      'a box for letters',
      [`{ path: /inbox, methods: [GET, HEAD], ${closed}`, `{ path: /inbox, ${open}`],
    ],
    [
      'a service that tells hosts apart',
      [
        '{ path: /, hosts: [admin.test], upstream: sites }',
        '{ path: /, upstream: sites, access: public, reason: A test. }',
      ],
    ],
    [
      'an open host beside a closed rest',
      [`{ path: /, ${closed}`, `{ path: /, hosts: [www.test], ${open}`],
    ],
    [
      'two hosts by name',
      [`{ path: /, hosts: [admin.test], ${closed}`, `{ path: /, hosts: [www.test], ${open}`],
    ],
    [
      'GET alone where a login is enough',
      [
        `{ path: /, ${closed}`,
        '{ path: /menu, methods: [GET], upstream: app, access: authenticated }',
      ],
    ],
  ])('%s', async (_, routes) => {
    expect(await warnings(routes)).toEqual([])
  })
})

test.each([
  'routes',
  'upstreams',
  'encoded-characters',
  'host-and-path',
  'load-balancing',
  'outliers',
  'service-credentials',
  'sticky-sessions',
  'streaming',
  'tls',
  'upstream-http2',
])('every example in docs/%s.md is valid, without warnings', async (page) => {
  const text = readFileSync(`docs/${page}.md`, 'utf8')
  const examples = [...text.matchAll(/^( *)```yaml\n(.*?)^ *```$/gms)].map(
    ([, indent, yaml = '']) => yaml.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

  expect(examples.length).toBeGreaterThan(0)
  for (const example of examples) {
    const names = new Set([...example.matchAll(/upstream: ([a-z-]+)/g)].map(([, name]) => name))
    const upstreams = [...names].map((name) => `  ${name}: { targets: [http://a:1] }\n`).join('')
    const needed = example.includes('upstreams:') ? '' : `upstreams:\n${upstreams}`
    writeFileSync(join(cwd, 'c.yaml'), `application: { mode: dev }\n${needed}${example}`)
    const ran = await runCommand(['config', 'check', 'c.yaml', '--no-files'], { cwd })
    expect([example, ran.code, ran.err]).toEqual([example, 0, ''])
  }
})
