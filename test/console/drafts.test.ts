import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folder } from '../cli/policy-runner.ts'
import { linesOf, recordOf } from '../replay/records.ts'
import { startConsoleApi } from '../support/console-api.ts'
import { consoleFiles } from '../support/console-policy.ts'
import { runCommand } from '../support/run-command.ts'

/** The files of the policy directory, as a page sends them. */
const files = Object.entries(consoleFiles)
  .filter(([name]) => name.startsWith('policies/'))
  .map(([name, text]) => ({ name: name.slice('policies/'.length), text }))

const withText = (name: string, text: string) => [
  ...files.filter((file) => file.name !== name),
  { name, text },
]

describe('a draft', () => {
  test('is checked and tested as the command does it with a directory', async () => {
    const cwd = await folder(consoleFiles)
    const api = await startConsoleApi({ cwd })

    for (const command of ['check', 'test']) {
      const { status, body } = await api.post(`policy/${command}`, { files })
      const { out } = await runCommand(['policy', command, '--output', 'json'], { cwd })
      expect([command, status]).toEqual([command, 200])
      const own = out.replaceAll('policies/', '').replaceAll('"policies"', '"the draft"')
      expect([command, JSON.parse(body)]).toEqual([command, JSON.parse(own)])
    }
  })

  test('has the names of policy files, and no others', async () => {
    const api = await startConsoleApi({ cwd: await folder(consoleFiles) })
    const names = [
      ...['../policy.csv', '/tmp/policy.csv', 'tests/../../a_test.yaml', '.postern/base', '.csv'],
      ...['policy.csv\0', 'policy\0.csv', 'policy.csv/', 'a\\b.csv', 'C:\\a.csv', '%2e%2e/a.csv'],
      ...['tests/a.yaml', 'a.txt', '--help', '-.csv\n', '', 'x'.repeat(5000), 'ｐolicy.csv'],
    ]

    for (const name of names) {
      const { status, body } = await api.post('policy/check', { files: withText(name, 'p') })
      expect([name, status]).toEqual([name, 400])
      expect(JSON.parse(body).errors).toHaveLength(1)
    }
    const others = [
      ...[undefined, null, [], {}, 'policy.csv', Array(101).fill({ name: 'a.csv', text: '' })],
      ...[[null], [{ name: 'a.csv' }], [{ name: 1, text: '' }], [{ name: 'a.csv', text: null }]],
      ...[[{ name: 'a.csv', text: '', mode: 7 }], [...files, ...files]],
    ]
    for (const each of others) {
      expect((await api.post('policy/check', { files: each })).status).toBe(400)
    }
    expect(api.bugs).toEqual([])
  })

  test('is an answer and never a bug, whatever its texts are', async () => {
    const api = await startConsoleApi({ cwd: await folder(consoleFiles) })
    const texts = [
      ...[
        '\0',
        'p, cl\0erk, /orders, GET',
        '\ufeff\ufeffp',
        '\ud800',
        '\r\n\r\n',
        ','.repeat(5000),
      ],
      ...[`p, ${'x'.repeat(100_000)}, /orders, GET`, '"', '<script>alert(1)</script>'],
    ]
    const drafts = [
      ...texts.map((text) => withText('policy.csv', text)),
      ...texts.map((text) => withText('model.conf', text)),
      ...texts.map((text) => withText('exclusions.yaml', text)),
      withText('exclusions.yaml', '- &a [*a, *a]'),
    ]

    for (const draft of drafts) {
      const { status, body } = await api.post('policy/check', { files: draft })
      expect([200, 422]).toContain(status)
      expect(body).not.toMatch(/\/tmp\/|at \w+ \(|Maximum call stack/)
    }
    expect(api.bugs).toEqual([])
  })

  test('that is nested too deeply is one message', async () => {
    const api = await startConsoleApi({ cwd: await folder(consoleFiles) })

    const draft = withText('tests/orders_test.yaml', '['.repeat(20_000))
    const { status, body } = await api.post('policy/check', { files: draft })

    expect(status).toBe(422)
    expect(JSON.parse(body).errors).toEqual([
      {
        file: 'tests/orders_test.yaml',
        line: 1,
        message: 'lists or mappings are nested too deeply: remove the inner ones',
      },
    ])
  })

  test('may be proposed over a revision only', async () => {
    const api = await startConsoleApi({ cwd: await folder(consoleFiles) })
    const message = 'why'

    for (const over of [undefined, '', 'r-1', 'HEAD', '../r-000000000000', 'live\n', 7, ['live']]) {
      const { status } = await api.post('policy/propose', { files, message, over })
      expect([over, status]).toEqual([over, 400])
    }
    // Options that name files or accept risks that nobody sees in a proposal.
    for (const option of [
      'key',
      'replay',
      'author',
      'allow-slow',
      'allow-empty',
      'config',
      'dir',
    ]) {
      const body = { files, message, over: 'live', [option]: 'x' }
      expect([option, (await api.post('policy/propose', body)).status]).toEqual([option, 400])
    }
    const { status, body } = await api.post('policy/propose', { files, message, over: 'live' })
    expect([status, body]).toEqual([422, expect.stringContaining('redis.url is required')])
  })
})

describe('a replay of a draft', () => {
  const now = Date.now()
  const record = (hours: number, path: string) =>
    recordOf({ timestamp: new Date(now - hours * 3_600_000).toISOString(), path })

  test('is about the last hours of the log of the configuration', async () => {
    const config = `${consoleFiles['config/postern.yaml']}logger: { decisions: { file: ../decisions.jsonl } }\n`
    const cwd = await folder({ ...consoleFiles, 'config/postern.yaml': config })
    await writeFile(
      join(cwd, 'decisions.jsonl'),
      linesOf(
        record(30, '/orders'),
        record(2, '/orders'),
        record(1, '/orders'),
        record(1, '/gone'),
      ),
    )
    const api = await startConsoleApi({ cwd })
    const asked = async (since: string) => {
      const { body } = await api.post('policy/replay', { files, since })
      const { policies, decisions, unchanged, wouldDeny } = JSON.parse(body)
      return { policies, decisions, unchanged, wouldDeny }
    }

    const policies = 'the draft'
    expect(await asked('6h')).toEqual({ policies, decisions: 3, unchanged: 2, wouldDeny: 1 })
    expect(await asked('7d')).toEqual({ policies, decisions: 4, unchanged: 3, wouldDeny: 1 })
    const none = await api.post('policy/replay', { files, since: '5m' })
    expect([none.status, JSON.parse(none.body).decisions]).toEqual([503, 0])
    const terminal = await runCommand(['policy', 'replay', '--since', '6h'], { cwd })
    expect(terminal.out).toContain('asked 3 of 3 decisions')
  })

  test('reads no file that a caller names', async () => {
    const api = await startConsoleApi({ cwd: await folder(consoleFiles) })

    for (const name of ['file', 'FILE', 'policies', 'config', 'fail-on']) {
      const { status } = await api.post('policy/replay', { files, [name]: '/etc/passwd' })
      expect([name, status]).toEqual([name, 400])
    }
    const { status, body } = await api.post('policy/replay', { files })
    expect([status, JSON.parse(body).errors[0].message]).toEqual([
      400,
      'missing argument FILE: name decision logs, or set logger.decisions.file in the configuration',
    ])
  })
})
