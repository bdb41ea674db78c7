import { describe, expect, onTestFinished, test } from 'vitest'
import type { RawAnswer } from '../support/raw-client.ts'
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { readTestConfig } from '../support/test-config.ts'
import { tokenOf } from '../support/tokens.ts'

const open = { access: 'public', reason: 'a test' }
const cart = 'GET /cart/a'

async function startThree(
  route: object,
  { more = [] as Readonly<Record<string, unknown>>[], settings = {} } = {},
) {
  const targets: RecordingUpstream[] = []
  for (let count = 0; count < 3; count++) {
    const target = await startRecordingUpstream()
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= target.close()
      return closing
    }
    onTestFinished(close)
    targets.push({ ...target, close })
  }
  const origins = targets.map(({ origin }) => origin)
  const postern = await startPostern({
    config: {
      upstreams: { shop: { targets: origins, ...settings }, other: { targets: [...origins] } },
    },
    routes: [{ path: '/cart', upstream: 'shop', ...route }, ...more],
  })
  const counts = () => targets.map(({ requests }) => requests.length)
  /** Which target got the last request. */
  const whoGot = async (call: () => Promise<unknown>) => {
    const before = counts()
    await call()
    return counts().findIndex((count, at) => count > (before[at] ?? 0))
  }
  return { postern, targets, whoGot, counts }
}

const cookieOf = (answer: RawAnswer) => answer.header('set-cookie') ?? ''
const pairOf = (answer: RawAnswer) => cookieOf(answer).split(';')[0] ?? ''

describe('sticky by cookie', () => {
  test('keeps a client with its target by an opaque cookie, which no upstream gets', async () => {
    const below = { path: '/cart/help', upstream: 'other', ...open, forwardCredentials: true }
    const { postern, targets, counts } = await startThree(
      { ...open, sticky: { cookie: 'stay', seconds: 600 } },
      { more: [below] },
    )
    const first = await postern.call(cart)
    expect(cookieOf(first)).toMatch(
      /^stay=[\w-]{22}; Path=\/cart; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    )
    const headers = [`Cookie: a=1; ${pairOf(first)}; b=2`]
    for (let turn = 0; turn < 6; turn++) {
      const next = await postern.call(cart, { headers })
      expect(next.header('set-cookie')).toBeUndefined()
    }
    expect(counts().sort()).toEqual([0, 0, 7])

    await postern.call('GET /cart/help', { headers })
    const sent = targets.flatMap(({ requests }) => requests.flatMap((one) => one.values('cookie')))
    expect(sent).toEqual(Array.from({ length: 7 }, () => 'a=1; b=2'))
  })

  test('without a cookie, spreads clients; each target has a value of its own', async () => {
    const { postern, counts } = await startThree({ ...open, sticky: {} })
    const pairs = new Set<string>()
    for (let turn = 0; turn < 9; turn++) pairs.add(pairOf(await postern.call(cart)))
    expect(counts()).toEqual([3, 3, 3])
    expect(pairs.size).toBe(3)
    for (const pair of pairs) expect(pair).toMatch(/^postern-target=[\w-]{22}$/)
  })

  test('ignores forged cookies and replaces them', async () => {
    const { postern, counts } = await startThree({ ...open, sticky: {} })
    for (const forged of [
      'postern-target=http://127.0.0.1:9999',
      'postern-target=AAAAAAAAAAAAAAAAAAAAAA',
      'postern-target=',
      'postern-target',
      'postern-target=0; postern-target=1; postern-target=%00; postern-target=__proto__',
      Array.from({ length: 500 }, (_, at) => `postern-target=${at}`).join('; '),
    ]) {
      const answer = await postern.call(cart, { headers: [`Cookie: ${forged}`] })
      expect(answer.status).toBe(200)
      expect(pairOf(answer)).toMatch(/^postern-target=[\w-]{22}$/)
    }
    expect(counts()).toEqual([2, 2, 2])
  })

  test('a value of another upstream means nothing here', async () => {
    const other = { path: '/other', upstream: 'other', ...open, sticky: {} }
    const { postern } = await startThree({ ...open, sticky: {} }, { more: [other] })
    const headers = [`Cookie: ${pairOf(await postern.call('GET /other'))}`]
    expect(pairOf(await postern.call(cart, { headers }))).not.toBe('')
  })

  test('falls over to another target when its own is gone, and stays there', async () => {
    const { postern, targets, whoGot } = await startThree({ ...open, sticky: {} })
    let answer: RawAnswer | undefined
    const first = await whoGot(async () => {
      answer = await postern.call(cart)
    })
    let pair = answer === undefined ? '' : pairOf(answer)
    await targets[first]?.close()

    const moved = await postern.call(cart, { headers: [`Cookie: ${pair}`] })
    expect(moved.status).toBe(200)
    expect(pairOf(moved)).not.toBe(pair)
    pair = pairOf(moved)
    const found = new Set<number>()
    for (let turn = 0; turn < 4; turn++) {
      found.add(await whoGot(() => postern.call(cart, { headers: [`Cookie: ${pair}`] })))
    }
    expect([...found]).toHaveLength(1)
    expect(found.has(first)).toBe(false)
  })

  test('leaves a target that was ejected', async () => {
    const settings = { outlier: { consecutive5xx: 1, maxEjectedPercent: 50 } }
    const { postern, targets, whoGot } = await startThree({ ...open, sticky: {} }, { settings })
    const bad = targets[1]
    bad?.answerWith((socket) => socket.write('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n'))
    let pair = ''
    for (let turn = 0; turn < 3; turn++) {
      const answer = await postern.call(cart)
      if (answer.status === 500) pair = pairOf(answer)
    }
    expect(pair).not.toBe('')
    expect(await whoGot(() => postern.call(cart, { headers: [`Cookie: ${pair}`] }))).not.toBe(1)
  })
})

describe('sticky by user', () => {
  test('sends every request of a user to one target, without a cookie', async () => {
    const route = { access: 'authenticated', sticky: { by: 'user' } }
    const { postern, counts, whoGot } = await startThree(route)
    const homes: number[] = []
    for (let user = 1; user <= 12; user++) {
      const found = new Set<number>()
      for (let turn = 0; turn < 2; turn++) {
        const token = tokenOf('editor', { identity: user })
        found.add(
          await whoGot(async () => {
            const answer = await postern.call(cart, {
              token,
              headers: [`Cookie: postern-target=${turn}`, `X-User-Id: ${turn}`],
            })
            expect(answer.header('set-cookie')).toBeUndefined()
          }),
        )
      }
      expect(found.size).toBe(1)
      homes.push(...found)
    }
    expect(new Set(homes).size).toBeGreaterThan(1)
    expect(counts().reduce((sum, count) => sum + count)).toBe(24)
  })
})

describe('config check', () => {
  const problemsOf = (route: object) => {
    const read = () =>
      readTestConfig({
        upstreams: { shop: { targets: ['http://127.0.0.1:1'] } },
        routes: [{ path: '/cart', upstream: 'shop', ...route }],
      })
    return expect(read)
  }
  test.each([
    [{ ...open, sticky: { by: 'user' } }, 'routes[0].sticky.by: "user" cannot be used on a public'],
    [
      { sticky: { by: 'user', cookie: 'a' } },
      'routes[0].sticky.cookie has no effect with by: user',
    ],
    [{ sticky: { by: 'user', seconds: 9 } }, 'routes[0].sticky.seconds has no effect with by: use'],
    [{ sticky: { cookie: 'jwt' } }, 'routes[0].sticky.cookie: "jwt" is a cookie of logins'],
    [{ sticky: { cookie: 'JWT' } }, 'routes[0].sticky.cookie: "JWT" is a cookie of logins'],
    [{ sticky: { cookie: 'postern_login_x' } }, 'is a cookie of logins; use another name'],
    [{ sticky: { cookie: '__Host-a' } }, 'has a prefix that browsers reject for this cookie'],
    [{ sticky: { cookie: 'a;b' } }, 'a cookie name such as postern-target'],
    [
      { upstream: undefined, respond: { body: 'a' }, sticky: {} },
      'sticky has no effect with respo',
    ],
  ])('refuses %j', (route, text) => {
    problemsOf(route).toThrow(text)
  })
})
