import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { findChromium, startBrowser } from '../support/browser.ts'
import { folder, policy } from './policy-runner.ts'

const files = {
  'config/postern.yaml': `
application: { mode: dev }
upstreams: { app: { targets: [http://127.0.0.1:9] } }
routes:
  - { path: /orders, upstream: app }
  - { path: /status, upstream: app, access: public, reason: Probes have no token. }
`,
  'policies/model.conf': formatModel(widestModel),
  'policies/policy.csv': `p, clerk, /orders/:id, GET, allow
p, lead, /orders/*, *, allow
p, lead, /orders/7, DELETE, deny
g, chief, clerk
p, clerk, /status/x, GET, allow
p, clerk, /missing, GET, allow
`,
  'policies/exclusions.yaml': '- { method: GET, path: /orders/help, reason: Help. }\n',
}

/** Role keys that mean something to a spreadsheet, a browser, a table or a terminal. */
const odd = {
  ...files,
  'policies/policy.csv': `p, =cmd(), /orders, GET, allow
p, "<script>alert(1)</script>", /orders, GET, allow
p, "a, b", /orders, GET, allow
p, "-1+1", /orders, GET, allow
p, "＝1", /orders, GET, allow
p, "| \`x\` @team", /orders, GET, allow
p, 管理员, /orders, GET, allow
`,
}

async function matrix(output: string, given: Readonly<Record<string, string>> = files) {
  return policy(['matrix', '--output', output], { cwd: await folder(given) })
}

describe('postern policy matrix', () => {
  test('shows each role and operation, and through what a role may', async () => {
    const { code, out, err } = await matrix('text')

    expect(code).toBe(0)
    expect(err).toBe('note: left out, because no route serves it: GET /missing\n')
    expect(out.replace(/r-\w+/, 'r-')).toBe(`3 roles and admin, 10 operations
  policy  policies, r-
  METHOD  PATH                   ACCESS                admin  chief  clerk  lead
  GET     /api/v1/getCaptcha     endpoint              all    all    all    all
  POST    /api/v1/login          endpoint              all    all    all    all
  POST    /api/v1/logout         endpoint              all    all    all    all
  POST    /api/v1/user/password  endpoint              all    all    all    all
  GET     /api/v1/user/profile   endpoint              all    all    all    all
  *       /orders/*              permitted, exclusion  adm    part   part   part
  DELETE  /orders/7              permitted             adm    -      -      deny
  GET     /orders/:id            permitted, exclusion  adm    inh    yes    yes
  GET     /orders/help           exclusion             all    all    all    all
  GET     /status/x              public                all    all    all    all
  yes   a rule of the role allows all calls
  inh   a rule of a role that it inherits from allows all calls
  all   all calls need no permission: open route, exclusion or endpoint of the gateway
  adm   admin needs no rule
  part  some of the calls
  deny  a deny rule outweighs the rules that allow
  -     no rule allows any of the calls
`)
  })

  test('continues with more roles in another block', async () => {
    const roles = Array.from({ length: 40 }, (_, at) => `p, role-${at}, /orders, GET, allow`)

    const { out } = await matrix('text', { ...files, 'policies/policy.csv': roles.join('\n') })

    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
    expect(out.match(/METHOD/g)?.length).toBeGreaterThan(2)
    for (const role of ['role-0', 'role-20', 'role-39']) expect(out).toContain(` ${role}`)
  })

  test('gives CSV whose every field a spreadsheet takes for text', async () => {
    const { code, out } = await matrix('csv', odd)
    const [titles = '', ...rows] = out.split('\r\n')

    expect(code).toBe(0)
    expect(titles).toBe(
      `method,path,access,served by,exact,admin,"'-1+1",<script>alert(1)</script>,"'=cmd()","a, b","'| \`x\` @team",管理员,"'＝1"`,
    )
    expect(rows).toContain(
      'GET,/orders,permitted,/orders,yes,admin,allowed,allowed,allowed,allowed,allowed,allowed,allowed',
    )
    expect(rows.at(-1)).toBe('')
  })

  test('gives Markdown in which role keys are code', async () => {
    const { out } = await matrix('markdown', odd)
    const title = out.split('\n').find((line) => line.startsWith('| Operation'))

    expect(title).toBe(
      '| Operation | Access | `admin` | `-1+1` | `<script>alert(1)</script>` | `=cmd()` | `a, b` | `` \\| `x` @team `` | `管理员` | `＝1` |',
    )
    expect(out).toContain(
      '| `GET /orders` | permitted | admin | allowed | allowed | allowed | allowed | allowed | allowed | allowed |\n',
    )
  })

  test('gives one HTML page that loads nothing and escapes what files say', async () => {
    const { out } = await matrix('html', odd)
    const hashes = ['style', 'script'].map((name) => {
      const [, text = ''] = new RegExp(`<${name}>([^]*?)</${name}>`).exec(out) ?? []
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    })

    expect(out.match(/<script/g)).toHaveLength(1)
    expect(out).toContain(
      `content="default-src 'none'; style-src ${hashes[0]}; script-src ${hashes[1]}; `,
    )
    expect(out).not.toMatch(/https?:|src=|href=|url\(|@import/)
    expect(out).toContain('<span>&#60;script&#62;alert(1)&#60;/script&#62;</span>')
  })

  test('gives JSON without the cells of roles that may do nothing', async () => {
    const answer = JSON.parse((await matrix('json')).out)

    expect(answer).toMatchObject({ roles: ['admin', 'chief', 'clerk', 'lead'], policy: 'policies' })
    expect(answer.operations).toContainEqual({
      method: 'DELETE',
      path: '/orders/7',
      access: ['permitted'],
      servedBy: ['/orders'],
      isFixedResponse: false,
      isExact: true,
      cells: { admin: 'admin', lead: 'denied' },
    })
    expect(answer.unserved).toEqual([{ method: 'GET', path: '/missing' }])
  })

  const program = findChromium()
  if (program === undefined) console.log('left out: the matrix in a browser: no Chromium in PATH')
  test.runIf(program !== undefined)('has a page that filters in a browser', async () => {
    const { out } = await matrix('html', odd)
    const server = createServer((_, reply) => {
      reply.setHeader('Content-Type', 'text/html')
      reply.end(out)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const browser = await startBrowser(program ?? '')
    onTestFinished(() => browser.close())

    const page = await browser.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const type = (id: string, text: string) =>
      page.evaluate(
        `{ const input = document.getElementById('${id}'); input.value = '${text}'; input.dispatchEvent(new Event('input')) }`,
      )
    const shown = () =>
      page.evaluate(
        `[document.querySelectorAll('tbody tr:not([hidden])').length, [...document.querySelectorAll('thead th')].filter((cell) => getComputedStyle(cell).display !== 'none').map((cell) => cell.textContent).join()]`,
      )
    await type('rows', 'get orders')
    await type('columns', 'cmd')

    expect(await shown()).toEqual([2, 'Operation,Access,=cmd()'])
    await type('columns', '')
    expect(await shown()).toEqual([2, expect.stringContaining('<script>alert(1)</script>')])
  })
})
