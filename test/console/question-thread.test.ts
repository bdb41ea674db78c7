import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Task } from '../../src/console/api/perform.ts'
import { Busy, QuestionThread } from '../../src/console/api/question-thread.ts'
import { createPolicyMemory } from '../../src/operations/policy-memory.ts'
import { compileAt } from '../../src/policy/engine/compile.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { answering } from '../../src/serve/console/answering.ts'
import { consoleFiles } from '../support/console-policy.ts'

const task: Task = {
  ...{ operation: 'version', kind: 'question', given: {}, output: 'json', config: undefined },
  ...{ actor: { kind: 'user', name: 'ann', origin: '192.0.2.1 (console)' }, protectedRoles: [] },
}

describe('the thread for questions', () => {
  test('answers in order, lets 16 wait, and forgets clients that have gone', async () => {
    const thread = new QuestionThread(answering.threadFile, { cwd: '.', env: {} })
    onTestFinished(() => thread.close())
    const gone = new AbortController()
    const staying = new AbortController().signal

    const first = thread.ask(task, staying)
    const left = thread.ask(task, gone.signal).catch((error: unknown) => error)
    const waiting = Array.from({ length: 15 }, () => thread.ask(task, staying))
    await expect(thread.ask(task, staying)).rejects.toBeInstanceOf(Busy)
    gone.abort(new Error('gone'))
    await turn()
    const last = thread.ask(task, staying)

    expect(await left).toEqual(new Error('gone'))
    const answers = await Promise.all([first, ...waiting, last])
    expect(answers.map(({ ending }) => ending)).toEqual(answers.map(() => 'done'))
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ version: expect.any(String) })
  })

  test('starts again after it has ended', async () => {
    const thread = new QuestionThread(answering.threadFile, { cwd: '.', env: {} })
    onTestFinished(() => thread.close())
    const { signal } = new AbortController()

    const lost = await thread.ask({ ...task, operation: 'none' }, signal).catch((error) => error)
    const { ending } = await thread.ask(task, signal)

    expect([lost.part, ending]).toEqual(['policies', 'done'])
  })
})

describe('a question that computes', () => {
  const file = new URL('../support/endless-questions.ts', import.meta.url)
  // Nothing but its client ends it.
  const limits = { longestMs: 1_000_000, goneMs: 0 }

  test('is stopped when its client goes away, and the next one is answered', async () => {
    const thread = new QuestionThread(file, { cwd: '.', env: {} }, limits)
    onTestFinished(() => thread.close())
    const gone = new AbortController()
    const endless = thread.ask({ ...task, operation: 'endless' }, gone.signal)
    const next = thread.ask(task, new AbortController().signal)

    gone.abort(new Error('gone'))

    await expect(endless).rejects.toThrow('gone')
    expect(await next).toEqual({ ending: 'done', body: 'version' })
  })

  test('goes on while the thread changes something', async () => {
    const thread = new QuestionThread(file, { cwd: '.', env: {} }, limits)
    onTestFinished(() => thread.close())
    const gone = new AbortController()
    const endless = thread.ask({ ...task, operation: 'endless' }, gone.signal)
    const change = thread.ask({ ...task, kind: 'change' }, new AbortController().signal)
    const ending = vi.fn()
    void change.then(ending, ending)

    gone.abort(new Error('gone'))
    await endless.catch(() => undefined)
    await sleep(50)

    expect(ending).not.toHaveBeenCalled()
  })
})

describe('the memory of policies', () => {
  const files = ['model.conf', 'policy.csv'].map((name) => ({
    name,
    text: consoleFiles[`policies/${name}` as keyof typeof consoleFiles],
  }))

  test('knows a policy by its files, and not one whose files changed', () => {
    const memory = createPolicyMemory()
    const first = memory.parsed(files, () => parsePolicySet(files))
    const changed = files.map(({ name, text }) => ({ name, text: text.replace('PUT', 'DELETE') }))

    expect(memory.parsed(structuredClone(files), () => parsePolicySet(files))).toBe(first)
    expect(memory.parsed(changed, () => parsePolicySet(changed))).not.toBe(first)
  })

  test('keeps long answers, by all that they depend on', () => {
    const memory = createPolicyMemory()
    const set = parsePolicySet(files)
    const answers: string[] = []
    const ask = (about: object, of = set) =>
      memory.answered(
        ...([of, about] as const),
        () => `answer ${answers.push('')}`,
        ({ length }) => length,
      )

    expect([ask({ host: 'a' }), ask({ host: 'a' })]).toEqual(['answer 1', 'answer 1'])
    expect([ask({ host: 'b' }), ask({ host: 'a' }, parsePolicySet(files))]).toEqual([
      'answer 2',
      'answer 3',
    ])
    for (let nth = 0; nth < 4; nth++) ask({ nth })
    expect(ask({ host: 'a' })).toBe('answer 8')
  })

  test('compiles again when a line has expired', () => {
    const dated = files.map(({ name, text }) => ({
      name,
      text: text.replace('p, lead', '# postern: until 2026-12-01\np, lead'),
    }))
    const set = parsePolicySet(dated)
    const memory = createPolicyMemory()
    const at = (day: string) => {
      const time = Date.parse(`${day}T12:00:00Z`)
      return memory.compiled(set, time, () => compileAt(set, time))
    }

    expect(at('2026-11-02')).toBe(at('2026-11-01'))
    expect(at('2026-12-02')).not.toBe(at('2026-11-01'))
    expect(at('2026-12-02').set.rules).toHaveLength(1)
  })
})
