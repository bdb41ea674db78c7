import { readdirSync, readFileSync } from 'node:fs'
import { platform } from 'node:os'
import bcrypt from 'bcrypt'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHashingThreads } from '../../src/login/hashing-threads.ts'

const password = Buffer.from('right')
const hash = bcrypt.hashSync('right', 4)

function threads() {
  const created = createHashingThreads()
  onTestFinished(created.close)
  return created
}

/** The nice values of all threads of this process, the main one first: its thread ID is the process ID. */
function niceness(): number[] {
  const tasks = readdirSync('/proc/self/task')
  const mainFirst = [String(process.pid), ...tasks.filter((task) => task !== String(process.pid))]
  return mainFirst.map((task) => {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}

describe('threads for passwords', () => {
  test('tell a right password from a wrong one', async () => {
    const { compare } = threads()

    expect(await compare({ password, hash })).toBe(true)
    expect(await compare({ password: Buffer.from('wrong'), hash })).toBe(false)
  })

  test('yield to every other thread, where the system can tell them apart', async () => {
    const before = platform() === 'linux' ? niceness() : []

    await threads().compare({ password, hash })

    const after = platform() === 'linux' ? niceness() : []
    const [main = 0] = before
    const lowered = (all: readonly number[]) =>
      all.filter((nice) => nice === Math.max(main, 10)).length
    expect(after[0] ?? 0).toBe(main)
    // Other files of this process may have left threads of their own.
    expect(lowered(after) - lowered(before)).toBe(platform() === 'linux' ? 1 : 0)
  })

  test('that die over a password are a fault, and are replaced', async () => {
    const { compare } = threads()

    await expect(compare({ password, hash: 5 as never })).rejects.toMatchObject({
      ...{ name: 'Fault', part: 'password-check' },
    })

    expect(await compare({ password, hash })).toBe(true)
  })

  test('give their answers to whom they belong', async () => {
    const { compare } = threads()
    const asked = Array.from({ length: 8 }, (_, at) => at % 2 === 0)

    const answers = await Promise.all(
      asked.map((right) => compare({ password: Buffer.from(right ? 'right' : 'wrong'), hash })),
    )

    expect(answers).toEqual(asked)
  })

  test('end when they are closed, also in the middle of a password', async () => {
    const created = createHashingThreads()
    const asked = created.compare({ password, hash: bcrypt.hashSync('right', 12) })
    const outcome = asked.then(
      () => 'answered',
      (error: Error) => error.name,
    )

    await created.close()

    expect(await outcome).toMatch(/^(?:answered|Fault)$/)
  })
})
