import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { formatModel } from '../../src/policy/set/format.ts'
import { widestModel } from '../policy/policy-text.ts'
import { folder, policy } from './policy-runner.ts'

const { PATH = '' } = process.env
/** Neither the user's configuration nor a repository around the test counts. */
const env = { PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', HOME: '/nonexistent' }

const model = formatModel(widestModel)
const rule = 'p, clerk, /orders, GET\n'

let cwd = ''

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.org']
  return execFileSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8' }).trim()
}

async function commit(files: Readonly<Record<string, string>>, message = 'a change') {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true })
    await writeFile(join(cwd, name), text)
  }
  git('add', '-A')
  git('commit', '-q', '-m', message)
}

const run = (args: readonly string[], at = cwd) => policy(args, { cwd: at, env })

beforeEach(async () => {
  cwd = await folder()
  git('init', '-q', '-b', 'main')
  await commit({ 'policies/model.conf': model, 'policies/policy.csv': rule })
})

describe('a policy in a commit', () => {
  test('is compared with one in another commit, without a work tree', async () => {
    await commit({
      'policies/policy.csv': `${rule}p, clerk, /orders, POST\n`,
      'policies/tests/a_test.yaml':
        '- { role: clerk, method: GET, path: /orders, expect: allow }\n',
      'policies/README': 'not a part of the policy',
      'policies/.postern/base': 'not a part of the policy either',
    })
    await rm(join(cwd, 'policies'), { recursive: true })

    const { code, out } = await run(['diff', 'git:main~1', 'git:HEAD'])
    const back = await run(['diff', 'git:HEAD', `git:${git('rev-parse', 'main~1').slice(0, 12)}`])
    const tested = await run(['test', 'git:main'])
    const checked = await run(['check', 'git:main'])
    const reported = await run(['diff', 'git:main~1', 'git:HEAD', '--output', 'github'])
    const explained = await run(['explain', 'clerk', 'POST', '/orders', '--policies', 'git:main~1'])

    expect(code).toBe(1)
    expect(out).toContain('  +  clerk  POST  /orders  git:HEAD:policies/policy.csv:2')
    expect(back).toMatchObject({ code: 0, out: expect.stringContaining('access narrows') })
    expect(tested).toMatchObject({ code: 0, out: expect.stringContaining('1 test, 1 passed') })
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining('git:main: valid') })
    expect(reported.out).toContain('file=policies/policy.csv,line=2')
    expect(explained.code).toBe(1)
  })

  test('is found from a sub-directory, by a path, at the root and in a bare repository', async () => {
    await commit({ 'app/policies/model.conf': model, 'app/policies/policy.csv': rule })
    await commit({ 'model.conf': model, 'policy.csv': rule })
    const bare = await folder()
    git('clone', '-q', '--bare', cwd, join(bare, 'bare.git'))

    const below = join(cwd, 'app')
    const all = await Promise.all([
      run(['check', 'git:HEAD'], below),
      run(['check', 'git:HEAD:policies'], below),
      run(['check', 'git:HEAD:./policies'], below),
      run(['check', 'git:HEAD:../policies/'], below),
      run(['check', 'git:HEAD:'], below),
      run(['check', 'git:main'], join(bare, 'bare.git')),
    ])

    expect(all.map(({ code, err }) => ({ code, err }))).toEqual(
      all.map(() => ({ code: 0, err: '' })),
    )
    const bad = await run(['check', 'git:HEAD:../../policies'], below)
    expect(bad).toMatchObject({ code: 3, err: expect.stringContaining('outside the repository') })
  })

  test('is refused with the file when it is not valid', async () => {
    await commit({ 'policies/policy.csv': 'p, clerk\n' })

    const { code, err } = await run(['diff', 'git:main~1', 'git:main'])

    expect({ code, err }).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^git:main:policies\/policy\.csv:1:\d+: 2 columns/),
    })
  })

  test('must not have links', async () => {
    await writeFile(join(cwd, 'secret'), 'p, secret, /of, GET\n')
    await symlink('../secret', join(cwd, 'policies/more.csv'))
    await commit({})

    const { code, out, err } = await run(['check', 'git:main'])

    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toBe(
      'git:main:policies/more.csv: is a symbolic link: commit the file in its place\n',
    )
  })

  test('is not published', async () => {
    const { code, err } = await run(['push', 'git:main', '-m', 'x', '--yes'])

    expect(code).toBe(2)
    expect(err).toContain('is not a directory: check out')
    expect(existsSync(join(cwd, 'git:main'))).toBe(false)
  })
})

describe('a commit that cannot be read', () => {
  test.each([
    ['git:nowhere', 5, 'git:nowhere cannot be read: no such commit, branch or tag'],
    ['git:^main', 5, 'cannot be read'],
    ['git:main..HEAD', 5, 'cannot be read'],
    ['git:main:nothing', 3, 'git:main:nothing: this commit has no such directory'],
    ['git:main:policies/policy.csv', 3, 'this commit has no such directory'],
    ['git:', 2, 'write git:REF or git:REF:PATH'],
    ['git:--help', 2, 'write git:REF or git:REF:PATH'],
    ['git:--upload-pack=touch x:policies', 2, 'write git:REF or git:REF:PATH'],
    ['git:a\nb', 2, 'write git:REF or git:REF:PATH'],
  ])('is refused in one line: %s', async (name, code, words) => {
    const ran = await run(['diff', name, 'policies'])

    expect(ran).toMatchObject({ code, out: '', err: expect.stringContaining(words) })
    if (code !== 2) expect(ran.err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('says that the directory is not a repository, or that git is missing', async () => {
    const outside = await folder({ 'policies/model.conf': model, 'policies/policy.csv': rule })

    const noRepository = await run(['diff', 'git:main', 'policies'], outside)
    const noGit = await policy(['diff', 'git:main', 'policies'], { cwd, env: { PATH: outside } })

    expect(noRepository).toMatchObject({
      code: 5,
      err: expect.stringMatching(/^postern: git:main cannot be read: not a git repository.*\n$/),
    })
    expect(noGit).toMatchObject({ code: 5, err: 'postern: git is not installed\n' })
  })

  test('starts no program that the repository names', async () => {
    const mark = join(cwd, 'started')
    const script = join(cwd, 'run.sh')
    await writeFile(script, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
    await commit({
      'policies/policy.csv': `${rule}p, clerk, /x, GET\n`,
      '.gitattributes': '* diff=run filter=run\n',
    })
    const blob = git('rev-parse', 'HEAD:policies/policy.csv')
    for (const [name, value] of [
      ['core.fsmonitor', script],
      ['core.pager', script],
      ['diff.run.textconv', script],
      ['filter.run.smudge', script],
      ['core.sshCommand', script],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.url', `ext::${script}`],
      ['remote.origin.promisor', 'true'],
      ['protocol.ext.allow', 'always'],
      ['core.repositoryFormatVersion', '1'],
    ] as const) {
      git('config', name, value)
    }

    const whole = await run(['diff', 'git:main~1', 'git:main'])
    await rm(join(cwd, '.git/objects', blob.slice(0, 2), blob.slice(2)))
    const missing = await run(['diff', 'git:main~1', 'git:main'])

    expect(whole.code).toBe(1)
    expect(missing).toMatchObject({ code: 5, out: '' })
    expect(existsSync(mark)).toBe(false)
  })

  test('shows what was committed, also where a replacement exists', async () => {
    await commit({ 'policies/policy.csv': `${rule}p, clerk, /x, GET\n` })
    git('replace', 'HEAD', 'HEAD~1')

    const { code, out } = await run(['diff', 'git:main', 'policies'])

    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('no difference') })
  })
})
