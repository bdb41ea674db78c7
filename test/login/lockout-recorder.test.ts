import { Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/log/log.ts'
import type { LockoutRecord, LockoutRecords } from '../../src/login/lockouts/lockout.ts'
import { createLockoutRecorder } from '../../src/login/lockouts/lockout-recorder.ts'
import { until } from '../support/until.ts'

function began(key: string, lockoutMs = 60_000) {
  return { kind: 'account', name: 'admin', key, lockoutMs, attempts: 5 } as const
}

function recorder(records: LockoutRecords, { now }: { now?: () => number } = {}) {
  const lines: string[] = []
  const forgotten: string[] = []
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)).msg)
      done()
    },
  })
  const created = createLockoutRecorder({
    ...{ records, sealKey: () => 'secret', log: createLog('info', sink), pollMs: 5 },
    forget: (key) => void forgotten.push(key),
    ...(now && { now }),
  })
  onTestFinished(() => created.close(1000))
  return { ...created, lines, forgotten }
}

describe('recording lock-outs', () => {
  test('writes each one once, at once', async () => {
    const added: LockoutRecord[] = []
    const { began: begin } = recorder({ add: async (records) => void added.push(...records) })

    begin(began('a'))
    begin(began('b'))

    await until(() => added.length === 2)
    expect(added.map(({ key, kind }) => [key, kind])).toEqual([
      ['a', 'account'],
      ['b', 'account'],
    ])
    expect(added[0]?.leftMs).toBeGreaterThan(50_000)
  })

  test('neither throws nor waits while the store fails, and retries', async () => {
    let isDown = true
    const added: string[] = []
    const { began: begin, lines } = recorder({
      async add(records) {
        if (isDown) throw new Error('down')
        added.push(...records.map(({ key }) => key))
      },
    })
    for (let at = 0; at < 1500; at++) begin(began(`key ${at}`))
    await until(() => lines.length === 1)

    isDown = false
    await until(() => added.length === 1000)

    expect(added[0]).toBe('key 500')
    await until(() => lines.length === 2)
    expect(lines).toEqual([
      'login lock-outs not recorded: operators cannot list or end them',
      'login lock-outs are recorded again',
    ])
  })

  test('forgets to record what has ended meanwhile', async () => {
    let time = 0
    let isDown = true
    const added: string[] = []
    const records = {
      async add(given: readonly LockoutRecord[]) {
        if (isDown) throw new Error('down')
        added.push(...given.map(({ key }) => key))
      },
    }
    const { began: begin, lines } = recorder(records, { now: () => time })
    begin(began('short', 1000))
    begin(began('long'))
    await until(() => lines.length === 1)

    time = 2000
    isDown = false

    await until(() => added.length > 0)
    expect(added).toEqual(['long'])
  })

  test('says that they are recorded again when the store has answered only', async () => {
    let time = 0
    let isDown = true
    const asked: string[] = []
    const records = {
      async add([first]: readonly LockoutRecord[]) {
        asked.push(first?.key ?? '')
        if (isDown) throw new Error('down')
      },
    }
    const { began: begin, lines } = recorder(records, { now: () => time })
    begin(began('short', 1000))
    await until(() => lines.length === 1)
    time = 2000
    // Several attempts later there is nothing left to ask the store.
    await new Promise((resolve) => setTimeout(resolve, 100))
    begin(began('long'))
    await until(() => asked.includes('long'))
    expect(lines.length).toBe(1)

    isDown = false
    await until(() => lines.length === 2)
    expect(lines[1]).toBe('login lock-outs are recorded again')
  })

  test('asks for ended ones only while something is locked out', async () => {
    let time = 0
    let asked = 0
    const ended: string[] = []
    const { began: begin, forgotten } = recorder(
      {
        add: async () => {},
        async takeCleared(forget) {
          asked++
          for (const key of ended.splice(0)) forget(key)
        },
      },
      { now: () => time },
    )
    begin(began('a'))
    begin(began('b', 1000))
    await until(() => asked > 3)

    ended.push('a')
    await until(() => forgotten.length === 1)
    time = 2000
    // The last round may be under way.
    await until(async () => {
      const before = asked
      await new Promise((resolve) => setTimeout(resolve, 50))
      return asked === before
    })

    expect(forgotten).toEqual(['a'])
    begin(began('c'))
    const before = asked
    await until(() => asked > before)
  })

  test('removes its records when it closes, and waits for no store that hangs', async () => {
    let left = 0
    const good = recorder({ add: async () => {}, leave: async () => void left++ })
    const unused = recorder({ add: async () => {}, leave: async () => void left++ })
    const hanging = recorder({ add: () => new Promise(() => {}) })
    good.began(began('a'))
    hanging.began(began('a'))

    await Promise.all([good.close(10_000), unused.close(10_000), hanging.close(10)])

    expect(left).toBe(1)
  })
})
