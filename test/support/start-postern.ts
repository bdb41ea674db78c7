import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import { inject, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/schema/schema.ts'
import { createLog } from '../../src/log/log.ts'
import { drawCaptcha } from '../../src/login/captcha/captcha-image.ts'
import type { VerifyPassword } from '../../src/login/method-kind.ts'
import type { RunningPostern } from '../../src/serve/options.ts'
import { serve } from '../../src/serve/serve.ts'
import { callHttp2, speaksHttp2 } from './http2-call.ts'
import { plainRequests } from './plain-requests.ts'
import { type RawAnswer, request, sendRaw } from './raw-client.ts'
import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts'
import { testSecret, tokenOf } from './tokens.ts'

export interface PosternOptions {
  /** Policy lines without the leading `p, `: role, path, method. */
  readonly rules?: readonly string[]
  /** Lines that begin with `g, `, without that: a role and the role it inherits. */
  readonly inheritances?: readonly string[]
  /** The text of model.conf, instead of the shipped one. */
  readonly model?: string
  /** Instead of the endpoints of the specification. */
  readonly exclusions?: readonly TestExclusion[]
  readonly routes?: readonly Readonly<Record<string, unknown>>[]
  /** Merged over the test's configuration, section by section. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Other issuers. */
  readonly issuers?: readonly Readonly<Record<string, unknown>>[]
  readonly now?: () => number
  /** A copy of the seeded database for this gateway alone, instead of the one all share. */
  readonly ownDatabase?: boolean
  readonly verifyPassword?: VerifyPassword
}

export interface TestExclusion {
  readonly method: string
  readonly path: string
  readonly reason: string
}

export interface TestPostern extends RunningPostern {
  /** What it started with. */
  readonly config: Config
  readonly upstream: RecordingUpstream
  /** Every log line so far, as text. */
  logText(): string
  /** One request as somebody in the role `as`, or as nobody; the target goes out as it stands. */
  call(line: string, options?: CallOptions): Promise<RawAnswer>
  readonly passwords: Readonly<Record<string, string>>
  readonly dataDirectory: string
  readonly policyDirectory: string
  /** The texts of the captchas drawn so far: what a person would read off the pictures. */
  readonly captchaTexts: readonly string[]
}

export interface CallOptions {
  readonly as?: string
  readonly token?: string
  readonly headers?: readonly string[]
  /** Instead of gateway.test. */
  readonly host?: string
  readonly body?: string
  /** The loopback address to call from, such as 127.0.0.9. */
  readonly from?: string
  /** Speaks TLS, with these options. */
  readonly tls?: ConnectionOptions
  /** Speaks HTTP/2; without TLS, the gateway must have `h2c`. */
  readonly http2?: boolean
}

/** The rules of the attack catalogue's editor. */
export const catalogueRules = [
  'editor, /api/v1/public/*, GET',
  'editor, /api/v1/articles/:id, GET',
  'editor, /api/v1/articles, POST',
  'editor, /api/v1/:res/profile, GET',
]

const ownExclusions = [
  { method: 'POST', path: '/api/v1/login', reason: 'how callers get a token' },
  { method: 'POST', path: '/api/v1/logout', reason: 'everybody may leave' },
  { method: 'GET', path: '/api/v1/getCaptcha', reason: 'login needs it' },
  { method: 'GET', path: '/api/v1/user/profile', reason: 'everybody may see themselves' },
]

/**
 * A whole gateway in this process, on free ports, with a recording upstream behind it, a policy of
 * its own and a copy of the seeded embedded database. Closes itself when the test ends.
 */
export async function startPostern(options: PosternOptions = {}): Promise<TestPostern> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-'))
  const upstream = await startRecordingUpstream()
  await writePolicies(join(directory, 'policies'), options)
  const dataDirectory = options.ownDatabase ? join(directory, 'data') : inject('sharedData')
  if (options.ownDatabase) await cp(inject('databaseTemplate'), dataDirectory, { recursive: true })
  const file = join(directory, 'postern.yaml')
  await writeFile(file, stringify(configuration({ directory, dataDirectory, upstream, options })))

  const lines: string[] = []
  const captchaTexts: string[] = []
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const config = loadConfig({ file, env: {}, cwd: directory })
  const postern = await serve({
    config,
    log: createLog('info', sink),
    async draw(text, noise) {
      captchaTexts.push(text)
      return drawCaptcha(text, noise)
    },
    ...(options.now && { now: options.now }),
    ...(options.verifyPassword && { verifyPassword: options.verifyPassword }),
  })
  onTestFinished(async () => {
    await postern.close()
    await upstream.close()
    await rm(directory, { recursive: true, force: true })
  })

  return {
    ...postern,
    config,
    upstream,
    logText: () => lines.join(''),
    passwords: inject('passwords'),
    captchaTexts,
    dataDirectory,
    policyDirectory: join(directory, 'policies'),
    call: (line, callOptions = {}) => call(postern.publicPort, line, callOptions),
  }
}

/** The lines of policy.csv. */
export function linesOf({
  rules = catalogueRules,
  inheritances = [],
}: Pick<PosternOptions, 'rules' | 'inheritances'>): readonly string[] {
  return [
    ...rules.map((rule) => `p, ${rule}`),
    ...inheritances.map((each) => `g, ${each}`),
    ...(rules.length === 0 ? ['# postern: empty'] : []),
  ]
}

async function writePolicies(directory: string, options: PosternOptions): Promise<void> {
  const { exclusions = ownExclusions, model } = options
  const csv = linesOf(options).join('\n')
  await cp('policies/model.conf', join(directory, 'model.conf'))
  if (model !== undefined) await writeFile(join(directory, 'model.conf'), model)
  await writeFile(join(directory, 'policy.csv'), `${csv}\n`)
  await writeFile(join(directory, 'exclusions.yaml'), stringify(exclusions))
}

interface ConfigurationParts {
  readonly directory: string
  readonly dataDirectory: string
  readonly upstream: RecordingUpstream
  readonly options: PosternOptions
}

function configuration({ directory, dataDirectory, upstream, options }: ConfigurationParts) {
  const base: Record<string, Record<string, unknown>> = {
    application: {
      mode: 'prod',
      host: '127.0.0.1',
      port: 0,
      dataDirectory,
      plainRequests,
      ...(speaksHttp2 && { h2c: true }),
    },
    ops: { port: 0 },
    logger: { enableddb: true },
    jwt: { secret: testSecret },
    // The shared embedded database serves every test file at once.
    database: { statementTimeoutMs: 60_000 },
    policy: { directory: join(directory, 'policies') },
    // Not in the data directory, which tests share.
    revocation: { snapshot: join(directory, 'revocations.snapshot') },
    shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 2000 },
    upstreams: { backend: { targets: [upstream.origin] } },
  }
  for (const [section, values] of Object.entries(options.config ?? {})) {
    base[section] = { ...base[section], ...values }
  }
  const { issuers = [], routes = [{ path: '/', upstream: 'backend' }] } = options
  return { ...base, issuers, routes }
}

async function call(port: number, line: string, options: CallOptions): Promise<RawAnswer> {
  const token = options.token ?? (options.as === undefined ? undefined : tokenOf(options.as))
  const headers = [
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(options.body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(options.body)}`]),
    ...(options.headers ?? []),
  ]
  const { host = 'gateway.test', http2 = speaksHttp2, body: content, from, tls } = options
  if (http2) {
    return callHttp2({ port, line, headers, host, body: content, localAddress: from, tls })
  }
  const text = request(line, headers).replace('Host: gateway.test', `Host: ${host}`)
  const bytes = Buffer.from(text, 'latin1')
  const body = Buffer.from(content ?? '')
  const { answers, closed } = await sendRaw(port, Buffer.concat([bytes, body]), {
    ...(from !== undefined && { localAddress: from }),
    ...(tls !== undefined && { tls }),
  })
  const [answer] = answers
  if (answer === undefined)
    throw new Error(`no answer to ${line}${closed ? ', connection closed' : ''}`)
  return answer
}
