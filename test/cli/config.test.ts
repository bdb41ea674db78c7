import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { runCommand } from '../support/run-command.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'postern-cli-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const secret = 'kV7w-2Qz9_mB4tRxP0sLdY6hJnC8fGuE1aWi'

/** Runs `postern config …` in this process. */
function config(
  args: readonly string[],
  { env = {}, cwd = repository }: { env?: Record<string, string>; cwd?: string } = {},
) {
  return runCommand(['config', ...args], { env, cwd })
}

function scratchFile(text: string) {
  writeFileSync(join(scratch, 'x.yaml'), text)
  return { cwd: scratch }
}

/** What production.yaml says that the environment has to give. */
const production = { POSTERN_JWT__SECRET: secret, POSTERN_REDIS__URL: 'redis://u:hidden@redis' }

const goAdmin = { POSTERN_JWT__SECRET: secret, POSTERN_DATABASE__URL: 'postgres://u:p@db/go' }

describe('postern config check', () => {
  test.each([
    ['config/postern.yaml', {}, 'mode dev, 1 route, 1 upstream'],
    ['config/production.yaml', production, 'mode prod, 3 routes, 2 upstreams'],
    ['config/go-admin.yaml', goAdmin, 'mode prod, 17 routes, 1 upstream'],
  ])('passes the shipped %s', async (file, env, facts) => {
    const answer = await config(['check', file], { env })

    // Templates for production do not know the proxy with TLS in front.
    const isProduction = facts.startsWith('mode prod')
    const plain = `${file}: warning: application.host: "0.0.0.0" serves plain HTTP, `
    expect(answer).toEqual({
      code: 0,
      out: `${file}: ok (${facts})\n`,
      err: isProduction ? expect.stringMatching(`^${plain}[^\n]+\n$`) : '',
    })
  })

  test('reads the shipped default when no file is named', async () => {
    const { out } = await config(['check'])

    expect(out).toMatch(/^config\/postern\.yaml: ok/)
  })

  test.each(['config/production.yaml', 'config/go-admin.yaml'])(
    'rejects %s as long as the secret is not set',
    async (file) => {
      const env = {
        POSTERN_REDIS__URL: production.POSTERN_REDIS__URL,
        POSTERN_DATABASE__URL: goAdmin.POSTERN_DATABASE__URL,
      }
      const { code, err } = await config(['check', file], { env })

      expect(code).toBe(3)
      expect(err).toMatch(new RegExp(`^${file}:\\d+:1: jwt\\.secret is required`))
    },
  )

  // In a database of our own, user 1 would be go-admin's administrator.
  test('rejects config/go-admin.yaml without the database of go-admin', async () => {
    const env = { POSTERN_JWT__SECRET: secret }
    const { code, err } = await config(['check', 'config/go-admin.yaml'], { env })

    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringContaining('so database.url is required'),
    })
  })

  test.each([
    ['embedded accounts', `jwt: { secret: ${secret} }`, true],
    [
      'accounts of the service',
      `jwt: { secret: ${secret} }\ndatabase: { url: 'postgres://db/x' }`,
      false,
    ],
  ])('warns of tokens that a service takes for its own users: %s', async (_, more, isWarned) => {
    const route = '{ path: /a, upstream: a, forwardCredentials: true }'
    const upstreams = "upstreams: { a: { targets: ['http://127.0.0.1:1'] } }"
    const at = scratchFile(
      `application: { mode: prod }\n${upstreams}\nroutes: [${route}]\n${more}\n`,
    )

    const { code, err } = await config(['check', 'x.yaml', '--no-files'], at)

    expect(code).toBe(0)
    expect(err.includes('warning: routes[0].forwardCredentials')).toBe(isWarned)
  })

  test('prints every problem on stderr, a line each, and nothing on stdout', async () => {
    const at = scratchFile('application: { mode: dev }\nops: { port: x }\nbanana: 1\n')

    const { code, out, err } = await config(['check', 'x.yaml', '--no-files'], at)

    expect(code).toBe(3)
    expect(out).toBe('')
    expect(err).toMatch(/^x\.yaml:2:14: ops\.port: .*\nx\.yaml:3:1: unknown setting banana.*\n$/)
  })

  test('answers in JSON when asked to', async () => {
    const at = scratchFile('application: { mode: dev }\nops: { port: x }\n')

    const { code, out } = await config(['check', '--output', 'json', '--no-files', 'x.yaml'], at)

    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({
      file: 'x.yaml',
      ok: false,
      problems: [{ file: 'x.yaml', line: 2, column: 14 }],
    })
  })

  test('warns of a mode that is treated as prod', async () => {
    const at = scratchFile('application: { mode: Dev }\n')

    const { code, out, err } = await config(['check', 'x.yaml', '--no-files'], {
      ...at,
      env: { POSTERN_JWT__SECRET: secret },
    })

    expect(code).toBe(0)
    expect(out).toBe('x.yaml: ok (mode Dev, 0 routes, 0 upstreams)\n')
    expect(err).toContain('"Dev" is treated as prod')
  })

  const page = 'cookie: { set: true }\nlogin: { page: { enabled: true } }\n'
  test.each([
    ['the login page', '', page, 'the login page'],
    ['a cookie for pages of your own', '', 'cookie: { set: true }\n', 'a login'],
    ['TLS in Postern', '', `${page}tls: { certFile: c.pem, keyFile: k.pem }\n`, undefined],
    ['TLS in a proxy', 'trustedProxies: [10.0.0.1]', page, undefined],
    ['this machine alone', 'host: 127.0.0.1', page, undefined],
    ['this machine alone, over IPv6', "host: '::1'", page, undefined],
    ['mode dev', 'mode: dev', page, undefined],
    ['programs alone', '', '', 'nobody'],
    ['programs alone, with TLS in a proxy', 'trustedProxies: [10.0.0.1]', '', undefined],
  ])(
    'warns of plain HTTP, and of a cookie that browsers drop over it: %s',
    async (_, own, more, whose) => {
      const at = scratchFile(`application: { ${own} }\n${more}`)
      const env = { POSTERN_JWT__SECRET: secret }

      const { code, err } = await config(['check', 'x.yaml', '--no-files'], { ...at, env })

      expect(code).toBe(0)
      if (whose === undefined) expect(err).toBe('')
      else {
        expect(err).toContain('x.yaml: warning: application.host: "0.0.0.0" serves plain HTTP')
        expect(err).toContain(
          whose === 'nobody'
            ? 'anyone in the network can read passwords and tokens; set tls, or list'
            : `browsers drop the cookie of ${whose} over plain HTTP`,
        )
      }
    },
  )
})

describe('postern config print', () => {
  test('shows every default, and no secret', async () => {
    const env = { ...production, POSTERN_DATABASE__URL: 'postgres://u:hidden@h/d' }

    const { code, out } = await config(['print', 'config/production.yaml'], { env })

    expect(code).toBe(0)
    expect(out).not.toContain(secret)
    expect(out).not.toContain('hidden')
    expect(parse(out)).toMatchObject({
      jwt: { secret: '***', timeout: 3600, maxTokenBytes: 4096 },
      database: { url: '***', poolSize: 10 },
      limits: { headersTimeoutMs: 15_000 },
      upstreams: { catalogue: { headersTimeoutMs: 60_000, connections: 512 } },
    })
  })

  test('masks the values of request headers, which may be API keys of services', async () => {
    const file = scratchFile(`application: { mode: dev }
upstreams: { a: { targets: ['http://127.0.0.1:1'] } }
routes:
  - path: /a
    upstream: a
    requestHeaders: { set: { X-Api-Key: hidden-key }, add: { X-Tag: hidden-tag }, remove: [X-Debug] }
`)

    const { out } = await config(['print', 'x.yaml'], file)

    expect(out).not.toContain('hidden')
    expect(parse(out).routes[0].requestHeaders).toEqual({
      set: { 'X-Api-Key': '***' },
      add: { 'X-Tag': '***' },
      remove: ['X-Debug'],
    })
  })

  test('prints the same as JSON', async () => {
    const text = await config(['print', 'config/postern.yaml'])
    const json = await config(['print', 'config/postern.yaml', '--output=json'])

    expect(JSON.parse(json.out)).toEqual(parse(text.out))
  })

  test('prints what can be read back', async () => {
    const { out } = await config(['print', 'config/postern.yaml'])

    const again = await config(['print', 'x.yaml'], scratchFile(out))

    expect(again.out).toBe(out)
  })

  test('prints problems instead when there are any', async () => {
    const { code, out, err } = await config(['print', 'x.yaml'], scratchFile('banana: 1'))

    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toContain('x.yaml:1:1: unknown setting banana')
  })
})

describe('postern config schema', () => {
  test('prints the shipped config/schema.json', async () => {
    const { code, out } = await config(['schema'])

    expect(code).toBe(0)
    expect(out).toBe(readFileSync(join(repository, 'config/schema.json'), 'utf8'))
  })
})

describe('a command of postern config', () => {
  test.each([
    [['check', 'a', 'b']],
    [['check', '--strict']],
    [['check', '--output', 'xml']],
    [['print', '--output']],
    [['print', '--output', 'json', '--output', 'json']],
    [['schema', 'x']],
  ])('refuses arguments %j with exit code 2', async (args) => {
    const { code, out, err } = await config(args)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^postern: .+\nUsage: postern config /)
  })
})

describe('a directory without a configuration', () => {
  test.each([
    ['config', 'check'],
    ['config', 'print'],
    ['doctor'],
    ['status'],
    ['fleet'],
    ['policy', 'status'],
    ['user', 'list'],
    ['session', 'list'],
    ['keys', 'list'],
    ['db', 'migrate'],
  ])('makes "%s %s" say to run "postern init"', async (...words) => {
    const cwd = mkdtempSync(join(tmpdir(), 'postern-empty-'))
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))

    const { code, out, err } = await runCommand(words, { cwd })

    expect(code).toBe(words[0] === 'doctor' ? 1 : 3)
    expect(`${out}${err}`).toContain(
      'postern.yaml: configuration file does not exist; run "postern init" to create one, or give the path of yours\n',
    )
  })
})
