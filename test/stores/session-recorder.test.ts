import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSessionRecorder } from '../../src/stores/sessions/session-recorder.ts'
import type { SeenSession, Session, SessionStore } from '../../src/stores/sessions/session-store.ts'
import type { VerifiedToken } from '../../src/token/tokens.ts'
import { until } from '../support/until.ts'

const minute = 60_000
const noon = Date.parse('2030-01-01T12:00:00.000Z')

/** A store in memory that can be made to fail, and what it was asked. */
function setUp() {
  const stored = new Map<string, Session>()
  const asked: string[] = []
  const state = {
    reachable: true,
    servicesReachable: true,
    services: [] as SeenSession[],
    clock: noon,
  }
  async function ask(what: string): Promise<void> {
    asked.push(what)
    if (!state.reachable) throw new Error('unreachable')
  }
  const store: SessionStore = {
    async add(sessions) {
      await ask(`add ${sessions.length}`)
      for (const session of sessions) stored.set(session.id, session)
    },
    async markSeen(seen) {
      await ask(`seen ${seen.length}`)
      for (const { id, seenAt } of seen) {
        const known = stored.get(id)
        if (known !== undefined) stored.set(id, { ...known, seenAt })
      }
    },
    async remove(sessions) {
      await ask(`remove ${sessions.length}`)
      for (const { id } of sessions) stored.delete(id)
    },
    list: async () => [...stored.values()],
  }
  const warnings: unknown[] = []
  const lines: string[] = []
  const recorder = createSessionRecorder({
    store,
    async markServices(seen) {
      if (!state.servicesReachable) throw new Error('no database')
      state.services.push(...seen)
    },
    now: () => state.clock,
    log: {
      info: (_, text) => lines.push(text),
      warn(fields, text) {
        lines.push(text)
        warnings.push([fields, text])
      },
    },
  })
  onTestFinished(recorder.close)
  return { recorder, stored, asked, state, warnings, lines }
}

const login = (id: string, agent = 'curl/8') => ({
  ...{ id, userId: '42', username: 'ann', roleKey: 'clerk', address: '10.0.0.1', agent },
  ...{ issuedAt: noon + 1234, expiresAt: noon + 60 * minute },
})
const token = (id: string, kind: VerifiedToken['kind'] = 'user') =>
  ({ id, kind, userId: '42' }) as VerifiedToken

test('a login is recorded, with its agent cut and its time to the minute', async () => {
  const { recorder, stored } = setUp()

  recorder.opened(login('a', 'x'.repeat(300)))

  await until(() => stored.size === 1)
  expect(stored.get('a')).toEqual({ ...login('a', 'x'.repeat(255)), seenAt: noon })
})

test('logins that come during a write are written together', async () => {
  const { recorder, stored, asked } = setUp()
  for (let at = 0; at < 450; at++) recorder.opened(login(`s${at}`))

  await until(() => stored.size === 450)
  expect(asked.length).toBeLessThan(6)
})

test('a login waits for a store that is unreachable, and the log says so once', async () => {
  const { recorder, stored, state, warnings, asked } = setUp()
  state.reachable = false
  recorder.opened(login('a'))
  await until(() => asked.length >= 2)
  expect(recorder.state().failures).toBeGreaterThanOrEqual(2)

  state.reachable = true
  await until(() => stored.size === 1)
  expect(warnings).toEqual([[{ reason: 'unreachable' }, 'sessions not recorded']])
})

describe('sessions are recorded again', () => {
  const failed = 'sessions not recorded'
  const again = 'sessions recorded again'
  /** Long enough for a write of what was seen, and for the attempts after it. */
  const seenMs = 2 * minute

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('when the store has answered, and not because nothing is left to write', async () => {
    const { recorder, asked, state, lines } = setUp()
    state.reachable = false
    recorder.seen(token('a'))
    await vi.advanceTimersByTimeAsync(seenMs)
    expect([asked, lines]).toEqual([['seen 1'], [failed]])

    state.reachable = true
    recorder.opened(login('b'))
    await vi.advanceTimersByTimeAsync(seenMs)
    expect(lines).toEqual([failed, again])
  })

  test('when the store that failed answers, and not another one', async () => {
    const { recorder, stored, state, lines } = setUp()
    state.servicesReachable = false
    recorder.seen(token('program', 'service'))
    await vi.advanceTimersByTimeAsync(seenMs)
    recorder.opened(login('b'))
    await vi.advanceTimersByTimeAsync(seenMs)
    expect([stored.size, lines]).toEqual([1, [failed]])

    state.servicesReachable = true
    state.clock += 5 * minute
    recorder.seen(token('program', 'service'))
    await vi.advanceTimersByTimeAsync(seenMs)
    expect(lines).toEqual([failed, again])
  })
})

test('an outage keeps so many sessions, and counts the rest', async () => {
  const { recorder, state } = setUp()
  state.reachable = false
  for (let at = 0; at < 10_007; at++) recorder.opened(login(`s${at}`))

  expect(recorder.state().dropped).toBe(7)
})

test('a logout removes the record, also one that is not written yet', async () => {
  const { recorder, stored, state, asked } = setUp()
  recorder.opened(login('a'))
  await until(() => stored.size === 1)
  state.reachable = false
  recorder.opened(login('b'))
  recorder.ended(token('a'))
  recorder.ended(token('b'))
  state.reachable = true

  await until(() => stored.size === 0)
  await until(() => asked.some((one) => one.startsWith('remove')))
  expect([...stored.keys()]).toEqual([])
})

test('requests are stored in one batch, by the minute, at shutdown too', async () => {
  const { recorder, stored, state, asked } = setUp()
  for (const id of ['a', 'b', 'c']) recorder.opened(login(id))
  await until(() => stored.size === 3)
  const tokens = ['a', 'b'].map((id) => token(id))
  state.clock = noon + 5 * minute + 17_000
  for (let request = 0; request < 1000; request++) {
    for (const each of tokens) recorder.seen(each)
  }
  recorder.seen(token('s', 'service'))
  recorder.seen(token('i', 'issuer'))

  expect(asked.filter((one) => one.startsWith('seen'))).toEqual([])
  await recorder.close()

  expect(asked.filter((one) => one.startsWith('seen'))).toEqual(['seen 2'])
  expect([...stored.values()].map(({ seenAt }) => (seenAt - noon) / minute)).toEqual([5, 5, 0])
  expect(state.services).toEqual([{ id: 's', userId: '42', seenAt: noon + 5 * minute }])
})
