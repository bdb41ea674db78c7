import { describe, expect, test } from 'vitest'
import type { Io } from '../../src/cli/io.ts'
import { createProgress } from '../../src/cli/process-io.ts'
import { percentOf } from '../../src/operations/progress.ts'

function shownAt(times: readonly number[], isTerminal: boolean) {
  const shown: string[] = []
  const io: Io = {
    ...{ out: () => {}, err: (text) => shown.push(text), env: {}, cwd: '.', isTerminal },
    readStdin: async () => '',
  }
  let at = 0
  const progress = createProgress(io, () => at)
  for (const time of times) {
    at = time
    progress.show(() => percentOf('testing')(time, 10_000))
  }
  progress.end()
  return shown
}

describe('the progress of a command', () => {
  test('is shown after a second, not too often, and taken away at the end', () => {
    expect(shownAt([0, 999, 1000, 1050, 1100], true)).toEqual([
      '\r\u001b[Ktesting: 10 %',
      '\r\u001b[Ktesting: 11 %',
      '\r\u001b[K',
    ])
  })

  test.each([
    ['within the first second', [0, 500, 999], true],
    ['without a terminal', [1000, 5000], false],
  ])('is not shown %s', (_, times, isTerminal) => {
    expect(shownAt(times, isTerminal)).toEqual([])
  })
})
