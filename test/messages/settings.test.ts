import { expect, test } from 'vitest'
import { Invalid } from '../../src/kernel/errors.ts'
import { readTestConfig } from '../support/test-config.ts'

function problemsOf(refusals: object): readonly string[] {
  try {
    readTestConfig({ refusals })
    return []
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.problems.map(({ message }) => message)
  }
}

test.each([
  [{ status: 'reel' }, 'must be one of envelope, real, not "reel"; did you mean real?'],
  [
    { language: 'de' },
    '"de" has no texts (languages: en, zh); add its texts under refusals.messages',
  ],
  [
    { messages: { de: { 'token-mising': 'x' } } },
    '"token-mising" is not a kind of message; did you mean token-missing?',
  ],
  [
    { messages: { de: { elephant: 'x' } } },
    '"elephant" is not a kind of message; docs/refusals.md#refusals lists them all',
  ],
  [
    { messages: { de: { bug: ' ' } } },
    'refusals.messages.de.bug: " " is not valid; use text with at least one visible character',
  ],
  [
    { messages: { de: { bug: 'x'.repeat(501) } } },
    'refusals.messages.de.bug: must be 1 to 500 characters long',
  ],
  [
    { messages: { de_AT: {} } },
    'refusals.messages.de_AT: use a language tag such as zh, en or pt-BR',
  ],
  [
    { messages: { 'de-AT': {}, 'de-at': {} } },
    'refusals.messages.de-at is the same language as de-AT',
  ],
])('refused settings: case %#', (refusals, problem) => {
  expect(problemsOf(refusals).join('\n')).toContain(problem)
})

test('texts of every kind and language are accepted', () => {
  const messages = { en: { bug: 'oh' }, 'pt-BR': { 'logged-out': 'até logo', database: 'depois' } }

  expect(problemsOf({ status: 'real', language: 'pt-br', messages })).toEqual([])
  expect(problemsOf({ language: 'zh-CN' })).toEqual([])
})
