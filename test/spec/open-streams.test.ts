import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { readPolicyFiles } from '../../src/stores/policies/policy-files.ts'
import { startEndlessEvents } from '../support/endless-events.ts'
import { mountKeys, newKey, signedBy } from '../support/keys.ts'
import { request } from '../support/raw-client.ts'
import { ok } from '../support/recording-upstream.ts'
import { type CallOptions, startPostern, type TestPostern } from '../support/start-postern.ts'
import { claimsOf, nowSeconds, tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'

const startStreaming = (now?: () => number, jwt: Readonly<Record<string, unknown>> = {}) =>
  startEndlessEvents({
    config: { revocation: { sweepMs: 50 }, jwt },
    routes: [
      { path: '/', upstream: 'backend' },
      { path: '/open', upstream: 'backend', access: 'public', reason: 'for everybody' },
    ],
    ...(now && { now }),
  })

/** Opens a stream and waits until something has come. `more` are headers of the request. */
async function open(
  postern: TestPostern,
  target: string,
  token: string | undefined,
  more: readonly string[] = [],
) {
  const socket = connect(postern.publicPort, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const state = { received: '', closed: false }
  socket.on('data', (chunk) => {
    state.received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    state.closed = true
  })
  await once(socket, 'connect')
  const carried = token === undefined ? [] : [`Authorization: Bearer ${token}`]
  const line = target.startsWith('/') ? `GET ${target}` : target
  socket.write(request(line, [...carried, ...more]))
  await until(() => state.received.includes('data:'))
  return state
}

const logOut = (token: string): [string, CallOptions] => [
  'POST /api/v1/logout',
  { token, body: '' },
]

describe('an open stream', () => {
  test('is cut when the key of its token is removed', async () => {
    const [leaked, kept] = [newKey(), newKey()]
    const files = { 'kept.pem': kept.privatePem, signer: 'kept' }
    const mount = await mountKeys({ ...files, 'leaked.pem': leaked.publicPem })
    const { postern } = await startStreaming(undefined, { keyDirectory: mount.directory })
    const claims = claimsOf('admin')
    const lost = await open(postern, '/api/v1/a', signedBy(leaked, { kid: 'leaked' }, claims))
    const other = await open(postern, '/api/v1/a', signedBy(kept, { kid: 'kept' }, claims))

    await mount.swap(files)

    await until(() => lost.closed)
    expect(other.closed).toBe(false)
  })

  test('is cut when its token is revoked, at the client and at the upstream', async () => {
    const { postern, upstream } = await startStreaming()
    const [token, other] = [tokenOf('editor'), tokenOf('editor')]
    const [mine, theirs] = [
      await open(postern, '/api/v1/public/events', token),
      await open(postern, '/api/v1/public/events', other),
    ]

    await postern.call(...logOut(token))

    await until(() => mine.closed && upstream.cut === 1)
    expect(theirs.closed).toBe(false)
    // An answer that was cut must not look like one that ended.
    expect(mine.received.endsWith('0\r\n\r\n')).toBe(false)
    await until(() => postern.logText().includes('"outcome":"cut-by-token"'))
  })

  test('is cut when its token expires', async () => {
    let ahead = 0
    const { postern, upstream } = await startStreaming(() => Date.now() / 1000 + ahead)
    const token = tokenOf('editor', { exp: nowSeconds() + 600 })
    const stream = await open(postern, '/api/v1/public/events', token)
    const lasting = await open(postern, '/api/v1/public/events', tokenOf('editor'))

    ahead = 601

    await until(() => stream.closed && upstream.cut === 1)
    expect(lasting.closed).toBe(false)
  })

  // T220
  test('is cut when a new policy no longer allows it, and only then', async () => {
    const { postern, upstream } = await startStreaming()
    const [lost, kept, excluded, admins] = [
      await open(postern, '/api/v1/public/events', tokenOf('editor')),
      await open(postern, '/api/v1/articles/7', tokenOf('editor')),
      await open(postern, '/open/events', tokenOf('editor')),
      await open(postern, '/api/v1/public/events', tokenOf('admin')),
    ]

    await writeFile(
      join(postern.policyDirectory, 'policy.csv'),
      'p, editor, /api/v1/articles/:id, GET\n',
    )

    await until(() => lost.closed && upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-policy"'))
    expect(lost.received.endsWith('0\r\n\r\n')).toBe(false)
    expect([kept, excluded, admins].map(({ closed }) => closed)).toEqual([false, false, false])
  })

  test('is cut when a new policy no longer allows the path in its Destination header', async () => {
    const { postern, upstream } = await startStreaming()
    const publish = async (...rules: readonly string[]) => {
      const lines = rules.map((rule) => `p, editor, ${rule}\n`).join('')
      await writeFile(join(postern.policyDirectory, 'policy.csv'), lines)
      const { revision } = parsePolicySet(await readPolicyFiles(postern.policyDirectory))
      await until(() => postern.logText().includes(revision))
    }
    const copy = (to: string) =>
      open(postern, 'COPY /dav/from', tokenOf('editor'), [`Destination: /dav/${to}/b`])
    await publish('/dav/*, *')
    const [lost, kept] = [await copy('theirs'), await copy('mine')]

    await publish('/dav/from, *', '/dav/mine/*, *')

    await until(() => lost.closed && upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-policy"'))
    expect(kept.closed).toBe(false)
  })

  test('is cut when the line that allows it expires, and may begin again when the clock is set back', async () => {
    const real = Date.now
    let ahead = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => real() + ahead)
    onTestFinished(() => clock.mockRestore())
    const { postern, upstream } = await startStreaming(() => real() / 1000)
    const token = tokenOf('editor')
    const lines = [
      'p, editor, /api/v1/articles/:id, GET',
      '# postern: until 2099-01-01',
      'p, editor, /api/v1/public/events, GET',
    ]
    await writeFile(join(postern.policyDirectory, 'policy.csv'), lines.join('\n'))
    const { revision } = parsePolicySet(await readPolicyFiles(postern.policyDirectory))
    await until(() => postern.logText().includes(revision))
    const lost = await open(postern, '/api/v1/public/events', token)
    const kept = await open(postern, '/api/v1/articles/7', token)

    ahead = Date.UTC(2099, 0, 1) - real()

    await until(() => lost.closed && upstream.cut === 1)
    await until(() => postern.logText().includes('"outcome":"cut-by-policy"'))
    expect(kept.closed).toBe(false)
    const denied = await postern.call('GET /api/v1/public/events', { token })
    expect(denied.body).toContain('no permission')

    ahead = 0

    const again = await open(postern, '/api/v1/public/events', token)
    expect(again.closed).toBe(false)
  })

  test('goes on while a new policy is bad', async () => {
    const { postern } = await startStreaming()
    const stream = await open(postern, '/api/v1/public/events', tokenOf('editor'))

    await writeFile(join(postern.policyDirectory, 'policy.csv'), 'p, editor, no-slash, GET\n')
    await until(() => postern.logText().includes('no-slash'))
    const { length } = stream.received
    await until(() => stream.received.length > length + 100)

    expect(stream.closed).toBe(false)
  })

  test('of a public route has no token to lose', async () => {
    let ahead = 0
    const { postern } = await startStreaming(() => Date.now() / 1000 + ahead)
    const free = await open(postern, '/open/events', undefined)
    const bound = await open(postern, '/api/v1/public/events', tokenOf('editor'))

    ahead = 4000
    await until(() => bound.closed)

    expect(free.closed).toBe(false)
  })
})

describe('a logout that an upstream answers', () => {
  test('has its answer although its token is over', async () => {
    const postern = await startPostern({
      config: { revocation: { sweepMs: 50 }, endpoints: { logout: 'backend' } },
    })
    postern.upstream.answerWith((socket) => void setTimeout(() => socket.write(ok), 300))

    const answer = await postern.call(...logOut(tokenOf('editor')))

    expect(answer.json()).toEqual({ ok: true })
  })
})

describe('a call that still waits for its answer', () => {
  test('is told that its token is over', async () => {
    const { postern } = await startStreaming()
    postern.upstream.answerWith(() => {})
    const token = tokenOf('editor')
    const waiting = postern.call('GET /api/v1/public/slow', { token })
    await until(() => postern.upstream.requests.length === 1)

    await postern.call(...logOut(token))

    expect((await waiting).json()).toMatchObject({ code: 401 })
  })
})
