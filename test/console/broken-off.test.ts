import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { ClientGone } from '../../src/console/problem.ts'
import { createErrorReplies } from '../../src/console/replies.ts'
import { createMessages } from '../../src/messages/messages.ts'
import { readTestConfig } from '../support/test-config.ts'
import { until } from '../support/until.ts'

test('a client that goes away writes no line to the log; a bug and a store that resets do', async () => {
  const lines: unknown[] = []
  const handled: unknown[] = []
  const messages = createMessages(readTestConfig({}).refusals, { origins: [] })
  const replyError = createErrorReplies(messages, { error: (line: unknown) => lines.push(line) })
  const server = fastify()
  server.setErrorHandler((error, request, reply) => {
    handled.push(error)
    replyError(error, request, reply)
  })
  const errors: Readonly<Record<string, Error>> = {
    gone: new ClientGone(),
    // As drivers of stores report theirs.
    reset: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    abort: new DOMException('This operation was aborted', 'AbortError'),
    bug: new Error('a bug'),
  }
  server.get('/:name', async ({ params }) => {
    throw errors[(params as { name: string }).name]
  })
  server.post('/', async () => 'done')
  const base = await server.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  const logged = async (name: string) => {
    await fetch(`${base}/${name}`)
    return lines.splice(0).length
  }

  expect(await logged('gone')).toBe(0)
  expect(await logged('reset')).toBe(1)
  expect(await logged('abort')).toBe(1)
  expect(await logged('bug')).toBe(1)

  handled.splice(0)
  const client = connect(Number(new URL(base).port), '127.0.0.1')
  await once(client, 'connect')
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n')
  client.write('Content-Length: 100\r\n\r\n{"a":')
  await until(() => server.server.listening)
  client.destroy()
  await until(() => handled.length === 1)
  expect(lines).toEqual([])
})
