import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folder, policy } from './policy-runner.ts'

const files = {
  'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
  'policies/policy.csv': 'p, clerk, /orders, GET\n',
}

const isRoot = process.getuid?.() === 0
if (isRoot) console.log('left out: a policy file without permission: root may read every file')

describe('a policy directory that cannot be read', () => {
  test.each<[string, string, (cwd: string) => Promise<unknown>]>([
    ['a pipe', 'x.csv: is not a regular file', async (cwd) => pipe(cwd, 'policies/x.csv')],
    [
      'a device',
      'policies/x.csv: is a link that leaves the policy directory',
      (cwd) => link(cwd, '/dev/zero', 'policies/x.csv'),
    ],
    [
      'a link to itself',
      'x.csv: cannot be read (ELOOP)',
      (cwd) => link(cwd, 'x.csv', 'policies/x.csv'),
    ],
    [
      'a link to nothing',
      'x.csv: cannot be read (ENOENT)',
      (cwd) => link(cwd, 'y', 'policies/x.csv'),
    ],
    [
      'a directory in place of a table',
      'policies/x.csv: is a directory: a file is expected here',
      (cwd) => mkdir(join(cwd, 'policies/x.csv')),
    ],
    [
      'a link to a file outside',
      'policies/x.csv: is a link that leaves the policy directory: replace it with a copy',
      async (cwd) => {
        await writeFile(join(cwd, 'secret'), 'root:hunter2\n')
        await link(cwd, '../secret', 'policies/x.csv')
      },
    ],
    [
      'a link to a link to a file outside',
      'policies/x.csv: is a link that leaves the policy directory',
      async (cwd) => {
        await link(cwd, '/etc/passwd', 'policies/.hidden')
        await link(cwd, '.hidden', 'policies/x.csv')
      },
    ],
    [
      'a neighbor whose name starts the same',
      'policies/x.csv: is a link that leaves the policy directory',
      async (cwd) => {
        await mkdir(join(cwd, 'policies-old'))
        await writeFile(join(cwd, 'policies-old/x.csv'), 'root:hunter2\n')
        await link(cwd, '../policies-old/x.csv', 'policies/x.csv')
      },
    ],
    [
      'tests that lie elsewhere',
      'policies/tests: is a link that leaves the policy directory',
      async (cwd) => {
        await rm(join(cwd, 'policies/tests'), { recursive: true })
        await mkdir(join(cwd, 'elsewhere'))
        await writeFile(join(cwd, 'elsewhere/a_test.yaml'), 'root:hunter2\n')
        await link(cwd, '../elsewhere', 'policies/tests')
      },
    ],
    [
      'a test that lies elsewhere',
      'policies/tests/a_test.yaml: is a link that leaves the policy directory',
      (cwd) => link(cwd, '/etc/passwd', 'policies/tests/a_test.yaml'),
    ],
    [
      'a link to tests that are gone',
      'policies/tests: cannot be read (ENOENT)',
      async (cwd) => {
        await rm(join(cwd, 'policies/tests'), { recursive: true })
        await link(cwd, 'gone', 'policies/tests')
      },
    ],
    [
      'a table that is too large',
      'policies/y.csv: is too large: the limit is 256 MiB for all *.csv files together',
      async (cwd) => {
        await writeFile(join(cwd, 'policies/x.csv'), '#\n')
        await sparse(cwd, 'policies/y.csv', 256 * 2 ** 20)
      },
    ],
    [
      'a list that is too large',
      'policies/exclusions.yaml: is too large: the limit is 16 MiB',
      (cwd) => sparse(cwd, 'policies/exclusions.yaml', 16 * 2 ** 20 + 1),
    ],
    ['a file that is not UTF-8', 'x.csv: is not UTF-8', (cwd) => latin1(cwd, 'policies/x.csv')],
    [
      'a test that is a pipe',
      'x_test.yaml: is not a regular file',
      (cwd) => pipe(cwd, 'policies/tests/x_test.yaml'),
    ],
    [
      'a test that is not UTF-8',
      'x_test.yaml: is not UTF-8',
      (cwd) => latin1(cwd, 'policies/tests/x_test.yaml'),
    ],
    [
      'a test that is a directory',
      'x_test.yaml: is a directory: a file is expected here',
      (cwd) => mkdir(join(cwd, 'policies/tests/x_test.yaml')),
    ],
  ])('for %s is refused by name', async (_, message, spoil) => {
    const cwd = await folder({ ...files, 'policies/tests/notes.txt': '' })
    await spoil(cwd)

    const { code, err } = await policy(['check'], { cwd })

    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining(message) })
    expect(err.split('\n')).toHaveLength(2)
    expect(err).not.toMatch(/hunter2|root:/)
  })

  test.skipIf(isRoot)('for a file without permission is refused', async () => {
    const cwd = await folder({ ...files, 'policies/x.csv': '' })
    await chmod(join(cwd, 'policies/x.csv'), 0)

    const { code, err } = await policy(['check'], { cwd })

    expect({ code, err }).toEqual({ code: 3, err: 'policies/x.csv: cannot be read (EACCES)\n' })
  })

  test('may contain links that stay inside it, and be a link itself', async () => {
    const cwd = await folder({
      'real/..2026/model.conf': files['policies/model.conf'],
      'real/..2026/policy.csv': files['policies/policy.csv'],
      'real/..2026/tests/a_test.yaml':
        '- { role: clerk, method: GET, path: /orders, expect: allow }',
    })
    await link(cwd, '..2026', 'real/..data')
    for (const name of ['model.conf', 'policy.csv', 'tests']) {
      await link(cwd, join('..data', name), join('real', name))
    }
    await link(cwd, 'real', 'policies')

    const { code, out, err } = await policy(['test'], { cwd })

    expect({ code, err }).toMatchObject({ code: 0 })
    expect(out).toContain('1 passed')
  })

  test('is refused for a line that is too long, without printing it', async () => {
    const cwd = await folder({
      ...files,
      'policies/x.csv': `p, clerk, /${'x,'.repeat(1e6)}, GET\n`,
    })

    const { code, err } = await policy(['check'], { cwd })

    expect({ code, err }).toEqual({
      code: 3,
      err: 'policies/x.csv:1: error: the line has 2,000,016 characters; at most 16,384 are allowed: end each rule with a line break\n',
    })
  })

  test('for a file in place of the tests is refused by name', async () => {
    const cwd = await folder({ ...files, 'policies/tests': '' })

    const { code, err } = await policy(['check'], { cwd })

    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringMatching(/tests: cannot be read as a directory/),
    })
  })
})

describe('what lies in a policy directory and is not read', () => {
  test('is warned of when it looks like a part of the policy', async () => {
    const cwd = await folder({
      ...files,
      'policies/more/deny.csv': 'p, clerk, /orders, PUT\n',
      'policies/tests/old/orders_test.yaml': '[]',
      'policies/tests/orders.yaml': '[]',
      'policies/notes/why.md': '',
    })

    const { code, err } = await policy(['check', '--strict'], { cwd })

    expect(code).toBe(3)
    expect(err.match(/^.*(?=: warning: ignored)/gm)).toEqual([
      'policies/more',
      'policies/tests/old',
      'policies/tests/orders.yaml',
    ])
  })

  test('is a README only when it is no table', async () => {
    const cwd = await folder({
      ...files,
      'policies/README': 'x',
      'policies/README-x.csv': 'p, x\n',
    })

    const { code, err } = await policy(['check'], { cwd })

    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('README-x.csv:1:') })
  })
})

/** Takes no space on the disk. */
async function sparse(cwd: string, name: string, bytes: number): Promise<void> {
  await writeFile(join(cwd, name), '')
  await truncate(join(cwd, name), bytes)
}

async function pipe(cwd: string, name: string): Promise<void> {
  execFileSync('mkfifo', [join(cwd, name)])
}

function link(cwd: string, target: string, name: string): Promise<void> {
  return symlink(target, join(cwd, name))
}

/** Two roles that would be one if the odd bytes were replaced. */
function latin1(cwd: string, name: string): Promise<void> {
  const text = 'p, caf\u00e9, /a, GET\np, caf\u00e8, /b, GET\n'
  return writeFile(join(cwd, name), Buffer.from(text, 'latin1'))
}
