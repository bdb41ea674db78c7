import { connect } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import { readCheckRequest } from '../../src/http/forward-auth/check-request.ts'
import { checkOfLine, decodeAnswer } from '../support/check-messages.ts'
import { grpcClient } from '../support/ext-authz.ts'
import { asked } from '../support/forward-auth.ts'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

/** Repeatable: a failure must be found again. */
function createRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const random = createRandom(25)

/** One to three bytes changed, inserted, removed, repeated or cut off. */
function mutate(message: Buffer): Buffer {
  let bytes = message
  for (let change = 0; change <= random(3); change++) {
    const at = random(bytes.length + 1)
    const to = at + random(bytes.length - at + 1)
    const one = Buffer.from([random(256)])
    bytes = [
      () => Buffer.concat([bytes.subarray(0, at), one, bytes.subarray(at + 1)]),
      () => Buffer.concat([bytes.subarray(0, at), one, bytes.subarray(at)]),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
      () => Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]),
      () => bytes.subarray(0, at),
    ][random(5)]?.() as Buffer
  }
  return bytes
}

/** Each call makes another one. */
const editorToken = tokenOf('editor')

/** What the mutated check says, read without the gateway's rules. */
function isAllowed(message: Buffer): boolean {
  const { method, path, headers } = readCheckRequest(message)
  const values = headers.filter(
    (_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'authorization',
  )
  const isEditor = values.length === 1 && /^bearer +/i.test(values[0] ?? '')
  const token = values[0]?.replace(/^bearer +/i, '').trim()
  return (
    method === 'GET' &&
    /^\/api\/v1\/public\/[^/?#]+(?:\?.*)?$/.test(path) &&
    isEditor &&
    token === editorToken
  )
}

test('20,000 mutated checks are answered, and allowed only if they say what is allowed', async () => {
  const postern = await startPostern({ config: asked({ logger: { level: 'error' } }) })
  const client = grpcClient(postern)
  const whole = checkOfLine('GET /api/v1/public/a', {
    headers: {
      authorization: `Bearer ${editorToken}`,
      cookie: 'a=b',
      origin: 'https://shop.example',
      'x-user-id': '1',
    },
  })
  expect((await client.check(whole)).denied_response).toBeUndefined()
  const answered = { allowed: 0, denied: 0 }

  for (let batch = 0; batch < 200; batch++) {
    const messages = Array.from({ length: 100 }, () => mutate(whole))
    const answers = await Promise.all(messages.map((message) => client.check(message)))
    for (const [at, answer] of answers.entries()) {
      const message = messages[at] as Buffer
      if (answer.denied_response !== undefined) answered.denied++
      else {
        answered.allowed++
        expect([isAllowed(message), message.toString('hex')]).toEqual([true, expect.any(String)])
        const id = answer.ok_response?.headers.find(({ header }) => header.key === 'x-user-id')
        expect(id?.header.value).toBe('42')
      }
    }
  }

  // Both happen, or the test would show nothing.
  expect(answered.allowed + answered.denied).toBe(20_000)
  expect(answered.allowed).toBeGreaterThan(100)
  expect(answered.denied).toBeGreaterThan(1000)
})

test('a check whose message never ends is denied', async () => {
  const postern = await startPostern({ config: asked() })
  const session = connect(`http://127.0.0.1:${postern.forwardAuthPort}`)
  onTestFinished(() => session.destroy())
  const stream = session.request({
    ':method': 'POST',
    ':path': '/envoy.service.auth.v3.Authorization/Check',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const message = checkOfLine('GET /api/v1/public/a', { as: 'editor' })
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  stream.write(Buffer.concat([prefix, message.subarray(0, -1)]))

  const chunks: Buffer[] = []
  const ended = new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', resolve).on('error', reject)
  })
  await ended

  const answer = decodeAnswer(Buffer.concat(chunks).subarray(5))
  expect(answer.denied_response?.status.code).toBe(408)
  expect(postern.logText()).toContain('"outcome":"body-too-slow"')
})
