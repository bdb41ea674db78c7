import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { inject, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { createOperations, type RegisterOperations } from '../../src/console/api/register.ts'
import { createLog } from '../../src/log/log.ts'
import { answering } from '../../src/serve/console/answering.ts'
import { openConsole, type RunningConsole } from '../../src/serve/console/open-console.ts'
import { checkDocument } from './check-document.ts'
import { checkResponse } from './check-response.ts'
import { golden } from './golden/golden.ts'
import { headersIn } from './golden/headers.ts'
import { type RawAnswer, request, sendRaw } from './raw-client.ts'
import { type Ran, runCommand } from './run-command.ts'
import { testSecret } from './tokens.ts'

interface ConsoleOptions {
  /** Merged over the test's configuration, section by section. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>> | readonly object[]>>
  readonly ownDatabase?: boolean
  /** The real operations, in place of the probes. */
  readonly isWhole?: boolean
  readonly now?: () => number
  /** For all tests of a file, which closes it; else it closes when the test ends. */
  readonly isShared?: boolean
}

interface ConsoleCall {
  /** The cookie of a session. */
  readonly cookie?: string
  readonly headers?: readonly string[]
  readonly host?: string
  /** Sent as JSON, unless it is a text. */
  readonly body?: unknown
  readonly from?: string
}

export interface TestConsole extends RunningConsole {
  /** One request below /console/api/v1, or for the whole target if it starts with a slash. */
  call(line: string, options?: ConsoleCall): Promise<RawAnswer>
  /** The cookie of a new session. */
  logIn(username?: string): Promise<string>
  /** Runs a command with the configuration of this console. */
  postern(line: string): Promise<Ran>
  readonly configFile: string
  readonly passwords: Readonly<Record<string, string>>
  logText(): string
}

/** Routes of each kind of access, in place of real operations. */
const probes: RegisterOperations = (scope, { guard }) => {
  const answer = async (request: Parameters<typeof guard.sessionOf>[0]) =>
    guard.sessionOf(request).username
  scope.get('/probe/reader', { config: { access: { role: 'reader' } } }, answer)
  scope.get('/probe/author', { config: { access: { role: 'author' } } }, answer)
  scope.get('/probe/publisher', { config: { access: { role: 'publisher' } } }, answer)
  scope.post('/probe/write', { config: { access: { role: 'reader', confirmed: true } } }, answer)
}

/** A console in this process, on a free port, with pages of its own. */
export async function startConsole(options: ConsoleOptions = {}): Promise<TestConsole> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-console-'))
  const dataDirectory = options.ownDatabase ? join(directory, 'data') : inject('sharedData')
  if (options.ownDatabase) await cp(inject('databaseTemplate'), dataDirectory, { recursive: true })
  const configFile = join(directory, 'postern.yaml')
  await writeFile(configFile, stringify(configuration(dataDirectory, directory, options)))
  const pages = await writePages(directory)
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const config = loadConfig({ file: configFile, env: {}, cwd: directory })
  const log = createLog('info', sink)
  const { now } = options
  const io = { env: {}, cwd: directory }
  const whole = { ...answering, io, config: configFile }
  const operations = options.isWhole ? await createOperations(whole) : probes
  const running = await openConsole({
    ...{ config, log, pages, operations },
    ...(now !== undefined && { now }),
  })
  const close = async () => {
    await running.close()
    await rm(directory, { recursive: true, force: true })
  }
  if (options.isShared !== true) onTestFinished(close)
  const passwords = inject('passwords')
  const call = (line: string, given: ConsoleCall = {}) => send(running.port, line, given)
  return {
    ...running,
    close,
    configFile,
    passwords,
    logText: () => lines.join(''),
    call,
    async logIn(username = 'admin') {
      const body = { username, password: passwords[username] }
      const answer = await call('POST login', { body })
      if (answer.status !== 200) throw new Error(`login: ${answer.status} ${answer.body}`)
      return cookieIn(answer)
    },
    postern: (line) => runCommand([...line.split(' '), '--config', configFile]),
  }
}

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieIn(answer: RawAnswer): string {
  return answer.header('set-cookie')?.split(';', 1)[0] ?? ''
}

function configuration(dataDirectory: string, directory: string, { config = {} }: ConsoleOptions) {
  const base: Record<string, object> = {
    application: { mode: 'dev', dataDirectory },
    logger: { enableddb: true },
    jwt: { secret: testSecret },
    database: { statementTimeoutMs: 60_000 },
    revocation: { snapshot: join(directory, 'revocations.snapshot') },
    shutdown: { deadlineMs: 2000 },
    console: { port: 0, roles: { reader: ['editor'], publisher: ['admin'] } },
  }
  for (const [section, values] of Object.entries(config)) {
    base[section] = Array.isArray(values) ? values : { ...base[section], ...values }
  }
  return base
}

/** Two files that pages need, and what must never be served. */
async function writePages(directory: string): Promise<string> {
  const pages = join(directory, 'pages')
  await mkdir(join(pages, 'assets'), { recursive: true })
  await mkdir(join(directory, 'pages-other'))
  await writeFile(join(pages, 'index.html'), '<!doctype html><title>console</title>')
  await writeFile(join(pages, 'assets', 'app-1.js'), 'export {}')
  await writeFile(join(pages, '.env'), 'SECRET')
  await writeFile(join(directory, 'secret.html'), 'SECRET')
  await writeFile(join(directory, 'pages-other', 'secret.html'), 'SECRET')
  await symlink(join(directory, 'secret.html'), join(pages, 'assets', 'link.html'))
  return pages
}

async function send(port: number, line: string, given: ConsoleCall): Promise<RawAnswer> {
  const { cookie, headers = [], host = '127.0.0.1', body, from } = given
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {})
  const [method = '', target = ''] = line.split(' ')
  const isHead = method === 'HEAD'
  const hasBody = method !== 'GET' && !isHead
  const isTyped = headers.some((each) => /^content-type:/i.test(each))
  const all = [
    ...(cookie === undefined ? [] : [`Cookie: ${cookie}`]),
    ...(hasBody && !isTyped ? ['Content-Type: application/json'] : []),
    ...(hasBody ? [`Content-Length: ${Buffer.byteLength(text)}`] : []),
    ...headers,
  ]
  const path = /^[/*]|^http/.test(target) ? target : `/console/api/v1/${target}`
  const head = request(`${method} ${path}`, all).replace('Host: gateway.test', `Host: ${host}`)
  const record = golden?.call(`${method} ${path}${hasBody ? ` ${text}` : ''}`)
  const { answers } = await sendRaw(port, `${head}${hasBody ? text : ''}`, {
    bodiless: isHead,
    ...(from !== undefined && { localAddress: from }),
  })
  const [answer] = answers
  if (answer === undefined) throw new Error(`no answer to ${line}`)
  const code = answer.header('postern-exit-code')
  const contentType = answer.header('content-type')
  await checkDocument(target, answer.body, code, contentType)
  checkResponse({ line, status: answer.status, contentType, body: answer.body })
  record?.({
    status: answer.status,
    headers: headersIn((name) => answer.header(name)),
    body: answer.body,
  })
  return answer
}
