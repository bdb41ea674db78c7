import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import { createLoginLog, onlyRecorded } from '../../src/login/login-log.ts'
import type { LoginRecord } from '../../src/login/login-record.ts'

const log = createLog('silent', { write: () => {} })
const now = () => new Date(0)
const from = { address: '127.0.0.1', userAgent: 'test' }

/** A store that fails as often as it is told to, then keeps what it gets. */
function createStore(failures = 0) {
  const batches: string[][] = []
  let left = failures
  return {
    batches,
    names: () => batches.flat(),
    async insert(records: readonly LoginRecord[]) {
      if (left-- > 0) throw new Error('away')
      batches.push(records.map(({ username }) => username))
      return { written: records.length, refused: [] }
    },
  }
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`)

describe('the login log', () => {
  test('writes records in their order, in batches', async () => {
    const store = createStore()
    const loginLog = createLoginLog({ insert: store.insert, log, now })

    for (const name of names(250)) loginLog.record(from, name, 'logged-in')
    await loginLog.close(2000)

    expect(store.names()).toEqual(names(250))
    expect(store.batches.length).toBeLessThan(10)
  })

  test('tries a failed batch again, whole and in order', async () => {
    const store = createStore(2)
    const loginLog = createLoginLog({ insert: store.insert, log, now })

    for (const name of names(30)) loginLog.record(from, name, 'wrong-credentials')
    await loginLog.close(5000)

    expect(store.names()).toEqual(names(30))
    expect(loginLog.state().dropped).toBe(0)
  })

  test('drops the oldest when its memory is full, and counts them', async () => {
    const store = createStore(1)
    const loginLog = createLoginLog({ insert: store.insert, log, now, capacity: 10 })

    for (const name of names(25)) loginLog.record(from, name, 'logged-in')
    await loginLog.close(5000)

    expect(loginLog.state().dropped).toBe(15)
    expect(store.names()).toEqual(names(25).slice(15))
  })

  test('writes what comes while it is writing', async () => {
    const store = createStore()
    const loginLog = createLoginLog({
      async insert(records) {
        await pause(5)
        return store.insert(records)
      },
      log,
      now,
    })

    for (const name of names(20)) {
      loginLog.record(from, name, 'logged-in')
      await pause(1)
    }
    await loginLog.close(2000)

    expect(store.names()).toEqual(names(20))
  })

  test('gives up at its deadline when the store stays away', async () => {
    const loginLog = createLoginLog({
      insert: () => Promise.reject(new Error('away')),
      log,
      now,
    })

    loginLog.record(from, 'ann', 'logged-in')

    await expect(loginLog.close(50)).resolves.toBeUndefined()
  })

  test('leaves nothing behind that would keep the process, once it has given up', async () => {
    let attempts = 0
    const loginLog = createLoginLog({
      async insert() {
        attempts++
        throw new Error('away')
      },
      log,
      now,
    })
    loginLog.record(from, 'ann', 'logged-in')
    await loginLog.close(50)
    await pause(50)
    const before = attempts

    await pause(600)

    expect(attempts).toBe(before)
  })

  test('goes on past a record that the store refuses, and counts it', async () => {
    const store = createStore()
    const loginLog = createLoginLog({
      async insert(records) {
        await store.insert(records)
        const refused = records.filter(({ username }) => username === 'user-3')
        return {
          written: records.length - refused.length,
          refused: refused.map((record) => ({ record, reason: '22001' })),
        }
      },
      log,
      now,
    })

    for (const name of names(120)) loginLog.record(from, name, 'logged-in')
    await loginLog.close(2000)

    expect(loginLog.state()).toEqual({
      ...{ queued: 0, written: 119, dropped: 0, refused: 1, retried: 0 },
    })
  })

  test('has no room left when it is nearly full, and then begins no login that needs it', async () => {
    const loginLog = createLoginLog({
      insert: () => Promise.reject(new Error('away')),
      log,
      now,
      capacity: 10,
    })
    const login = onlyRecorded(async (name: string) => name, loginLog)
    await expect(login('early')).resolves.toBe('early')

    for (const name of names(9)) loginLog.record(from, name, 'logged-in')

    await expect(login('late')).rejects.toMatchObject({ name: 'Fault', part: 'database' })
    await loginLog.close(0)
    expect(loginLog.state().dropped).toBe(0)
  })

  test('keeps of a user agent only what a row could need', async () => {
    const lengths: number[] = []
    const loginLog = createLoginLog({
      async insert(records) {
        lengths.push(...records.map(({ userAgent }) => userAgent.length))
        return { written: records.length, refused: [] }
      },
      log,
      now,
    })

    loginLog.record({ ...from, userAgent: 'x'.repeat(16_384) }, 'ann', 'logged-in')
    await loginLog.close(2000)

    expect(lengths).toEqual([512])
  })

  test('gives every record its own attempt id', async () => {
    const ids: string[] = []
    const loginLog = createLoginLog({
      async insert(records) {
        ids.push(...records.map(({ attemptId }) => attemptId))
        return { written: records.length, refused: [] }
      },
      log,
      now,
    })

    for (const name of names(50)) loginLog.record(from, name, 'logged-in')
    await loginLog.close(2000)

    expect(new Set(ids).size).toBe(50)
  })
})
