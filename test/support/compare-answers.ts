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

      expect([typed, headers.get('postern-exit-code'), body]).toEqual([typed, String(code), out])
      expect([typed, status]).toEqual([typed, [200, 200, 400, 422, 200, 503][code]])
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    }
  }
  expect(api.bugs).toEqual([])
}
