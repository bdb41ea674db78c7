import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folder, policy } from './policy-runner.ts'

const files = {
  'policies/model.conf': readFileSync('policies/model.conf', 'utf8'),
  'policies/policy.csv': 'p, clerk, /orders, GET\n',
}

describe('a policy directory that cannot be read', () => {
  test.each<[string, string, (cwd: string) => Promise<unknown>]>([
    ['a pipe', 'x.csv: is not a regular file', async (cwd) => pipe(cwd, 'policies/x.csv')],
    ['a device', 'x.csv: is not a regular file', (cwd) => link(cwd, '/dev/zero', 'policies/x.csv')],
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
      'x_test.yaml: is not a regular file',
      (cwd) => mkdir(join(cwd, 'policies/tests/x_test.yaml')),
    ],
  ])('for %s is refused by name', async (_, message, spoil) => {
    const cwd = await folder({ ...files, 'policies/tests/notes.txt': '' })
    await spoil(cwd)

    const { code, err } = await policy(['check'], { cwd })

    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining(message) })
    expect(err.split('\n')).toHaveLength(2)
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
