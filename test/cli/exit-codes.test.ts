import { describe, expect, test } from 'vitest'
import type { CommandSpec } from '../../src/cli/command.ts'
import { allCommands } from '../../src/cli/commands/overview.ts'
import { command } from '../../src/cli/commands/run-command.ts'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import type { Io } from '../../src/cli/io.ts'
import { Fault, Invalid } from '../../src/kernel/errors.ts'
import { decline } from '../../src/operations/declined.ts'

const spec = {
  name: 'probe',
  summary: 'ask a store',
  arguments: [],
  options: {},
  exitCodes: { 0: 'done', 5: 'the store is unreachable' },
  examples: [],
} as const satisfies CommandSpec

function ioWith(errors: string[]): Io {
  const err = (text: string) => void errors.push(text)
  return { out: () => {}, err, env: {}, cwd: '.', readStdin: async () => '' }
}

const fault = new Fault('redis', { reason: 'Redis does not answer' })

describe('the exit code of a command', () => {
  test.each<[string, number, unknown]>([
    ['a refusal', exitCodes.no, undefined],
    ['an invalid file', exitCodes.invalid, new Invalid([{ file: 'x', message: 'is bad' }])],
    ['a store that is unreachable', exitCodes.unavailable, fault],
    ['a bug', exitCodes.bug, new TypeError('x is not a function')],
  ])('is its own for %s', async (_, code, error) => {
    const errors: string[] = []
    const { run } = command(spec, async () => async () => {
      if (error === undefined) return decline('refused: no')
      throw error
    })

    expect(await run([], ioWith(errors))).toBe(code)
    expect(errors).toHaveLength(1)
  })

  test('stays 1 for a fault of a command that documents no 5, such as serve', async () => {
    const { run } = command({ ...spec, exitCodes: { 0: 'stopped' } }, async () => async () => {
      throw fault
    })

    expect(await run([], ioWith([]))).toBe(1)
  })

  test('is documented: every code of every command is in the table', async () => {
    const known = new Set<number>(Object.values(exitCodes))
    for (const { name, exitCodes: own } of await allCommands()) {
      const unknown = Object.keys(own).filter((code) => !known.has(Number(code)))
      expect({ name, unknown }).toEqual({ name, unknown: [] })
      expect(own).toHaveProperty('0')
    }
  })
})
