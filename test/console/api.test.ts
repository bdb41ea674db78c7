import { describe, expect, test } from 'vitest'
import { calls } from '../../src/operations/offered/offered.ts'
import { folder } from '../cli/policy-runner.ts'
import { compareAnswers } from '../support/compare-answers.ts'
import { startConsoleApi } from '../support/console-api.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { questions } from '../support/console-questions.ts'
import { runCommand } from '../support/run-command.ts'

describe('the management API', () => {
  test('answers as the commands do, and hands over all that they show', async () => {
    const cwd = await folder(consoleFiles)
    const api = await startConsoleApi({ cwd })
    expect(Object.keys(questions).toSorted()).toEqual(
      calls
        .flatMap(({ kind, operation: { name } }) => (kind === 'question' ? [name] : []))
        .toSorted(),
    )

    // All others are in test/long.
    const quick = ['version', 'config check', 'policy who', 'policy can']
    await compareAnswers(api, cwd, (command) => quick.includes(command))

    const accept = 'application/vnd.postern.answered+json'

    const { body } = await api.get('policy/who', { query: '?method=get&path=orders', accept })
    const whole = JSON.parse(body)

    const { out } = await runCommand('policy who get orders --output json'.split(' '), { cwd })
    const { document } = whole.answer
    expect(document).toEqual(JSON.parse(out))
    const { err } = await runCommand(['policy', 'who', 'get', 'orders'], { cwd })
    for (const note of document.notes) expect(err).toContain(note)
    expect(document.notes).not.toEqual([])
    const wrong = await api.get('policy/who', {
      query: '?method=GET&path=/x&revision=../secrets',
    })
    expect([wrong.status, JSON.parse(wrong.body).errors[0].message]).toEqual([
      400,
      'revision: "../secrets" is not a revision: write live, or at least 12 digits of one, such as r-3f2a9c81d604',
    ])
  })

  test('says what is wrong with a call, and what was meant', async () => {
    const api = await startConsoleApi({ cwd: await folder(consoleFiles) })
    const answers = {
      '?method=GET&path=/x&acounts=true': 'unknown parameter "acounts"; did you mean accounts?',
      '?method=GET':
        'path is missing: request path, or https://HOST/PATH; a query string is ignored',
      '?method=GET&path=/x&path=/y': 'path must be text, given once',
      '?method=GET&path=': 'path must not be empty',
      '?method=GET&path=/x&accounts=yes': 'accounts must be true or false',
      '?method=GET&path=/x&output=html': 'output must be one of json, csv, text',
      '?method=GET&path=/x%00': 'path must not have control characters',
      '?method=GET&path=/x&config=other.yaml': 'unknown parameter "config"',
      '?method=GET&path=/x&policies=/etc': 'unknown parameter "policies"',
    }

    for (const [query, message] of Object.entries(answers)) {
      const { status, headers, body } = await api.get('policy/who', { query })
      expect([query, status, JSON.parse(body)]).toEqual([
        query,
        400,
        {
          ...{ type: 'urn:postern:problem:invalid-request', title: 'Bad Request' },
          ...{ status: 400, detail: message, ok: false, errors: [{ message }] },
        },
      ])
      expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    }
  })

  test('takes directories and commits from the command line only', async () => {
    const api = await startConsoleApi({ cwd: await folder(consoleFiles) })

    for (const from of ['policies', 'git:HEAD', './live', '/etc', 'live\n', 'r-12']) {
      const query = `?from=${encodeURIComponent(from)}`
      const { status, body } = await api.get('policy/diff', { query })
      expect([from, status]).toEqual([from, 400])
      expect(body).toContain('must be live or a revision')
    }
  })
})
