import { expect } from 'vitest'
import type { ConsoleApi } from './console-api.ts'
import { questions } from './console-questions.ts'
import { runCommand } from './run-command.ts'

/** Asks the API each question, runs the command beside it, and compares what both say. */
export async function compareAnswers(
  api: ConsoleApi,
  cwd: string,
  isWanted: (command: string) => boolean = () => true,
): Promise<void> {
  for (const [command, asked] of Object.entries(questions)) {
    if (!isWanted(command)) continue
    for (const [query, typed] of asked) {
      const path = command.replaceAll(' ', '/')
      const { status, headers, body } = await api.get(path, { query })
      const [words, rest] = typed.split(' -- ')
      const tail = rest === undefined ? [] : ['--', rest]
      const argv = [...(words ?? '').split(' '), '--output', 'json', ...tail]
      const { code, out } = await runCommand(argv, { cwd })

      expect([typed, headers.get('postern-exit-code')]).toEqual([typed, String(code)])
      expect([typed, status]).toEqual([typed, [200, 200, 400, 422, 200, 503][code]])
      if (status === 200) expect([typed, body]).toEqual([typed, out])
      else {
        expect(JSON.parse(body)).toEqual({ ...JSON.parse(out), ...problemOf(status) })
      }
      expect(headers.get('content-type')).toBe(
        `application/${status === 200 ? '' : 'problem+'}json; charset=utf-8`,
      )
    }
  }
  expect(api.bugs).toEqual([])
}

/** The members of an error that RFC 9457 names. */
function problemOf(status: number): object {
  return {
    type: expect.stringMatching(/^urn:postern:problem:[a-z-]+$/),
    title: expect.any(String),
    status,
    detail: expect.stringMatching(/^.+$/),
  }
}
