import fastify from 'fastify'
import { onTestFinished } from 'vitest'
import type { ConsoleSession } from '../../src/console/access/session.ts'
import { createOperations } from '../../src/console/api/register.ts'
import { createErrorReplies } from '../../src/console/replies.ts'
import { createMessages } from '../../src/messages/messages.ts'
import { answering } from '../../src/serve/console/answering.ts'
import { checkDocument } from './check-document.ts'
import { checkResponse } from './check-response.ts'
import { golden } from './golden/golden.ts'
import { headersIn } from './golden/headers.ts'
import { readTestConfig } from './test-config.ts'

/** What a test sends. */
export interface ApiCall {
  readonly query?: string
  readonly accept?: string
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export interface ConsoleApi {
  /** `GET /console/api/v1/…` */
  get(path: string, call?: ApiCall): Promise<ApiAnswer>
  /** `POST /console/api/v1/…` */
  post(path: string, body: unknown): Promise<ApiAnswer>
  readonly bugs: readonly string[]
}

/** The operations on a port of their own, for a publisher who has just confirmed. */
export async function startConsoleApi(options: {
  readonly cwd: string
  readonly config?: string
}): Promise<ConsoleApi> {
  const server = fastify()
  const bugs: string[] = []
  const messages = createMessages(readTestConfig({}).refusals, { origins: [] })
  const replyError = createErrorReplies(messages, {
    error: (line: unknown) => void bugs.push(String(line)),
  })
  server.setErrorHandler((error, request, reply) => replyError(error, request, reply))
  const { cwd, config } = options
  const register = await createOperations({ ...answering, io: { env: {}, cwd }, config })
  const session: ConsoleSession = {
    ...{ id: 'console-1', userId: '1', username: 'petra', roleKey: 'admin', role: 'publisher' },
    ...{ issuedAt: 0, expiresAt: Number.MAX_SAFE_INTEGER, provider: undefined },
    confirmedAt: Date.now(),
  }
  await server.register(
    (scope, _, done) => {
      register(scope, {
        guard: { sessionOf: () => session },
        originOf: () => ({ address: '192.0.2.7', userAgent: 'test' }),
        protectedRoles: () => [],
        write: true,
        onBug: (command, details) => bugs.push(`${command}: ${details}`),
      })
      done()
    },
    { prefix: '/console/api/v1' },
  )
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())

  async function send(target: string, call: string, init: RequestInit): Promise<ApiAnswer> {
    const record = golden?.call(call)
    const { status, headers, ...answer } = await readAnswer(await fetch(target, init))
    const contentType = headers.get('content-type') ?? undefined
    const exitCode = headers.get('postern-exit-code')
    await checkDocument(call.split(' ')[1] ?? '', answer.body, exitCode, contentType)
    checkResponse({ line: call, status, contentType, body: answer.body })
    record?.({ status, headers: headersIn((name) => headers.get(name) ?? undefined), ...answer })
    return { status, headers, ...answer }
  }

  return {
    bugs,
    post(path, body) {
      const text = JSON.stringify(body)
      return send(`${address}/console/api/v1/${path}`, `POST ${path} ${text}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text,
      })
    },
    get(path, { query = '', accept } = {}) {
      return send(`${address}/console/api/v1/${path}${query}`, `GET ${path}${query}`, {
        headers: accept === undefined ? {} : { accept },
      })
    },
  }
}

async function readAnswer(answer: Response): Promise<ApiAnswer> {
  return { status: answer.status, headers: answer.headers, body: await answer.text() }
}
