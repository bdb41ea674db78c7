import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

/** Runs `postern …` as a person does. */
function postern(args: readonly string[], cwd = '.') {
  const { promise, resolve: done } = Promise.withResolvers<{
    code: number
    out: string
    err: string
  }>()
  const env = { PATH: process.env['PATH'] ?? '' }
  const child = execFile(
    process.execPath,
    [resolve('src/main.ts'), ...args],
    { cwd, env },
    (_, out, err) => done({ code: child.exitCode ?? -1, out, err }),
  )
  child.stdin?.end()
  return promise
}

describe('the shipped policies, by the real command', () => {
  test('have nothing that check doubts', async () => {
    const { code, out, err } = await postern(['policy', 'check', '--strict'])

    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^policies: valid, r-[0-9a-f]{32} \(.+, 4 exclusions, 0 warnings\)\n/)
  })

  test('pass their tests, which cover every rule', async () => {
    const { code, out, err } = await postern(['policy', 'test', '--min-coverage', '100'])

    expect(code).toBe(0)
    // They are for more services than the sample.
    expect(err).toMatch(/^note: no route matches \d+ tested paths, .+\n$/)
    expect(out).toMatch(/, 0 failed\ncoverage: 100 % \((\d+)\/\1 rules, 4\/4 exclusions\)\n$/)
  })

  test('are compared with an edit of theirs', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'postern-shipped-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await cp('policies', join(directory, 'new'), { recursive: true })
    await writeFile(join(directory, 'new/more.csv'), 'p, clerk, /api/v1/orders/:id, DELETE\n')

    const { code, out } = await postern(['policy', 'diff', resolve('policies'), 'new'], directory)

    expect(code).toBe(1)
    expect(out).toMatch(
      / {2}\+ {2}clerk {2}DELETE {2}\/api\/v1\/orders\/:id .*\naccess widens: 1 gain /,
    )
  })

  test('explain themselves', async () => {
    const { code, out } = await postern([
      'policy',
      'explain',
      'viewer',
      'DELETE',
      '/api/v1/orders/7',
    ])

    expect(code).toBe(1)
    expect(out).toMatch(/^denied: viewer may not DELETE \/api\/v1\/orders\/7\n/)
  })
})

describe('postern', () => {
  test.each([
    [['policy'], 2],
    [['policy', '--help'], 0],
    [['--help'], 0],
  ])('lists the policy commands for %j, with exit code %d', async (args, code) => {
    const ran = await postern(args)

    expect(ran.code).toBe(code)
    expect(ran.out + ran.err).toContain('validate a policy directory and print warnings')
    expect(code === 0 ? ran.err : ran.out).toBe('')
  })

  test.each([
    [['policy', 'frobnicate'], 'postern policy --help'],
    [['constructor'], 'postern --help'],
    [['policy', 'constructor'], 'postern policy --help'],
  ])('names the list of commands for %j, with exit code 2', async (args, hint) => {
    const { code, out, err } = await postern(args)

    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`unknown command "${args.join(' ')}"\nRun "${hint}"`)
  })

  test('says in one line what is wrong with a directory, and exits with 3', async () => {
    const { code, out, err } = await postern(['policy', 'check', 'docs/nothing'])

    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(/^.*docs\/nothing: cannot be read.*\n$/)
  })
})
