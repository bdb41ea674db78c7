import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect } from 'vitest'
import { mask } from './mask.ts'
import {
  marked,
  packed,
  type Recorded,
  type Recording,
  unpacked,
  withMarksOf,
} from './recording.ts'

/** What a call answered, by part: `code`, `out`, `body` … */
type Answer = Readonly<Record<string, string | number | undefined>>

export type GoldenMode = 'record' | 'mark' | 'compare'

/** A text above this size is kept by its first lines and its hash. */
const maxCharacters = 4000
const firstLines = 20
const maxCallCharacters = 500
const firstColumns = 200

/**
 * Records what commands print and what the management API answers while tests run, or compares it with
 * an earlier recording: so a change of structure shows that it changes no behavior.
 */
export interface Golden {
  /** Begins a test, also a second try of it. Tests of one file may share a name, and differ in their id. */
  begin(id?: string): void
  /** Ends a test: throws the difference, in mode `compare`. */
  end(): void
  /** Writes the recordings of the test files so far, except in mode `compare`. */
  write(): void
  /** Announces a call, in the order in which the test makes them. Call the result with the answer. */
  call(words: string): (answer: Answer) => void
}

interface Place {
  readonly file: string
  /** Empty in the setup of a file. */
  readonly test: string
}

interface GoldenOptions {
  readonly mode: GoldenMode
  /** Where recordings are. */
  readonly directory: string
  /** What runs now. */
  readonly now?: () => Place
}

export function createGolden({ mode, directory, now: place = nowInVitest }: GoldenOptions): Golden {
  const ids = new Map<string, string[]>()
  let turn = 0
  function now(): Place {
    const { file, test } = place()
    return { file, test: test === '' || turn === 0 ? test : `${test} (${turn + 1})` }
  }

  const files = new Map<string, Map<string, (Recorded | undefined)[]>>()

  function callsOf({ file, test }: Place): (Recorded | undefined)[] {
    const tests = files.get(file) ?? new Map<string, (Recorded | undefined)[]>()
    files.set(file, tests)
    const calls = tests.get(test) ?? []
    tests.set(test, calls)
    return calls
  }

  const pathOf = (file: string) => join(directory, `${file.replace(/\.test\.ts$/, '')}.json`)

  function recordingOf(file: string): Recording {
    const path = pathOf(file)
    if (!existsSync(path)) return {}
    const tests = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Recording)
    return Object.fromEntries(tests.map(([test, calls]) => [test, unpacked(calls)]))
  }

  return {
    begin(id = '') {
      const { file, test } = place()
      const known = ids.get(`${file} ${test}`) ?? []
      if (!known.includes(id)) known.push(id)
      ids.set(`${file} ${test}`, known)
      turn = known.indexOf(id)
      callsOf(now()).length = 0
    },
    call(words) {
      const calls = callsOf(now())
      const at = calls.push(undefined) - 1
      return (answer) => {
        calls[at] = recordedOf(words, answer)
      }
    },
    end() {
      if (mode !== 'compare') return
      const at = now()
      const expected = recordingOf(at.file)[at.test] ?? []
      expect(withMarksOf(expected, answered(callsOf(at)))).toEqual(expected)
    },
    write() {
      if (mode === 'compare') return
      for (const [file, tests] of files) {
        const before = recordingOf(file)
        const after = [...tests].map(([test, calls]) => {
          const found = answered(calls)
          const known = before[test]
          return [test, mode === 'mark' && known ? marked(known, found) : found] as const
        })
        const all = Object.entries({ ...before, ...Object.fromEntries(after) })
        const kept = all.flatMap(([test, calls]) =>
          calls.length === 0 ? [] : [[test, packed(calls)] as const],
        )
        if (kept.length === 0) continue
        kept.sort(([one], [other]) => (one < other ? -1 : 1))
        mkdirSync(dirname(pathOf(file)), { recursive: true })
        writeFileSync(pathOf(file), `${JSON.stringify(Object.fromEntries(kept), null, 1)}\n`)
      }
      files.clear()
    },
  }
}

function nowInVitest(): Place {
  const { testPath = '', currentTestName = '' } = expect.getState()
  return { file: relative(join(import.meta.dirname, '..', '..'), testPath), test: currentTestName }
}

/** Without calls that threw, or that the test did not wait for. */
function answered(calls: readonly (Recorded | undefined)[]): readonly Recorded[] {
  return calls.filter((each) => each !== undefined)
}

function recordedOf(words: string, answer: Answer): Recorded {
  const parts = Object.entries(answer).flatMap(([part, value]) => {
    if (value === undefined || value === '') return []
    return [[part, typeof value === 'number' ? value : linesOf(mask(value))] as const]
  })
  const call = mask(words).slice(0, maxCallCharacters)
  return { call, ...Object.fromEntries(parts) }
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  if (text.length <= maxCharacters) return lines
  const first = lines.slice(0, firstLines).map((line) => line.slice(0, firstColumns))
  return [...first, `… ${text.length} characters, sha256 ${hash('sha256', text)}`]
}
