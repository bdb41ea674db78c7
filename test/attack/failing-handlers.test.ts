import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type FrameRequest, startFrameServer } from '../support/frame-server.ts'
import { answerPath } from '../support/h2-pool.ts'
import { startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

/* A caller who knows a URL whose handler fails must not take the service from the callers of others. */

const post = 'POST /api/v1/articles'
const crash = `${post}/crash`
const good = tokenOf('admin')
const bad = tokenOf('admin', { identity: 666 })

function startBefore(targets: readonly string[], settings: Readonly<Record<string, unknown>> = {}) {
  return startPostern({
    config: {
      upstreams: { backend: { targets, headersTimeoutMs: 300, ...settings } },
      // The attacker, the service and the gateway share one busy process here.
      overload: { loopDelayMs: 60_000 },
    },
  })
}

async function startService(fail: (request: IncomingMessage) => void): Promise<string> {
  const server = createServer((request, reply) => {
    request.resume()
    if (request.url?.endsWith('/crash')) fail(request)
    else request.on('end', () => reply.end('{"ok":true}'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** How others fare in every round: while the requests of an attacker fail, and right after that. */
async function othersBeside(postern: TestPostern, attackers: number): Promise<readonly number[]> {
  const found: number[] = []
  const callAs = async (token: string, line: string) =>
    (await postern.call(line, { token, body: line.startsWith('POST') ? '{}' : '' })).status
  for (let round = 0; round < 6; round++) {
    let left = attackers
    const attack = Array.from({ length: attackers }, () =>
      callAs(bad, crash).finally(() => {
        left--
      }),
    )
    while (left > 0) found.push(await callAs(good, 'GET /api/v1/articles/7'))
    expect((await Promise.all(attack)).filter((status) => status < 500)).toEqual([])
    for (let turn = 0; turn < 4; turn++) found.push(await callAs(good, post))
  }
  return found
}

describe.each([
  // As a panic in Go does.
  ['closes the connection', ({ socket }: IncomingMessage) => void socket.destroy()],
  ['exceeds headersTimeoutMs', () => {}],
])('a handler that %s', (_, fail) => {
  test.each([1, 2])('takes none of %i targets from the callers of others', async (count) => {
    const targets = await Promise.all(Array.from({ length: count }, () => startService(fail)))
    const postern = await startBefore(targets)

    const found = await othersBeside(postern, 6 * count)

    expect(found.filter((status) => status !== 200)).toEqual([])
    expect(postern.logText()).not.toContain('upstream target ejected')
  })
})

describe('an HTTP/2 service', () => {
  test('that loses a connection with many requests loses these, and no other', async () => {
    const held: FrameRequest[] = []
    const server = await startFrameServer((request) => {
      if (request.fields[':path']?.endsWith('/crash')) held.push(request)
      else answerPath(request)
    })
    const postern = await startBefore([server.origin], {
      protocol: 'h2c',
      headersTimeoutMs: 60_000,
    })
    const call = (line: string) => postern.call(line, { token: good })
    expect((await call(post)).status).toBe(200)
    for (let round = 0; round < 3; round++) {
      const posts = Array.from({ length: 30 }, () => call(crash))
      const gets = Array.from({ length: 30 }, () => call('GET /api/v1/articles/crash'))
      await until(() => held.length === 60)
      const lost = held.splice(0)
      for (const { connection } of lost) connection.socket.destroy()

      expect(new Set((await Promise.all(posts)).map(({ status }) => status))).toEqual(
        new Set([502]),
      )
      expect((await call(post)).status).toBe(200)
      await until(() => held.length === 30)
      for (const request of held.splice(0)) answerPath(request)
      expect(new Set((await Promise.all(gets)).map(({ status }) => status))).toEqual(new Set([200]))
    }
  })

  test('that resets one of twenty requests fails these, and no other', async () => {
    const server = await startFrameServer((request) => {
      const { connection, id, fields } = request
      if (fields[':path']?.endsWith('/crash')) connection.reset(id, 0x2)
      // Later, so that the resets come in a row.
      else setTimeout(answerPath, 50, request)
    })
    const postern = await startBefore([server.origin], {
      protocol: 'h2c',
      headersTimeoutMs: 60_000,
    })
    const statuses: number[] = []
    for (let round = 0; round < 3; round++) {
      const lines = Array.from({ length: 120 }, (_, at) => (at % 20 === 0 ? crash : post))
      const found = await Promise.all(lines.map((line) => postern.call(line, { token: good })))
      statuses.push(...found.map(({ status }) => status))
    }

    const counts = [200, 502].map((status) => statuses.filter((one) => one === status).length)
    expect(counts).toEqual([342, 18])
  })
})
