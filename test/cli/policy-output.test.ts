import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { freePort } from '../support/redis-server.ts'
import { folder, policy } from './policy-runner.ts'

const files = {
  'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
  'policies/policy.csv': 'p, clerk, /orders, GET\n',
}
const revision = 'r-000000000000'

describe('--output json', () => {
  const deny = '- { role: clerk, method: GET, path: /orders, expect: deny }'

  test.each<[string, number, readonly string[], Readonly<Record<string, string>>]>([
    ['check of no directory', 3, ['check', 'nowhere'], {}],
    ['check of a bad row', 3, ['check'], { 'policies/policy.csv': 'p, x' }],
    ['test of no directory', 3, ['test', 'nowhere'], {}],
    ['test of a bad file', 3, ['test'], { 'policies/tests/x_test.yaml': '[[[' }],
    ['explain by a bad policy', 3, ['explain', 'a', 'GET', '/'], { 'policies/model.conf': '' }],
    ['diff with a bad policy', 3, ['diff', 'policies', 'nowhere'], {}],
    ['push of a bad row', 3, ['push', '-m', 'x'], { 'policies/policy.csv': 'p, x' }],
    ['push with a failing test', 4, ['push', '-m', 'x'], { 'policies/tests/x_test.yaml': deny }],
    ['push without Redis', 5, ['push', '--no-tests', '-m', 'x', '--yes'], {}],
    ['pull without Redis', 5, ['pull'], {}],
    ['status without Redis', 5, ['status'], {}],
    ['history without Redis', 5, ['history'], {}],
    ['rollback without Redis', 5, ['rollback', revision, '--yes'], {}],
    ['diff without Redis', 5, ['diff', 'live', 'policies'], {}],
    ['explain without Redis', 5, ['explain', 'a', 'GET', '/', '--revision', 'live'], {}],
    ['import without Redis', 5, ['import', 'redis', 'new'], {}],
  ])('is one document also for a %s', async (_, code, args, changes) => {
    const cwd = await folder({ ...files, ...changes })
    const env = { POSTERN_REDIS__URL: `redis://:hunter2@127.0.0.1:${await freePort()}` }

    const ran = await policy([...args, '--output', 'json'], { cwd, env })

    expect(ran.code).toBe(code)
    expect(JSON.parse(ran.out)).toMatchObject({ ok: false })
    expect(ran.out + ran.err).not.toContain('hunter2')
  })
})

describe('--output junit', () => {
  test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ['no directory', ['nowhere'], {}],
    ['a bad row', [], { 'policies/policy.csv': 'p, "<&' }],
  ])('is a report with an error also for %s', async (_, args, changes) => {
    const cwd = await folder({ ...files, ...changes })

    const { code, out } = await policy(['test', ...args, '--output', 'junit'], { cwd })

    expect(code).toBe(3)
    expect(out).toContain('tests="1" failures="0" errors="1"')
    expect(out).toMatch(/<error message="[^"<]+">[^<]+<\/error>/)
  })
})

describe('arguments', () => {
  test.each([
    [['check', '--bogus'], 'unknown option --bogus'],
    [['check', '--output', 'xml'], '--output: "xml" is not valid, use text, json'],
    [['check', 'a', 'b'], 'too many arguments: expected DIR'],
    [['check', ''], 'argument DIR is empty'],
    [['explain', 'clerk', 'GET'], 'missing argument PATH'],
    [['test', '--min-coverage', ''], '--min-coverage needs a value: --min-coverage PERCENT'],
    [['test', '--min-coverage', '0x64'], '--min-coverage: "0x64" is not a number'],
    [['test', '--coverage', '100'], 'unknown option --coverage; did you mean --min-coverage?'],
    [['push', '-m', 'x', '--tests'], 'unknown option --tests; did you mean --no-tests?'],
    [['test', '--min-coverage', '101'], '"101" is not a number from 0 to 100'],
    [['push', '-m', ' '], '-m is required: give the reason for this change'],
    [['push', '-m', 'x', '--wait', ''], '--wait needs a value: --wait SECONDS'],
    [['rollback', 'nonsense'], 'REVISION: "nonsense" is not a revision'],
    [['rollback', revision, '--wait', '-1'], '--wait'],
    [['history', '--limit', '1e3'], '--limit: "1e3" is not a whole number'],
    [['pull', 'nonsense', 'new'], '"nonsense" is neither "live" nor a revision'],
    [['import', 'redis', 'new', '--table', 'x'], '--table'],
  ])('%j are refused, and the reason comes first', async (args, reason) => {
    const { code, out, err } = await policy(args, { cwd: await folder(files) })

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.split('\n')[0]).toContain(`postern: `)
    expect(err.split('\n')[0]).toContain(reason)
    expect(err).toContain('\nUsage: postern policy')
  })
})

describe('a long answer', () => {
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

  async function piped(reader: string): Promise<{ readonly code: string; readonly out: string }> {
    const rules = Array.from({ length: 2000 }, (_, index) => `p, clerk, /orders/${index}, GET\n`)
    const cwd = await folder({
      ...files,
      'more/model.conf': files['policies/model.conf'],
      'more/policy.csv': rules.join(''),
    })
    const command = `{ "$NODE" "$MAIN" policy diff policies more --output json; echo $? >code; } 2>err | ${reader}`
    const env = { ...process.env, NODE: process.execPath, MAIN: main }
    const { stdout } = await promisify(execFile)('sh', ['-c', command], {
      cwd,
      env,
      maxBuffer: 2e7,
    })
    expect(await readFile(join(cwd, 'err'), 'utf8')).toBe('')
    return { code: (await readFile(join(cwd, 'code'), 'utf8')).trim(), out: stdout }
  }

  test('reaches a slow reader whole', async () => {
    const { code, out } = await piped('{ sleep 1; cat; }')

    expect(code).toBe('1')
    expect(JSON.parse(out).changes.length).toBeGreaterThanOrEqual(2000)
  })

  test('may be left by its reader', async () => {
    expect(await piped('head -n 1')).toEqual({ code: '1', out: '{\n' })
  })
})

describe('what others wrote', () => {
  test('reaches a terminal as text and not as orders', async () => {
    const cwd = await folder({ ...files, 'policies/\u001b[31m.csv': 'p, \u009b2J, /a, get\n' })

    const { err } = await policy(['check'], { cwd })

    expect(err).toContain('\\u{1b}[31m.csv:1:')
    expect(err).toContain('\\u{9b}2J')
    expect(err).not.toMatch(/[\u001b\u009b]/)
  })
})
